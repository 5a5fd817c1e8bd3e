// Descriptor of sort: kernels/primitives/sort.cu, and kernels/cpu/cpu_sort.cu on the CPU.
#include "base/integer.h"
#include "run/instance.h"
#include "run/problem.h"

#include <string.h>

enum {
    COUNT_BITS = 30,      // of a counter of 32 bits, beside its status
    FEW_BYTES = 40960,    // of the arrays of a block that sorts alone
    MOST_SHARE = 1 << 14, // items of a cluster's block
};
// Places of the kernels in the descriptor, and of those of the CPU.
enum { COUNT_KERNEL, PASS_KERNEL, FEW_KERNEL, CLEAR_KERNEL, SPLIT_KERNEL, BIN_KERNEL };
enum { CPU_RANGE, CPU_COUNT, CPU_SCATTER, CPU_TILE, CPU_BINS };

static int key_bits(const problem *p)
{
    return 8 * (int)cubc_type_size((cubc_type)p->type);
}

// Bytes of an item where all passes are made in shared memory: the key, and the index of the value.
static uint64_t share_bytes(const problem *p)
{
    return (uint64_t)key_bits(p) / 8 + (p->output_count > 1 ? 4 : 0);
}

// ---- problems -----------------------------------------------------------------------------------
typedef struct sort_traits {
    int some_bits; // 1: floats are sorted by some bits of their codes
} sort_traits;
PROBLEM_TRAITS(sort_traits);

static cubc_status check_bits(const cubc_sort_params *params, problem *p)
{
    int most = key_bits(p), end = params->end_bit ? params->end_bit : most;
    if (params->begin_bit < 0 || end > most || params->begin_bit > end)
        FAIL(CUBC_INVALID_ARGUMENT,
             "sort: there are no bits %d to %d in keys of %s: expected 0 <= begin_bit <= end_bit "
             "<= %d",
             params->begin_bit, end, cubc_type_name((cubc_type)p->type), most);
    bool none = params->begin_bit == end, whole = params->begin_bit == 0 && end == most;
    sort_traits_set(p, (sort_traits){type_table[p->type].kind == KIND_FLOAT && !whole});
    p->begin_bit = (uint8_t)(none ? 0 : params->begin_bit);
    p->end_bit = (uint8_t)(none ? 0 : end);
    return CUBC_OK;
}

// Memory of the caller's that passes go back and forth to, instead of temporary storage.
typedef struct sort_numbers {
    void *keys, *values;
} sort_numbers;
PROBLEM_NUMBERS(sort_numbers);

static cubc_status add_spare(const cubc_sort_params *params, problem *p)
{
    static const char *const names[] = {"keys_spare", "values_spare"};
    void *const spare[] = {params->keys_spare, params->values_spare};
    uintptr_t from[2] = {0}, to[2] = {0};
    if (!spare[0] && !spare[1]) return CUBC_OK;
    for (int k = 0; k < p->output_count; k++) {
        operand checked;
        TRY(problem_array(p, &checked, names[k], spare[k], params->n,
                          (cubc_type)p->outputs[k].type));
        size_t bytes = params->n * operand_item_bytes(&p->outputs[k]);
        TRY(problem_check_apart(p, spare[k], bytes));
        from[k] = (uintptr_t)spare[k];
        to[k] = from[k] + bytes;
    }
    if (from[0] < to[1] && from[1] < to[0])
        FAIL(CUBC_INVALID_ARGUMENT, "keys_spare and values_spare overlap: they must be apart");
    sort_numbers_set(p, (sort_numbers){spare[0], spare[1]});
    return CUBC_OK;
}

cubc_status sort_problem(const cubc_sort_params *params, problem *out)
{
    cubc_type type = problem_input_type(params->keys_in, params->type);
    *out = (problem){.algorithm = &sort_algorithm,
                     .n = params->n,
                     .type = (uint8_t)type,
                     .acc_type = (uint8_t)type,
                     .descending = params->descending != 0,
                     .wide = params->n >> COUNT_BITS != 0,
                     .aligned = true};
    TRY(problem_lazy_input(out, "the keys of sort", params->keys_in, params->n, params->type));
    TRY(problem_check_real("the keys of sort", type));
    TRY(problem_output(out, "the output of sort", params->keys_out, params->n, type));
    TRY(check_bits(params, out));
    TRY(problem_sort_values(out, "the values of sort", params->values_in, params->values_out,
                            params->n, params->value_bytes, params->n));
    TRY(add_spare(params, out));
    strcpy(out->benchmark, out->output_count > 1 ? "sort.pairs" : "sort.keys");
    return problem_check_overlap(out, INPUT_OF_SAME_NUMBER);
}

static cubc_status sort_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                 problem *out)
{
    cubc_sort_params call = *(const cubc_sort_params *)b->call;
    call.n = at[0];
    call.type = type;
    return sort_problem(&call, out);
}

// ---- variants -----------------------------------------------------------------------------------
static void sort_define(const problem *p, text *out)
{
    problem_define_keys(p, out);
    // A number is subtracted from the codes of whole floats, so that NaNs of both signs are last.
    // Codes whose bits are sorted by have the bits of the float: radix_code subtracts 0 here.
    if (sort_traits_of(p).some_bits)
        text_puts(out, "#undef TUNE_MANTISSA_BITS\n#define TUNE_MANTISSA_BITS 0\n");
    problem_define_values(p, out);
    text_printf(out,
                "#define TUNE_INDICES %d\n#define TUNE_FEW_BYTES %d\n#define TUNE_MOST_SHARE %d\n",
                p->output_count > 1 && p->input_count < 2, FEW_BYTES, MOST_SHARE);
    problem_define_input(p, 0, "TUNE_IN", out);
    text_printf(out, "#define TUNE_OFFSET %s\n#define TUNE_IN_PLACE %d\n#define TUNE_ALIGNED %d\n",
                p->wide ? "u64" : "u32", p->in_place, p->aligned);
}

static int digits_of(const problem *p, int bits, int radix_bits)
{
    int digits = bits > 0 ? (int)ceil_div((uint64_t)bits, (uint64_t)radix_bits) : 1;
    // The input must not be what the last pass, or the only one, both reads and writes.
    return p->in_place ? (int)round_up((uint64_t)digits, 2) : digits;
}

static const char *sort_invalid(const problem *p, const char *kind, const space *s,
                                const variant *v)
{
    int threads = variant_value(s, v, "tpb", 1), ipt = variant_value(s, v, "ipt", 1);
    int radix_bits = variant_value(s, v, "rb", 8), key = key_bits(p) / 8;
    if (device_is_cpu(kind))
        return p->output_count * 64 << radix_bits > 200 * 1024
                   ? "the lines of the bins do not fit the shared memory"
                   : NULL;
    int counts = (digits_of(p, key_bits(p), radix_bits) + 1) * 4 << radix_bits;
    if ((counts << variant_value(s, v, "hc", 0)) > 200 * 1024)
        return "the histograms do not fit the shared memory of a multiprocessor";
    if ((threads / 32 * 4 << radix_bits) + threads * ipt * key > 200 * 1024)
        return "the tile does not fit the shared memory of a multiprocessor";
    // Three arrays and the counts of a cluster's blocks; two arrays of a bin; in each of both a
    // little more.
    int item = (int)share_bytes(p), more = (threads / 32 * 4 << radix_bits) + 1024;
    if (key >= 4 && variant_value(s, v, "ord", 0) == 2 &&
        (threads * ipt > MOST_SHARE ||
         3 * threads * ipt * item + (68 << radix_bits) + more > 227 * 1024))
        return "the share of a cluster's block does not fit the shared memory of a multiprocessor";
    if (2 * threads * variant_value(s, v, "bin", 0) * item + more > 227 * 1024)
        return "a bin does not fit the shared memory of a multiprocessor";
    return problem_invalid(p, kind, s, v, key + (p->output_count > 1 ? 8 : 4));
}

// ---- plans --------------------------------------------------------------------------------------
typedef struct memory { // where the keys and values of a pass are
    uint64_t keys, values;
    bool scratch; // these are offsets there
} memory;

enum {
    IN,
    OUT,
    VALUES_IN,
    VALUES_OUT,
    SPARE,
    SPARE_VALUES,
    N,
    MESSAGES,
    BINS,
    BEGIN_BIT,
    END_BIT,
    DIGITS,
    DIGIT_BITS,
    DIGIT,
    ROWS,
    BLOCK_ITEMS,
    ARGS
};

typedef struct passes { // memory that they go between, and their number
    memory from, to, spare;
    uint64_t digits;
} passes;

static cubc_status add_launch(const problem *p, plan *out, const device_kernel *kernel,
                              uint64_t grid, const passes *of, uint64_t digit)
{
    const memory from = of->from, to = of->to, spare = of->spare;
    launch *l = &out->launches[out->launch_count++];
    *l = (launch){.kernel = kernel,
                  .shape.grid = (unsigned)grid,
                  .message_args = 1u << MESSAGES,
                  .scratch_args = (from.scratch ? 1u << IN | 1u << VALUES_IN : 0) |
                                  (to.scratch ? 1u << OUT | 1u << VALUES_OUT : 0) |
                                  (spare.scratch ? 1u << SPARE | 1u << SPARE_VALUES : 0) |
                                  1u << BINS | 1u << ROWS,
                  .args_count = ARGS,
                  .args = {[IN] = from.keys,
                           [OUT] = to.keys,
                           [VALUES_IN] = from.values,
                           [VALUES_OUT] = to.values,
                           [SPARE] = spare.keys,
                           [SPARE_VALUES] = spare.values,
                           [N] = p->n,
                           [BEGIN_BIT] = p->begin_bit,
                           [END_BIT] = p->end_bit,
                           [DIGITS] = of->digits,
                           [DIGIT_BITS] = ceil_div(p->end_bit - p->begin_bit, of->digits),
                           [DIGIT] = digit}};
    // Later passes read an array: what the first reads, if it is lazy, has a place of its own.
    return p->inputs[0].lazy ? problem_place_input(p, 0, l, (int)l->args_count++) : CUBC_OK;
}

// The other memory that passes go back and forth to: the caller's, or behind `first` bytes of the
// scratch.
static memory place_spare(const problem *p, uint64_t first, plan *out)
{
    const sort_numbers given = sort_numbers_of(p);
    if (given.keys) {
        out->scratch_bytes = first;
        return (memory){.keys = (uintptr_t)given.keys, .values = (uintptr_t)given.values};
    }
    memory spare = {.keys = first, .scratch = true};
    spare.values = round_up(spare.keys + p->n * operand_item_bytes(&p->inputs[0]), 256);
    out->scratch_bytes = spare.values;
    if (p->output_count > 1) out->scratch_bytes += p->n * operand_item_bytes(&p->outputs[1]);
    return spare;
}

// Launches for the range of the keys, their counts, the pass to bins and the sort of each bin; a
// single tile takes one launch.
static cubc_status plan_cpu(const problem *p, const instance *i, uint64_t tiles, plan *out)
{
    const device_kernel *kernels = i->kernels;
    uint64_t radix = (uint64_t)1 << instance_value(i, "rb", 8);
    memory in = {.keys = (uintptr_t)p->inputs[0].data, .values = (uintptr_t)p->inputs[1].data};
    memory done = {.keys = (uintptr_t)p->outputs[0].data, .values = (uintptr_t)p->outputs[1].data};
    if (tiles == 1) {
        memory spare = place_spare(p, 0, out);
        return add_launch(p, out, &kernels[CPU_TILE], 1, &(passes){in, done, spare, 1}, 0);
    }
    // VALUES of cpu_sort.cu.
    uint64_t values = key_bits(p) == 16 && p->output_count == 1 ? 1 << 16 : 0;
    // Larger tiles leave fewer lines that are not full, and fewer counts of values. This number
    // of blocks keeps the cores equally busy.
    tiles = smaller(tiles, (values ? 2 : 8) * (uint64_t)i->device->info.sm_count);
    out->cleared_bytes = 2 * 8; // the range; behind it where bins begin, and the number of tiles
    uint64_t rows = round_up(out->cleared_bytes + (radix + 1) * 8, 256);
    uint64_t row_bytes = (radix + values) * (p->wide ? 8 : 4);
    memory spare = place_spare(p, round_up(rows + tiles * row_bytes, 256), out);
    out->message_bytes = 8;
    const passes whole = {in, done, spare, 1}, to_bins = {in, spare, spare, 1};
    TRY(add_launch(p, out, &kernels[CPU_RANGE], tiles, &whole, 0));
    TRY(add_launch(p, out, &kernels[CPU_COUNT], tiles, &whole, 0));
    TRY(add_launch(p, out, &kernels[CPU_SCATTER], tiles, &to_bins, 0));
    TRY(add_launch(p, out, &kernels[CPU_BINS], radix, &whole, 0));
    for (int k = 0; k < out->launch_count; k++) out->launches[k].args[ROWS] = rows;
    return CUBC_OK;
}

// All passes in one launch, of one block or one cluster (sort_few in sort.cu), if the items fit.
static cubc_status plan_few(const problem *p, const instance *i, memory in, memory done,
                            uint64_t digits, plan *out, bool *planned)
{
    const device_kernel *kernel = &i->kernels[FEW_KERNEL];
    uint64_t threads = kernel->threads, ipt = instance_value(i, "ipt", 1);
    uint64_t most = key_bits(p) < 32 ? 1 : problem_cluster_most(i, FEW_KERNEL);
    // FEW_ITEMS of sort_cluster.h.
    uint64_t alone = smaller(ipt, larger(1, FEW_BYTES / (2 * share_bytes(p) * threads)));
    uint64_t capacity = threads * (most > 1 ? ipt : alone);
    *planned = p->n <= most * capacity;
    if (!*planned) return CUBC_OK;
    uint64_t least = threads * instance_value(i, "shr", 1);
    uint64_t blocks = smaller(most, ceil_div(p->n, least));
    // 2^32 / share is a number of 32 bits.
    uint64_t share = smaller(capacity, round_up(ceil_div(p->n, blocks), 32));
    blocks = ceil_div(p->n, share);
    const passes all = {in, done, {.scratch = true}, digits};
    TRY(add_launch(p, out, kernel, blocks, &all, 0));
    out->launches[0].args[BLOCK_ITEMS] = share;
    out->launches[0].shape.cluster = blocks > 1 ? (unsigned)blocks : 0;
    return CUBC_OK;
}

// The most items of a bin for items to be split; 0: they are not. A block sorts a bin as long as
// it has items, and with few and full bins most multiprocessors are idle: passes are faster then.
static uint64_t most_of_a_bin(const problem *p, const instance *i, uint64_t digits)
{
    int radix_bits = (int)instance_value(i, "rb", 8);
    uint64_t threads = i->kernels[BIN_KERNEL].threads;
    uint64_t room = threads * instance_value(i, "bin", 0);
    bool whole = p->begin_bit == 0 && p->end_bit == key_bits(p);
    if (p->n > room << radix_bits || p->n < threads || !whole || digits < 3) return 0;
    return smaller(room, 3 * (p->n >> radix_bits) + 512);
}

// A launch that clears, one that counts, two that split the items and sort the bins, and one for
// each digit. The device finds which of them do anything.
static cubc_status plan_passes(const problem *p, const instance *i, memory in, memory done,
                               uint64_t digits, plan *out)
{
    const device_kernel *kernels = i->kernels;
    int radix_bits = (int)instance_value(i, "rb", 8);
    uint64_t threads = kernels[0].threads, sms = (uint64_t)i->device->info.sm_count;
    uint64_t tiles = ceil_div(p->n, threads * instance_value(i, "ipt", 1));
    // The counts of all items, in the bins of each digit and of the split, and what is made of
    // them; a row of counters for each tile of each pass, and of the split.
    uint64_t rows = round_up((((digits + 1) * 8) << radix_bits) + (digits + 3) * 8, 256);
    uint64_t row_bytes = (tiles << radix_bits) * (p->wide ? 8 : 4);
    uint64_t bin = most_of_a_bin(p, i, digits);
    uint64_t cleared = round_up(rows + (digits + (bin > 0)) * row_bytes, 256);
    memory spare = place_spare(p, cleared, out);
    out->message_bytes = 8;
    const passes all = {in, done, spare, digits};
    TRY(add_launch(p, out, &kernels[CLEAR_KERNEL],
                   smaller(ceil_div(cleared, threads * 64), 2 * sms), &all, 0));
    out->launches[0].args[ROWS] = cleared;
    // A block's counts have 32 bits.
    uint64_t resident = sms * (uint64_t)kernels[COUNT_KERNEL].info.blocks_per_sm;
    TRY(add_launch(p, out, &kernels[COUNT_KERNEL], larger(smaller(tiles, resident), p->n >> 30),
                   &all, 0));
    out->launches[1].args[BLOCK_ITEMS] = bin;
    if (bin) {
        TRY(add_launch(p, out, &kernels[SPLIT_KERNEL], tiles, &all, 0));
        out->launches[2].args[ROWS] = rows + digits * row_bytes;
        TRY(add_launch(p, out, &kernels[BIN_KERNEL], (uint64_t)1 << radix_bits, &all, 0));
    }
    for (uint64_t d = 0; d < digits; d++) {
        TRY(add_launch(p, out, &kernels[PASS_KERNEL], tiles, &all, d));
        out->launches[out->launch_count - 1].args[ROWS] = rows + d * row_bytes;
    }
    return CUBC_OK;
}

static cubc_status sort_plan(const problem *p, const instance *i, plan *out)
{
    const device_kernel *kernels = i->kernels;
    unsigned threads = kernels[0].threads;
    uint64_t tile = instance_value(i, "ipt", 1) * threads;
    int radix_bits = (int)instance_value(i, "rb", 8);
    uint64_t tiles = ceil_div(p->n, tile);
    uint64_t digits = (uint64_t)digits_of(p, p->end_bit - p->begin_bit, radix_bits);
    memory in = {.keys = (uintptr_t)p->inputs[0].data, .values = (uintptr_t)p->inputs[1].data};
    memory done = {.keys = (uintptr_t)p->outputs[0].data, .values = (uintptr_t)p->outputs[1].data};
    TRY(problem_check_blocks(p, tiles));
    if (tiles == 0) return CUBC_OK;
    if (threads == 1) return plan_cpu(p, i, tiles, out);
    bool planned;
    TRY(plan_few(p, i, in, done, digits, out, &planned));
    return planned ? CUBC_OK : plan_passes(p, i, in, done, digits, out);
}

static const field sort_fields[] = {
    FIELD_ARRAY(cubc_sort_params, keys_in, FIELD_LAZY, type, n),
    {"values_in", FIELD_INPUT, offsetof(cubc_sort_params, values_in), 0,
     offsetof(cubc_sort_params, n), offsetof(cubc_sort_params, value_bytes)},
    FIELD(cubc_sort_params, descending, FIELD_INT),
    FIELD(cubc_sort_params, begin_bit, FIELD_INT),
    FIELD(cubc_sort_params, end_bit, FIELD_INT),
    FIELD_ARRAY(cubc_sort_params, keys_out, FIELD_OUTPUT, type, n),
    {"values_out", FIELD_OUTPUT, offsetof(cubc_sort_params, values_out), 0,
     offsetof(cubc_sort_params, n), offsetof(cubc_sort_params, value_bytes)},
};

#define KEYS .keys_in = BENCHMARK_ARRAY(0), .keys_out = BENCHMARK_ARRAY(1)
static const cubc_sort_params keys = {KEYS},
                              pairs = {KEYS, .values_in = BENCHMARK_ARRAY(2),
                                       .values_out = BENCHMARK_ARRAY(3), .value_bytes = 4};
static const benchmark sort_benchmarks[] = {BENCHMARK_OF("sort.keys", .call = &keys),
                                            BENCHMARK_OF("sort.pairs", .call = &pairs)};

const algorithm sort_algorithm = {
    .keys = 1,
    .name = "sort",
    .source = "sort.cu",
    .kernels = {"sort_count", "sort_pass", "sort_few", "sort_clear", "sort_split", "sort_bin"},
    .cpu_source = "cpu_sort.cu",
    .cpu_kernels = {"sort_range", "sort_count", "sort_scatter", "sort_tile", "sort_bins"},
    .cpu_unused = {"TUNE_IN_PLACE"},
    .benchmarks = sort_benchmarks,
    .benchmark_count = COUNT_OF(sort_benchmarks),
    FIELDS(sort_fields),
    .workload = sort_workload,
    .define = sort_define,
    .invalid = sort_invalid,
    .plan = sort_plan,
    .traffic = problem_array_bytes,
    .random = problem_random_bits};
