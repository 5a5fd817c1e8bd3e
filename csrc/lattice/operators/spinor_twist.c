// Descriptor of spinor_twist: kernels/lattice/spinor_twist.cu.
#include "lattice/operators/site_map.h"

typedef struct spinor_twist_numbers {
    uint64_t fields; // of a parity, of all sources
    double a, a5;
} spinor_twist_numbers;

PROBLEM_NUMBERS(spinor_twist_numbers);

cubc_status spinor_twist_problem(const cubc_spinor_twist_params *params, problem *out)
{
    spinor_twist_numbers numbers = {.a = params->a, .a5 = params->a5};
    TRY(site_map_problem(&spinor_twist_algorithm, LATTICE_EXTENTS(params), params->type,
                         "spinor_twist.apply", out));
    out->n = params->n / SPINOR_REALS;
    TRY(lattice_fields(out, "the spinors to twist", params->n, SPINOR_REALS, 1, &numbers.fields));
    TRY(lattice_norms("the field to twist", params->norms_n, params->n, params->type,
                      SPINOR_REALS));
    TRY(lattice_field_input(out, "the field to twist", params->x, params->x_norms, params->n,
                            params->type, SPINOR_REALS));
    TRY(lattice_field_output(out, "the output of twist", params->out, params->out_norms, params->n,
                             params->type, SPINOR_REALS));
    TRY(problem_check_overlap(out, ANY_INPUT));
    TRY(lattice_aligned(out));
    spinor_twist_numbers_set(out, numbers);
    return CUBC_OK;
}

LATTICE_WORKLOAD(spinor_twist)

static const field spinor_twist_fields[] = {
    FIELD_ARRAY(cubc_spinor_twist_params, x, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_spinor_twist_params, x_norms, FIELD_INPUT, norm_type, norms_n),
    FIELD_ARRAY(cubc_spinor_twist_params, out, FIELD_OUTPUT, type, n),
    FIELD_ARRAY(cubc_spinor_twist_params, out_norms, FIELD_OUTPUT, norm_type, norms_n),
    LATTICE_EXTENT_FIELDS(cubc_spinor_twist_params),
    FIELD(cubc_spinor_twist_params, a, FIELD_REAL),
    FIELD(cubc_spinor_twist_params, a5, FIELD_REAL),
};

static const cubc_spinor_twist_params twist = {LATTICE_FIELD(x, 0),
                                               LATTICE_FIELD(out, 2),
                                               .n = 2 * SPINOR_REALS,
                                               .norms_n = 2,
                                               .norm_type = CUBC_F32,
                                               .a = 1,
                                               .a5 = 1};
static const benchmark spinor_twist_benchmarks[] = {
    LATTICE_SOURCES_BENCHMARK(lattice_types, "spinor_twist.apply", .call = &twist)};

static const site_map spinor_twist_map = {.number_bytes = sizeof(spinor_twist_numbers)};

const algorithm spinor_twist_algorithm = SITE_MAP_OF_SOURCES(
    spinor_twist, .kernels = {"spinor_twist_sites"}, .invalid = site_map_any_variant,
    .plan = site_map_plan, .traffic = problem_array_bytes);
