// The public calls on fields in files (cubc/fields.h): which format it is, and who reads or writes
// it.
#include "base/size.h"
#include "lattice/io/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FORMAT(name) extern const field_format name##_format;
#include "lattice/io/formats.def"
#undef FORMAT

#define FORMAT(name) &name##_format,
static const field_format *const formats[] = {
#include "lattice/io/formats.def"
};
#undef FORMAT

struct cubc_field_file {
    char *path;
    infile file;
    int flags;
    disk_fields fields;
};

// ---- reading ------------------------------------------------------------------------------------
// "LIME (ILDG, SciDAC), NERSC or MILC"
static void list_titles(text *out)
{
    const char *title = NULL;
    for (size_t k = 0; k < COUNT_OF(formats); k++) {
        if (!formats[k]->title) continue;
        if (title) text_printf(out, "%s%s", out->length ? ", " : "", title);
        title = formats[k]->title;
    }
    text_printf(out, " or %s", title);
}

static cubc_status unknown(const unsigned char *head)
{
    text titles = {0};
    list_titles(&titles);
    cubc_status st = text_done(&titles);
    if (!st)
        st = error_set(__FILE__, __LINE__, CUBC_IO_ERROR,
                       "the first bytes are %02x%02x%02x%02x, expected those of a file of %s",
                       head[0], head[1], head[2], head[3], titles.data);
    text_free(&titles);
    return st;
}

// The format of a file that begins so, with zeros where the file is shorter; NULL: of none.
static const field_format *format_of(const infile *file, const unsigned char head[FORMAT_HEAD])
{
    for (size_t k = 0; k < COUNT_OF(formats); k++)
        if (formats[k]->probe && formats[k]->probe(file, head)) return formats[k];
    return NULL;
}

static cubc_status read_head(const infile *file, size_t least, unsigned char head[FORMAT_HEAD])
{
    size_t size = file->size < FORMAT_HEAD ? (size_t)file->size : FORMAT_HEAD;
    memset(head, 0, FORMAT_HEAD);
    return infile_at(file, 0, head, size < least ? least : size, "the first bytes");
}

cubc_status cubc_field_known(const char *path, int *known)
{
    unsigned char head[FORMAT_HEAD];
    infile file;
    if (!path || !known) FAIL(CUBC_INVALID_ARGUMENT, "cubc_field_known: path or known is NULL");
    cubc_status st = infile_open(path, &file);
    if (!st) {
        st = read_head(&file, 0, head);
        *known = !st && format_of(&file, head);
        infile_close(&file);
    }
    if (st) error_prefix("%s: ", path);
    return st;
}

static cubc_status open_file(const char *path, cubc_field_file *out)
{
    unsigned char head[FORMAT_HEAD];
    out->path = mem_strdup(path);
    if (!out->path) return CUBC_NO_MEMORY;
    TRY(infile_open(path, &out->file));
    TRY(read_head(&out->file, 4, head));
    const field_format *format = format_of(&out->file, head);
    if (format) return format->open(&out->file, out->flags, &out->fields);
    return unknown(head);
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
    mem_free(file->fields.items);
    mem_free(file->path);
    mem_free(file);
}

size_t cubc_field_count(const cubc_field_file *file)
{
    return file ? file->fields.count : 0;
}

const cubc_field_info *cubc_field_describe(const cubc_field_file *file, size_t index)
{
    return index < cubc_field_count(file) ? &file->fields.items[index].info : NULL;
}

cubc_status cubc_field_read(const cubc_field_file *file, size_t index, void *out, size_t bytes)
{
    if (!file || !out) FAIL(CUBC_INVALID_ARGUMENT, "cubc_field_read: file or out is NULL");
    if (index >= file->fields.count)
        FAIL(CUBC_INVALID_ARGUMENT, "%s: field %zu of a file that holds %zu", file->path, index,
             file->fields.count);
    const disk_field *f = &file->fields.items[index];
    if (bytes != f->info.bytes)
        FAIL(CUBC_INVALID_ARGUMENT, "%s: room for %zu bytes, the field has %" PRIu64 " in memory",
             file->path, bytes, f->info.bytes);
    cubc_status st = disk_field_load(&file->file, f, file->flags, out);
    if (st) error_prefix("%s: ", file->path);
    return st;
}

// ---- reading over ranks -------------------------------------------------------------------------
cubc_status cubc_field_open_part(const char *path, int flags, const cubc_field_ranks *ranks,
                                 cubc_field_file **out)
{
    field_part part;
    cubc_field_file *file = NULL;
    if (!ranks) FAIL(CUBC_INVALID_ARGUMENT, "cubc_field_open_part: ranks is NULL");
    if (out) *out = NULL;
    cubc_status st = field_part_begin_steps(ranks, &part);
    if (!st) st = field_part_end(&part, cubc_field_open(path, flags, out ? &file : NULL));
    field_part_free(&part);
    if (st)
        cubc_field_close(file);
    else
        *out = file;
    return st;
}

static cubc_status read_part(const cubc_field_file *file, size_t index,
                             const cubc_field_ranks *ranks, field_part *part, void *out,
                             size_t bytes)
{
    if (!file || !out || index >= file->fields.count)
        FAIL(CUBC_INVALID_ARGUMENT,
             "cubc_field_read_part: file or out is NULL, or field %zu is "
             "not there",
             index);
    disk_field f = file->fields.items[index];
    field_part here;
    TRY(field_part_begin(ranks, f.info.extent, &here));
    field_part_free(part);
    *part = here;
    const uint64_t expected = f.info.bytes / f.info.sites * field_part_sites(part);
    if (bytes != expected)
        FAIL(CUBC_INVALID_ARGUMENT, "room for %zu bytes, the part has %" PRIu64 " in memory", bytes,
             expected);
    f.part = part;
    return disk_field_load(&file->file, &f, file->flags, out);
}

cubc_status cubc_field_read_part(const cubc_field_file *file, size_t index,
                                 const cubc_field_ranks *ranks, void *out, size_t bytes)
{
    field_part part;
    if (!ranks) FAIL(CUBC_INVALID_ARGUMENT, "cubc_field_read_part: ranks is NULL");
    cubc_status st = field_part_begin_steps(ranks, &part);
    if (st) return st;
    st = read_part(file, index, ranks, &part, out, bytes);
    st = field_part_end(&part, st);
    field_part_free(&part);
    if (st && file) error_prefix("%s: ", file->path);
    return st;
}

// All ranks have the same kind of field, in parts of one size and in one format.
static cubc_status agree(const disk_field *f, cubc_status mine, field_part *part)
{
    const cubc_field_info *i = &f->info;
    struct {
        int numbers[7];
        char format[sizeof i->format];
    } told = {{(int)i->kind, i->precision, i->rows, i->extent[0], i->extent[1], i->extent[2],
               i->extent[3]},
              ""};
    _Static_assert(sizeof told <= FIELD_PART_TOLD, "ranks tell each other all of it");
    memcpy(told.format, i->format, sizeof told.format);
    return field_part_agree(part, mine, &told, sizeof told, "part, format, kind or precision");
}

// ---- writing ------------------------------------------------------------------------------------
static cubc_status set_field(const cubc_field_write_params *p, const field_format *format,
                             disk_field *f)
{
    const uint64_t most = (uint64_t)1 << 48; // of up to 2304 bytes
    *f = disk_field_new(format->name, p->kind);
    f->info.precision = p->precision ? p->precision : format->single ? 32 : 64;
    f->info.rows = p->rows ? p->rows : 3;
    f->info.sites = 1;
    for (int k = 0; k < 4; k++) {
        const int ranks = p->ranks && p->ranks->grid[k] > 0 ? p->ranks->grid[k] : 1;
        if (p->extent[k] < 1 || p->extent[k] > INT32_MAX / ranks)
            FAIL(CUBC_INVALID_ARGUMENT, "extent %d is %d, must be positive", k + 1, p->extent[k]);
        f->info.extent[k] = p->extent[k] * ranks;
        if (!size_multiply(&f->info.sites, (uint64_t)f->info.extent[k])) f->info.sites = most;
    }
    if (f->info.sites >= most) FAIL(CUBC_INVALID_ARGUMENT, "a lattice of 2^48 sites or more");
    if (f->info.precision != 32 && f->info.precision != 64)
        FAIL(CUBC_INVALID_ARGUMENT, "precision is %d, must be 32 or 64", p->precision);
    if (format->single && f->info.precision != 32)
        FAIL(CUBC_INVALID_ARGUMENT, "files of format \"%s\" are of single precision", format->name);
    f->info.data_bytes = f->info.sites * disk_field_site_bytes(f);
    f->measured = p->measured != NULL;
    if (f->measured) {
        f->info.plaquette = p->measured[0];
        f->info.link_trace = p->measured[1];
    } else if (p->ranks && strcmp(format->name, "nersc") == 0) {
        FAIL(CUBC_INVALID_ARGUMENT, "a NERSC file of several ranks states what "
                                    "cubc_field_measure finds: give measured");
    }
    return CUBC_OK;
}

static bool writes(const field_format *format, cubc_field_kind kind)
{
    return format->write && format->written & 1u << kind;
}

static cubc_status not_written(const cubc_field_write_params *p)
{
    text names = {0};
    for (size_t k = 0; k < COUNT_OF(formats); k++)
        if (writes(formats[k], p->kind))
            text_printf(&names, "%s\"%s\"", names.length ? ", " : "", formats[k]->name);
    cubc_status st = text_done(&names);
    if (!st)
        st = error_set(__FILE__, __LINE__, CUBC_INVALID_ARGUMENT,
                       "format is \"%s\", expected for this kind of field (%s) one of %s",
                       p->format, cubc_field_kind_name(p->kind), names.data);
    text_free(&names);
    return st;
}

static cubc_status choose_format(const cubc_field_write_params *p, const field_format **out)
{
    *out = NULL;
    if (!cubc_field_kind_name(p->kind))
        FAIL(CUBC_INVALID_ARGUMENT, "kind is %d, expected a cubc_field_kind", (int)p->kind);
    for (size_t k = 0; k < COUNT_OF(formats) && !*out; k++)
        if (writes(formats[k], p->kind) && (!p->format || strcmp(p->format, formats[k]->name) == 0))
            *out = formats[k];
    if (!*out) return not_written(p);
    if (p->rows && p->rows != 3 && !((*out)->two_rows && p->rows == 2))
        FAIL(CUBC_INVALID_ARGUMENT, "rows is %d, must be 3, or 2 of a NERSC file", p->rows);
    return CUBC_OK;
}

static cubc_status write_file(const char *path, const field_format *format, disk_field *f,
                              const double *from)
{
    outfile file;
    TRY(outfile_begin(path, &file));
    cubc_status st = format->write(&file, f, from);
    if (!st) return outfile_commit(&file);
    outfile_discard(&file);
    return st;
}

// The first rank makes the file, the others open it.
static cubc_status begin_together(const char *path, field_part *part, outfile *file)
{
    char *all = mem_alloc((size_t)part->comm->size, FIELD_PART_TOLD), suffix[FIELD_PART_TOLD] = "";
    const bool first = part->comm->rank == 0;
    cubc_status st = all ? CUBC_OK : CUBC_NO_MEMORY;
    if (!st && first) st = outfile_begin(path, file);
    if (!st && first) snprintf(suffix, sizeof suffix, "%s", outfile_suffix(file));
    st = field_part_step(part, st, suffix, sizeof suffix, all);
    if (!st && !first) st = outfile_join(path, all, file);
    mem_free(all);
    return st;
}

// The file is renamed when all ranks have written their parts, and is complete for all or for none.
static cubc_status write_together(const char *path, const field_format *format, disk_field *f,
                                  const double *from)
{
    outfile file = {.descriptor = -1};
    const bool first = f->part->comm->rank == 0;
    cubc_status st = begin_together(path, f->part, &file);
    if (!st) st = format->write(&file, f, from);
    if (!st && !first) st = outfile_leave(&file);
    st = field_part_end(f->part, st);
    if (st) {
        outfile_discard(&file);
        return st;
    }
    if (first) st = outfile_commit(&file);
    return field_part_end(f->part, st);
}

static cubc_status describe_field(const char *path, const cubc_field_write_params *params,
                                  const field_format **format, disk_field *f)
{
    if (!path || !params->data)
        FAIL(CUBC_INVALID_ARGUMENT, "cubc_field_write: path or data is NULL");
    TRY(choose_format(params, format));
    return set_field(params, *format, f);
}

static cubc_status write_part(const char *path, const cubc_field_write_params *params)
{
    field_part steps, part;
    disk_field f = {0};
    const field_format *format = NULL;
    TRY(field_part_begin_steps(params->ranks, &steps));
    cubc_status st = agree(&f, describe_field(path, params, &format, &f), &steps);
    field_part_free(&steps);
    if (st) return st;
    TRY(field_part_begin(params->ranks, f.info.extent, &part));
    f.part = &part;
    st = write_together(path, format, &f, params->data);
    field_part_free(&part);
    return st;
}

cubc_status cubc_field_write(const char *path, const cubc_field_write_params *params)
{
    disk_field f;
    const field_format *format;
    cubc_status st;
    if (!params) FAIL(CUBC_INVALID_ARGUMENT, "cubc_field_write: params is NULL");
    if (params->ranks) {
        st = write_part(path, params);
    } else {
        TRY(describe_field(path, params, &format, &f));
        st = write_file(path, format, &f, params->data);
    }
    if (st && path) error_prefix("%s: ", path);
    return st;
}
