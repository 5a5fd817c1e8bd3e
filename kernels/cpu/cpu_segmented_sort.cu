// Stable sort of each segment of an array on the CPU: single threads sort windows by radix in the
// cache (sort_cached.h), then rounds merge the parts of long segments (segment_windows.h).
//
// All keys of a window are encoded first and decoded last, in loops that span many segments.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 2048:32768:2048
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 1:1:1
//
// ipt   most items that one thread sorts at once
//
// Traffic: every item is read and written once; items of long segments once more a round.
#include "integer.h"
#include "segment_windows.h"
#include "single_thread_merge.h"

typedef item_t key_t;
typedef u32 offset_t;
FUNCTION key_t decode(key_t coded) { return key_code::decode(coded); }
#include "sort_cached.h"

struct window_shared {
    key_t key[TILE]; // spare memory of a sort
    value_t value[PAIRS ? TILE : 1];
    seam at[2];
};

// Half of evenly spread floats have one exponent.
enum { EXPONENT_BITS = TUNE_KEY_KIND == RADIX_FLOATING ? 4 : 0 };

// Sorts encoded items where they are, and brings them to `to`.
FUNCTION void sort_piece(items x, target to, u64 count, window_shared& s)
{
    const key_bits all = {0, 8 * sizeof(key_t)};
    items sorted = x;
    if (count <= FEW_ITEMS)
        insert_items(sorted_bits(all), x, count, ~0ull);
    else
        sorted = sort_in_cache(all, range_of(all, x.key, count), x, items{s.key, s.value}, count,
                               enough_bits(count) + EXPONENT_BITS);
    if (sorted.key == to.key) return;
    for (u64 i = 0; i < count; i++) {
        to.key[i] = sorted.key[i];
        if constexpr (PAIRS) to.value[i] = sorted.value[i];
    }
}

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
    const items coded = {a.out.key, a.out.value};
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
        sort_piece(behind(coded, first), behind(home_of(a, w, first).to, first), p.end - p.begin,
                   s);
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
    const u64 windows = ceil_div(a.in.count, a.window);
    const u64 end = a.round < *a.most_rounds ? windows : 0;
    for (u64 block = block_id(); block < end; block += block_count()) {
        if (a.rounds[block] <= a.round) continue;
        find_seams(a, block * a.window, s.at);
        const window w = window_between(a, block * a.window, s.at);
        if (w.rounds[0] > a.round) merge_part(a, s, block, s.at[0], w.rounds[0], w.first, w.left);
        if (w.rounds[1] > a.round) merge_part(a, s, block, s.at[1], w.rounds[1], w.right, w.last);
    }
}
