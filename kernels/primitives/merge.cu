// Merge of two sorted arrays. Each block finds the inputs of its tile by a search along the merge
// path (merge_path.h). Of many tiles the searches would read as much as the merge: those are made
// beforehand, by a thread each. On the CPU it is cpu_merge.cu.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:24:1
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:64
// %RANGE% TUNE_MIN_BLOCKS mb 1:6:1
//
// ipt   items a thread; an odd number avoids bank conflicts when the threads of a warp write their
//       items to shared memory
// mb    least blocks a multiprocessor, which limits the registers a thread; while one block
//       searches, others merge
//
// Traffic: every item is read and written once.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "merge.h"

struct merge_args { // arguments of both kernels
    range a, b;
    target out;
    u64* crossings; // of all tiles; NULL: blocks search their own
};

KERNEL(merge_crossings, merge_args, no_shared)
{
    (void)s;
    const u64 tile = static_cast<u64>(block_id()) * SIMT_THREADS + thread_id();
    if (tile * TILE < a.a.count + a.b.count)
        a.crossings[tile] = thread_crossing(a.a, a.b, tile * TILE);
}

KERNEL(merge_tiles, merge_args, tile_shared)
{
    const u64 tile = block_id();
    merge_tile(a.a, a.b, tile * TILE, a.out, a.crossings ? a.crossings + tile : nullptr, s);
}
