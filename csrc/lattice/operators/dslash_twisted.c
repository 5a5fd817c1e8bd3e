// Descriptor of the Dslash of twisted mass fermions: kernels/lattice/dslash_twisted.cu.
#include "lattice/operators/dslash.h"

typedef struct dslash_twisted_numbers {
    double a5, b, b5;
} dslash_twisted_numbers;

DSLASH_TERM_NUMBERS(dslash_twisted_numbers);

cubc_status dslash_twisted_problem(const cubc_dslash_twisted_params *params, problem *out)
{
    TRY(dslash_problem(&dslash_twisted_algorithm, &params->wilson, out));
    dslash_twisted_numbers_set(out, (dslash_twisted_numbers){params->a5, params->b, params->b5});
    return CUBC_OK;
}

LATTICE_WORKLOAD(dslash_twisted)

static cubc_status dslash_twisted_plan(const problem *p, const instance *i, plan *out)
{
    const dslash_twisted_numbers term = dslash_twisted_numbers_of(p);
    return dslash_plan(p, i, &term, sizeof term, out);
}

static double dslash_twisted_flops(const problem *p)
{
    return dslash_flops(p, SPINOR_REALS, HOP_FLOPS + TWIST_FLOPS);
}

static const field dslash_twisted_fields[] = {
    DSLASH_FIELDS,
    FIELD(cubc_dslash_twisted_params, a5, FIELD_REAL),
    FIELD(cubc_dslash_twisted_params, b, FIELD_REAL),
    FIELD(cubc_dslash_twisted_params, b5, FIELD_REAL),
};

#define CALL(reals) &(const cubc_dslash_twisted_params){.wilson = DSLASH_CALL(reals), .a5 = 1}
static const benchmark dslash_twisted_benchmarks[] = {DSLASH_BENCHMARKS("twisted", CALL)};

const algorithm dslash_twisted_algorithm =
    DSLASH(twisted, .define = dslash_define, .traffic = problem_array_bytes);
