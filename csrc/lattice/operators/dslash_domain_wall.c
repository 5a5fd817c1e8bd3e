// Descriptor of the Dslash of domain-wall fermions: kernels/lattice/dslash_domain_wall.cu.
#include "lattice/operators/dslash.h"

#include "base/integer.h"

#include <math.h>
#include <stdio.h>

enum { LS_AXIS = LATTICE_SOURCES_AXIS + 1 };

typedef struct dslash_domain_wall_traits {
    int hops;
} dslash_domain_wall_traits;

typedef struct dslash_domain_wall_numbers {
    double next, step, closing;
} dslash_domain_wall_numbers;

DSLASH_TERM_TRAITS(dslash_domain_wall_traits);
DSLASH_TERM_NUMBERS(dslash_domain_wall_numbers);

// ---- problems -----------------------------------------------------------------------------------
// Fails where 1 - k H has no inverse.
static cubc_status closing_of(const cubc_dslash_domain_wall_params *params, int ls, double *out)
{
    double below = 1 + params->mass * pow(params->step, ls);
    *out = -params->mass / below;
    if (isfinite(*out) && isfinite(params->wilson.a) && isfinite(params->next)) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT,
         "dslash_domain_wall: 1 - %g H of mass %g on %d sites has no inverse, or a factor (%g, %g) "
         "is not finite",
         params->step, params->mass, ls, params->wilson.a, params->next);
}

cubc_status dslash_domain_wall_problem(const cubc_dslash_domain_wall_params *params, problem *out)
{
    dslash_domain_wall_numbers numbers = {params->next, params->step, 0};
    TRY(dslash_problem(&dslash_domain_wall_algorithm, &params->wilson, out));
    int ls = dslash_site_traits_of(out).inner;
    if (ls > CUBC_MOST_LS)
        FAIL(CUBC_INVALID_ARGUMENT, "a fifth dimension of %d sites: up to %d are handled", ls,
             CUBC_MOST_LS);
    TRY(closing_of(params, ls, &numbers.closing));
    dslash_domain_wall_numbers_set(out, numbers);
    dslash_domain_wall_traits_set(out, (dslash_domain_wall_traits){params->hops != 0});
    if (params->hops) return CUBC_OK;
    dslash_site_traits sites = dslash_site_traits_of(out);
    sites.cut = sites.staged = sites.open = 0; // nothing comes from other sites
    dslash_site_traits_set(out, sites);
    snprintf(out->benchmark, sizeof out->benchmark, "domain_wall.inverse");
    return CUBC_OK;
}

static void dslash_domain_wall_axis_values(const problem *p, uint64_t *values)
{
    dslash_axis_values(p, values);
    values[LS_AXIS] = (uint64_t)dslash_site_traits_of(p).inner;
    values[LATTICE_SOURCES_AXIS] /= values[LS_AXIS];
}

// ---- benchmarks ---------------------------------------------------------------------------------
static cubc_status dslash_domain_wall_workload(const benchmark *b, cubc_type type,
                                               const uint64_t *at, problem *out)
{
    cubc_dslash_domain_wall_params call = *(const cubc_dslash_domain_wall_params *)b->call;
    TRY(lattice_call(&dslash_domain_wall_algorithm, b->call, type, at, &call));
    if (at[LS_AXIS] < 1 || at[LS_AXIS] > CUBC_MOST_LS)
        FAIL(CUBC_INVALID_ARGUMENT, "Ls=%llu: a benchmark has 1 to %d",
             (unsigned long long)at[LS_AXIS], CUBC_MOST_LS);
    call.wilson.sites.inner = (int)at[LS_AXIS];
    call.wilson.sites.n *= at[LS_AXIS];
    call.wilson.sites.norms_n *= at[LS_AXIS];
    return dslash_domain_wall_problem(&call, out);
}

// ---- variants -----------------------------------------------------------------------------------
static void dslash_domain_wall_define(const problem *p, text *out)
{
    dslash_define(p, out);
    text_printf(out, "#define TUNE_HOPS %d\n", dslash_domain_wall_traits_of(p).hops);
}

static const char *dslash_domain_wall_invalid(const problem *p, const char *kind, const space *s,
                                              const variant *v)
{
    if (variant_value(s, v, "sf", 0) || variant_value(s, v, "sg", 1) > 1)
        return "a block has all s of its sites";
    if (!dslash_domain_wall_traits_of(p).hops) {
        if (variant_value(s, v, "kl", 0)) return "there are no links to be kept";
        if (variant_value(s, v, "cv", 0))
            return "numbers are converted in hops, and there are none";
    }
    return dslash_invalid(p, kind, s, v);
}

// ---- launches -----------------------------------------------------------------------------------
// Sites of a block, as the kernel has them.
static uint64_t columns_of(const problem *p, const instance *i)
{
    enum { WARP = 32, MOST_BYTES = 61440 };
    uint64_t ls = (uint64_t)dslash_site_traits_of(p).inner;
    uint64_t each = SPINOR_REALS * ls * (p->type == CUBC_F64 ? sizeof(double) : sizeof(float));
    uint64_t columns = UINT64_C(1) << instance_value(i, "cl", 0);
    while (columns * each > MOST_BYTES) columns /= 2;
    return larger(columns, ceil_div(WARP, ls));
}

static cubc_status dslash_domain_wall_plan(const problem *p, const instance *i, plan *out)
{
    const dslash_domain_wall_numbers term = dslash_domain_wall_numbers_of(p);
    uint64_t sources = dslash_site_numbers_of(p).sources / (uint64_t)dslash_site_traits_of(p).inner,
             tile = columns_of(p, i), blocks = sources * ceil_div(dslash_output_sites(p), tile);
    const dslash_grid grid = {.blocks = blocks, .parts = blocks, .tile = tile};
    return dslash_plan_on(p, i, grid, &term, sizeof term, out);
}

static double dslash_domain_wall_traffic(const problem *p)
{
    return problem_array_bytes(p) -
           (dslash_domain_wall_traits_of(p).hops ? 0 : problem_input_bytes(p, 0));
}

// Operations of the inverse along s are not counted.
static double dslash_domain_wall_flops(const problem *p)
{
    if (!dslash_domain_wall_traits_of(p).hops) return 0;
    return dslash_flops(p, SPINOR_REALS, HOP_FLOPS + ALONG_FLOPS);
}

// ---- the algorithm ------------------------------------------------------------------------------
#define PARAMS cubc_dslash_domain_wall_params
static const field dslash_domain_wall_fields[] = {
    DSLASH_FIELDS,
    FIELD(PARAMS, hops, FIELD_INT),
    FIELD(PARAMS, next, FIELD_REAL),
    FIELD(PARAMS, step, FIELD_REAL),
    FIELD(PARAMS, mass, FIELD_REAL),
};

// Shamir's operator for M5 = 1.8, twelve sites along s.
static const int twelve[1] = {12};
#define AXES {LATTICE_EXTENT_VALUES, AXIS(lattice_one_source), AXIS(twelve)}
#define CALL(reals, with_hops) \
    &(const PARAMS){.wilson = DSLASH_CALL(reals), .hops = with_hops, .step = 0.3125, .mass = 0.04}
#define BENCHMARK(of, reals, with_hops)     \
    {.types = lattice_types,                \
     .type_count = COUNT_OF(lattice_types), \
     .axes = AXES,                          \
     .name = of,                            \
     .call = CALL(reals, with_hops)}
static const benchmark dslash_domain_wall_benchmarks[] = {
    BENCHMARK("dslash.domain_wall.r18", 18, 1), BENCHMARK("dslash.domain_wall.r12", 12, 1),
    BENCHMARK("dslash.domain_wall.r8", 8, 1), BENCHMARK("domain_wall.inverse", 12, 0)};

const algorithm dslash_domain_wall_algorithm = {
    .name = "dslash_domain_wall",
    .source = "dslash_domain_wall.cu",
    .kernels = DSLASH_KERNEL_NAMES("dslash_domain_wall"),
    .has_kernel = dslash_has_kernel,
    .benchmarks = dslash_domain_wall_benchmarks,
    .benchmark_count = COUNT_OF(dslash_domain_wall_benchmarks),
    FIELDS(dslash_domain_wall_fields),
    .axes = {LATTICE_SOURCE_AXES, "Ls"},
    .axis_values = dslash_domain_wall_axis_values,
    .invalid = dslash_domain_wall_invalid,
    .random = dslash_random,
    .workload = dslash_domain_wall_workload,
    .define = dslash_domain_wall_define,
    .plan = dslash_domain_wall_plan,
    .traffic = dslash_domain_wall_traffic,
    .flops = dslash_domain_wall_flops,
};
