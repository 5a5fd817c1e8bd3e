// An output file that is complete or absent: it is written under another name in the same folder,
// and renamed when all of it is on the disk.
#ifndef CUBC_LATTICE_OUTFILE_H
#define CUBC_LATTICE_OUTFILE_H

#include "base/base.h"

typedef struct outfile {
    int descriptor;
    char *path, *temporary;
} outfile;

// An existing regular file will be replaced, anything else is refused. On success, commit or
// discard must follow.
cubc_status outfile_begin(const char *path, outfile *out);
// Writes at an offset; threads may call it at the same time.
cubc_status outfile_at(const outfile *file, uint64_t offset, const void *from, size_t bytes);
cubc_status outfile_commit(outfile *file); // discards the file on failure
void outfile_discard(outfile *file);

#endif
