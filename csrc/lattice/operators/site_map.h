// The shared part of descriptors of kernels with a thread for every few sites of a lattice. The
// `details` of such an algorithm are a table of its macros and arguments.
#ifndef CUBC_LATTICE_SITE_MAP_H
#define CUBC_LATTICE_SITE_MAP_H

#include "lattice/operators/lattice_problem.h"

enum { MATRIX_REALS = 18, GAUGE_REALS = 4 * MATRIX_REALS }; // of a matrix, and of a site's links

typedef struct site_map {
    bool converts;         // macros TUNE_FROM, TUNE_TO, TUNE_WIDE of its types; otherwise TUNE_T
    const char *macros[4]; // of the algorithm's LATTICE_TRAITS, in their order
    size_t number_bytes;   // of its numbers: they are arguments, of 8 bytes each, after all arrays
    uint64_t (*sites)(const problem *p); // NULL: p->n
} site_map;

// Members of the algorithm that follow from its name and table, and further ones; and those of one
// that takes several right-hand sides, whose problem has n sites of all of them.
#define SITE_MAP(algorithm, ...)                                                            \
    SITE_MAP_MEMBERS(algorithm, .axes = {LATTICE_AXES}, .axis_values = lattice_axis_values, \
                     __VA_ARGS__)
#define SITE_MAP_OF_SOURCES(algorithm, ...)                    \
    SITE_MAP_MEMBERS(algorithm, .axes = {LATTICE_SOURCE_AXES}, \
                     .axis_values = site_map_axis_values_of_sources, __VA_ARGS__)
#define SITE_MAP_MEMBERS(algorithm, ...)                  \
    {.name = #algorithm,                                  \
     .source = #algorithm ".cu",                          \
     .benchmarks = algorithm##_benchmarks,                \
     .benchmark_count = COUNT_OF(algorithm##_benchmarks), \
     FIELDS(algorithm##_fields),                          \
     .workload = algorithm##_workload,                    \
     .define = site_map_define,                           \
     .details = &algorithm##_map,                         \
     __VA_ARGS__}

// An empty problem, on the lattice of these extents, x first.
cubc_status site_map_problem(const algorithm *a, const int extents[4], cubc_type type,
                             const char *benchmark, problem *out);
void site_map_define(const problem *p, text *out);
void site_map_axis_values_of_sources(const problem *p, uint64_t *values);
// Arguments: all inputs, all outputs, numbers.
cubc_status site_map_plan(const problem *p, const instance *i, plan *out);
// The same with other numbers than those of the table.
cubc_status site_map_plan_of(const problem *p, const instance *i, size_t number_bytes, plan *out);
// One launch with a thread for every `spt` of the sites, and arguments of 8 bytes each.
cubc_status site_map_launch(const problem *p, const instance *i, uint64_t sites, const void *args,
                            size_t bytes, plan *out);
// For `invalid`: every variant makes sense, or all that a multiprocessor holds.
const char *site_map_any_variant(const problem *p, const char *kind, const space *s,
                                 const variant *v);
const char *site_map_fitting_variant(const problem *p, const char *kind, const space *s,
                                     const variant *v);

#endif
