// Descriptor of clover_term: kernels/lattice/clover_term.cu.
#include "lattice/operators/clover.h"

#include <math.h>

typedef struct clover_term_numbers {
    double magnetic, electric;
} clover_term_numbers;

PROBLEM_NUMBERS(clover_term_numbers);

cubc_status clover_term_problem(const cubc_clover_term_params *params, problem *out)
{
    TRY(site_map_problem(&clover_term_algorithm, LATTICE_EXTENTS(params), params->links_type,
                         "clover_term.field", out));
    if (params->links_type == CUBC_I16)
        FAIL(CUBC_INVALID_TYPE, "clover_term: of links in fixed point (I16) there is no clover "
                                "term; use those in F64 or F32");
    TRY(lattice_links(out, params->links, params->links_n, params->links_type, MATRIX_REALS));
    TRY(lattice_norms("the clover term", params->norms_n, params->n, params->type, CLOVER_REALS));
    TRY(clover_output(out, "the clover term", params->out, params->out_norms, params->n,
                      params->type));
    TRY(problem_check_overlap(out, ANY_INPUT));
    TRY(lattice_aligned(out));
    if (out->in_place)
        FAIL(CUBC_INVALID_ARGUMENT, "clover_term: the output overlaps the gauge field");
    if (!isfinite(params->magnetic) || !isfinite(params->electric))
        FAIL(CUBC_INVALID_ARGUMENT,
             "clover_term: coefficients of %g and %g: they are finite numbers", params->magnetic,
             params->electric);
    clover_term_numbers_set(out, (clover_term_numbers){params->magnetic, params->electric});
    return CUBC_OK;
}

LATTICE_WORKLOAD(clover_term)

static const char *clover_term_random(const problem *p, int k)
{
    (void)p, (void)k;
    return "static_cast<i32>(random_u64(seed, i) % 3) - 1"; // sums are exact
}

static const field clover_term_fields[] = {
    FIELD_ARRAY(cubc_clover_term_params, links, FIELD_INPUT, links_type, links_n),
    FIELD_ARRAY(cubc_clover_term_params, out, FIELD_OUTPUT, type, n),
    FIELD_ARRAY(cubc_clover_term_params, out_norms, FIELD_OUTPUT, norm_type, norms_n),
    LATTICE_EXTENT_FIELDS(cubc_clover_term_params),
    FIELD(cubc_clover_term_params, magnetic, FIELD_REAL),
    FIELD(cubc_clover_term_params, electric, FIELD_REAL),
};

static const cubc_clover_term_params term = {.links = BENCHMARK_ARRAY(0),
                                             LATTICE_FIELD(out, 1),
                                             .links_n = 2 * GAUGE_REALS,
                                             .n = 2 * CLOVER_REALS,
                                             .norms_n = 2,
                                             .norm_type = CUBC_F32,
                                             .magnetic = 1,
                                             .electric = 1};
static const benchmark clover_term_benchmarks[] = {
    LATTICE_BENCHMARK(lattice_plain_types, "clover_term.field", .call = &term)};

static const site_map clover_term_map = {.converts = true,
                                         .number_bytes = sizeof(clover_term_numbers)};

const algorithm clover_term_algorithm =
    SITE_MAP(clover_term, .kernels = {"clover_term"}, .invalid = site_map_any_variant,
             .plan = site_map_plan, .traffic = problem_array_bytes, .random = clover_term_random);
