// Descriptor of the Wilson Dslash: kernels/lattice/dslash_wilson.cu.
#include "lattice/operators/dslash.h"

cubc_status dslash_wilson_problem(const cubc_dslash_wilson_params *params, problem *out)
{
    return dslash_problem(&dslash_wilson_algorithm, params, out);
}

static cubc_status dslash_wilson_plan(const problem *p, const instance *i, plan *out)
{
    return dslash_plan(p, i, NULL, 0, out);
}

static cubc_status dslash_wilson_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                          problem *out)
{
    cubc_dslash_wilson_params params;
    TRY(dslash_benchmark_params(b, type, at, &params));
    return dslash_wilson_problem(&params, out);
}

static const field dslash_wilson_fields[] = {DSLASH_FIELDS};

static const benchmark dslash_wilson_benchmarks[] = {DSLASH_BENCHMARKS("wilson")};

const algorithm dslash_wilson_algorithm =
    DSLASH(wilson, .workload = dslash_wilson_workload, .define = dslash_define,
           .traffic = problem_array_bytes);
