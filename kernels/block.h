// Collectives of a block, on top of warp.h. All threads of the block call them together.
#pragma once
#include "warp.h"

template <class V>
struct block_reduce_storage {
    V warp[SIMT_WARPS];
};

// All threads' values combined in the order of thread_id; the result is valid in thread 0.
// The storage may be reused after the next block_sync.
template <class V, class Op>
FUNCTION V block_reduce(V value, Op op, block_reduce_storage<V>& s)
{
    value = warp_reduce(value, op);
    if constexpr (SIMT_WARPS > 1) {
        if (lane_id() == 0) s.warp[warp_id()] = value;
        block_sync();
        if (warp_id() == 0) {
            if (lane_id() < SIMT_WARPS) value = s.warp[lane_id()];
            value = warp_reduce(value, op, SIMT_WARPS);
        }
    }
    return value;
}

template <class V>
struct block_sum_storage {
    V warp[SIMT_WARPS];
};

// The sum of the values of all threads before the calling one. Values are unsigned: sums may wrap.
// The storage may be reused after the next block_sync.
template <class V>
FUNCTION V block_exclusive_sum(V value, block_sum_storage<V>& s)
{
    const V through = warp_scan(value, plus());
    V before = through - value;
    if constexpr (SIMT_WARPS > 1) {
        if (lane_id() == SIMT_WARP - 1) s.warp[warp_id()] = through;
        block_sync();
        UNROLL
        for (u32 w = 0; w < SIMT_WARPS; w++)
            if (w < warp_id()) before += s.warp[w];
    }
    return before;
}
