// MILC's gauge files: see milc.h.
#include "milc.h"

#include "words.h"

#include <inttypes.h>
#include <stdio.h>

// Magic, extents, date (64 characters), order of sites, two checksums.
enum { HEADER = 96, EXTENTS = 4, ORDER = 84, SUMS = 88, LEXICOGRAPHIC = 0 };

cubc_status milc_open(const infile *file, int flags, disk_field *out)
{
    unsigned char header[HEADER];
    uint64_t extent[4];
    (void)flags;
    TRY(infile_at(file, 0, header, sizeof header, "header"));
    bool big = words_load32(header, true) == MILC_MAGIC;
    uint32_t order = words_load32(header + ORDER, big);
    if (order != LEXICOGRAPHIC)
        FAIL(CUBC_IO_ERROR,
             "header at byte %d: the order of sites is %" PRIu32
             ", expected 0, one after the other",
             ORDER, order);
    out->sums = SUMS_MILC;
    out->info.kind = CUBC_FIELD_GAUGE;
    out->info.precision = 32;
    out->info.rows = 3;
    out->info.big_endian = big;
    out->info.has_checksum = 1;
    for (int k = 0; k < 2; k++) out->info.checksum[k] = words_load32(header + SUMS + 4 * k, big);
    for (int k = 0; k < 4; k++) extent[k] = words_load32(header + EXTENTS + 4 * k, big);
    out->info.data_offset = HEADER;
    out->info.data_bytes = file->size - HEADER;
    snprintf(out->what, sizeof out->what, "data at byte %d", HEADER);
    snprintf(out->info.format, sizeof out->info.format, "milc");
    return disk_field_set_extent(out, extent);
}
