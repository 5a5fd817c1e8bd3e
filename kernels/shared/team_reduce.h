// Reduction of a run of neighbouring items by a team of threads: a part of a warp, a warp, or a
// block.
//
// A run need not begin at a multiple of a vector. The team loads the vectors that lie within the
// run as such, and the few items at both ends one by one, at the same time. It reads no item
// outside.
//
// The kernel defines before:
//     VECTOR         items of a vector
//     LOADS          vectors that a thread loads before it uses them
//     ACCUMULATORS   independent sums of a thread; 1 if the order matters
#pragma once
#include "block.h"
#include "input.h"
#include "operator.h"
#include "warp.h"

// Thread of a team, whose size is a power of two up to a warp, or several warps.
struct member {
    u32 rank, team;
};

// Items of a run outside of whole vectors: `before` of them, and `behind` of them.
struct run_ends {
    u32 before, behind;
    u32 vectors; // between them
    u32 count;
    FUNCTION_MEMBER u32 all() const { return before + behind; }
    FUNCTION_MEMBER u32 at(u32 k) const { return k < before ? k : count - behind + (k - before); }
};

FUNCTION run_ends ends_of_run(u64 begin, u32 count)
{
    const u32 missing = static_cast<u32>(VECTOR - begin % VECTOR) % VECTOR;
    run_ends e{missing < count ? missing : count, 0, 0, count};
    e.vectors = (count - e.before) / VECTOR;
    e.behind = count - e.before - e.vectors * VECTOR;
    return e;
}

// Adds LOADS vectors of an input, `stride` apart, of which those are there that begin before vector
// `count`. WHOLE: all are. Indices count from `number`.
template <bool WHOLE, class In>
FUNCTION void add_vectors(const In& in, u64 number, u32 stride, u32 count,
                          acc_t (&acc)[ACCUMULATORS])
{
    item_t item[LOADS][VECTOR];
    UNROLL
    for (u32 l = 0; l < LOADS; l++)
        if (WHOLE || l * stride < count)
            load_input<TUNE_LOAD>(in, static_cast<u64>(l * stride) * VECTOR, item[l]);
    UNROLL
    for (u32 l = 0; l < LOADS; l++) {
        if (!WHOLE && l * stride >= count) continue;
        UNROLL
        for (u32 j = 0; j < VECTOR; j++) {
            acc_t& sum = acc[j % ACCUMULATORS];
            sum = accumulate(sum, item[l][j], number + static_cast<u64>(l * stride) * VECTOR + j);
        }
    }
}

// SHORT: the team is a part of a warp.
template <bool SHORT>
FUNCTION acc_t reduce_run(const in_t& in, u64 begin, u32 count, u64 number, member m)
{
    const run_ends e = ends_of_run(begin, count);
    const auto run = input_from(in, begin);
    acc_t acc[ACCUMULATORS];
    UNROLL
    for (int j = 0; j < ACCUMULATORS; j++) acc[j] = acc_identity();
    item_t item;
    if (m.rank < e.all()) item = input_item(run, static_cast<u64>(e.at(m.rank)));
    const u32 lanes = SHORT ? m.team : SIMT_WARP; // that load neighbouring vectors
    const u32 lane = SHORT ? m.rank : lane_id();
    NO_UNROLL
    for (u32 v = (m.rank - lane) * LOADS; v < e.vectors; v += m.team * LOADS) {
        const u32 first = e.before + (v + lane) * VECTOR;
        const auto from = input_from(in, begin + first);
        if (!SHORT && v + SIMT_WARP * LOADS <= e.vectors)
            add_vectors<true>(from, number + first, SIMT_WARP, 0, acc);
        else
            add_vectors<false>(from, number + first, lanes,
                               v + lane < e.vectors ? e.vectors - v - lane : 0, acc);
    }
    UNROLL
    for (int j = 1; j < ACCUMULATORS; j++) acc[0] = combine()(acc[0], acc[j]);
    NO_UNROLL
    for (u32 k = m.rank; k < e.all(); k += m.team) {
        if (k > m.rank) item = input_item(run, static_cast<u64>(e.at(k)));
        acc[0] = combine()(accumulate(acc_identity(), item, number + e.at(k)), acc[0]);
    }
    return acc[0];
}

// Returns a thread's part of the reduction of `count` items from `begin` on. The index of the first
// is `number`. The operator is commutative.
FUNCTION acc_t reduce_in_any_order(const in_t& in, u64 begin, u32 count, u64 number, member m)
{
    return m.team < SIMT_WARP ? reduce_run<true>(in, begin, count, number, m)
                              : reduce_run<false>(in, begin, count, number, m);
}

// Combines the values of a team that is a warp or less, in the order of its lanes. Called by all
// lanes of the warp, whose teams are of one size. The result is valid in the team's first lane.
FUNCTION acc_t lanes_of_team_reduce(acc_t value, member m)
{
    NO_UNROLL
    for (u32 d = 1; d < m.team; d *= 2) {
        const acc_t other = warp_shuffle(value, lane_id() + d);
        if (m.rank + d < m.team) value = combine()(value, other);
    }
    return value;
}

// Combines the values of a team of any size, in the order of its threads. Called by all threads of
// the block. The result is valid in the team's first.
FUNCTION acc_t team_reduce(acc_t value, member m, block_reduce_storage<acc_t>& storage)
{
    if (m.team > SIMT_WARP) {
        value = block_reduce(value, combine(), storage);
        block_sync();
        return value;
    }
    return lanes_of_team_reduce(value, m);
}
