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
    TRY(lattice_sources(out, "the input of clover_apply", params->n, parities, &sources));
    TRY(lattice_norms("the input of clover_apply", params->norms_n, params->n, params->type,
                      SPINOR_REALS));
    TRY(lattice_norms("the clover term", params->clover_norms_n, params->clover_n, params->type,
                      CLOVER_REALS));
    TRY(clover_input(out, params->clover, params->clover_norms, params->clover_n, params->type));
    TRY(lattice_field_input(out, "the input of clover_apply", params->x, params->x_norms, params->n,
                            params->type, SPINOR_REALS));
    TRY(lattice_field_output(out, "the output of clover_apply", params->out, params->out_norms,
                             params->n, params->type, SPINOR_REALS));
    TRY(problem_overlap(out, ANY_INPUT));
    TRY(lattice_aligned(out));
    clover_apply_numbers_set(out, (clover_apply_numbers){.fields = sources * (uint64_t)parities,
                                                         .parity = (uint64_t)params->parity});
    return CUBC_OK;
}

static cubc_status clover_apply_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                         problem *out)
{
    benchmark_lattice place;
    (void)b;
    TRY(lattice_of_benchmark(at, &place));
    const uint64_t spinors = place.sites * place.sources;
    const cubc_clover_apply_params params = {
        .clover = BENCHMARK_ARRAY(0),
        .clover_norms = BENCHMARK_NORMS(1, type),
        .x = BENCHMARK_ARRAY(2),
        .x_norms = BENCHMARK_NORMS(3, type),
        .out = BENCHMARK_ARRAY(4),
        .out_norms = BENCHMARK_NORMS(5, type),
        .clover_n = CLOVER_REALS * place.sites,
        .n = SPINOR_REALS * spinors,
        .clover_norms_n = BENCHMARK_NORM_COUNT(type, place.sites),
        .norms_n = BENCHMARK_NORM_COUNT(type, spinors),
        .type = type,
        BENCHMARK_EXTENTS(place),
        .parity = 2,
    };
    return clover_apply_problem(&params, out);
}

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

static const benchmark clover_apply_benchmarks[] = {
    LATTICE_SOURCES_BENCHMARK("clover_apply.site", lattice_types)};

static const site_map clover_apply_map = {.numbers = sizeof(clover_apply_numbers)};

const algorithm clover_apply_algorithm = SITE_MAP_OF_SOURCES(
    clover_apply, .kernels = {"clover_apply_sites"}, .invalid = site_map_any_variant,
    .plan = site_map_plan, .traffic = problem_array_bytes);
