// A regular file to read from, whose every access is checked against its size. Nothing of it is
// mapped: a file that another process cuts short is an error here, not a signal.
#ifndef CUBC_LATTICE_INFILE_H
#define CUBC_LATTICE_INFILE_H

#include "base/base.h"

typedef struct infile {
    int descriptor;
    uint64_t size; // when it was opened
} infile;

// Refuses what is not a regular file without waiting for it, as a pipe without a writer would ask.
cubc_status infile_open(const char *path, infile *out);
void infile_close(infile *file);
// Reads exactly `bytes` bytes from `offset`; any thread may, at the same time. what names the part
// of the file in messages.
cubc_status infile_at(const infile *file, uint64_t offset, void *to, size_t bytes,
                      const char *what);
// True if [offset, offset + bytes) lies within the file.
bool infile_holds(const infile *file, uint64_t offset, uint64_t bytes);

#endif
