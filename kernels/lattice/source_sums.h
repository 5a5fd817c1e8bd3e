// The sources of a block in a solver: whether they are iterated, and their sums (solver_update.h).
// Part of dslash_sites.h.
#pragma once
#include "solver_update.h"

// Returns true if any source of the block is still iterated. All threads of a block agree.
FUNCTION bool any_active(const guard_args& guard, u32 first, u64 sources)
{
    bool any = false;
    UNROLL
    for (u32 k = 0; k < BLOCK_SOURCES; k++)
        any = any || (first + k < sources && is_active(guard, state_of(first + k)));
    return any;
}

#if TUNE_SUMS
// Sums of a block's sources: those of each warp of the source's group, and whether the block was
// the last one of the source.
constexpr u32 GROUP_WARPS = SIMT_WARPS / TUNE_SOURCE_GROUPS;
struct block_sums_storage {
    kernel_sums warp[BLOCK_SOURCES][GROUP_WARPS];
    u32 is_last[BLOCK_SOURCES];
    kernel_sums_storage sums;
};

// Finishes the sums of a block's sources, of all at once: one barrier after the other would take as
// long as the hops.
FUNCTION void end_of_several(const guard_args& guard, u64 sources, const block_work& block,
                             const kernel_sums (&sums)[SPT], block_sums_storage& s)
{
    const each_of_sums<plus> add{};
    constexpr u32 parts = TUNE_INNER * DSLASH_BLOCKS; // of a state
    EACH_SOURCE
    for (u32 k = 0; k < SPT; k++) {
        const kernel_sums of_warp = warp_reduce(sums[k], add);
        if (lane_id() == 0)
            s.warp[source_group() + k * TUNE_SOURCE_GROUPS][warp_id() % GROUP_WARPS] = of_warp;
    }
    block_sync();
    for (u32 k = thread_id(); k < BLOCK_SOURCES; k += SIMT_THREADS) {
        const u32 source = block.source + k, state = state_of(source);
        s.is_last[k] = false;
        if (source >= sources || !is_active(guard, state)) continue;
        kernel_sums all = s.warp[k][0];
        for (u32 w = 1; w < GROUP_WARPS; w++) all = add(all, s.warp[k][w]);
        s.is_last[k] = send_part(all, source % TUNE_INNER * DSLASH_BLOCKS + block.tile, parts,
                                 parts_of(guard, state, parts), &guard.states[state].arrived);
    }
    block_sync();
    NO_UNROLL
    for (u32 k = 0; k < BLOCK_SOURCES; k++) {
        if (!s.is_last[k]) continue; // same for all threads of the block
        const u32 state = state_of(block.source + k);
        const kernel_sums all = sum_of_parts(parts, parts_of(guard, state, parts),
                                             &guard.states[state].arrived, s.sums.reduce);
        if (thread_id() == 0) take_step(guard, state, all);
        block_sync();
    }
}
#else
struct block_sums_storage {
    u64 none;
};
#endif

// Finishes the sums of a block's sources. All threads of the block call this last.
FUNCTION void end_of_sources(const guard_args& guard, u64 sources, const block_work& block,
                             kernel_sums (&sums)[SPT], block_sums_storage& s)
{
#if TUNE_SUMS
    if constexpr (BLOCK_SOURCES > 1) {
        end_of_several(guard, sources, block, sums, s);
    } else {
        const u32 part = block.source % TUNE_INNER * DSLASH_BLOCKS + block.tile;
        end_of_source(guard, state_of(block.source), sums[0], part, TUNE_INNER * DSLASH_BLOCKS,
                      s.sums);
    }
#endif
    (void)guard, (void)sources, (void)block, (void)sums, (void)s;
}
