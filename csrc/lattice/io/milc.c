// MILC's version 5 gauge files: a header of 96 bytes and single-precision links, in the byte order
// of the machine that wrote them.
#include "lattice/io/format.h"
#include "lattice/io/milc_header.h"

enum { GAUGE_VERSION_NUMBER = 20103 };          // MILC's name of the magic number
enum { SUMS = MILC_HEADER, HEADER = SUMS + 8 }; // two checksums come last

static bool probe(const infile *file, const unsigned char head[FORMAT_HEAD])
{
    (void)file;
    return words_load32(head, true) == GAUGE_VERSION_NUMBER ||
           words_load32(head, false) == GAUGE_VERSION_NUMBER;
}

static cubc_status open_fields(const infile *file, int flags, disk_fields *out)
{
    unsigned char header[HEADER];
    uint64_t extent[4];
    disk_field f = disk_field_new("milc", CUBC_FIELD_GAUGE);
    (void)flags;
    TRY(infile_at(file, 0, header, sizeof header, "header"));
    bool big = words_load32(header, true) == GAUGE_VERSION_NUMBER;
    TRY(milc_read_header(header, big, extent));
    f.checksums = CHECKSUM_MILC;
    f.info.precision = 32;
    f.info.big_endian = big;
    f.info.has_checksum = 1;
    for (int k = 0; k < 2; k++) f.info.checksum[k] = words_load32(header + SUMS + 4 * k, big);
    f.info.data_offset = HEADER;
    f.info.data_bytes = file->size - HEADER;
    snprintf(f.what, sizeof f.what, "data at byte %d", HEADER);
    TRY(disk_field_set_extent(&f, extent));
    return disk_fields_add(out, &f);
}

static cubc_status write_field(const outfile *file, disk_field *f, const double *from)
{
    unsigned char header[HEADER];
    f->checksums = CHECKSUM_MILC;
    f->info.big_endian = 0;
    f->info.data_offset = HEADER;
    TRY(disk_field_store(file, f, from));
    milc_write_header(header, GAUGE_VERSION_NUMBER, f);
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
