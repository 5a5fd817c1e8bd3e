// Descriptor of the Dslash of twisted-mass fermions with a clover term:
// kernels/lattice/dslash_twisted_clover.cu.
#include "lattice/operators/clover.h"
#include "lattice/operators/dslash.h"

typedef struct dslash_twisted_clover_traits {
    int on_x; // C + i t gamma_5 is applied to x, otherwise the inverse to the hopping term
} dslash_twisted_clover_traits;

typedef struct dslash_twisted_clover_numbers {
    double t;
} dslash_twisted_clover_numbers;

DSLASH_TERM_TRAITS(dslash_twisted_clover_traits);
DSLASH_TERM_NUMBERS(dslash_twisted_clover_numbers);

static cubc_status add_matrices(const cubc_dslash_twisted_clover_params *params, const char *what,
                                const void *data, const float *norms, problem *out)
{
    int first = out->input_count;
    TRY(clover_input(out, data, norms, params->clover_n, params->wilson.sites.type));
    return dslash_apart(out, &out->inputs[first], what);
}

cubc_status dslash_twisted_clover_problem(const cubc_dslash_twisted_clover_params *params,
                                          problem *out)
{
    const bool on_x = params->on_x != 0;
    TRY(dslash_problem(&dslash_twisted_clover_algorithm, &params->wilson, out));
    if (on_x && !params->wilson.sites.x)
        FAIL(CUBC_INVALID_ARGUMENT, "dslash_twisted_clover: the clover term is to be applied to x, "
                                    "but there is no x");
    TRY(lattice_norms("the clover term", params->clover_norms_n, params->clover_n,
                      params->wilson.sites.type, CLOVER_REALS));
    TRY(add_matrices(params, "clover term", params->clover, params->clover_norms, out));
    if (!on_x)
        TRY(add_matrices(params, "inverse of the clover term", params->inverse,
                         params->inverse_norms, out));
    TRY(lattice_aligned(out));
    dslash_twisted_clover_traits_set(out, (dslash_twisted_clover_traits){on_x});
    dslash_twisted_clover_numbers_set(out, (dslash_twisted_clover_numbers){params->t});
    return CUBC_OK;
}

// The inverse on the hops.
LATTICE_WORKLOAD(dslash_twisted_clover)

static void dslash_twisted_clover_define(const problem *p, text *out)
{
    dslash_define(p, out);
    text_printf(out, "#define TUNE_SITE %d\n", dslash_twisted_clover_traits_of(p).on_x);
}

// The first operand of the matrices: C, then its norms, then those of the inverse if it is read.
static int first_matrices(const problem *p)
{
    return p->input_count - (dslash_twisted_clover_traits_of(p).on_x ? 2 : 4);
}

static cubc_status dslash_twisted_clover_plan(const problem *p, const instance *i, plan *out)
{
    const operand *clover = &p->inputs[first_matrices(p)];
    const operand *inverse = clover + (dslash_twisted_clover_traits_of(p).on_x ? 0 : 2);
    const uint64_t term[] = {dslash_word(dslash_twisted_clover_numbers_of(p).t),
                             (uintptr_t)clover[0].data, (uintptr_t)clover[1].data,
                             (uintptr_t)inverse[0].data, (uintptr_t)inverse[1].data};
    return dslash_plan(p, i, term, sizeof term, out);
}

static double dslash_twisted_clover_traffic(const problem *p)
{
    double all = 0;
    for (int k = first_matrices(p); k < p->input_count; k++) all += problem_input_bytes(p, k);
    // Half of the matrices are read for one parity.
    return problem_array_bytes(p) - (dslash_site_traits_of(p).parity == 2 ? 0 : all / 2);
}

static double dslash_twisted_clover_flops(const problem *p)
{
    return dslash_flops(p, SPINOR_REALS, HOP_FLOPS + TWISTED_CLOVER_FLOPS);
}

static const field dslash_twisted_clover_fields[] = {
    DSLASH_FIELDS,
    FIELD_ARRAY(cubc_dslash_twisted_clover_params, clover, FIELD_INPUT, wilson.sites.type,
                clover_n),
    FIELD_ARRAY(cubc_dslash_twisted_clover_params, clover_norms, FIELD_INPUT,
                wilson.sites.norm_type, clover_norms_n),
    FIELD_ARRAY(cubc_dslash_twisted_clover_params, inverse, FIELD_INPUT, wilson.sites.type,
                clover_n),
    FIELD_ARRAY(cubc_dslash_twisted_clover_params, inverse_norms, FIELD_INPUT,
                wilson.sites.norm_type, clover_norms_n),
    FIELD(cubc_dslash_twisted_clover_params, on_x, FIELD_INT),
    FIELD(cubc_dslash_twisted_clover_params, t, FIELD_REAL),
};

#define CALL(reals)                                                          \
    &(const cubc_dslash_twisted_clover_params){.wilson = DSLASH_CALL(reals), \
                                               LATTICE_FIELD(clover, 5),     \
                                               LATTICE_FIELD(inverse, 7),    \
                                               .clover_n = 2 * CLOVER_REALS, \
                                               .clover_norms_n = 2,          \
                                               .t = 1}
static const benchmark dslash_twisted_clover_benchmarks[] = {
    DSLASH_BENCHMARKS("twisted_clover", CALL)};

const algorithm dslash_twisted_clover_algorithm =
    DSLASH(twisted_clover, .define = dslash_twisted_clover_define,
           .traffic = dslash_twisted_clover_traffic);
