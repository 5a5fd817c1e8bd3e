// Descriptor of the Dslash of twisted mass fermions: kernels/lattice/dslash_twisted.cu.
#include "lattice/operators/dslash.h"

enum { A5 = DSLASH_NUMBERS, B, B5 }; // among a problem's numbers

cubc_status dslash_twisted_problem(const cubc_dslash_twisted_params *params, problem *out)
{
    TRY(dslash_problem(&dslash_twisted_algorithm, &params->wilson, out));
    out->numbers[A5] = lattice_word(params->a5);
    out->numbers[B] = lattice_word(params->b);
    out->numbers[B5] = lattice_word(params->b5);
    return CUBC_OK;
}

static cubc_status dslash_twisted_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                           problem *out)
{
    TRY(dslash_workload(b, type, at, out));
    out->numbers[A5] = lattice_word(1);
    return CUBC_OK;
}

static cubc_status dslash_twisted_plan(const problem *p, const instance *i, plan *out)
{
    return dslash_plan(p, i, p->numbers + A5, 3, out);
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
