// Descriptor of topk: kernels/primitives/topk.cu.
#include "base/integer.h"
#include "primitives/topk_sizes.h"
#include "run/instance.h"
#include "run/problem.h"

#include <string.h>

enum { SAMPLE_KERNEL, FILTER_KERNEL, COUNT_KERNEL, RADIX_KERNEL, SELECT_KERNEL };
enum { // of the structs in kernels/primitives/topk.cu
    FILTER_BYTES = 24,
    STATE_BYTES = 32
};

typedef struct topk_traits {
    int most; // keys to select in order: TOPK_MOST or TOPK_MOST_LONG; 0 for more
} topk_traits;

PROBLEM_TRAITS(topk_traits);

// Few passes for long keys; not more bins than short ones need. See kernels/primitives/topk.cu.
static int radix_bits(const problem *p)
{
    return cubc_type_size((cubc_type)p->type) < 4 ? 8 : 11;
}

cubc_status topk_problem(const cubc_topk_params *params, problem *out)
{
    *out = (problem){.algorithm = &topk_algorithm,
                     .n = params->n,
                     .type = (uint8_t)problem_input_type(params->keys_in, params->type),
                     .acc_type = (uint8_t)problem_input_type(params->keys_in, params->type),
                     .descending = params->largest != 0,
                     .wide = params->n > UINT32_MAX,
                     .aligned = true};
    strcpy(out->benchmark, "topk.pairs");
    topk_traits_set(out, (topk_traits){params->k <= TOPK_MOST        ? TOPK_MOST
                                       : params->k <= TOPK_MOST_LONG ? TOPK_MOST_LONG
                                                                     : 0});
    if (params->k > params->n)
        FAIL(CUBC_INVALID_ARGUMENT,
             "topk: k is %llu, and there are %llu keys: give a k from 0 to their number",
             (unsigned long long)params->k, (unsigned long long)params->n);
    if (!params->values_in && params->value_bytes != 8)
        FAIL(CUBC_INVALID_TYPE, "topk gives indices as I64, of 8 bytes, not of %d",
             params->value_bytes);
    TRY(problem_check_real("the keys of topk", (cubc_type)out->type));
    TRY(problem_lazy_input(out, "the keys of topk", params->keys_in, params->n, params->type));
    TRY(problem_output(out, "the output of topk", params->keys_out, params->k,
                       (cubc_type)out->type));
    if (params->values_in)
        TRY(problem_value_input(out, "the values of topk", params->values_in, params->n,
                                params->value_bytes));
    TRY(problem_value_output(out, params->values_out, params->k, params->value_bytes));
    TRY(problem_check_overlap(out, INPUT_OF_SAME_NUMBER));
    if (out->in_place)
        FAIL(CUBC_INVALID_ARGUMENT, "topk reads its input more than once: no output may be there");
    return CUBC_OK;
}

enum { K_AXIS = 1 }; // among the run-time axes

static void topk_axis_values(const problem *p, uint64_t *values)
{
    values[0] = p->n;
    values[K_AXIS] = p->outputs[0].n;
}

static cubc_status topk_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                 problem *out)
{
    cubc_topk_params call = *(const cubc_topk_params *)b->call;
    call.n = at[0];
    call.k = smaller(at[0], at[K_AXIS]);
    call.type = type;
    return topk_problem(&call, out);
}

static void topk_define(const problem *p, text *out)
{
    const int most = topk_traits_of(p).most;
    problem_define_keys(p, out);
    problem_define_values(p, out);
    problem_define_input(p, 0, "TUNE_IN", out);
    topk_sizes_define(most ? most : TOPK_MOST, out);
    text_printf(out, "#define TUNE_FILTER_BYTES %d\n#define TUNE_PASS_BYTES %d\n", FILTER_BYTES,
                STATE_BYTES);
    text_printf(out, "#define TUNE_RADIX_BITS %d\n#define TUNE_FILTERS %d\n", radix_bits(p),
                most > 0);
    text_printf(out, "#define TUNE_LONG_LIST %d\n#define TUNE_LONG_BYTES %d\n",
                most == TOPK_MOST_LONG, TOPK_LONG_BYTES);
    text_printf(out, "#define TUNE_INDICES %d\n#define TUNE_OFFSET %s\n#define TUNE_ALIGNED %d\n",
                p->input_count < 2, p->wide ? "u64" : "u32", p->aligned);
}

static const char *topk_invalid(const problem *p, const char *kind, const space *s,
                                const variant *v)
{
    int key = (int)cubc_type_size((cubc_type)p->type);
    int histograms = 4 << radix_bits(p) << variant_value(s, v, "hc", 0);
    if (!device_is_cpu(kind) && histograms > 64 * 1024)
        return "the histograms leave the multiprocessor no room for a second block";
    return problem_invalid(p, kind, s, v, key);
}

// ---- ways ---------------------------------------------------------------------------------------

// The launches by which a call finds its items; see kernels/primitives/topk.cu.
typedef struct way {
    bool at_once;  // in one launch
    bool filters;  // by a threshold first
    bool in_order; // a cluster selects in the end; otherwise the radix selection writes the result
    uint64_t blocks;        // of the cluster that selects
    uint64_t pool;          // keys of a block
    uint64_t room;          // of the most blocks, in keys
    uint64_t samples, rank; // of the filter
    uint64_t sample_blocks;
} way;

static uint64_t square_root(uint64_t v)
{
    uint64_t root = 0;
    while ((root + 1) * (root + 1) <= v) root++;
    return root;
}

// A count of which `mean` are expected is above this with a chance of less than one in a million.
static uint64_t upper_bound(uint64_t mean)
{
    enum { DEVIATIONS = 5 };
    return mean + square_root(DEVIATIONS * DEVIATIONS * mean) + DEVIATIONS + 1;
}

// Least blocks of a cluster, which share the order of a long list out.
static uint64_t least_blocks(uint64_t k, const way *w)
{
    enum { LISTED_OF_BLOCK = 1024 };
    return k <= TOPK_MOST ? 1 : smaller(ceil_div(k, LISTED_OF_BLOCK), w->room / w->pool);
}

// The rank in the sample is such that the k items come before its item, and the blocks have room
// for what is kept.
static void choose_filter(const problem *p, uint64_t k, way *w)
{
    for (uint64_t samples = w->pool; samples <= w->room && !p->wide; samples *= 2) {
        uint64_t rank = upper_bound(k * samples / p->n);
        uint64_t kept = upper_bound(rank) * (p->n / samples), blocks = 1;
        if (kept > w->room || rank > samples / 4) continue;
        while (kept > blocks * w->pool || blocks < least_blocks(k, w)) blocks *= 2;
        *w = (way){.filters = true,
                   .in_order = true,
                   .blocks = blocks,
                   .pool = w->pool,
                   .room = w->room,
                   .samples = samples,
                   .rank = rank,
                   .sample_blocks = ceil_div(samples, w->pool)};
        return;
    }
}

static bool holds_long_list(const cubc_device *device)
{
    return device->info.shared_bytes_per_block >= TOPK_LONG_BYTES;
}

// True if the keys are selected in order: IN_ORDER of kernels/primitives/topk.cu.
static bool in_order(const problem *p, const instance *i)
{
    const int most = topk_traits_of(p).most;
    if (most != TOPK_MOST_LONG) return most > 0;
    return i->kernels[RADIX_KERNEL].threads > 1 && holds_long_list(i->device);
}

// Single threads of the CPU select fewer.
uint64_t cubc_topk_in_order(const cubc_device *device)
{
    if (!device) return 0;
    return !device_is_cpu(device->info.kind) && holds_long_list(device) ? TOPK_MOST_LONG
                                                                        : TOPK_MOST;
}

static way choose_way(const problem *p, const instance *i)
{
    uint64_t k = p->outputs[0].n, most = i->kernels[SELECT_KERNEL].cluster;
    way w = {.in_order = in_order(p, i), .blocks = 1};
    if (i->kernels[SAMPLE_KERNEL].cluster < most) most = i->kernels[SAMPLE_KERNEL].cluster;
    while (2 * w.blocks <= most) w.blocks *= 2;
    bool small = cubc_type_size((cubc_type)p->type) > 4 &&
                 i->device->info.shared_bytes_per_block < TOPK_POOL_BYTES;
    w.pool = small ? TOPK_SMALL_POOL : TOPK_POOL;
    w.room = w.blocks * w.pool;
    w.at_once = w.in_order && p->n <= w.room;
    if (w.in_order && !w.at_once && i->kernels[RADIX_KERNEL].threads > 1) choose_filter(p, k, &w);
    while (w.at_once && w.blocks / 2 >= least_blocks(k, &w) && p->n <= w.blocks * (w.pool / 8))
        w.blocks /= 2;
    return w;
}

// ---- plans --------------------------------------------------------------------------------------
// Candidates that a buffer has room for: half of a sort's temporary storage is enough for all, and
// less where they are hardly needed.
static uint64_t buffer_room(uint64_t n, bool filters)
{
    enum { ENOUGH = 1 << 20 };
    if (n < ENOUGH) return n;
    return filters ? larger(ENOUGH, n / 64) : n / 8;
}

enum { // among the arguments
    PASS = 6,
    MESSAGE_WORDS,
    ROOM,
    BINS,
    STATE,
    TILES,
    DONE,
    MESSAGES,
    BUFFERS,
    KEPT = BUFFERS + 4,
    KEPT_INDICES,
    LIST,
    FILTER,
    KEPT_ROOM,
    SAMPLES,
    RANK,
    CLEARED,
    ARGS
};

static cubc_status add_launch(const problem *p, const instance *i, int kernel, uint64_t grid,
                              const uint64_t *args, uint32_t scratch_args, plan *out)
{
    launch *to = &out->launches[out->launch_count++];
    *to = (launch){.kernel = &i->kernels[kernel],
                   .shape.grid = (unsigned)grid,
                   .scratch_args = scratch_args,
                   .args_count = ARGS};
    if ((kernel == SAMPLE_KERNEL || kernel == SELECT_KERNEL) && grid > 1)
        to->shape.cluster = (unsigned)grid;
    memcpy(to->args, args, ARGS * sizeof *args);
    return problem_place_input(p, 0, to, 0);
}

// The blocks that are resident at once, but no more than tiles.
static uint64_t blocks_for(const instance *i, int kernel, uint64_t n, uint64_t tiles)
{
    uint64_t grid = resident_blocks(i, &i->kernels[kernel]);
    if (grid < n >> 30) grid = n >> 30; // the counts of a block have 32 bits
    return smaller(grid, tiles);
}

static uint64_t passes_of(const problem *p)
{
    return ceil_div(8 * cubc_type_size((cubc_type)p->type), (uint64_t)radix_bits(p));
}

// Gives each argument that is a part of the scratch its offset. Returns these arguments, a bit
// each.
static uint32_t place_scratch(const problem *p, way w, uint64_t at[ARGS], plan *out)
{
    uint64_t key = cubc_type_size((cubc_type)p->type), offset = p->wide ? 8 : 4, bytes = 0;
    uint64_t passes = passes_of(p), room = at[ROOM];
    uint32_t scratch = 0;
    if (!w.at_once) {
        // The parts that are zero at first come before the buffers.
        at[STATE] = at[BINS] + ((passes * 8) << radix_bits(p));
        at[TILES] = at[STATE] + passes * STATE_BYTES;
        at[DONE] = at[TILES] + (1 + passes) * 8;
        at[MESSAGES] = at[DONE] + (1 + passes) * 8;
        bytes = at[MESSAGES] + passes * at[MESSAGE_WORDS] * 8;
        if (w.filters)
            at[CLEARED] = bytes / 8;
        else
            out->cleared_bytes = bytes;
        at[BUFFERS] = round_up(bytes, 256);
        at[BUFFERS + 1] = at[BUFFERS] + round_up(room * key, 256);
        at[BUFFERS + 2] = at[BUFFERS + 1] + round_up(room * key, 256);
        at[BUFFERS + 3] = at[BUFFERS + 2] + round_up(room * offset, 256);
        bytes = at[BUFFERS + 3] + room * offset;
        for (int a = BINS; a < KEPT; a++) scratch |= 1u << a;
    }
    if (w.in_order && !w.at_once) {
        at[KEPT_ROOM] = w.filters ? w.blocks * w.pool : p->outputs[0].n;
        at[KEPT] = round_up(bytes, 256);
        at[KEPT_INDICES] = at[KEPT] + round_up(at[KEPT_ROOM] * key, 256);
        bytes = at[KEPT_INDICES] + at[KEPT_ROOM] * offset;
        scratch |= 1u << KEPT | 1u << KEPT_INDICES;
    }
    if (w.in_order) {
        at[LIST] = round_up(bytes, 256);
        at[FILTER] = at[LIST] + topk_listed_bytes(topk_traits_of(p).most);
        bytes = at[FILTER] + FILTER_BYTES;
        scratch |= 1u << LIST | (w.filters ? 1u << FILTER : 0);
        if (!w.filters) at[FILTER] = 0;
    }
    out->scratch_bytes = bytes;
    return scratch;
}

static cubc_status topk_plan(const problem *p, const instance *i, plan *out)
{
    uint64_t n = p->n, k = p->outputs[0].n;
    uint64_t tile = instance_tile(i, &i->kernels[RADIX_KERNEL]);
    uint64_t tiles = ceil_div(n, tile);
    if (k == 0) return CUBC_OK;
    way w = choose_way(p, i);
    uint64_t at[ARGS] = {0,
                         (uintptr_t)p->outputs[0].data,
                         (uintptr_t)p->inputs[1].data,
                         (uintptr_t)p->outputs[1].data,
                         n,
                         k};
    at[MESSAGE_WORDS] = 1 + (tiles << (1 + p->wide));
    at[ROOM] = buffer_room(n, w.filters);
    at[SAMPLES] = w.samples;
    at[RANK] = w.rank;
    uint32_t scratch = place_scratch(p, w, at, out);

    if (w.filters) {
        TRY(add_launch(p, i, SAMPLE_KERNEL, w.sample_blocks, at, scratch, out));
        TRY(add_launch(p, i, FILTER_KERNEL, blocks_for(i, FILTER_KERNEL, n, tiles), at, scratch,
                       out));
    }
    if (!w.at_once && !w.in_order)
        TRY(add_launch(p, i, COUNT_KERNEL, blocks_for(i, COUNT_KERNEL, n, tiles), at, scratch,
                       out));
    uint64_t launches = w.at_once ? 0 : w.in_order ? 1 : passes_of(p);
    for (at[PASS] = 0; at[PASS] < launches; at[PASS]++)
        TRY(add_launch(p, i, RADIX_KERNEL, blocks_for(i, RADIX_KERNEL, n, tiles), at, scratch,
                       out));
    if (!w.in_order) return CUBC_OK;
    return add_launch(p, i, SELECT_KERNEL, w.blocks, at, scratch, out);
}

// Keys are read once if few are wanted; otherwise for their counts and to be selected from. More
// than TOPK_MOST are taken for few, which they are where the device holds a long list.
static double topk_traffic(const problem *p)
{
    return (topk_traits_of(p).most ? 1 : 2) * problem_input_bytes(p, 0) +
           (double)p->outputs[0].n *
               (double)(operand_item_bytes(&p->outputs[0]) + operand_item_bytes(&p->outputs[1]));
}

static const field topk_fields[] = {
    FIELD_ARRAY(cubc_topk_params, keys_in, FIELD_LAZY, type, n),
    {"values_in", FIELD_INPUT, offsetof(cubc_topk_params, values_in), 0,
     offsetof(cubc_topk_params, n), offsetof(cubc_topk_params, value_bytes)},
    FIELD(cubc_topk_params, largest, FIELD_INT),
    FIELD_ARRAY(cubc_topk_params, keys_out, FIELD_OUTPUT, type, k),
    {"values_out", FIELD_OUTPUT, offsetof(cubc_topk_params, values_out), 0,
     offsetof(cubc_topk_params, k), offsetof(cubc_topk_params, value_bytes)},
};

static const int kept[] = {1024};
static const cubc_topk_params pairs = {.keys_in = BENCHMARK_ARRAY(0),
                                       .keys_out = BENCHMARK_ARRAY(1),
                                       .values_out = BENCHMARK_ARRAY(2),
                                       .value_bytes = 8,
                                       .largest = 1};
static const benchmark topk_benchmarks[] = {
    BENCHMARK_OF("topk.pairs", .axes[K_AXIS] = AXIS(kept), .call = &pairs)};

const algorithm topk_algorithm = {
    .keys = 1,
    .name = "topk",
    .source = "topk.cu",
    .kernels = {"topk_sample", "topk_filter", "topk_count", "topk_radix", "topk_select"},
    .axes = {"Elements", "K"},
    .benchmarks = topk_benchmarks,
    .benchmark_count = COUNT_OF(topk_benchmarks),
    FIELDS(topk_fields),
    .workload = topk_workload,
    .axis_values = topk_axis_values,
    .define = topk_define,
    .invalid = topk_invalid,
    .plan = topk_plan,
    .traffic = topk_traffic,
    .random = problem_random_bits};
