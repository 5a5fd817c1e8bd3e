// Descriptor of link_copy: kernels/lattice/link_copy.cu.
#include "lattice/operators/site_map.h"

typedef struct link_copy_traits {
    int from_order, to_order;
    int from_reals, to_reals; // a link
} link_copy_traits;

LATTICE_TRAITS(link_copy_traits);

static cubc_status check_side(const problem *p, const char *what, uint64_t n, cubc_type type,
                              cubc_field_order order, int reals)
{
    TRY(lattice_precision(what, type));
    TRY(lattice_reconstruct(reals));
    if ((int)order < CUBC_PLAIN || order > CUBC_NATIVE)
        FAIL(CUBC_INVALID_ARGUMENT, "%s has an unknown order (%d)", what, (int)order);
    if (order != CUBC_NATIVE && (type == CUBC_I16 || reals != MATRIX_REALS))
        FAIL(CUBC_INVALID_ARGUMENT,
             "%s is not in native order: its links have all 18 reals, and are F64 or F32", what);
    uint64_t wanted = lattice_link_reals(p, type, reals);
    if (n != wanted)
        FAIL(CUBC_INVALID_ARGUMENT, "%s has %llu real numbers, not %llu", what,
             (unsigned long long)n, (unsigned long long)wanted);
    return CUBC_OK;
}

cubc_status link_copy_problem(const cubc_link_copy_params *params, problem *out)
{
    cubc_type from = params->from_type, to = params->to_type;
    uint64_t from_n = params->from_n, to_n = params->to_n;
    lattice_reals(&from, &from_n);
    lattice_reals(&to, &to_n);
    TRY(site_map_problem(&link_copy_algorithm, LATTICE_EXTENTS(params), from, "link_copy.pack",
                         out));
    TRY(check_side(out, "the gauge field to copy", from_n, from, params->from_order,
                   params->from_reals));
    TRY(check_side(out, "the copy", to_n, to, params->to_order, params->to_reals));
    TRY(problem_input(out, "the gauge field to copy", params->from, from_n, from));
    TRY(problem_output(out, "the copy", params->to, to_n, to));
    TRY(lattice_copy_apart(out));
    link_copy_traits_set(out, (link_copy_traits){.from_order = (int)params->from_order,
                                                 .to_order = (int)params->to_order,
                                                 .from_reals = params->from_reals,
                                                 .to_reals = params->to_reals});
    return CUBC_OK;
}

// A plain field becomes a native one of 12 reals a link.
LATTICE_WORKLOAD(link_copy)

static const field link_copy_fields[] = {
    FIELD_ARRAY(cubc_link_copy_params, from, FIELD_INPUT, from_type, from_n),
    FIELD_ARRAY(cubc_link_copy_params, to, FIELD_OUTPUT, to_type, to_n),
    FIELD(cubc_link_copy_params, from_order, FIELD_INT),
    FIELD(cubc_link_copy_params, to_order, FIELD_INT),
    FIELD(cubc_link_copy_params, from_reals, FIELD_INT),
    FIELD(cubc_link_copy_params, to_reals, FIELD_INT),
    LATTICE_EXTENT_FIELDS(cubc_link_copy_params),
};

static const cubc_link_copy_params pack = {.from = BENCHMARK_ARRAY(0),
                                           .to = BENCHMARK_ARRAY(1),
                                           .from_n = 8 * MATRIX_REALS,
                                           .to_n = 8 * 12,
                                           .from_order = CUBC_PLAIN,
                                           .to_order = CUBC_NATIVE,
                                           .from_reals = MATRIX_REALS,
                                           .to_reals = 12};
static const benchmark link_copy_benchmarks[] = {
    LATTICE_BENCHMARK(lattice_plain_types, "link_copy.pack", .call = &pack)};

static const site_map link_copy_map = {
    .converts = true, .macros = {"FROM_ORDER", "TO_ORDER", "FROM_REALS", "TO_REALS"}};

const algorithm link_copy_algorithm =
    SITE_MAP(link_copy, .kernels = {"link_copy_sites"}, .invalid = site_map_any_variant,
             .plan = site_map_plan, .traffic = problem_array_bytes);
