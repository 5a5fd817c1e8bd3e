// The common part of the descriptors of kernels on gauge fields: fields of F64 or F32 in native
// order, a number of reals a site.
#ifndef CUBC_ALGO_GAUGE_H
#define CUBC_ALGO_GAUGE_H

#include "lattice/operators/lattice.h"

enum { MATRIX_REALS = 18, GAUGE_REALS = 4 * MATRIX_REALS }; // of a matrix, and of a site's links

// An empty problem of the type, on a lattice of these extents, x first.
cubc_status gauge_problem(const algorithm *a, const int extents[4], cubc_type type,
                          const char *benchmark, problem *out);
// Fields of `fields` times that many reals a site.
cubc_status gauge_input(problem *p, const char *what, const void *data, uint64_t n, int reals);
cubc_status gauge_output(problem *p, const char *what, void *data, uint64_t n, int reals);
// Counts the fields of that many reals a site in n reals.
cubc_status gauge_fields(const problem *p, const char *what, uint64_t n, int reals,
                         uint64_t *fields);
// Checks that fields are aligned, and that an output is its input (of the same number) or apart.
cubc_status gauge_arrays(problem *p);
// A benchmark's problem, on n sites or 16.
void gauge_workload(cubc_type type, uint64_t n, problem *out);
void gauge_add_input(problem *p, int reals);
void gauge_add_output(problem *p, int reals);
// Extents and TUNE_T.
void gauge_define(const problem *p, text *out);
const char *gauge_invalid(const problem *p, const char *kind, const space *s, const variant *v);
// Small integers, so that sums and products are exact.
const char *gauge_random_integers(const problem *p, int k);
// Numbers in [-1/2, 1/2), so that matrices are not singular.
const char *gauge_random_reals(const problem *p, int k);
// A number as a kernel's argument.
uint64_t gauge_word(double v);

#endif
