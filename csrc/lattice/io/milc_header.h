// The beginning of MILC's own files, of gauge fields and of propagators: magic number, extents,
// date (64 characters), order of sites.
#ifndef CUBC_LATTICE_MILC_HEADER_H
#define CUBC_LATTICE_MILC_HEADER_H

#include "base/words.h"
#include "lattice/io/disk_field.h"

#include <inttypes.h>
#include <stdio.h>

enum { MILC_EXTENTS = 4, MILC_DATE = 20, MILC_ORDER = 84, MILC_HEADER = 88, LEXICOGRAPHIC = 0 };

// Reads the extents. Fails for sites in another order than one after the other.
static inline cubc_status milc_read_header(const unsigned char *header, bool big_endian,
                                           uint64_t extent[4])
{
    const uint32_t order = words_load32(header + MILC_ORDER, big_endian);
    if (order != LEXICOGRAPHIC)
        FAIL(CUBC_IO_ERROR,
             "header at byte %d: the order of sites is %" PRIu32
             ", expected 0, one after the other",
             MILC_ORDER, order);
    disk_load_extent(header + MILC_EXTENTS, big_endian, extent);
    return CUBC_OK;
}

// Little-endian, as MILC's own are almost everywhere. In place of a date stands who wrote it, so
// that the same field makes the same file.
static inline void milc_write_header(unsigned char header[MILC_HEADER], uint32_t magic,
                                     const disk_field *f)
{
    memset(header, 0, MILC_HEADER);
    words_store32(header, magic, false);
    disk_store_extent(header + MILC_EXTENTS, f->info.extent, false);
    snprintf((char *)header + MILC_DATE, MILC_ORDER - MILC_DATE, "cubc " CUBC_VERSION);
    words_store32(header + MILC_ORDER, LEXICOGRAPHIC, false);
}

#endif
