// Merge of two sorted arrays into one, in a single launch: a block finds by itself what merges into
// its tile (merge.h).
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:24:1 cpu=2048:65536:2048
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:64 cpu=1:1:1
// %RANGE% TUNE_MIN_BLOCKS mb 1:6:1 cpu=1:1:1
//
// ipt   items a thread; an odd number lets the threads of a warp write theirs to shared memory
//       without meeting in a bank
// mb    blocks that the registers of a multiprocessor are shared out to, at least: while a block
//       searches, others merge
//
// Traffic: every item read and written once.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "merge.h"

struct merge_args {
    range a, b;
    target out;
};

KERNEL(merge_tiles, merge_args, tile_shared)
{
    merge_tile(a.a, a.b, static_cast<u64>(block_id()) * TILE, a.out, s);
}
