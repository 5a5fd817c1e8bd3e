// Descriptor of spinor_twist: kernels/lattice/spinor_twist.cu.
#include "lattice/operators/site_map.h"

enum { FIELDS, A, A5 }; // among a problem's numbers: fields of a parity, of all sources

cubc_status spinor_twist_problem(const cubc_spinor_twist_params *params, problem *out)
{
    TRY(site_map_problem(&spinor_twist_algorithm, LATTICE_EXTENTS(params), params->type,
                         "spinor_twist.apply", out));
    out->n = params->n / SPINOR_REALS;
    TRY(lattice_sources(out, "the spinors to twist", params->n, 1, &out->numbers[FIELDS]));
    TRY(lattice_norms("the field to twist", params->norms_n, params->n, params->type,
                      SPINOR_REALS));
    TRY(lattice_field_input(out, "the field to twist", params->x, params->x_norms, params->n,
                            params->type, SPINOR_REALS));
    TRY(lattice_field_output(out, "the output of twist", params->out, params->out_norms, params->n,
                             params->type, SPINOR_REALS));
    TRY(problem_overlap(out, ANY_INPUT));
    TRY(lattice_aligned(out));
    out->numbers[A] = lattice_word(params->a);
    out->numbers[A5] = lattice_word(params->a5);
    return CUBC_OK;
}

static cubc_status spinor_twist_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                         problem *out)
{
    uint64_t sources;
    (void)b;
    TRY(site_map_workload(type, at, out));
    TRY(site_map_add_sources(at, &sources, out));
    site_map_add_field_input(out, SPINOR_REALS);
    site_map_add_field_output(out, SPINOR_REALS);
    out->numbers[FIELDS] = 2 * sources;
    out->numbers[A] = out->numbers[A5] = lattice_word(1);
    return CUBC_OK;
}

static const field spinor_twist_fields[] = {
    FIELD_ARRAY(cubc_spinor_twist_params, x, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_spinor_twist_params, x_norms, FIELD_INPUT, norm_type, norms_n),
    FIELD_ARRAY(cubc_spinor_twist_params, out, FIELD_OUTPUT, type, n),
    FIELD_ARRAY(cubc_spinor_twist_params, out_norms, FIELD_OUTPUT, norm_type, norms_n),
    LATTICE_EXTENT_FIELDS(cubc_spinor_twist_params),
    FIELD(cubc_spinor_twist_params, a, FIELD_REAL),
    FIELD(cubc_spinor_twist_params, a5, FIELD_REAL),
};

static const benchmark spinor_twist_benchmarks[] = {
    LATTICE_SOURCES_BENCHMARK("spinor_twist.apply", lattice_types)};

static const site_map spinor_twist_map = {.numbers = 3};

const algorithm spinor_twist_algorithm = SITE_MAP_OF_SOURCES(
    spinor_twist, .kernels = {"spinor_twist_sites"}, .invalid = site_map_any_variant,
    .plan = site_map_plan, .traffic = problem_array_bytes);
