// Descriptor of the Dslash of Wilson-clover fermions: kernels/lattice/dslash_clover.cu.
#include "lattice/operators/clover.h"
#include "lattice/operators/dslash.h"

typedef struct dslash_clover_traits {
    int on_x; // C is applied to x, otherwise to the hopping term
} dslash_clover_traits;

DSLASH_TERM_TRAITS(dslash_clover_traits);

cubc_status dslash_clover_problem(const cubc_dslash_clover_params *params, problem *out)
{
    TRY(dslash_problem(&dslash_clover_algorithm, &params->wilson, out));
    if (params->on_x && !params->wilson.sites.x)
        FAIL(CUBC_INVALID_ARGUMENT, "dslash_clover: the clover term is to be applied to x, but "
                                    "there is no x");
    int first = out->input_count;
    TRY(lattice_norms("the clover term", params->clover_norms_n, params->clover_n,
                      params->wilson.sites.type, CLOVER_REALS));
    TRY(clover_input(out, params->clover, params->clover_norms, params->clover_n,
                     params->wilson.sites.type));
    TRY(dslash_apart(out, &out->inputs[first], "clover term"));
    TRY(lattice_aligned(out));
    dslash_clover_traits_set(out, (dslash_clover_traits){params->on_x != 0});
    return CUBC_OK;
}

// The inverse of the clover term on the hops.
LATTICE_WORKLOAD(dslash_clover)

static void dslash_clover_define(const problem *p, text *out)
{
    dslash_define(p, out);
    text_printf(out, "#define TUNE_SITE %d\n", dslash_clover_traits_of(p).on_x);
}

static cubc_status dslash_clover_plan(const problem *p, const instance *i, plan *out)
{
    const operand *clover = &p->inputs[p->input_count - 2];
    const uint64_t term[] = {(uintptr_t)clover[0].data, (uintptr_t)clover[1].data};
    return dslash_plan(p, i, term, sizeof term, out);
}

static double dslash_clover_traffic(const problem *p)
{
    int matrices = p->input_count - 2;
    double all = problem_input_bytes(p, matrices) + problem_input_bytes(p, matrices + 1);
    // Half of the matrices are read for one parity.
    return problem_array_bytes(p) - (dslash_site_traits_of(p).parity == 2 ? 0 : all / 2);
}

static double dslash_clover_flops(const problem *p)
{
    return dslash_flops(p, SPINOR_REALS, HOP_FLOPS + CLOVER_FLOPS);
}

static const field dslash_clover_fields[] = {
    DSLASH_FIELDS,
    FIELD_ARRAY(cubc_dslash_clover_params, clover, FIELD_INPUT, wilson.sites.type, clover_n),
    FIELD_ARRAY(cubc_dslash_clover_params, clover_norms, FIELD_INPUT, wilson.sites.norm_type,
                clover_norms_n),
    FIELD(cubc_dslash_clover_params, on_x, FIELD_INT),
};

#define CALL(reals)                                                  \
    &(const cubc_dslash_clover_params){.wilson = DSLASH_CALL(reals), \
                                       LATTICE_FIELD(clover, 5),     \
                                       .clover_n = 2 * CLOVER_REALS, \
                                       .clover_norms_n = 2}
static const benchmark dslash_clover_benchmarks[] = {DSLASH_BENCHMARKS("clover", CALL)};

const algorithm dslash_clover_algorithm =
    DSLASH(clover, .define = dslash_clover_define, .traffic = dslash_clover_traffic);
