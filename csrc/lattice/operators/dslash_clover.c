// Descriptor of the Dslash of Wilson-clover fermions: kernels/lattice/dslash_clover.cu.
#include "lattice/operators/clover.h"
#include "lattice/operators/dslash.h"

typedef struct dslash_clover_traits {
    dslash_traits dslash;
    int site; // 1 if C is applied to x, 0 to the hopping term
} dslash_clover_traits;

PROBLEM_TRAITS(dslash_clover_traits);

cubc_status dslash_clover_problem(const cubc_dslash_clover_params *params, problem *out)
{
    TRY(dslash_problem(&dslash_clover_algorithm, &params->wilson, out));
    if (params->on_x && !params->wilson.x)
        FAIL(CUBC_INVALID_ARGUMENT, "dslash_clover: the clover term is to be applied to x, but "
                                    "there is no x");
    int first = out->input_count;
    TRY(lattice_norms("the clover term", params->clover_norms_n, params->clover_n,
                      params->wilson.type, CLOVER_REALS));
    TRY(clover_input(out, params->clover, params->clover_norms, params->clover_n,
                     params->wilson.type));
    TRY(dslash_apart(out, &out->inputs[first], "clover term"));
    TRY(lattice_aligned(out));
    dslash_clover_traits_set(
        out, (dslash_clover_traits){.dslash = dslash_traits_of(out), .site = params->on_x != 0});
    return CUBC_OK;
}

// The inverse of the clover term on the hops.
static cubc_status dslash_clover_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                          problem *out)
{
    benchmark_lattice place;
    cubc_dslash_clover_params params = {.clover = BENCHMARK_ARRAY(5),
                                        .clover_norms = BENCHMARK_NORMS(6, type)};
    TRY(lattice_of_benchmark(at, &place));
    TRY(dslash_benchmark_params(b, type, at, &params.wilson));
    params.clover_n = CLOVER_REALS * place.sites;
    params.clover_norms_n = BENCHMARK_NORM_COUNT(type, place.sites);
    return dslash_clover_problem(&params, out);
}

static void dslash_clover_define(const problem *p, text *out)
{
    dslash_define(p, out);
    text_printf(out, "#define TUNE_SITE %d\n", dslash_clover_traits_of(p).site);
}

static cubc_status dslash_clover_plan(const problem *p, const instance *i, plan *out)
{
    const operand *clover = &p->inputs[p->input_count - 2];
    return dslash_plan(p, i, (uint64_t[]){(uintptr_t)clover[0].data, (uintptr_t)clover[1].data}, 2,
                       out);
}

static double dslash_clover_traffic(const problem *p)
{
    int matrices = p->input_count - 2;
    double all = problem_input_bytes(p, matrices) + problem_input_bytes(p, matrices + 1);
    // Half of the matrices are read for one parity.
    return problem_array_bytes(p) - (dslash_traits_of(p).parity == 2 ? 0 : all / 2);
}

static const field dslash_clover_fields[] = {
    DSLASH_FIELDS,
    FIELD_ARRAY(cubc_dslash_clover_params, clover, FIELD_INPUT, wilson.type, clover_n),
    FIELD_ARRAY(cubc_dslash_clover_params, clover_norms, FIELD_INPUT, wilson.norm_type,
                clover_norms_n),
    FIELD(cubc_dslash_clover_params, on_x, FIELD_INT),
};

static const benchmark dslash_clover_benchmarks[] = {DSLASH_BENCHMARKS("clover")};

const algorithm dslash_clover_algorithm =
    DSLASH(clover, .workload = dslash_clover_workload, .define = dslash_clover_define,
           .traffic = dslash_clover_traffic);
