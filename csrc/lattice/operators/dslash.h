// The common part of the descriptors of Wilson-like operators: kernels/lattice/dslash.h. Parameters
// of an operator begin with those of the Wilson Dslash; traits, numbers, inputs and arguments of
// its site term come after the ones that are named here and in dslash_sites.h. Traffic is that of
// all arrays: all links are read for one parity too, from either end.
#ifndef CUBC_LATTICE_DSLASH_H
#define CUBC_LATTICE_DSLASH_H

#include "lattice/operators/dslash_sites.h"
#include "lattice/operators/flops.h"

typedef struct dslash_traits {
    int reconstruct; // reals of a link
    int dagger, anisotropic, antiperiodic, temporal;
    int phases; // bit d: direction d has one at its boundary
} dslash_traits;

typedef struct dslash_numbers {
    double a, spatial;
    double theta[4];
} dslash_numbers;

DSLASH_TRAITS(dslash_traits);
DSLASH_NUMBERS(dslash_numbers);
// Traits and numbers of a site term are behind them.
#define DSLASH_TERM_TRAITS(type) \
    PROBLEM_STRUCT(type, traits, DSLASH_TRAITS_AT + sizeof(dslash_traits))
#define DSLASH_TERM_NUMBERS(type) \
    PROBLEM_STRUCT(type, numbers, sizeof(dslash_site_numbers) + sizeof(dslash_numbers))

// The problem, without the site term.
cubc_status dslash_problem(const algorithm *a, const cubc_dslash_wilson_params *params,
                           problem *out);
const char *dslash_random(const problem *p, int k);
void dslash_define(const problem *p, text *out);
const char *dslash_invalid(const problem *p, const char *kind, const space *s, const variant *v);
// The launch: fields and `a`, then arguments of the site term, of 8 bytes each, then those of a
// solver.
cubc_status dslash_plan(const problem *p, const instance *i, const void *term, size_t bytes,
                        plan *out);
cubc_status dslash_plan_on(const problem *p, const instance *i, dslash_grid grid, const void *term,
                           size_t bytes, plan *out);

// The fields of parameters that begin with those of the Wilson Dslash.
#define DSLASH_FIELDS                                                                    \
    DSLASH_SITES_FIELDS,                                                                 \
        FIELD_ARRAY(cubc_dslash_wilson_params, links, FIELD_INPUT, sites.type, links_n), \
        FIELD(cubc_dslash_wilson_params, reconstruct, FIELD_INT),                        \
        FIELD(cubc_dslash_wilson_params, dagger, FIELD_INT),                             \
        FIELD(cubc_dslash_wilson_params, antiperiodic, FIELD_INT),                       \
        FIELD(cubc_dslash_wilson_params, temporal_gauge, FIELD_INT),                     \
        FIELD(cubc_dslash_wilson_params, theta_x, FIELD_REAL),                           \
        FIELD(cubc_dslash_wilson_params, theta_y, FIELD_REAL),                           \
        FIELD(cubc_dslash_wilson_params, theta_z, FIELD_REAL),                           \
        FIELD(cubc_dslash_wilson_params, theta_t, FIELD_REAL),                           \
        FIELD(cubc_dslash_wilson_params, a, FIELD_REAL),                                 \
        FIELD(cubc_dslash_wilson_params, anisotropy, FIELD_REAL)

// A benchmark of links of 18, 12 and 8 reals: CALL(reals) is its row's call. DSLASH_CALL has the
// part without the site term: odd to even sites, antiperiodic in time, no x; DSLASH_CALL_OF
// has it for sources of `each` fields.
#define DSLASH_CALL(reals) DSLASH_CALL_OF(reals, 1)
#define DSLASH_CALL_OF(reals, each)                  \
    {.sites = DSLASH_SITES_CALL(SPINOR_REALS, each), \
     .links = BENCHMARK_ARRAY(0),                    \
     .links_n = 8 * reals,                           \
     .reconstruct = reals,                           \
     .antiperiodic = 1,                              \
     .a = 1,                                         \
     .anisotropy = 1}
#define DSLASH_BENCHMARK(name, reals, CALL) \
    LATTICE_SOURCES_BENCHMARK(lattice_types, "dslash." name ".r" #reals, .call = CALL(reals))
#define DSLASH_BENCHMARKS(name, CALL)                                   \
    DSLASH_BENCHMARK(name, 18, CALL), DSLASH_BENCHMARK(name, 12, CALL), \
        DSLASH_BENCHMARK(name, 8, CALL)

// Members of dslash_<op>_algorithm that follow from its name, and further ones; DSLASH_OF leaves
// out the values on run-time axes and which variants are invalid.
#define DSLASH(op, ...) \
    DSLASH_OF(op, .axis_values = dslash_axis_values, .invalid = dslash_invalid, __VA_ARGS__)
#define DSLASH_OF(op, ...)                                  \
    {.name = "dslash_" #op,                                 \
     .source = "dslash_" #op ".cu",                         \
     .kernels = DSLASH_KERNEL_NAMES("dslash_" #op),         \
     .has_kernel = dslash_has_kernel,                       \
     .benchmarks = dslash_##op##_benchmarks,                \
     .benchmark_count = COUNT_OF(dslash_##op##_benchmarks), \
     FIELDS(dslash_##op##_fields),                          \
     .axes = {LATTICE_SOURCE_AXES},                         \
     .random = dslash_random,                               \
     .workload = dslash_##op##_workload,                    \
     .plan = dslash_##op##_plan,                            \
     .flops = dslash_##op##_flops,                          \
     __VA_ARGS__}

#endif
