// Stable sort by a comparison: blocks sort tiles, then rounds merge pairs of sorted runs.
//
// In a tile each thread sorts its items in registers, then pairs of runs are merged in shared
// memory until one is left. Of a round every block merges one tile of the result, which it finds by
// itself (merge.h), so that a round is one launch. Rounds go back and forth between the output and
// scratch memory. What fits a tile is sorted in one launch. A thread alone (the cpu) merges between
// its cache and the output.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:24:1 cpu=2048:65536:2048
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:64 cpu=1:1:1
// %RANGE% TUNE_MIN_BLOCKS mb 1:6:1 cpu=1:1:1
//
// The parameters are those of merge.cu. The more threads, the fewer rounds.
//
// Workload, besides that of merge.h:
//     TUNE_IN_PLACE   an output is an input
//
// Traffic: every item read and written once for the tiles and once a round.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "merge.h"

struct merge_sort_args { // one for both kernels
    range in;            // of all items
    target out;
    u64 run; // tiles of a sorted run, a power of two
};

// ---- tiles --------------------------------------------------------------------------------------
enum { FIRST_RUN = 8 }; // that a thread alone sorts in registers

struct sort_shared {
    tile_shared tile;
    item_t key[ALONE ? TILE : 1]; // a thread alone goes back and forth between these and the output
    value_t value[ALONE && PAIRS ? TILE : 1];
};

// Lanes of one warp need no barrier among themselves.
FUNCTION void sync_threads(u32 threads)
{
    if (threads <= SIMT_WARP)
        warp_sync(FULL_WARP);
    else
        block_sync();
}

template <bool WHOLE>
FUNCTION void block_sort(range in, target out, tile_shared& s)
{
    const u32 count = WHOLE ? TILE : static_cast<u32>(in.count);
    const u32 mine = WHOLE || own(0) < count ? own(0) : count; // the thread's first item
    item_t key[ITEMS];
    u32 index[ITEMS], from[ITEMS];
    UNROLL
    for (int i = 0; i < ITEMS; i++)
        if (WHOLE || striped_index(i) < count) key[i] = in.key[striped_index(i)];
    UNROLL
    for (int i = 0; i < ITEMS; i++)
        if (WHOLE || striped_index(i) < count) s.key[striped_index(i)] = key[i];
    block_sync();
    UNROLL
    for (int i = 0; i < ITEMS; i++) {
        key[i] = s.key[own(i)];
        index[i] = own(i);
    }
    thread_sort_pairs(key, index, WHOLE ? ITEMS : count - mine, order());
    for (u32 threads = 2; threads / 2 < SIMT_THREADS; threads *= 2) { // that merge two runs
        const u32 first = thread_id() / threads * threads * ITEMS, run = threads / 2 * ITEMS;
        const u32 middle = first + run < count ? first + run : count;
        const u32 end = first + 2 * run < count ? first + 2 * run : count;
        sync_threads(threads);
        keep_own(s, key, index);
        sync_threads(threads);
        if (first < count)
            thread_merge(s.key, first, middle, end, mine - first, key, from, order());
        if constexpr (PAIRS) {
            UNROLL
            for (int i = 0; i < ITEMS; i++)
                if (WHOLE || own(i) < count) index[i] = s.index[from[i]];
        }
    }
    block_sync();
    keep_own(s, key, index);
    block_sync();
    UNROLL
    for (int i = 0; i < ITEMS; i++)
        if (WHOLE || striped_index(i) < count) out.key[striped_index(i)] = s.key[striped_index(i)];
    if constexpr (PAIRS) {
        value_t value[ITEMS];
        UNROLL
        for (int i = 0; i < ITEMS; i++)
            if (WHOLE || striped_index(i) < count) value[i] = in.value[s.index[striped_index(i)]];
        if constexpr (TUNE_IN_PLACE) block_sync(); // no place is written before all are read
        UNROLL
        for (int i = 0; i < ITEMS; i++)
            if (WHOLE || striped_index(i) < count) out.value[striped_index(i)] = value[i];
    }
}

// Sorts FIRST_RUN items, or those that are left, in registers.
FUNCTION void sort_first_run(range in, target out)
{
    const u32 count = static_cast<u32>(in.count);
    item_t key[FIRST_RUN];
    u32 index[FIRST_RUN];
    value_t value[FIRST_RUN];
    for (u32 i = 0; i < FIRST_RUN; i++) {
        index[i] = i;
        if (i < count) key[i] = in.key[i];
        if constexpr (PAIRS)
            if (i < count) value[i] = in.value[i];
    }
    if (count == FIRST_RUN)
        thread_sort_pairs(key, index, FIRST_RUN, order());
    else
        thread_sort_pairs(key, index, count, order());
    for (u32 i = 0; i < count; i++) {
        out.key[i] = key[i];
        if constexpr (PAIRS) out.value[i] = value[index[i]];
    }
}

FUNCTION void sort_alone(range in, target out, sort_shared& s)
{
    const u64 n = in.count;
    const target spare = {s.key, s.value};
    bool to_out = true; // what goes in last
    for (u64 run = FIRST_RUN; run < n; run *= 2) to_out = !to_out;
    for (u64 i = 0; i < n; i += FIRST_RUN)
        sort_first_run(part_of(in, i, n - i < FIRST_RUN ? n - i : FIRST_RUN),
                       behind(to_out ? out : spare, i));
    for (u64 run = FIRST_RUN; run < n; run *= 2) {
        const target from = to_out ? out : spare, to = to_out ? spare : out;
        const range sorted = {from.key, from.value, n};
        for (u64 i = 0; i < n; i += 2 * run) {
            const u64 first = n - i < run ? n - i : run;
            const u64 second = n - i - first < run ? n - i - first : run;
            merge_alone(part_of(sorted, i, first), part_of(sorted, i + first, second),
                        behind(to, i));
        }
        to_out = !to_out;
    }
}

KERNEL(merge_sort_tiles, merge_sort_args, sort_shared)
{
    const u64 first = static_cast<u64>(block_id()) * TILE, left = a.in.count - first;
    const range tile = part_of(a.in, first, left < TILE ? left : TILE);
    if constexpr (ALONE)
        sort_alone(tile, behind(a.out, first), s);
    else if (tile.count == TILE)
        block_sort<true>(tile, behind(a.out, first), s.tile);
    else
        block_sort<false>(tile, behind(a.out, first), s.tile);
}

// ---- a round ------------------------------------------------------------------------------------
KERNEL(merge_sort_round, merge_sort_args, tile_shared)
{
    const u64 run = a.run * TILE, tile = static_cast<u64>(block_id()) * TILE;
    const u64 begin = (block_id() & ~(2 * a.run - 1)) * TILE, left = a.in.count - begin;
    const u64 first = left < run ? left : run;
    const u64 second = left - first < run ? left - first : run;
    merge_tile(part_of(a.in, begin, first), part_of(a.in, begin + first, second), tile - begin,
               behind(a.out, begin), s);
}
