// Descriptor of spinor_copy: kernels/lattice/spinor_copy.cu.
#include "lattice/operators/clover.h"

typedef struct spinor_copy_traits {
    int from_order, to_order;
    int reals; // a site
} spinor_copy_traits;

typedef struct spinor_copy_numbers {
    uint64_t fields; // of a parity, of all sources
} spinor_copy_numbers;

LATTICE_TRAITS(spinor_copy_traits);
PROBLEM_NUMBERS(spinor_copy_numbers);

static cubc_status check_order(const char *what, cubc_field_order order, cubc_type type)
{
    if ((int)order < CUBC_PLAIN || order > CUBC_NATIVE)
        FAIL(CUBC_INVALID_ARGUMENT, "%s has an unknown order (%d)", what, (int)order);
    if (order != CUBC_NATIVE && type == CUBC_I16)
        FAIL(CUBC_INVALID_TYPE, "%s is of fixed-point numbers, which only a native order has",
             what);
    return CUBC_OK;
}

static cubc_status check_reals(const cubc_spinor_copy_params *params, int reals)
{
    const bool native = params->from_order == CUBC_NATIVE && params->to_order == CUBC_NATIVE;
    if (reals == SPINOR_REALS || reals == COLOUR_VECTOR_REALS) return CUBC_OK;
    if (reals == CLOVER_REALS && native) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT, "spinor_copy of %d reals a site: spinors have 24, colour vectors 6",
         reals);
}

cubc_status spinor_copy_problem(const cubc_spinor_copy_params *params, problem *out)
{
    cubc_type from = params->from_type, to = params->to_type;
    const int reals = params->reals ? params->reals : SPINOR_REALS;
    uint64_t n = params->from_n, to_n = params->to_n, sources;
    lattice_reals(&from, &n);
    lattice_reals(&to, &to_n);
    TRY(site_map_problem(&spinor_copy_algorithm, LATTICE_EXTENTS(params), from, "spinor_copy.pack",
                         out));
    TRY(check_reals(params, reals));
    out->n = n / (uint64_t)reals;
    // Fields of one parity are copied too, unless an order has rows of both.
    bool plain = params->from_order == CUBC_PLAIN || params->to_order == CUBC_PLAIN;
    int parities = plain ? 2 : 1;
    TRY(lattice_fields(out, "the field to copy", n, reals, parities, &sources));
    if (n != to_n)
        FAIL(CUBC_INVALID_ARGUMENT, "spinor_copy: %llu real numbers are copied to %llu",
             (unsigned long long)n, (unsigned long long)to_n);
    bool fixed = from == CUBC_I16 || to == CUBC_I16;
    TRY(lattice_norms("spinor_copy", params->norms_n, n, fixed ? CUBC_I16 : to, reals));
    TRY(lattice_field_input(out, "the field to copy", params->from, params->from_norms, n, from,
                            reals));
    TRY(lattice_field_output(out, "the copy", params->to, params->to_norms, n, to, reals));
    TRY(check_order("the field to copy", params->from_order, from));
    TRY(check_order("the copy", params->to_order, to));
    TRY(lattice_copy_apart(out));
    spinor_copy_traits_set(out, (spinor_copy_traits){.from_order = (int)params->from_order,
                                                     .to_order = (int)params->to_order,
                                                     .reals = reals});
    spinor_copy_numbers_set(out, (spinor_copy_numbers){(uint64_t)parities * sources});
    return CUBC_OK;
}

// A plain field becomes a native one.
static cubc_status spinor_copy_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                        problem *out)
{
    cubc_spinor_copy_params call = *(const cubc_spinor_copy_params *)b->call;
    TRY(lattice_call(&spinor_copy_algorithm, b->call, type, at, &call));
    call.from_n = call.to_n;
    return spinor_copy_problem(&call, out);
}

static const field spinor_copy_fields[] = {
    FIELD_ARRAY(cubc_spinor_copy_params, from, FIELD_INPUT, from_type, from_n),
    FIELD_ARRAY(cubc_spinor_copy_params, from_norms, FIELD_INPUT, norm_type, norms_n),
    FIELD_ARRAY(cubc_spinor_copy_params, to, FIELD_OUTPUT, to_type, to_n),
    FIELD_ARRAY(cubc_spinor_copy_params, to_norms, FIELD_OUTPUT, norm_type, norms_n),
    FIELD(cubc_spinor_copy_params, from_order, FIELD_INT),
    FIELD(cubc_spinor_copy_params, to_order, FIELD_INT),
    FIELD(cubc_spinor_copy_params, reals, FIELD_INT),
    LATTICE_EXTENT_FIELDS(cubc_spinor_copy_params),
};

static const cubc_spinor_copy_params pack = {LATTICE_FIELD(from, 0),   LATTICE_FIELD(to, 2),

                                             .to_n = 2 * SPINOR_REALS, .norms_n = 2,
                                             .norm_type = CUBC_F32,    .from_order = CUBC_PLAIN,
                                             .to_order = CUBC_NATIVE};
static const benchmark spinor_copy_benchmarks[] = {
    LATTICE_SOURCES_BENCHMARK(lattice_plain_types, "spinor_copy.pack", .call = &pack)};

static const site_map spinor_copy_map = {.converts = true,
                                         .macros = {"FROM_ORDER", "TO_ORDER", "REALS"},
                                         .number_bytes = sizeof(spinor_copy_numbers)};

const algorithm spinor_copy_algorithm = SITE_MAP_OF_SOURCES(
    spinor_copy, .kernels = {"spinor_copy_sites"}, .invalid = site_map_any_variant,
    .plan = site_map_plan, .traffic = problem_array_bytes);
