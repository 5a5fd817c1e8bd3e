// Hashes: SHA-256 (FIPS 180-4) for files, FNV-1a for tables in memory; and serial numbers.
#include "base/base.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

// One round. The words a to h keep their places and change their names, by one a round: `turn` is
// the round's number modulo 8.
static inline void sha256_round(uint32_t v[8], unsigned turn, uint32_t add)
{
    const uint32_t a = v[(0 - turn) % 8], b = v[(1 - turn) % 8], c = v[(2 - turn) % 8];
    const uint32_t e = v[(4 - turn) % 8], f = v[(5 - turn) % 8], g = v[(6 - turn) % 8];
    uint32_t *d = &v[(3 - turn) % 8], *h = &v[(7 - turn) % 8];
    const uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const uint32_t t1 = *h + s1 + ((e & f) ^ (~e & g)) + add;
    *d += t1;
    *h = t1 + s0 + ((a & b) ^ (a & c) ^ (b & c));
}

static void sha256_compress(uint32_t state[8], const uint8_t block[64])
{
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; i += 8) {
        sha256_round(v, 0, sha256_k[i] + w[i]);
        sha256_round(v, 1, sha256_k[i + 1] + w[i + 1]);
        sha256_round(v, 2, sha256_k[i + 2] + w[i + 2]);
        sha256_round(v, 3, sha256_k[i + 3] + w[i + 3]);
        sha256_round(v, 4, sha256_k[i + 4] + w[i + 4]);
        sha256_round(v, 5, sha256_k[i + 5] + w[i + 5]);
        sha256_round(v, 6, sha256_k[i + 6] + w[i + 6]);
        sha256_round(v, 7, sha256_k[i + 7] + w[i + 7]);
    }
    for (int i = 0; i < 8; i++) state[i] += v[i];
}

void sha256_begin(sha256 *h)
{
    *h = (sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                            0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(sha256 *h, const void *bytes, size_t length)
{
    const uint8_t *p = bytes;
    size_t filled = h->length % 64;
    h->length += length;
    while (length) {
        size_t take = 64 - filled < length ? 64 - filled : length;
        memcpy(h->block + filled, p, take);
        p += take;
        length -= take;
        filled += take;
        if (filled == 64) {
            sha256_compress(h->state, h->block);
            filled = 0;
        }
    }
}

void sha256_end(sha256 *h, uint8_t digest[32])
{
    uint64_t bits = h->length * 8;
    uint8_t tail[72] = {0x80};
    size_t padding = (h->length % 64 < 56 ? 56 : 120) - h->length % 64;
    for (int i = 0; i < 8; i++) tail[padding + i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_add(h, tail, padding + 8);
    for (int i = 0; i < 32; i++) digest[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_end_hex(sha256 *h, char hex[65])
{
    uint8_t digest[32];
    sha256_end(h, digest);
    for (int i = 0; i < 32; i++) {
        hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    hex[64] = '\0';
}

void sha256_hex(const void *bytes, size_t length, char hex[65])
{
    sha256 h;
    sha256_begin(&h);
    sha256_add(&h, bytes, length);
    sha256_end_hex(&h, hex);
}

uint64_t hash64(const void *bytes, size_t length)
{
    const uint8_t *p = bytes;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++) h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

uint64_t serial_number(void)
{
    static atomic_uint_fast64_t last;
    return ++last;
}
