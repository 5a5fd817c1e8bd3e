// Fields in LIME files: gauge configurations as ILDG has them (records ildg-format and
// ildg-binary-data), fields of SciDAC (scidac-private-record-xml and scidac-binary-data), and
// spinors of the European Twisted Mass Collaboration (etmc-propagator-format).
//
// A file may hold any number of fields. A field is described by the records before it and, in files
// of another order, by those behind the last field. They hold until others come.
#include "base/words.h"
#include "lattice/io/format.h"
#include "lattice/io/lime.h"
#include "lattice/io/scidac.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// ---- reading ------------------------------------------------------------------------------------
typedef struct description {
    scidac about;
    const char *format; // of extent and precision: "ildg" or "etmc"; NULL: there is none
    uint64_t extent[4];
    int precision;
    bool used; // a field has come: the next record begins another description
} description;

typedef struct data_record {
    lime_record record;
    description by;
    bool has_checksums;
    uint32_t checksums[2];
} data_record;

typedef struct contents {
    description now;
    data_record *data;
    size_t count, room;
    int records; // of all kinds
} contents;

static cubc_status lattice_format(const xml *x, const char *format, const char *field,
                                  description *out)
{
    static const char *const names[] = {"lx", "ly", "lz", "lt"};
    char kind[64];
    uint64_t precision;
    bool stated;
    TRY(xml_has(x, "field", &stated));
    if (stated) { // MILC leaves it out
        TRY(xml_text(x, "field", kind, sizeof kind));
        if (strcmp(kind, field) != 0)
            FAIL(CUBC_IO_ERROR, "%s: <field> is \"%s\", expected %s", x->what, kind, field);
    }
    TRY(xml_number(x, "precision", 10, 0, INT32_MAX, &precision));
    if (precision != 32 && precision != 64)
        FAIL(CUBC_IO_ERROR, "%s: <precision> is %" PRIu64 ", expected 32 or 64", x->what,
             precision);
    for (int k = 0; k < 4; k++) TRY(xml_number(x, names[k], 10, 1, INT32_MAX, &out->extent[k]));
    out->precision = (int)precision;
    out->format = format;
    return CUBC_OK;
}

static cubc_status ildg_format_record(const xml *x, description *out)
{
    return lattice_format(x, "ildg", "su3gauge", out);
}

static cubc_status etmc_format_record(const xml *x, description *out)
{
    return lattice_format(x, "etmc", "diracFermion", out);
}

static cubc_status file_record(const xml *x, description *out)
{
    return scidac_file(x, &out->about);
}

static cubc_status field_record(const xml *x, description *out)
{
    return scidac_record(x, &out->about);
}

static const struct {
    const char *type;
    cubc_status (*take)(const xml *x, description *out);
} documents[] = {
    {"ildg-format", ildg_format_record},         {"etmc-propagator-format", etmc_format_record},
    {"etmc-source-format", etmc_format_record},  {"scidac-private-file-xml", file_record},
    {"scidac-private-record-xml", field_record},
};

static cubc_status take_document(const xml *x, const char *type, contents *c)
{
    for (size_t k = 0; k < COUNT_OF(documents); k++) {
        if (strcmp(type, documents[k].type) != 0) continue;
        if (c->now.used) {
            c->now.format = NULL;
            c->now.about.has_record = c->now.used = false;
        }
        return documents[k].take(x, &c->now);
    }
    // scidac-checksum
    data_record *last = c->count ? &c->data[c->count - 1] : NULL;
    if (!last || last->has_checksums)
        FAIL(CUBC_IO_ERROR, "%s: there is no field before it whose checksums these could be",
             x->what);
    last->has_checksums = true;
    return scidac_checksum(x, last->checksums);
}

static cubc_status take_data(const lime_record *r, contents *c)
{
    data_record *data = mem_grow(c->data, c->count, &c->room, sizeof *data);
    if (!data) return CUBC_NO_MEMORY;
    c->data = data;
    c->data[c->count++] = (data_record){.record = *r, .by = c->now};
    c->now.used = true;
    return CUBC_OK;
}

static bool is_document(const char *type, bool strict)
{
    if (strcmp(type, "scidac-checksum") == 0) return strict;
    for (size_t k = 0; k < COUNT_OF(documents); k++)
        if (strcmp(type, documents[k].type) == 0) return true;
    return false;
}

static bool is_ildg(const lime_record *r)
{
    return strcmp(r->type, "ildg-binary-data") == 0;
}

static cubc_status take_record(const infile *file, const lime_record *r, bool strict, contents *c)
{
    if (is_ildg(r) || strcmp(r->type, "scidac-binary-data") == 0) return take_data(r, c);
    if (!is_document(r->type, strict)) return CUBC_OK;
    char *body;
    TRY(lime_text(file, r, &body));
    xml document = {body, (size_t)r->length, r->what};
    cubc_status st = take_document(&document, r->type, c);
    mem_free(body);
    return st;
}

static cubc_status read_contents(const infile *file, bool strict, contents *c)
{
    lime_record record = {0};
    for (bool more = true;;) {
        TRY(lime_next(file, strict, &record, &more));
        if (!more) break;
        TRY(take_record(file, &record, strict, c));
    }
    if (!c->count)
        FAIL(CUBC_IO_ERROR,
             "%d records, the last ending at byte %" PRIu64
             ", and none of type ildg-binary-data or scidac-binary-data",
             record.number, record.data + record.length);
    c->records = record.number;
    return CUBC_OK;
}

// Checks that ILDG and SciDAC agree where both describe a field.
static cubc_status check_agreement(const description *by, const disk_field *f)
{
    const scidac *s = &by->about;
    uint64_t site_bytes = s->item_bytes * s->items;
    if (s->has_record &&
        (s->precision != f->info.precision || site_bytes != disk_field_site_bytes(f)))
        FAIL(CUBC_IO_ERROR,
             "%s: scidac-private-record-xml has %" PRIu64 " bytes a site in %d bits, %s-format "
             "%zu in %d",
             f->what, site_bytes, s->precision, by->format, disk_field_site_bytes(f),
             f->info.precision);
    for (int k = 0; k < 4 && s->has_file; k++)
        if (s->extent[k] != (uint64_t)f->info.extent[k])
            FAIL(CUBC_IO_ERROR,
                 "%s: extent %d is %" PRIu64 " in scidac-private-file-xml and %d in %s-format",
                 f->what, k + 1, s->extent[k], f->info.extent[k], by->format);
    return CUBC_OK;
}

// Fills in the field: links of an ILDG record, a spinor of ETMC, or the field of a SciDAC record.
static cubc_status describe(const data_record *d, const description *by, disk_field *f)
{
    const char *expected = is_ildg(&d->record) ? "ildg" : "etmc";
    bool formatted = by->format && strcmp(by->format, expected) == 0;
    if (!formatted && (is_ildg(&d->record) || !by->about.has_file || !by->about.has_record))
        FAIL(CUBC_IO_ERROR, "%s: there is no record %s that says what is in it", d->record.what,
             is_ildg(&d->record)  ? "ildg-format"
             : by->about.has_file ? "scidac-private-record-xml"
                                  : "scidac-private-file-xml");
    *f = disk_field_new(formatted ? expected : "scidac",
                        is_ildg(&d->record) ? CUBC_FIELD_GAUGE : CUBC_FIELD_SPINOR);
    snprintf(f->what, sizeof f->what, "%s", d->record.what);
    f->checksums = CHECKSUM_SCIDAC;
    f->info.precision = by->precision;
    f->info.big_endian = 1;
    f->info.data_offset = d->record.data;
    f->info.data_bytes = d->record.length;
    f->info.has_checksum = d->has_checksums;
    memcpy(f->info.checksum, d->checksums, sizeof d->checksums);
    if (!formatted) TRY(scidac_kind(&by->about, f->what, f));
    TRY(disk_field_set_extent(f, formatted ? by->extent : by->about.extent));
    return formatted ? check_agreement(by, f) : CUBC_OK;
}

static bool probe(const infile *file, const unsigned char head[FORMAT_HEAD])
{
    (void)file;
    return words_load32(head, true) == LIME_MAGIC;
}

// Flags tell where most files are cut. Some programs set them at will, but write checksums behind
// all fields of a file or behind none.
static cubc_status check_end(const contents *c)
{
    const data_record *last = &c->data[c->count - 1];
    bool others = false;
    for (size_t k = 0; k + 1 < c->count; k++) others = others || c->data[k].has_checksums;
    if (others && !last->has_checksums && last->record.number == c->records)
        FAIL(CUBC_IO_ERROR,
             "%s: the file ends behind it, without the scidac-checksum that fields before it have: "
             "it is truncated",
             last->record.what);
    return CUBC_OK;
}

static cubc_status open_fields(const infile *file, int flags, disk_fields *out)
{
    contents c = {0};
    disk_field f;
    cubc_status st;
    const bool strict = !(flags & CUBC_FIELD_UNVERIFIED);
    GUARD(st, read_contents(file, strict, &c), done);
    for (size_t k = 0; k < c.count; k++) {
        const description *by = &c.data[k].by;
        bool before = by->format || by->about.has_record;
        GUARD(st, describe(&c.data[k], before ? by : &c.now, &f), done);
        GUARD(st, disk_fields_add(out, &f), done);
    }
    if (strict) st = check_end(&c);
done:
    mem_free(c.data);
    return st;
}

// ---- writing ------------------------------------------------------------------------------------
static void print_format(const disk_field *f, text *out)
{
    const int *e = f->info.extent;
    text_printf(out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
                "<ildgFormat xmlns=\"http://www.lqcd.org/ildg\" "
                "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
                "xsi:schemaLocation=\"http://www.lqcd.org/ildg filefmt.xsd\">"
                "<version>1.0</version><field>su3gauge</field><precision>%d</precision>"
                "<lx>%d</lx><ly>%d</ly><lz>%d</lz><lt>%d</lt></ildgFormat>",
                f->info.precision, e[0], e[1], e[2], e[3]);
}

// The words that a program is free to choose for file and record.
static void print_title(const disk_field *f, text *out)
{
    (void)f;
    text_puts(out, "<?xml version=\"1.0\"?><title>cubc " CUBC_VERSION "</title>");
}

typedef void (*printer)(const disk_field *f, text *out);

static cubc_status put_document(const outfile *file, uint64_t *at, const char *type, int flags,
                                const disk_field *f, printer print)
{
    text t = {0};
    print(f, &t);
    cubc_status st = text_done(&t);
    // With its NUL, as QIO has it.
    if (!st) st = lime_put(file, at, type, flags, t.data, t.length + 1, NULL);
    text_free(&t);
    return st;
}

static cubc_status write_field(const outfile *file, disk_field *f, const double *from, bool ildg)
{
    uint64_t at = 0;
    const char *data = ildg ? "ildg-binary-data" : "scidac-binary-data";
    f->checksums = CHECKSUM_SCIDAC;
    f->info.big_endian = 1;
    TRY(put_document(file, &at, "scidac-private-file-xml", LIME_BEGIN, f, scidac_print_file));
    TRY(put_document(file, &at, "scidac-file-xml", LIME_END, f, print_title));
    TRY(put_document(file, &at, "scidac-private-record-xml", LIME_BEGIN, f, scidac_print_record));
    TRY(put_document(file, &at, "scidac-record-xml", 0, f, print_title));
    if (ildg) TRY(put_document(file, &at, "ildg-format", 0, f, print_format));
    TRY(lime_put(file, &at, data, 0, NULL, f->info.data_bytes, &f->info.data_offset));
    TRY(disk_field_store(file, f, from));
    return put_document(file, &at, "scidac-checksum", LIME_END, f, scidac_print_checksum);
}

static cubc_status write_ildg(const outfile *file, disk_field *f, const double *from)
{
    return write_field(file, f, from, true);
}

static cubc_status write_scidac(const outfile *file, disk_field *f, const double *from)
{
    return write_field(file, f, from, false);
}

const field_format ildg_format = {
    .name = "ildg",
    .title = "LIME (ILDG, SciDAC)",
    .probe = probe,
    .open = open_fields,
    .write = write_ildg,
    .written = 1u << CUBC_FIELD_GAUGE,
};

// Read as ildg.
const field_format scidac_format = {
    .name = "scidac",
    .write = write_scidac,
    .written = (1u << CUBC_FIELD_KIND_COUNT) - 1,
};
