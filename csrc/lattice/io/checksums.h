// The checksums of lattice files. Each is a sum or an exclusive or over the file, so parts of it
// may come in any order and from any thread.
#ifndef CUBC_LATTICE_CHECKSUMS_H
#define CUBC_LATTICE_CHECKSUMS_H

#include "base/base.h"

typedef enum checksum_kind {
    CHECKSUM_SCIDAC, // XOR over sites of their bytes' CRC-32, rotated left by site % 29 and site %
                     // 31
    CHECKSUM_MILC,   // XOR over 32-bit words, rotated left by their index % 29 and % 31
    CHECKSUM_NERSC,  // sum of the 32-bit words, in the first number only
    CHECKSUM_COUNT
} checksum_kind;

// Takes the checksums of the bytes of `sites` sites from site `first` on, as they are in the file.
void checksums_of(checksum_kind kind, const void *bytes, size_t site_bytes, uint64_t first,
                  uint64_t sites, bool big_endian, uint32_t out[2]);
// Adds those of another part.
void checksums_merge(checksum_kind kind, uint32_t checksums[2], const uint32_t more[2]);

#endif
