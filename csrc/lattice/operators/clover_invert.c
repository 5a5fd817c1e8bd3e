// Descriptor of clover_invert: kernels/lattice/clover_invert.cu.
#include "lattice/operators/clover.h"

typedef struct clover_invert_traits {
    int squared; // of C^2 + shift
} clover_invert_traits;

typedef struct clover_invert_numbers {
    double shift;
} clover_invert_numbers;

LATTICE_TRAITS(clover_invert_traits);
PROBLEM_NUMBERS(clover_invert_numbers);

cubc_status clover_invert_problem(const cubc_clover_invert_params *params, problem *out)
{
    TRY(site_map_problem(&clover_invert_algorithm, LATTICE_EXTENTS(params), params->clover_type,
                         "clover_invert.field", out));
    TRY(lattice_norms("the clover term", params->clover_norms_n, params->clover_n,
                      params->clover_type, CLOVER_REALS));
    TRY(lattice_norms("the inverse", params->norms_n, params->n, params->type, CLOVER_REALS));
    TRY(clover_input(out, params->clover, params->clover_norms, params->clover_n,
                     params->clover_type));
    TRY(clover_output(out, "the inverse", params->out, params->out_norms, params->n, params->type));
    if (params->log_det_n != out->n)
        FAIL(CUBC_INVALID_ARGUMENT, "log_det has %llu numbers: there is one a site, %llu",
             (unsigned long long)params->log_det_n, (unsigned long long)out->n);
    TRY(problem_output(out, "log_det", params->log_det, out->n, CUBC_F64));
    TRY(problem_check_overlap(out, ANY_INPUT));
    clover_invert_traits_set(out, (clover_invert_traits){params->squared != 0});
    clover_invert_numbers_set(out, (clover_invert_numbers){params->shift});
    return lattice_aligned(out);
}

LATTICE_WORKLOAD(clover_invert)

// No matrix is singular.
static const char *clover_invert_random(const problem *p, int k)
{
    if (k == 1) return "1 + (random_u64(seed, i) >> 62)"; // norms
    return p->type == CUBC_I16 ? NULL : "(random_u64(seed, i) >> 40) * 0x1p-25";
}

static const field clover_invert_fields[] = {
    FIELD_ARRAY(cubc_clover_invert_params, clover, FIELD_INPUT, clover_type, clover_n),
    FIELD_ARRAY(cubc_clover_invert_params, clover_norms, FIELD_INPUT, norm_type, clover_norms_n),
    FIELD_ARRAY(cubc_clover_invert_params, out, FIELD_OUTPUT, type, n),
    FIELD_ARRAY(cubc_clover_invert_params, out_norms, FIELD_OUTPUT, norm_type, norms_n),
    FIELD_ARRAY(cubc_clover_invert_params, log_det, FIELD_OUTPUT, log_det_type, log_det_n),
    LATTICE_EXTENT_FIELDS(cubc_clover_invert_params),
    FIELD(cubc_clover_invert_params, squared, FIELD_INT),
    FIELD(cubc_clover_invert_params, shift, FIELD_REAL),
};

static const cubc_clover_invert_params inverse = {LATTICE_FIELD(clover, 0),
                                                  LATTICE_FIELD(out, 2),
                                                  .log_det = BENCHMARK_ARRAY(4),
                                                  .clover_n = 2 * CLOVER_REALS,
                                                  .clover_norms_n = 2,
                                                  .n = 2 * CLOVER_REALS,
                                                  .norms_n = 2,
                                                  .log_det_n = 2,
                                                  .norm_type = CUBC_F32};
static const benchmark clover_invert_benchmarks[] = {
    LATTICE_BENCHMARK(lattice_types, "clover_invert.field", .call = &inverse)};

static const site_map clover_invert_map = {
    .converts = true, .macros = {"SQUARED"}, .number_bytes = sizeof(clover_invert_numbers)};

const algorithm clover_invert_algorithm =
    SITE_MAP(clover_invert, .kernels = {"clover_invert_sites"}, .invalid = site_map_any_variant,
             .plan = site_map_plan, .traffic = problem_array_bytes, .random = clover_invert_random);
