// Windows of an array whose segments are sorted: which items a block sorts, which parts of long
// segments are left to merge, and where these are.
//
// The array is cut into windows of fewer items than a block holds. A block sorts the short segments
// that begin in its window as a whole, even if they reach into the next window, which skips them.
// It sorts the part inside its window of a long segment that crosses the window's ends.
//
// Then rounds merge the parts of the long segments, window by window. Round r merges pairs of runs
// of 2^r windows, counted from the segment's first window. A segment alternates between the output
// and spare memory, and starts on the side from which its last round ends in the output. The first
// kernel stores the number of rounds that each window needs, and a round skips the windows that
// need no more. The host launches as many rounds as there can be; one that is not needed costs an
// empty launch.
//
// Keys are compared as unsigned numbers of the same order. In memory only keys that are yet to be
// merged are encoded.
//
// Workload, besides that of merge_path.h and segments.h:
//     TUNE_KEY, TUNE_KEY_KIND, TUNE_MANTISSA_BITS, TUNE_DESCENDING   as in radix.h
//     TUNE_INDICES    1: values are the items' indices
//     TUNE_RELATIVE   1: indices count from the segment's beginning; segments are of equal size
#pragma once
#include "block_radix.h"
#include "merge_path.h"
#include "segments.h"

typedef radix_code<TUNE_KEY_KIND, TUNE_MANTISSA_BITS, TUNE_DESCENDING, item_t> key_code;

struct segmented_sort_args { // arguments of both kernels
    range in;                // all items
    target out, spare;
    segments set;
    u64 window;       // items from one window's beginning to the next
    u64 most_short;   // most items of a short segment
    u8* rounds;       // rounds that each window needs; NULL: there is no long segment
    u64* most_rounds; // maximum of them
    u64 round;
};

// ---- windows ------------------------------------------------------------------------------------
struct seam {       // boundary of two windows
    u64 offsets;    // number of offsets before it
    u64 begin, end; // segment that lies across it; both are the seam if there is none
};

struct window {
    u64 begin, end;
    u64 first, last; // range of items that the block sorts
    u64 left, right; // [first, left) and [right, last) are parts of long segments
    u32 rounds[2];   // rounds that merge these parts
};

FUNCTION seam seam_at(const segments& g, u64 at)
{
    const u64 offsets = offsets_below(g, at);
    const u64 begin = offsets > 0 ? segment_begin(g, offsets - 1) : 0;
    const u64 end = offsets <= g.count ? segment_begin(g, offsets) : g.items;
    const bool across = begin < at && at < end;
    return seam{offsets, across ? begin : at, across ? end : at};
}

// Finds the seams on both sides of a window. Called by all threads of the block.
FUNCTION void find_seams(const segmented_sort_args& a, u64 begin, seam (&at)[2])
{
    for (u32 side = warp_id(); side < 2; side += SIMT_WARPS) {
        const seam found = seam_at(a.set, side ? smaller(begin + a.window, a.in.count) : begin);
        if (lane_id() == 0) at[side] = found;
    }
    block_sync();
}

FUNCTION bool is_long(const segmented_sort_args& a, const seam& m)
{
    return m.end - m.begin > a.most_short;
}

FUNCTION u32 rounds_of(const segmented_sort_args& a, const seam& m)
{
    if (!is_long(a, m)) return 0;
    const u64 windows = (m.end - 1) / a.window - m.begin / a.window + 1;
    u32 rounds = 0;
    while (1ull << rounds < windows) rounds++;
    return rounds;
}

FUNCTION window window_between(const segmented_sort_args& a, u64 begin, const seam (&at)[2])
{
    window w{begin, smaller(begin + a.window, a.in.count), 0, 0, 0, 0, {0, 0}};
    w.rounds[0] = rounds_of(a, at[0]);
    w.rounds[1] = rounds_of(a, at[1]);
    w.first = w.rounds[0] ? w.begin : larger(at[0].end, begin);
    w.last = w.rounds[1] ? w.end : at[1].end;
    w.left = w.rounds[0] ? smaller(at[0].end, w.end) : w.first;
    if (w.rounds[0] && at[0].end > w.end) w.rounds[1] = 0; // one segment lies across both
    w.right = w.rounds[1] ? larger(at[1].begin, w.left) : w.last;
    return w;
}

// Returns the memory that holds a long segment with that many rounds left.
FUNCTION target side_of(const segmented_sort_args& a, u32 rounds_left)
{
    return rounds_left % 2 ? a.spare : a.out;
}

struct home { // destination of an item
    target to;
    bool coded;
};

FUNCTION home home_of(const segmented_sort_args& a, const window& w, u64 item)
{
    if (item < w.left) return home{side_of(a, w.rounds[0]), true};
    if (item >= w.right) return home{side_of(a, w.rounds[1]), true};
    return home{a.out, false};
}

FUNCTION TUNE_VALUE index_of(const segmented_sort_args& a, u64 item)
{
    return static_cast<TUNE_VALUE>(TUNE_RELATIVE ? item % a.set.size : item);
}

// Stores the number of rounds that a window needs.
FUNCTION void store_rounds(const segmented_sort_args& a, const window& w)
{
    if (!a.rounds || thread_id() != 0) return;
    const u32 rounds = w.rounds[0] > w.rounds[1] ? w.rounds[0] : w.rounds[1];
    a.rounds[block_id()] = static_cast<u8>(rounds);
    if (rounds) atomic_max(a.most_rounds, rounds);
}

// ---- segments of a window -----------------------------------------------------------------------
// Part of a segment in the block's range [first, last); [begin, end) counts from `first`.
struct piece {
    u32 begin, end;
};

FUNCTION u64 pieces_in(const seam (&at)[2])
{
    return at[1].offsets > at[0].offsets ? at[1].offsets - at[0].offsets + 1 : 1;
}

FUNCTION u32 index_in(const window& w, u64 item)
{
    const u64 at = larger(item, w.first);
    return static_cast<u32>(smaller(at, w.last) - w.first);
}

FUNCTION piece piece_of(const segmented_sort_args& a, const seam (&at)[2], const window& w, u64 k)
{
    const u64 offset = at[0].offsets + k;
    return piece{k > 0 ? index_in(w, segment_begin(a.set, offset - 1)) : 0,
                 index_in(w, k + 1 < pieces_in(at) ? segment_begin(a.set, offset) : w.last)};
}

// ---- a round ------------------------------------------------------------------------------------
struct run_pair { // two runs of a segment: [begin, middle) and [middle, end)
    u64 begin, middle, end;
};

// Returns the runs that round a.round merges into window number `block`, of the segment across the
// seam.
FUNCTION run_pair runs_across(const segmented_sort_args& a, u64 block, const seam& m)
{
    const u64 first_window = m.begin / a.window, runs = 1ull << a.round;
    const u64 group = first_window + (block - first_window) / (2 * runs) * (2 * runs);
    return run_pair{larger(m.begin, group * a.window), smaller(m.end, (group + runs) * a.window),
                    smaller(m.end, (group + 2 * runs) * a.window)};
}
