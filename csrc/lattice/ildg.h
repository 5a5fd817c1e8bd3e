// Fields in LIME files: gauge configurations as ILDG has them (records ildg-format and
// ildg-binary-data) or SciDAC alone, propagators of SciDAC as Chroma writes them.
#ifndef CUBC_LATTICE_ILDG_H
#define CUBC_LATTICE_ILDG_H

#include "disk_field.h"

cubc_status ildg_open(const infile *file, int flags, disk_field *out);
// Links as an ILDG configuration, a propagator as a SciDAC field; both with SciDAC's records.
cubc_status ildg_write(const outfile *file, disk_field *f, const double *from);

#endif
