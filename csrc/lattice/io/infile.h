// A regular file to read from, whose every access is checked against its size. Nothing of it is
// mapped: a file that another process cuts short is an error here, not a signal.
#ifndef CUBC_LATTICE_INFILE_H
#define CUBC_LATTICE_INFILE_H

#include "base/base.h"

typedef struct infile {
    int descriptor;
    uint64_t size; // when it was opened
} infile;

// Opens a regular file; refuses any other without waiting, as for the writer of a pipe.
cubc_status infile_open(const char *path, infile *out);
void infile_close(infile *file);
// Reads exactly `bytes` bytes from `offset`; threads may call it at the same time. `what` names the
// part of the file in messages.
cubc_status infile_at(const infile *file, uint64_t offset, void *to, size_t bytes,
                      const char *what);

#endif
