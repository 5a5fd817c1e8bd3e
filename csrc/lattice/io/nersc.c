// The NERSC format: a header of lines of text with a checksum, plaquette and link trace, and behind
// it the links of three rows or two.
#define _POSIX_C_SOURCE 200809L // uselocale
#include "lattice/io/format.h"

#include "lattice/io/links.h"
#include "lattice/io/xml.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_HEADER = 1 << 14 };
static const char begin_line[] = "BEGIN_HEADER\n", end_line[] = "END_HEADER\n";

// ---- the header's lines -------------------------------------------------------------------------
// The value of a key, without the blanks around it; "" if no line has it. Twice is an error.
static cubc_status value_of(const char *header, const char *key, char *out, size_t size)
{
    size_t key_length = strlen(key);
    bool found = false;
    out[0] = '\0';
    for (const char *line = header; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *at = line + strspn(line, " \t"), *end = line + strcspn(line, "\r\n");
        if (strncmp(at, key, key_length) != 0) continue;
        at += key_length;
        at += strspn(at, " \t");
        if (*at != '=') continue; // a longer key
        at += 1 + strspn(at + 1, " \t");
        while (end > at && (end[-1] == ' ' || end[-1] == '\t')) end--;
        if (found || at > end || (size_t)(end - at) >= size)
            FAIL(CUBC_IO_ERROR, "header at byte %zu: the value of %s is %s",
                 (size_t)(line - header), key, found ? "given twice" : "no short word");
        memcpy(out, at, (size_t)(end - at));
        out[end - at] = '\0';
        found = true;
    }
    return CUBC_OK;
}

static cubc_status number_of(const char *header, const char *key, int base, uint64_t least,
                             uint64_t most, uint64_t *out)
{
    char word[64];
    const char *at = word;
    TRY(value_of(header, key, word, sizeof word));
    if (!xml_digits(&at, base, most, out) || *at || *out < least)
        FAIL(CUBC_IO_ERROR,
             "header at byte 0: %s is \"%s\", expected a whole number from %" PRIu64 " to %" PRIu64,
             key, word, least, most);
    return CUBC_OK;
}

// Sets the decimal point in this thread, since a program may have chosen a locale with a comma.
// numbers_as_before restores the locale.
typedef struct numbers {
    locale_t plain, before;
} numbers;

static numbers numbers_plain(void)
{
    numbers n = {.plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0)};
    n.before = uselocale(n.plain);
    return n;
}

static void numbers_as_before(numbers n)
{
    uselocale(n.before);
    if (n.plain) freelocale(n.plain);
}

// Sets *out to NaN if the header has no such key.
static cubc_status real_of(const char *header, const char *key, double *out)
{
    char word[64], *end;
    TRY(value_of(header, key, word, sizeof word));
    *out = NAN;
    if (!word[0]) return CUBC_OK;
    numbers n = numbers_plain();
    *out = strtod(word, &end);
    numbers_as_before(n);
    if (*end || !isfinite(*out))
        FAIL(CUBC_IO_ERROR, "header at byte 0: %s is \"%s\", expected a number", key, word);
    return CUBC_OK;
}

// ---- reading ------------------------------------------------------------------------------------
// IEEE32BIG, IEEE32LITTLE, ...; a header with neither was written by a little-endian machine.
static cubc_status set_words(const char *header, disk_field *f)
{
    char word[64];
    TRY(value_of(header, "FLOATING_POINT", word, sizeof word));
    bool known = strncasecmp(word, "IEEE32", 6) == 0 || strncasecmp(word, "IEEE64", 6) == 0;
    const char *order = word + (known ? 6 : 0);
    f->info.precision = known && word[4] == '3' ? 32 : 64;
    f->info.big_endian = strcasecmp(order, "BIG") == 0;
    if (!known || !(f->info.big_endian || !*order || strcasecmp(order, "LITTLE") == 0))
        FAIL(CUBC_IO_ERROR,
             "header at byte 0: FLOATING_POINT is \"%s\", expected IEEE32 or IEEE64 with BIG or "
             "LITTLE behind it",
             word);
    return CUBC_OK;
}

static cubc_status set_rows(const char *header, disk_field *f)
{
    char word[64];
    TRY(value_of(header, "DATATYPE", word, sizeof word));
    f->info.rows = strcasecmp(word, "4D_SU3_GAUGE_3x3") == 0 ? 3
                   : strcasecmp(word, "4D_SU3_GAUGE") == 0   ? 2
                                                             : 0;
    if (!f->info.rows)
        FAIL(CUBC_IO_ERROR,
             "header at byte 0: DATATYPE is \"%s\", expected 4D_SU3_GAUGE_3x3 or 4D_SU3_GAUGE",
             word);
    return CUBC_OK;
}

static cubc_status set_checks(const char *header, disk_field *f)
{
    uint64_t sum;
    TRY(number_of(header, "CHECKSUM", 16, 0, UINT32_MAX, &sum));
    TRY(real_of(header, "PLAQUETTE", &f->info.plaquette));
    TRY(real_of(header, "LINK_TRACE", &f->info.link_trace));
    f->info.has_checksum = 1;
    f->info.checksum[0] = (uint32_t)sum;
    return CUBC_OK;
}

static cubc_status parse(const char *header, int flags, disk_field *f)
{
    uint64_t extent[4];
    for (int k = 0; k < 4; k++) {
        char key[32];
        snprintf(key, sizeof key, "DIMENSION_%d", k + 1);
        TRY(number_of(header, key, 10, 1, INT32_MAX, &extent[k]));
    }
    TRY(set_rows(header, f));
    TRY(set_words(header, f));
    if (!(flags & CUBC_FIELD_UNVERIFIED)) TRY(set_checks(header, f));
    return disk_field_set_extent(f, extent);
}

// The header's text, cut behind its last line; *length is that of all of it.
static cubc_status read_header(const infile *file, char *header, size_t *length)
{
    size_t most = file->size < MOST_HEADER ? (size_t)file->size : MOST_HEADER;
    TRY(infile_at(file, 0, header, most, "header"));
    header[most] = '\0';
    char *end = strstr(header, end_line);
    if (strncmp(header, begin_line, strlen(begin_line)) != 0)
        FAIL(CUBC_IO_ERROR, "header at byte 0: its first line is not BEGIN_HEADER");
    if (!end || end[-1] != '\n')
        FAIL(CUBC_IO_ERROR, "header at byte 0: no line END_HEADER in the first %zu bytes", most);
    *length = (size_t)(end - header) + strlen(end_line);
    *end = '\0';
    return CUBC_OK;
}

static bool probe(const infile *file, const unsigned char head[FORMAT_HEAD])
{
    (void)file;
    return memcmp(head, begin_line, strlen("BEGIN_HEADER")) == 0;
}

static cubc_status open_fields(const infile *file, int flags, disk_fields *out)
{
    char header[MOST_HEADER + 1];
    size_t length = 0;
    disk_field f = disk_field_new("nersc", CUBC_FIELD_GAUGE);
    TRY(read_header(file, header, &length));
    f.checksums = CHECKSUM_NERSC;
    f.info.data_offset = length;
    f.info.data_bytes = file->size - length;
    snprintf(f.what, sizeof f.what, "data at byte %zu", length);
    TRY(parse(header, flags, &f));
    return disk_fields_add(out, &f);
}

// ---- writing ------------------------------------------------------------------------------------
// The length does not depend on the numbers, so that the header can be written after the data.
static void print_header(const disk_field *f, text *out)
{
    const cubc_field_info *i = &f->info;
    numbers n = numbers_plain();
    text_printf(out, "%sHDR_VERSION = 1.0\nDATATYPE = %s\nSTORAGE_FORMAT = 1.0\n", begin_line,
                i->rows == 3 ? "4D_SU3_GAUGE_3x3" : "4D_SU3_GAUGE");
    for (int k = 0; k < 4; k++) text_printf(out, "DIMENSION_%d = %d\n", k + 1, i->extent[k]);
    text_printf(out, "CHECKSUM = %08" PRIx32 "\nLINK_TRACE = %+.15e\nPLAQUETTE = %+.15e\n",
                i->checksum[0], i->link_trace, i->plaquette);
    for (int k = 0; k < 4; k++) text_printf(out, "BOUNDARY_%d = PERIODIC\n", k + 1);
    text_printf(out, "ENSEMBLE_ID = none\nENSEMBLE_LABEL = none\nSEQUENCE_NUMBER = 0\n");
    text_printf(out, "CREATOR = cubc " CUBC_VERSION "\nFLOATING_POINT = IEEE%dBIG\n%s",
                i->precision, end_line);
    numbers_as_before(n);
}

static cubc_status write_field(const outfile *file, disk_field *f, const double *from)
{
    text header = {0};
    f->checksums = CHECKSUM_NERSC;
    f->info.big_endian = 1;
    if (!f->measured)
        TRY(links_measure(from, f->info.extent, &f->info.plaquette, &f->info.link_trace));
    print_header(f, &header);
    f->info.data_offset = header.length;
    cubc_status st;
    GUARD(st, text_done(&header), done);
    GUARD(st, disk_field_store(file, f, from), done);
    header.length = 0;
    print_header(f, &header);
    GUARD(st, text_done(&header), done);
    st = outfile_once(file, 0, header.data, header.length);
done:
    text_free(&header);
    return st;
}

const field_format nersc_format = {
    .name = "nersc",
    .title = "NERSC",
    .probe = probe,
    .open = open_fields,
    .write = write_field,
    .written = 1u << CUBC_FIELD_GAUGE,
    .two_rows = true,
};
