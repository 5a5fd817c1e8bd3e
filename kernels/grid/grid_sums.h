// Sums over all blocks of a launch, in f64.
//
// Each block stores its partial sums. The last block to arrive adds all of them in an order that
// depends on their number alone, so that results are the same from run to run. No block waits.
#pragma once
#include "block.h"

template <int N>
struct sums_of {
    f64 value[N];
};
template <class Op>
struct each_of_sums {
    template <int N>
    FUNCTION_MEMBER sums_of<N> operator()(sums_of<N> a, const sums_of<N>& b) const
    {
        UNROLL
        for (int k = 0; k < N; k++) a.value[k] = Op()(a.value[k], b.value[k]);
        return a;
    }
};

union sum_word {
    f64 value;
    u64 word;
};

template <int N>
struct sums_storage {
    block_reduce_storage<sums_of<N>> reduce;
    u32 is_last;
};

// Stores the sums of block `block` of `blocks`. Returns true to the last one. Called by one thread.
template <int N>
FUNCTION bool send_part(const sums_of<N>& mine, u32 block, u32 blocks, f64* parts, u64* arrived)
{
    u64* const words = reinterpret_cast<u64*>(parts);
    UNROLL
    for (u32 k = 0; k < N; k++)
        store_relaxed(words + static_cast<u64>(k) * blocks + block, sum_word{mine.value[k]}.word);
    device_fence();
    return atomic_add(arrived, 1) + 1 == blocks;
}

// Adds up the parts of every block out of THREADS, from block `first` on, once all `blocks` blocks
// have sent theirs.
template <class Op, u32 THREADS, int N>
FUNCTION sums_of<N> sum_of_some_parts(u32 first, u32 blocks, f64* parts)
{
    enum { AT_ONCE = 16 }; // loads in flight
    u64* const words = reinterpret_cast<u64*>(parts);
    sums_of<N> mine;
    device_fence();
    UNROLL
    for (u32 k = 0; k < N; k++) {
        f64 sum = 0;
        for (u32 b = first; b < blocks; b += AT_ONCE * THREADS) {
            u64 part[AT_ONCE];
            UNROLL
            for (u32 j = 0; j < AT_ONCE; j++) {
                const u32 from = b + j * THREADS;
                part[j] =
                    from < blocks ? load_relaxed(words + static_cast<u64>(k) * blocks + from) : 0;
            }
            UNROLL
            for (u32 j = 0; j < AT_ONCE; j++) sum = Op()(sum, f64_of(part[j]));
        }
        mine.value[k] = sum;
    }
    return mine;
}

// Adds up the parts that `blocks` blocks have sent. Called by all threads of a warp of the last
// one.
//   Result      in lane 0
template <class Op = plus, int N>
FUNCTION sums_of<N> warp_sum_of_parts(u32 blocks, f64* parts, u64* arrived)
{
    const sums_of<N> mine = sum_of_some_parts<Op, SIMT_WARP, N>(lane_id(), blocks, parts);
    if (lane_id() == 0) *arrived = 0;
    return warp_reduce(mine, each_of_sums<Op>());
}

// Adds up the sums of all threads of `blocks` blocks. Called by all threads of block `block`.
//   Result      true in one thread of the launch, where `mine` has the sums of all threads
//   Storage   may be used again after the next block_sync
// parts: N * blocks numbers; arrived: 0 before and after. Op replaces the sum; 0 must be neutral.
template <class Op = plus, int N>
FUNCTION bool sum_of_blocks(sums_of<N>& mine, u32 block, u32 blocks, f64* parts, u64* arrived,
                            sums_storage<N>& s)
{
    mine = block_reduce(mine, each_of_sums<Op>(), s.reduce);
    if (blocks == 1) return thread_id() == 0;
    if (thread_id() == 0) s.is_last = send_part(mine, block, blocks, parts, arrived);
    block_sync();
    if (!s.is_last) return false; // same for all threads of the block
    mine = block_reduce(sum_of_some_parts<Op, SIMT_THREADS, N>(thread_id(), blocks, parts),
                        each_of_sums<Op>(), s.reduce);
    if (thread_id() == 0) *arrived = 0;
    return thread_id() == 0;
}
