// Descriptor of gauge_random: kernels/lattice/gauge_random.cu.
#include "lattice/gauge/gauge.h"

#include "lattice/gauge/part.h"

#include <math.h>
#include <stddef.h>

typedef struct gauge_random_traits {
    int matrices; // of a site
    int part;     // of a larger lattice
} gauge_random_traits;

typedef struct gauge_random_numbers {
    uint64_t seed;
    double identity, noise;
    part_place place; // of a part: arguments of the kernel
} gauge_random_numbers;

LATTICE_TRAITS(gauge_random_traits);
PROBLEM_NUMBERS(gauge_random_numbers);

static gauge_random_numbers numbers_of(const cubc_gauge_random_params *params)
{
    gauge_random_numbers n = {
        .seed = params->seed, .identity = params->identity, .noise = params->noise};
    if (params->ranks) n.place = part_place_of(params->ranks, LATTICE_EXTENTS(params));
    return n;
}

cubc_status gauge_random_problem(const cubc_gauge_random_params *params, problem *out)
{
    if (params->matrices != 1 && params->matrices != 4)
        FAIL(CUBC_INVALID_ARGUMENT,
             "gauge_random: %d matrices a site: a gauge field has 4, a gauge rotation 1",
             params->matrices);
    if (!isfinite(params->identity) || !isfinite(params->noise) ||
        (params->identity == 0 && params->noise == 0))
        FAIL(CUBC_INVALID_ARGUMENT,
             "gauge_random: %g of the identity and %g of noise: they are finite, and one is not 0",
             params->identity, params->noise);
    TRY(gauge_problem(&gauge_random_algorithm, LATTICE_EXTENTS(params), params->type,
                      "gauge_random.links", out));
    TRY(gauge_output(out, "the output of gauge_random", params->out, params->n,
                     MATRIX_REALS * params->matrices));
    const gauge_random_numbers numbers = numbers_of(params);
    if (numbers.place.all_sites > UINT32_MAX / 2)
        FAIL(CUBC_INVALID_ARGUMENT, "gauge_random: a lattice of more than 2^32 sites");
    gauge_random_traits_set(out, (gauge_random_traits){params->matrices, params->ranks != NULL});
    gauge_random_numbers_set(out, numbers);
    return gauge_arrays(out);
}

LATTICE_WORKLOAD(gauge_random)

static const field gauge_random_fields[] = {
    FIELD_ARRAY(cubc_gauge_random_params, out, FIELD_OUTPUT, type, n),
    FIELD(cubc_gauge_random_params, matrices, FIELD_INT),
    FIELD(cubc_gauge_random_params, seed, FIELD_COUNT),
    FIELD(cubc_gauge_random_params, identity, FIELD_REAL),
    FIELD(cubc_gauge_random_params, noise, FIELD_REAL),
    FIELD(cubc_gauge_random_params, ranks, FIELD_RANKS),
    LATTICE_EXTENT_FIELDS(cubc_gauge_random_params),
};

static const cubc_gauge_random_params links = {
    .out = BENCHMARK_ARRAY(0), .n = 2 * GAUGE_REALS, .matrices = 4, .noise = 1};
static const benchmark gauge_random_benchmarks[] = {
    LATTICE_BENCHMARK(lattice_plain_types, "gauge_random.links", .call = &links)};

static const site_map gauge_random_map = {.macros = {"MATRICES", "PART"},
                                          .number_bytes = offsetof(gauge_random_numbers, place)};

static cubc_status gauge_random_plan(const problem *p, const instance *i, plan *out)
{
    const size_t all = sizeof(gauge_random_numbers);
    return site_map_plan_of(
        p, i, gauge_random_traits_of(p).part ? all : gauge_random_map.number_bytes, out);
}

const algorithm gauge_random_algorithm = SITE_MAP(
    gauge_random, .kernels = {"gauge_random"}, .invalid = site_map_fitting_variant,
    .plan = gauge_random_plan, .traffic = problem_array_bytes, .random = gauge_random_integers);
