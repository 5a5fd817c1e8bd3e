// The public calls on fields in files (cubc.h): which format it is, and who reads or writes it.
#include "ildg.h"
#include "lime.h"
#include "links.h"
#include "milc.h"
#include "nersc.h"
#include "words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct cubc_field_file {
    char *path;
    infile file;
    int flags;
    disk_field f;
};

// ---- reading ------------------------------------------------------------------------------------
typedef cubc_status (*opener)(const infile *file, int flags, disk_field *out);

static cubc_status recognise(const infile *file, opener *out)
{
    unsigned char begin[4];
    TRY(infile_at(file, 0, begin, sizeof begin, "the first bytes"));
    uint32_t big = words_load32(begin, true), little = words_load32(begin, false);
    *out = big == LIME_MAGIC                           ? ildg_open
           : memcmp(begin, "BEGI", 4) == 0             ? nersc_open
           : big == MILC_MAGIC || little == MILC_MAGIC ? milc_open
                                                       : NULL;
    if (!*out)
        FAIL(CUBC_IO_ERROR,
             "the first bytes are %08" PRIx32 ", expected those of a LIME (ILDG, SciDAC), NERSC or "
             "MILC file",
             big);
    return CUBC_OK;
}

static cubc_status open_file(const char *path, cubc_field_file *out)
{
    opener open;
    out->path = mem_strdup(path);
    if (!out->path) return CUBC_NO_MEMORY;
    TRY(infile_open(path, &out->file));
    TRY(recognise(&out->file, &open));
    TRY(open(&out->file, out->flags, &out->f));
    // Smaller than three times the file, so this cannot overflow: see disk_field_set_extent.
    out->f.info.bytes =
        out->f.info.sites * (uint64_t)disk_field_site_reals(&out->f) * sizeof(double);
    return CUBC_OK;
}

static cubc_status check_flags(int flags)
{
    if (flags & ~(CUBC_FIELD_UNVERIFIED | CUBC_FIELD_PROJECTED))
        FAIL(CUBC_INVALID_ARGUMENT, "flags are %#x, expected those of cubc_field_flags", flags);
    return CUBC_OK;
}

cubc_status cubc_field_open(const char *path, int flags, cubc_field_file **out)
{
    if (!path || !out) FAIL(CUBC_INVALID_ARGUMENT, "cubc_field_open: path or out is NULL");
    TRY(check_flags(flags));
    cubc_field_file *file = mem_zalloc(1, sizeof *file);
    if (!file) return CUBC_NO_MEMORY;
    file->file.descriptor = -1;
    file->flags = flags;
    file->f.info.plaquette = file->f.info.link_trace = NAN;
    cubc_status st = open_file(path, file);
    if (st) {
        error_prefix("%s: ", path);
        cubc_field_close(file);
        return st;
    }
    *out = file;
    return CUBC_OK;
}

void cubc_field_close(cubc_field_file *file)
{
    if (!file) return;
    infile_close(&file->file);
    mem_free(file->path);
    mem_free(file);
}

const cubc_field_info *cubc_field_describe(const cubc_field_file *file)
{
    return file ? &file->f.info : NULL;
}

cubc_status cubc_field_read(const cubc_field_file *file, void *out, size_t bytes)
{
    if (!file || !out) FAIL(CUBC_INVALID_ARGUMENT, "cubc_field_read: file or out is NULL");
    if (bytes != file->f.info.bytes)
        FAIL(CUBC_INVALID_ARGUMENT, "%s: room for %zu bytes, the field has %" PRIu64 " in memory",
             file->path, bytes, file->f.info.bytes);
    cubc_status st = disk_field_load(&file->file, &file->f, file->flags, out);
    if (st) error_prefix("%s: ", file->path);
    return st;
}

// ---- writing ------------------------------------------------------------------------------------
typedef cubc_status (*writer)(const outfile *file, disk_field *f, const double *from);

static cubc_status set_field(const cubc_field_write_params *p, disk_field *f)
{
    f->info.kind = p->kind;
    f->info.precision = p->precision ? p->precision : 64;
    f->info.rows = p->rows ? p->rows : 3;
    f->info.sites = 1;
    for (int k = 0; k < 4; k++) {
        if (p->extent[k] < 1)
            FAIL(CUBC_INVALID_ARGUMENT, "extent %d is %d, must be positive", k + 1, p->extent[k]);
        if (f->info.sites > ((uint64_t)1 << 50) / (uint64_t)p->extent[k])
            FAIL(CUBC_INVALID_ARGUMENT, "a lattice of more than 2^50 sites");
        f->info.extent[k] = p->extent[k];
        f->info.sites *= (uint64_t)p->extent[k];
    }
    if (f->info.precision != 32 && f->info.precision != 64)
        FAIL(CUBC_INVALID_ARGUMENT, "precision is %d, must be 32 or 64", p->precision);
    f->info.data_bytes = f->info.sites * disk_field_site_bytes(f);
    return CUBC_OK;
}

static cubc_status choose_writer(const cubc_field_write_params *p, writer *out)
{
    bool links = p->kind == CUBC_FIELD_GAUGE;
    const char *lime = links ? "ildg" : "scidac", *format = p->format ? p->format : lime;
    bool nersc = strcmp(format, "nersc") == 0;
    if (!links && p->kind != CUBC_FIELD_PROPAGATOR)
        FAIL(CUBC_INVALID_ARGUMENT, "kind is %d, expected a cubc_field_kind", (int)p->kind);
    if (!nersc && strcmp(format, lime) != 0)
        FAIL(CUBC_INVALID_ARGUMENT, "format is \"%s\", expected %s", format,
             links ? "\"ildg\" or \"nersc\"" : "\"scidac\"");
    if (nersc && !links) FAIL(CUBC_INVALID_ARGUMENT, "a NERSC file holds links only");
    if (p->rows && p->rows != 3 && !(nersc && p->rows == 2))
        FAIL(CUBC_INVALID_ARGUMENT, "rows is %d, must be 3, or 2 of a NERSC file", p->rows);
    *out = nersc ? nersc_write : ildg_write;
    return CUBC_OK;
}

static cubc_status write_file(const char *path, writer write, disk_field *f, const double *from)
{
    outfile file;
    TRY(outfile_begin(path, &file));
    cubc_status st = write(&file, f, from);
    if (!st) return outfile_commit(&file);
    outfile_discard(&file);
    return st;
}

cubc_status cubc_field_write(const char *path, const cubc_field_write_params *params)
{
    disk_field f = {0};
    writer write = NULL;
    if (!path || !params || !params->data)
        FAIL(CUBC_INVALID_ARGUMENT, "cubc_field_write: path, params or its data is NULL");
    TRY(choose_writer(params, &write));
    TRY(set_field(params, &f));
    cubc_status st = write_file(path, write, &f, params->data);
    if (st) error_prefix("%s: ", path);
    return st;
}
