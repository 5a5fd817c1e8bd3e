// Fields in files: the input is a file's bytes, and whatever they are,
// reading them ends, with the field or with an error that has a text, and leaves nothing behind.
//
// Sanitizers see accesses, leaks, overflow and (max_allocation_size_mb) greed; what is checked here
// is that a field never takes more memory than three times its file, which two rows in single
// precision do, that verified numbers are finite, and that errors say where.
#define _XOPEN_SOURCE 700 // mkstemp
#include "base.h"
#include "cubc_lattice.h"
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

static void read_it(cubc_field_file *field, size_t size, int flags)
{
    const cubc_field_info *info = cubc_field_describe(field);
    must(info->bytes <= 3 * (uint64_t)size && info->sites > 0);
    double *numbers = mem_alloc((size_t)info->bytes, 1);
    must(numbers != NULL);
    cubc_status st = cubc_field_read(field, numbers, (size_t)info->bytes);
    if (st)
        must_be_an_error(st);
    else
        for (size_t k = 0; !(flags & CUBC_FIELD_UNVERIFIED) && k < info->bytes / 8; k++)
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
        if (st)
            must_be_an_error(st);
        else
            read_it(field, size, all[k]);
        cubc_field_close(field);
    }
    must(mem_outstanding() == before);
    return 0;
}

// ---- where it begins ----------------------------------------------------------------------------
enum { SITES = 4, REALS = SITES * 288 };
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
    {"ildg", {field, CUBC_FIELD_GAUGE, {1, 2, 1, 2}, 64, 3, "ildg"}},
    {"ildg-single", {field, CUBC_FIELD_GAUGE, {2, 1, 1, 1}, 32, 3, "ildg"}},
    {"scidac", {field, CUBC_FIELD_PROPAGATOR, {1, 1, 2, 1}, 32, 3, "scidac"}},
    {"nersc", {field, CUBC_FIELD_GAUGE, {1, 1, 2, 2}, 64, 3, "nersc"}},
    {"nersc-rows", {field, CUBC_FIELD_GAUGE, {2, 1, 1, 2}, 32, 2, "nersc"}},
};

// Of one site. Nobody writes these here, so its checksum is known by counting: of unit links words
// 0, 8 and 16 of each 18 are 1.0f, at 12 places rotated by what 29 and 31 leave of their index.
static void make_milc(text *out)
{
    uint32_t head[24] = {20103, 1, 1, 1, 1}, one = 0x3f800000, words[72] = {0};
    for (unsigned k = 0; k < 72; k++) {
        unsigned by29 = k % 29, by31 = k % 31;
        if (k % 18 % 8 == 0) {
            words[k] = one;
            head[22] ^= by29 ? one << by29 | one >> (32 - by29) : one;
            head[23] ^= by31 ? one << by31 | one >> (32 - by31) : one;
        }
    }
    text_append(out, (const char *)head, sizeof head);
    text_append(out, (const char *)words, sizeof words);
}

// What is unchanged must be read, or the changes are those of files that are refused anyway.
static void add_file(fuzz_add *add, const char *name, const char *at)
{
    text bytes = {0};
    cubc_field_file *opened;
    must_succeed(cubc_field_open(at, 0, &opened));
    must_succeed(cubc_field_read(opened, field, (size_t)cubc_field_describe(opened)->bytes));
    cubc_field_close(opened);
    must_succeed(file_read(at, &bytes));
    add(name, bytes.data, bytes.length);
    text_free(&bytes);
}

static void add_files(fuzz_add *add)
{
    text milc = {0};
    make_milc(&milc);
    put((const uint8_t *)milc.data, milc.length);
    text_free(&milc);
    add_file(add, "milc", path);
    for (size_t k = 0; k < COUNT_OF(wanted); k++) {
        text other = {0};
        set_unit();
        text_printf(&other, "%s-%s", path, wanted[k].name);
        must_succeed(text_done(&other));
        must_succeed(cubc_field_write(other.data, &wanted[k].params));
        add_file(add, wanted[k].name, other.data);
        unlink(other.data);
        text_free(&other);
    }
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
    FUZZ_WORD("18446744073709551615"),
    FUZZ_WORD("\xff\xff\xff\xff\xff\xff\xff\xff"),
    FUZZ_WORD("\x7f\xf0\x00\x00\x00\x00\x00\x00"),
};

const fuzz_harness fuzz_target = {"files", 20000, add_files, words, COUNT_OF(words)};
