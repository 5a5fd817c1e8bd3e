// The common part of the descriptors of lattice kernels: extents, checks of fields, and fields as
// operands of a problem.
#ifndef CUBC_LATTICE_PROBLEM_H
#define CUBC_LATTICE_PROBLEM_H

#include "run/instance.h"
#include "run/problem.h"

enum { SPINOR_REALS = 24, COLOUR_VECTOR_REALS = 6 };

typedef struct lattice_traits {
    int extents[4]; // x first
} lattice_traits;

PROBLEM_TRAITS(lattice_traits);
// An algorithm's own are behind them.
#define LATTICE_TRAITS(type) PROBLEM_STRUCT(type, traits, sizeof(lattice_traits))

// Takes in the extents of a lattice, x first: even, and fewer than 2^31 sites of a parity.
cubc_status lattice_extents(problem *p, const int extents[4]);
uint64_t lattice_sites(const problem *p); // of one parity
uint64_t lattice_time_slices(const problem *p);
// A call's values on the run-time axes: its extents.
void lattice_axis_values(const problem *p, uint64_t *values);
// Counts the fields in n reals, `reals` a site; a field has 1 or 2 parities.
cubc_status lattice_fields(const problem *p, const char *what, uint64_t n, int reals, int parities,
                           uint64_t *fields);
// F64, F32, I16.
cubc_status lattice_precision(const char *what, cubc_type type);
cubc_status lattice_reconstruct(int reals);
// Real numbers in memory of a field of links with `reals` reals each (kernels/lattice/su3.h).
uint64_t lattice_link_reals(const problem *p, cubc_type type, int reals);
cubc_status lattice_parity(int parity); // 0, 1; 2: both
// Fails unless all fields start on 16 bytes.
cubc_status lattice_aligned(const problem *p);
// Fails unless all fields start on 16 bytes and the copy does not overlap what is copied.
cubc_status lattice_copy_apart(problem *p);
// The links of all directions and both parities, in native order.
cubc_status lattice_links(problem *p, const void *links, uint64_t n, cubc_type type, int reals);
// A field in native order and the norms that one of fixed point has: two operands.
cubc_status lattice_field_input(problem *p, const char *what, const void *data, const float *norms,
                                uint64_t n, cubc_type type, int reals);
// A norm a site where the field is of fixed-point numbers: norms_n of n reals.
cubc_status lattice_norms(const char *what, uint64_t norms_n, uint64_t n, cubc_type type,
                          int reals);
cubc_status lattice_field_output(problem *p, const char *what, void *data, float *norms, uint64_t n,
                                 cubc_type type, int reals);
// Complex numbers are two reals each.
void lattice_reals(cubc_type *type, uint64_t *n);
// The macros of kernels/lattice/lattice.h.
void lattice_define(const problem *p, text *out);

// The run-time axes: extents, and right-hand sides where a kernel takes several. The sign at the
// boundary is none: it changes no address.
#define LATTICE_AXES "X", "Y", "Z", "T"
#define LATTICE_SOURCE_AXES LATTICE_AXES, "Sources"
enum { LATTICE_SOURCES_AXIS = 4 };

// Members of a benchmark: its name, then further ones. Values that they declare: types with fixed
// point and without, the lattice 32^4, one source.
extern const cubc_type lattice_types[3], lattice_plain_types[2];
extern const int lattice_extent[1], lattice_one_source[1];
#define LATTICE_EXTENT_VALUES \
    AXIS(lattice_extent), AXIS(lattice_extent), AXIS(lattice_extent), AXIS(lattice_extent)
#define LATTICE_BENCHMARK(of, ...) \
    {.types = of, .type_count = COUNT_OF(of), .axes = {LATTICE_EXTENT_VALUES}, .name = __VA_ARGS__}
#define LATTICE_SOURCES_BENCHMARK(of, ...)                      \
    {.types = of,                                               \
     .type_count = COUNT_OF(of),                                \
     .axes = {LATTICE_EXTENT_VALUES, AXIS(lattice_one_source)}, \
     .name = __VA_ARGS__}

// The right-hand sides of a benchmark, one where it has no such axis.
cubc_status lattice_sources_at(const uint64_t *at, uint64_t *sources);
// Makes a copy of a row's public parameters a call at a benchmark's values. Arrays of the row are
// BENCHMARK_ARRAYs, with reals and norms of a site of one parity, from which the numbers of items
// follow; those of outputs are of all right-hand sides. Types that the row does not name are the
// benchmark's: F32 is that of norms, which only fixed-point numbers have, and an array of another
// type has as many items as the row says.
cubc_status lattice_call(const algorithm *a, const void *row, cubc_type type, const uint64_t *at,
                         void *params);
// Members of a row for a field and its norms, the arrays k and k + 1.
#define LATTICE_FIELD(name, k) .name = BENCHMARK_ARRAY(k), .name##_norms = BENCHMARK_ARRAY((k) + 1)
// The workload of an algorithm whose benchmarks are such calls.
#define LATTICE_WORKLOAD(name)                                                                 \
    static cubc_status name##_workload(const benchmark *b, cubc_type type, const uint64_t *at, \
                                       problem *out)                                           \
    {                                                                                          \
        cubc_##name##_params call = *(const cubc_##name##_params *)b->call;                    \
        TRY(lattice_call(&name##_algorithm, b->call, type, at, &call));                        \
        return name##_problem(&call, out);                                                     \
    }

// The extents in the public parameters of an algorithm: taken out, put in, and their fields.
#define LATTICE_EXTENTS(params)                                \
    (const int[])                                              \
    {                                                          \
        (params)->lx, (params)->ly, (params)->lz, (params)->lt \
    }
#define LATTICE_EXTENT_MEMBERS(extents) \
    .lx = (extents)[0], .ly = (extents)[1], .lz = (extents)[2], .lt = (extents)[3]
#define LATTICE_EXTENT_FIELDS(params)                                                         \
    FIELD(params, lx, FIELD_INT), FIELD(params, ly, FIELD_INT), FIELD(params, lz, FIELD_INT), \
        FIELD(params, lt, FIELD_INT)

#endif
