// Descriptor of histogram: kernels/primitives/histogram.cu.
#include "base/integer.h"
#include "run/instance.h"
#include "run/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CLEAR_KERNEL, COUNT_KERNEL }; // in the order of the descriptor's kernels
enum { EVEN, BETWEEN, INDEX };       // `enum kind` of kernels/primitives/bins.h
// The code knows the number of bins as a power of two, from LEAST_LOG2 to FAR, which is any above.
enum { LEAST_LOG2 = 5, FAR = 22, BY_VALUE_LOG2 = 8 };
enum { MOST_CHANNELS = 4, MOST_BINS = 1 << 30 };
enum { ITEMS, EDGES }; // inputs, by place; then the weights, by name

typedef struct histogram_traits {
    int kind, bins_log2;
    int cells; // a table of cells says which edges are near an item
    int channels, active;
} histogram_traits;

typedef struct level { // `struct level` of kernels/primitives/bins.h
    double lower, upper, step;
    uint64_t bins;
} level;

typedef struct histogram_numbers {
    level levels[MOST_CHANNELS]; // of the active channels
} histogram_numbers;

PROBLEM_TRAITS(histogram_traits);
PROBLEM_NUMBERS(histogram_numbers);

static const operand *weights_of(const problem *p)
{
    const operand *last = &p->inputs[p->input_count - 1];
    return last->name && strcmp(last->name, "weights") == 0 ? last : NULL;
}

// ---- problems -----------------------------------------------------------------------------------
static cubc_status check_channels(const cubc_histogram_params *params, histogram_traits *traits)
{
    int channels = params->channels ? params->channels : 1;
    int active = params->active ? params->active : channels;
    if (channels < 1 || channels > MOST_CHANNELS || active < 1 || active > channels)
        FAIL(CUBC_INVALID_ARGUMENT,
             "histogram: %d active of %d channels; expected 1 to %d channels, and as many active "
             "ones or fewer",
             active, channels, MOST_CHANNELS);
    if (params->n % (unsigned)channels)
        FAIL(CUBC_INVALID_ARGUMENT, "histogram: %llu items are no pixels of %d channels",
             (unsigned long long)params->n, channels);
    if (params->weights && channels > 1)
        FAIL(CUBC_INVALID_ARGUMENT, "histogram takes weights of one channel, not of %d", channels);
    traits->channels = channels;
    traits->active = active;
    return CUBC_OK;
}

static cubc_status check_even(const cubc_level *level, cubc_type step_type, double *step)
{
    double width = level->upper - level->lower, bins = (double)level->bins;
    if (!isfinite(width) || !(width > 0))
        FAIL(
            CUBC_INVALID_ARGUMENT,
            "histogram: the bins reach from %g to %g; expected finite numbers, the upper one above "
            "the lower",
            level->lower, level->upper);
    *step = step_type == CUBC_F32 ? (double)((float)width / (float)bins) : width / bins;
    if (!(*step > 0))
        FAIL(CUBC_INVALID_ARGUMENT, "histogram: %llu bins are too many for %g to %g",
             (unsigned long long)level->bins, level->lower, level->upper);
    if (!isfinite(*step))
        FAIL(CUBC_INVALID_ARGUMENT, "histogram: %g to %g is too wide for steps of %s", level->lower,
             level->upper, cubc_type_name(step_type));
    return CUBC_OK;
}

static cubc_status check_levels(const cubc_histogram_params *params, const histogram_traits *traits,
                                problem *p, uint64_t *bins)
{
    histogram_numbers numbers = {0};
    *bins = 0;
    for (int c = 0; c < traits->active; c++) {
        const cubc_level *given = &params->levels[c];
        double step = 0;
        if (given->bins < 1 || given->bins > MOST_BINS || (*bins += given->bins) > MOST_BINS)
            FAIL(CUBC_INVALID_ARGUMENT, "histogram: %llu bins in channel %d; expected 1 to 2^30",
                 (unsigned long long)given->bins, c);
        if (traits->kind == EVEN) TRY(check_even(given, params->step_type, &step));
        numbers.levels[c] = (level){given->lower, given->upper, step, given->bins};
    }
    histogram_numbers_set(p, numbers);
    return CUBC_OK;
}

static cubc_status check_types(const cubc_histogram_params *params, int kind)
{
    cubc_type type = problem_input_type(params->in, params->type);
    cubc_type weight_type = problem_input_type(params->weights, params->weight_type);
    static const unsigned integers =
        1u << CUBC_I32 | 1u << CUBC_I64 | 1u << CUBC_U32 | 1u << CUBC_U64;
    static const unsigned floats = 1u << CUBC_F32 | 1u << CUBC_F64;
    bool floating =
        params->weights && type_valid(weight_type) && type_table[weight_type].kind == KIND_FLOAT;
    const cubc_type types[] = {type, params->out_type, params->edge_type, params->step_type};
    for (size_t k = 0; k < COUNT_OF(types); k++)
        if (!type_valid(types[k]))
            FAIL(CUBC_INVALID_TYPE, "histogram: unknown type (%d)", (int)types[k]);
    TRY(problem_check_real("the items of histogram", type));
    TRY(problem_check_real("the counts of histogram", params->out_type));
    TRY(problem_check_real("the edges of histogram", params->edge_type));
    TRY(problem_check_real("the steps of histogram", params->step_type));
    if (params->weights) TRY(problem_check_real("the weights of histogram", weight_type));
    if (!((floating ? floats : integers | floats) >> params->out_type & 1))
        FAIL(CUBC_INVALID_TYPE, "histogram %s %s, not %s",
             floating ? "sums floating weights in" : "counts in",
             floating ? "F32 or F64" : "I32, I64, U32, U64, F32 or F64",
             cubc_type_name(params->out_type));
    if (kind == INDEX && type_table[type].kind == KIND_FLOAT)
        FAIL(CUBC_INVALID_TYPE, "an item that is the number of its bin is an integer, not %s",
             cubc_type_name(type));
    if (kind == EVEN && (!(floats >> params->edge_type & 1) || !(floats >> params->step_type & 1)))
        FAIL(CUBC_INVALID_TYPE, "the edges of even bins are F32 or F64, not %s",
             cubc_type_name(floats >> params->edge_type & 1 ? params->step_type
                                                            : params->edge_type));
    if (kind == BETWEEN && !((floats | 1u << CUBC_I64 | 1u << CUBC_U64) >> params->edge_type & 1))
        FAIL(CUBC_INVALID_TYPE, "edges are I64, U64, F32 or F64, not %s",
             cubc_type_name(params->edge_type));
    return CUBC_OK;
}

static cubc_status add_inputs(const cubc_histogram_params *params, const histogram_traits *traits,
                              uint64_t bins, problem *p)
{
    uint64_t edges = bins + (uint64_t)traits->active;
    TRY(problem_lazy_input(p, "the input of histogram", params->in, params->n, params->type));
    if (traits->kind == BETWEEN) {
        if (params->edge_count != edges)
            FAIL(CUBC_INVALID_ARGUMENT, "histogram: %llu edges, expected %llu: one more than bins",
                 (unsigned long long)params->edge_count, (unsigned long long)edges);
        TRY(problem_input(p, "the edges of histogram", params->edges, edges, params->edge_type));
    } else // no array, but the type
        p->inputs[p->input_count++] = (operand){.type = (uint8_t)params->edge_type};
    if (params->weights) {
        TRY(problem_lazy_input(p, "the weights of histogram", params->weights, params->n,
                               params->weight_type));
        p->inputs[p->input_count - 1].name = "weights";
    }
    return CUBC_OK;
}

static int bins_log2(cubc_type type, uint64_t bins)
{
    int log2 = LEAST_LOG2;
    if (cubc_type_size(type) == 1) return BY_VALUE_LOG2;
    while (log2 < FAR && bins > (uint64_t)1 << log2) log2++;
    return log2;
}

// A block reads all edges to fill its table of cells. Of more than its counters have room for, few
// items are searched among all edges in less time.
static bool worth_cells(const histogram_traits *traits, uint64_t items, uint64_t bins)
{
    enum { FEW_LOG2 = 15, MOST_LOG2 = 18, ITEMS_OF_AN_EDGE = 256 };
    if (traits->kind != BETWEEN || traits->bins_log2 <= FEW_LOG2) return traits->kind == BETWEEN;
    return traits->bins_log2 <= MOST_LOG2 && items / ITEMS_OF_AN_EDGE >= bins;
}

cubc_status histogram_problem(const cubc_histogram_params *params, problem *out)
{
    uint64_t bins;
    histogram_traits traits = {.kind = params->is_index ? INDEX : params->edges ? BETWEEN : EVEN};
    *out = (problem){.algorithm = &histogram_algorithm,
                     .type = (uint8_t)problem_input_type(params->in, params->type),
                     .acc_type = (uint8_t)params->step_type,
                     .aligned = true};
    TRY(check_types(params, traits.kind));
    TRY(check_channels(params, &traits));
    TRY(check_levels(params, &traits, out, &bins));
    TRY(add_inputs(params, &traits, bins, out));
    TRY(problem_output(out, "the output of histogram", params->out, bins, params->out_type));
    traits.bins_log2 = bins_log2((cubc_type)out->type, bins);
    out->n = params->n / (unsigned)traits.channels;
    traits.cells = worth_cells(&traits, out->n, bins);
    histogram_traits_set(out, traits);
    problem_set_benchmark(out, "histogram.",
                          traits.channels > 1      ? "channels" // which no benchmark stands for
                          : traits.kind == BETWEEN ? "range"
                                                   : "even");
    TRY(problem_check_overlap(out, ANY_INPUT));
    if (out->in_place)
        FAIL(CUBC_INVALID_ARGUMENT, "the output of histogram is one of its inputs: it must lie "
                                    "apart");
    return CUBC_OK;
}

// ---- benchmarks ---------------------------------------------------------------------------------
enum { BIN_COUNT = 1 }; // among the run-time axes

static void histogram_axis_values(const problem *p, uint64_t *values)
{
    values[0] = p->n;
    values[BIN_COUNT] = p->outputs[0].n;
}

// The type that a range benchmark's edges have.
static cubc_type edge_type_of(cubc_type type)
{
    switch (type_table[type].kind) {
    case KIND_SIGNED: return CUBC_I64;
    case KIND_UNSIGNED: return CUBC_U64;
    default: return type == CUBC_F64 ? CUBC_F64 : CUBC_F32;
    }
}

// All integers, or floats from 0 to 1. Counts have 32 bits, as in CUB's benchmarks.
static cubc_status histogram_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                      problem *out)
{
    const type_info *t = &type_table[type];
    double width = t->kind == KIND_FLOAT ? 1.0 : ldexp(1.0, 8 * t->size);
    double lower = t->kind == KIND_SIGNED ? -width / 2 : 0;
    cubc_histogram_params params = *(const cubc_histogram_params *)b->call;
    params.n = at[0];
    params.type = type;
    params.levels[0] = (cubc_level){at[BIN_COUNT], lower, lower + width};
    params.edge_count = at[BIN_COUNT] + 1;
    params.edge_type = params.edges ? edge_type_of(type) : type == CUBC_F32 ? CUBC_F32 : CUBC_F64;
    return histogram_problem(&params, out);
}

// Edges divide the range unevenly: one is at random in each of Bins equal parts, and one behind
// them.
static const char *edges_expression(const type_info *type)
{
#define EDGE(bits) "(i * " bits " + random_u64(seed, i) % " bits ") / Bins"
    bool is_signed = type->kind == KIND_SIGNED;
    switch (type->size) {
    case 1: return is_signed ? "i * 256 / Bins - 128 + 0 * seed" : "i * 256 / Bins + 0 * seed";
    case 2: return is_signed ? EDGE("0x10000ull") " - 0x8000" : EDGE("0x10000ull");
    case 4: return is_signed ? EDGE("0x100000000ull") " - 0x80000000ull" : EDGE("0x100000000ull");
    default:
        return is_signed ? "i < Bins ? i * (~0ull / Bins) + random_u64(seed, i) % (~0ull / Bins)"
                           " - (1ull << 63) : ~0ull >> 1"
                         : "i < Bins ? i * (~0ull / Bins) + random_u64(seed, i) % (~0ull / Bins)"
                           " : ~0ull";
    }
#undef EDGE
}

static const char *histogram_random(const problem *p, int k)
{
    const type_info *type = &type_table[p->type];
    if (k == EDGES && type->kind != KIND_FLOAT) return edges_expression(type);
    if (k == EDGES)
        return "(static_cast<f64>(i) + static_cast<f64>(random_u64(seed, i) >> 32) / 4294967296.0)"
               " / (static_cast<f64>(Bins) + 1.0)";
    return type->kind == KIND_FLOAT
               ? "static_cast<f64>(random_u64(seed, i) >> 11) / 9007199254740992.0"
               : NULL;
}

// ---- variants -----------------------------------------------------------------------------------
static void histogram_define(const problem *p, text *out)
{
    const operand *weights = weights_of(p);
    const histogram_traits traits = histogram_traits_of(p);
    static const char *const sum_types[CUBC_TYPE_COUNT] = {
        [CUBC_I32] = "u32", [CUBC_U32] = "u32", [CUBC_I64] = "u64",
        [CUBC_U64] = "u64", [CUBC_F32] = "f32", [CUBC_F64] = "f64"};
    text_printf(out, "#define TUNE_T %s\n#define TUNE_SUM %s\n#define TUNE_ALIGNED %d\n",
                type_table[p->type].dialect, sum_types[p->outputs[0].type], p->aligned);
    text_printf(out, "#define TUNE_KIND %d\n#define TUNE_EDGE %s\n#define TUNE_STEP %s\n",
                traits.kind, type_table[p->inputs[EDGES].type].dialect,
                p->acc_type == CUBC_F32 ? "f32" : "f64");
    text_printf(out,
                "#define TUNE_BINS_LOG2 %d\n#define TUNE_CHANNELS %d\n#define TUNE_ACTIVE %d\n",
                traits.bins_log2, traits.channels, traits.active);
    text_printf(out, "#define TUNE_CELLS %d\n", traits.cells);
    problem_define_input(p, ITEMS, "TUNE_IN", out);
    problem_define_input(p, weights ? (int)(weights - p->inputs) : -1, "TUNE_WEIGHTS", out);
    if (weights) // only counts are combined
        text_printf(out, "#define TUNE_W %s\n#undef TUNE_COMBINE\n#define TUNE_COMBINE 0\n",
                    type_table[weights->type].dialect);
}

static const char *histogram_invalid(const problem *p, const char *kind, const space *s,
                                     const variant *v)
{
    int channels = histogram_traits_of(p).channels;
    return problem_invalid(p, kind, s, v, channels * (int)cubc_type_size((cubc_type)p->type));
}

// ---- plans --------------------------------------------------------------------------------------
static cubc_status add_launch(const problem *p, const device_kernel *kernel, uint64_t grid,
                              plan *out)
{
    enum { IN, WEIGHTS, OUT, EDGES_ARG, N, LEVELS }; // the last is a struct a channel
    const histogram_numbers numbers = histogram_numbers_of(p);
    const size_t level_bytes = (size_t)histogram_traits_of(p).active * sizeof(level);
    const operand *weights = weights_of(p);
    launch *l = &out->launches[out->launch_count++];
    *l = (launch){.kernel = kernel,
                  .shape.grid = (unsigned)grid,
                  .args_count = LEVELS + level_bytes / sizeof l->args[0],
                  .args = {[OUT] = (uintptr_t)p->outputs[0].data,
                           [EDGES_ARG] = (uintptr_t)p->inputs[EDGES].data,
                           [N] = p->n}};
    memcpy(l->args + LEVELS, numbers.levels, level_bytes);
    TRY(problem_place_input(p, weights ? (int)(weights - p->inputs) : -1, l, WEIGHTS));
    return problem_place_input(p, ITEMS, l, IN);
}

static cubc_status histogram_plan(const problem *p, const instance *i, plan *out)
{
    enum { CLEARED_A_THREAD = 4 };
    const device_kernel *count = &i->kernels[COUNT_KERNEL], *clear = &i->kernels[CLEAR_KERNEL];
    uint64_t tile = instance_tile(i, count);
    uint64_t tiles = ceil_div(p->n, tile);
    uint64_t resident = blocks_in_waves(i, count);
    // A block's counts have 32 bits.
    uint64_t blocks = larger(smaller(tiles, resident), p->n >> 31);
    uint64_t cleared = (uint64_t)clear->threads * CLEARED_A_THREAD;
    TRY(add_launch(p, clear, ceil_div(p->outputs[0].n, cleared), out));
    return tiles ? add_launch(p, count, blocks, out) : CUBC_OK;
}

static const field histogram_fields[] = {
    FIELD_ARRAY(cubc_histogram_params, in, FIELD_LAZY, type, n),
    FIELD_ARRAY(cubc_histogram_params, weights, FIELD_LAZY, weight_type, n),
    FIELD_ARRAY(cubc_histogram_params, edges, FIELD_INPUT, edge_type, edge_count),
    {"out", FIELD_OUTPUT, offsetof(cubc_histogram_params, out),
     offsetof(cubc_histogram_params, out_type), 0, 0},
    FIELD(cubc_histogram_params, edge_type, FIELD_TYPE),
    FIELD(cubc_histogram_params, step_type, FIELD_TYPE),
    FIELD(cubc_histogram_params, is_index, FIELD_INT),
    FIELD(cubc_histogram_params, channels, FIELD_INT),
    FIELD(cubc_histogram_params, active, FIELD_INT),
#define LEVEL(k)                                                                             \
    {"bins" #k, FIELD_COUNT, offsetof(cubc_histogram_params, levels[k].bins), 0, 0, 0},      \
        {"lower" #k, FIELD_REAL, offsetof(cubc_histogram_params, levels[k].lower), 0, 0, 0}, \
        {"upper" #k, FIELD_REAL, offsetof(cubc_histogram_params, levels[k].upper), 0, 0, 0}
    LEVEL(0),
    LEVEL(1),
    LEVEL(2),
    LEVEL(3),
};

static const int even_bins[] = {256, 2048, 2097152}, range_bins[] = {256};
#define CALL(...)                                                                  \
    .call = &(const cubc_histogram_params)                                         \
    {                                                                              \
        .in = BENCHMARK_ARRAY(0), .out = BENCHMARK_ARRAY(1), .out_type = CUBC_I32, \
        .step_type = CUBC_F64, __VA_ARGS__                                         \
    }
static const benchmark histogram_benchmarks[] = {
    BENCHMARK_OF("histogram.even", .axes[BIN_COUNT] = AXIS(even_bins), CALL(.edges = NULL)),
    BENCHMARK_OF("histogram.range", .axes[BIN_COUNT] = AXIS(range_bins),
                 CALL(.edges = BENCHMARK_ARRAY(2)))};

const algorithm histogram_algorithm = {.name = "histogram",
                                       .keys = 1,
                                       .keys_fill_type = true, // as the bins are
                                       .source = "histogram.cu",
                                       .kernels = {"histogram_clear", "histogram_count"},
                                       .axes = {"Elements", "Bins"},
                                       .benchmarks = histogram_benchmarks,
                                       .benchmark_count = COUNT_OF(histogram_benchmarks),
                                       FIELDS(histogram_fields),
                                       .workload = histogram_workload,
                                       .axis_values = histogram_axis_values,
                                       .define = histogram_define,
                                       .invalid = histogram_invalid,
                                       .plan = histogram_plan,
                                       .traffic = problem_array_bytes,
                                       .random = histogram_random};
