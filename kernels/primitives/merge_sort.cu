// Stable merge sort by a comparison: blocks sort tiles, then rounds merge pairs of sorted runs.
//
// In a tile each thread sorts its items in registers, then pairs of runs are merged in shared
// memory until one is left. In a round every block merges one tile of the result, whose inputs it
// finds by itself (merge_path.h), so that a round is one launch. Rounds alternate between the
// output and scratch memory. An input that fits a tile is sorted in one launch. On the CPU it is
// cpu_merge_sort.cu.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:24:1
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:64
// %RANGE% TUNE_MIN_BLOCKS mb 1:6:1
//
// The parameters are those of merge.cu. More threads need fewer rounds.
//
// Workload, besides that of merge_path.h:
//     TUNE_IN_PLACE   1: an output is also an input
//
// Traffic: every item is read and written once for the tiles and once a round.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "merge.h"

struct merge_sort_args { // arguments of both kernels
    range in;            // all items
    target out;
    u64 run; // tiles of a sorted run, a power of two
};

// Values go through shared memory, because a gather of them from global memory costs an access a
// value. They take the place of the keys where they fit, and a place beside them if they are small.
enum {
    IN_KEYS = PAIRS && sizeof(value_t) <= sizeof(item_t) && alignof(value_t) <= alignof(item_t),
    BESIDE = PAIRS && !IN_KEYS && sizeof(value_t) <= 4
};
struct sort_shared {
    tile_shared tile;
    value_t beside[BESIDE ? TILE : 1];
};

// ---- tiles --------------------------------------------------------------------------------------
template <bool WHOLE>
FUNCTION void block_sort(range in, target out, sort_shared& all)
{
    tile_shared& s = all.tile;
    const u32 count = WHOLE ? TILE : static_cast<u32>(in.count);
    const u32 mine = WHOLE || my_item(0) < count ? my_item(0) : count; // the thread's first item
    item_t key[ITEMS];
    u32 index[ITEMS], from[ITEMS];
    prefetch_values(in);
    UNROLL
    for (int i = 0; i < ITEMS; i++)
        if (WHOLE || striped_index(i) < count) key[i] = in.key[striped_index(i)];
    UNROLL
    for (int i = 0; i < ITEMS; i++)
        if (WHOLE || striped_index(i) < count) s.key[striped_index(i)] = key[i];
    block_sync();
    UNROLL
    for (int i = 0; i < ITEMS; i++) {
        key[i] = s.key[my_item(i)];
        index[i] = my_item(i);
    }
    thread_sort_pairs(key, index, WHOLE ? 0 : bits_behind(count - mine), order());
    for (u32 threads = 2; threads / 2 < SIMT_THREADS; threads *= 2) { // threads that merge two runs
        const u32 first = thread_id() / threads * threads * ITEMS, run = threads / 2 * ITEMS;
        const u32 middle = first + run < count ? first + run : count;
        const u32 end = first + 2 * run < count ? first + 2 * run : count;
        sync_threads(threads);
        keep_mine(s, key, index);
        sync_threads(threads);
        if (first < count)
            thread_merge(s.key, first, middle, end, mine - first, key, from, order());
        if constexpr (PAIRS) {
            UNROLL
            for (int i = 0; i < ITEMS; i++)
                if (WHOLE || my_item(i) < count) index[i] = s.index[from[i]];
        }
    }
    block_sync();
    keep_mine(s, key, index);
    block_sync();
    UNROLL
    for (int i = 0; i < ITEMS; i++)
        if (WHOLE || striped_index(i) < count) out.key[striped_index(i)] = s.key[striped_index(i)];
    if constexpr (PAIRS) {
        value_t value[ITEMS];
        if constexpr (IN_KEYS || BESIDE) {
            value_t* const staged = BESIDE ? all.beside : reinterpret_cast<value_t*>(s.key);
            UNROLL
            for (int i = 0; i < ITEMS; i++)
                if (WHOLE || striped_index(i) < count) value[i] = in.value[striped_index(i)];
            if constexpr (IN_KEYS) block_sync();
            UNROLL
            for (int i = 0; i < ITEMS; i++)
                if (WHOLE || striped_index(i) < count) staged[striped_index(i)] = value[i];
            block_sync();
            UNROLL
            for (int i = 0; i < ITEMS; i++)
                if (WHOLE || striped_index(i) < count) value[i] = staged[s.index[striped_index(i)]];
        } else {
            UNROLL
            for (int i = 0; i < ITEMS; i++)
                if (WHOLE || striped_index(i) < count)
                    value[i] = in.value[s.index[striped_index(i)]];
            if constexpr (TUNE_IN_PLACE) block_sync(); // all are read before any is written
        }
        UNROLL
        for (int i = 0; i < ITEMS; i++)
            if (WHOLE || striped_index(i) < count) out.value[striped_index(i)] = value[i];
    }
}

KERNEL(merge_sort_tiles, merge_sort_args, sort_shared)
{
    const u64 first = static_cast<u64>(block_id()) * TILE, left = a.in.count - first;
    const range tile = part_of(a.in, first, left < TILE ? left : TILE);
    if (tile.count == TILE)
        block_sort<true>(tile, behind(a.out, first), s);
    else
        block_sort<false>(tile, behind(a.out, first), s);
}

// ---- a round ------------------------------------------------------------------------------------
KERNEL(merge_sort_round, merge_sort_args, tile_shared)
{
    const u64 run = a.run * TILE, tile = static_cast<u64>(block_id()) * TILE;
    const u64 begin = (block_id() & ~(2 * a.run - 1)) * TILE, left = a.in.count - begin;
    const u64 first = left < run ? left : run;
    const u64 second = left - first < run ? left - first : run;
    merge_tile(part_of(a.in, begin, first), part_of(a.in, begin + first, second), tile - begin,
               behind(a.out, begin), nullptr, s);
}
