// Sums of the sources of a block, in a solver (solver_update.h). Part of dslash_sites.h.
#pragma once
#include "solver_update.h"

// A block has sources of BLOCK_STATES states at most, and adds up those of a state before it sends
// them. Blocks with the same sites and a state's sources are STATE_BLOCKS at most.
constexpr u32 BLOCK_STATES = ceil_div(BLOCK_SOURCES - 1, TUNE_INNER) + 1;
constexpr u32 STATE_BLOCKS = ceil_div(TUNE_INNER - 1, BLOCK_SOURCES) + 1;
constexpr u32 GROUP_WARPS = SIMT_WARPS / TUNE_SOURCE_GROUPS; // of a group of threads

struct block_sums_storage {
    kernel_sums warp[BLOCK_SOURCES][GROUP_WARPS];
    u32 is_last[BLOCK_STATES];
    kernel_sums_storage sums;
};

// The blocks with sources of a state: the first of those with the same sites, counted by their
// sources, and how many there are of all sites.
struct state_parts {
    u32 first, count;
};

FUNCTION state_parts parts_of_state(u32 state)
{
    const u32 first = state * TUNE_INNER / BLOCK_SOURCES,
              end = ceil_div((state + 1) * TUNE_INNER, BLOCK_SOURCES);
    return {first, (end - first) * DSLASH_BLOCKS};
}

// Returns the number of a block among those with sums of a state.
FUNCTION u32 part_of(const block_work& block, const state_parts& of)
{
    return (block.source / BLOCK_SOURCES - of.first) * DSLASH_BLOCKS + block.tile;
}

FUNCTION f64* part_memory(const guard_args& guard, u32 state)
{
    return parts_of(guard, state, STATE_BLOCKS * DSLASH_BLOCKS);
}

// Returns the sums of a block's sources of a state, of which the warps have stored theirs.
FUNCTION kernel_sums sums_of_state(const block_work& block, u64 sources, u32 state,
                                   const block_sums_storage& s)
{
    const each_of_sums<plus> add{};
    kernel_sums all{};
    for (u32 k = 0; k < BLOCK_SOURCES; k++) {
        const u32 source = block.source + k;
        if (source >= sources || state_of(source) != state) continue;
        for (u32 w = 0; w < GROUP_WARPS; w++) all = add(all, s.warp[k][w]);
    }
    return all;
}

// Finishes the sums of a block with several sources: a thread a state adds and sends them, and
// warps take turns with the states of which the block is the last.
template <class Args>
FUNCTION void end_of_states(const Args& a, const block_work& block, const kernel_sums (&sums)[SPT],
                            block_sums_storage& s)
{
    const guard_args& guard = a.tail.guard;
    const u32 first = state_of(block.source);
    UNROLL
    for (u32 j = 0; j < SPT; j++) {
        const kernel_sums of_warp = warp_reduce(sums[j], each_of_sums<plus>());
        if (lane_id() == 0)
            s.warp[source_group() + j * TUNE_SOURCE_GROUPS][warp_id() % GROUP_WARPS] = of_warp;
    }
    block_sync();
    for (u32 k = thread_id(); k < BLOCK_STATES; k += SIMT_THREADS) {
        const u32 source = (first + k) * TUNE_INNER; // the state's first
        const bool is_here = source < block.source + BLOCK_SOURCES && is_wanted(a, source);
        const state_parts of = parts_of_state(first + k);
        s.is_last[k] =
            is_here &&
            send_part(sums_of_state(block, a.d.sources, first + k, s), part_of(block, of), of.count,
                      part_memory(guard, first + k), &guard.states[first + k].arrived);
    }
    block_sync();
    NO_UNROLL
    for (u32 j = warp_id(); j < BLOCK_STATES; j += SIMT_WARPS) {
        if (!s.is_last[j]) continue; // same for all threads of the warp
        const u32 state = first + j;
        const kernel_sums all = warp_sum_of_parts<plus, TUNE_SUMS>(
            parts_of_state(state).count, part_memory(guard, state), &guard.states[state].arrived);
        if (lane_id() == 0) take_step(guard, state, all);
    }
}

// Finishes the sums of a block's sources. All threads of the block call this last.
template <class Args>
FUNCTION void end_of_sources(const Args& a, const block_work& block, kernel_sums (&sums)[SPT],
                             block_sums_storage& s)
{
    if constexpr (BLOCK_SOURCES == 1) {
        const u32 state = state_of(block.source);
        const state_parts of = parts_of_state(state);
        end_of_source(a.tail.guard, state, sums[0], part_of(block, of), of.count, s.sums);
    } else {
        end_of_states(a, block, sums, s);
    }
}
