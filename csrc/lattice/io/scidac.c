// SciDAC's records: see scidac.h.
#include "lattice/io/scidac.h"

#include <inttypes.h>
#include <string.h>

#define DECLARATION "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"

// ---- reading ------------------------------------------------------------------------------------
static cubc_status whole_file_only(const xml *x)
{
    uint64_t format = 0;
    bool stated;
    TRY(xml_has(x, "volfmt", &stated));
    if (stated) TRY(xml_number(x, "volfmt", 10, 0, INT32_MAX, &format));
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
    uint64_t dimensions, extent[4];
    const char *at = dims;
    bool whole = false;
    TRY(xml_number(x, "spacetime", 10, 0, INT32_MAX, &dimensions));
    TRY(xml_text(x, "dims", dims, sizeof dims));
    TRY(whole_file_only(x));
    for (int k = 0; k < 4; k++) {
        at += strspn(at, " \t\r\n");
        if (!xml_digits(&at, 10, INT32_MAX, &extent[k]) || !extent[k]) break;
        if (k == 3 && !*at && dimensions == 4) whole = true;
    }
    if (!whole)
        FAIL(CUBC_IO_ERROR,
             "%s: <dims> is \"%s\" of %" PRIu64 " dimensions, expected four numbers from 1 on",
             x->what, dims, dimensions);
    memcpy(out->extent, extent, sizeof extent);
    out->has_file = true;
    return CUBC_OK;
}

cubc_status scidac_record(const xml *x, scidac *out)
{
    char precision[32];
    const char *type = "recordtype";
    uint64_t kind = 0, size, count;
    bool stated;
    TRY(xml_has(x, type, &stated));
    if (!stated) type = "globaldata"; // of QIO's first version
    TRY(xml_has(x, type, &stated));
    if (stated) TRY(xml_number(x, type, 10, 0, INT32_MAX, &kind));
    TRY(xml_text(x, "precision", precision, sizeof precision));
    TRY(xml_number(x, "typesize", 10, 1, INT32_MAX, &size));
    TRY(xml_number(x, "datacount", 10, 1, INT32_MAX, &count));
    if (kind != 0)
        FAIL(CUBC_IO_ERROR, "%s: <%s> is %" PRIu64 ", expected 0, a whole field", x->what, type,
             kind);
    if (strcmp(precision, "F") != 0 && strcmp(precision, "D") != 0)
        FAIL(CUBC_IO_ERROR, "%s: <precision> is \"%s\", expected F or D", x->what, precision);
    out->has_record = true;
    out->precision = precision[0] == 'F' ? 32 : 64;
    out->item_bytes = size;
    out->items = count;
    return CUBC_OK;
}

cubc_status scidac_checksum(const xml *x, uint32_t checksums[2])
{
    uint64_t a, b;
    TRY(xml_number(x, "suma", 16, 0, UINT32_MAX, &a));
    TRY(xml_number(x, "sumb", 16, 0, UINT32_MAX, &b));
    checksums[0] = (uint32_t)a;
    checksums[1] = (uint32_t)b;
    return CUBC_OK;
}

// Items of a site, as QDP types go; some programs call all that a site has one item.
cubc_status scidac_kind(const scidac *s, const char *what, disk_field *out)
{
    uint64_t real_bytes = (uint64_t)s->precision / 8;
    bool vectors = s->items == 3 && s->item_bytes == real_bytes * 6;
    out->info.precision = s->precision;
    for (int kind = 0; kind < CUBC_FIELD_KIND_COUNT; kind++) {
        uint64_t bytes = real_bytes * (uint64_t)disk_field_reals((cubc_field_kind)kind);
        bool links = kind == CUBC_FIELD_GAUGE && s->items == 4;
        if (s->item_bytes * s->items != bytes || !(s->items == 1 || links || vectors)) continue;
        out->info.kind = (cubc_field_kind)kind;
        out->place = vectors ? disk_place_vectors : NULL;
        return CUBC_OK;
    }
    FAIL(CUBC_IO_ERROR,
         "%s: %" PRIu64 " items a site of %" PRIu64
         " bytes in %d bits are no links, propagator, spinor, colour vector or complex number",
         what, s->items, s->item_bytes, s->precision);
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
    static const struct {
        const char *type; // behind QDP_F3_ or QDP_D3_
        int spins, items;
    } types[CUBC_FIELD_KIND_COUNT] = {
        [CUBC_FIELD_GAUGE] = {"ColorMatrix", 1, 4},
        [CUBC_FIELD_PROPAGATOR] = {"DiracPropagator", 4, 1},
        [CUBC_FIELD_SPINOR] = {"DiracFermion", 4, 1},
        [CUBC_FIELD_STAGGERED_PROPAGATOR] = {"ColorMatrix", 1, 1},
        [CUBC_FIELD_COLOUR_VECTOR] = {"ColorVector", 1, 1},
        [CUBC_FIELD_COMPLEX] = {"Complex", 1, 1},
    };
    cubc_field_kind kind = f->info.kind;
    char precision = f->info.precision == 32 ? 'F' : 'D';
    text_printf(out,
                DECLARATION "<scidacRecord><version>1.1</version><recordtype>0</recordtype>"
                            "<datatype>QDP_%c%s_%s</datatype><precision>%c</precision>",
                precision, kind == CUBC_FIELD_COMPLEX ? "" : "3", types[kind].type, precision);
    if (kind != CUBC_FIELD_COMPLEX)
        text_printf(out, "<colors>3</colors><spins>%d</spins>", types[kind].spins);
    text_printf(out, "<typesize>%zu</typesize><datacount>%d</datacount></scidacRecord>",
                disk_field_site_bytes(f) / (size_t)types[kind].items, types[kind].items);
}

void scidac_print_checksum(const disk_field *f, text *out)
{
    text_printf(out,
                DECLARATION "<scidacChecksum><version>1.0</version><suma>%" PRIx32
                            "</suma><sumb>%" PRIx32 "</sumb></scidacChecksum>",
                f->info.checksum[0], f->info.checksum[1]);
}
