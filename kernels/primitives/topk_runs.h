// Top-k of a segment of a few runs of a warp's items by a block, for segmented_topk.cu.
//
// Each warp puts runs of SIMT_WARP items in order in registers. Of a run the first k may be among
// the k of the segment. The rank of one of these is that in its run and what goes before it in the
// others, which a binary search of each tells: the runs are in shared memory. Of equal keys those
// of the runs before go first, as their indices are lower. There is one barrier, and little code,
// which comes from cold memory where rows are few. Of more than four runs the searches take longer
// than counting (topk_row.h).
#pragma once
#include "integer.h"
#include "segment_topk.h"
#include "topk_few.h"

template <u32 ITEMS>
struct runs_shared {
    key_t key[ITEMS]; // of runs, each in order; what is no item is behind all of its run
    u16 index[ITEMS];
};

// Returns how many of the first `most`, a power of two, of the runs but one go before a key of that
// one: those of lower runs also if they are equal.
template <u32 ITEMS>
FUNCTION u32 count_before(const runs_shared<ITEMS>& s, u32 runs, u32 most, u32 own, key_t key)
{
    enum : u32 { AT_ONCE = 4 };
    u32 all = 0;
    NO_UNROLL
    for (u32 first = 0; first < runs; first += AT_ONCE) {
        u32 before[AT_ONCE] = {};
        NO_UNROLL
        for (u32 step = most; step > 0; step /= 2) {
            const u32 width = step > 1 ? step / 2 : 1; // the last two steps look at one key each
            UNROLL
            for (u32 j = 0; j < AT_ONCE; j++) {
                const u32 run = first + j < runs ? first + j : own;
                const key_t its = s.key[run * SIMT_WARP + before[j] + width - 1];
                if ((its < key) | ((its == key) & (run < own))) before[j] += width;
            }
        }
        UNROLL
        for (u32 j = 0; j < AT_ONCE; j++)
            if (first + j < runs && first + j != own) all += before[j];
    }
    return all;
}

// Selects from a segment of up to ITEMS items. Called by all threads of a block.
template <u32 ITEMS>
FUNCTION void select_by_runs(const segmented_topk_args& a, runs_shared<ITEMS>& s, u64 segment,
                             u64 begin, u32 items)
{
    enum : u32 { EACH = ceil_div(ITEMS, static_cast<u32>(SIMT_THREADS)) };
    const auto in = input_from(a.in, begin);
    few_item mine[EACH][1];
    UNROLL
    for (u32 e = 0; e < EACH; e++) {
        const u32 index = e * SIMT_THREADS + thread_id();
        mine[e][0] = few_item{static_cast<key_t>(~0ull), index};
        if (index < items) mine[e][0].key = encode(key_item(in, static_cast<u64>(index)));
    }
    UNROLL
    for (u32 e = 0; e < EACH; e++) {
        const u32 place = e * SIMT_THREADS + thread_id();
        if (place - lane_id() >= items) continue;
        warp_order(mine[e]);
        s.key[place] = mine[e][0].key;
        s.index[place] = static_cast<u16>(mine[e][0].index);
    }
    block_sync();
    const u32 runs = ceil_div(items, static_cast<u32>(SIMT_WARP));
    const u32 bits = a.k < SIMT_WARP ? bit_length(a.k - 1) : bit_length(SIMT_WARP - 1);
    NO_UNROLL
    for (u32 c = thread_id(); c < runs << bits; c += SIMT_THREADS) {
        const u32 run = c >> bits, in_run = c & ((1u << bits) - 1u);
        const key_t key = s.key[run * SIMT_WARP + in_run];
        const u32 index = s.index[run * SIMT_WARP + in_run];
        const u32 rank = in_run + count_before(s, runs, 1u << bits, run, key);
        if (index < items && rank < a.k) put_result(a, segment, rank, key, index);
    }
    for (u32 rank = items + thread_id(); rank < a.k; rank += SIMT_THREADS)
        put_nothing(a, segment, rank);
    block_sync(); // before the next segment's
}
