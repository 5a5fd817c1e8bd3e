// Reduction of every segment of an array, of any lengths, on the CPU: a single thread goes through
// its share, and reduces one segment after the other. Segments with ends of their own have no
// shares: each block takes as many of them.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 1024:16384:1024
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 1:1:1
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 3:7:1
// %RANGE% TUNE_WAVES wav 1:16:1
// %GONE% mb 1
// %GONE% ld 0
// %GONE% ept 1
// %GONE% lb 1
//
// ipt   least share of a block
// ipv   items of a vector (log2), see single_thread_reduce.h
// wav   most blocks, in multiples of those resident at once
//
// Traffic: the items and the offsets are read, one item a segment is written.
#define TUNE_LOOK 1
#include "input.h"
#include "operator.h"

DEFINE_INPUT(TUNE_IN, in_t, item_t)

#include "segmented_reduce_share.h"
#include "single_thread_reduce.h"

#if TUNE_OWN_ENDS
KERNEL(segmented_reduce_shares, segmented_reduce_args, block_share)
{
    (void)s;
    const u64 each = ceil_div(a.set.count, block_count()), first = block_id() * each;
    for (u64 segment = first; segment < smaller(first + each, a.set.count); segment++) {
        const u64 begin = segment_begin(a.set, segment);
        const u64 end = larger(segment_end(a.set, segment), begin);
        write_segment(a, segment, single_thread_reduce(a.in, begin, end, 0), end == begin);
    }
}
#else
KERNEL(segmented_reduce_shares, segmented_reduce_args, block_share)
{
    const ticket mine = take_share(a, s);
    u64 item = s.begin.item;
    for (u64 segment = s.begin.segment; segment < s.end.segment; segment++) {
        const u64 end = smaller(larger(segment_end(a.set, segment), item), s.end.item);
        write_or_keep(a, s, segment, single_thread_reduce(a.in, item, end, 0), end <= item);
        item = end;
    }
    finish_share(a, s, mine, single_thread_reduce(a.in, item, s.end.item, 0));
}
#endif
