// Descriptor of row_reduce: kernels/primitives/row_reduce.cu. It has no call of its own: reductions
// along the last axis and of segments of one size come here (routes.c).
#include "base/integer.h"
#include "primitives/reduction.h"

typedef struct row_reduce_numbers {
    uint64_t shift; // items between a multiple of 16 bytes and the input
} row_reduce_numbers;

PROBLEM_NUMBERS(row_reduce_numbers);

enum { PARTS_KERNEL, JOIN_KERNEL };

enum { MOST_ITEMS = 1 << 30 }; // of a share: the kernel counts them in 32 bits

// ---- problems -----------------------------------------------------------------------------------
enum { SEGMENT_SIZE = 1 }; // among the run-time axes: the length of a row

static uint64_t length_of(const problem *p)
{
    return p->outputs[0].n ? p->n / p->outputs[0].n : 0;
}

static void row_reduce_axis_values(const problem *p, uint64_t *values)
{
    values[0] = p->n;
    values[SEGMENT_SIZE] = length_of(p);
}

// An array may begin anywhere if a vector's items fill 16 bytes.
static void place_vectors(problem *p)
{
    size_t size = cubc_type_size((cubc_type)p->type);
    if (p->lazy_count || size > 8 || size & (size - 1)) return;
    row_reduce_numbers_set(p, (row_reduce_numbers){(uintptr_t)p->inputs[0].data % 16 / size});
    p->aligned = true;
}

static void row_reduce_complete(const void *call, problem *p)
{
    (void)call;
    problem_set_benchmark(p, "row_reduce.",
                          reduction_is_several(p) ? "several" : problem_operator_name(p));
    place_vectors(p);
}

static const cubc_segmented_reduce_params several = {
    .out = BENCHMARK_ARRAY(1), .op = REDUCTION_SEVERAL, .commutative = 1};

static cubc_status row_reduce_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                       problem *out)
{
    cubc_segmented_reduce_params call = *(const cubc_segmented_reduce_params *)b->call;
    const uint64_t length = smaller(at[0], at[SEGMENT_SIZE]);
    call.segments = at[0] / length;
    call.n = call.segments * length;
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
    return segmented_reduce_problem(&call, out);
}

// ---- variants -----------------------------------------------------------------------------------
static void row_reduce_define(const problem *p, text *out)
{
    problem_define(p, out);
    problem_define_input(p, 0, "TUNE_IN", out);
    text_printf(out, "#define TUNE_COMMUTATIVE %d\n#define TUNE_ACC_BYTES %d\n", p->commutative,
                problem_acc_bytes(p));
}

static const char *row_reduce_invalid(const problem *p, const char *kind, const space *s,
                                      const variant *v)
{
    const int vector = 1 << variant_value(s, v, "ipv", 0);
    const int bytes = vector * (int)cubc_type_size(problem_policy_type(p));
    const int threads = variant_value(s, v, "tpb", 1);
    if (device_is_cpu(kind)) return NULL;
    if (vector > 1 && bytes > 16) return "a vector is wider than 16 bytes";
    if (bytes % 16 && variant_value(s, v, "ld", 0) == 2)
        return "loads narrower than 16 bytes have no choice of caching";
    if (bytes * variant_value(s, v, "lpt", 1) * threads > 4 * 50000)
        return "the items of a block do not fit the registers of a multiprocessor";
    return NULL;
}

// ---- plans --------------------------------------------------------------------------------------
typedef struct layout { // see row_reduce.cu
    uint64_t rows, length;
    uint64_t team_log2, splits, share_items;
    uint64_t turns, blocks;
} layout;

// Shares of a row for the blocks that its rows leave idle, none of fewer than `least` items.
static void share_rows(layout *l, uint64_t least, uint64_t most_blocks)
{
    uint64_t splits = smaller(most_blocks / l->rows, l->length / least);
    if (splits < 1) splits = 1;
    l->share_items = round_up(ceil_div(l->length, splits), least);
    if (l->share_items > MOST_ITEMS) l->share_items = MOST_ITEMS;
    l->splits = l->length ? ceil_div(l->length, l->share_items) : 1;
    l->turns = l->rows * l->splits;
    l->blocks = smaller(l->turns, most_blocks);
}

// Teams of lanes, or of blocks where a warp does not hold a row.
static void lay_out_teams(layout *l, uint64_t vector, uint64_t loads, uint64_t threads,
                          uint64_t sm_count, uint64_t resident, uint64_t waves)
{
    uint64_t vectors = ceil_div(l->length, vector), warps;
    if ((vectors > WARP_LANES * loads && l->rows <= resident) || l->length > MOST_ITEMS) {
        l->team_log2 = TEAM_IS_BLOCK;
        share_rows(l, vector * loads * threads, resident * waves);
        return;
    }
    l->team_log2 = reduction_team_log2(vectors, loads, l->rows, sm_count * threads);
    warps = ceil_div(l->rows, WARP_LANES >> l->team_log2);
    l->turns = larger(ceil_div(warps, threads / WARP_LANES), smaller(warps, sm_count));
    l->blocks = smaller(l->turns, resident * waves);
}

static layout lay_out(const problem *p, const instance *i)
{
    enum {
        LEAST_ITEMS = 32768
    }; // of a single thread's share: with fewer, it is not worth its block
    const device_kernel *kernel = &i->kernels[PARTS_KERNEL];
    uint64_t sm_count = i->device->info.sm_count;
    uint64_t resident = resident_blocks(i, kernel);
    uint64_t waves = instance_value(i, "wav", 1);
    layout l = {.rows = p->outputs[0].n, .length = length_of(p), .splits = 1};
    l.share_items = l.length;
    if (kernel->threads == 1)
        share_rows(&l, LEAST_ITEMS, smaller(resident * waves, p->n / LEAST_ITEMS + 1));
    else
        lay_out_teams(&l, 1u << instance_value(i, "ipv", 0), instance_value(i, "lpt", 1),
                      kernel->threads, sm_count, resident, waves);
    return l;
}

enum { // the arguments; then the initial value
    IN,
    OUT,
    PARTS,
    ROWS,
    LENGTH,
    SHIFT,
    TEAM_LOG2,
    SPLITS,
    SHARE_ITEMS,
    TURNS,
    ARGS
};

static cubc_status add_launch(const problem *p, const device_kernel *kernel, uint64_t blocks,
                              const layout *l, plan *out)
{
    launch *made = &out->launches[out->launch_count++];
    uint64_t shift = kernel->threads > 1 ? row_reduce_numbers_of(p).shift : 0;
    *made = (launch){.kernel = kernel,
                     .shape.grid = (unsigned)blocks,
                     .scratch_args = 1u << PARTS,
                     .args_count = ARGS,
                     .args = {[OUT] = (uintptr_t)p->outputs[0].data,
                              [ROWS] = l->rows,
                              [LENGTH] = l->length,
                              [SHIFT] = shift,
                              [TEAM_LOG2] = l->team_log2,
                              [SPLITS] = l->splits,
                              [SHARE_ITEMS] = l->share_items,
                              [TURNS] = l->turns}};
    problem_append_init(p, made);
    TRY(problem_place_input(p, 0, made, IN));
    if (shift) made->args[IN] -= shift * cubc_type_size((cubc_type)p->type);
    return CUBC_OK;
}

static cubc_status row_reduce_plan(const problem *p, const instance *i, plan *out)
{
    const device_kernel *kernels = i->kernels;
    uint64_t rows = p->outputs[0].n;
    if (rows == 0) return CUBC_OK;
    layout l = lay_out(p, i);
    TRY(add_launch(p, &kernels[PARTS_KERNEL], l.blocks, &l, out));
    if (l.splits == 1) return CUBC_OK;
    uint64_t threads = rows * (l.splits < WARP_LANES ? 1 : WARP_LANES);
    uint64_t blocks = smaller(ceil_div(threads, kernels[JOIN_KERNEL].threads), 65535);
    out->scratch_bytes = l.splits * rows * (uint64_t)problem_acc_bytes(p);
    return add_launch(p, &kernels[JOIN_KERNEL], blocks, &l, out);
}

#define BENCHMARK(op_name, row_lengths)                                          \
    BENCHMARK_OF("row_reduce." op_name, .axes[SEGMENT_SIZE] = AXIS(row_lengths), \
                 REDUCTION_CALL(segmented_reduce, .op = op_name))
static const int lengths[] = {8, 64, 1000, 65536}, length[] = {1000};
static const benchmark row_reduce_benchmarks[] = {
    BENCHMARK("sum", lengths), BENCHMARK("argmin", length),
    BENCHMARK_OF("row_reduce.several", .axes[SEGMENT_SIZE] = AXIS(length), .call = &several)};

const algorithm row_reduce_algorithm = {.name = "row_reduce",
                                        .makes_structs = true,
                                        .source = "row_reduce.cu",
                                        .kernels = {"row_reduce_parts", "row_reduce_join"},
                                        .cpu_source = "cpu_row_reduce.cu",
                                        .cpu_kernels = {"row_reduce_parts", "row_reduce_join"},
                                        .axes = {"Elements", "SegmentSize"},
                                        .benchmarks = row_reduce_benchmarks,
                                        .benchmark_count = COUNT_OF(row_reduce_benchmarks),
                                        .workload = row_reduce_workload,
                                        .complete = row_reduce_complete,
                                        .axis_values = row_reduce_axis_values,
                                        .define = row_reduce_define,
                                        .invalid = row_reduce_invalid,
                                        .plan = row_reduce_plan,
                                        .traffic = problem_array_bytes};
