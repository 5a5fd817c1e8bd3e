// The common part of the descriptors of Wilson-like operators: kernels/lattice/dslash.h. Parameters
// of an operator begin with those of the Wilson Dslash, its traits and numbers with the structs
// here; inputs and arguments of its site term come after the Dslash's. Traffic is that of all
// arrays: all links are read for one parity too, from either end.
#ifndef CUBC_LATTICE_DSLASH_H
#define CUBC_LATTICE_DSLASH_H

#include "lattice/operators/lattice_problem.h"
#include "lattice/operators/solver_update.h"

typedef struct dslash_traits {
    lattice_traits lattice;
    int reconstruct, parity, dagger, xpay, anisotropic, antiperiodic, temporal, guarded;
    int z;       // the tail has z
    int several; // sources
} dslash_traits;

typedef struct dslash_numbers {
    double a, spatial; // spatial: the factor of hops in space
    uint64_t sources;
    cubc_guard guard;
} dslash_numbers;

PROBLEM_TRAITS(dslash_traits);
PROBLEM_NUMBERS(dslash_numbers);

// The problem, without the site term.
cubc_status dslash_problem(const algorithm *a, const cubc_dslash_wilson_params *params,
                           problem *out);
// Fails if the output overlaps an input.
cubc_status dslash_apart(const problem *p, const operand *in, const char *what);
// The call of "dslash.wilson.r12": odd to even sites, antiperiodic in time. There is no x, and the
// arrays are number 0 to 4.
cubc_status dslash_benchmark_params(const benchmark *b, cubc_type type, const uint64_t *at,
                                    cubc_dslash_wilson_params *out);
void dslash_place(const problem *p, uint64_t *place);
const char *dslash_random(const problem *p, int k);
void dslash_define(const problem *p, text *out);
const char *dslash_invalid(const problem *p, const char *kind, const space *s, const variant *v);
// The launch: fields and `a`, then arguments of the site term, then those of a solver.
cubc_status dslash_plan(const problem *p, const instance *i, const uint64_t *term, size_t count,
                        plan *out);

// The fields of parameters that begin with those of the Wilson Dslash.
#define DSLASH_FIELDS                                                                        \
    FIELD_ARRAY(cubc_dslash_wilson_params, links, FIELD_INPUT, type, links_n),               \
        FIELD_ARRAY(cubc_dslash_wilson_params, in, FIELD_INPUT, type, n),                    \
        FIELD_ARRAY(cubc_dslash_wilson_params, in_norms, FIELD_INPUT, norm_type, norms_n),   \
        FIELD_ARRAY(cubc_dslash_wilson_params, x, FIELD_INPUT, type, n),                     \
        FIELD_ARRAY(cubc_dslash_wilson_params, x_norms, FIELD_INPUT, norm_type, norms_n),    \
        FIELD_ARRAY(cubc_dslash_wilson_params, out, FIELD_OUTPUT, type, n),                  \
        FIELD_ARRAY(cubc_dslash_wilson_params, out_norms, FIELD_OUTPUT, norm_type, norms_n), \
        LATTICE_EXTENT_FIELDS(cubc_dslash_wilson_params),                                    \
        FIELD(cubc_dslash_wilson_params, reconstruct, FIELD_INT),                            \
        FIELD(cubc_dslash_wilson_params, parity, FIELD_INT),                                 \
        FIELD(cubc_dslash_wilson_params, dagger, FIELD_INT),                                 \
        FIELD(cubc_dslash_wilson_params, antiperiodic, FIELD_INT),                           \
        FIELD(cubc_dslash_wilson_params, temporal_gauge, FIELD_INT),                         \
        FIELD(cubc_dslash_wilson_params, a, FIELD_REAL),                                     \
        FIELD(cubc_dslash_wilson_params, anisotropy, FIELD_REAL)

#define DSLASH_BENCHMARK(name) LATTICE_SOURCES_BENCHMARK("dslash." name, lattice_types)
#define DSLASH_BENCHMARKS(name) \
    DSLASH_BENCHMARK(name ".r18"), DSLASH_BENCHMARK(name ".r12"), DSLASH_BENCHMARK(name ".r8")

// Members of dslash_<op>_algorithm that follow from its name, and further ones.
#define DSLASH(op, ...)                                     \
    {.name = "dslash_" #op,                                 \
     .source = "dslash_" #op ".cu",                         \
     .kernels = {"dslash_" #op},                            \
     .benchmarks = dslash_##op##_benchmarks,                \
     .benchmark_count = COUNT_OF(dslash_##op##_benchmarks), \
     FIELDS(dslash_##op##_fields),                          \
     .axes = {LATTICE_SOURCE_AXES},                         \
     .place = dslash_place,                                 \
     .invalid = dslash_invalid,                             \
     .random = dslash_random,                               \
     .plan = dslash_##op##_plan,                            \
     __VA_ARGS__}

#endif
