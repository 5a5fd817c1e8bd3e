// MILC's version 5 gauge files: a header of 96 bytes and single-precision links, in the byte order
// of the machine that wrote them.
#ifndef CUBC_LATTICE_MILC_H
#define CUBC_LATTICE_MILC_H

#include "disk_field.h"

enum { MILC_MAGIC = 20103 };
cubc_status milc_open(const infile *file, int flags, disk_field *out);

#endif
