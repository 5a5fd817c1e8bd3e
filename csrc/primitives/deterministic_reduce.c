// Descriptor of deterministic_reduce: kernels/primitives/deterministic_reduce.cu. It has no call of
// its own: deterministic reductions of an array and of segments come here (routes.c).
#include "base/integer.h"
#include "primitives/reduction.h"

#include <string.h>

// Benchmarks.
#define WHOLE_NAME "deterministic_reduce.sum"
#define SEGMENTS_NAME "deterministic_reduce.segments"

typedef struct deterministic_reduce_traits {
    int whole; // the array is one segment, which nobody has to look for
} deterministic_reduce_traits;

PROBLEM_TRAITS(deterministic_reduce_traits);

enum { SEGMENTS_KERNEL, TILES_KERNEL, TOTALS_KERNEL };

static bool is_whole(const problem *p)
{
    return deterministic_reduce_traits_of(p).whole;
}

static void deterministic_reduce_complete(const void *call, problem *p)
{
    const bool whole = p->input_count < 2 && p->outputs[0].n == 1;
    (void)call;
    deterministic_reduce_traits_set(p, (deterministic_reduce_traits){whole});
    strcpy(p->benchmark, whole ? WHOLE_NAME : SEGMENTS_NAME); // one for all operators
}

enum { SEGMENT_SIZE = 1 }; // among the run-time axes: the mean length of segments

static void deterministic_reduce_axis_values(const problem *p, uint64_t *values)
{
    uint64_t count = is_whole(p) ? 0 : p->outputs[0].n;
    values[0] = p->n;
    values[SEGMENT_SIZE] = count ? p->n / count : 0;
}

static cubc_status deterministic_reduce_workload(const benchmark *b, cubc_type type,
                                                 const uint64_t *at, problem *out)
{
    static const type_value zero; // of an empty segment, which only built-in operators know
    const char *op = operator_in_order(type);
    cubc_type acc_type, out_type;
    operator_types(operator_find("sum"), type, true, NULL, &acc_type, &out_type);
    if (b->axes[SEGMENT_SIZE].count == 0) {
        cubc_reduce_params call = *(const cubc_reduce_params *)b->call;
        call.n = at[0];
        call.type = type;
        call.acc_type = acc_type;
        call.out_type = out_type;
        call.op = op;
        return reduce_problem(&call, out);
    }
    cubc_segmented_reduce_params call = *(const cubc_segmented_reduce_params *)b->call;
    call.n = at[0];
    call.segments = call.n / smaller(call.n, at[SEGMENT_SIZE]);
    call.type = type;
    call.acc_type = acc_type;
    call.out_type = out_type;
    call.op = op;
    call.init = operator_find(op) ? NULL : &zero;
    return segmented_reduce_problem(&call, out);
}

static const char *deterministic_reduce_random(const problem *p, int k)
{
    (void)p;
    return k == 1 ? problem_random_offsets : NULL;
}

// The input that has the offsets; -1 without them.
static int offsets_of(const problem *p)
{
    return p->input_count > 1 ? 1 : -1;
}

// ---- variants -----------------------------------------------------------------------------------
// TILE of the kernel.
static uint64_t tile_items(const problem *p)
{
    return problem_deterministic_tile(cubc_type_size((cubc_type)p->type));
}

static void deterministic_reduce_define(const problem *p, text *out)
{
    problem_define(p, out);
    problem_define_rounding(out);
    problem_define_input(p, 0, "TUNE_IN", out);
    text_printf(out, "#define TUNE_COMMUTATIVE %d\n#define TUNE_ACC_BYTES %d\n", p->commutative,
                problem_acc_bytes(p));
    text_printf(out, "#define TUNE_SEGMENTS %d\n", !is_whole(p));
    problem_define_offsets(p, offsets_of(p), out);
    text_printf(out, "#define TUNE_TILE %llu\n", (unsigned long long)tile_items(p));
}

static const char *deterministic_reduce_invalid(const problem *p, const char *kind, const space *s,
                                                const variant *v)
{
    const int bytes =
        variant_value(s, v, "ipt", 1) * (int)cubc_type_size((cubc_type)problem_policy_type(p));
    if (device_is_cpu(kind)) return NULL;
    if (bytes > 512) return "the items of a thread do not fit its registers";
    if (bytes * variant_value(s, v, "tpb", 1) > 4 * 50000)
        return "the items of a block do not fit the registers of a multiprocessor";
    return NULL;
}

// ---- plans --------------------------------------------------------------------------------------
typedef struct room { // of the scratch: where its parts begin
    uint64_t capacity, counts, owners, longs, totals, bytes;
} room;

static room make_room(const problem *p)
{
    enum { WORD = 8, LONG_BYTES = 24 };
    uint64_t tile = tile_items(p);
    room r = {.capacity = ceil_div(p->n, tile)};
    if (!is_whole(p)) { // a segment of more than a tile has at most twice as many as tiles fill it
        r.capacity = 2 * (p->n / tile);
        r.owners = 2 * WORD;
        r.longs = r.owners + r.capacity * WORD;
        r.totals = r.longs + r.capacity * LONG_BYTES;
        r.totals = round_up(r.totals, 64);
    }
    if (r.capacity == 0 && is_whole(p)) r.capacity = 1;
    r.bytes = r.totals + r.capacity * (uint64_t)problem_acc_bytes(p);
    return r;
}

enum { // the arguments; then the initial value
    IN,
    OUT,
    OFFSETS,
    SIZE,
    COUNT,
    ITEMS,
    CAPACITY,
    COUNTS,
    OWNERS,
    LONGS,
    TOTALS,
    ARGS
};

static cubc_status add_launch(const problem *p, const instance *i, int kernel, uint64_t most_blocks,
                              const room *r, plan *out)
{
    const device_kernel *k = &i->kernels[kernel];
    uint64_t resident = blocks_in_waves(i, k);
    uint64_t count = p->outputs[0].n, grid = most_blocks < resident ? most_blocks : resident;
    launch *l = &out->launches[out->launch_count++];
    *l = (launch){.kernel = k,
                  .shape.grid = (unsigned)(grid < INT32_MAX ? grid : INT32_MAX),
                  .scratch_args = 1u << COUNTS | 1u << OWNERS | 1u << LONGS | 1u << TOTALS,
                  .args_count = ARGS,
                  .args = {[OUT] = (uintptr_t)p->outputs[0].data,
                           [SIZE] = p->n / count,
                           [COUNT] = count,
                           [ITEMS] = p->n,
                           [CAPACITY] = r->capacity,
                           [COUNTS] = r->counts,
                           [OWNERS] = r->owners,
                           [LONGS] = r->longs,
                           [TOTALS] = r->totals}};
    problem_append_init(p, l);
    TRY(problem_place_input(p, offsets_of(p), l, OFFSETS));
    return problem_place_input(p, 0, l, IN);
}

static cubc_status deterministic_reduce_plan(const problem *p, const instance *i, plan *out)
{
    uint64_t count = p->outputs[0].n, threads = i->kernels[SEGMENTS_KERNEL].threads;
    room r = make_room(p);
    if (count == 0) return CUBC_OK;
    out->scratch_bytes = r.bytes;
    if (!is_whole(p)) {
        out->cleared_bytes = r.longs;
        TRY(add_launch(p, i, SEGMENTS_KERNEL, ceil_div(count, threads), &r, out));
        if (r.capacity == 0) return CUBC_OK;
    }
    TRY(add_launch(p, i, TILES_KERNEL, r.capacity, &r, out));
    if (is_whole(p) && r.capacity == 1) return CUBC_OK;
    return add_launch(p, i, TOTALS_KERNEL, is_whole(p) ? 1 : r.capacity, &r, out);
}

static const int lengths[] = {256};
static const benchmark deterministic_reduce_benchmarks[] = {
    BENCHMARK_OF(WHOLE_NAME, REDUCTION_CALL(reduce, .commutative = 1, .deterministic = 1)),
    BENCHMARK_OF(SEGMENTS_NAME, .axes[SEGMENT_SIZE] = AXIS(lengths),
                 REDUCTION_CALL_SEGMENTED(.commutative = 1, .deterministic = 1))};

const algorithm deterministic_reduce_algorithm = {
    .name = "deterministic_reduce",
    .source = "deterministic_reduce.cu",
    .kernels = {"deterministic_reduce_segments", "deterministic_reduce_tiles",
                "deterministic_reduce_totals"},
    .axes = {"Elements", "SegmentSize"},
    .benchmarks = deterministic_reduce_benchmarks,
    .benchmark_count = COUNT_OF(deterministic_reduce_benchmarks),
    .workload = deterministic_reduce_workload,
    .complete = deterministic_reduce_complete,
    .axis_values = deterministic_reduce_axis_values,
    .define = deterministic_reduce_define,
    .invalid = deterministic_reduce_invalid,
    .plan = deterministic_reduce_plan,
    .traffic = problem_array_bytes,
    .random = deterministic_reduce_random};
