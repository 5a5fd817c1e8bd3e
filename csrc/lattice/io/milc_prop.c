// MILC's own propagator files: of Wilson quarks a spinor for each source spin and colour, of
// staggered quarks a colour vector for each source colour. A header, and in front of each column
// which one it is and its two checksums; single precision in either byte order.
#include "lattice/io/format.h"
#include "lattice/io/milc_header.h"

// MILC's names of the magic numbers.
enum { W_PROP_VERSION_NUMBER = 12781, KSPROP_VERSION_NUMBER = 23209 };
// Headers of Wilson propagators also say how many source spins there are, and have four of them.
enum { SPINS = MILC_HEADER, WILSON_HEADER = SPINS + 20 };
// In front of a column: spin of Wilson propagators, colour, sum29, sum31.
enum { WILSON_CHECK = 16, STAGGERED_CHECK = 12 };

static uint32_t magic_of(const unsigned char *head, bool big)
{
    uint32_t magic = words_load32(head, big);
    return magic == W_PROP_VERSION_NUMBER || magic == KSPROP_VERSION_NUMBER ? magic : 0;
}

static bool probe(const infile *file, const unsigned char head[FORMAT_HEAD])
{
    (void)file;
    return magic_of(head, true) || magic_of(head, false);
}

static cubc_status check_spins(uint32_t spins)
{
    if (spins < 1 || spins > 4)
        FAIL(CUBC_IO_ERROR, "header at byte %d: %" PRIu32 " source spins, expected 1 to 4", SPINS,
             spins);
    return CUBC_OK;
}

// The column whose check record begins at byte `at`.
static cubc_status add_column(const infile *file, uint64_t at, int expected_colour,
                              const uint64_t extent[4], disk_field *f, disk_fields *out)
{
    unsigned char check[WILSON_CHECK];
    bool wilson = f->info.kind == CUBC_FIELD_SPINOR, big = f->info.big_endian;
    size_t size = wilson ? WILSON_CHECK : STAGGERED_CHECK;
    snprintf(f->what, sizeof f->what, "column %zu at byte %" PRIu64, out->count + 1, at);
    TRY(infile_at(file, at, check, size, f->what));
    uint32_t spin = words_load32(check, big), colour = words_load32(check + size - 12, big);
    if (colour != (uint32_t)expected_colour || (wilson && spin > 3))
        FAIL(CUBC_IO_ERROR,
             "%s: it is for source spin %" PRIu32 " and colour %" PRIu32 ", expected colour %d",
             f->what, wilson ? spin : 0, colour, expected_colour);
    for (int k = 0; k < 2; k++) f->info.checksum[k] = words_load32(check + size - 8 + 4 * k, big);
    f->info.has_checksum = 1;
    f->info.source_spin = wilson ? (int)spin : -1;
    f->info.source_colour = (int)colour;
    f->info.data_offset = at + size;
    TRY(disk_field_set_extent(f, extent));
    return disk_fields_add(out, f);
}

static cubc_status open_fields(const infile *file, int flags, disk_fields *out)
{
    unsigned char header[WILSON_HEADER] = {0};
    uint64_t extent[4];
    (void)flags;
    TRY(infile_at(file, 0, header, MILC_HEADER, "header"));
    bool big = magic_of(header, true) != 0, wilson = magic_of(header, big) == W_PROP_VERSION_NUMBER;
    if (wilson) TRY(infile_at(file, 0, header, WILSON_HEADER, "header"));
    uint32_t spins = wilson ? words_load32(header + SPINS, big) : 1;
    TRY(milc_read_header(header, big, extent));
    TRY(check_spins(spins));
    disk_field f =
        disk_field_new("milc-prop", wilson ? CUBC_FIELD_SPINOR : CUBC_FIELD_COLOUR_VECTOR);
    uint64_t columns = 3 * (uint64_t)spins;
    uint64_t begin = wilson ? WILSON_HEADER : MILC_HEADER,
             check = wilson ? WILSON_CHECK : STAGGERED_CHECK;
    uint64_t each = (file->size - begin) / columns; // check record and numbers
    f.checksums = CHECKSUM_MILC;
    f.info.precision = 32;
    f.info.big_endian = big;
    if (each < check || each * columns != file->size - begin)
        FAIL(CUBC_IO_ERROR,
             "columns at byte %" PRIu64 ": %" PRIu64 " bytes are not %" PRIu64
             " columns of one size: the file is truncated or corrupt",
             begin, file->size - begin, columns);
    f.info.data_bytes = each - check;
    for (uint64_t k = 0; k < columns; k++)
        TRY(add_column(file, begin + k * each, (int)(k % 3), extent, &f, out));
    return CUBC_OK;
}

// ---- writing ------------------------------------------------------------------------------------
static void take_column(const disk_field *f, uint64_t site, const double *field, double *to)
{
    const double (*from)[3][2] = (const double (*)[3][2])(field + site * 18);
    for (int sink = 0; sink < 3; sink++)
        memcpy(to + 2 * sink, from[sink][f->info.source_colour], 2 * sizeof *to);
}

static cubc_status write_field(const outfile *file, disk_field *f, const double *from)
{
    unsigned char header[MILC_HEADER], check[STAGGERED_CHECK];
    disk_field column = *f;
    column.info.kind = CUBC_FIELD_COLOUR_VECTOR;
    column.info.data_bytes = f->info.data_bytes / 3;
    column.checksums = CHECKSUM_MILC;
    column.take = take_column;
    milc_write_header(header, KSPROP_VERSION_NUMBER, f);
    TRY(outfile_once(file, 0, header, sizeof header));
    uint64_t at = sizeof header;
    for (int colour = 0; colour < 3; colour++) {
        column.info.source_colour = colour;
        column.info.data_offset = at + sizeof check;
        TRY(disk_field_store(file, &column, from));
        words_store32(check, (uint32_t)colour, false);
        for (int k = 0; k < 2; k++)
            words_store32(check + 4 + 4 * k, column.info.checksum[k], false);
        TRY(outfile_once(file, at, check, sizeof check));
        at = column.info.data_offset + column.info.data_bytes;
    }
    return CUBC_OK;
}

const field_format milc_prop_format = {
    .name = "milc-prop",
    .title = "a propagator of MILC's",
    .probe = probe,
    .open = open_fields,
    .write = write_field,
    .written = 1u << CUBC_FIELD_STAGGERED_PROPAGATOR,
    .single = true,
};
