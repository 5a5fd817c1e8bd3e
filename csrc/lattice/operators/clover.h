// The common part of the descriptors that have a field of Hermitian matrices:
// kernels/lattice/clover.h.
#ifndef CUBC_LATTICE_CLOVER_H
#define CUBC_LATTICE_CLOVER_H

#include "lattice/operators/site_map.h"

enum { CLOVER_REALS = 72 }; // a site

// The field of both parities in native order, and its norms: two operands.
cubc_status clover_input(problem *p, const void *data, const float *norms, uint64_t n,
                         cubc_type type);
cubc_status clover_output(problem *p, const char *what, void *data, float *norms, uint64_t n,
                          cubc_type type);

#endif
