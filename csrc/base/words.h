// Numbers of a file's byte order, at any address.
#ifndef CUBC_WORDS_H
#define CUBC_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool words_swapped(bool big_endian)
{
    return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static inline uint32_t words_load32(const void *from, bool big_endian)
{
    uint32_t word;
    memcpy(&word, from, sizeof word);
    return words_swapped(big_endian) ? __builtin_bswap32(word) : word;
}

static inline uint64_t words_load64(const void *from, bool big_endian)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return words_swapped(big_endian) ? __builtin_bswap64(word) : word;
}

static inline void words_store32(void *to, uint32_t word, bool big_endian)
{
    if (words_swapped(big_endian)) word = __builtin_bswap32(word);
    memcpy(to, &word, sizeof word);
}

static inline void words_store64(void *to, uint64_t word, bool big_endian)
{
    if (words_swapped(big_endian)) word = __builtin_bswap64(word);
    memcpy(to, &word, sizeof word);
}

#endif
