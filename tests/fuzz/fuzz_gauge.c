// libFuzzer's entry point for fields in files: the input is a file's bytes, and whatever they are,
// reading them ends, with the field or with an error that has a text, and leaves nothing behind.
//
// Sanitizers see accesses, leaks, overflow and (max_allocation_size_mb) greed; what is checked here
// is that a field never takes more memory than three times its file, which two rows in single
// precision do, that verified numbers are finite, and that errors say where.
#define _XOPEN_SOURCE 700 // mkstemp
#include "base.h"
#include "cubc_lattice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[256];
static int file = -1;

static void must(bool holds)
{
    if (!holds) abort();
}

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
