// Arguments of the sort kernels: arrays of keys and values, and the digits of the passes.
//
// The workload's macros, besides those of radix.h:
//     TUNE_VALUE, TUNE_VALUE_WIDTH   a value is that many unsigned words; width 0: keys only
//     TUNE_INDICES                   1: the input values are the items' indices
//     TUNE_OFFSET                    type that counts items: u32 up to 2^30, else u64
//     TUNE_IN_PLACE                  1: an output is also an input
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

// Arguments of all sort kernels.
struct sort_args {
    const key_t* in;
    key_t* out;
    const value_t* values_in;
    value_t* values_out;
    key_t* spare; // as large as out; for single threads
    value_t* values_spare;
    u64 n;
    u64* messages;
    u64* bins; // [digit][RADIX]: first counts, then items with a lower digit
    u64 begin_bit, end_bit;
    u64 digits, digit_bits; // number of digits, bits a digit; the last may be shorter
    u64 digit;              // digit of this pass
    offset_t* rows;         // [tile][RADIX] of this pass, see sort_look.h
#if TUNE_IN_LAZY
    in_t first; // input of the first pass and of the counts
#endif
};

FUNCTION cut cut_of(const sort_args& a, u32 digit)
{
    const u32 width = static_cast<u32>(a.digit_bits), end = static_cast<u32>(a.end_bit);
    const u32 low = static_cast<u32>(a.begin_bit) + digit * width;
    if (low >= end) return cut{0, 0}; // an empty digit, for an even number of passes
    return cut{low, (1u << (end - low < width ? end - low : width)) - 1u};
}

// Returns the input of the first pass and of the counts.
#if TUNE_IN_LAZY
FUNCTION const in_t& first_of(const sort_args& a) { return a.first; }
#else
FUNCTION in_t first_of(const sort_args& a) { return a.in; }
#endif

// Returns the value of item i.
FUNCTION value_t value_at(const sort_args& a, u64 i)
{
    if (TUNE_INDICES && a.digit == 0) {
        value_t index{};
        index.word[0] = static_cast<TUNE_VALUE>(i);
        return index;
    }
    return a.values_in[i];
}
