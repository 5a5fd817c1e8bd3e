// Collectives of a thread over its own items, in order.
#pragma once
#include "simt.h"

struct plus {
    template <class V>
    FUNCTION_MEMBER V operator()(V a, V b) const
    {
        return a + b;
    }
};
struct minimum {
    template <class V>
    FUNCTION_MEMBER V operator()(V a, V b) const
    {
        return b < a ? b : a;
    }
};
struct maximum {
    template <class V>
    FUNCTION_MEMBER V operator()(V a, V b) const
    {
        return a < b ? b : a;
    }
};

// Combines all items in their order.
//   Called by   any thread by itself; Op is associative and need not commute
template <class V, int N, class Op>
FUNCTION V thread_reduce(const V (&item)[N], Op op)
{
    V all = item[0];
    UNROLL
    for (int j = 1; j < N; j++) all = op(all, item[j]);
    return all;
}

// Inclusive prefix scan, in place: item[j] becomes the combination of items 0 to j.
//   Called by   any thread by itself; Op as for thread_reduce
template <class V, int N, class Op>
FUNCTION void thread_scan(V (&item)[N], Op op)
{
    UNROLL
    for (int j = 1; j < N; j++) item[j] = op(item[j - 1], item[j]);
}
