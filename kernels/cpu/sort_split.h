// Distribution of items to bins that fit a cache, by a single thread: by the highest digit in which
// the keys differ, or for floats by value, between the lowest and the highest.
//
// The highest digit of a float is mostly exponent, so that half of the numbers between 0 and 1
// share a few bins, while bins by value are as even as the numbers are. One large number among
// small ones is the opposite case. A sample decides. Either way a higher bin has higher keys. Items
// are counted in one launch and moved in another, possibly with different rounding modes or
// compiled code: both must find the same bin.
//     TUNE_RADIX_BITS   most bits of the digit; bins by value are as many
#pragma once
#include "sort.h"

#include "sort_cached.h"

enum {
    // More items than this are split before they are sorted: they do not fit a cache.
    MANY_ITEMS = (1 << 18) / (sizeof(key_t) + (PAIRS ? sizeof(value_t) : 0)),
    CACHED_ITEMS = MANY_ITEMS / 16, // wanted in a bin
    SAMPLES = 512
};

FUNCTION key_bits bits_of(const sort_args& a) { return key_bits{a.begin_bit, a.end_bit}; }

FUNCTION u32 bits_of_split(u64 count)
{
    const u32 bits = bit_length(count / CACHED_ITEMS);
    return bits < TUNE_RADIX_BITS ? bits : TUNE_RADIX_BITS;
}

// Split by a digit. Both splits have count(), and bin(raw, key) of a key as given and encoded.
struct digit_split {
    digit_cut cut;
    FUNCTION_MEMBER u32 count() const { return cut.mask + 1; }
    FUNCTION_MEMBER u32 bin(key_t, key_t key) const { return digit_in(key, cut); }
};

FUNCTION digit_split split_by_digit(const sort_args& a, key_range r, u64 count)
{
    return digit_split{cut_from_top(bits_of(a), r, bits_of_split(count), 1, 0)};
}

// f32 and f64, if all bits are sorted by
#define KEYS_HAVE_VALUES (TUNE_KEY_KIND == 2 && TUNE_MANTISSA_BITS >= 23)

#if KEYS_HAVE_VALUES
#if TUNE_MANTISSA_BITS == 23
typedef f32 number;
#else
typedef f64 number;
#endif
enum : u64 {
    MANTISSA = TUNE_MANTISSA_BITS,
    LARGEST = (1ull << (KEY_BITS - 1 - MANTISSA)) - 1, // exponent of infinity and NaN
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

// Split by whole multiples of a power of two. The product is exact, unless it is less than about 1,
// and the conversion truncates. So the bin does not depend on the rounding mode.
struct value_split {
    number scale; // the power; negative if keys descend; 0: no split
    i32 first;    // multiple of the lowest key
    u32 bins;
    FUNCTION_MEMBER u32 count() const { return bins; }
    FUNCTION_MEMBER i32 multiple(key_t raw) const
    {
        return static_cast<i32>(number_of(raw) * scale);
    }
    FUNCTION_MEMBER u32 bin(key_t raw, key_t) const
    {
        const u32 b = static_cast<u32>(multiple(raw)) - static_cast<u32>(first);
        return b < bins ? b : bins - 1; // the key was changed after the range was found
    }
};

// Returns the finest split (of the largest power) that has no more bins than the split by a digit.
// There is none if a number is infinite or NaN, or if all are very small or close for their size.
FUNCTION value_split split_by_value(key_range r, u64 count)
{
    const key_t low = decode(r.lowest), high = decode(r.highest);
    const u64 e = exponent_of(low) > exponent_of(high) ? exponent_of(low) : exponent_of(high);
    const u32 most = 1u << bits_of_split(count);
    value_split v = {0, 0, 1};
    if (e == LARGEST || e < 64) return v;
    // Both numbers are less than 2^(e - BIAS + 1), so that their multiples are less than 2^30.
    for (u64 power = 29 + 2 * BIAS - e; power > 0; power--) {
        v.scale = number_of(static_cast<key_t>(power << MANTISSA));
        if (TUNE_DESCENDING) v.scale = -v.scale;
        v.first = v.multiple(low);
        v.bins = static_cast<u32>(v.multiple(high) - v.first) + 1;
        if (v.bins > most) continue;
        if (power == 29 + 2 * BIAS - e) break; // no finer split exists
        return v;
    }
    return value_split{0, 0, 1};
}
#endif

// Returns the sum of squares of the samples in each bin. `bins` has room for the counts.
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

// Returns true if each bin of all items, whose range is r, can only hold copies of one key: counts
// are enough then.
FUNCTION bool bins_are_keys(const sort_args& a, key_range r)
{
    return keys_say_all(bits_of(a)) && bits_of_range(bits_of(a), r) <= bits_of_split(a.n);
}

// Calls use(split) with the split of all items, whose range is r.
template <class Use>
FUNCTION void with_split(const sort_args& a, key_range r, offset_t* bins, Use use)
{
    const digit_split by_digit = split_by_digit(a, r, a.n);
#if KEYS_HAVE_VALUES
    const value_split by_value = split_by_value(r, a.n);
    if (sorts_by_all_bits(bits_of(a)) && by_value.scale != 0 && !bins_are_keys(a, r) &&
        crowding(a, by_value, bins) * 5 < crowding(a, by_digit, bins) * 4) {
        use(by_value);
        return;
    }
#endif
    use(by_digit);
}
