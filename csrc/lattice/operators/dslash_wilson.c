// Descriptor of the Wilson Dslash: kernels/lattice/dslash_wilson.cu.
#include "lattice/operators/dslash.h"

cubc_status dslash_wilson_problem(const cubc_dslash_wilson_params *params, problem *out)
{
    return dslash_problem(&dslash_wilson_algorithm, params, out);
}

LATTICE_WORKLOAD(dslash_wilson)

static cubc_status dslash_wilson_plan(const problem *p, const instance *i, plan *out)
{
    return dslash_plan(p, i, NULL, 0, out);
}

static double dslash_wilson_flops(const problem *p)
{
    return dslash_flops(p, SPINOR_REALS, HOP_FLOPS);
}

static const field dslash_wilson_fields[] = {DSLASH_FIELDS};

#define CALL(reals) &(const cubc_dslash_wilson_params)DSLASH_CALL(reals)
static const benchmark dslash_wilson_benchmarks[] = {DSLASH_BENCHMARKS("wilson", CALL)};

const algorithm dslash_wilson_algorithm =
    DSLASH(wilson, .define = dslash_define, .traffic = problem_array_bytes);
