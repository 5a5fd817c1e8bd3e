// Accumulation of many items of argmin and argmax by a single thread.
//
// Compilers vectorise the comparison of many items with one, but not the search for an index. So
// the index is looked for only in a batch that has a better value than all items before it; these
// are few unless the items rise.
#pragma once
#include "operator.h"

#if defined(TUNE_ARG)
// True if a value is as good as another or better; false if the other one alone is NaN.
FUNCTION bool is_as_good(value_t a, value_t b)
{
    return static_cast<bool>(TUNE_OPERATOR) | (a == b);
}

// Adds N items, the first of which has the index `first`, higher than those of all items before.
template <int N>
FUNCTION acc_t accumulate_batch(acc_t acc, const item_t (&item)[N], u64 first)
{
    if (acc.index < 0) acc = acc_t{convert<value_t>(item[0]), static_cast<i64>(first)};
    if (acc.value != acc.value) return acc; // the first NaN is the result
    u32 others = 0;                         // counted without branches
    for (int j = 0; j < N; j++)
        others += is_as_good(acc.value, convert<value_t>(item[j])) ? 0u : 1u;
    if (others == 0) return acc;
    for (int j = 0; j < N; j++) acc = accumulate(acc, item[j], first + static_cast<u64>(j));
    return acc;
}
#else
template <int N>
FUNCTION acc_t accumulate_batch(acc_t acc, const item_t (&item)[N], u64)
{
    for (int j = 0; j < N; j++) acc = accumulate(acc, item[j], 0);
    return acc;
}
#endif
