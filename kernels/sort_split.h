// How a thread alone shares items out to bins that fit a cache: by the highest digit of what the
// keys differ in, or, floats, by their value, between the lowest and the highest.
//
// A digit of a float is exponent first, so that half of what lies between 0 and 1 meets in a few
// bins; its value is as even as the numbers are. One large number among small ones is the reverse:
// a sample says which it is. Either way keys of a higher bin are higher, for subtraction and
// multiplication by a positive number keep an order when they round.
//     TUNE_RADIX_BITS    of the digit, at most; there are as many bins by value
#pragma once
#include "sort_cached.h"
#if SIMT_THREADS == 1

enum {
    // More items than that are split before they are sorted: they are too many for a cache.
    MANY_ITEMS = (1 << 18) / (sizeof(key_t) + (PAIRS ? sizeof(value_t) : 0)),
    CACHED_ITEMS = MANY_ITEMS / 16, // are to be in a bin
    HAS_VALUES = TUNE_KEY_KIND == RADIX_FLOATING && sizeof(key_t) >= sizeof(f32),
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

template <class K>
struct number_of {
    typedef f32 type;
};
template <>
struct number_of<u64> {
    typedef f64 type;
};
typedef number_of<key_t>::type number;

FUNCTION number value_of_bits(key_t raw)
{
    union {
        key_t bits;
        number value;
    } word;
    word.bits = raw;
    return word.value;
}

struct value_split {
    number first, scale; // of the lowest key; bins of a unit, less than 0 where keys descend
    u32 last;            // bin
    FUNCTION_MEMBER u32 count() const { return last + 1; }
    FUNCTION_MEMBER u32 bin(key_t raw, key_t) const
    {
        const u32 b = static_cast<u32>(static_cast<i32>((value_of_bits(raw) - first) * scale));
        return b < last ? b : last;
    }
};

FUNCTION value_split split_by_value(key_range r, u64 count)
{
    const u32 bins = 1u << bits_of_split(count);
    const number first = value_of_bits(decode(r.lowest)), last = value_of_bits(decode(r.highest));
    return value_split{first, static_cast<number>(bins) / (last - first), bins - 1};
}

// Infinities, numbers too far apart or too close, and NaN leave no such scale.
FUNCTION bool has_scale(const value_split& v)
{
    const number magnitude = v.scale < 0 ? -v.scale : v.scale;
    return magnitude > 0 && magnitude < static_cast<number>(1e30f);
}

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

// Calls use(split) with that of all items, whose range is r. Whoever asks finds the same.
template <class Use>
FUNCTION void with_split(const sort_args& a, key_range r, offset_t* bins, Use use)
{
    const digit_split by_digit = split_by_digit(a, r, a.n);
    if constexpr (HAS_VALUES) {
        const value_split by_value = split_by_value(r, a.n);
        const bool whole = sorted_bits(a) == static_cast<key_t>(~0ull);
        if (whole && has_scale(by_value) &&
            crowding(a, by_value, bins) * 5 < crowding(a, by_digit, bins) * 4) {
            use(by_value);
            return;
        }
    }
    use(by_digit);
}
#endif
