// Stable merge sort by a comparison on the CPU: single threads sort tiles, then rounds merge pairs
// of sorted runs.
//
// A tile and its buffer stay in a core's cache (single_thread_sort.h). In a round every thread
// merges one tile of the result, whose inputs it finds by itself (merge_path.h). Rounds alternate
// between the output and scratch memory. An input that fits a tile is sorted in one launch.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 2048:65536:2048
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 1:1:1
//
// ipt   items of a tile
//
// Traffic: every item is read and written once for the tiles and once a round.
#include "single_thread_sort.h"

struct merge_sort_args { // arguments of both kernels
    range in;            // all items
    target out;
    u64 run; // tiles of a sorted run, a power of two
};

KERNEL(merge_sort_tiles, merge_sort_args, tile_buffer)
{
    const u64 first = static_cast<u64>(block_id()) * TILE, left = a.in.count - first;
    single_thread_sort(part_of(a.in, first, left < TILE ? left : TILE), behind(a.out, first), s);
}

struct round_shared {
    u64 crossing[2];
};

KERNEL(merge_sort_round, merge_sort_args, round_shared)
{
    const u64 run = a.run * TILE, tile = static_cast<u64>(block_id()) * TILE;
    const u64 begin = (block_id() & ~(2 * a.run - 1)) * TILE, left = a.in.count - begin;
    const u64 first = left < run ? left : run;
    const u64 second = left - first < run ? left - first : run;
    merge_tile(part_of(a.in, begin, first), part_of(a.in, begin + first, second), tile - begin,
               behind(a.out, begin), s.crossing);
}
