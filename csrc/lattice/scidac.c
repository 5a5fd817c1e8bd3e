// SciDAC's records: see scidac.h.
#include "scidac.h"

#include <inttypes.h>
#include <string.h>

#define DECLARATION "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"

// ---- reading ------------------------------------------------------------------------------------
static cubc_status whole_file_only(const xml *x)
{
    uint64_t format = 0;
    if (xml_has(x, "volfmt")) TRY(xml_number(x, "volfmt", 10, 0, INT32_MAX, &format));
    if (format != 0)
        FAIL(CUBC_IO_ERROR,
             "%s: the field is spread over several files (volfmt %" PRIu64 "); join them to one "
             "(SINGLEFILE) with QIO's tools",
             x->what, format);
    return CUBC_OK;
}

cubc_status scidac_file(const xml *x, scidac *out)
{
    char dims[128];
    uint64_t dimensions;
    const char *at = dims;
    TRY(xml_number(x, "spacetime", 10, 0, INT32_MAX, &dimensions));
    TRY(xml_text(x, "dims", dims, sizeof dims));
    TRY(whole_file_only(x));
    for (int k = 0; k < 4; k++) {
        at += strspn(at, " \t\r\n");
        if (!xml_digits(&at, 10, INT32_MAX, &out->extent[k]) || !out->extent[k]) break;
        if (k == 3 && !*at && dimensions == 4) out->has_file = true;
    }
    if (!out->has_file)
        FAIL(CUBC_IO_ERROR,
             "%s: <dims> is \"%s\" of %" PRIu64 " dimensions, expected four numbers from 1 on",
             x->what, dims, dimensions);
    return CUBC_OK;
}

cubc_status scidac_record(const xml *x, scidac *out)
{
    char precision[32];
    uint64_t kind = 0, size, count;
    if (xml_has(x, "recordtype")) TRY(xml_number(x, "recordtype", 10, 0, INT32_MAX, &kind));
    TRY(xml_text(x, "precision", precision, sizeof precision));
    TRY(xml_number(x, "typesize", 10, 1, INT32_MAX, &size));
    TRY(xml_number(x, "datacount", 10, 1, INT32_MAX, &count));
    if (kind != 0)
        FAIL(CUBC_IO_ERROR, "%s: <recordtype> is %" PRIu64 ", expected 0, a whole field", x->what,
             kind);
    if (strcmp(precision, "F") != 0 && strcmp(precision, "D") != 0)
        FAIL(CUBC_IO_ERROR, "%s: <precision> is \"%s\", expected F or D", x->what, precision);
    out->has_record = true;
    out->precision = precision[0] == 'F' ? 32 : 64;
    out->site_bytes = size * count;
    return CUBC_OK;
}

cubc_status scidac_checksum(const xml *x, scidac *out)
{
    uint64_t a, b;
    TRY(xml_number(x, "suma", 16, 0, UINT32_MAX, &a));
    TRY(xml_number(x, "sumb", 16, 0, UINT32_MAX, &b));
    out->has_sums = true;
    out->sums[0] = (uint32_t)a;
    out->sums[1] = (uint32_t)b;
    return CUBC_OK;
}

// ---- writing ------------------------------------------------------------------------------------
void scidac_print_file(const disk_field *f, text *out)
{
    const int *e = f->info.extent;
    text_printf(out,
                DECLARATION "<scidacFile><version>1.1</version><spacetime>4</spacetime>"
                            "<dims>%d %d %d %d </dims><volfmt>0</volfmt></scidacFile>",
                e[0], e[1], e[2], e[3]);
}

// No date, which QIO can do without: the same field makes the same file.
void scidac_print_record(const disk_field *f, text *out)
{
    bool links = f->info.kind == CUBC_FIELD_GAUGE;
    char precision = f->info.precision == 32 ? 'F' : 'D';
    int count = links ? 4 : 1;
    text_printf(out,
                DECLARATION "<scidacRecord><version>1.1</version><recordtype>0</recordtype>"
                            "<datatype>QDP_%c3_%s</datatype><precision>%c</precision>"
                            "<colors>3</colors><spins>%d</spins><typesize>%zu</typesize>"
                            "<datacount>%d</datacount></scidacRecord>",
                precision, links ? "ColorMatrix" : "DiracPropagator", precision, links ? 1 : 4,
                disk_field_site_bytes(f) / (size_t)count, count);
}

void scidac_print_checksum(const disk_field *f, text *out)
{
    text_printf(out,
                DECLARATION "<scidacChecksum><version>1.0</version><suma>%" PRIx32
                            "</suma><sumb>%" PRIx32 "</sumb></scidacChecksum>",
                f->info.checksum[0], f->info.checksum[1]);
}
