// Bins that hold the keys in order, so that blocks can sort them one by one.
//
// The bins of integers are the values of their highest digit. Floats crowd in a few of those, and
// are divided by their values instead: a bin is an equal part of the range of a sample; keys
// outside it are in the first or last bin. Values of many magnitudes crowd around zero. If those of
// the sample do, a bin is an equal part of the range of their codes, in which a magnitude has as
// much room as any other. If keys crowd nevertheless, they are not split (find_routes in
// sort_count.h).
#pragma once
#include "sort.h"

enum {
    SPLIT_FLOATS = TUNE_KEY_KIND == RADIX_FLOATING && KEY_BITS >= 32,
    SAMPLES = 4 // keys a thread in the sample
};

template <int BITS>
struct float_of {
    typedef f32 type;
};
template <>
struct float_of<64> {
    typedef f64 type;
};
typedef float_of<KEY_BITS>::type key_float;

FUNCTION key_float float_of_key(key_t code) // only with SPLIT_FLOATS
{
    union {
        key_t key;
        key_float value;
    } word;
    word.key = decode(code);
    return word.value;
}

struct splitter {
    key_t low, high; // codes of the sample's range
    bool by_code;    // bins divide the codes and not the values
    key_float low_value, scale;
};

// The order of values is that of codes, or falls where these rise.
FUNCTION bool falls(bool by_code) { return TUNE_DESCENDING && !by_code; }
FUNCTION key_float place_of(key_t code, bool by_code)
{
    return by_code ? static_cast<key_float>(code) : float_of_key(code);
}

// The range is a little wider than that of the sample, since other keys lie beyond it.
FUNCTION splitter splitter_of(key_t low, key_t high, bool by_code)
{
    const key_float one = place_of(falls(by_code) ? high : low, by_code),
                    other = place_of(falls(by_code) ? low : high, by_code),
                    more = (other - one) / (SAMPLES * SIMT_THREADS);
    return splitter{low, high, by_code, one - more, RADIX / (other - one + 2 * more)};
}

FUNCTION u32 digit_of(key_t code, const splitter& p)
{
    const key_float value = place_of(code, p.by_code), at = (value - p.low_value) * p.scale;
    const bool last = !(at < RADIX - 1); // true for NaN, too, and for the infinity at the end
    const u32 bin = value <= p.low_value ? 0 : last ? RADIX - 1 : static_cast<u32>(at);
    return falls(p.by_code) ? RADIX - 1 - bin : bin;
}

// Returns the number of bits in which keys of a range differ from the lowest one.
FUNCTION u32 bits_of_range(key_t low, key_t high)
{
    const u64 range = static_cast<u64>(high - low);
    if (high <= low) return 0; // and below not bit_length, which would test again
    return range >> 32 ? 33 + last_set(static_cast<u32>(range >> 32))
                       : 1 + last_set(static_cast<u32>(range));
}

struct range_shared {
    key_t low[WARPS], high[WARPS];
    u32 met[WARPS]; // neighbours in the sample that are in one bin
};

// Gives the lowest and the highest of the threads' keys to all threads.
//   Storage     may be used again after the next block_sync
FUNCTION void block_range(key_t& low, key_t& high, range_shared& s)
{
    UNROLL
    for (u32 d = 1; d < SIMT_WARP; d *= 2) {
        const key_t one = warp_shuffle(low, lane_id() ^ d),
                    other = warp_shuffle(high, lane_id() ^ d);
        low = one < low ? one : low;
        high = other > high ? other : high;
    }
    if (lane_id() == 0) {
        s.low[warp_id()] = low;
        s.high[warp_id()] = high;
    }
    block_sync();
    UNROLL
    for (u32 w = 0; w < WARPS; w++) {
        low = s.low[w] < low ? s.low[w] : low;
        high = s.high[w] > high ? s.high[w] : high;
    }
}

// Returns true if values crowd: of two keys of the sample, which are far apart in the array, one in
// CROWD is in the bin of the other, where it is one in RADIX of equal bins.
FUNCTION bool values_crowd(const key_t (&code)[SAMPLES], const splitter& by_value, range_shared& s)
{
    enum { CROWD = 16 };
    u32 met = 0;
    UNROLL
    for (u32 k = 1; k < SAMPLES; k++)
        met += digit_of(code[k], by_value) == digit_of(code[k - 1], by_value);
    met = warp_shuffle(warp_scan(met, plus()), SIMT_WARP - 1);
    if (lane_id() == 0) s.met[warp_id()] = met;
    block_sync();
    u32 all = 0;
    UNROLL
    for (u32 w = 0; w < WARPS; w++) all += s.met[w];
    return all * CROWD > (SAMPLES - 1) * SIMT_THREADS;
}

// Returns the splitter of the keys, by a sample; all blocks find the same one.
FUNCTION splitter find_splitter(const sort_args& a, range_shared& s)
{
    const u64 step = a.n / (SAMPLES * SIMT_THREADS);
    key_t code[SAMPLES];
    UNROLL
    for (u32 k = 0; k < SAMPLES; k++)
        code[k] = encode(key_item(first_of(a), (k * SIMT_THREADS + thread_id()) * step));
    key_t low = code[0], high = low;
    UNROLL
    for (u32 k = 1; k < SAMPLES; k++) {
        low = code[k] < low ? code[k] : low;
        high = code[k] > high ? code[k] : high;
    }
    block_range(low, high, s);
    const splitter by_value = splitter_of(low, high, false);
    return values_crowd(code, by_value, s) ? splitter_of(low, high, true) : by_value;
}
