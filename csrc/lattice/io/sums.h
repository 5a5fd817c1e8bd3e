// The checksums of lattice files. Each is a sum or an exclusive or over the file, so chunks of it
// may come in any order and from any thread.
#ifndef CUBC_LATTICE_SUMS_H
#define CUBC_LATTICE_SUMS_H

#include "base/base.h"

typedef enum sums_kind {
    SUMS_SCIDAC, // XOR over sites of their bytes' CRC-32, rotated left by site % 29 and site % 31
    SUMS_MILC,   // XOR over 32-bit words, rotated left by their index % 29 and % 31
    SUMS_NERSC,  // sum of the 32-bit words, the first number alone
    SUMS_COUNT
} sums_kind;

// Sums the bytes of `sites` sites from site `first` on, as they are in the file.
void sums_of(sums_kind kind, const void *bytes, size_t site_bytes, uint64_t first, uint64_t sites,
             bool big_endian, uint32_t out[2]);
// Takes those of another chunk in.
void sums_merge(sums_kind kind, uint32_t sums[2], const uint32_t more[2]);

#endif
