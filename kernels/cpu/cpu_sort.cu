// Stable sort of keys, or of keys with values, on the CPU: by single threads, one per core.
//
// The cost is passes over more memory than a cache holds, so that there are few of them, adapted to
// the keys. One launch finds the lowest and the highest key: only the bits of key - lowest are
// sorted by. One pass then distributes the items to bins (McIlroy, Bostic and McIlroy, "Engineering
// Radix Sort", Computing Systems 6, 1993; sort_split.h): one launch counts them and another moves
// them. A bin is small enough to be sorted in a cache (sort_cached.h), in the last launch. Items
// that fit one tile are sorted in one launch.
//
// 16-bit keys without values are not moved at all: each tile counts each value, and the sort of a
// bin writes each of its values as often as it was counted in all tiles.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 65536:65536:1
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 1:1:1
// %RANGE% TUNE_RADIX_BITS rb 4:11:1
//
// ipt   most items that are sorted in one launch
// rb    most bits of the digit that a bin stands for (sort_split.h)
//
// Traffic: n keys are read for the range and for the counts, n items are read and written by the
// pass and by the sorts of the bins.
#define TUNE_ORDER 0 // blocks start in any order
#include "cache_lines.h"
#include "integer.h"
#include "message.h"
#include "sort_split.h"

struct sort_shared { // shared storage of all kernels
    line<key_t> key[RADIX];
    line<value_t> value[PAIRS ? RADIX : 1];
    offset_t begin[RADIX], next[RADIX]; // first and next place of each bin's items
};

// ---- the pass over all items --------------------------------------------------------------------
// Returns the range of all keys from a.bins, which holds the maxima of ~key and of key.
FUNCTION key_range range_of_all(const sort_args& a)
{
    return key_range{static_cast<key_t>(~a.bins[0]), static_cast<key_t>(a.bins[1])};
}

template <bool INPUT>
FUNCTION value_t value_beside(const sort_args& a, u64 i)
{
    return INPUT ? value_at(a, i) : a.values_in[i];
}

// Distributes items to the bins at s.begin and s.next, of an array of `end` items. INPUT: items are
// the caller's; otherwise they are encoded already.
template <bool INPUT, class Split>
FUNCTION void scatter(const sort_args& a, const Split& split, u64 first, u64 count, u64 end,
                      sort_shared& s)
{
    const lined<key_t> keys = in_lines(a.out, end);
    const lined<value_t> values = in_lines(a.values_out, end);
    const auto find = [&](u64 i, key_t& key, u32& bin) {
        const key_t raw = INPUT ? key_item(first_of(a), i) : a.in[i];
        key = INPUT ? encode(raw) : raw;
        bin = split.bin(raw, key);
    };
    with_bins(first, first + count, find, [&](u64 i, key_t key, u32 bin) {
        const offset_t to = s.next[bin];
        s.next[bin] = to + 1;
        put_in_line(keys, s.key[bin], s.begin[bin], to, key);
        if constexpr (PAIRS)
            put_in_line(values, s.value[bin], s.begin[bin], to, value_beside<INPUT>(a, i));
    });
    for (u32 b = 0; b < split.count(); b++) {
        store_rest(keys, s.key[b], s.begin[b], s.next[b]);
        if constexpr (PAIRS) store_rest(values, s.value[b], s.begin[b], s.next[b]);
    }
    device_fence();
}

// ---- tiles --------------------------------------------------------------------------------------
struct tile {
    u64 first, count;
};

FUNCTION tile my_tile(const sort_args& a)
{
    const u64 share = ceil_div(a.n, block_count()), first = block_id() * share;
    if (first >= a.n) return tile{0, 0};
    return tile{first, a.n - first < share ? a.n - first : share};
}

enum {
    VALUES = KEY_BITS == 16 && !PAIRS ? 1 << 16 : 0, // values that are counted
    VALUES_OF_BIN = VALUES / RADIX
};

// Returns a tile's counts: of bins, then of values.
FUNCTION offset_t* row_of_tile(const sort_args& a, u64 t) { return a.rows + t * (RADIX + VALUES); }

FUNCTION bool counts_values(const sort_args& a) { return VALUES > 0 && keys_say_all(bits_of(a)); }

KERNEL(sort_range, sort_args, sort_shared)
{
    (void)s;
    const tile t = my_tile(a);
    if (counts_values(a)) return;
    const key_t sorted = sorted_bits(bits_of(a));
    key_range r = no_keys();
    for (u64 i = t.first; i < t.first + t.count; i++)
        widen(r, encode(key_item(first_of(a), i)) & sorted);
    atomic_max(a.bins, static_cast<key_t>(~r.lowest));
    atomic_max(a.bins + 1, r.highest);
}

// Turns the counts into the places of each tile's items in each bin. Stores the beginnings of the
// bins in a.bins, after the range, and then the number of tiles.
FUNCTION void place_rows(const sort_args& a, sort_shared& s)
{
    const u64 tiles = block_count();
    for (u32 b = 0; b < RADIX; b++) s.next[b] = 0;
    for (u64 t = 0; t < tiles; t++)
        for (u32 b = 0; b < RADIX; b++) s.next[b] += row_of_tile(a, t)[b];
    place_bins(s.next, RADIX);
    for (u32 b = 0; b < RADIX; b++) a.bins[2 + b] = s.next[b];
    a.bins[2 + RADIX] = tiles;
    for (u64 t = 0; t < tiles; t++)
        for (u32 b = 0; b < RADIX; b++) {
            const offset_t here = row_of_tile(a, t)[b];
            row_of_tile(a, t)[b] = s.next[b];
            s.next[b] += here;
        }
}

FUNCTION void count_values(const sort_args& a, tile t, offset_t* row)
{
    offset_t* const values = row + RADIX;
    for (u32 v = 0; v < VALUES; v++) values[v] = 0;
    u32 last = 0;
    offset_t alike = 0; // repeats of the last value: counting them at once avoids waiting
    const auto find = [&](u64 i, key_t&, u32& value) { value = encode(key_item(first_of(a), i)); };
    with_bins(t.first, t.first + t.count, find, [&](u64, key_t, u32 value) {
        if (value == last) {
            alike++;
            return;
        }
        values[value]++;
        if (alike) {
            values[last] += alike;
            alike = 0;
        }
        last = value;
    });
    values[last] += alike;
    for (u32 b = 0; b < RADIX; b++) {
        row[b] = 0;
        for (u32 v = 0; v < VALUES_OF_BIN; v++) row[b] += values[b * VALUES_OF_BIN + v];
    }
}

FUNCTION void count_bins(const sort_args& a, tile t, offset_t* row, sort_shared& s)
{
    with_split(a, range_of_all(a), row, [&](const auto& split) {
        for (u32 b = 0; b < RADIX; b++) s.begin[b] = s.next[b] = 0;
        const auto find = [&](u64 i, key_t&, u32& bin) {
            const key_t raw = key_item(first_of(a), i);
            bin = split.bin(raw, encode(raw));
        };
        // Counts even and odd items apart: neighbours are often equal, and a count would wait for
        // the one before.
        with_bins(t.first, t.first + t.count, find,
                  [&](u64 i, key_t, u32 bin) { (i % 2 ? s.next : s.begin)[bin]++; });
        for (u32 b = 0; b < RADIX; b++) row[b] = s.begin[b] + s.next[b];
    });
}

KERNEL(sort_count, sort_args, sort_shared)
{
    if (counts_values(a))
        count_values(a, my_tile(a), row_of_tile(a, block_id()));
    else
        count_bins(a, my_tile(a), row_of_tile(a, block_id()), s);
    device_fence();
    const ticket mine = take_ticket_in_order(a.messages);
    if (mine.rank + 1 < block_count()) return;
    device_fence();
    place_rows(a, s);
    close_tickets(a.messages, mine);
}

KERNEL(sort_scatter, sort_args, sort_shared)
{
    const tile t = my_tile(a);
    if (counts_values(a) || bins_are_keys(a, range_of_all(a))) return;
    with_split(a, range_of_all(a), s.next, [&](const auto& split) {
        for (u32 b = 0; b < RADIX; b++) s.begin[b] = s.next[b] = row_of_tile(a, block_id())[b];
        scatter<true>(a, split, t.first, t.count, a.n, s);
    });
}

// ---- bins ---------------------------------------------------------------------------------------
// Sorts all items, which fit one tile.
KERNEL(sort_tile, sort_args, sort_shared)
{
    (void)s;
    const items out = {a.out, a.values_out}, spare = {a.spare, a.values_spare};
    for (u64 i = 0; i < a.n; i++) {
        out.key[i] = encode(key_item(first_of(a), i));
        if constexpr (PAIRS) out.value[i] = value_at(a, i);
    }
    sort_and_decode(bits_of(a), range_of(bits_of(a), a.out, a.n), out, spare, out, a.n);
}

// Splits a bin that is too large for a cache by another digit, from the spare memory to the output,
// and sorts the parts.
FUNCTION void split_and_sort(const sort_args& a, key_range r, items x, items out, u64 count,
                             sort_shared& s)
{
    const digit_split split = split_by_digit(a, r, count);
    sort_args pass = a;
    pass.in = x.key;
    pass.values_in = x.value;
    pass.out = out.key;
    pass.values_out = out.value;
    find_bins(x.key, count, split.cut, s.begin);
    for (u32 b = 0; b < split.count(); b++) s.next[b] = s.begin[b];
    scatter<false>(pass, split, 0, count, count, s);
    for (u32 b = 0; b < split.count(); b++) {
        const items bin = behind(out, s.begin[b]);
        const u64 there = s.next[b] - s.begin[b];
        sort_and_decode(bits_of(a), range_of(bits_of(a), bin.key, there), bin,
                        behind(x, s.begin[b]), bin, there);
    }
}

FUNCTION void write_values(const sort_args& a, key_t* out)
{
    const u64 tiles = a.bins[2 + RADIX];
    for (u32 v = 0; v < VALUES_OF_BIN; v++) {
        const u32 value = block_id() * VALUES_OF_BIN + v;
        u64 count = 0;
        for (u64 t = 0; t < tiles; t++) count += row_of_tile(a, t)[RADIX + value];
        write_copies(static_cast<key_t>(value), count, out);
        out += count;
    }
}

KERNEL(sort_bins, sort_args, sort_shared)
{
    const u64* const bin = a.bins + 2 + block_id();
    const u64 first = bin[0], count = (block_id() + 1 < RADIX ? bin[1] : a.n) - first;
    const items x = behind(items{a.spare, a.values_spare}, first);
    const items out = behind(items{a.out, a.values_out}, first);
    if (counts_values(a)) {
        write_values(a, out.key);
        return;
    }
    const key_range all = range_of_all(a);
    if (bins_are_keys(a, all)) {
        write_copies(static_cast<key_t>(all.lowest + block_id()), count, out.key);
        return;
    }
    const key_range r = range_of(bits_of(a), x.key, count);
    if (count > MANY_ITEMS && bits_of_range(bits_of(a), r) > CACHE_BITS)
        split_and_sort(a, r, x, out, count, s);
    else
        sort_and_decode(bits_of(a), r, x, out, out, count);
}
