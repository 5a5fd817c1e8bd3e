// Descriptor of axis_reduce: kernels/primitives/axis_reduce.cu. It has rows of several columns;
// along the last axis the rows are segments (routes.c).
#include "primitives/matrices.h"
#include "primitives/reduction.h"

typedef struct axis_reduce_traits {
    int deterministic; // the shape alone says in which order rows are combined
    int whole_chunks;  // rows have a multiple of 16 bytes
} axis_reduce_traits;

typedef struct axis_reduce_numbers {
    uint64_t columns; // the items of what follows the axis
} axis_reduce_numbers;

PROBLEM_TRAITS(axis_reduce_traits);
PROBLEM_NUMBERS(axis_reduce_numbers);

enum { PARTS_KERNEL, JOIN_KERNEL };

// ---- problems -----------------------------------------------------------------------------------
static void axis_reduce_axis_values(const problem *p, uint64_t *values)
{
    uint64_t columns = axis_reduce_numbers_of(p).columns;
    values[0] = p->n;
    values[MATRIX_AXIS] = columns ? p->outputs[0].n / columns : 0;
    values[COLUMN_AXIS] = columns;
}

static void axis_reduce_complete(const void *call, problem *p)
{
    const reduction *r = call;
    problem_set_benchmark(p, "axis_reduce.",
                          reduction_is_several(p) ? "several" : problem_operator_name(p));
    axis_reduce_numbers_set(p, (axis_reduce_numbers){r->columns});
    const int whole_chunks = r->columns * cubc_type_size((cubc_type)p->type) % 16 == 0;
    axis_reduce_traits_set(p, (axis_reduce_traits){r->deterministic, whole_chunks});
    if (!whole_chunks) p->aligned = false; // rows begin anywhere
}

static const cubc_axis_reduce_params several = {
    .out = BENCHMARK_ARRAY(1), .op = REDUCTION_SEVERAL, .commutative = 1};

static cubc_status axis_reduce_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                        problem *out)
{
    cubc_axis_reduce_params call = *(const cubc_axis_reduce_params *)b->call;
    const matrices shape = matrices_at(at);
    call.outer = shape.outer;
    call.length = shape.length;
    call.columns = shape.columns;
    call.type = type;
    operator_types(operator_find(call.op), type, true, NULL, &call.acc_type, &call.out_type);
    const cubc_operand x = {.name = "x", .data = BENCHMARK_ARRAY(2), .type = type};
    cubc_lazy in;
    if (b->call == &several) {
        TRY(reduction_several_input(&x, &in));
        call.acc_type = call.out_type = in.type;
        call.in = &in;
        call.type = CUBC_LAZY;
    }
    return axis_reduce_problem(&call, out);
}

// ---- variants -----------------------------------------------------------------------------------
static void axis_reduce_define(const problem *p, text *out)
{
    problem_define(p, out);
    problem_define_input(p, 0, "TUNE_IN", out);
    text_printf(out, "#define TUNE_COMMUTATIVE %d\n#define TUNE_ACC_BYTES %d\n", p->commutative,
                problem_acc_bytes(p));
    const int deterministic = axis_reduce_traits_of(p).deterministic;
    text_printf(out, "#define TUNE_DETERMINISTIC %d\n#define TUNE_WHOLE_CHUNKS %d\n", deterministic,
                axis_reduce_traits_of(p).whole_chunks);
    if (deterministic) problem_define_rounding(out);
}

// ---- plans --------------------------------------------------------------------------------------
typedef struct layout { // see axis_reduce.cu
    uint64_t outer, length, columns;
    uint64_t wide, high, deep, splits;
    uint64_t blocks;
} layout;

// Blocks for all rows at once, then as many shares of the rows as blocks are missing.
static void share_rows(layout *l, uint64_t across, uint64_t least_rows, uint64_t most_blocks)
{
    l->blocks = ceil_div(l->outer, l->deep) * across;
    l->splits = smaller(most_blocks / l->blocks, l->length / least_rows);
    if (l->splits < 1) l->splits = 1;
    l->blocks *= l->splits;
}

// Rows are read in runs of at least RUN bytes; more of them at once, as long as blocks are missing.
static void lay_out_threads(const problem *p, layout *l, uint64_t strip, uint64_t loads,
                            uint64_t threads, uint64_t most_blocks)
{
    enum { RUN = 128 };
    uint64_t strips = ceil_div(l->columns, strip), across = ceil_div(strips, threads);
    l->wide = ceil_div(strips, across);
    uint64_t room = threads / l->wide, bytes = l->wide * strip * cubc_type_size((cubc_type)p->type);
    l->high = 1;
    while (2 * l->high <= room && l->high < l->length && l->high * bytes < RUN) l->high *= 2;
    while (2 * l->high <= room && 2 * l->high * loads <= l->length &&
           ceil_div(l->outer, room / l->high) * across < most_blocks)
        l->high *= 2;
    l->deep = smaller(room / l->high, l->outer);
    share_rows(l, across, 4 * l->high * loads, most_blocks);
}

// A single thread: a block is worth WORK items.
static void lay_out_single_thread(const problem *p, layout *l, uint64_t strip, uint64_t most_blocks)
{
    enum { WORK = 32768, TOGETHER = 256 };
    bool in_any_order = p->commutative && !(p->op && p->op->arg);
    uint64_t across = ceil_div(l->columns, strip), slice = l->length * smaller(l->columns, strip);
    l->wide = l->high = l->deep = 1;
    if (in_any_order && 2 * l->columns <= TOGETHER)
        l->high = smaller(TOGETHER / l->columns, l->length / 8 + 1);
    if (slice < WORK) l->deep = WORK / (slice + 1);
    l->deep = smaller(l->deep, ceil_div(l->outer * across, most_blocks));
    share_rows(l, across, WORK / smaller(l->columns, strip), most_blocks);
}

// `high` and `splits` by the shape alone. A block of 64 threads has room for so high a row.
static void choose_order(const problem *p, layout *l)
{
    enum { RUN = 64, LEAST_ROWS = 64, MOST_SPLITS = 4096 };
    uint64_t bytes = cubc_type_size((cubc_type)p->type);
    bytes = l->columns * (bytes > 2 ? bytes : 2);
    l->high = 1;
    while (p->commutative && l->high * bytes < RUN && l->high < l->length) l->high *= 2;
    l->splits = smaller(l->length / (LEAST_ROWS * l->high), MOST_SPLITS);
    if (l->splits < 1) l->splits = 1;
}

static void lay_out_deterministic(const problem *p, layout *l, uint64_t strip, uint64_t threads,
                                  uint64_t most_blocks)
{
    uint64_t strips = ceil_div(l->columns, strip), across = ceil_div(strips, threads), room;
    choose_order(p, l);
    l->wide = ceil_div(strips, across);
    room = threads == 1 ? l->outer * across * l->splits / most_blocks + 1
                        : threads / (l->wide * l->high);
    l->deep = smaller(room, l->outer);
    l->blocks = ceil_div(l->outer, l->deep) * across * l->splits;
}

static layout lay_out(const problem *p, const instance *i)
{
    const device_kernel *kernel = &i->kernels[PARTS_KERNEL];
    uint64_t ipt = instance_value(i, "ipt", 1);
    uint64_t strip = axis_reduce_traits_of(p).whole_chunks ? 1u << instance_value(i, "ipv", 0) : 1;
    uint64_t most = blocks_in_waves(i, kernel);
    layout l = {.columns = axis_reduce_numbers_of(p).columns};
    l.outer = p->outputs[0].n / l.columns;
    l.length = p->n / p->outputs[0].n;
    if (axis_reduce_traits_of(p).deterministic)
        lay_out_deterministic(p, &l, kernel->threads == 1 ? ipt : strip, kernel->threads, most);
    else if (kernel->threads == 1)
        lay_out_single_thread(p, &l, ipt, most);
    else
        lay_out_threads(p, &l, strip, ipt / strip, kernel->threads, most);
    return l;
}

static cubc_status add_launch(const problem *p, const device_kernel *kernel, uint64_t blocks,
                              const layout *l, plan *out)
{
    enum { IN, OUT, PARTS, OUTER, ROWS, COLUMNS, WIDE, HIGH, DEEP, SPLITS, ARGS }; // then init
    launch *made = &out->launches[out->launch_count++];
    *made = (launch){.kernel = kernel,
                     .shape.grid = (unsigned)blocks,
                     .scratch_args = 1u << PARTS,
                     .args_count = ARGS,
                     .args = {[OUT] = (uintptr_t)p->outputs[0].data,
                              [OUTER] = l->outer,
                              [ROWS] = l->length,
                              [COLUMNS] = l->columns,
                              [WIDE] = l->wide,
                              [HIGH] = l->high,
                              [DEEP] = l->deep,
                              [SPLITS] = l->splits}};
    problem_append_init(p, made);
    return problem_place_input(p, 0, made, IN);
}

static cubc_status axis_reduce_plan(const problem *p, const instance *i, plan *out)
{
    const device_kernel *kernels = i->kernels;
    uint64_t results = p->outputs[0].n;
    if (results == 0) return CUBC_OK;
    layout l = lay_out(p, i);
    TRY(problem_check_blocks(p, l.blocks));
    TRY(add_launch(p, &kernels[PARTS_KERNEL], l.blocks, &l, out));
    if (l.splits == 1) return CUBC_OK;
    uint64_t threads = results * (l.splits < 32 ? 1 : 32);
    uint64_t blocks = smaller(ceil_div(threads, kernels[JOIN_KERNEL].threads), 65535);
    out->scratch_bytes = l.splits * results * (uint64_t)problem_acc_bytes(p);
    return add_launch(p, &kernels[JOIN_KERNEL], blocks, &l, out);
}

static const int few_or_many[] = {1, 4096}, columns[] = {8, 64, 4096}, many[] = {4096},
                 few[] = {64};
#define BENCHMARK(op_name, matrix_counts, column_counts)                           \
    BENCHMARK_OF("axis_reduce." op_name, .axes[MATRIX_AXIS] = AXIS(matrix_counts), \
                 .axes[COLUMN_AXIS] = AXIS(column_counts),                         \
                 REDUCTION_CALL(axis_reduce, .op = op_name))
static const benchmark axis_reduce_benchmarks[] = {
    BENCHMARK("sum", few_or_many, columns), BENCHMARK("argmax", many, few),
    BENCHMARK_OF("axis_reduce.several", .axes[MATRIX_AXIS] = AXIS(few_or_many),
                 .axes[COLUMN_AXIS] = AXIS(columns), .call = &several)};

const algorithm axis_reduce_algorithm = {.name = "axis_reduce",
                                         .makes_structs = true,
                                         .source = "axis_reduce.cu",
                                         .kernels = {"axis_reduce_parts", "axis_reduce_join"},
                                         .cpu_source = "cpu_axis_reduce.cu",
                                         .cpu_kernels = {"axis_reduce_parts", "axis_reduce_join"},
                                         .cpu_unused = {"TUNE_WHOLE_CHUNKS"},
                                         .axes = {"Elements", "Matrices", "Columns"},
                                         .benchmarks = axis_reduce_benchmarks,
                                         .benchmark_count = COUNT_OF(axis_reduce_benchmarks),
                                         .workload = axis_reduce_workload,
                                         .complete = axis_reduce_complete,
                                         .axis_values = axis_reduce_axis_values,
                                         .define = axis_reduce_define,
                                         .invalid = problem_invalid_columns,
                                         .plan = axis_reduce_plan,
                                         .traffic = problem_array_bytes};
