// Number of the segment of each item, from 1 on: the number of offsets up to its index. It is 0 for
// items before the first segment, and one more than the last segment's number for items after it.
//
// A warp takes rows, a vector a lane. Its lanes find the numbers at the beginnings of the rows in
// parallel, each by a binary search. So searches within a row are short, and a row within one
// segment needs none. On the CPU it is cpu_segment_ids.cu.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:64:4
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:64
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 0:3:1
//
// ipt   items a thread
// ipv   items a vector store (log2)
//
// Workload: that of segments.h, and TUNE_O, the type of the numbers.
// Traffic: one number an item is written, the offsets are read.
#include "memory.h"
#include "segments.h"
#include "types.h"

typedef TUNE_O id_t;

enum {
    VECTOR = 1 << TUNE_ITEMS_PER_VECTOR_LOG2,
    ROWS = TUNE_ITEMS_PER_THREAD / VECTOR,
    ROW_ITEMS = SIMT_WARP * VECTOR
};

static_assert(ROWS < SIMT_WARP, "a lane for each row's beginning, and one for the end");

struct segment_ids_args {
    segments set;
    id_t* out;
};

struct segment_ids_shared {
    u32 nothing;
};

FUNCTION void number_row(const segment_ids_args& a, u64 first, u64 low, u64 high)
{
    id_t id[VECTOR];
    if (first >= a.set.items) return;
    u64 number = offsets_up_to(a.set, first, low, high);
    UNROLL
    for (int j = 0; j < VECTOR; j++) {
        if (j > 0 && low < high) // few steps, mostly none or one
            while (number < high && segment_begin(a.set, number) <= first + static_cast<u64>(j))
                number++;
        id[j] = convert<id_t>(number);
    }
    if (first + VECTOR <= a.set.items)
        store_items(a.out + first, id);
    else
        for (int j = 0; j < VECTOR; j++)
            if (first + static_cast<u64>(j) < a.set.items)
                a.out[first + static_cast<u64>(j)] = id[j];
}

KERNEL(segment_ids_rows, segment_ids_args, segment_ids_shared)
{
    (void)s;
    const u64 warp = static_cast<u64>(block_id()) * SIMT_WARPS + warp_id();
    const u64 first = warp * (static_cast<u64>(ROWS) * ROW_ITEMS);
    const u64 row = smaller(lane_id(), ROWS);
    const u64 number = offsets_up_to(a.set, first + row * ROW_ITEMS, 0, a.set.count + 1);
    UNROLL
    for (u32 r = 0; r < ROWS; r++) {
        const u64 low = warp_shuffle(number, r), high = warp_shuffle(number, r + 1);
        number_row(a, first + static_cast<u64>(r) * ROW_ITEMS + lane_id() * VECTOR, low, high);
    }
}
