// MILC's version 5 gauge files: a header of 96 bytes and single-precision links, in the byte order
// of the machine that wrote them.
#include "lattice/io/format.h"
#include "lattice/io/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAGIC = 20103 };
// Magic, extents, date (64 characters), order of sites, two checksums.
enum { HEADER = 96, EXTENTS = 4, DATE = 20, ORDER = 84, SUMS = 88, LEXICOGRAPHIC = 0 };

static bool probe(const infile *file, const unsigned char head[FORMAT_HEAD])
{
    (void)file;
    return words_load32(head, true) == MAGIC || words_load32(head, false) == MAGIC;
}

static cubc_status open_fields(const infile *file, int flags, disk_fields *out)
{
    unsigned char header[HEADER];
    uint64_t extent[4];
    disk_field f = disk_field_new("milc", CUBC_FIELD_GAUGE);
    (void)flags;
    TRY(infile_at(file, 0, header, sizeof header, "header"));
    bool big = words_load32(header, true) == MAGIC;
    uint32_t order = words_load32(header + ORDER, big);
    if (order != LEXICOGRAPHIC)
        FAIL(CUBC_IO_ERROR,
             "header at byte %d: the order of sites is %" PRIu32
             ", expected 0, one after the other",
             ORDER, order);
    f.checksums = CHECKSUM_MILC;
    f.info.precision = 32;
    f.info.big_endian = big;
    f.info.has_checksum = 1;
    for (int k = 0; k < 2; k++) f.info.checksum[k] = words_load32(header + SUMS + 4 * k, big);
    for (int k = 0; k < 4; k++) extent[k] = words_load32(header + EXTENTS + 4 * k, big);
    f.info.data_offset = HEADER;
    f.info.data_bytes = file->size - HEADER;
    snprintf(f.what, sizeof f.what, "data at byte %d", HEADER);
    TRY(disk_field_set_extent(&f, extent));
    return disk_fields_add(out, &f);
}

// Little-endian, as MILC's own are almost everywhere. In place of a date stands who wrote it, so
// that the same field makes the same file.
static cubc_status write_field(const outfile *file, disk_field *f, const double *from)
{
    unsigned char header[HEADER] = {0};
    f->checksums = CHECKSUM_MILC;
    f->info.big_endian = 0;
    f->info.data_offset = HEADER;
    TRY(disk_field_store(file, f, from));
    words_store32(header, MAGIC, false);
    for (int k = 0; k < 4; k++)
        words_store32(header + EXTENTS + 4 * k, (uint32_t)f->info.extent[k], false);
    snprintf((char *)header + DATE, ORDER - DATE, "cubc " CUBC_VERSION);
    words_store32(header + ORDER, LEXICOGRAPHIC, false);
    for (int k = 0; k < 2; k++) words_store32(header + SUMS + 4 * k, f->info.checksum[k], false);
    return outfile_once(file, 0, header, sizeof header);
}

const field_format milc_format = {
    .name = "milc",
    .title = "MILC",
    .probe = probe,
    .open = open_fields,
    .write = write_field,
    .written = 1u << CUBC_FIELD_GAUGE,
    .single = true,
};
