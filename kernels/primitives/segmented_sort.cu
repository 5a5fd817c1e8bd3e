// Stable sort of each segment of an array, of any lengths, without reading the offsets on the host.
//
// The array is cut into windows (segment_windows.h). A block sorts the short segments of its
// window, and its part of the long ones that cross the window's ends. It merges in shared memory as
// merge_sort.cu does, but of two neighbouring runs it merges only the segment that lies across
// their seam (S. Baxter, "Modern GPU", 2013: segmented sort). So short segments cost few
// comparisons. If no segment is long, this is all: one read and one write of the items. Otherwise
// rounds merge the parts of the long segments. On the CPU it is cpu_segmented_sort.cu.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:24:1
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:64
// %RANGE% TUNE_MIN_BLOCKS mb 1:6:1
//
// ipt   items a thread
// mb    least blocks a multiprocessor, which limits the registers a thread
//
// Workload, besides that of segment_windows.h:
//     TUNE_IN_PLACE   1: an output is also an input
//
// Traffic: every item is read and written once; items of long segments once more a round.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "integer.h"
#include "merge.h"
#include "segment_windows.h"

// ---- segments of a window -----------------------------------------------------------------------
struct window_shared {
    tile_shared tile;
    item_t gap; // unused, as is the next: they keep the places of what follows
    value_t gap_of_value;
    seam at[2];
    u32 head[TILE / 32 + 2];  // one bit an item: a segment begins there
    u32 across[SIMT_THREADS]; // begin and end (<< 16) of the segment across a thread's first item
};

static_assert(TILE < 1 << 16, "two places in the window share a word");
static_assert(ITEMS <= 32, "a bit for each item of a thread");

// Marks the beginnings of segments, and the segments that lie across the seams between threads.
FUNCTION void mark_pieces(const segmented_sort_args& a, window_shared& s, const window& w)
{
    const u64 pieces = pieces_in(s.at);
    const u32 count = index_in(w, w.last);
    for (u32 k = thread_id(); k < TILE / 32 + 2; k += SIMT_THREADS) s.head[k] = 0;
    s.across[thread_id()] = pieces > 1 || my_item(0) >= count ? 0 : count << 16;
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
FUNCTION u32 my_heads(const window_shared& s)
{
    const u32 first = my_item(0);
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
    const bool mine = my_item(0) < high && my_item(0) + ITEMS > low;
    if (mine) keep_mine(s.tile, key, index);
    sync_threads(threads);
    if (mine) {
        u32 from[ITEMS];
        UNROLL
        for (int i = 0; i < ITEMS; i++) from[i] = my_item(i);
        const u32 skipped = my_item(0) < low ? low - my_item(0) : 0;
        thread_merge<true>(s.tile.key, low, second * ITEMS, high, my_item(0) + skipped - low, key,
                           from, order(), skipped);
        if constexpr (PAIRS) {
            UNROLL
            for (int i = 0; i < ITEMS; i++) index[i] = s.tile.index[from[i]];
        }
    }
    sync_threads(threads);
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
        key[i] = s.tile.key[my_item(i)];
        index[i] = my_item(i);
    }
    thread_sort_pairs(key, index,
                      my_heads(s) | bits_behind(my_item(0) < count ? count - my_item(0) : 0),
                      order());
    for (u32 threads = 2; threads / 2 < SIMT_THREADS; threads *= 2)
        merge_neighbours(s, threads, key, index);
    keep_mine(s.tile, key, index);
    block_sync();
    write_window(a, s, w, count);
}

KERNEL(segmented_sort_windows, segmented_sort_args, window_shared)
{
    const u64 begin = block_id() * a.window;
    find_seams(a, begin, s.at);
    const window w = window_between(a, begin, s.at);
    store_rounds(a, w);
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
    const run_pair r = runs_across(a, block, m);
    const u32 left = rounds - static_cast<u32>(a.round) - 1;
    const target from = side_of(a, left + 1), to = side_of(a, left);
    const range sorted = {from.key, from.value, a.in.count};
    const parts p = block_parts(part_of(sorted, r.begin, r.middle - r.begin),
                                part_of(sorted, r.middle, r.end - r.middle), first - r.begin,
                                last - first, s.crossing);
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
    block_sync();
}

KERNEL(segmented_sort_round, segmented_sort_args, round_shared)
{
    const u64 windows = ceil_div(a.in.count, a.window);
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
