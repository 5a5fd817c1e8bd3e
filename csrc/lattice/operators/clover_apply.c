// Descriptor of clover_apply: kernels/lattice/clover_apply.cu.
#include "lattice/operators/clover.h"

typedef struct clover_apply_numbers {
    uint64_t fields; // of a parity, of all sources
    uint64_t parity;
} clover_apply_numbers;

PROBLEM_NUMBERS(clover_apply_numbers);

cubc_status clover_apply_problem(const cubc_clover_apply_params *params, problem *out)
{
    uint64_t sources;
    TRY(site_map_problem(&clover_apply_algorithm, LATTICE_EXTENTS(params), params->type,
                         "clover_apply.site", out));
    out->n = params->n / SPINOR_REALS;
    TRY(lattice_parity(params->parity));
    int parities = params->parity == 2 ? 2 : 1;
    TRY(lattice_fields(out, "the input of clover_apply", params->n, SPINOR_REALS, parities,
                       &sources));
    TRY(lattice_norms("the input of clover_apply", params->norms_n, params->n, params->type,
                      SPINOR_REALS));
    TRY(lattice_norms("the clover term", params->clover_norms_n, params->clover_n, params->type,
                      CLOVER_REALS));
    TRY(clover_input(out, params->clover, params->clover_norms, params->clover_n, params->type));
    TRY(lattice_field_input(out, "the input of clover_apply", params->x, params->x_norms, params->n,
                            params->type, SPINOR_REALS));
    TRY(lattice_field_output(out, "the output of clover_apply", params->out, params->out_norms,
                             params->n, params->type, SPINOR_REALS));
    TRY(problem_check_overlap(out, ANY_INPUT));
    TRY(lattice_aligned(out));
    clover_apply_numbers_set(out, (clover_apply_numbers){.fields = sources * (uint64_t)parities,
                                                         .parity = (uint64_t)params->parity});
    return CUBC_OK;
}

LATTICE_WORKLOAD(clover_apply)

static const field clover_apply_fields[] = {
    FIELD_ARRAY(cubc_clover_apply_params, clover, FIELD_INPUT, type, clover_n),
    FIELD_ARRAY(cubc_clover_apply_params, clover_norms, FIELD_INPUT, norm_type, clover_norms_n),
    FIELD_ARRAY(cubc_clover_apply_params, x, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_clover_apply_params, x_norms, FIELD_INPUT, norm_type, norms_n),
    FIELD_ARRAY(cubc_clover_apply_params, out, FIELD_OUTPUT, type, n),
    FIELD_ARRAY(cubc_clover_apply_params, out_norms, FIELD_OUTPUT, norm_type, norms_n),
    LATTICE_EXTENT_FIELDS(cubc_clover_apply_params),
    FIELD(cubc_clover_apply_params, parity, FIELD_INT),
};

static const cubc_clover_apply_params both = {LATTICE_FIELD(clover, 0),
                                              LATTICE_FIELD(x, 2),
                                              LATTICE_FIELD(out, 4),
                                              .clover_n = 2 * CLOVER_REALS,
                                              .clover_norms_n = 2,
                                              .n = 2 * SPINOR_REALS,
                                              .norms_n = 2,
                                              .norm_type = CUBC_F32,
                                              .parity = 2};
static const benchmark clover_apply_benchmarks[] = {
    LATTICE_SOURCES_BENCHMARK(lattice_types, "clover_apply.site", .call = &both)};

static const site_map clover_apply_map = {.number_bytes = sizeof(clover_apply_numbers)};

const algorithm clover_apply_algorithm = SITE_MAP_OF_SOURCES(
    clover_apply, .kernels = {"clover_apply_sites"}, .invalid = site_map_any_variant,
    .plan = site_map_plan, .traffic = problem_array_bytes);
