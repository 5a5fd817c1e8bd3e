// ILDG and SciDAC fields in LIME: see ildg.h.
#include "ildg.h"

#include "lime.h"
#include "links.h"
#include "scidac.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// ---- reading ------------------------------------------------------------------------------------
typedef struct contents { // of the records that matter
    scidac about;
    bool has_format;
    uint64_t extent[4]; // of ildg-format
    int precision;
    lime_record data; // the only record of numbers
} contents;

static cubc_status ildg_format(const xml *x, contents *out)
{
    static const char *const names[] = {"lx", "ly", "lz", "lt"};
    char kind[64];
    uint64_t precision;
    TRY(xml_text(x, "field", kind, sizeof kind));
    if (strcmp(kind, "su3gauge") != 0)
        FAIL(CUBC_IO_ERROR, "%s: <field> is \"%s\", expected su3gauge", x->what, kind);
    TRY(xml_number(x, "precision", 10, 0, INT32_MAX, &precision));
    if (precision != 32 && precision != 64)
        FAIL(CUBC_IO_ERROR, "%s: <precision> is %" PRIu64 ", expected 32 or 64", x->what,
             precision);
    for (int k = 0; k < 4; k++) TRY(xml_number(x, names[k], 10, 1, INT32_MAX, &out->extent[k]));
    out->precision = (int)precision;
    out->has_format = true;
    return CUBC_OK;
}

static cubc_status parse(const xml *x, const char *type, contents *c)
{
    if (strcmp(type, "ildg-format") == 0) return ildg_format(x, c);
    if (strcmp(type, "scidac-checksum") == 0) return scidac_checksum(x, &c->about);
    if (strcmp(type, "scidac-private-file-xml") == 0) return scidac_file(x, &c->about);
    return scidac_record(x, &c->about);
}

static bool is_document(const char *type)
{
    return strcmp(type, "ildg-format") == 0 || strcmp(type, "scidac-checksum") == 0 ||
           strcmp(type, "scidac-private-file-xml") == 0 ||
           strcmp(type, "scidac-private-record-xml") == 0;
}

static bool is_data(const char *type)
{
    return strcmp(type, "ildg-binary-data") == 0 || strcmp(type, "scidac-binary-data") == 0;
}

static cubc_status take_record(const infile *file, const lime_record *r, contents *c)
{
    if (is_data(r->type) && c->data.number)
        FAIL(CUBC_IO_ERROR, "%s: a second field, after %s; only files of one field are read",
             r->what, c->data.what);
    if (is_data(r->type)) c->data = *r;
    if (!is_document(r->type)) return CUBC_OK;
    char *body;
    TRY(lime_text(file, r, &body));
    xml document = {body, (size_t)r->length, r->what};
    cubc_status st = parse(&document, r->type, c);
    mem_free(body);
    return st;
}

static cubc_status read_contents(const infile *file, bool strict, contents *c)
{
    lime_record record = {0};
    for (bool more = true;;) {
        TRY(lime_next(file, strict, &record, &more));
        if (!more) break;
        TRY(take_record(file, &record, c));
    }
    if (!c->data.number)
        FAIL(CUBC_IO_ERROR,
             "%d records, the last ending at byte %" PRIu64
             ", and none of type ildg-binary-data or scidac-binary-data",
             record.number, record.data + record.length);
    return CUBC_OK;
}

// A propagator has an item of 4 x 4 x 3 x 3 complex numbers a site, a gauge field 4 of 3 x 3.
static cubc_status set_kind(const contents *c, disk_field *f)
{
    bool ildg = strcmp(c->data.type, "ildg-binary-data") == 0;
    if (ildg ? !c->has_format : !c->about.has_file || !c->about.has_record)
        FAIL(CUBC_IO_ERROR, "%s: there is no record %s that says what is in it", c->data.what,
             ildg                ? "ildg-format"
             : c->about.has_file ? "scidac-private-record-xml"
                                 : "scidac-private-file-xml");
    f->info.precision = ildg ? c->precision : c->about.precision;
    f->info.kind = CUBC_FIELD_GAUGE;
    if (ildg || c->about.site_bytes == disk_field_site_bytes(f)) return CUBC_OK;
    f->info.kind = CUBC_FIELD_PROPAGATOR;
    if (c->about.site_bytes == disk_field_site_bytes(f)) return CUBC_OK;
    FAIL(CUBC_IO_ERROR,
         "%s: %" PRIu64 " bytes a site in %d bits are neither four links nor a propagator",
         c->data.what, c->about.site_bytes, f->info.precision);
}

// Where ILDG and SciDAC both say something, they must agree.
static cubc_status check_agreement(const contents *c, const disk_field *f)
{
    const scidac *s = &c->about;
    if (s->has_record &&
        (s->precision != f->info.precision || s->site_bytes != disk_field_site_bytes(f)))
        FAIL(CUBC_IO_ERROR,
             "%s: scidac-private-record-xml has %" PRIu64 " bytes a site in %d bits, ildg-format "
             "%zu in %d",
             c->data.what, s->site_bytes, s->precision, disk_field_site_bytes(f),
             f->info.precision);
    for (int k = 0; k < 4 && s->has_file; k++)
        if (s->extent[k] != (uint64_t)f->info.extent[k])
            FAIL(CUBC_IO_ERROR,
                 "%s: extent %d is %" PRIu64 " in scidac-private-file-xml and %d in ildg-format",
                 c->data.what, k + 1, s->extent[k], f->info.extent[k]);
    return CUBC_OK;
}

cubc_status ildg_open(const infile *file, int flags, disk_field *out)
{
    contents c = {0};
    bool strict = !(flags & CUBC_FIELD_UNVERIFIED);
    TRY(read_contents(file, strict, &c));
    snprintf(out->what, sizeof out->what, "%s", c.data.what);
    out->sums = SUMS_SCIDAC;
    out->info.rows = 3;
    out->info.big_endian = 1;
    out->info.data_offset = c.data.data;
    out->info.data_bytes = c.data.length;
    TRY(set_kind(&c, out));
    TRY(disk_field_set_extent(out, c.has_format ? c.extent : c.about.extent));
    snprintf(out->info.format, sizeof out->info.format, "%s",
             strcmp(c.data.type, "ildg-binary-data") == 0 ? "ildg" : "scidac");
    out->info.has_checksum = c.about.has_sums;
    memcpy(out->info.checksum, c.about.sums, sizeof c.about.sums);
    return strict ? check_agreement(&c, out) : CUBC_OK;
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

// What a program may say in free words about file and record.
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

cubc_status ildg_write(const outfile *file, disk_field *f, const double *from)
{
    uint64_t at = 0;
    bool links = f->info.kind == CUBC_FIELD_GAUGE;
    const char *data = links ? "ildg-binary-data" : "scidac-binary-data";
    f->sums = SUMS_SCIDAC;
    f->info.big_endian = 1;
    TRY(put_document(file, &at, "scidac-private-file-xml", LIME_BEGIN, f, scidac_print_file));
    TRY(put_document(file, &at, "scidac-file-xml", LIME_END, f, print_title));
    TRY(put_document(file, &at, "scidac-private-record-xml", LIME_BEGIN, f, scidac_print_record));
    TRY(put_document(file, &at, "scidac-record-xml", 0, f, print_title));
    if (links) TRY(put_document(file, &at, "ildg-format", 0, f, print_format));
    TRY(lime_put(file, &at, data, 0, NULL, f->info.data_bytes, &f->info.data_offset));
    TRY(disk_field_store(file, f, from));
    return put_document(file, &at, "scidac-checksum", LIME_END, f, scidac_print_checksum);
}
