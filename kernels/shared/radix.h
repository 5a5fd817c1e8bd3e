// Keys as unsigned numbers of the same order, and their digits: block_radix.h with the parameters
// of a variant.
//     TUNE_KEY             unsigned type of a key's size
//     TUNE_KEY_KIND        0 unsigned, 1 signed, 2 floating-point, 3 bool
//     TUNE_MANTISSA_BITS   mantissa bits of a floating-point key
//     TUNE_DESCENDING      1: descending order
#pragma once
#include "block_radix.h"

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
