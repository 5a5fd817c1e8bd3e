// What the kernels of a sort take: arrays of keys and values, and the digits that the passes go by.
//
// The workload's macros, besides those of radix.h:
//     TUNE_VALUE, TUNE_VALUE_WIDTH   a value is that many unsigned words; 0: there are none
//     TUNE_INDICES                   the values that go in are the items' indices
//     TUNE_OFFSET                    counts items: u32 up to 2^30, else u64
//     TUNE_IN_PLACE                  an output is an input
#pragma once
#include "key_input.h"

typedef TUNE_OFFSET offset_t;

enum {
    PAIRS = TUNE_VALUE_WIDTH > 0,
    WHOLE_DIGITS = (KEY_BITS + TUNE_RADIX_BITS - 1) / TUNE_RADIX_BITS,
    DIGITS = TUNE_IN_PLACE ? (WHOLE_DIGITS + 1) / 2 * 2 : WHOLE_DIGITS, // at most
    COPIES = 1 << TUNE_COPIES_LOG2
};

struct value_t {
    TUNE_VALUE word[PAIRS ? TUNE_VALUE_WIDTH : 1];
};

// One for all kernels.
struct sort_args {
    const key_t* in;
    key_t* out;
    const value_t* values_in;
    value_t* values_out;
    key_t* spare; // as large as out; for threads alone
    value_t* values_spare;
    u64 n;
    u64* messages;
    u64* bins; // [digit][RADIX]: first counts, then how many items have a lower digit value
    u64 begin_bit, end_bit;
    u64 digits, digit_bits; // how many the bits are cut into, the last of which may be shorter
    u64 digit;              // of this pass
    offset_t* rows;         // [tile][RADIX], of this pass: see sort_look.h
#if TUNE_IN_LAZY
    in_t first; // what the first pass reads, and the counting, instead of in
#endif
};

FUNCTION cut cut_of(const sort_args& a, u32 digit)
{
    const u32 width = static_cast<u32>(a.digit_bits), end = static_cast<u32>(a.end_bit);
    const u32 low = static_cast<u32>(a.begin_bit) + digit * width;
    if (low >= end) return cut{0, 0}; // an empty digit, which makes the number of passes even
    return cut{low, (1u << (end - low < width ? end - low : width)) - 1u};
}

// What the counting and the first pass read.
#if TUNE_IN_LAZY
FUNCTION const in_t& first_of(const sort_args& a) { return a.first; }
#else
FUNCTION in_t first_of(const sort_args& a) { return a.in; }
#endif

// What goes along with item i.
FUNCTION value_t value_at(const sort_args& a, u64 i)
{
    if (TUNE_INDICES && a.digit == 0) {
        value_t index{};
        index.word[0] = static_cast<TUNE_VALUE>(i);
        return index;
    }
    return a.values_in[i];
}
