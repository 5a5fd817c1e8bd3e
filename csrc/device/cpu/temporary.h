// Private folders of temporary files, which compilations have.
//
// Their owner removes them. A process that is killed leaves them behind: the first one that makes a
// folder a day later or more removes those.
#ifndef CUBC_TEMPORARY_H
#define CUBC_TEMPORARY_H

#include "base/base.h"

// TMPDIR, else /tmp.
const char *temporary_root(void);
// Makes a folder and sets its path; CUBC_IO_ERROR if that cannot be.
cubc_status temporary_make(text *path);
// Removes a folder and the files in it; NULL: nothing.
void temporary_remove(const char *path);

#endif
