// The checksums of lattice files: see checksums.h.
#include "lattice/io/checksums.h"

#include "base/words.h"

#include <string.h>

static uint32_t rotate_left(uint32_t x, unsigned n)
{
    return n ? x << n | x >> (32 - n) : x;
}

// ---- CRC-32 (IEEE 802.3, reflected), 16 bytes a step --------------------------------------------
// crc_table[k][b]: the change of the sum by a byte b that k more bytes follow.
enum { CRC_STEP = 16 };
static uint32_t crc_table[CRC_STEP][256];
static pthread_once_t crc_once = PTHREAD_ONCE_INIT;

static void make_crc_table(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t c = b;
        for (int bit = 0; bit < 8; bit++) c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
        crc_table[0][b] = c;
    }
    for (int k = 1; k < CRC_STEP; k++)
        for (int b = 0; b < 256; b++) {
            uint32_t c = crc_table[k - 1][b];
            crc_table[k][b] = c >> 8 ^ crc_table[0][c & 255];
        }
}

static uint32_t crc_of(const unsigned char *p, size_t length)
{
    uint32_t c = 0xffffffffu;
    for (; length >= CRC_STEP; p += CRC_STEP, length -= CRC_STEP) {
        uint32_t next = 0;
        c ^= words_load32(p, false);
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) next ^= crc_table[15 - k][c >> 8 * k & 255];
#pragma GCC unroll 12
        for (int k = 4; k < CRC_STEP; k++) next ^= crc_table[15 - k][p[k]];
        c = next;
    }
    while (length--) c = c >> 8 ^ crc_table[0][(c ^ *p++) & 255];
    return ~c;
}

// ---- the three of them --------------------------------------------------------------------------
static void scidac(const unsigned char *p, size_t site_bytes, uint64_t first, uint64_t sites,
                   uint32_t out[2])
{
    pthread_once(&crc_once, make_crc_table);
    for (uint64_t site = first; site < first + sites; site++, p += site_bytes) {
        uint32_t crc = crc_of(p, site_bytes);
        out[0] ^= rotate_left(crc, site % 29);
        out[1] ^= rotate_left(crc, site % 31);
    }
}

static void milc(const unsigned char *p, uint64_t first, size_t words, bool big_endian,
                 uint32_t out[2])
{
    unsigned by29 = first % 29, by31 = first % 31;
    for (size_t k = 0; k < words; k++) {
        uint32_t word = words_load32(p + 4 * k, big_endian);
        out[0] ^= rotate_left(word, by29);
        out[1] ^= rotate_left(word, by31);
        by29 = by29 == 28 ? 0 : by29 + 1;
        by31 = by31 == 30 ? 0 : by31 + 1;
    }
}

void checksums_of(checksum_kind kind, const void *bytes, size_t site_bytes, uint64_t first,
                  uint64_t sites, bool big_endian, uint32_t out[2])
{
    const unsigned char *p = bytes;
    size_t site_words = site_bytes / 4, words = (size_t)sites * site_words;
    out[0] = out[1] = 0;
    if (kind == CHECKSUM_SCIDAC) {
        scidac(p, site_bytes, first, sites, out);
    } else if (kind == CHECKSUM_MILC) {
        milc(p, first * site_words, words, big_endian, out);
    } else {
        for (size_t k = 0; k < words; k++) out[0] += words_load32(p + 4 * k, big_endian);
    }
}

void checksums_merge(checksum_kind kind, uint32_t checksums[2], const uint32_t more[2])
{
    if (kind == CHECKSUM_NERSC) {
        checksums[0] += more[0];
    } else {
        checksums[0] ^= more[0];
        checksums[1] ^= more[1];
    }
}
