// Writing a file whole or not at all: see outfile.h.
#define _XOPEN_SOURCE 700 // pwrite, readlink
#define _FILE_OFFSET_BITS 64
#include "lattice/io/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Leads a path to what the symbolic link of that name says; *link: whether there is one.
static cubc_status follow(char path[PATH_MAX], bool *link)
{
    char says[PATH_MAX], all[PATH_MAX];
    const char *slash = strrchr(path, '/');
    ssize_t length = readlink(path, says, sizeof says - 1);
    *link = length >= 0;
    if (!*link) return CUBC_OK;
    says[length] = 0;
    const int folder = slash && says[0] != '/' ? (int)(slash + 1 - path) : 0; // the link's own
    if (snprintf(all, sizeof all, "%.*s%s", folder, path, says) >= PATH_MAX)
        FAIL(CUBC_IO_ERROR, "%s", strerror(ENAMETOOLONG));
    strcpy(path, all);
    return CUBC_OK;
}

// Through symbolic links, so that the file that they lead to is replaced or made, and not the link.
static cubc_status resolve(const char *path, char **out)
{
    enum { MOST_LINKS = 40 };
    struct stat info;
    char at[PATH_MAX];
    bool link = true;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        FAIL(CUBC_IO_ERROR, "there is something else than a regular file of that name");
    if (snprintf(at, sizeof at, "%s", path) >= PATH_MAX)
        FAIL(CUBC_IO_ERROR, "%s", strerror(ENAMETOOLONG));
    for (int k = 0; link; k++) {
        if (k > MOST_LINKS) FAIL(CUBC_IO_ERROR, "%s", strerror(ELOOP));
        TRY(follow(at, &link));
    }
    *out = mem_strdup(at);
    return *out ? CUBC_OK : CUBC_NO_MEMORY;
}

// A name that no file has yet, in the same folder. The mode of the file that it will replace is
// kept.
static cubc_status make_beside(outfile *out)
{
    static atomic_uint count;
    struct stat info;
    text name = {0};
    for (int attempt = 0; out->descriptor < 0 && attempt < 100; attempt++) {
        text_free(&name);
        text_printf(&name, "%s.%ld-%u.part", out->path, (long)getpid(),
                    atomic_fetch_add(&count, 1));
        if (name.failed) break;
        out->descriptor = open(name.data, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (out->descriptor < 0 && errno != EEXIST) break;
    }
    if (out->descriptor < 0) {
        int why = errno;
        cubc_status st = text_done(&name);
        text_free(&name);
        if (st) return st;
        FAIL(CUBC_IO_ERROR, "cannot make a file in its folder: %s", strerror(why));
    }
    out->temporary = name.data;
    if (stat(out->path, &info) == 0 && fchmod(out->descriptor, info.st_mode & 0777) < 0)
        errno = 0; // then it has the mode of a new file
    return CUBC_OK;
}

cubc_status outfile_begin(const char *path, outfile *out)
{
    *out = (outfile){.descriptor = -1, .forks = fork_count()};
    TRY(resolve(path, &out->path));
    cubc_status st = make_beside(out);
    if (st) outfile_discard(out);
    return st;
}

cubc_status outfile_at(const outfile *file, uint64_t offset, const void *from, size_t bytes)
{
    for (const char *at = from; bytes > 0;) {
        ssize_t put = pwrite(file->descriptor, at, bytes, (off_t)offset);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0)
            FAIL(CUBC_IO_ERROR, "cannot write at byte %" PRIu64 ": %s", offset,
                 strerror(put < 0 ? errno : ENOSPC));
        at += put;
        bytes -= (size_t)put;
        offset += (uint64_t)put;
    }
    return CUBC_OK;
}

cubc_status outfile_once(const outfile *file, uint64_t offset, const void *from, size_t bytes)
{
    return file->joined ? CUBC_OK : outfile_at(file, offset, from, bytes);
}

const char *outfile_suffix(const outfile *file)
{
    return file->temporary + strlen(file->path);
}

cubc_status outfile_join(const char *path, const char *suffix, outfile *out)
{
    text name = {0};
    *out = (outfile){.descriptor = -1, .joined = true};
    TRY(resolve(path, &out->path));
    text_printf(&name, "%s%s", out->path, suffix);
    cubc_status st = text_done(&name);
    if (!st) {
        out->descriptor = open(name.data, O_WRONLY | O_CLOEXEC);
        if (out->descriptor < 0)
            st = error_set(__FILE__, __LINE__, CUBC_IO_ERROR, "cannot open %s: %s", name.data,
                           strerror(errno));
    }
    text_free(&name);
    if (st) outfile_discard(out);
    return st;
}

// Closes the file when it is on the disk; returns the number of an error.
static int close_written(outfile *file)
{
    int failed = fsync(file->descriptor) < 0 ? errno : 0;
    if (close(file->descriptor) < 0 && !failed) failed = errno;
    file->descriptor = -1;
    return failed;
}

cubc_status outfile_leave(outfile *file)
{
    int failed = close_written(file);
    outfile_discard(file);
    if (failed) FAIL(CUBC_IO_ERROR, "cannot finish it: %s", strerror(failed));
    return CUBC_OK;
}

cubc_status outfile_commit(outfile *file)
{
    cubc_status st = fork_refuse(file->forks, "the writing of a file");
    if (st) {
        outfile_discard(file);
        return st;
    }
    int failed = close_written(file);
    if (!failed && rename(file->temporary, file->path) < 0) failed = errno;
    if (!failed) {
        mem_free(file->temporary);
        file->temporary = NULL;
    }
    outfile_discard(file);
    if (failed) FAIL(CUBC_IO_ERROR, "cannot finish it: %s", strerror(failed));
    return CUBC_OK;
}

void outfile_discard(outfile *file)
{
    if (file->descriptor >= 0) close(file->descriptor);
    if (file->temporary && file->forks == fork_count()) unlink(file->temporary);
    mem_free(file->temporary);
    mem_free(file->path);
    *file = (outfile){.descriptor = -1};
}
