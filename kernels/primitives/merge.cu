// Merge of two sorted arrays in one launch. Each block finds the inputs of its tile by a search
// along the merge path (merge_path.h). On the CPU it is cpu_merge.cu.
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

struct merge_args {
    range a, b;
    target out;
};

KERNEL(merge_tiles, merge_args, tile_shared)
{
    merge_tile(a.a, a.b, static_cast<u64>(block_id()) * TILE, a.out, s);
}
