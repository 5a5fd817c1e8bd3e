// Checked reading of a regular file: see infile.h.
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include "lattice/io/infile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

cubc_status infile_open(const char *path, infile *out)
{
    struct stat info;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) FAIL(CUBC_IO_ERROR, "cannot open it: %s", strerror(errno));
    int failed = fstat(descriptor, &info) < 0 ? errno : 0;
    if (failed || !S_ISREG(info.st_mode)) {
        close(descriptor);
        if (failed) FAIL(CUBC_IO_ERROR, "cannot tell its size: %s", strerror(failed));
        FAIL(CUBC_IO_ERROR, "not a regular file; copy what it gives to one");
    }
    *out = (infile){.descriptor = descriptor, .size = (uint64_t)info.st_size};
    return CUBC_OK;
}

void infile_close(infile *file)
{
    if (file->descriptor >= 0) close(file->descriptor);
    file->descriptor = -1;
}

// True if [offset, offset + bytes) lies within the file.
static bool holds(const infile *file, uint64_t offset, uint64_t bytes)
{
    return offset <= file->size && bytes <= file->size - offset;
}

cubc_status infile_at(const infile *file, uint64_t offset, void *to, size_t bytes, const char *what)
{
    if (!holds(file, offset, bytes))
        FAIL(CUBC_IO_ERROR,
             "%s: %zu bytes at byte %" PRIu64 " are not there, the file ends at byte %" PRIu64
             ": it is truncated or no file of this format",
             what, bytes, offset, file->size);
    const size_t read = file_read_at(file->descriptor, offset, to, bytes);
    if (read == bytes) return CUBC_OK;
    if (errno)
        FAIL(CUBC_IO_ERROR, "%s: cannot read at byte %" PRIu64 ": %s", what, offset + read,
             strerror(errno));
    FAIL(CUBC_IO_ERROR, "%s: the file was cut short to %" PRIu64 " bytes while it was read", what,
         offset + read);
}
