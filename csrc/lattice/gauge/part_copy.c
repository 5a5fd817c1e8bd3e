// Descriptor of part_copy: kernels/lattice/part_copy.cu.
#include "lattice/gauge/part.h"

#include "base/size.h"

typedef struct part_copy_traits {
    int reals, crop, cut, margin;
} part_copy_traits;

typedef struct part_copy_numbers {
    cubc_ranks *ranks;
} part_copy_numbers;

LATTICE_TRAITS(part_copy_traits);
PROBLEM_NUMBERS(part_copy_numbers);

// Arrays of an exchange, so that ranks need not have room for all of them at once.
enum { CHUNK = 16, TOGETHER = 18, MOST_REALS = 72 };

static cubc_status check_reals(const cubc_part_copy_params *params)
{
    const uint64_t bytes = (uint64_t)params->reals * cubc_type_size(params->type);
    TRY(lattice_precision("a part", params->type));
    if (params->reals < 1 || params->reals > MOST_REALS || bytes % 4)
        FAIL(CUBC_INVALID_ARGUMENT, "part_copy: %d reals a site: 1 to %d, of whole words",
             params->reals, MOST_REALS);
    if (params->ranks && (params->type != CUBC_F64 || bytes % CHUNK || params->crop))
        FAIL(CUBC_INVALID_ARGUMENT,
             "part_copy over ranks: it is for parts of F64, with an even number of reals a site, "
             "that get sites around them");
    return CUBC_OK;
}

static uint64_t reals_of(uint64_t sites, int reals)
{
    return 2 * sites * (uint64_t)reals;
}

static cubc_status check_counts(const problem *p, const cubc_part_copy_params *params)
{
    const uint64_t part = reals_of(part_sites(p, params->cut, params->margin), params->reals),
                   all = reals_of(lattice_sites(p), params->reals);
    const uint64_t from = params->crop ? all : part, to = params->crop ? part : all;
    if (params->from_n == from && params->to_n == to) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT, "part_copy: arrays of %llu and %llu reals, expected %llu and %llu",
         (unsigned long long)params->from_n, (unsigned long long)params->to_n,
         (unsigned long long)from, (unsigned long long)to);
}

static part_exchange exchange_of(const problem *p)
{
    const part_copy_traits t = part_copy_traits_of(p);
    return (part_exchange){.ranks = part_copy_numbers_of(p).ranks,
                           .cut = t.cut,
                           .field = &p->outputs[0],
                           .depth = t.margin};
}

// Arrays of both parities, a run of them at a time.
static uint64_t arrays_of(const problem *p)
{
    return 2 * (uint64_t)part_copy_traits_of(p).reals * sizeof(double) / CHUNK;
}

cubc_status part_copy_problem(const cubc_part_copy_params *params, problem *out)
{
    TRY(check_reals(params));
    TRY(site_map_problem(&part_copy_algorithm, LATTICE_EXTENTS(params), params->type,
                         params->crop ? "part_copy.crop" : "part_copy.surround", out));
    TRY(part_check(out, params->cut, params->margin, params->ranks));
    TRY(check_counts(out, params));
    TRY(problem_input(out, "the field to copy", params->from, params->from_n, params->type));
    TRY(problem_output(out, "the copy", params->to, params->to_n, params->type));
    TRY(lattice_copy_apart(out));
    out->n = 2 * part_sites(out, params->cut, params->margin);
    part_copy_traits_set(
        out, (part_copy_traits){params->reals, params->crop != 0, params->cut, params->margin});
    part_copy_numbers_set(out, (part_copy_numbers){params->ranks});
    if (!params->ranks || !params->cut) return CUBC_OK;
    part_exchange e = exchange_of(out);
    e.count = arrays_of(out) < TOGETHER ? arrays_of(out) : TOGETHER;
    return part_reserve(out, &e);
}

// A benchmark's lattice is a part that is cut along t, with sites around it.
static cubc_status part_copy_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                      problem *out)
{
    cubc_part_copy_params call = *(const cubc_part_copy_params *)b->call;
    TRY(lattice_call(&part_copy_algorithm, b->call, type, at, &call));
    uint64_t *larger = call.crop ? &call.from_n : &call.to_n;
    *larger = *larger / at[3] * (at[3] + 2 * (uint64_t)call.margin);
    if (call.lt <= UINT16_MAX) call.lt += 2 * call.margin; // else there is no such lattice
    return part_copy_problem(&call, out);
}

// The extents of the part.
static void part_copy_axis_values(const problem *p, uint64_t *values)
{
    const part_copy_traits t = part_copy_traits_of(p);
    lattice_axis_values(p, values);
    for (int d = 0; d < 4; d++)
        if (t.cut >> d & 1) values[d] -= 2 * (uint64_t)t.margin;
}

static cubc_status part_copy_plan(const problem *p, const instance *i, plan *out)
{
    part_exchange e = exchange_of(p);
    TRY(site_map_plan_of(p, i, 0, out));
    for (uint64_t arrays = arrays_of(p); e.ranks && e.cut && e.first < arrays; e.first += e.count) {
        e.count = arrays - e.first < TOGETHER ? arrays - e.first : TOGETHER;
        TRY(part_exchange_launches(p, i, &e, 1, out));
    }
    return CUBC_OK;
}

static bool part_copy_has_kernel(const problem *p, int k)
{
    (void)k;
    return part_copy_traits_of(p).cut && !part_copy_traits_of(p).crop;
}

static double part_copy_traffic(const problem *p)
{
    const operand *part = part_copy_traits_of(p).crop ? &p->outputs[0] : &p->inputs[0];
    return 2 * (double)part->n * (double)operand_item_bytes(part);
}

static const field part_copy_fields[] = {
    FIELD_ARRAY(cubc_part_copy_params, from, FIELD_INPUT, type, from_n),
    FIELD_ARRAY(cubc_part_copy_params, to, FIELD_OUTPUT, type, to_n),
    FIELD(cubc_part_copy_params, reals, FIELD_INT),
    FIELD(cubc_part_copy_params, crop, FIELD_INT),
    FIELD(cubc_part_copy_params, cut, FIELD_INT),
    FIELD(cubc_part_copy_params, margin, FIELD_INT),
    FIELD(cubc_part_copy_params, ranks, FIELD_RANKS),
    LATTICE_EXTENT_FIELDS(cubc_part_copy_params),
};

#define CALL                                                                         \
    .from = BENCHMARK_ARRAY(0), .to = BENCHMARK_ARRAY(1), .from_n = 2 * GAUGE_REALS, \
    .to_n = 2 * GAUGE_REALS, .reals = GAUGE_REALS, .cut = 8, .margin = 2
static const cubc_part_copy_params surround = {CALL}, crop = {CALL, .crop = 1};
static const benchmark part_copy_benchmarks[] = {
    LATTICE_BENCHMARK(lattice_plain_types, "part_copy.surround", .call = &surround),
    LATTICE_BENCHMARK(lattice_plain_types, "part_copy.crop", .call = &crop)};

static const site_map part_copy_map = {.macros = {"REALS", "CROP", "CUT", "MARGIN"}};

const algorithm part_copy_algorithm =
    SITE_MAP_MEMBERS(part_copy, .axes = {LATTICE_AXES}, .axis_values = part_copy_axis_values,
                     .kernels = {"part_copy", "part_copy_send", "part_copy_receive"},
                     .has_kernel = part_copy_has_kernel, .invalid = site_map_fitting_variant,
                     .plan = part_copy_plan, .traffic = part_copy_traffic);
