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

static const field dslash_wilson_fields[] = {DSLASH_FIELDS};

static const benchmark dslash_wilson_benchmarks[] = {DSLASH_BENCHMARKS("wilson")};

const algorithm dslash_wilson_algorithm = {.name = "dslash_wilson",
                                           .source = "dslash_wilson.cu",
                                           .kernels = {"dslash_wilson"},
                                           .benchmarks = dslash_wilson_benchmarks,
                                           .benchmark_count = COUNT_OF(dslash_wilson_benchmarks),
                                           FIELDS(dslash_wilson_fields),
                                           .workload = dslash_workload,
                                           .define = dslash_define,
                                           .invalid = dslash_invalid,
                                           .plan = dslash_wilson_plan,
                                           .traffic = problem_array_bytes,
                                           .random = dslash_random};
