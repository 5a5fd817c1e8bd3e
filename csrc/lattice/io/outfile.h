// An output file that is complete or absent: it is written under another name in the same folder,
// and renamed when all of it is on the disk. Several ranks write it together: the first one begins
// it and commits it, the others join it and leave it.
#ifndef CUBC_LATTICE_OUTFILE_H
#define CUBC_LATTICE_OUTFILE_H

#include "base/base.h"

typedef struct outfile {
    int descriptor;
    char *path, *temporary;
    bool joined;    // begun by another rank
    unsigned forks; // fork_count() of the process that began it: a child leaves the file to it
} outfile;

// An existing regular file will be replaced, anything else is refused. On success, commit or
// discard must follow.
cubc_status outfile_begin(const char *path, outfile *out);
// Writes at an offset; threads may call it at the same time.
cubc_status outfile_at(const outfile *file, uint64_t offset, const void *from, size_t bytes);
// The same of bytes that all ranks have and the first one writes.
cubc_status outfile_once(const outfile *file, uint64_t offset, const void *from, size_t bytes);
// The end of the name that the file has until it is complete, by which others join it.
const char *outfile_suffix(const outfile *file);
cubc_status outfile_join(const char *path, const char *suffix, outfile *out);
// Closes a file that was joined when what was written is on the disk.
cubc_status outfile_leave(outfile *file);
cubc_status outfile_commit(outfile *file); // discards the file on failure
void outfile_discard(outfile *file);

#endif
