// The common part of the descriptors of kernels on gauge fields: fields of F64 or F32 in native
// order, a number of reals a site.
#ifndef CUBC_LATTICE_GAUGE_H
#define CUBC_LATTICE_GAUGE_H

#include "lattice/operators/site_map.h"

// An empty problem of the type, on a lattice of these extents, x first.
cubc_status gauge_problem(const algorithm *a, const int extents[4], cubc_type type,
                          const char *benchmark, problem *out);
// Fields of `fields` times that many reals a site.
cubc_status gauge_input(problem *p, const char *what, const void *data, uint64_t n, int reals);
cubc_status gauge_output(problem *p, const char *what, void *data, uint64_t n, int reals);
// Checks that fields are aligned, and that an output is its input (of the same number) or apart.
cubc_status gauge_arrays(problem *p);
// The same for kernels that read neighbours: an output is apart from the input.
cubc_status gauge_arrays_apart(problem *p);
// Small integers, so that sums and products are exact.
const char *gauge_random_integers(const problem *p, int k);
// Numbers in [-1/2, 1/2), so that matrices are not singular.
const char *gauge_random_reals(const problem *p, int k);

#endif
