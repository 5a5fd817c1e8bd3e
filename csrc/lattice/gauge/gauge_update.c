// Descriptor of gauge_update: kernels/lattice/gauge_update.cu.
#include "lattice/gauge/gauge.h"

#include <math.h>
#include <string.h>

typedef struct gauge_update_traits {
    int over_relax;
} gauge_update_traits;

typedef struct gauge_update_numbers {
    double beta;
    uint64_t seed, sweep;
} gauge_update_numbers;

LATTICE_TRAITS(gauge_update_traits);
PROBLEM_NUMBERS(gauge_update_numbers);

cubc_status gauge_update_problem(const cubc_gauge_update_params *params, problem *out)
{
    if (!(params->beta >= 0) || !isfinite(params->beta))
        FAIL(CUBC_INVALID_ARGUMENT, "gauge_update: beta is %g: it is a number of 0 or more",
             params->beta);
    if (params->sweep > UINT32_MAX)
        FAIL(CUBC_INVALID_ARGUMENT, "gauge_update: sweep %llu: a seed has 2^32 of them",
             (unsigned long long)params->sweep);
    TRY(gauge_problem(&gauge_update_algorithm, LATTICE_EXTENTS(params), params->type,
                      params->over_relax ? "gauge_update.over_relax" : "gauge_update.heat_bath",
                      out));
    TRY(gauge_input(out, "the gauge field", params->links, params->n, GAUGE_REALS));
    TRY(gauge_output(out, "the gauge field", params->links, params->n, GAUGE_REALS));
    gauge_update_traits_set(out, (gauge_update_traits){params->over_relax != 0});
    gauge_update_numbers_set(out,
                             (gauge_update_numbers){params->beta, params->seed, params->sweep});
    return gauge_arrays(out);
}

// One launch of a sweep: the links in x of even sites, written to an array of their own.
static cubc_status gauge_update_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                         problem *out)
{
    cubc_gauge_update_params call = *(const cubc_gauge_update_params *)b->call;
    TRY(lattice_call(&gauge_update_algorithm, b->call, type, at, &call));
    TRY(gauge_update_problem(&call, out));
    out->outputs[0].n = out->inputs[0].n / 8;
    out->in_place = false;
    return CUBC_OK;
}

// Directions one after the other, of each first the even sites.
static cubc_status gauge_update_plan(const problem *p, const instance *i, plan *out)
{
    const operand *links = &p->inputs[0], *to = &p->outputs[0];
    const gauge_update_numbers numbers = gauge_update_numbers_of(p);
    int parts = to->n == links->n ? 8 : 1;
    uint64_t part_bytes = links->n / 8 * operand_item_bytes(links);
    for (int k = 0; k < parts; k++) {
        uint64_t parity = (uint64_t)k % 2, direction = (uint64_t)k / 2;
        uint64_t offset = parts == 1 ? 0 : (4 * parity + direction) * part_bytes;
        const struct {
            uint64_t links, to;
            gauge_update_numbers numbers;
            uint64_t parity, direction;
        } args = {(uintptr_t)links->data, (uintptr_t)to->data + offset, numbers, parity, direction};
        TRY(site_map_launch(p, i, p->n / 2, &args, sizeof args, out));
    }
    return CUBC_OK;
}

static const field gauge_update_fields[] = {
    FIELD_ARRAY(cubc_gauge_update_params, links, FIELD_CHANGED, type, n),
    FIELD(cubc_gauge_update_params, beta, FIELD_REAL),
    FIELD(cubc_gauge_update_params, seed, FIELD_COUNT),
    FIELD(cubc_gauge_update_params, sweep, FIELD_COUNT),
    FIELD(cubc_gauge_update_params, over_relax, FIELD_INT),
    LATTICE_EXTENT_FIELDS(cubc_gauge_update_params),
};

#define CALL .links = BENCHMARK_ARRAY(0), .n = 2 * GAUGE_REALS, .beta = 6
static const cubc_gauge_update_params heat_bath = {CALL}, over_relax = {CALL, .over_relax = 1};
static const benchmark gauge_update_benchmarks[] = {
    LATTICE_BENCHMARK(lattice_plain_types, "gauge_update.heat_bath", .call = &heat_bath),
    LATTICE_BENCHMARK(lattice_plain_types, "gauge_update.over_relax", .call = &over_relax)};

static const site_map gauge_update_map = {.macros = {"OVER_RELAX"}};

const algorithm gauge_update_algorithm = SITE_MAP(
    gauge_update, .kernels = {"gauge_update"}, .invalid = site_map_fitting_variant,
    .plan = gauge_update_plan, .traffic = problem_array_bytes, .random = gauge_random_reals);
