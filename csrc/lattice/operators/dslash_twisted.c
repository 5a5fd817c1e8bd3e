// Descriptor of the Dslash of twisted mass fermions: kernels/lattice/dslash_twisted.cu.
#include "lattice/operators/dslash.h"

typedef struct dslash_twisted_numbers {
    dslash_numbers dslash;
    double a5, b, b5;
} dslash_twisted_numbers;

PROBLEM_NUMBERS(dslash_twisted_numbers);

cubc_status dslash_twisted_problem(const cubc_dslash_twisted_params *params, problem *out)
{
    TRY(dslash_problem(&dslash_twisted_algorithm, &params->wilson, out));
    dslash_twisted_numbers_set(
        out, (dslash_twisted_numbers){dslash_numbers_of(out), params->a5, params->b, params->b5});
    return CUBC_OK;
}

static cubc_status dslash_twisted_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                           problem *out)
{
    cubc_dslash_twisted_params params = {.a5 = 1};
    TRY(dslash_benchmark_params(b, type, at, &params.wilson));
    return dslash_twisted_problem(&params, out);
}

static cubc_status dslash_twisted_plan(const problem *p, const instance *i, plan *out)
{
    const dslash_twisted_numbers numbers = dslash_twisted_numbers_of(p);
    const uint64_t term[] = {lattice_word(numbers.a5), lattice_word(numbers.b),
                             lattice_word(numbers.b5)};
    return dslash_plan(p, i, term, COUNT_OF(term), out);
}

static const field dslash_twisted_fields[] = {
    DSLASH_FIELDS,
    FIELD(cubc_dslash_twisted_params, a5, FIELD_REAL),
    FIELD(cubc_dslash_twisted_params, b, FIELD_REAL),
    FIELD(cubc_dslash_twisted_params, b5, FIELD_REAL),
};

static const benchmark dslash_twisted_benchmarks[] = {DSLASH_BENCHMARKS("twisted")};

const algorithm dslash_twisted_algorithm =
    DSLASH(twisted, .workload = dslash_twisted_workload, .define = dslash_define,
           .traffic = problem_array_bytes);
