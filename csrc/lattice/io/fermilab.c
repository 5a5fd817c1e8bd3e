// Fermilab's format as MILC writes it: a header of 36 bytes, and in single precision and either
// byte order whole propagators, Wilson or staggered, site after site, or spinors, one for each
// source spin and colour. Checksums are in another file, which is neither read nor written.
#include "base/words.h"
#include "lattice/io/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { IO_UNI_MAGIC = 0x71626434 }; // MILC's name of it
// Magic, time, bytes of a number, numbers of a site, extents, order of sites.
enum { HEADER = 36, NUMBER_BYTES = 8, SITE_NUMBERS = 12, EXTENTS = 16 };
enum { WILSON = 288, STAGGERED = 18, SPINOR = 24 };

static bool probe(const infile *file, const unsigned char head[FORMAT_HEAD])
{
    (void)file;
    return words_load32(head, true) == IO_UNI_MAGIC || words_load32(head, false) == IO_UNI_MAGIC;
}

// The source comes first: [source spin][source colour][sink spin][sink colour].
static void place_wilson(const disk_field *f, uint64_t site, const double *from, double *field)
{
    double (*to)[4][3][3][2] = (double (*)[4][3][3][2])(field + site * WILSON);
    (void)f;
    for (int column = 0; column < 12; column++)
        for (int row = 0; row < 12; row++, from += 2)
            memcpy(to[row / 3][column / 3][row % 3][column % 3], from, 2 * sizeof *from);
}

static cubc_status set_kind(const unsigned char *header, bool big, disk_field *f)
{
    uint32_t number_bytes = words_load32(header + NUMBER_BYTES, big);
    uint32_t numbers = words_load32(header + SITE_NUMBERS, big);
    f->info.kind = numbers == STAGGERED ? CUBC_FIELD_STAGGERED_PROPAGATOR
                   : numbers == SPINOR  ? CUBC_FIELD_SPINOR
                                        : CUBC_FIELD_PROPAGATOR;
    f->place = numbers == STAGGERED ? disk_place_vectors : numbers == WILSON ? place_wilson : NULL;
    if (number_bytes != 4 || (numbers != WILSON && numbers != STAGGERED && numbers != SPINOR))
        FAIL(CUBC_IO_ERROR,
             "header at byte 0: %" PRIu32 " numbers a site of %" PRIu32
             " bytes, expected %d, %d or %d of 4",
             numbers, number_bytes, WILSON, SPINOR, STAGGERED);
    return CUBC_OK;
}

static cubc_status open_fields(const infile *file, int flags, disk_fields *out)
{
    unsigned char header[HEADER];
    uint64_t extent[4], most = 1;
    disk_field f = disk_field_new("fermilab", CUBC_FIELD_PROPAGATOR);
    (void)flags;
    TRY(infile_at(file, 0, header, sizeof header, "header"));
    bool big = words_load32(header, true) == IO_UNI_MAGIC;
    TRY(set_kind(header, big, &f));
    f.info.precision = 32;
    f.info.big_endian = big;
    disk_load_extent(header + EXTENTS, big, extent);
    f.info.data_offset = HEADER;
    f.info.data_bytes = file->size - HEADER;
    snprintf(f.what, sizeof f.what, "data at byte %d", HEADER);
    if (f.info.kind == CUBC_FIELD_SPINOR) most = 12;
    f.info.data_bytes /= most;
    if (f.info.data_bytes * most != file->size - HEADER)
        FAIL(CUBC_IO_ERROR, "data at byte %d: %" PRIu64 " bytes are not twelve spinors of one size",
             HEADER, file->size - HEADER);
    for (uint64_t k = 0; k < most; k++, f.info.data_offset += f.info.data_bytes) {
        if (most > 1) {
            f.info.source_spin = (int)k / 3;
            f.info.source_colour = (int)k % 3;
            snprintf(f.what, sizeof f.what, "spinor %d at byte %" PRIu64, (int)k + 1,
                     f.info.data_offset);
        }
        TRY(disk_field_set_extent(&f, extent));
        TRY(disk_fields_add(out, &f));
    }
    return CUBC_OK;
}

// Little-endian, and without the time, so that the same field makes the same file.
static cubc_status write_field(const outfile *file, disk_field *f, const double *from)
{
    unsigned char header[HEADER] = {0};
    f->checksums = CHECKSUM_MILC;
    f->take = disk_take_vectors;
    f->info.data_offset = HEADER;
    words_store32(header, IO_UNI_MAGIC, false);
    words_store32(header + NUMBER_BYTES, 4, false);
    words_store32(header + SITE_NUMBERS, STAGGERED, false);
    disk_store_extent(header + EXTENTS, f->info.extent, false);
    TRY(outfile_once(file, 0, header, sizeof header));
    return disk_field_store(file, f, from);
}

const field_format fermilab_format = {
    .name = "fermilab",
    .title = "Fermilab",
    .probe = probe,
    .open = open_fields,
    .write = write_field,
    .written = 1u << CUBC_FIELD_STAGGERED_PROPAGATOR,
    .single = true,
};
