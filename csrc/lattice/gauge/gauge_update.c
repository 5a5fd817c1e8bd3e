// Descriptor of gauge_update: kernels/lattice/gauge_update.cu.
#include "lattice/gauge/gauge.h"
#include "lattice/gauge/part.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct gauge_update_traits {
    int over_relax;
    int cut, margin;
} gauge_update_traits;

typedef struct gauge_update_numbers {
    double beta;
    uint64_t seed, sweep;
    part_place place;   // of a part
    uint64_t direction; // 1 + that of the links; 0: all
    cubc_ranks *ranks;  // NULL: the lattice is not cut
} gauge_update_numbers;

LATTICE_TRAITS(gauge_update_traits);
PROBLEM_NUMBERS(gauge_update_numbers);

// A call over ranks is for one direction: all of them would be more launches than a call has.
static cubc_status take_ranks(const cubc_gauge_update_params *params, problem *out,
                              gauge_update_traits *traits, gauge_update_numbers *numbers)
{
    const int *all = LATTICE_EXTENTS(params);
    int extents[4];
    traits->cut = params->ranks ? ranks_cut(params->ranks) : 0;
    traits->margin = params->margin;
    TRY(part_check(out, traits->cut, traits->margin, params->ranks));
    if (!traits->cut) return CUBC_OK;
    if (params->type != CUBC_F64 || !params->direction)
        FAIL(CUBC_INVALID_ARGUMENT,
             "gauge_update over ranks: a call is for links of F64 of one direction, 1 to 4");
    for (int d = 0; d < 4; d++)
        extents[d] = all[d] - (traits->cut >> d & 1 ? 2 * traits->margin : 0);
    numbers->place = part_place_of(params->ranks, extents);
    if (numbers->place.all_sites > UINT32_MAX / 2)
        FAIL(CUBC_INVALID_ARGUMENT, "gauge_update: a lattice of more than 2^32 sites");
    numbers->ranks = params->ranks;
    return CUBC_OK;
}

// The links of one parity and direction, which a launch has changed.
static part_exchange exchange_of(const problem *p, uint64_t parity, uint64_t direction)
{
    const uint64_t arrays = MATRIX_REALS / 2; // of 16 bytes
    return (part_exchange){.ranks = gauge_update_numbers_of(p).ranks,
                           .cut = gauge_update_traits_of(p).cut,
                           .field = &p->outputs[0],
                           .first = (4 * parity + direction) * arrays,
                           .count = arrays,
                           .depth = 1};
}

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
    if (params->direction < 0 || params->direction > 4)
        FAIL(CUBC_INVALID_ARGUMENT, "gauge_update: direction %d: 1 to 4, or 0 for all of them",
             params->direction);
    gauge_update_traits traits = {.over_relax = params->over_relax != 0};
    gauge_update_numbers numbers = {.beta = params->beta,
                                    .seed = params->seed,
                                    .sweep = params->sweep,
                                    .direction = (uint64_t)params->direction};
    TRY(take_ranks(params, out, &traits, &numbers));
    gauge_update_traits_set(out, traits);
    gauge_update_numbers_set(out, numbers);
    TRY(gauge_arrays(out));
    if (!traits.cut) return CUBC_OK;
    const part_exchange e = exchange_of(out, 0, 0);
    return part_reserve(out, &e);
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

typedef struct update_args {
    uint64_t links, to;
    double beta;
    uint64_t seed, sweep, parity, direction;
    part_place place; // of a part
} update_args;

static cubc_status add_update(const problem *p, const instance *i, uint64_t parity,
                              uint64_t direction, uint64_t offset, plan *out)
{
    const gauge_update_traits traits = gauge_update_traits_of(p);
    const gauge_update_numbers n = gauge_update_numbers_of(p);
    const update_args args = {.links = (uintptr_t)p->inputs[0].data,
                              .to = (uintptr_t)p->outputs[0].data + offset,
                              .beta = n.beta,
                              .seed = n.seed,
                              .sweep = n.sweep,
                              .parity = parity,
                              .direction = direction,
                              .place = n.place};
    TRY(site_map_launch(p, i, part_sites(p, traits.cut, traits.margin), &args,
                        traits.cut ? sizeof args : offsetof(update_args, place), out));
    if (!traits.cut) return CUBC_OK;
    const part_exchange e = exchange_of(p, parity, direction);
    return part_exchange_launches(p, i, &e, 1, out);
}

// Directions one after the other, of each first the even sites.
static cubc_status gauge_update_plan(const problem *p, const instance *i, plan *out)
{
    const operand *links = &p->inputs[0];
    const uint64_t chosen = gauge_update_numbers_of(p).direction;
    const uint64_t part_bytes = links->n / 8 * operand_item_bytes(links);
    if (p->outputs[0].n < links->n) return add_update(p, i, 0, 0, 0, out); // of a benchmark
    for (uint64_t direction = 0; direction < 4; direction++)
        for (uint64_t parity = 0; parity < 2; parity++)
            if (!chosen || chosen == direction + 1)
                TRY(add_update(p, i, parity, direction, (4 * parity + direction) * part_bytes,
                               out));
    return CUBC_OK;
}

static bool gauge_update_has_kernel(const problem *p, int k)
{
    (void)k;
    return gauge_update_traits_of(p).cut;
}

static const field gauge_update_fields[] = {
    FIELD_ARRAY(cubc_gauge_update_params, links, FIELD_CHANGED, type, n),
    FIELD(cubc_gauge_update_params, beta, FIELD_REAL),
    FIELD(cubc_gauge_update_params, seed, FIELD_COUNT),
    FIELD(cubc_gauge_update_params, sweep, FIELD_COUNT),
    FIELD(cubc_gauge_update_params, over_relax, FIELD_INT),
    FIELD(cubc_gauge_update_params, direction, FIELD_INT),
    FIELD(cubc_gauge_update_params, margin, FIELD_INT),
    FIELD(cubc_gauge_update_params, ranks, FIELD_RANKS),
    LATTICE_EXTENT_FIELDS(cubc_gauge_update_params),
};

#define CALL .links = BENCHMARK_ARRAY(0), .n = 2 * GAUGE_REALS, .beta = 6
static const cubc_gauge_update_params heat_bath = {CALL}, over_relax = {CALL, .over_relax = 1};
static const benchmark gauge_update_benchmarks[] = {
    LATTICE_BENCHMARK(lattice_plain_types, "gauge_update.heat_bath", .call = &heat_bath),
    LATTICE_BENCHMARK(lattice_plain_types, "gauge_update.over_relax", .call = &over_relax)};

static const site_map gauge_update_map = {.macros = {"OVER_RELAX", "CUT", "MARGIN"}};

const algorithm gauge_update_algorithm = SITE_MAP(
    gauge_update, .kernels = {"gauge_update", "gauge_update_send", "gauge_update_receive"},
    .has_kernel = gauge_update_has_kernel, .invalid = site_map_fitting_variant,
    .plan = gauge_update_plan, .traffic = problem_array_bytes, .random = gauge_random_reals);
