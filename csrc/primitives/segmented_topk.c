// Descriptor of segmented_topk: kernels/primitives/segmented_topk.cu, and
// kernels/cpu/cpu_segmented_topk.cu on the CPU.
#include "base/integer.h"
#include "base/size.h"
#include "primitives/topk_sizes.h"
#include "run/instance.h"
#include "run/problem.h"

#include <string.h>

enum { PARTS_KERNEL, JOIN_KERNEL, ROWS_KERNEL, CLUSTERS_KERNEL };

enum {
    FEW = 64,               // items of a segment that a warp takes in registers
    MOST_OF_WARP = 2048,    // those that it takes at most, half as many of 8 bytes
    MOST_OF_BLOCK = 8192,   // those that a block takes likewise (topk_row.h)
    FEW_KEYS = 256,         // keys of a segment that code with less shared memory selects
    WARP_ROW_OF_MANY = 256, // those that a warp takes where more keys are selected
    LEAST_ROW = 128,        // items that code of a warp or a block takes, which is of some sizes
    H200_SHARED = 232448,   // bytes of shared memory of a block
    MOST_HELD = 4096,       // items that a block of the CPU keeps
    HELD_ITEM_BYTES = 16,   // at most
};

typedef struct segmented_topk_traits {
    int equal_size; // there are no offsets
    int most;       // keys to select: FEW_KEYS or TOPK_MOST
    int row;        // items of a segment that a warp or a block takes at once
    int clustered;  // clusters may take the segments
    int unordered;  // a segment's keys may stand in any order
} segmented_topk_traits;

typedef struct segmented_topk_numbers {
    uint64_t segments, k;
} segmented_topk_numbers;

PROBLEM_TRAITS(segmented_topk_traits);
PROBLEM_NUMBERS(segmented_topk_numbers);

// The input that has the offsets; -1 without them.
static int offsets_of(const problem *p)
{
    return segmented_topk_traits_of(p).equal_size ? -1 : 1;
}

static uint64_t mean_length(const problem *p)
{
    uint64_t count = segmented_topk_numbers_of(p).segments;
    return count ? p->n / count : 0;
}

// Most items of a segment that a warp takes.
static uint64_t warp_row(const problem *p, int most)
{
    if (most > FEW_KEYS) return WARP_ROW_OF_MANY;
    return cubc_type_size((cubc_type)p->type) > 4 ? MOST_OF_WARP / 2 : MOST_OF_WARP;
}

// Items of a row: those of all segments of one size, twice the mean of others. A block that takes
// more than FEW has shared memory for them. Segments that are longer on average have no rows.
static int row_for(const problem *p, int most, int equal_size)
{
    uint64_t mean = mean_length(p), longest = equal_size ? mean : 2 * mean;
    uint64_t limit = warp_row(p, most);
    if (mean > limit) limit = MOST_OF_BLOCK;
    if (mean > limit || longest <= FEW) return FEW;
    int row = LEAST_ROW;
    while ((uint64_t)row < smaller(longest, limit)) row *= 2;
    return row;
}

// Bytes of a key as a block keeps it.
static int held_bytes(const problem *p)
{
    return cubc_type_size((cubc_type)p->type) > 4 ? 8 : 4;
}

// Shared memory of a cluster's block beside its keys: counts of their ranges, of which there are
// half as many of 8 bytes, and what warps and blocks tell one another (pool_shared).
static int bytes_beside(const problem *p)
{
    return (held_bytes(p) > 4 ? 14 : 26) * 1024;
}

// Least blocks of a cluster that a segment fits, on a device with so much shared memory for each.
static uint64_t least_blocks(const problem *p, int64_t shared_bytes)
{
    return ceil_div(mean_length(p), (uint64_t)((shared_bytes - bytes_beside(p)) / held_bytes(p)));
}

// Most keys of a block for which two rounds of clusters are faster than parts of segments.
static uint64_t most_keys_in_two_rounds(const problem *p)
{
    enum { MOST_FOR_SMALL_K = 17000 };
    if (held_bytes(p) == 4) return 0;
    return segmented_topk_numbers_of(p).k > FEW_KEYS ? UINT64_MAX : MOST_FOR_SMALL_K;
}

// Rounds in which clusters of so many blocks may take the segments.
static uint64_t most_rounds(const problem *p, uint64_t blocks)
{
    return ceil_div(mean_length(p), blocks) <= most_keys_in_two_rounds(p) ? 2 : 1;
}

// True if clusters may take the segments: few, of one size, and longer than rows. The device is not
// known yet; an H200 runs so many clusters of a size at once, or a few less, as the multiprocessors
// of one stand side by side.
static bool may_be_clustered(const problem *p, int equal_size)
{
    static const uint8_t at_once[CLUSTER_BLOCKS + 1] = {0, 132, 66, 39, 30, 22, 17, 15, 15,
                                                        9, 8,   8,  8,  7,  7,  7,  7};
    if (!equal_size || mean_length(p) <= MOST_OF_BLOCK) return false;
    const uint64_t segments = segmented_topk_numbers_of(p).segments;
    for (uint64_t blocks = least_blocks(p, H200_SHARED); blocks <= CLUSTER_BLOCKS; blocks++)
        if (segments <= most_rounds(p, blocks) * at_once[blocks]) return true;
    return false;
}

// ---- problems -----------------------------------------------------------------------------------
static cubc_status add_segments(const cubc_segmented_topk_params *params, problem *p)
{
    segmented_topk_numbers_set(p, (segmented_topk_numbers){params->segments, params->k});
    int equal_size = params->offsets == NULL;
    int most = params->k > FEW_KEYS ? TOPK_MOST : FEW_KEYS;
    int row = row_for(p, most, equal_size);
    segmented_topk_traits_set(p, (segmented_topk_traits){equal_size, most, row,
                                                         may_be_clustered(p, equal_size),
                                                         params->unordered != 0});
    if (params->k > TOPK_MOST)
        FAIL(CUBC_INVALID_ARGUMENT,
             "segmented_topk finds up to %d keys of a segment, not %llu: sort the segments",
             TOPK_MOST, (unsigned long long)params->k);
    if (params->offsets)
        return problem_offsets(p, "the offsets of segmented_topk", params->offsets,
                               params->segments, params->offset_type);
    TRY(problem_equal_segments("segmented_topk", params->n, params->segments));
    if (params->segments && params->k > mean_length(p))
        FAIL(CUBC_INVALID_ARGUMENT,
             "segmented_topk: k is %llu, and there are %llu keys: give a k from 0 to their number",
             (unsigned long long)params->k, (unsigned long long)mean_length(p));
    return CUBC_OK;
}

cubc_status segmented_topk_problem(const cubc_segmented_topk_params *params, problem *out)
{
    uint64_t found = params->segments;
    *out = (problem){.algorithm = &segmented_topk_algorithm,
                     .n = params->n,
                     .type = (uint8_t)problem_input_type(params->in, params->type),
                     .acc_type = (uint8_t)problem_input_type(params->in, params->type),
                     .descending = params->largest != 0,
                     .wide = params->n > UINT32_MAX};
    problem_set_benchmark(out, params->offsets ? "segmented_topk.segments" : "segmented_topk.rows",
                          params->unordered ? ".unordered" : "");
    if (!size_multiply(&found, params->k))
        FAIL(CUBC_INVALID_ARGUMENT,
             "segmented_topk: %llu keys of each of %llu segments are too many",
             (unsigned long long)params->k, (unsigned long long)params->segments);
    TRY(problem_check_real("the keys of segmented_topk", (cubc_type)out->type));
    TRY(problem_lazy_input(out, "the keys of segmented_topk", params->in, params->n, params->type));
    TRY(problem_output(out, "the output of segmented_topk", params->keys_out, found,
                       (cubc_type)out->type));
    TRY(problem_output(out, "the output of the indices", params->indices_out, found, CUBC_I64));
    TRY(add_segments(params, out));
    TRY(problem_check_overlap(out, INPUT_OF_SAME_NUMBER));
    if (out->in_place)
        FAIL(CUBC_INVALID_ARGUMENT, "segmented_topk: no output may be where the keys are");
    out->aligned = true; // nothing is read in vectors
    return CUBC_OK;
}

// ---- benchmarks ---------------------------------------------------------------------------------
enum { SEGMENT_SIZE = 1, K_AXIS }; // among the run-time axes; the first is the mean length

static void segmented_topk_axis_values(const problem *p, uint64_t *values)
{
    values[0] = p->n;
    values[SEGMENT_SIZE] = mean_length(p);
    values[K_AXIS] = segmented_topk_numbers_of(p).k;
}

static const char *segmented_topk_random(const problem *p, int k)
{
    if (offsets_of(p) != k) return problem_random_bits(p, k);
    return problem_random_offsets;
}

static cubc_status segmented_topk_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                           problem *out)
{
    cubc_segmented_topk_params call = *(const cubc_segmented_topk_params *)b->call;
    call.n = at[0];
    call.type = type;
    uint64_t size = smaller(call.n, at[SEGMENT_SIZE]);
    call.segments = call.n / size;
    call.k = at[K_AXIS];
    if (!call.offsets) { // rows of one size have no part left over
        call.n = call.segments * size;
        call.k = smaller(call.k, size);
    }
    return segmented_topk_problem(&call, out);
}

// Sorts the result of each segment by its indices: those of variants may stand in other orders.
static cubc_status segmented_topk_arrange(cubc_device *device, const problem *p)
{
    segmented_topk_numbers numbers = segmented_topk_numbers_of(p);
    void *keys = p->outputs[0].data, *indices = p->outputs[1].data;
    const cubc_segmented_sort_params params = {.keys_in = indices,
                                               .keys_out = indices,
                                               .values_in = keys,
                                               .values_out = keys,
                                               .n = numbers.segments * numbers.k,
                                               .segments = numbers.segments,
                                               .type = CUBC_I64,
                                               .value_bytes =
                                                   (int)cubc_type_size((cubc_type)p->type)};
    return segmented_topk_traits_of(p).unordered
               ? cubc_segmented_sort(device, &params, NULL, 0, NULL)
               : CUBC_OK;
}

// ---- variants -----------------------------------------------------------------------------------
static void segmented_topk_define(const problem *p, text *out)
{
    problem_define_keys(p, out);
    problem_define_input(p, 0, "TUNE_IN", out);
    problem_define_offsets(p, offsets_of(p), out);
    text_printf(out, "#define TUNE_OFFSET %s\n#define TUNE_ALIGNED %d\n", p->wide ? "u64" : "u32",
                p->aligned);
    topk_sizes_define(segmented_topk_traits_of(p).most, out);
    text_printf(out, "#define TUNE_HELD %d\n#define TUNE_HELD_BYTES %d\n", MOST_HELD,
                MOST_HELD * HELD_ITEM_BYTES);
    segmented_topk_traits traits = segmented_topk_traits_of(p);
    text_printf(out,
                "#define TUNE_ROW %d\n#define TUNE_WARP_ROW %d\n#define TUNE_FEW %d\n"
                "#define TUNE_ROW_MOST %d\n#define TUNE_CLUSTERED %d\n"
                "#define TUNE_BYTES_BESIDE %d\n#define TUNE_UNORDERED %d\n",
                traits.row, (int)warp_row(p, traits.most), FEW, traits.most, traits.clustered,
                bytes_beside(p), traits.unordered);
    text_puts(out,
              "#define TUNE_RADIX_BITS 8\n"); // radix.h needs one; keys are not cut into digits
}

static const char *segmented_topk_invalid(const problem *p, const char *kind, const space *s,
                                          const variant *v)
{
    return problem_invalid(p, kind, s, v, (int)cubc_type_size((cubc_type)p->type) + 4);
}

// ---- plans --------------------------------------------------------------------------------------
enum { // the arguments
    IN,
    OFFSETS,
    SIZE,
    COUNT,
    ITEMS,
    OUT,
    INDICES,
    K,
    PARTS,
    GROUP,
    LIST,
    PART_KEYS,
    PART_INDICES,
    ARGS
};

static launch make_launch(const problem *p, const device_kernel *kernel, uint64_t grid)
{
    segmented_topk_numbers numbers = segmented_topk_numbers_of(p);
    return (launch){.kernel = kernel,
                    .shape.grid = (unsigned)grid,
                    .args_count = ARGS,
                    .args = {[SIZE] = mean_length(p),
                             [COUNT] = numbers.segments,
                             [ITEMS] = p->n,
                             [OUT] = (uintptr_t)p->outputs[0].data,
                             [INDICES] = (uintptr_t)p->outputs[1].data,
                             [K] = numbers.k,
                             [PARTS] = 1}};
}

static cubc_status add_launch(const problem *p, const launch *made, plan *out)
{
    launch *to = &out->launches[out->launch_count++];
    *to = *made;
    TRY(problem_place_input(p, offsets_of(p), to, OFFSETS));
    return problem_place_input(p, 0, to, IN);
}

static cubc_status plan_threads(const problem *p, const instance *i, plan *out)
{
    enum { WAVES = 16 };
    uint64_t segments = segmented_topk_numbers_of(p).segments, mean = larger(1, mean_length(p));
    uint64_t least = instance_value(i, "ipt", 1);
    uint64_t most = (uint64_t)i->device->info.sm_count * WAVES;
    uint64_t group = larger(ceil_div(least, mean), ceil_div(segments, most));
    uint64_t grid = ceil_div(segments, group);
    launch made = make_launch(p, &i->kernels[PARTS_KERNEL], grid);
    made.args[GROUP] = group;
    made.scratch_args = 1u << LIST;
    out->scratch_bytes = grid * MOST_HELD * HELD_ITEM_BYTES;
    return add_launch(p, &made, out);
}

// Parts of a segment for the blocks that whole segments leave idle, none of few items.
static uint64_t parts_for(const problem *p, uint64_t resident)
{
    enum { LEAST_ITEMS = 16384, OF_K = 8 };
    segmented_topk_numbers numbers = segmented_topk_numbers_of(p);
    uint64_t least = larger(LEAST_ITEMS, OF_K * numbers.k);
    return larger(1, smaller(resident / numbers.segments, mean_length(p) / least));
}

// True if each segment is left to a block that holds a row: where there are no more than blocks
// that run at once, and where a warp takes no such rows.
static bool blocks_take_rows(const problem *p, const instance *i)
{
    segmented_topk_traits traits = segmented_topk_traits_of(p);
    uint64_t segments = segmented_topk_numbers_of(p).segments;
    bool is_of_warp = (uint64_t)traits.row <= warp_row(p, traits.most);
    return traits.row > FEW &&
           (segments <= resident_blocks(i, &i->kernels[ROWS_KERNEL]) || !is_of_warp);
}

static cubc_status plan_rows(const problem *p, const instance *i, plan *out)
{
    const device_kernel *kernel = &i->kernels[ROWS_KERNEL];
    uint64_t segments = segmented_topk_numbers_of(p).segments;
    launch made = make_launch(p, kernel, smaller(segments, resident_blocks(i, kernel)));
    made.scratch_args = 1u << LIST;
    out->scratch_bytes = made.shape.grid * topk_listed_bytes(segmented_topk_traits_of(p).most);
    return add_launch(p, &made, out);
}

// Blocks of the cluster that takes each segment, more than its keys need where there are
// multiprocessors for them. 0 where the device has no such clusters, or not enough at once.
static uint64_t cluster_of_segment(const problem *p, const instance *i)
{
    enum { LEAST_OF_BLOCK = 1024 };
    const device_kernel *kernel = &i->kernels[CLUSTERS_KERNEL];
    const int64_t shared_bytes = i->device->info.shared_bytes_per_block;
    const uint64_t segments = segmented_topk_numbers_of(p).segments;
    uint64_t found = 0;
    if (!segmented_topk_traits_of(p).clustered || shared_bytes < TOPK_POOL_BYTES) return 0;
    const uint64_t least = least_blocks(p, shared_bytes);
    for (uint64_t rounds = 1; rounds <= 2 && !found; rounds++) {
        for (uint64_t blocks = least; blocks <= kernel->cluster; blocks++) {
            if (rounds > most_rounds(p, blocks)) continue;
            if (segments > rounds * kernel->clusters_at_once[blocks]) break;
            found = blocks;
            if (blocks * LEAST_OF_BLOCK >= mean_length(p)) break;
        }
    }
    return found;
}

static cubc_status plan_clusters(const problem *p, const instance *i, uint64_t blocks, plan *out)
{
    uint64_t segments = segmented_topk_numbers_of(p).segments;
    launch made = make_launch(p, &i->kernels[CLUSTERS_KERNEL], segments * blocks);
    made.shape.cluster = (unsigned)blocks;
    made.scratch_args = 1u << LIST;
    out->scratch_bytes = segments * topk_listed_bytes(segmented_topk_traits_of(p).most);
    return add_launch(p, &made, out);
}

// A block takes a segment or a part of one, or each of its warps does; a second launch joins parts.
static cubc_status plan_parts(const problem *p, const instance *i, plan *out)
{
    segmented_topk_numbers numbers = segmented_topk_numbers_of(p);
    const device_kernel *kernel = &i->kernels[PARTS_KERNEL];
    uint64_t resident = resident_blocks(i, kernel);
    uint64_t key = cubc_type_size((cubc_type)p->type), offset = p->wide ? 8 : 4;
    uint64_t parts = parts_for(p, resident), units = numbers.segments * parts;
    uint64_t row = (uint64_t)segmented_topk_traits_of(p).row;
    uint64_t group = mean_length(p) <= row ? kernel->threads / 32 : 1;
    uint64_t grid = smaller(ceil_div(units, group), resident);
    launch made = make_launch(p, kernel, grid);
    made.args[PARTS] = parts;
    made.args[GROUP] = group;
    made.args[PART_KEYS] = grid * topk_listed_bytes(segmented_topk_traits_of(p).most);
    made.args[PART_INDICES] = made.args[PART_KEYS];
    out->scratch_bytes = made.args[PART_KEYS];
    if (parts > 1) {
        made.args[PART_INDICES] += round_up(units * numbers.k * key, 256);
        out->scratch_bytes = made.args[PART_INDICES] + units * numbers.k * offset;
    }
    made.scratch_args = 1u << LIST | 1u << PART_KEYS | 1u << PART_INDICES;
    TRY(add_launch(p, &made, out));
    if (parts == 1) return CUBC_OK;
    made.kernel = &i->kernels[JOIN_KERNEL];
    made.shape.grid = (unsigned)numbers.segments; // fewer than the first launch has blocks
    return add_launch(p, &made, out);
}

static cubc_status segmented_topk_plan(const problem *p, const instance *i, plan *out)
{
    segmented_topk_numbers numbers = segmented_topk_numbers_of(p);
    if (numbers.segments == 0 || numbers.k == 0) return CUBC_OK;
    if (i->kernels[PARTS_KERNEL].threads == 1) return plan_threads(p, i, out);
    if (p->wide && i->device->info.shared_bytes_per_block < TOPK_POOL_BYTES)
        FAIL(CUBC_INVALID_ARGUMENT,
             "segmented_topk: the device has no room in shared memory for indices of %llu items",
             (unsigned long long)p->n);
    if (blocks_take_rows(p, i)) return plan_rows(p, i, out);
    uint64_t cluster = cluster_of_segment(p, i);
    return cluster > 0 ? plan_clusters(p, i, cluster, out) : plan_parts(p, i, out);
}

static const field segmented_topk_fields[] = {
    FIELD_ARRAY(cubc_segmented_topk_params, in, FIELD_LAZY, type, n),
    {"offsets", FIELD_LAZY, offsetof(cubc_segmented_topk_params, offsets),
     offsetof(cubc_segmented_topk_params, offset_type), 0, 0},
    FIELD(cubc_segmented_topk_params, segments, FIELD_COUNT),
    FIELD(cubc_segmented_topk_params, k, FIELD_COUNT),
    FIELD(cubc_segmented_topk_params, largest, FIELD_INT),
    FIELD(cubc_segmented_topk_params, unordered, FIELD_INT),
    {"keys_out", FIELD_OUTPUT, offsetof(cubc_segmented_topk_params, keys_out),
     offsetof(cubc_segmented_topk_params, type), 0, 0},
    FIELD(cubc_segmented_topk_params, indices_out, FIELD_OUTPUT),
};

static const int lengths[] = {64, 1000, 131072}, kept[] = {8, 100};
static const cubc_segmented_topk_params apart = {.in = BENCHMARK_ARRAY(0),
                                                 .offsets = BENCHMARK_ARRAY(1),
                                                 .keys_out = BENCHMARK_ARRAY(2),
                                                 .indices_out = BENCHMARK_ARRAY(3),
                                                 .offset_type = CUBC_I64,
                                                 .largest = 1};
static const cubc_segmented_topk_params rows = {.in = BENCHMARK_ARRAY(0),
                                                .keys_out = BENCHMARK_ARRAY(1),
                                                .indices_out = BENCHMARK_ARRAY(2),
                                                .largest = 1};
static const cubc_segmented_topk_params apart_unordered = {.in = BENCHMARK_ARRAY(0),
                                                           .offsets = BENCHMARK_ARRAY(1),
                                                           .keys_out = BENCHMARK_ARRAY(2),
                                                           .indices_out = BENCHMARK_ARRAY(3),
                                                           .offset_type = CUBC_I64,
                                                           .largest = 1,
                                                           .unordered = 1};
static const cubc_segmented_topk_params rows_unordered = {.in = BENCHMARK_ARRAY(0),
                                                          .keys_out = BENCHMARK_ARRAY(1),
                                                          .indices_out = BENCHMARK_ARRAY(2),
                                                          .largest = 1,
                                                          .unordered = 1};
static const benchmark segmented_topk_benchmarks[] = {
    BENCHMARK_OF("segmented_topk.segments", .axes[SEGMENT_SIZE] = AXIS(lengths),
                 .axes[K_AXIS] = AXIS(kept), .call = &apart),
    BENCHMARK_OF("segmented_topk.rows", .axes[SEGMENT_SIZE] = AXIS(lengths),
                 .axes[K_AXIS] = AXIS(kept), .call = &rows),
    BENCHMARK_OF("segmented_topk.segments.unordered", .axes[SEGMENT_SIZE] = AXIS(lengths),
                 .axes[K_AXIS] = AXIS(kept), .call = &apart_unordered),
    BENCHMARK_OF("segmented_topk.rows.unordered", .axes[SEGMENT_SIZE] = AXIS(lengths),
                 .axes[K_AXIS] = AXIS(kept), .call = &rows_unordered)};

const algorithm segmented_topk_algorithm = {
    .name = "segmented_topk",
    .source = "segmented_topk.cu",
    .kernels = {"segmented_topk_parts", "segmented_topk_join", "segmented_topk_rows",
                "segmented_topk_clusters"},
    .cpu_source = "cpu_segmented_topk.cu",
    .cpu_kernels = {"segmented_topk_parts"},
    .cpu_unused = {"TUNE_MOST", "TUNE_LISTED_BYTES", "TUNE_ROW", "TUNE_WARP_ROW", "TUNE_ROW_MOST",
                   "TUNE_CLUSTERED"},
    .axes = {"Elements", "SegmentSize", "K"},
    .benchmarks = segmented_topk_benchmarks,
    .benchmark_count = COUNT_OF(segmented_topk_benchmarks),
    FIELDS(segmented_topk_fields),
    .workload = segmented_topk_workload,
    .axis_values = segmented_topk_axis_values,
    .define = segmented_topk_define,
    .invalid = segmented_topk_invalid,
    .plan = segmented_topk_plan,
    .traffic = problem_array_bytes,
    .arrange = segmented_topk_arrange,
    .random = segmented_topk_random};
