// Descriptor of the Dslash of a doublet of twisted mass fermions:
// kernels/lattice/dslash_doublet.cu.
#include "lattice/operators/dslash.h"

enum { FLAVOURS = 2 };

typedef struct dslash_doublet_numbers {
    double a5, a1, b, b5, b1;
} dslash_doublet_numbers;

DSLASH_TERM_NUMBERS(dslash_doublet_numbers);

cubc_status dslash_doublet_problem(const cubc_dslash_doublet_params *params, problem *out)
{
    cubc_dslash_wilson_params hops = params->wilson;
    hops.sites.inner = FLAVOURS;
    TRY(dslash_problem(&dslash_doublet_algorithm, &hops, out));
    dslash_doublet_numbers_set(
        out, (dslash_doublet_numbers){params->a5, params->a1, params->b, params->b5, params->b1});
    return CUBC_OK;
}

LATTICE_WORKLOAD(dslash_doublet)

static void axis_values_of_doublets(const problem *p, uint64_t *values)
{
    dslash_axis_values(p, values);
    values[LATTICE_SOURCES_AXIS] /= FLAVOURS;
}

static const char *invalid(const problem *p, const char *kind, const space *s, const variant *v)
{
    if (variant_value(s, v, "spt", 1) % FLAVOURS || variant_value(s, v, "sg", 1) > 1)
        return "a thread has both flavours";
    return dslash_invalid(p, kind, s, v);
}

static cubc_status dslash_doublet_plan(const problem *p, const instance *i, plan *out)
{
    const dslash_doublet_numbers term = dslash_doublet_numbers_of(p);
    return dslash_plan(p, i, &term, sizeof term, out);
}

static double dslash_doublet_flops(const problem *p)
{
    return dslash_flops(p, SPINOR_REALS, HOP_FLOPS + DOUBLET_FLOPS);
}

static const field dslash_doublet_fields[] = {
    DSLASH_FIELDS,
    FIELD(cubc_dslash_doublet_params, a5, FIELD_REAL),
    FIELD(cubc_dslash_doublet_params, a1, FIELD_REAL),
    FIELD(cubc_dslash_doublet_params, b, FIELD_REAL),
    FIELD(cubc_dslash_doublet_params, b5, FIELD_REAL),
    FIELD(cubc_dslash_doublet_params, b1, FIELD_REAL),
};

#define CALL(reals) \
    &(const cubc_dslash_doublet_params){.wilson = DSLASH_CALL_OF(reals, FLAVOURS), .a5 = 1, .a1 = 1}
static const benchmark dslash_doublet_benchmarks[] = {DSLASH_BENCHMARKS("doublet", CALL)};

const algorithm dslash_doublet_algorithm =
    DSLASH_OF(doublet, .axis_values = axis_values_of_doublets, .invalid = invalid,
              .define = dslash_define, .traffic = problem_array_bytes);
