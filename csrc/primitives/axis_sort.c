// Descriptor of axis_sort: kernels/primitives/axis_sort.cu, and kernels/cpu/cpu_axis_sort.cu on the
// CPU. Its axis is short enough for a block.
#include "base/integer.h"
#include "run/instance.h"
#include "run/problem.h"

#include <string.h>

// Most items of the axis that one compiled kernel sorts. Up to 64 a thread may sort alone.
static const int lengths[] = {4, 8, 12, 16, 24, 32, 48, 64, 256, CUBC_AXIS_SORT_LONGEST};

// The network of the CPU: its most rows, and the columns that it sorts at once, in bytes.
enum { NETWORK_ROWS = 128, STRIP_BYTES = 512 };

typedef struct axis_sort_traits {
    int most;    // of `lengths`
    int indices; // the result is indices
    int last;    // there is one column: the axis is the last
} axis_sort_traits;

typedef struct axis_sort_numbers {
    uint64_t length, columns;
} axis_sort_numbers;

PROBLEM_TRAITS(axis_sort_traits);
PROBLEM_NUMBERS(axis_sort_numbers);

// ---- problems -----------------------------------------------------------------------------------
static cubc_status check_shape(const cubc_axis_sort_params *params)
{
    uint64_t matrix = params->length;
    TRY(problem_check_size("the input of axis_sort", params->n, params->type));
    if (params->n && (!size_multiply(&matrix, params->columns) || !matrix || params->n % matrix))
        FAIL(CUBC_INVALID_ARGUMENT,
             "axis_sort: %llu items are no multiple of length * columns, %llu * %llu, each at "
             "least 1",
             (unsigned long long)params->n, (unsigned long long)params->length,
             (unsigned long long)params->columns);
    if (params->length > CUBC_AXIS_SORT_LONGEST)
        FAIL(CUBC_INVALID_ARGUMENT,
             "axis_sort: the axis has %llu items, more than %d: transpose the array and sort its "
             "rows by segmented_sort",
             (unsigned long long)params->length, CUBC_AXIS_SORT_LONGEST);
    return CUBC_OK;
}

cubc_status axis_sort_problem(const cubc_axis_sort_params *params, problem *out)
{
    *out = (problem){.algorithm = &axis_sort_algorithm,
                     .n = params->n,
                     .type = (uint8_t)params->type,
                     .acc_type = (uint8_t)params->type,
                     .descending = params->descending != 0};
    axis_sort_traits traits = {
        .most = lengths[0], .indices = params->indices != 0, .last = params->columns == 1};
    for (size_t k = 0; k < COUNT_OF(lengths) && (uint64_t)traits.most < params->length; k++)
        traits.most = lengths[k];
    axis_sort_traits_set(out, traits);
    axis_sort_numbers_set(out, (axis_sort_numbers){params->length, params->columns});
    strcpy(out->benchmark, traits.last      ? "axis_sort.rows"
                           : traits.indices ? "axis_sort.indices"
                                            : "axis_sort.keys");
    TRY(check_shape(params));
    TRY(problem_input(out, "the keys of axis_sort", params->in, params->n, params->type));
    TRY(problem_check_real("the keys of axis_sort", params->type));
    TRY(problem_output(out, "the output of axis_sort", params->out, params->n,
                       traits.indices ? CUBC_I64 : params->type));
    TRY(problem_check_overlap(out, ANY_INPUT));
    out->aligned = true; // nothing is read in vectors
    return CUBC_OK;
}

// ---- benchmarks ---------------------------------------------------------------------------------
enum { LENGTH_AXIS = 1 }; // among the run-time axes

static void axis_sort_axis_values(const problem *p, uint64_t *values)
{
    values[0] = p->n;
    values[LENGTH_AXIS] = axis_sort_numbers_of(p).length;
}

static cubc_status axis_sort_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                      problem *out)
{
    cubc_axis_sort_params call = *(const cubc_axis_sort_params *)b->call;
    call.type = type;
    // One column would make the axis the last.
    uint64_t least = call.columns ? 1 : 2, longest = larger(1, at[0] / least);
    call.length = smaller(longest, at[LENGTH_AXIS]);
    uint64_t columns = larger(least, at[0] / call.length);
    call.n = columns * call.length;
    if (!call.columns) call.columns = columns;
    return axis_sort_problem(&call, out);
}

// ---- variants -----------------------------------------------------------------------------------
static void axis_sort_define(const problem *p, text *out)
{
    const axis_sort_traits traits = axis_sort_traits_of(p);
    problem_define_keys(p, out);
    text_printf(out, "#define TUNE_LENGTH %d\n#define TUNE_INDICES %d\n#define TUNE_LAST %d\n",
                traits.most, traits.indices, traits.last);
    text_printf(out, "#define TUNE_OUT %s\n#define TUNE_LONGEST %d\n",
                traits.indices ? "i64" : "TUNE_KEY", CUBC_AXIS_SORT_LONGEST);
    text_printf(out, "#define TUNE_NETWORK_ROWS %d\n#define TUNE_STRIP %d\n", NETWORK_ROWS,
                STRIP_BYTES / (int)cubc_type_size((cubc_type)p->type));
}

static const char *axis_sort_invalid(const problem *p, const char *kind, const space *s,
                                     const variant *v)
{
    const axis_sort_traits traits = axis_sort_traits_of(p);
    const int ipt = variant_value(s, v, "ipt", 1), tpb = variant_value(s, v, "tpb", 1);
    const int key = (int)cubc_type_size((cubc_type)p->type), index = traits.indices ? 2 : 0;
    const int word = key < 4 ? 4 : key; // of a register
    if (ipt * tpb < traits.most) return "the axis does not fit a block";
    if (device_is_cpu(kind))
        return ipt * (key + index) > 200 * 1024 ? "the tile does not fit" : NULL;
    const int items = ipt < traits.most ? ipt : traits.most;
    if ((ipt < traits.most || traits.last) && (items + 1) * tpb * (key + index) > 200 * 1024)
        return "the tile does not fit the shared memory of a multiprocessor";
    return problem_invalid(p, kind, s, v, traits.indices ? word + 4 : word);
}

// ---- plans --------------------------------------------------------------------------------------
// The columns that a single thread sorts: whole strips of a network, else those that fit a tile.
static uint64_t columns_of_thread(const problem *p, uint64_t tile)
{
    const uint64_t strip = STRIP_BYTES / cubc_type_size((cubc_type)p->type);
    const uint64_t length = axis_sort_numbers_of(p).length;
    return length <= NETWORK_ROWS ? round_up(tile / length, strip) : tile / length;
}

// The columns of a block with as many teams: where there are not enough for all multiprocessors,
// fewer, but those of a sector of memory.
static uint64_t columns_of_block(const problem *p, const instance *i, uint64_t teams, uint64_t all)
{
    const uint64_t sector = 32 / cubc_type_size((cubc_type)p->type);
    return smaller(smaller(teams, all),
                   larger(sector, ceil_div(all, (uint64_t)i->device->info.sm_count)));
}

static cubc_status axis_sort_plan(const problem *p, const instance *i, plan *out)
{
    enum { IN, OUT, LENGTH, COLUMNS, ALL, TEAM, WIDE, ARGS };
    const device_kernel *kernel = &i->kernels[0];
    const axis_sort_numbers shape = axis_sort_numbers_of(p);
    const uint64_t ipt = instance_value(i, "ipt", 1);
    const bool alone = ipt >= (uint64_t)axis_sort_traits_of(p).most; // as in the kernel
    if (p->n == 0) return CUBC_OK;
    const uint64_t all = p->n / shape.length, team = alone ? 1 : ceil_div(shape.length, ipt);
    const uint64_t teams = kernel->threads / team;
    const uint64_t wide = kernel->threads == 1 ? columns_of_thread(p, ipt)
                          : alone              ? teams
                                               : columns_of_block(p, i, teams, all);
    const uint64_t blocks = ceil_div(all, wide);
    TRY(problem_check_blocks(p, blocks));
    out->launch_count = 1;
    out->launches[0] = (launch){.kernel = kernel,
                                .shape.grid = (unsigned)blocks,
                                .args_count = ARGS,
                                .args = {[IN] = (uintptr_t)p->inputs[0].data,
                                         [OUT] = (uintptr_t)p->outputs[0].data,
                                         [LENGTH] = shape.length,
                                         [COLUMNS] = shape.columns,
                                         [ALL] = all,
                                         [TEAM] = team,
                                         [WIDE] = wide}};
    return CUBC_OK;
}

static const field axis_sort_fields[] = {
    FIELD_ARRAY(cubc_axis_sort_params, in, FIELD_INPUT, type, n),
    FIELD(cubc_axis_sort_params, length, FIELD_COUNT),
    FIELD(cubc_axis_sort_params, columns, FIELD_COUNT),
    FIELD(cubc_axis_sort_params, descending, FIELD_INT),
    FIELD(cubc_axis_sort_params, indices, FIELD_INT),
    FIELD_UNTYPED(cubc_axis_sort_params, out, FIELD_OUTPUT, n),
};

static const int some_lengths[] = {8, 64, 512}, one_length[] = {32};
static const cubc_axis_sort_params keys = {.in = BENCHMARK_ARRAY(0), .out = BENCHMARK_ARRAY(1)};
static const cubc_axis_sort_params indices = {
    .in = BENCHMARK_ARRAY(0), .out = BENCHMARK_ARRAY(1), .indices = 1};
static const cubc_axis_sort_params rows = {
    .in = BENCHMARK_ARRAY(0), .out = BENCHMARK_ARRAY(1), .columns = 1};
static const benchmark axis_sort_benchmarks[] = {
    BENCHMARK_OF("axis_sort.keys", .axes[LENGTH_AXIS] = AXIS(some_lengths), .call = &keys),
    BENCHMARK_OF("axis_sort.indices", .axes[LENGTH_AXIS] = AXIS(one_length), .call = &indices),
    BENCHMARK_OF("axis_sort.rows", .axes[LENGTH_AXIS] = AXIS(one_length), .call = &rows)};

const algorithm axis_sort_algorithm = {.name = "axis_sort",
                                       .source = "axis_sort.cu",
                                       .kernels = {"axis_sort_columns"},
                                       .cpu_source = "cpu_axis_sort.cu",
                                       .cpu_kernels = {"axis_sort_columns"},
                                       .cpu_unused = {"TUNE_LENGTH", "TUNE_LAST"},
                                       .axes = {"Elements", "Length"},
                                       .benchmarks = axis_sort_benchmarks,
                                       .benchmark_count = COUNT_OF(axis_sort_benchmarks),
                                       FIELDS(axis_sort_fields),
                                       .workload = axis_sort_workload,
                                       .axis_values = axis_sort_axis_values,
                                       .define = axis_sort_define,
                                       .invalid = axis_sort_invalid,
                                       .plan = axis_sort_plan,
                                       .traffic = problem_array_bytes,
                                       .random = problem_random_bits};
