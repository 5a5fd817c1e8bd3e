// Sorting by threads alone, one a core, which is how the cpu does it.
//
// What costs there is passes over more memory than a cache holds, so there are few of them, and
// they go by what the keys have in them. One launch finds the lowest and the highest key: only the
// bits of key - lowest are sorted by. One pass then shares the items out to bins by the highest
// digit of these (McIlroy, Bostic and McIlroy, "Engineering Radix Sort", Computing Systems 6,
// 1993), and a bin is small enough to be sorted in a cache, by a pass a digit from the lowest. Of
// many bits there are only as many digits as tell its items apart, the highest, and an insertion
// sort puts right what still agrees in those. If that is much, the bin is sorted by all digits
// after all.
//
// A pass over all items gathers those that go on to the same bin until they fill a line of the
// cache, and stores this past the cache: lines that are written item by item are read first.
//     TUNE_RADIX_BITS    of the digit that such a pass goes by
#pragma once
#include "message.h"
#include "sort.h"
#if SIMT_THREADS == 1

enum {
    LINE_BYTES = 64,
    CACHE_BITS = 11, // of a digit, at most, that a pass in a cache goes by
    // More items than that are split before they are sorted: they are too many for a cache.
    MANY_ITEMS = (1 << 19) / (sizeof(key_t) + (PAIRS ? sizeof(value_t) : 0)),
    FEW_ITEMS = 24, // that are sorted by insertion at once
    PATIENCE = 8    // moves an item that an insertion sort may need
};

struct items { // coded keys and what goes along
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

// ---- digits -------------------------------------------------------------------------------------
// The bits of a coded key that it is sorted by, where they are.
FUNCTION key_t sorted_bits(const sort_args& a)
{
    const u64 width = a.end_bit - a.begin_bit;
    return static_cast<key_t>(width ? ~0ull >> (64 - width) << a.begin_bit : 0);
}

FUNCTION u32 bit_length(u64 v)
{
    const u32 high = static_cast<u32>(v >> 32), low = static_cast<u32>(v);
    return high ? 33u + last_set(high) : low ? 1u + last_set(low) : 0u;
}

struct key_range { // of sorted bits
    key_t lowest, highest;
};

FUNCTION key_range no_keys() { return key_range{static_cast<key_t>(~0ull), 0}; }

FUNCTION void widen(key_range& r, key_t by)
{
    r.lowest = by < r.lowest ? by : r.lowest;
    r.highest = by > r.highest ? by : r.highest;
}

FUNCTION key_range range_of(const sort_args& a, const key_t* key, u64 count)
{
    const key_t sorted = sorted_bits(a);
    key_range r = no_keys();
    for (u64 i = 0; i < count; i++) widen(r, key[i] & sorted);
    return r;
}

// In which the keys differ.
FUNCTION u32 bits_of_range(const sort_args& a, key_range r)
{
    return bit_length(static_cast<key_t>(r.highest - r.lowest) >> a.begin_bit);
}

FUNCTION u32 digits_of(u32 bits, u32 most) { return (bits + most - 1) / most; }

struct digit_cut { // where a digit is in a coded key, from which `lowest` is subtracted
    key_t lowest;
    u32 shift, mask;
};

FUNCTION u32 digit_in(key_t key, digit_cut c)
{
    return static_cast<u32>(static_cast<key_t>(key - c.lowest) >> c.shift) & c.mask;
}

// The d-th digit from below of the `count` highest ones, as even as digits of `most` bits can be.
FUNCTION digit_cut cut_from_top(const sort_args& a, key_range r, u32 most, u32 count, u32 d)
{
    const u32 bits = bits_of_range(a, r), share = digits_of(bits, count);
    const u32 width = share < most ? share : most, above = width * (count - 1 - d);
    const u32 top = bits > above ? bits - above : 0, low = top > width ? top - width : 0;
    return digit_cut{r.lowest, static_cast<u32>(a.begin_bit) + low, (1u << (top - low)) - 1u};
}

// Counts become how many items are in lower bins.
FUNCTION void place_bins(offset_t* bins, u32 count)
{
    offset_t before = 0;
    for (u32 b = 0; b < count; b++) {
        const offset_t here = bins[b];
        bins[b] = before;
        before += here;
    }
}

FUNCTION void find_bins(const key_t* key, u64 count, digit_cut c, offset_t* bins)
{
    for (u32 b = 0; b <= c.mask; b++) bins[b] = 0;
    for (u64 i = 0; i < count; i++) bins[digit_in(key[i], c)]++;
    place_bins(bins, c.mask + 1);
}

// ---- lines --------------------------------------------------------------------------------------
template <class T>
struct line { // of the cache: what goes to a bin next
    enum { ITEMS = LINE_BYTES / sizeof(T), LAST = ITEMS - 1 };
    alignas(LINE_BYTES) T item[ITEMS];
};

// An array that lines are stored to. Item i has place (i + phase) % ITEMS in its line.
template <class T>
struct lined {
    T* out;
    u32 phase;
};

template <class T>
FUNCTION lined<T> in_lines(T* out)
{
    const u64 place = reinterpret_cast<u64>(out) / sizeof(T);
    return lined<T>{out, static_cast<u32>(place % line<T>::ITEMS)};
}

template <class T>
FUNCTION u32 place_in_line(lined<T> to, offset_t i)
{
    return (static_cast<u32>(i) + to.phase) % line<T>::ITEMS;
}

// Stores what there is of a line up to item `last`, of a bin that begins there.
template <class T>
FUNCTION void store_part(lined<T> to, const line<T>& from, offset_t begin, offset_t last)
{
    const u32 place = place_in_line(to, last);
    for (offset_t i = last - begin > place ? last - place : begin; i <= last; i++)
        to.out[i] = from.item[place_in_line(to, i)];
}

// Others see it after a device_fence.
FUNCTION void store_past_caches(void* to, const void* from)
{
    typedef long long two_words __attribute__((vector_size(16), may_alias));
    const two_words words = *static_cast<const two_words*>(from);
#if defined(__x86_64__)
    asm volatile("movntdq %1, %0" : "=m"(*static_cast<two_words*>(to)) : "x"(words));
#else
    *static_cast<two_words*>(to) = words;
#endif
}

template <class T>
FUNCTION void store_line(T* out, const line<T>& from)
{
    enum { PART = 16 / sizeof(T) };
    if (reinterpret_cast<u64>(out) % 16 == 0) {
        for (u32 i = 0; i < line<T>::ITEMS; i += PART) store_past_caches(out + i, from.item + i);
    } else { // of an array that does not start on a multiple of its items' size
        for (u32 i = 0; i < line<T>::ITEMS; i++) out[i] = from.item[i];
    }
}

template <class T>
FUNCTION void put_in_line(lined<T> to, line<T>& through, offset_t begin, offset_t i, T item)
{
    const u32 place = place_in_line(to, i);
    through.item[place] = item;
    if (place < line<T>::LAST) return;
    if (i - begin >= line<T>::LAST)
        store_line(to.out + i - line<T>::LAST, through);
    else
        store_part(to, through, begin, i);
}

template <class T>
FUNCTION void store_rest(lined<T> to, const line<T>& from, offset_t begin, offset_t end)
{
    if (end > begin && place_in_line(to, end) > 0) store_part(to, from, begin, end - 1);
}

// ---- one pass -----------------------------------------------------------------------------------
// Keys that differ in two digits take two passes, from the input to spare memory and to the output;
// others one, to spare memory, and then the bins are sorted.
struct alone_shared { // of every kernel
    line<key_t> key[RADIX];
    line<value_t> value[PAIRS ? RADIX : 1];
    offset_t begin[RADIX], next[RADIX]; // where the items of a bin go
};

// In a.bins, where zeros were: the highest of ~keys and of keys.
FUNCTION key_range range_of_all(const sort_args& a)
{
    return key_range{static_cast<key_t>(~a.bins[0]), static_cast<key_t>(a.bins[1])};
}

FUNCTION u32 passes_of(const sort_args& a)
{
    return digits_of(bits_of_range(a, range_of_all(a)), TUNE_RADIX_BITS) == 2 ? 2 : 1;
}

FUNCTION digit_cut cut_of_pass(const sort_args& a)
{
    return cut_from_top(a, range_of_all(a), TUNE_RADIX_BITS, passes_of(a),
                        static_cast<u32>(a.digit));
}

FUNCTION sort_args args_of_pass(const sort_args& a, u64 pass)
{
    sort_args args = a;
    args.digit = pass;
    if (pass == 0) {
        args.out = a.spare;
        args.values_out = a.values_spare;
    } else {
        args.in = a.spare;
        args.values_in = a.values_spare;
    }
    return args;
}

template <bool FIRST>
FUNCTION key_t coded_key(const sort_args& a, u64 i)
{
    return FIRST ? encode(key_item(first_of(a), i)) : a.in[i];
}

template <bool FIRST>
FUNCTION void count_items(const sort_args& a, u64 first, u64 count, offset_t* bins)
{
    const digit_cut c = cut_of_pass(a);
    for (u32 b = 0; b < RADIX; b++) bins[b] = 0;
    for (u64 i = first; i < first + count; i++) bins[digit_in(coded_key<FIRST>(a, i), c)]++;
}

// To where s.begin and s.next say.
template <bool FIRST, bool LAST>
FUNCTION void scatter(const sort_args& a, digit_cut c, u64 first, u64 count, alone_shared& s)
{
    const lined<key_t> keys = in_lines(a.out);
    const lined<value_t> values = in_lines(a.values_out);
    for (u64 i = first; i < first + count; i++) {
        const key_t key = coded_key<FIRST>(a, i);
        const u32 bin = digit_in(key, c);
        const offset_t to = s.next[bin];
        s.next[bin] = to + 1;
        put_in_line(keys, s.key[bin], s.begin[bin], to, LAST ? decode(key) : key);
        if constexpr (PAIRS) put_in_line(values, s.value[bin], s.begin[bin], to, value_at(a, i));
    }
    for (u32 b = 0; b <= c.mask; b++) {
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
    const u64 first = block_id() * static_cast<u64>(TILE), left = a.n - first;
    return tile{first, left < TILE ? left : TILE};
}

FUNCTION offset_t* row_of_tile(const sort_args& a, u64 t) { return a.rows + t * RADIX; }

FUNCTION void find_range(const sort_args& a)
{
    const tile t = my_tile(a);
    const key_t sorted = sorted_bits(a);
    key_range r = no_keys();
    for (u64 i = t.first; i < t.first + t.count; i++)
        widen(r, encode(key_item(first_of(a), i)) & sorted);
    atomic_max(a.bins, static_cast<key_t>(~r.lowest));
    atomic_max(a.bins + 1, r.highest);
}

// Counts become where the items of a tile and a bin go; and a.bins, behind the range, where bins
// begin.
FUNCTION void place_rows(const sort_args& a, alone_shared& s)
{
    const u64 tiles = block_count();
    for (u32 b = 0; b < RADIX; b++) s.next[b] = 0;
    for (u64 t = 0; t < tiles; t++)
        for (u32 b = 0; b < RADIX; b++) s.next[b] += row_of_tile(a, t)[b];
    place_bins(s.next, RADIX);
    for (u32 b = 0; b < RADIX; b++) a.bins[2 + b] = s.next[b];
    for (u64 t = 0; t < tiles; t++)
        for (u32 b = 0; b < RADIX; b++) {
            const offset_t here = row_of_tile(a, t)[b];
            row_of_tile(a, t)[b] = s.next[b];
            s.next[b] += here;
        }
}

FUNCTION void count_tile(const sort_args& a, alone_shared& s)
{
    const tile t = my_tile(a);
    if (a.digit == 0)
        count_items<true>(a, t.first, t.count, row_of_tile(a, block_id()));
    else
        count_items<false>(a, t.first, t.count, row_of_tile(a, block_id()));
    device_fence();
    const ticket mine = take_ticket_in_order(a.messages);
    if (mine.rank + 1 < block_count()) return;
    device_fence();
    place_rows(a, s);
    close_tickets(a.messages, mine);
}

FUNCTION void scatter_tile(const sort_args& a, alone_shared& s)
{
    const tile t = my_tile(a);
    for (u32 b = 0; b < RADIX; b++) s.begin[b] = s.next[b] = row_of_tile(a, block_id())[b];
    if (a.digit == 0)
        scatter<true, false>(a, cut_of_pass(a), t.first, t.count, s);
    else
        scatter<false, true>(a, cut_of_pass(a), t.first, t.count, s);
}

// ---- what fits a cache --------------------------------------------------------------------------
// False: more moves than `patience` would have been needed; the items are in some order between.
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

// Passes by the highest digits, to and fro. Where the items are in the end.
FUNCTION items sort_by_digits(const sort_args& a, key_range r, items from, items to, u64 count,
                              u32 passes)
{
    offset_t next[1 << CACHE_BITS];
    for (u32 d = 0; d < passes; d++) {
        const digit_cut c = cut_from_top(a, r, CACHE_BITS, passes, d);
        find_bins(from.key, count, c, next);
        for (u64 i = 0; i < count; i++) move_item(to, next[digit_in(from.key[i], c)]++, from, i);
        const items other = from;
        from = to;
        to = other;
    }
    return from;
}

// Where the items are in the end: in x or in spare.
FUNCTION items sort_in_cache(const sort_args& a, items x, items spare, u64 count)
{
    const key_t sorted = sorted_bits(a);
    if (count <= FEW_ITEMS && insert_items(sorted, x, count, ~0ull)) return x;
    const key_range r = range_of(a, x.key, count);
    const u32 all = digits_of(bits_of_range(a, r), CACHE_BITS);
    const u32 enough = digits_of(bit_length(count) + 2, CACHE_BITS);
    if (all <= enough + 1) return sort_by_digits(a, r, x, spare, count, all);
    const items there = sort_by_digits(a, r, x, spare, count, enough);
    if (insert_items(sorted, there, count, PATIENCE * count)) return there;
    return sort_by_digits(a, r, there, there.key == x.key ? spare : x, count, all);
}

// Sorts x, of which nothing is left, into `out`: x or spare.
FUNCTION void sort_and_decode(const sort_args& a, items x, items spare, items out, u64 count)
{
    const items sorted = sort_in_cache(a, x, spare, count);
    for (u64 i = 0; i < count; i++) out.key[i] = decode(sorted.key[i]);
    if constexpr (PAIRS)
        if (sorted.value != out.value)
            for (u64 i = 0; i < count; i++) out.value[i] = sorted.value[i];
}

// All items, which fit a tile.
FUNCTION void sort_tile_alone(const sort_args& a)
{
    const items out = {a.out, a.values_out}, spare = {a.spare, a.values_spare};
    for (u64 i = 0; i < a.n; i++) {
        out.key[i] = encode(key_item(first_of(a), i));
        if constexpr (PAIRS) out.value[i] = value_at(a, i);
    }
    sort_and_decode(a, out, spare, out, a.n);
}

// ---- bins ---------------------------------------------------------------------------------------
// A bin that is too large for a cache is split by another digit, from the spare memory to the
// output.
FUNCTION void sort_large_bin(const sort_args& a, items x, items out, u64 count, alone_shared& s)
{
    const digit_cut c = cut_from_top(a, range_of(a, x.key, count), TUNE_RADIX_BITS, 1, 0);
    sort_args split = a;
    split.digit = 1; // not the first: values are there
    split.in = x.key;
    split.values_in = x.value;
    split.out = out.key;
    split.values_out = out.value;
    find_bins(x.key, count, c, s.begin);
    for (u32 b = 0; b <= c.mask; b++) s.next[b] = s.begin[b];
    scatter<false, false>(split, c, 0, count, s);
    for (u32 b = 0; b <= c.mask; b++) {
        const items bin = behind(out, s.begin[b]);
        sort_and_decode(a, bin, behind(x, s.begin[b]), bin, s.next[b] - s.begin[b]);
    }
}

FUNCTION void sort_bin(const sort_args& a, alone_shared& s)
{
    const u64* const bin = a.bins + 2 + block_id();
    const u64 first = bin[0], count = (block_id() + 1 < RADIX ? bin[1] : a.n) - first;
    const items x = behind(items{a.spare, a.values_spare}, first);
    const items out = behind(items{a.out, a.values_out}, first);
    if (count > MANY_ITEMS)
        sort_large_bin(a, x, out, count, s);
    else
        sort_and_decode(a, x, out, out, count);
}

// ---- kernels ------------------------------------------------------------------------------------
// What they are launched for is in a.digit. There are more passes than the keys may need.
enum { FIND_RANGE = 0, COUNT_FIRST = 1, SORT_TILE = 0 };

KERNEL(sort_count, sort_args, alone_shared)
{
    if (a.digit == FIND_RANGE)
        find_range(a);
    else if (a.digit - COUNT_FIRST < passes_of(a))
        count_tile(args_of_pass(a, a.digit - COUNT_FIRST), s);
}

KERNEL(sort_pass, sort_args, alone_shared)
{
    if (a.digit < passes_of(a)) scatter_tile(args_of_pass(a, a.digit), s);
}

KERNEL(sort_block, sort_args, alone_shared)
{
    if (a.digit == SORT_TILE)
        sort_tile_alone(a);
    else if (passes_of(a) == 1)
        sort_bin(a, s);
}
#endif
