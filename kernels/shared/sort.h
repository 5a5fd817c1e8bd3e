// Arguments of the kernels that sort keys, or keys with values: sort.cu and cpu_sort.cu.
//
// The workload's macros, besides those of radix.h:
//     TUNE_VALUE, TUNE_VALUE_WIDTH   a value is that many unsigned words; width 0: keys only
//     TUNE_INDICES                   1: the input values are the items' indices
//     TUNE_OFFSET                    type that counts items: u32 up to 2^30, else u64
//     TUNE_IN_PLACE                  1: an output is also an input
#pragma once
#include "radix.h"

typedef TUNE_OFFSET offset_t;

enum { PAIRS = TUNE_VALUE_WIDTH > 0 };

struct value_t {
    TUNE_VALUE word[PAIRS ? TUNE_VALUE_WIDTH : 1];
};

struct sort_args { // arguments of all kernels
    const key_t* in;
    key_t* out;
    const value_t* values_in;
    value_t* values_out;
    key_t* spare; // as large as out; of cpu_sort.cu
    value_t* values_spare;
    u64 n;
    u64* messages;
    u64* bins; // [digit][RADIX]: counts, then beginnings, of the split too; behind: sort_route.h
    u64 begin_bit, end_bit;
    u64 digits, digit_bits; // number of digits, bits a digit; the last may be shorter
    u64 digit;              // digit of this pass
    offset_t* rows;         // [tile][RADIX] of this pass, see sort_look.h
    u64 block_items;        // of a block of a cluster; at most, of one that sorts a bin
#if TUNE_IN_LAZY
    in_t first; // input of the first pass and of the counts
#endif
};

// Returns the input of the first pass and of the counts.
#if TUNE_IN_LAZY
FUNCTION const in_t& first_of(const sort_args& a) { return a.first; }
#else
FUNCTION in_t first_of(const sort_args& a) { return a.in; }
#endif

// Returns an index as a value.
FUNCTION value_t index_value(u64 i)
{
    value_t index{};
    index.word[0] = static_cast<TUNE_VALUE>(i);
    return index;
}

// Returns the value of item i.
FUNCTION value_t value_at(const sort_args& a, u64 i)
{
    return TUNE_INDICES && a.digit == 0 ? index_value(i) : a.values_in[i];
}
