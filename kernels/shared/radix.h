// Keys of a radix algorithm: read as bits from an array or a lazy input (input.h), encoded as
// unsigned numbers of the same order, and cut into digits by block_radix.h.
//     TUNE_KEY             unsigned type of a key's size
//     TUNE_KEY_KIND        0 unsigned, 1 signed, 2 floating-point, 3 bool
//     TUNE_MANTISSA_BITS   mantissa bits of a floating-point key; 0: its NaNs are not all last
//     TUNE_DESCENDING      1: descending order
//     TUNE_IN...           of input.h
#pragma once
#include "block_radix.h"
#include "input.h"

typedef TUNE_KEY key_t;

enum {
    RADIX = 1 << TUNE_RADIX_BITS,
    ITEMS = TUNE_ITEMS_PER_THREAD,
    TILE = ITEMS * SIMT_THREADS,
    BINS = radix_bins<TUNE_RADIX_BITS>(), // bins a thread
    KEY_BITS = 8 * sizeof(key_t),
    WARPS = SIMT_WARPS
};

typedef radix_code<TUNE_KEY_KIND, TUNE_MANTISSA_BITS, TUNE_DESCENDING, key_t> key_code;
FUNCTION key_t encode(key_t raw) { return key_code::encode(raw); }
FUNCTION key_t decode(key_t coded) { return key_code::decode(coded); }

FUNCTION u32 my_bin(int j) { return radix_bin<TUNE_RADIX_BITS>(j); }

// ---- input --------------------------------------------------------------------------------------
DEFINE_INPUT(TUNE_IN, in_t, key_t)

#if TUNE_IN_LAZY
typedef TUNE_IN_TYPE raw_key;
#else
typedef key_t raw_key;
#endif

FUNCTION key_t bits_of_key(raw_key item)
{
    union {
        raw_key item;
        key_t key;
    } word;
    word.item = item;
    return word.key;
}

// Returns the key at index i of an input, or of an input from an item on.
template <class In>
FUNCTION key_t key_item(const In& in, u64 i)
{
    return bits_of_key(input_item(in, i));
}
template <int CACHING, class In, int N>
FUNCTION void load_keys(const In& in, u64 at, key_t (&key)[N])
{
    raw_key item[N];
    load_input<CACHING>(in, at, item);
    UNROLL
    for (int j = 0; j < N; j++) key[j] = bits_of_key(item[j]);
}
