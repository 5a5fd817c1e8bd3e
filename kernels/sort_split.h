// How a thread alone shares items out to bins that fit a cache: by the highest digit of what the
// keys differ in, or, floats, by their value, between the lowest and the highest.
//
// A digit of a float is exponent first, so that half of what lies between 0 and 1 meets in a few
// bins; its value is as even as the numbers are. One large number among small ones is the reverse:
// a sample says which it is. Either way keys of a higher bin are higher. Items are counted in one
// launch and moved in another, by threads that may round differently and code that is compiled in
// different places: both must find the same bin.
//     TUNE_RADIX_BITS    of the digit, at most; there are as many bins by value
#pragma once
#include "sort_cached.h"
#if SIMT_THREADS == 1

enum {
    // More items than that are split before they are sorted: they are too many for a cache.
    MANY_ITEMS = (1 << 18) / (sizeof(key_t) + (PAIRS ? sizeof(value_t) : 0)),
    CACHED_ITEMS = MANY_ITEMS / 16, // are to be in a bin
    SAMPLES = 512
};

FUNCTION u32 bits_of_split(u64 count)
{
    const u32 bits = bit_length(count / CACHED_ITEMS);
    return bits < TUNE_RADIX_BITS ? bits : TUNE_RADIX_BITS;
}

// Both kinds of a split have count(), and bin(raw, key), of a key as it comes and coded.
struct digit_split {
    digit_cut cut;
    FUNCTION_MEMBER u32 count() const { return cut.mask + 1; }
    FUNCTION_MEMBER u32 bin(key_t, key_t key) const { return digit_in(key, cut); }
};

FUNCTION digit_split split_by_digit(const sort_args& a, key_range r, u64 count)
{
    return digit_split{cut_from_top(a, r, bits_of_split(count), 1, 0)};
}

#define KEYS_HAVE_VALUES (TUNE_KEY_KIND == 2 && TUNE_MANTISSA_BITS >= 23) // f32, f64

#if KEYS_HAVE_VALUES
#if TUNE_MANTISSA_BITS == 23
typedef f32 number;
#else
typedef f64 number;
#endif
enum : u64 {
    MANTISSA = TUNE_MANTISSA_BITS,
    LARGEST = (1ull << (KEY_BITS - 1 - MANTISSA)) - 1, // exponent: of infinity and NaN
    BIAS = LARGEST / 2
};

FUNCTION number number_of(key_t bits)
{
    union {
        key_t bits;
        number value;
    } word;
    word.bits = bits;
    return word.value;
}
FUNCTION u64 exponent_of(key_t bits) { return bits >> MANTISSA & LARGEST; }

// Whole multiples of a power of two: the product is exact, unless it is less than 1 or so, and the
// conversion truncates. So whoever asks, in whatever mode of rounding, finds the same bin.
struct value_split {
    number scale; // the power; less than 0 where keys descend; 0: there is none
    i32 first;    // multiple, that of the lowest key
    u32 bins;
    FUNCTION_MEMBER u32 count() const { return bins; }
    FUNCTION_MEMBER i32 multiple(key_t raw) const
    {
        return static_cast<i32>(number_of(raw) * scale);
    }
    FUNCTION_MEMBER u32 bin(key_t raw, key_t) const
    {
        const u32 b = static_cast<u32>(multiple(raw)) - static_cast<u32>(first);
        return b < bins ? b : bins - 1; // of a key that was not there when the range was found
    }
};

// The smallest multiples that are not more than those of the split by a digit. There are none where
// a number is infinite or none, all are very small, or they are close for their size.
FUNCTION value_split split_by_value(key_range r, u64 count)
{
    const key_t low = decode(r.lowest), high = decode(r.highest);
    const u64 e = exponent_of(low) > exponent_of(high) ? exponent_of(low) : exponent_of(high);
    const u32 most = 1u << bits_of_split(count);
    value_split v = {0, 0, 1};
    if (e == LARGEST || e < 64) return v;
    // Both are less than 2^(e - BIAS + 1), so their multiples are less than 2^30.
    for (u64 power = 29 + 2 * BIAS - e; power > 0; power--) {
        v.scale = number_of(static_cast<key_t>(power << MANTISSA));
        if (TUNE_DESCENDING) v.scale = -v.scale;
        v.first = v.multiple(low);
        v.bins = static_cast<u32>(v.multiple(high) - v.first) + 1;
        if (v.bins > most) continue;
        if (power == 29 + 2 * BIAS - e) break; // and there are no smaller ones
        return v;
    }
    return value_split{0, 0, 1};
}
#endif

// The sum of squares of how many samples are in each bin. `bins` has room for as many counts.
template <class Split>
FUNCTION u32 crowding(const sort_args& a, const Split& split, offset_t* bins)
{
    u32 sum = 0;
    for (u32 b = 0; b < split.count(); b++) bins[b] = 0;
    for (u32 k = 0; k < SAMPLES; k++) {
        const key_t raw = key_item(first_of(a), a.n / SAMPLES * k);
        offset_t& there = bins[split.bin(raw, encode(raw))];
        sum += 2 * static_cast<u32>(there) + 1;
        there++;
    }
    return sum;
}

// Whether each bin of all items, whose range is r, has room for one key alone: then how many there
// are says all.
FUNCTION bool bins_are_keys(const sort_args& a, key_range r)
{
    return keys_say_all(a) && bits_of_range(a, r) <= bits_of_split(a.n);
}

// Calls use(split) with that of all items, whose range is r.
template <class Use>
FUNCTION void with_split(const sort_args& a, key_range r, offset_t* bins, Use use)
{
    const digit_split by_digit = split_by_digit(a, r, a.n);
#if KEYS_HAVE_VALUES
    const value_split by_value = split_by_value(r, a.n);
    if (sorts_by_all_bits(a) && by_value.scale != 0 && !bins_are_keys(a, r) &&
        crowding(a, by_value, bins) * 5 < crowding(a, by_digit, bins) * 4) {
        use(by_value);
        return;
    }
#endif
    use(by_digit);
}
#endif
