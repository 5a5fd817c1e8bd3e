// Descriptor of clover_term: kernels/lattice/clover_term.cu.
#include "lattice/operators/clover.h"

#include <math.h>

enum { MAGNETIC, ELECTRIC }; // among a problem's numbers
enum { LINK = 18 };

cubc_status clover_term_problem(const cubc_clover_term_params *params, problem *out)
{
    const int extents[4] = {params->lx, params->ly, params->lz, params->lt};
    *out = (problem){.algorithm = &clover_term_algorithm,
                     .type = (uint8_t)params->links_type,
                     .acc_type = (uint8_t)params->links_type,
                     .benchmark = "clover_term.field",
                     .aligned = true};
    TRY(lattice_extents(out, extents));
    out->n = 2 * lattice_sites(out);
    if (params->links_type == CUBC_I16)
        FAIL(CUBC_INVALID_TYPE, "clover_term: of links in fixed point (I16) there is no clover "
                                "term; use those in F64 or F32");
    TRY(lattice_links(out, params->links, params->links_n, params->links_type, LINK));
    TRY(lattice_norms("the clover term", params->norms_n, params->n, params->type, CLOVER_REALS));
    TRY(clover_output(out, "the clover term", params->out, params->out_norms, params->n,
                      params->type));
    TRY(problem_overlap(out, ANY_INPUT));
    TRY(lattice_aligned(out));
    if (out->in_place)
        FAIL(CUBC_INVALID_ARGUMENT, "clover_term: the output overlaps the gauge field");
    if (!isfinite(params->magnetic) || !isfinite(params->electric))
        FAIL(CUBC_INVALID_ARGUMENT,
             "clover_term: coefficients of %g and %g: they are finite numbers", params->magnetic,
             params->electric);
    out->numbers[MAGNETIC] = lattice_word(params->magnetic);
    out->numbers[ELECTRIC] = lattice_word(params->electric);
    return CUBC_OK;
}

static cubc_status clover_term_workload(const benchmark *b, cubc_type type, uint64_t n,
                                        problem *out)
{
    (void)b;
    if (n < 16) n = 16;
    *out = (problem){.n = n,
                     .type = (uint8_t)type,
                     .acc_type = (uint8_t)type,
                     .aligned = true,
                     .inputs = {{.n = 4 * n * LINK, .type = (uint8_t)type}},
                     .input_count = 1,
                     .output_count = 2,
                     .numbers = {[MAGNETIC] = lattice_word(1), [ELECTRIC] = lattice_word(1)}};
    lattice_extents_of(out, n);
    clover_operands(out, type, out->outputs);
    return CUBC_OK;
}

static const char *clover_term_random(const problem *p, int k)
{
    (void)p, (void)k;
    return "static_cast<i32>(random_u64(seed, i) % 3) - 1"; // sums are exact
}

static void clover_term_define(const problem *p, text *out)
{
    lattice_define(p, out);
    lattice_define_copy(p, out);
}

static cubc_status clover_term_plan(const problem *p, const instance *i, plan *out)
{
    return lattice_plan_copy(
        p, i, p->n, out,
        (uint64_t[]){(uintptr_t)p->inputs[0].data, (uintptr_t)p->outputs[0].data,
                     (uintptr_t)p->outputs[1].data, p->numbers[MAGNETIC], p->numbers[ELECTRIC]},
        5);
}

static const field clover_term_fields[] = {
    FIELD_ARRAY(cubc_clover_term_params, links, FIELD_INPUT, links_type, links_n),
    FIELD_ARRAY(cubc_clover_term_params, out, FIELD_OUTPUT, type, n),
    FIELD_ARRAY(cubc_clover_term_params, out_norms, FIELD_OUTPUT, norm_type, norms_n),
    FIELD(cubc_clover_term_params, lx, FIELD_INT),
    FIELD(cubc_clover_term_params, ly, FIELD_INT),
    FIELD(cubc_clover_term_params, lz, FIELD_INT),
    FIELD(cubc_clover_term_params, lt, FIELD_INT),
    FIELD(cubc_clover_term_params, magnetic, FIELD_REAL),
    FIELD(cubc_clover_term_params, electric, FIELD_REAL),
};

static const benchmark clover_term_benchmarks[] = {
    {"clover_term.field", lattice_plain_types, 2, lattice_volumes, 3}};

const algorithm clover_term_algorithm = {.name = "clover_term",
                                         .source = "clover_term.cu",
                                         .kernels = {"clover_term"},
                                         .benchmarks = clover_term_benchmarks,
                                         .benchmark_count = COUNT_OF(clover_term_benchmarks),
                                         FIELDS(clover_term_fields),
                                         .workload = clover_term_workload,
                                         .define = clover_term_define,
                                         .invalid = lattice_any_variant,
                                         .plan = clover_term_plan,
                                         .traffic = problem_array_bytes,
                                         .random = clover_term_random};
