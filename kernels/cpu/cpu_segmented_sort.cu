// Stable sort of each segment of an array on the CPU: single threads sort windows, then rounds
// merge the parts of long segments (segment_windows.h).
//
// All keys of a window are encoded first and decoded last, in loops that span many segments.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 2048:32768:2048
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 1:1:1
//
// ipt   most items that one thread sorts at once
//
// Traffic: every item is read and written once; items of long segments once more a round.
#include "segment_windows.h"
#include "single_thread_sort.h"

struct window_shared {
    tile_buffer buffer;
    seam at[2];
};

FUNCTION void decode_keys(target to, u64 first, u64 last)
{
    for (u64 i = first; i < last; i++) to.key[i] = key_code::decode(to.key[i]);
}

KERNEL(segmented_sort_windows, segmented_sort_args, window_shared)
{
    const u64 begin = block_id() * a.window;
    find_seams(a, begin, s.at);
    const window w = window_between(a, begin, s.at);
    store_rounds(a, w);
    const range coded = {a.out.key, a.out.value, a.in.count};
    for (u64 i = w.first; i < w.last; i++) {
        a.out.key[i] = key_code::encode(a.in.key[i]);
        if constexpr (TUNE_INDICES)
            a.out.value[i].word[0] = index_of(a, i);
        else if constexpr (PAIRS)
            a.out.value[i] = a.in.value[i];
    }
    const u64 pieces = pieces_in(s.at);
    for (u64 k = 0; k < pieces; k++) {
        const piece p = piece_of(a, s.at, w, k);
        if (p.begin >= p.end) continue;
        const u64 first = w.first + p.begin;
        single_thread_sort(part_of(coded, first, p.end - p.begin),
                           behind(home_of(a, w, first).to, first), s.buffer);
    }
    decode_keys(a.out, w.left, w.right);
}

// ---- a round ------------------------------------------------------------------------------------
struct round_shared {
    u64 crossing[2];
    seam at[2];
};

// Merges items [first, last) of window number `block`, a part of the segment across the seam.
FUNCTION void merge_part(const segmented_sort_args& a, round_shared& s, u64 block, const seam& m,
                         u32 rounds, u64 first, u64 last)
{
    const run_pair r = runs_across(a, block, m);
    const u32 left = rounds - static_cast<u32>(a.round) - 1;
    const target from = side_of(a, left + 1), to = side_of(a, left);
    const range sorted = {from.key, from.value, a.in.count};
    const parts p = block_parts(part_of(sorted, r.begin, r.middle - r.begin),
                                part_of(sorted, r.middle, r.end - r.middle), first - r.begin,
                                last - first, s.crossing);
    single_thread_merge(p.a, p.b, behind(to, first));
    if (left == 0) decode_keys(to, first, last);
}

KERNEL(segmented_sort_round, segmented_sort_args, round_shared)
{
    const u64 windows = (a.in.count + a.window - 1) / a.window;
    const u64 end = a.round < *a.most_rounds ? windows : 0;
    for (u64 block = block_id(); block < end; block += block_count()) {
        if (a.rounds[block] <= a.round) continue;
        find_seams(a, block * a.window, s.at);
        const window w = window_between(a, block * a.window, s.at);
        if (w.rounds[0] > a.round) merge_part(a, s, block, s.at[0], w.rounds[0], w.first, w.left);
        if (w.rounds[1] > a.round) merge_part(a, s, block, s.at[1], w.rounds[1], w.right, w.last);
    }
}
