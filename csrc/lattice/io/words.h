// Numbers of a file's byte order, at any address.
#ifndef CUBC_LATTICE_WORDS_H
#define CUBC_LATTICE_WORDS_H

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

// The extents of a lattice, x first.
static inline void words_load_extent(const unsigned char *from, bool big_endian, uint64_t extent[4])
{
    for (int k = 0; k < 4; k++) extent[k] = words_load32(from + 4 * k, big_endian);
}

static inline void words_store_extent(unsigned char *to, const int extent[4], bool big_endian)
{
    for (int k = 0; k < 4; k++) words_store32(to + 4 * k, (uint32_t)extent[k], big_endian);
}

#endif
