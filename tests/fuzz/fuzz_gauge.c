// Fields in files: the input is a file's bytes, and whatever they are,
// reading them ends, with the field or with an error that has a text, and leaves nothing behind.
//
// Sanitizers see accesses, leaks, overflow and (max_allocation_size_mb) greed; what is checked here
// is that a field never takes more memory than three times its file, which two rows in single
// precision do, that verified numbers are finite, and that errors say where.
#define _XOPEN_SOURCE 700 // mkstemp
#include "base/base.h"
#include "cubc/fields.h"
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[256];
static int file = -1;

static void remove_file(void)
{
    unlink(path);
}

static void put(const uint8_t *data, size_t size)
{
    const char *folder = getenv("TMPDIR");
    if (file < 0) {
        text name = {0};
        text_printf(&name, "%s/cubc-fuzz-XXXXXX", folder ? folder : "/tmp");
        must(text_done(&name) == CUBC_OK && name.length < sizeof path);
        memcpy(path, name.data, name.length + 1);
        text_free(&name);
        file = mkstemp(path);
        must(file >= 0 && atexit(remove_file) == 0);
    }
    must(pwrite(file, data, size, 0) == (ssize_t)size && ftruncate(file, (off_t)size) == 0);
}

static void must_be_an_error(cubc_status st)
{
    const char *message = cubc_error_message();
    must(st == CUBC_IO_ERROR && strncmp(message, path, strlen(path)) == 0);
    must(strstr(message, " at byte ") || strstr(message, "first bytes"));
}

static void read_it(cubc_field_file *field, size_t index, size_t size, int flags)
{
    const cubc_field_info *info = cubc_field_describe(field, index);
    uint64_t shape[8], numbers_n = 1;
    must(info->bytes <= 3 * (uint64_t)size && info->sites > 0);
    for (int k = cubc_field_shape(info->kind, info->extent, shape); k > 0; k--)
        numbers_n *= shape[k - 1];
    must(info->bytes == numbers_n * 16);
    double *numbers = mem_alloc((size_t)info->bytes, 1);
    must(numbers != NULL);
    cubc_status st = cubc_field_read(field, index, numbers, (size_t)info->bytes);
    if (st)
        must_be_an_error(st);
    else
        for (size_t k = 0; !(flags & CUBC_FIELD_UNVERIFIED) && k < info->bytes / 8; k++)
            must(isfinite(numbers[k]));
    mem_free(numbers);
}

// The other rank answers as this one does.
static int gather_twice(void *context, const void *mine, void *all, size_t bytes)
{
    (void)context;
    memcpy(all, mine, bytes);
    memcpy((char *)all + bytes, mine, bytes);
    return 0;
}

// One of two ranks reads its half of the time slices.
static void read_half(cubc_field_file *field, size_t index, int rank, int flags)
{
    const cubc_field_info *info = cubc_field_describe(field, index);
    const cubc_comm comm = {.rank = rank, .size = 2, .all_gather = gather_twice};
    const cubc_field_ranks ranks = {&comm, {1, 1, 1, 2}};
    const size_t bytes = (size_t)info->bytes / 2;
    double *numbers = mem_alloc(bytes, 1);
    must(numbers != NULL);
    cubc_status st = cubc_field_read_part(field, index, &ranks, numbers, bytes);
    if (info->extent[3] % 2)
        must(st == CUBC_INVALID_ARGUMENT);
    else if (st)
        must_be_an_error(st);
    else
        for (size_t k = 0; !(flags & CUBC_FIELD_UNVERIFIED) && k < bytes / 8; k++)
            must(isfinite(numbers[k]));
    mem_free(numbers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    long before = mem_outstanding();
    int all[] = {0, 1 + (int)(size % 3)};
    put(data, size);
    for (int k = 0; k < 2; k++) {
        cubc_field_file *field = NULL;
        cubc_status st = cubc_field_open(path, all[k], &field);
        if (st) must_be_an_error(st);
        for (size_t index = 0; index < cubc_field_count(field); index++) {
            read_it(field, index, size, all[k]);
            read_half(field, index, (int)(size % 2), all[k]);
        }
        must(st || cubc_field_count(field) > 0);
        cubc_field_close(field);
    }
    must(mem_outstanding() == before);
    return 0;
}

// ---- where it begins ----------------------------------------------------------------------------
enum { SITES = 16, REALS = SITES * 288 };
static double field[REALS];

static void must_succeed(cubc_status st)
{
    if (!st) return;
    printf("%s\n", cubc_error_message());
    exit(1);
}

static void set_unit(void)
{
    memset(field, 0, sizeof field);
    for (int link = 0; link < SITES * 4; link++)
        for (int k = 0; k < 3; k++) field[18 * link + 8 * k] = 1;
}

static const struct {
    const char *name;
    cubc_field_write_params params;
} wanted[] = {
    {"ildg", {field, CUBC_FIELD_GAUGE, {1, 2, 1, 2}, 64, 3, "ildg", NULL, NULL}},
    {"ildg-single", {field, CUBC_FIELD_GAUGE, {2, 1, 1, 1}, 32, 3, "ildg", NULL, NULL}},
    {"scidac", {field, CUBC_FIELD_PROPAGATOR, {1, 1, 2, 1}, 32, 3, "scidac", NULL, NULL}},
    {"spinor", {field, CUBC_FIELD_SPINOR, {1, 1, 2, 1}, 32, 3, "scidac", NULL, NULL}},
    {"vector", {field, CUBC_FIELD_COLOUR_VECTOR, {1, 1, 1, 2}, 64, 3, "scidac", NULL, NULL}},
    {"nersc", {field, CUBC_FIELD_GAUGE, {1, 1, 2, 2}, 64, 3, "nersc", NULL, NULL}},
    {"nersc-rows", {field, CUBC_FIELD_GAUGE, {2, 1, 1, 2}, 32, 2, "nersc", NULL, NULL}},
    {"milc", {field, CUBC_FIELD_GAUGE, {1, 1, 1, 1}, 32, 3, "milc", NULL, NULL}},
};

// Formats that nobody writes here: a header, and zeros behind it, whose checksums are 0.
static const struct {
    const char *name;
    uint32_t words[27];
    size_t head_words, bytes;
} raw[] = {
    {"openqcd", {2, 2, 2, 2}, 6, 24 + 16 * 576},
    {"ddalphaamg", {1, 2, 1, 1}, 6, 24 + 2 * 576},
    {"fermilab", {0x71626434, 0, 4, 288, 1, 1, 1, 1}, 9, 36 + 288 * 4},
    {"fermilab-spinors", {0x71626434, 0, 4, 24, 1, 1, 1, 1}, 9, 36 + 12 * 24 * 4},
    {"fermilab-staggered", {0x71626434, 0, 4, 18, 1, 1, 2, 1}, 9, 36 + 2 * 18 * 4},
};

static void add_bytes(fuzz_add *add, const char *name, const text *bytes);

static void add_raw(fuzz_add *add)
{
    static const char zeros[1 << 14];
    for (size_t k = 0; k < COUNT_OF(raw); k++) {
        text bytes = {0};
        text_append(&bytes, (const char *)raw[k].words, 4 * raw[k].head_words);
        text_append(&bytes, zeros, raw[k].bytes - 4 * raw[k].head_words);
        add_bytes(add, raw[k].name, &bytes);
        text_free(&bytes);
    }
}

// MILC's propagators of one site, a column for each source.
static void add_columns(fuzz_add *add, bool wilson)
{
    uint32_t head[27] = {wilson ? 12781 : 23209, 1, 1, 1, 1};
    char zeros[8 + 96] = {0};
    text bytes = {0};
    head[22] = 1; // source spins
    text_append(&bytes, (const char *)head, wilson ? 108 : 88);
    for (uint32_t colour = 0; colour < 3; colour++) {
        uint32_t check[2] = {0, colour}; // spin, colour
        text_append(&bytes, (const char *)(wilson ? check : check + 1), wilson ? 8 : 4);
        text_append(&bytes, zeros, wilson ? 8 + 96 : 8 + 24);
    }
    add_bytes(add, wilson ? "milc-wilson" : "milc-staggered", &bytes);
    text_free(&bytes);
}

static void append_record(text *out, const char *type, const void *data, size_t length)
{
    char header[144] = {0x45, 0x67, (char)0x89, (char)0xab, 0, 1, (char)0xc0};
    header[14] = (char)(length >> 8);
    header[15] = (char)length;
    snprintf(header + 16, 128, "%s", type);
    text_append(out, header, sizeof header);
    text_append(out, data, length);
    text_append(out, "\0\0\0\0\0\0\0", (8 - length % 8) % 8);
}

static void add_etmc(fuzz_add *add)
{
    static const char zeros[96];
    const char *format = "<etmcFormat><field>diracFermion</field><precision>32</precision>"
                         "<flavours>2</flavours><lx>1</lx><ly>1</ly><lz>1</lz><lt>1</lt>";
    text bytes = {0};
    append_record(&bytes, "etmc-propagator-format", format, strlen(format));
    append_record(&bytes, "scidac-binary-data", zeros, sizeof zeros);
    append_record(&bytes, "scidac-binary-data", zeros, sizeof zeros);
    add_bytes(add, "etmc", &bytes);
    text_free(&bytes);
}

// An unchanged file must be read, or the changes are those of files that are refused anyway.
static void add_bytes(fuzz_add *add, const char *name, const text *bytes)
{
    cubc_field_file *opened;
    must_succeed(text_done((text *)bytes));
    put((const uint8_t *)bytes->data, bytes->length);
    must_succeed(cubc_field_open(path, 0, &opened));
    for (size_t k = 0; k < cubc_field_count(opened); k++)
        must_succeed(
            cubc_field_read(opened, k, field, (size_t)cubc_field_describe(opened, k)->bytes));
    cubc_field_close(opened);
    add(name, bytes->data, bytes->length);
}

static void add_files(fuzz_add *add)
{
    text all = {0}; // of LIME, one behind the other
    put(NULL, 0);
    for (size_t k = 0; k < COUNT_OF(wanted); k++) {
        text other = {0}, bytes = {0};
        set_unit();
        text_printf(&other, "%s-%s", path, wanted[k].name);
        must_succeed(text_done(&other));
        must_succeed(cubc_field_write(other.data, &wanted[k].params));
        must_succeed(file_read(other.data, &bytes));
        unlink(other.data);
        add_bytes(add, wanted[k].name, &bytes);
        if (k < 5) text_append(&all, bytes.data, bytes.length);
        text_free(&bytes);
        text_free(&other);
    }
    add_bytes(add, "several", &all);
    text_free(&all);
    add_raw(add);
    add_columns(add, true);
    add_columns(add, false);
    add_etmc(add);
}

static const fuzz_word words[] = {
    FUZZ_WORD("\x45\x67\x89\xab\x00\x01\x80\x00"),
    FUZZ_WORD("\x45\x67\x89\xab\x00\x01\x40\x00"),
    FUZZ_WORD("\x45\x67\x89\xab\x00\x01\x00\x00"),
    FUZZ_WORD("ildg-binary-data\x00"),
    FUZZ_WORD("scidac-binary-data\x00"),
    FUZZ_WORD("ildg-format\x00"),
    FUZZ_WORD("scidac-checksum\x00"),
    FUZZ_WORD("scidac-private-file-xml\x00"),
    FUZZ_WORD("scidac-private-record-xml\x00"),
    FUZZ_WORD("<lx>"),
    FUZZ_WORD("</lx>"),
    FUZZ_WORD("<field>su3gauge</field>"),
    FUZZ_WORD("<precision>"),
    FUZZ_WORD("<typesize>"),
    FUZZ_WORD("<datacount>"),
    FUZZ_WORD("<dims>"),
    FUZZ_WORD("<volfmt>1</volfmt>"),
    FUZZ_WORD("<suma>"),
    FUZZ_WORD("<!--"),
    FUZZ_WORD("-->"),
    FUZZ_WORD("<!DOCTYPE"),
    FUZZ_WORD("BEGIN_HEADER\x0a"),
    FUZZ_WORD("END_HEADER\x0a"),
    FUZZ_WORD("DIMENSION_1 = "),
    FUZZ_WORD("FLOATING_POINT = IEEE32LITTLE"),
    FUZZ_WORD("DATATYPE = 4D_SU3_GAUGE\x0a"),
    FUZZ_WORD("CHECKSUM = "),
    FUZZ_WORD("PLAQUETTE = "),
    FUZZ_WORD("LINK_TRACE = "),
    FUZZ_WORD("etmc-propagator-format\x00"),
    FUZZ_WORD("<field>diracFermion</field>"),
    FUZZ_WORD("<recordtype>1</recordtype>"),
    FUZZ_WORD("<suma>0x"),
    FUZZ_WORD("\xa9\x5a\x00\x00"),
    FUZZ_WORD("\xed\x31\x00\x00"),
    FUZZ_WORD("\x34\x64\x62\x71"),
    FUZZ_WORD("18446744073709551615"),
    FUZZ_WORD("\xff\xff\xff\xff\xff\xff\xff\xff"),
    FUZZ_WORD("\x7f\xf0\x00\x00\x00\x00\x00\x00"),
};

const fuzz_harness fuzz_target = {"files", 20000, add_files, words, COUNT_OF(words)};
