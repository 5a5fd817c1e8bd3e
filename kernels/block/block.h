// Collectives of a block: reduce and scan. The other block_*.h follow the same contract.
//
// All threads of the block call the same collective, after the same barriers. Most collectives need
// storage in the block's shared memory, an object of their storage type that all threads name:
//     __shared__ block_scan_storage<float> storage; // or a member of the kernel's shared struct
// A collective contains barriers. When it returns, other threads may still read its storage, so the
// block passes a block_sync (CUDA's __syncthreads) before that memory is used again, also by the
// next call. A collective with another storage needs no barrier in between.
#pragma once
#include "warp.h"

static_assert(SIMT_THREADS % SIMT_WARP == 0, "a block of collectives has whole warps");

template <class V>
struct block_reduce_storage {
    V warp[SIMT_WARPS];
};

// Combines the values of all threads in the order of thread_id. For several items a thread, in the
// blocked arrangement, pass their thread_reduce.
//   Called by   all threads of the block
//   Result      in thread 0
//   Storage     may be used again after the next block_sync
template <class V, class Op>
FUNCTION V block_reduce(V value, Op op, block_reduce_storage<V>& s)
{
    value = warp_reduce(value, op);
    if constexpr (SIMT_WARPS > 1) {
        if (lane_id() == 0) s.warp[warp_id()] = value;
        block_sync();
        if (warp_id() == 0) {
            if (lane_id() < SIMT_WARPS) value = s.warp[lane_id()];
            value = warp_reduce<SIMT_WARPS>(value, op);
        }
    }
    return value;
}

template <class V>
struct block_sum_storage {
    V warp[SIMT_WARPS];
};

// Returns the sum of the values of all threads before the calling one. Values are unsigned, so that
// sums may wrap.
//   Called by   all threads of the block
//   Result      in each thread
//   Storage     may be used again after the next block_sync
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

template <class V>
struct block_scan_storage {
    V warp[SIMT_WARPS];
};

// Result of block_before: the combination of all preceding threads, and of all threads.
template <class V>
struct block_prefix {
    V before; // the values of all threads before the calling one; undefined in thread 0
    V total;  // the values of all threads
};

// Combines the values of all threads before the calling one, and those of all threads.
//   Called by   all threads of the block
//   Result      in each thread; `before` is undefined in thread 0
//   Storage     may be used again after the next block_sync
template <class V, class Op>
FUNCTION block_prefix<V> block_before(V value, Op op, block_scan_storage<V>& s)
{
    const V through = warp_scan(value, op);
    block_prefix<V> p{warp_shuffle(through, lane_id() - 1), warp_shuffle(through, SIMT_WARP - 1)};
    if constexpr (SIMT_WARPS > 1) {
        if (lane_id() == 0) s.warp[warp_id()] = p.total;
        block_sync();
        V warps = s.warp[0]; // first the warps up to w, then those before the calling thread's warp
        V mine = warps;
        UNROLL
        for (u32 w = 1; w < SIMT_WARPS; w++) {
            if (w == warp_id()) mine = warps;
            warps = op(warps, s.warp[w]);
        }
        p.total = warps;
        if (warp_id() > 0) p.before = lane_id() > 0 ? op(mine, p.before) : mine;
    }
    return p;
}

// Inclusive prefix scan of N items a thread, blocked, in place.
//   Called by   all threads of the block
//   Result      in each thread; returns the block's total in each thread
//   Storage     may be used again after the next block_sync
template <class V, int N, class Op>
FUNCTION V block_scan(V (&item)[N], Op op, block_scan_storage<V>& s)
{
    thread_scan(item, op);
    const block_prefix<V> p = block_before(item[N - 1], op, s);
    if (thread_id() > 0) {
        UNROLL
        for (int j = 0; j < N; j++) item[j] = op(p.before, item[j]);
    }
    return p.total;
}

// Exclusive prefix scan of N items a thread, blocked, in place; `init` precedes all items.
//   Called by   all threads of the block, with the same init
//   Result      in each thread; returns init combined with all items, the init of the next tile
//   Storage     may be used again after the next block_sync
template <class V, int N, class Op>
FUNCTION V block_exclusive_scan(V (&item)[N], V init, Op op, block_scan_storage<V>& s)
{
    const block_prefix<V> p = block_before(thread_reduce(item, op), op, s);
    V prefix = thread_id() > 0 ? op(init, p.before) : init;
    UNROLL
    for (int j = 0; j < N; j++) {
        const V next = op(prefix, item[j]);
        item[j] = prefix;
        prefix = next;
    }
    return op(init, p.total);
}

// Inclusive prefix scan of one value a thread; returns the thread's result.
//   Called by   all threads of the block
//   Result      in each thread
//   Storage     may be used again after the next block_sync
template <class V, class Op>
FUNCTION V block_scan(V value, Op op, block_scan_storage<V>& s)
{
    const block_prefix<V> p = block_before(value, op, s);
    return thread_id() > 0 ? op(p.before, value) : value;
}
template <class V, class Op>
FUNCTION V block_exclusive_scan(V value, V init, Op op, block_scan_storage<V>& s)
{
    const block_prefix<V> p = block_before(value, op, s);
    return thread_id() > 0 ? op(init, p.before) : init;
}
