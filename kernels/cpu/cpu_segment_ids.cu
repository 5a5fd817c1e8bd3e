// Number of the segment of each item, as in segment_ids.cu, on the CPU: each single thread finds
// the number of its first item by a binary search, and goes on from segment to segment.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4096:65536:4096
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 1:1:1
//
// ipt   items a thread
//
// Workload: that of segments.h, and TUNE_O, the type of the numbers.
// Traffic: one number an item is written, the offsets are read.
#include "segments.h"
#include "types.h"

typedef TUNE_O id_t;

struct segment_ids_args {
    segments set;
    id_t* out;
};

struct segment_ids_shared {
    u32 nothing;
};

KERNEL(segment_ids_rows, segment_ids_args, segment_ids_shared)
{
    (void)s;
    const u64 first = static_cast<u64>(block_id()) * TUNE_ITEMS_PER_THREAD;
    const u64 end = smaller(first + TUNE_ITEMS_PER_THREAD, a.set.items);
    u64 number = offsets_up_to(a.set, first, 0, a.set.count + 1);
    for (u64 item = first; item < end; number++) {
        const u64 next = number <= a.set.count ? smaller(segment_begin(a.set, number), end) : end;
        for (; item < next; item++) a.out[item] = convert<id_t>(number);
    }
}
