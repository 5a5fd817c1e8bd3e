// Descriptor of segmented_sort: kernels/primitives/segmented_sort.cu, and
// kernels/cpu/cpu_segmented_sort.cu on the CPU.
#include "base/integer.h"
#include "primitives/order.h"

#include <string.h>

// Places of the kernels in the descriptor.
enum { WINDOWS_KERNEL, ROUND_KERNEL };
enum { KEYS = 0, VALUES = 1 }; // places of the inputs; the offsets, if there are any, come last

typedef struct segmented_sort_traits {
    int equal_size; // there are no offsets
    int relative;   // indices count from a segment's beginning
} segmented_sort_traits;

typedef struct segmented_sort_numbers {
    uint64_t segments;
} segmented_sort_numbers;

PROBLEM_TRAITS(segmented_sort_traits);
PROBLEM_NUMBERS(segmented_sort_numbers);

// The input that has the offsets; -1 without them.
static int offsets_of(const problem *p)
{
    return segmented_sort_traits_of(p).equal_size ? -1 : p->input_count - 1;
}

// ---- problems -----------------------------------------------------------------------------------
static cubc_status add_values(const cubc_segmented_sort_params *params, problem *p)
{
    bool relative = params->relative && params->segments;
    return problem_sort_values(p, "the values of segmented_sort", params->values_in,
                               params->values_out, params->n, params->value_bytes,
                               relative ? params->n / params->segments : params->n);
}

static cubc_status add_segments(const cubc_segmented_sort_params *params, problem *p)
{
    segmented_sort_numbers_set(p, (segmented_sort_numbers){params->segments});
    segmented_sort_traits_set(p, (segmented_sort_traits){.equal_size = params->offsets == NULL,
                                                         .relative = params->relative != 0});
    if (params->relative && (params->offsets || params->values_in || !params->value_bytes))
        FAIL(CUBC_INVALID_ARGUMENT,
             "segmented_sort: what counts from a segment's beginning are indices, without values "
             "that go in, of segments of one size");
    if (!params->offsets)
        return problem_equal_segments("segmented_sort", params->n, params->segments);
    return problem_offsets(p, "the offsets of segmented_sort", params->offsets, params->segments,
                           params->offset_type);
}

// Inputs may be the outputs of their number, but the offsets are no such input, nor are operands of
// theirs, which are the only ones.
static cubc_status check_overlap(problem *p)
{
    const operand *offsets = offsets_of(p) < 0 ? NULL : &p->inputs[offsets_of(p)];
    TRY(problem_check_overlap(p, INPUT_OF_SAME_NUMBER));
    for (int o = 0; offsets && p->n && o < p->output_count; o++) {
        bool same = offsets->data == p->outputs[o].data;
        for (int k = 0; k < p->operand_count; k++)
            same = same || (!p->operands[k].scalar && p->operands[k].data == p->outputs[o].data);
        if (same)
            FAIL(CUBC_INVALID_ARGUMENT,
                 "segmented_sort: offsets and output overlap: they must be apart");
    }
    return CUBC_OK;
}

static uint64_t mean_length(const problem *p)
{
    uint64_t count = segmented_sort_numbers_of(p).segments;
    return count ? p->n / count : p->n;
}

cubc_status segmented_sort_problem(const cubc_segmented_sort_params *params, problem *out)
{
    *out = (problem){.algorithm = &segmented_sort_algorithm,
                     .n = params->n,
                     .type = (uint8_t)params->type,
                     .acc_type = (uint8_t)params->type,
                     .descending = params->descending != 0};
    TRY(problem_input(out, "the keys of segmented_sort", params->keys_in, params->n, params->type));
    TRY(problem_check_real("the keys of segmented_sort", params->type));
    TRY(problem_output(out, "the output of segmented_sort", params->keys_out, params->n,
                       params->type));
    TRY(add_values(params, out));
    TRY(add_segments(params, out));
    strcpy(out->benchmark, out->output_count > 1 ? "segmented_sort.pairs" : "segmented_sort.keys");
    TRY(check_overlap(out));
    out->aligned = true; // nothing is read in vectors
    return CUBC_OK;
}

// ---- long segments ------------------------------------------------------------------------------
// Long segments of one size are sorted one after the other, as cubc_sort does. Merging reads and
// writes all items once for each time that the sorted runs double; a sort by radix does so for each
// digit, and takes the whole device for one segment. benchmarks/notes/segmented_sort.md has the
// lengths from which that is faster.
static bool is_long(const problem *p, const char *kind)
{
    enum { LONG_ON_CPU = 65536, LONG = 1 << 20, LONG_OF_8_BYTES = 3000000 };
    enum { FEW = 3, LONG_OF_FEW = 16384 }; // segments, of keys of at most 4 bytes
    const uint64_t length = mean_length(p), bytes = cubc_type_size((cubc_type)p->type);
    if (offsets_of(p) >= 0 || p->n == 0) return false;
    if (device_is_cpu(kind)) return length >= LONG_ON_CPU;
    if (bytes > 4) return bytes == 8 && length >= LONG_OF_8_BYTES;
    return length >= (segmented_sort_numbers_of(p).segments <= FEW ? LONG_OF_FEW : LONG);
}

// True if indices count from the beginning of the array, and those of a segment do not.
static bool has_shifted_indices(const problem *p)
{
    return p->output_count > 1 && p->input_count == 1 && !segmented_sort_traits_of(p).relative;
}

// A sort of each segment. With such indices a step behind each but the first adds where it begins.
static uint64_t segmented_sort_step_count(const problem *p, const char *kind)
{
    const uint64_t segments = segmented_sort_numbers_of(p).segments;
    if (!is_long(p, kind)) return 0;
    return has_shifted_indices(p) ? 2 * segments - 1 : segments;
}

// The address of an array's items of a segment that begins at `first`; NULL: there is no array.
static void *items_from(const operand *o, uint64_t first)
{
    return o->data ? (char *)o->data + first * operand_item_bytes(o) : NULL;
}

static cubc_status shift_indices(const problem *p, uint64_t first, problem *out)
{
    const operand *indices = &p->outputs[VALUES];
    const cubc_type type = (cubc_type)indices->type;
    void *at = items_from(indices, first);
    const cubc_operand operands[] = {
        {.name = "k", .type = type, .data = at},
        {.name = "first", .type = CUBC_U64, .data = &out->init, .scalar = 1}};
    const cubc_transform_params call = {.out = at,
                                        .out_type = type,
                                        .n = mean_length(p),
                                        .expression = "k + first",
                                        .operands = operands,
                                        .operand_count = COUNT_OF(operands)};
    TRY(transform_problem(&call, out));
    memcpy(&out->init, &first, sizeof first); // which transform does not use
    return CUBC_OK;
}

static cubc_status segmented_sort_step(const problem *p, uint64_t k, problem *out)
{
    const bool shifted = has_shifted_indices(p);
    const uint64_t length = mean_length(p), first = (shifted ? ceil_div(k, 2) : k) * length;
    if (shifted && k && k % 2 == 0) return shift_indices(p, first, out);
    const operand *values = p->output_count > 1 ? &p->outputs[VALUES] : NULL;
    const cubc_sort_params call = {
        .keys_in = items_from(&p->inputs[KEYS], first),
        .keys_out = items_from(&p->outputs[KEYS], first),
        .values_in = p->input_count > 1 ? items_from(&p->inputs[VALUES], first) : NULL,
        .values_out = values ? items_from(values, first) : NULL,
        .n = length,
        .type = (cubc_type)p->type,
        .value_bytes = values ? (int)operand_item_bytes(values) : 0,
        .descending = p->descending};
    return sort_problem(&call, out);
}

// ---- benchmarks ---------------------------------------------------------------------------------
enum { SEGMENT_SIZE = 1 }; // among the run-time axes: the mean length of segments

static void segmented_sort_axis_values(const problem *p, uint64_t *values)
{
    values[0] = p->n;
    values[SEGMENT_SIZE] = mean_length(p);
}

static const char *segmented_sort_random(const problem *p, int k)
{
    if (offsets_of(p) != k) return problem_random_bits(p, k);
    return problem_random_offsets;
}

static cubc_status segmented_sort_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                           problem *out)
{
    cubc_segmented_sort_params call = *(const cubc_segmented_sort_params *)b->call;
    call.n = at[0];
    call.type = type;
    call.segments = call.n / smaller(call.n, at[SEGMENT_SIZE]);
    return segmented_sort_problem(&call, out);
}

// ---- variants -----------------------------------------------------------------------------------
static void segmented_sort_define(const problem *p, text *out)
{
    const segmented_sort_traits traits = segmented_sort_traits_of(p);
    bool indices = p->output_count > 1 && p->input_count - !traits.equal_size < 2;
    problem_define_keys(p, out);
    problem_define_values(p, out);
    text_puts(out, "#define TUNE_T TUNE_KEY\n#define TUNE_LESS (a < b)\n");
    problem_define_offsets(p, offsets_of(p), out);
    text_printf(out, "#define TUNE_INDICES %d\n#define TUNE_RELATIVE %d\n", indices,
                traits.relative);
    text_printf(out, "#define TUNE_IN_PLACE %d\n#define TUNE_ALIGNED %d\n", p->in_place,
                p->aligned);
}

// ---- plans --------------------------------------------------------------------------------------
typedef struct cutting { // of the array into windows
    uint64_t window, most_short;
    int rounds; // that there can be
} cutting;

static int rounds_for(uint64_t windows)
{
    int rounds = 0;
    while (1ull << rounds < windows) rounds++;
    return rounds;
}

// Segments of one size are cut so that a tile holds as many whole ones as fit, or none whole.
// Otherwise the longer they are on the average, the more room behind its window a block has for the
// last one.
static cutting cut(const problem *p, uint64_t tile)
{
    const bool equal_size = segmented_sort_traits_of(p).equal_size;
    uint64_t mean = mean_length(p), most = p->n;
    if (equal_size && mean <= tile) return (cutting){.window = tile / mean * mean};
    cutting c = {.window = tile};
    if (!equal_size) {
        c.most_short = mean > tile / 8 ? tile / 2 : mean < tile / 64 ? tile / 16 : 4 * mean;
        c.window = tile - c.most_short;
    } else
        most = mean;
    uint64_t windows = ceil_div(p->n, c.window), across = (most - 1) / c.window + 2;
    c.rounds = rounds_for(across < windows ? across : windows);
    return c;
}

enum {
    IN_KEYS,
    IN_VALUES,
    ITEMS,
    OUT_KEYS,
    OUT_VALUES,
    SPARE_KEYS,
    SPARE_VALUES,
    OFFSETS,
    SIZE,
    COUNT,
    OF_ITEMS,
    WINDOW,
    MOST_SHORT,
    ROUNDS,
    MOST_ROUNDS,
    ROUND,
    ARGS
};

static launch first_launch(const problem *p, const device_kernel *kernel, const cutting *c,
                           uint64_t windows)
{
    const void *values = p->input_count > 1 ? p->inputs[VALUES].data : NULL;
    return (launch){.kernel = kernel,
                    .shape.grid = (unsigned)windows,
                    .args_count = ARGS,
                    .args = {[IN_KEYS] = (uintptr_t)p->inputs[KEYS].data,
                             [IN_VALUES] = (uintptr_t)values,
                             [ITEMS] = p->n,
                             [OUT_KEYS] = (uintptr_t)p->outputs[KEYS].data,
                             [OUT_VALUES] = (uintptr_t)p->outputs[VALUES].data,
                             [SIZE] = mean_length(p),
                             [COUNT] = segmented_sort_numbers_of(p).segments,
                             [OF_ITEMS] = p->n,
                             [WINDOW] = c->window,
                             [MOST_SHORT] = c->most_short}};
}

// The scratch of long segments: the greatest number of rounds, cleared; that of each window; and
// room for all items.
static void place_scratch(const problem *p, uint64_t windows, launch *l, plan *out)
{
    l->args[MOST_ROUNDS] = 0;
    l->args[ROUNDS] = out->cleared_bytes = 256;
    l->args[SPARE_KEYS] = 256 + round_up(windows, 256);
    l->args[SPARE_VALUES] =
        l->args[SPARE_KEYS] + round_up(p->n * operand_item_bytes(&p->outputs[KEYS]), 256);
    out->scratch_bytes = l->args[SPARE_VALUES];
    if (p->output_count > 1) out->scratch_bytes += p->n * operand_item_bytes(&p->outputs[VALUES]);
    l->scratch_args = 1u << SPARE_KEYS | 1u << SPARE_VALUES | 1u << ROUNDS | 1u << MOST_ROUNDS;
}

static cubc_status segmented_sort_plan(const problem *p, const instance *i, plan *out)
{
    enum { WAVES = 4 }; // of resident blocks: windows differ in what is left to do
    const device_kernel *kernels = i->kernels;
    uint64_t tile = instance_tile(i, &kernels[WINDOWS_KERNEL]);
    if (p->n == 0) return CUBC_OK;
    cutting c = cut(p, tile);
    uint64_t windows = ceil_div(p->n, c.window);
    if (windows > INT32_MAX)
        FAIL(CUBC_INVALID_ARGUMENT, "segmented_sort of %llu items needs more than 2^31 blocks",
             (unsigned long long)p->n);
    uint64_t resident = (uint64_t)i->device->info.sm_count *
                        (uint64_t)kernels[ROUND_KERNEL].info.blocks_per_sm * WAVES;
    launch *l = out->launches;
    l[0] = first_launch(p, &kernels[WINDOWS_KERNEL], &c, windows);
    if (c.rounds) place_scratch(p, windows, &l[0], out);
    for (int r = 0; r < c.rounds; r++) {
        l[1 + r] = l[0];
        l[1 + r].kernel = &kernels[ROUND_KERNEL];
        l[1 + r].shape.grid = (unsigned)(windows < resident ? windows : resident);
        l[1 + r].args[ROUND] = (uint64_t)r;
    }
    out->launch_count = 1 + c.rounds;
    for (int k = 0; k < out->launch_count; k++)
        TRY(problem_place_input(p, offsets_of(p), &l[k], OFFSETS));
    return CUBC_OK;
}

#define ARRAY(name, kind) FIELD_ARRAY(cubc_segmented_sort_params, name, kind, type, n)
#define VALUES_ARRAY(name, kind)                 \
    {#name,                                      \
     kind,                                       \
     offsetof(cubc_segmented_sort_params, name), \
     0,                                          \
     offsetof(cubc_segmented_sort_params, n),    \
     offsetof(cubc_segmented_sort_params, value_bytes)}
static const field segmented_sort_fields[] = {
    ARRAY(keys_in, FIELD_INPUT),
    VALUES_ARRAY(values_in, FIELD_INPUT),
    {"offsets", FIELD_LAZY, offsetof(cubc_segmented_sort_params, offsets),
     offsetof(cubc_segmented_sort_params, offset_type), 0, 0},
    FIELD(cubc_segmented_sort_params, segments, FIELD_COUNT),
    FIELD(cubc_segmented_sort_params, descending, FIELD_INT),
    FIELD(cubc_segmented_sort_params, relative, FIELD_INT),
    ARRAY(keys_out, FIELD_OUTPUT),
    VALUES_ARRAY(values_out, FIELD_OUTPUT),
    // Indices of keys of several dimensions, where values would be rows.
    {"indices_out", FIELD_OUTPUT, offsetof(cubc_segmented_sort_params, values_out), 0,
     offsetof(cubc_segmented_sort_params, n), 0},
    FIELD(cubc_segmented_sort_params, value_bytes, FIELD_INT),
};

#define CALL(...)                                                           \
    .call = &(const cubc_segmented_sort_params)                             \
    {                                                                       \
        .keys_in = BENCHMARK_ARRAY(0), .keys_out = BENCHMARK_ARRAY(1),      \
        .offsets = BENCHMARK_ARRAY(2), .offset_type = CUBC_I64, __VA_ARGS__ \
    }
static const int lengths[] = {8, 256, 65536}, length[] = {256};
static const benchmark segmented_sort_benchmarks[] = {
    BENCHMARK_OF("segmented_sort.keys", .axes[SEGMENT_SIZE] = AXIS(lengths),
                 CALL(.values_in = NULL)),
    BENCHMARK_OF(
        "segmented_sort.pairs", .axes[SEGMENT_SIZE] = AXIS(length),
        CALL(.values_in = BENCHMARK_ARRAY(3), .values_out = BENCHMARK_ARRAY(4), .value_bytes = 4))};

const algorithm segmented_sort_algorithm = {
    .keys = 1,
    .name = "segmented_sort",
    .source = "segmented_sort.cu",
    .kernels = {"segmented_sort_windows", "segmented_sort_round"},
    .cpu_source = "cpu_segmented_sort.cu",
    .cpu_kernels = {"segmented_sort_windows", "segmented_sort_round"},
    .cpu_unused = {"TUNE_IN_PLACE"},
    .axes = {"Elements", "SegmentSize"},
    .benchmarks = segmented_sort_benchmarks,
    .benchmark_count = COUNT_OF(segmented_sort_benchmarks),
    FIELDS(segmented_sort_fields),
    .workload = segmented_sort_workload,
    .axis_values = segmented_sort_axis_values,
    .define = segmented_sort_define,
    .invalid = order_invalid_merge,
    .plan = segmented_sort_plan,
    .step_count = segmented_sort_step_count,
    .step = segmented_sort_step,
    .traffic = problem_array_bytes,
    .random = segmented_sort_random};
