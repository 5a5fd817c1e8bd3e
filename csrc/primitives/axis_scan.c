// Descriptor of axis_scan: kernels/primitives/axis_scan.cu. It has rows of several columns; along
// the last axis the rows are segments (routes.c).
#include "primitives/matrices.h"
#include "primitives/scan_shared.h"

typedef struct axis_scan_traits {
    int whole_chunks; // rows have a multiple of 16 bytes
    int few;          // columns, where a thread takes whole rows; else 0
} axis_scan_traits;

typedef struct axis_scan_numbers {
    matrices shape;
} axis_scan_numbers;

PROBLEM_TRAITS(axis_scan_traits);
PROBLEM_NUMBERS(axis_scan_numbers);

// ---- problems -----------------------------------------------------------------------------------
static void axis_scan_axis_values(const problem *p, uint64_t *values)
{
    values[0] = p->n;
    values[MATRIX_AXIS] = axis_scan_numbers_of(p).shape.outer;
    values[COLUMN_AXIS] = axis_scan_numbers_of(p).shape.columns;
}

// A thread takes whole rows if these are shorter than a sector of 32 bytes: its items are
// contiguous then, and read and written in chunks of 16 bytes, of which each matrix has a whole
// number.
static int few_columns(const problem *p, uint64_t outer, uint64_t length, uint64_t columns)
{
    enum { MOST = 8, SECTOR = 32 };
    const uint64_t item = cubc_type_size((cubc_type)p->type);
    const uint64_t out = cubc_type_size((cubc_type)p->outputs[0].type);
    // Operands of a lazy input may be narrower than its items.
    const bool whole = !p->inputs[0].lazy && length * columns * smaller(item, out) % 16 == 0;
    const bool fits = columns * (uint64_t)problem_acc_bytes(p) <= 2 * SECTOR;
    const bool is_few = columns <= MOST && columns * item < SECTOR && fits;
    return p->aligned && (outer == 1 || whole) && is_few ? (int)columns : 0;
}

static void axis_scan_complete(const void *call, problem *p)
{
    const cubc_axis_scan_params *along = call;
    const uint64_t length = along->length, columns = along->columns;
    const uint64_t outer = p->n ? p->n / length / columns : 0;
    problem_set_benchmark(p, p->inclusive ? "axis_scan.inclusive." : "axis_scan.exclusive.",
                          problem_operator_name(p));
    axis_scan_numbers_set(p, (axis_scan_numbers){{outer, length, columns}});
    const int whole_chunks = columns * cubc_type_size((cubc_type)p->type) % 16 == 0;
    const int few = few_columns(p, outer, length, columns);
    axis_scan_traits_set(p, (axis_scan_traits){whole_chunks, few});
    if (!whole_chunks && !few) p->aligned = false; // rows begin anywhere
}

static cubc_status axis_scan_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                      problem *out)
{
    cubc_axis_scan_params call = *(const cubc_axis_scan_params *)b->call;
    const matrices shape = matrices_at(at);
    call.length = shape.length;
    call.columns = shape.columns;
    call.n = shape.outer * shape.length * shape.columns;
    call.type = type;
    operator_types(operator_find(call.op), type, false, NULL, &call.acc_type, &call.out_type);
    return axis_scan_problem(&call, out);
}

// ---- variants -----------------------------------------------------------------------------------
static void axis_scan_define(const problem *p, text *out)
{
    problem_define(p, out);
    problem_define_input(p, 0, "TUNE_IN", out);
    const axis_scan_traits traits = axis_scan_traits_of(p);
    text_printf(out, "#define TUNE_INCLUSIVE %d\n#define TUNE_WHOLE_CHUNKS %d\n", p->inclusive,
                traits.whole_chunks);
    text_printf(out, "#define TUNE_FEW_COLUMNS %d\n", traits.few);
    problem_define_plain_loads(p, out);
}

// A thread keeps the accumulators of its items.
static const char *axis_scan_invalid(const problem *p, const char *kind, const space *s,
                                     const variant *v)
{
    const char *reason = problem_invalid_columns(p, kind, s, v);
    const int item = (int)cubc_type_size((cubc_type)p->type), acc = problem_acc_bytes(p);
    return reason ? reason : problem_invalid(p, kind, s, v, acc > item ? acc : item);
}

// ---- plans --------------------------------------------------------------------------------------
typedef struct layout { // see axis_scan.cu
    matrices shape;
    uint64_t wide, high, deep;
    uint64_t across, bands; // blocks side by side, and one below the other
    uint64_t strips, strip; // of a row; columns of one
} layout;

// Puts as many threads side by side as `run` bytes of a row want, the others on rows, then on
// slices.
static void lay_out_threads(layout *l, uint64_t size, uint64_t rows, uint64_t threads, uint64_t run)
{
    uint64_t most = larger(run / (l->strip * size), 1);
    l->across = ceil_div(l->strips, smaller(most, threads));
    l->wide = ceil_div(l->strips, l->across);
    l->high = smaller(threads / l->wide, ceil_div(l->shape.length, rows));
    l->deep = smaller(threads / l->wide / l->high, l->shape.outer);
    l->bands = ceil_div(l->shape.length, l->high * rows);
}

// A single thread: a block is worth WORK items. Columns are cut only where the blocks are too few.
static void lay_out_single_thread(layout *l, uint64_t widest, uint64_t blocks)
{
    enum { WORK = 16384, FEW = 4 };
    l->across = ceil_div(l->strips, widest);
    l->wide = ceil_div(l->strips, l->across);
    l->high = l->shape.length;
    l->deep = 1;
    if (l->across * l->shape.outer < FEW * blocks)
        l->high = smaller(l->high, ceil_div(WORK, l->wide));
    else
        l->deep = smaller(ceil_div(WORK, l->wide * l->high), l->shape.outer);
    l->bands = ceil_div(l->shape.length, l->high);
}

// Rows of a thread: as many as make chunks of 16 bytes, if it takes whole rows. See axis_scan.cu.
static uint64_t rows_of_thread(const problem *p, uint64_t ipt, uint64_t strip)
{
    const uint64_t item = cubc_type_size((cubc_type)p->type);
    const uint64_t out = cubc_type_size((cubc_type)p->outputs[0].type);
    uint64_t rows = larger(ipt / strip, 1), unit = 1;
    while (unit * strip * smaller(item, out) % 16) unit *= 2;
    return axis_scan_traits_of(p).few && rows > unit ? rows - rows % unit : rows;
}

static layout lay_out(const problem *p, const instance *i)
{
    const device_kernel *kernel = &i->kernels[0];
    uint64_t ipt = instance_value(i, "ipt", 1);
    uint64_t run = 1ull << instance_value(i, "rb", 8);
    uint64_t size = cubc_type_size((cubc_type)p->type);
    layout l = {.shape = axis_scan_numbers_of(p).shape, .strip = 1};
    if (axis_scan_traits_of(p).few && kernel->threads > 1)
        l.strip = l.shape.columns;
    else if (axis_scan_traits_of(p).whole_chunks)
        l.strip = 1u << instance_value(i, "ipv", 0);
    l.strips = ceil_div(l.shape.columns, l.strip);
    if (kernel->threads == 1)
        lay_out_single_thread(&l, ipt, resident_blocks(i, kernel));
    else
        lay_out_threads(&l, size, rows_of_thread(p, ipt, l.strip), kernel->threads, run);
    return l;
}

static cubc_status axis_scan_plan(const problem *p, const instance *i, plan *out)
{
    enum { IN, OUT, OUTER, ROWS, COLUMNS, WIDE, HIGH, DEEP, MESSAGES, ARGS };
    if (p->n == 0) return CUBC_OK;
    const layout l = lay_out(p, i);
    const matrices *shape = &l.shape;
    uint64_t blocks = l.across * ceil_div(shape->outer, l.deep) * l.bands;
    uint64_t words = ceil_div(l.strip * cubc_type_size((cubc_type)p->acc_type), 4);
    TRY(problem_check_blocks(p, blocks));
    if (l.bands > 1) out->message_bytes = 8 * (1 + l.bands * shape->outer * l.strips * words);
    out->launch_count = 1;
    launch *made = &out->launches[0];
    *made = (launch){.kernel = &i->kernels[0],
                     .shape.grid = (unsigned)blocks,
                     .message_args = 1u << MESSAGES,
                     .args_count = ARGS,
                     .args = {[OUT] = (uintptr_t)p->outputs[0].data,
                              [OUTER] = shape->outer,
                              [ROWS] = shape->length,
                              [COLUMNS] = shape->columns,
                              [WIDE] = l.wide,
                              [HIGH] = l.high,
                              [DEEP] = l.deep}};
    problem_append_init(p, made);
    return problem_place_input(p, 0, made, IN);
}

static const field axis_scan_fields[] = {
    FIELD_ARRAY(cubc_axis_scan_params, in, FIELD_LAZY, type, n),
    FIELD(cubc_axis_scan_params, length, FIELD_COUNT),
    FIELD(cubc_axis_scan_params, columns, FIELD_COUNT),
    FIELD(cubc_axis_scan_params, op, FIELD_TEXT),
    FIELD(cubc_axis_scan_params, inclusive, FIELD_INT),
    FIELD(cubc_axis_scan_params, acc_type, FIELD_TYPE),
    {"init", FIELD_VALUE, offsetof(cubc_axis_scan_params, init),
     offsetof(cubc_axis_scan_params, acc_type), 0, offsetof(cubc_axis_scan_params, init_in_memory)},
    FIELD_ARRAY(cubc_axis_scan_params, out, FIELD_OUTPUT, out_type, n),
};

static const int one[] = {1}, columns[] = {8, 64, 4096};
static const benchmark axis_scan_benchmarks[] = {BENCHMARK_OF(
    "axis_scan.inclusive.sum", .axes[MATRIX_AXIS] = AXIS(one), .axes[COLUMN_AXIS] = AXIS(columns),
    .call = &(const cubc_axis_scan_params){
        .in = BENCHMARK_ARRAY(0), .out = BENCHMARK_ARRAY(1), .op = "sum", .inclusive = 1})};

const algorithm axis_scan_algorithm = {.name = "axis_scan",
                                       .source = "axis_scan.cu",
                                       .kernels = {"axis_scan_tiles"},
                                       .cpu_source = "cpu_axis_scan.cu",
                                       .cpu_kernels = {"axis_scan_tiles"},
                                       .cpu_unused = {"TUNE_WHOLE_CHUNKS", "TUNE_FEW_COLUMNS"},
                                       .axes = {"Elements", "Matrices", "Columns"},
                                       .benchmarks = axis_scan_benchmarks,
                                       .benchmark_count = COUNT_OF(axis_scan_benchmarks),
                                       FIELDS(axis_scan_fields),
                                       .workload = axis_scan_workload,
                                       .complete = axis_scan_complete,
                                       .axis_values = axis_scan_axis_values,
                                       .define = axis_scan_define,
                                       .invalid = axis_scan_invalid,
                                       .plan = axis_scan_plan,
                                       .traffic = problem_array_bytes};
