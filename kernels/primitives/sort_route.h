// Ways of the passes: which digit a pass is of, what it reads and writes, or that it does nothing.
//
// sort_count finds them when it knows the counts. A digit that all keys share needs no pass. The
// passes that there are go back and forth between spare memory and the output, where the last one
// writes, so that what a pass reads is not known on the host.
#pragma once
#include "sort_splitter.h"

// Bits that say where a pass reads and writes, found by sort_count. None: it does nothing.
enum {
    ROUTE_PASS = 1,
    ROUTE_FIRST = 2,    // it reads the input, else what the pass before wrote
    ROUTE_LAST = 4,     // it decodes
    ROUTE_TO_SPARE = 8, // it writes to spare memory, else to the output
    ROUTE_SPLIT = 16    // it does nothing: keys were split, and sorted in bins
};

// Returns the routes of all passes, behind the bins of the digits and of the split.
FUNCTION u64* routes_of(const sort_args& a) { return a.bins + (a.digits + 1) * RADIX; }
// Returns the lowest and highest key of the sample, behind the routes.
FUNCTION u64* range_of_sample(const sort_args& a) { return routes_of(a) + a.digits; }
FUNCTION u32 my_route(const sort_args& a) { return static_cast<u32>(routes_of(a)[a.digit]); }
FUNCTION bool is_split(const sort_args& a) { return routes_of(a)[0] & ROUTE_SPLIT; }

FUNCTION const key_t* keys_from(const sort_args& a, u32 route)
{
    return route & ROUTE_FIRST ? a.in : route & ROUTE_TO_SPARE ? a.out : a.spare;
}
FUNCTION const value_t* values_from(const sort_args& a, u32 route)
{
    return route & ROUTE_FIRST      ? a.values_in
           : route & ROUTE_TO_SPARE ? a.values_out
                                    : a.values_spare;
}
FUNCTION key_t* keys_to(const sort_args& a, u32 route)
{
    return route & ROUTE_TO_SPARE ? a.spare : a.out;
}
FUNCTION value_t* values_to(const sort_args& a, u32 route)
{
    return route & ROUTE_TO_SPARE ? a.values_spare : a.values_out;
}

FUNCTION cut cut_of(const sort_args& a, u32 digit)
{
    const u32 width = static_cast<u32>(a.digit_bits), end = static_cast<u32>(a.end_bit);
    const u32 low = static_cast<u32>(a.begin_bit) + digit * width;
    if (low >= end) return cut{0, 0}; // an empty digit, for an even number of passes
    return cut{low, (1u << (end - low < width ? end - low : width)) - 1u};
}

// Returns the number of the bins that keys are split into: those of the highest digit that has
// bits, or those behind the digits'.
FUNCTION u32 split_number(const sort_args& a)
{
    return SPLIT_FLOATS ? static_cast<u32>(a.digits)
                        : (KEY_BITS - 1) / static_cast<u32>(a.digit_bits);
}
