// Keys of a radix algorithm as bits, read from an array or from a lazy input (input.h), which is
// evaluated at every read.
//
//     TUNE_IN...   of input.h
#pragma once
#include "input.h"
#include "radix.h"

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
