// Descriptor of gauge_rotate: kernels/lattice/gauge_rotate.cu.
#include "lattice/gauge/gauge.h"

#include <string.h>

typedef struct gauge_rotate_traits {
    int vectors; // of a spinor or colour vector; 0: links are rotated
    int inverse, temporal;
} gauge_rotate_traits;

typedef struct gauge_rotate_numbers {
    uint64_t fields;
    uint64_t last; // the lattice's last time slice, if it is here
} gauge_rotate_numbers;

LATTICE_TRAITS(gauge_rotate_traits);
PROBLEM_NUMBERS(gauge_rotate_numbers);

cubc_status gauge_rotate_problem(const cubc_gauge_rotate_params *params, problem *out)
{
    const int reals = params->reals;
    gauge_rotate_numbers numbers;
    bool links = reals == GAUGE_REALS;
    if (!links && reals != 24 && reals != 6)
        FAIL(CUBC_INVALID_ARGUMENT,
             "gauge_rotate: a field of %d reals a site: links have 72, spinors 24, colour vectors "
             "6",
             reals);
    if (params->temporal_gauge && (!links || params->inverse))
        FAIL(CUBC_INVALID_ARGUMENT, "gauge_rotate: it is links that come into temporal gauge");
    TRY(gauge_problem(&gauge_rotate_algorithm, LATTICE_EXTENTS(params), params->type,
                      links ? "gauge_rotate.links" : "gauge_rotate.spinors", out));
    TRY(lattice_fields(out, "the field to rotate", params->n, reals, 2, &numbers.fields));
    if (links && numbers.fields != 1)
        FAIL(CUBC_INVALID_ARGUMENT, "gauge_rotate: %llu gauge fields: they are rotated singly",
             (unsigned long long)numbers.fields);
    TRY(gauge_input(out, "the field to rotate", params->in, params->n, reals));
    TRY(gauge_input(out, "the rotation", params->rotation, params->rotation_n, MATRIX_REALS));
    TRY(gauge_output(out, "the output of gauge_rotate", params->out, params->n, reals));
    if (params->slices_behind < -1 || params->slices_behind >= params->lt)
        FAIL(CUBC_INVALID_ARGUMENT,
             "gauge_rotate: %d time slices behind the last one: from 0 to %d, or -1",
             params->slices_behind, params->lt - 1);
    numbers.last = (uint64_t)(params->lt - 1 - params->slices_behind);
    gauge_rotate_numbers_set(out, numbers);
    gauge_rotate_traits_set(out, (gauge_rotate_traits){.vectors = links ? 0 : reals / 6,
                                                       .inverse = params->inverse != 0,
                                                       .temporal = params->temporal_gauge != 0});
    return gauge_arrays(out);
}

LATTICE_WORKLOAD(gauge_rotate)

static const field gauge_rotate_fields[] = {
    FIELD_ARRAY(cubc_gauge_rotate_params, in, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_gauge_rotate_params, rotation, FIELD_INPUT, type, rotation_n),
    FIELD_ARRAY(cubc_gauge_rotate_params, out, FIELD_OUTPUT, type, n),
    FIELD(cubc_gauge_rotate_params, reals, FIELD_INT),
    FIELD(cubc_gauge_rotate_params, inverse, FIELD_INT),
    FIELD(cubc_gauge_rotate_params, temporal_gauge, FIELD_INT),
    FIELD(cubc_gauge_rotate_params, slices_behind, FIELD_INT),
    LATTICE_EXTENT_FIELDS(cubc_gauge_rotate_params),
};

#define CALL(reals_of)               \
    {.in = BENCHMARK_ARRAY(0),       \
     .rotation = BENCHMARK_ARRAY(1), \
     .out = BENCHMARK_ARRAY(2),      \
     .n = 2 * reals_of,              \
     .rotation_n = 2 * MATRIX_REALS, \
     .reals = reals_of}
static const cubc_gauge_rotate_params links = CALL(GAUGE_REALS), spinors = CALL(SPINOR_REALS);
static const benchmark gauge_rotate_benchmarks[] = {
    LATTICE_BENCHMARK(lattice_plain_types, "gauge_rotate.links", .call = &links),
    LATTICE_SOURCES_BENCHMARK(lattice_plain_types, "gauge_rotate.spinors", .call = &spinors)};

static void gauge_rotate_axis_values(const problem *p, uint64_t *values)
{
    lattice_axis_values(p, values);
    values[LATTICE_SOURCES_AXIS] = gauge_rotate_numbers_of(p).fields;
}

static uint64_t rotated_sites(const problem *p)
{
    return p->n * gauge_rotate_numbers_of(p).fields;
}

static const site_map gauge_rotate_map = {.macros = {"VECTORS", "INVERSE", "TEMPORAL"},
                                          .number_bytes = sizeof(gauge_rotate_numbers),
                                          .sites = rotated_sites};

const algorithm gauge_rotate_algorithm = SITE_MAP_MEMBERS(
    gauge_rotate, .axes = {LATTICE_SOURCE_AXES}, .axis_values = gauge_rotate_axis_values,
    .kernels = {"gauge_rotate"}, .invalid = site_map_fitting_variant, .plan = site_map_plan,
    .traffic = problem_array_bytes, .random = gauge_random_integers);
