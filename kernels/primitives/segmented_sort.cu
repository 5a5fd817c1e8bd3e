// Stable sort of each segment of an array, of any lengths, without reading the offsets on the host.
//
// The array is cut into windows of fewer items than a block holds. A block sorts the short segments
// that begin in its window as a whole, even if they reach into the next window, which skips them.
// It sorts the part inside its window of a long segment that crosses the window's ends. It merges
// in shared memory as merge_sort.cu does, but of two neighbouring runs it merges only the segment
// that lies across their seam (S. Baxter, "Modern GPU", 2013: segmented sort). So short segments
// cost few comparisons. If no segment is long, this is all: one read and one write of the items.
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
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:24:1 cpu=2048:32768:2048
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:64 cpu=1:1:1
// %RANGE% TUNE_MIN_BLOCKS mb 1:6:1 cpu=1:1:1
//
// ipt   items a thread
// mb    least blocks a multiprocessor, which limits the registers a thread
//
// Workload, besides that of merge.h and segments.h:
//     TUNE_KEY, TUNE_KEY_KIND, TUNE_MANTISSA_BITS, TUNE_DESCENDING   as in radix.h
//     TUNE_INDICES    1: values are the items' indices
//     TUNE_RELATIVE   1: indices count from the segment's beginning; segments are of equal size
//     TUNE_IN_PLACE   1: an output is also an input
//
// Traffic: every item is read and written once; items of long segments once more a round.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "block_radix.h"
#include "merge_alone.h"
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

// ---- a window's segments ------------------------------------------------------------------------
struct window_shared {
    tile_shared tile;
    alone_shared alone;
    seam at[2];
    u32 head[ALONE ? 1 : TILE / 32 + 2]; // one bit an item: a segment begins there
    u32 across[SIMT_THREADS]; // begin and end (<< 16) of the segment across a thread's first item
};

static_assert(ALONE || TILE < 1 << 16, "two places in the window share a word");
static_assert(ALONE || ITEMS <= 32, "a bit for each item of a thread");

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

// Marks the beginnings of segments, and the segments that lie across the seams between threads.
FUNCTION void mark_pieces(const segmented_sort_args& a, window_shared& s, const window& w)
{
    const u64 pieces = pieces_in(s.at);
    const u32 count = index_in(w, w.last);
    for (u32 k = thread_id(); k < TILE / 32 + 2; k += SIMT_THREADS) s.head[k] = 0;
    s.across[thread_id()] = pieces > 1 || own(0) >= count ? 0 : count << 16;
    block_sync();
    for (u64 k = thread_id(); pieces > 1 && k < pieces; k += SIMT_THREADS) {
        const piece p = piece_of(a, s.at, w, k);
        if (p.begin >= p.end) continue;
        shared_or(&s.head[p.begin / 32], 1u << p.begin % 32);
        for (u32 t = p.begin / ITEMS + 1; t * ITEMS < p.end; t++)
            s.across[t] = p.begin | p.end << 16;
    }
    block_sync();
}

// Returns a mask of the thread's items that begin a segment.
FUNCTION u32 own_heads(const window_shared& s)
{
    const u32 first = own(0);
    const u64 two = s.head[first / 32] | static_cast<u64>(s.head[first / 32 + 1]) << 32;
    return static_cast<u32>(two >> first % 32);
}

// ---- a block ------------------------------------------------------------------------------------
// Merges two runs, of `threads` threads together, if a segment lies across their seam. Only threads
// that have items of the segment take part, and they keep their other items.
FUNCTION void merge_neighbours(window_shared& s, u32 threads, item_t (&key)[ITEMS],
                               u32 (&index)[ITEMS])
{
    const u32 first = thread_id() / threads * threads, second = first + threads / 2;
    const u32 segment = second < SIMT_THREADS ? s.across[second] : 0;
    const u32 begin = first * ITEMS, end = begin + threads * ITEMS;
    const u32 low = (segment & 0xffffu) > begin ? segment & 0xffffu : begin;
    const u32 high = segment >> 16 < end ? segment >> 16 : end;
    const bool mine = own(0) < high && own(0) + ITEMS > low;
    if (mine) keep_own(s.tile, key, index);
    sync_threads(threads);
    if (mine) {
        u32 from[ITEMS];
        UNROLL
        for (int i = 0; i < ITEMS; i++) from[i] = own(i);
        const u32 skipped = own(0) < low ? low - own(0) : 0;
        thread_merge<true>(s.tile.key, low, second * ITEMS, high, own(0) + skipped - low, key, from,
                           order(), skipped);
        if constexpr (PAIRS) {
            UNROLL
            for (int i = 0; i < ITEMS; i++) index[i] = s.tile.index[from[i]];
        }
    }
    sync_threads(threads);
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

FUNCTION void write_window(const segmented_sort_args& a, window_shared& s, const window& w,
                           u32 count)
{
    UNROLL
    for (int i = 0; i < ITEMS; i++) {
        if (striped_index(i) >= count) continue;
        const home h = home_of(a, w, w.first + striped_index(i));
        const item_t key = s.tile.key[striped_index(i)];
        h.to.key[w.first + striped_index(i)] = h.coded ? key : key_code::decode(key);
    }
    if constexpr (PAIRS) {
        value_t value[ITEMS];
        UNROLL
        for (int i = 0; i < ITEMS; i++) {
            if (striped_index(i) >= count) continue;
            const u64 from = w.first + s.tile.index[striped_index(i)];
            if constexpr (TUNE_INDICES)
                value[i].word[0] = index_of(a, from);
            else
                value[i] = a.in.value[from];
        }
        if constexpr (TUNE_IN_PLACE) block_sync(); // all are read before any is written
        UNROLL
        for (int i = 0; i < ITEMS; i++)
            if (striped_index(i) < count)
                home_of(a, w, w.first + striped_index(i)).to.value[w.first + striped_index(i)] =
                    value[i];
    }
}

FUNCTION void sort_window(const segmented_sort_args& a, window_shared& s, const window& w)
{
    const u32 count = index_in(w, w.last);
    item_t key[ITEMS];
    u32 index[ITEMS];
    UNROLL
    for (int i = 0; i < ITEMS; i++)
        if (striped_index(i) < count) key[i] = a.in.key[w.first + striped_index(i)];
    mark_pieces(a, s, w);
    UNROLL
    for (int i = 0; i < ITEMS; i++)
        if (striped_index(i) < count) s.tile.key[striped_index(i)] = key_code::encode(key[i]);
    block_sync();
    UNROLL
    for (int i = 0; i < ITEMS; i++) {
        key[i] = s.tile.key[own(i)];
        index[i] = own(i);
    }
    thread_sort_pairs(key, index, own_heads(s) | bits_behind(own(0) < count ? count - own(0) : 0),
                      order());
    for (u32 threads = 2; threads / 2 < SIMT_THREADS; threads *= 2)
        merge_neighbours(s, threads, key, index);
    keep_own(s.tile, key, index);
    block_sync();
    write_window(a, s, w, count);
}

// ---- single thread ------------------------------------------------------------------------------
FUNCTION void decode_alone(target to, u64 first, u64 last)
{
    for (u64 i = first; i < last; i++) to.key[i] = key_code::decode(to.key[i]);
}

// Sorts a window on a single thread. Encodes all keys first and decodes them last, in loops that
// span many segments.
FUNCTION void sort_window_alone(const segmented_sort_args& a, window_shared& s, const window& w)
{
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
        sort_alone(part_of(coded, first, p.end - p.begin), behind(home_of(a, w, first).to, first),
                   s.alone);
    }
    decode_alone(a.out, w.left, w.right);
}

KERNEL(segmented_sort_windows, segmented_sort_args, window_shared)
{
    const u64 begin = block_id() * a.window;
    find_seams(a, begin, s.at);
    const window w = window_between(a, begin, s.at);
    if (a.rounds && thread_id() == 0) {
        const u32 rounds = w.rounds[0] > w.rounds[1] ? w.rounds[0] : w.rounds[1];
        a.rounds[block_id()] = static_cast<u8>(rounds);
        if (rounds) atomic_max(a.most_rounds, rounds);
    }
    if constexpr (ALONE)
        sort_window_alone(a, s, w);
    else
        sort_window(a, s, w);
}

// ---- a round ------------------------------------------------------------------------------------
struct round_shared {
    tile_shared tile;
    seam at[2];
};

// Merges items [first, last) of window number `block`, a part of the segment across the seam.
FUNCTION void merge_part(const segmented_sort_args& a, tile_shared& s, u64 block, const seam& m,
                         u32 rounds, u64 first, u64 last)
{
    const u64 own_first = m.begin / a.window, runs = 1ull << a.round;
    const u64 group = own_first + (block - own_first) / (2 * runs) * (2 * runs);
    const u64 begin = larger(m.begin, group * a.window);
    const u64 middle = smaller(m.end, (group + runs) * a.window);
    const u64 end = smaller(m.end, (group + 2 * runs) * a.window);
    const u32 left = rounds - static_cast<u32>(a.round) - 1;
    const target from = side_of(a, left + 1), to = side_of(a, left);
    const range sorted = {from.key, from.value, a.in.count};
    const parts p =
        block_parts(part_of(sorted, begin, middle - begin), part_of(sorted, middle, end - middle),
                    first - begin, last - first, s.crossing);
    if constexpr (ALONE) {
        merge_alone(p.a, p.b, behind(to, first));
        if (left == 0) decode_alone(to, first, last);
    } else {
        const u32 count = static_cast<u32>(last - first);
        const target here = behind(to, first);
        block_merge_keys<false>(p, s);
        UNROLL
        for (int i = 0; i < ITEMS; i++)
            if (striped_index(i) < count) {
                const item_t key = s.key[striped_index(i)];
                here.key[striped_index(i)] = left ? key : key_code::decode(key);
            }
        write_merged_values<false>(p, here, s);
    }
    block_sync();
}

KERNEL(segmented_sort_round, segmented_sort_args, round_shared)
{
    const u64 windows = (a.in.count + a.window - 1) / a.window;
    const u64 end = a.round < *a.most_rounds ? windows : 0;
    for (u64 block = block_id(); block < end; block += block_count()) {
        if (a.rounds[block] <= a.round) continue;
        find_seams(a, block * a.window, s.at);
        const window w = window_between(a, block * a.window, s.at);
        if (w.rounds[0] > a.round)
            merge_part(a, s.tile, block, s.at[0], w.rounds[0], w.first, w.left);
        if (w.rounds[1] > a.round)
            merge_part(a, s.tile, block, s.at[1], w.rounds[1], w.right, w.last);
        block_sync();
    }
}
