// Whole reads and writes of files: see base.h.
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

cubc_status file_read(const char *path, text *out)
{
    char buffer[16384];
    size_t got;
    FILE *file = fopen(path, "rb");
    if (!file) FAIL(CUBC_IO_ERROR, "cannot open %s: %s", path, strerror(errno));
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0) text_append(out, buffer, got);
    const int broken = ferror(file) ? errno : 0;
    fclose(file);
    if (broken) FAIL(CUBC_IO_ERROR, "cannot read %s: %s", path, strerror(broken));
    return text_done(out);
}

bool file_write(int file, const void *bytes, size_t length)
{
    for (const char *from = bytes; length > 0;) {
        ssize_t written = write(file, from, length);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        from += written;
        length -= (size_t)written;
    }
    return true;
}

size_t file_read_at(int file, uint64_t at, void *to, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t got = pread(file, (char *)to + done, bytes - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = 0;
        if (got <= 0) break;
        done += (size_t)got;
    }
    return done;
}
