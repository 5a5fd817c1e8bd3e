// Descriptor of the Dslash of staggered fermions: kernels/lattice/dslash_staggered.cu.
#include "lattice/operators/dslash_sites.h"
#include "lattice/operators/flops.h"

#include <math.h>
#include <stdio.h>

enum { HOP_WORDS = 8 }; // arguments of the hops without the phases
// A face without long links, and with them: kernels/lattice/staggered_hops.h has its slices.
static const dslash_halo colours = {.reals = COLOUR_VECTOR_REALS, .depth = 1, .slices = 1},
                         colours_of_three = {.reals = COLOUR_VECTOR_REALS, .depth = 3, .slices = 4};

typedef struct dslash_staggered_traits {
    int reconstruct, long_reconstruct; // the latter 0: there are no long links
    int phases;                        // bit d: direction d has one at its boundary
} dslash_staggered_traits;

typedef struct dslash_staggered_numbers {
    double a, b, scale, long_scale, theta[4];
    uint64_t signs;
} dslash_staggered_numbers;

DSLASH_TRAITS(dslash_staggered_traits);
DSLASH_NUMBERS(dslash_staggered_numbers);

// ---- problems -----------------------------------------------------------------------------------
// Long links have no form of nine reals, a phase and the eight of su3.h: these lose digits where a
// link is near 1, as long links of smooth fields are. At a distance of 0.01 fixed point is off by
// 2e-3 with 8 and by 3e-5 with 12 (D of naive fermions, 4^4 sites).
static cubc_status check_links(const cubc_dslash_staggered_params *params)
{
    if (params->reconstruct == 13)
        FAIL(CUBC_INVALID_ARGUMENT, "dslash_staggered: only long links have 13 reals");
    if (params->long_links && params->reconstruct != 18)
        FAIL(CUBC_INVALID_ARGUMENT,
             "dslash_staggered: fat links of %d reals: they are in no group and have all 18",
             params->reconstruct);
    if (params->long_links && params->long_reconstruct != 18 && params->long_reconstruct != 13)
        FAIL(CUBC_INVALID_ARGUMENT, "dslash_staggered: long links of %d reals: they have 18 or 13",
             params->long_reconstruct);
    if (!isfinite(params->scale) || !isfinite(params->long_scale) || params->signs >> 21)
        FAIL(CUBC_INVALID_ARGUMENT,
             "dslash_staggered: scales of %g and %g and signs of %llu: scales are finite, and "
             "signs have 21 bits",
             params->scale, params->long_scale, (unsigned long long)params->signs);
    return CUBC_OK;
}

cubc_status dslash_staggered_problem(const cubc_dslash_staggered_params *params, problem *out)
{
    const cubc_dslash_sites *sites = &params->sites;
    const bool improved = params->long_links;
    const dslash_staggered_numbers numbers = {
        .a = params->a,
        .b = params->b,
        .scale = params->scale,
        .long_scale = improved ? params->long_scale : 0,
        .theta = {params->theta_x, params->theta_y, params->theta_z, params->theta_t},
        .signs = params->signs};
    dslash_staggered_traits traits = {params->reconstruct, improved ? params->long_reconstruct : 0,
                                      0};
    TRY(dslash_sites_begin(&dslash_staggered_algorithm, COLOUR_VECTOR_REALS, sites, out));
    TRY(check_links(params));
    TRY(dslash_phases(numbers.theta, &traits.phases));
    TRY(lattice_links(out, params->links, params->links_n, sites->type, params->reconstruct));
    if (improved)
        TRY(lattice_links(out, params->long_links, params->long_n, sites->type,
                          params->long_reconstruct));
    TRY(dslash_sites_fields(COLOUR_VECTOR_REALS, sites, improved ? colours_of_three : colours,
                            out));
    dslash_staggered_numbers_set(out, numbers);
    dslash_staggered_traits_set(out, traits);
    snprintf(out->benchmark, sizeof out->benchmark,
             improved ? "dslash.improved.r%d" : "dslash.naive.r%d",
             improved ? traits.long_reconstruct : traits.reconstruct);
    return CUBC_OK;
}

// ---- benchmarks ---------------------------------------------------------------------------------
static cubc_status dslash_staggered_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                             problem *out)
{
    cubc_dslash_staggered_params call = *(const cubc_dslash_staggered_params *)b->call;
    TRY(lattice_call(&dslash_staggered_algorithm, b->call, type, at, &call));
    // Links of 13 reals take 14 in fixed point.
    if (call.long_reconstruct == 13 && type == CUBC_I16) call.long_n = call.long_n / 13 * 14;
    return dslash_staggered_problem(&call, out);
}

// Gives inputs as dslash_random does for Wilson-like operators, for more links.
static const char *dslash_staggered_random(const problem *p, int k)
{
    const int links = dslash_site_traits_of(p).links;
    bool fixed = p->type == CUBC_I16;
    if (k < links && fixed) return "static_cast<u16>((random_u64(seed, i) >> 50) + 24576)";
    if (k < links && dslash_staggered_traits_of(p).reconstruct == 8)
        return "(random_u64(seed, i) >> 40) * 0x1p-25";
    if (p->inputs[k].type == CUBC_F32 && fixed) return "1 + (random_u64(seed, i) >> 62)"; // norms
    if (fixed) return "static_cast<i32>(random_u64(seed, i) >> 49) - 16384";
    return "static_cast<i32>(random_u64(seed, i) % 3) - 1";
}

// ---- variants -----------------------------------------------------------------------------------
static void dslash_staggered_define(const problem *p, text *out)
{
    const dslash_staggered_traits traits = dslash_staggered_traits_of(p);
    dslash_sites_define(p, out);
    text_printf(out, "#define TUNE_FAT_REALS %d\n#define TUNE_LONG_REALS %d\n", traits.reconstruct,
                traits.long_reconstruct);
    text_printf(out, "#define TUNE_PHASES %d\n", traits.phases);
}

static const char *dslash_staggered_invalid(const problem *p, const char *kind, const space *s,
                                            const variant *v)
{
    if (variant_value(s, v, "kl", 0)) return "the links of a site are too many to be kept";
    if (variant_value(s, v, "cv", 0)) return "a colour vector has no halves to be converted";
    return dslash_sites_invalid(p, kind, s, v);
}

static cubc_status dslash_staggered_plan(const problem *p, const instance *i, plan *out)
{
    const int links = dslash_site_traits_of(p).links;
    const operand *field = &p->inputs[links];
    const dslash_staggered_numbers numbers = dslash_staggered_numbers_of(p);
    const uint64_t term[] = {dslash_word(numbers.a), dslash_word(numbers.b)};
    uint64_t hops[HOP_WORDS + DSLASH_PHASE_WORDS + DSLASH_RANK_WORDS] = {
        (uintptr_t)p->inputs[0].data,      links > 1 ? (uintptr_t)p->inputs[1].data : 0,
        (uintptr_t)field[0].data,          (uintptr_t)field[1].data,
        dslash_word(numbers.scale),        dslash_word(numbers.long_scale),
        dslash_site_numbers_of(p).sources, numbers.signs};
    int count = HOP_WORDS;
    if (dslash_staggered_traits_of(p).phases)
        count += dslash_phase_words(numbers.theta, hops + count);
    TRY(dslash_rank_words(p, i, hops, &count));
    return dslash_sites_plan(p, i, dslash_sites_grid(p, i),
                             (dslash_words){hops, (size_t)count * sizeof *hops},
                             (dslash_words){term, sizeof term}, out);
}

// ---- the algorithm ------------------------------------------------------------------------------
#define PARAMS cubc_dslash_staggered_params
static double dslash_staggered_flops(const problem *p)
{
    bool improved = dslash_staggered_traits_of(p).long_reconstruct;
    return dslash_flops(p, COLOUR_VECTOR_REALS, improved ? IMPROVED_FLOPS : NAIVE_FLOPS);
}

static const field dslash_staggered_fields[] = {
    DSLASH_SITES_FIELDS,
    FIELD_ARRAY(PARAMS, links, FIELD_INPUT, sites.type, links_n),
    FIELD_ARRAY(PARAMS, long_links, FIELD_INPUT, sites.type, long_n),
    FIELD(PARAMS, reconstruct, FIELD_INT),
    FIELD(PARAMS, long_reconstruct, FIELD_INT),
    FIELD(PARAMS, signs, FIELD_COUNT),
    FIELD(PARAMS, a, FIELD_REAL),
    FIELD(PARAMS, b, FIELD_REAL),
    FIELD(PARAMS, scale, FIELD_REAL),
    FIELD(PARAMS, long_scale, FIELD_REAL),
    FIELD(PARAMS, theta_x, FIELD_REAL),
    FIELD(PARAMS, theta_y, FIELD_REAL),
    FIELD(PARAMS, theta_z, FIELD_REAL),
    FIELD(PARAMS, theta_t, FIELD_REAL),
};

// Odd to even sites, antiperiodic in time, with MILC's signs; no x.
#define CALL(reals, ...)                                                                  \
    &(const PARAMS)                                                                       \
    {                                                                                     \
        .sites = DSLASH_SITES_CALL(COLOUR_VECTOR_REALS, 1), .links = BENCHMARK_ARRAY(0),  \
        .links_n = 8 * (reals), .reconstruct = reals, .signs = 1u << 20 | 0x2d28, .a = 1, \
        .scale = 1, __VA_ARGS__                                                           \
    }
#define NAIVE(reals)                                                  \
    LATTICE_SOURCES_BENCHMARK(lattice_types, "dslash.naive.r" #reals, \
                              .call = CALL(reals, .long_scale = 0))
#define IMPROVED(reals)                                                                      \
    LATTICE_SOURCES_BENCHMARK(lattice_types, "dslash.improved.r" #reals,                     \
                              .call = CALL(18, .long_links = BENCHMARK_ARRAY(5),             \
                                           .long_n = 8 * (reals), .long_reconstruct = reals, \
                                           .long_scale = 1))
static const benchmark dslash_staggered_benchmarks[] = {NAIVE(18), NAIVE(12), NAIVE(8),
                                                        IMPROVED(18), IMPROVED(13)};

const algorithm dslash_staggered_algorithm = {
    .name = "dslash_staggered",
    .source = "dslash_staggered.cu",
    .kernels = DSLASH_KERNEL_NAMES("dslash_staggered"),
    .has_kernel = dslash_has_kernel,
    .benchmarks = dslash_staggered_benchmarks,
    .benchmark_count = COUNT_OF(dslash_staggered_benchmarks),
    FIELDS(dslash_staggered_fields),
    .axes = {LATTICE_SOURCE_AXES},
    .axis_values = dslash_axis_values,
    .invalid = dslash_staggered_invalid,
    .random = dslash_staggered_random,
    .workload = dslash_staggered_workload,
    .define = dslash_staggered_define,
    .plan = dslash_staggered_plan,
    .traffic = problem_array_bytes,
    .flops = dslash_staggered_flops,
};
