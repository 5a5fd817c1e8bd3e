// NERSC's archive format: a header of lines "KEY = value", and links of three rows or two.
#ifndef CUBC_LATTICE_NERSC_H
#define CUBC_LATTICE_NERSC_H

#include "disk_field.h"

cubc_status nersc_open(const infile *file, int flags, disk_field *out);
cubc_status nersc_write(const outfile *file, disk_field *f, const double *from);

#endif
