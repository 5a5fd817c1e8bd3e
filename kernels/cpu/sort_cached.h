// Sort of items that fit a cache, by a single thread: LSD radix sort. If there are many bits, only
// the highest digits are sorted by, as many as nearly distinguish the items. The remaining disorder
// is repaired by comparisons: for keys only, rounds of odd-even transposition (Habermann, "Parallel
// Neighbor-Sort", 1972), which compilers vectorise; for pairs, an insertion sort. If too much
// disorder remains, all digits are sorted by.
//
// The file that includes it has the types key_t of encoded keys, value_t and offset_t (a count of
// items), PAIRS (0: there are no values), and the function decode of a key.
#pragma once
#include "block_radix.h"
#include "integer.h"

enum {
    CACHE_BITS = PAIRS ? 11 : 12, // most bits of a digit
    SHORT_BITS = 8,               // the same for few items, for which many bins take longer
    SHORT_ITEMS = 1024,
    FEW_ITEMS = 24,     // most items for an insertion sort at once
    PATIENCE = 8,       // moves an item before an insertion sort gives up
    ROUNDS = 12,        // rounds of transposition before it gives up
    COPIES_OF_A_KEY = 4 // least average copies to count keys instead
};

struct items { // encoded keys and their values
    key_t* key;
    value_t* value;
};

FUNCTION items behind(items x, u64 count)
{
    return items{x.key + count, PAIRS ? x.value + count : x.value};
}

FUNCTION void move_item(items to, u64 i, items from, u64 j)
{
    to.key[i] = from.key[j];
    if constexpr (PAIRS) to.value[i] = from.value[j];
}

struct key_bits { // bits of a key that are sorted by
    u64 begin_bit, end_bit;
};

// ---- digits -------------------------------------------------------------------------------------
// Returns the mask of the key's bits that are sorted by.
FUNCTION key_t sorted_bits(key_bits a)
{
    const u64 width = a.end_bit - a.begin_bit;
    return static_cast<key_t>(width ? ~0ull >> (64 - width) << a.begin_bit : 0);
}

FUNCTION bool sorts_by_all_bits(key_bits a) { return sorted_bits(a) == static_cast<key_t>(~0ull); }

struct key_range { // range of the sorted bits
    key_t lowest, highest;
};

FUNCTION key_range no_keys() { return key_range{static_cast<key_t>(~0ull), 0}; }

FUNCTION void widen(key_range& r, key_t by)
{
    r.lowest = by < r.lowest ? by : r.lowest;
    r.highest = by > r.highest ? by : r.highest;
}

FUNCTION key_range range_of(key_bits a, const key_t* key, u64 count)
{
    const key_t sorted = sorted_bits(a);
    key_range r = no_keys();
    for (u64 i = 0; i < count; i++) widen(r, key[i] & sorted);
    return r;
}

// Returns the number of bits in which the keys differ.
FUNCTION u32 bits_of_range(key_bits a, key_range r)
{
    return bit_length(static_cast<key_t>(r.highest - r.lowest) >> a.begin_bit);
}

struct digit_cut { // bits of a digit in an encoded key minus `lowest`
    key_t lowest;
    u32 shift, mask;
};

FUNCTION u32 digit_in(key_t key, digit_cut c)
{
    return static_cast<u32>(static_cast<key_t>(key - c.lowest) >> c.shift) & c.mask;
}

// Returns the d-th digit, from below, of the `count` highest digits, which divide the bits as
// evenly as digits of at most `most` bits can.
FUNCTION digit_cut cut_from_top(key_bits a, key_range r, u32 most, u32 count, u32 d)
{
    const u32 bits = bits_of_range(a, r), share = ceil_div(bits, count);
    const u32 width = share < most ? share : most, above = width * (count - 1 - d);
    const u32 top = bits > above ? bits - above : 0, low = top > width ? top - width : 0;
    return digit_cut{r.lowest, static_cast<u32>(a.begin_bit) + low, (1u << (top - low)) - 1u};
}

// Calls find(i, key, bin), which sets an item's key and bin, and then use(i, key, bin), in batches
// so that compilers vectorise the search for bins.
template <class Find, class Use>
FUNCTION void with_bins(u64 first, u64 last, Find find, Use use)
{
    enum { BATCH = 32 };
    key_t key[BATCH];
    u32 bin[BATCH];
    u64 i = first;
    for (; i + BATCH <= last; i += BATCH) {
        for (u32 j = 0; j < BATCH; j++) find(i + j, key[j], bin[j]);
        for (u32 j = 0; j < BATCH; j++) use(i + j, key[j], bin[j]);
    }
    for (; i < last; i++) {
        find(i, key[0], bin[0]);
        use(i, key[0], bin[0]);
    }
}

// Calls use(i, bin) for each key with its digit as the bin.
template <class Use>
FUNCTION void with_digits(const key_t* key, u64 count, digit_cut c, Use use)
{
    const auto find = [&](u64 i, key_t&, u32& bin) { bin = digit_in(key[i], c); };
    with_bins(0, count, find, [&](u64 i, key_t, u32 bin) { use(i, bin); });
}

// Turns counts into the number of items in lower bins.
FUNCTION void place_bins(offset_t* bins, u32 count)
{
    offset_t before = 0;
    for (u32 b = 0; b < count; b++) {
        const offset_t here = bins[b];
        bins[b] = before;
        before += here;
    }
}

FUNCTION void count_digits(const key_t* key, u64 count, digit_cut c, offset_t* bins)
{
    for (u32 b = 0; b <= c.mask; b++) bins[b] = 0;
    with_digits(key, count, c, [&](u64, u32 bin) { bins[bin]++; });
}

FUNCTION void find_bins(const key_t* key, u64 count, digit_cut c, offset_t* bins)
{
    count_digits(key, count, c, bins);
    place_bins(bins, c.mask + 1);
}

// ---- nearly sorted items ------------------------------------------------------------------------
// Insertion sort. Returns false if it would need more moves than `patience`; the items are in some
// intermediate order then.
FUNCTION bool insert_items(key_t sorted, items x, u64 count, u64 patience)
{
    for (u64 i = 1; i < count; i++) {
        const key_t key = x.key[i], by = key & sorted;
        if ((x.key[i - 1] & sorted) <= by) continue;
        value_t value;
        if constexpr (PAIRS) value = x.value[i];
        u64 j = i;
        for (; j > 0 && (x.key[j - 1] & sorted) > by; j--) move_item(x, j, x, j - 1);
        x.key[j] = key;
        if constexpr (PAIRS) x.value[j] = value;
        if (i - j > patience) return false;
        patience -= i - j;
    }
    return true;
}

// Returns true if left and right are out of order. ALL: compares all bits, without a mask.
template <bool ALL>
FUNCTION bool falls(key_t sorted, key_t left, key_t right)
{
    return ALL ? right < left : (right & sorted) < (left & sorted);
}

template <bool ALL>
FUNCTION bool in_order(key_t sorted, const key_t* key, u64 count)
{
    key_t any = 0; // as wide as a key, for vectorisation
    for (u64 i = 1; i < count; i++) any |= falls<ALL>(sorted, key[i - 1], key[i]);
    return !any;
}

template <bool ALL>
FUNCTION void order_neighbours(key_t sorted, key_t* key, u64 count)
{
    for (u64 i = 1; i < count; i += 2) {
        const key_t left = key[i - 1], right = key[i];
        const bool fall = falls<ALL>(sorted, left, right);
        key[i - 1] = fall ? right : left;
        key[i] = fall ? left : right;
    }
}

// Odd-even transposition. Returns false if the keys are not sorted after ROUNDS rounds.
template <bool ALL>
FUNCTION bool transpose(key_t sorted, key_t* key, u64 count)
{
    for (u32 round = 0; round < ROUNDS; round++) {
        if (in_order<ALL>(sorted, key, count)) return true;
        order_neighbours<ALL>(sorted, key, count);
        order_neighbours<ALL>(sorted, key + 1, count - 1);
    }
    return in_order<ALL>(sorted, key, count);
}

// Sorts nearly sorted items. Returns false if they were not; they are in some intermediate order
// then.
FUNCTION bool settle(key_t sorted, items x, u64 count)
{
    if constexpr (PAIRS) return insert_items(sorted, x, count, PATIENCE * count);
    return sorted == static_cast<key_t>(~0ull) ? transpose<true>(sorted, x.key, count)
                                               : transpose<false>(sorted, x.key, count);
}

// Sorts by the highest `bits`, alternating between the two arrays. Returns the one that holds the
// items.
FUNCTION items sort_by_bits(key_bits a, key_range r, items from, items to, u64 count, u32 bits)
{
    offset_t next[1 << CACHE_BITS];
    const u32 widest = count < SHORT_ITEMS && bits > CACHE_BITS ? SHORT_BITS : CACHE_BITS;
    const u32 passes = ceil_div(bits, widest), most = passes ? ceil_div(bits, passes) : 0;
    for (u32 d = 0; d < passes; d++) {
        const digit_cut c = cut_from_top(a, r, most, passes, d);
        find_bins(from.key, count, c, next);
        with_digits(from.key, count, c,
                    [&](u64 i, u32 bin) { move_item(to, next[bin]++, from, i); });
        const items other = from;
        from = to;
        to = other;
    }
    return from;
}

// Returns the number of bits that nearly distinguish more than FEW_ITEMS items whose keys are
// evenly spread.
FUNCTION u32 enough_bits(u64 count) { return bit_length(count) + (PAIRS ? 2 : -2); }

// Sorts x with spare memory, first by the highest bits, `enough` of them. Returns the one that
// holds the items.
FUNCTION items sort_in_cache(key_bits a, key_range r, items x, items spare, u64 count, u32 enough)
{
    const key_t sorted = sorted_bits(a);
    if (count <= FEW_ITEMS && insert_items(sorted, x, count, ~0ull)) return x;
    const u32 all = bits_of_range(a, r);
    if (ceil_div(all, CACHE_BITS) <= ceil_div(enough, CACHE_BITS) + PAIRS)
        return sort_by_bits(a, r, x, spare, count, all);
    const items there = sort_by_bits(a, r, x, spare, count, enough);
    if (settle(sorted, there, count)) return there;
    return sort_by_bits(a, r, there, there.key == x.key ? spare : x, count, all);
}

// Returns true if equal keys are indistinguishable, so that they may be counted and written.
FUNCTION bool keys_say_all(key_bits a) { return !PAIRS && sorts_by_all_bits(a); }

FUNCTION void write_copies(key_t coded, u64 count, key_t* out)
{
    const key_t key = decode(coded);
    for (u64 i = 0; i < count; i++) out[i] = key;
}

// Returns true if each key has many copies on average.
FUNCTION bool has_few_keys(key_bits a, key_range r, u64 count)
{
    const u32 bits = bits_of_range(a, r);
    return keys_say_all(a) && bits <= CACHE_BITS && count >> bits >= COPIES_OF_A_KEY;
}

FUNCTION void write_counted(key_bits a, key_range r, const key_t* key, key_t* out, u64 count)
{
    offset_t bins[1 << CACHE_BITS];
    const digit_cut all = cut_from_top(a, r, CACHE_BITS, 1, 0);
    if (all.mask)
        count_digits(key, count, all, bins);
    else
        bins[0] = static_cast<offset_t>(count);
    for (u32 b = 0; b <= all.mask; b++) {
        write_copies(static_cast<key_t>(r.lowest + b), bins[b], out);
        out += bins[b];
    }
}

// Sorts x into `out`, which is x or spare. The contents of x are lost.
FUNCTION void sort_and_decode(key_bits a, key_range r, items x, items spare, items out, u64 count)
{
    if (has_few_keys(a, r, count)) {
        write_counted(a, r, x.key, out.key, count);
        return;
    }
    const items sorted = sort_in_cache(a, r, x, spare, count, enough_bits(count));
    for (u64 i = 0; i < count; i++) out.key[i] = decode(sorted.key[i]);
    if constexpr (PAIRS)
        if (sorted.value != out.value)
            for (u64 i = 0; i < count; i++) out.value[i] = sorted.value[i];
}
