// Merge of two sorted arrays on the CPU: each single thread merges a tile, whose inputs it finds on
// the merge path (merge_path.h).
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 2048:65536:2048
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 1:1:1
//
// ipt   items of a tile
//
// Traffic: every item is read and written once.
#include "single_thread_merge.h"

struct merge_args {
    range a, b;
    target out;
};

struct merge_shared {
    u64 crossing[2];
};

KERNEL(merge_tiles, merge_args, merge_shared)
{
    merge_tile(a.a, a.b, static_cast<u64>(block_id()) * TILE, a.out, s.crossing);
}
