// Descriptor of topk: kernels/primitives/topk.cu.
#include "base/integer.h"
#include "run/problem.h"

#include <string.h>

enum { COUNT_KERNEL, PASS_KERNEL };

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
    if (params->k > params->n)
        FAIL(CUBC_INVALID_ARGUMENT, "topk: there are no %llu of %llu keys",
             (unsigned long long)params->k, (unsigned long long)params->n);
    if (!params->values_in && params->value_bytes != 8)
        FAIL(CUBC_INVALID_TYPE, "topk gives indices as I64, of 8 bytes, not of %d",
             params->value_bytes);
    TRY(problem_real("the keys of topk", (cubc_type)out->type));
    TRY(problem_lazy_input(out, "the keys of topk", params->keys_in, params->n, params->type));
    TRY(problem_output(out, "the output of topk", params->keys_out, params->k,
                       (cubc_type)out->type));
    if (params->values_in)
        TRY(problem_value_input(out, "the values of topk", params->values_in, params->n,
                                params->value_bytes));
    TRY(problem_value_output(out, "the output of the values", params->values_out, params->k,
                             params->value_bytes));
    TRY(problem_overlap(out, INPUT_OF_SAME_NUMBER));
    if (out->in_place)
        FAIL(CUBC_INVALID_ARGUMENT, "topk reads its input more than once: no output may be there");
    return CUBC_OK;
}

enum { K_AXIS = 1 }; // among the run-time axes

static void topk_place(const problem *p, uint64_t *place)
{
    place[0] = p->n;
    place[K_AXIS] = p->outputs[0].n;
}

static cubc_status topk_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                 problem *out)
{
    uint64_t n = at[0];
    uint64_t k = smaller(n, at[K_AXIS]);
    (void)b;
    *out = (problem){.n = n,
                     .type = (uint8_t)type,
                     .acc_type = (uint8_t)type,
                     .inputs = {{.n = n, .type = (uint8_t)type}},
                     .input_count = 1,
                     .outputs = {{.n = k, .type = (uint8_t)type}, {.n = k, .type = CUBC_U64}},
                     .output_count = 2,
                     .descending = true,
                     .wide = n > UINT32_MAX,
                     .aligned = true};
    return CUBC_OK;
}

static void topk_define(const problem *p, text *out)
{
    problem_define_keys(p, out);
    problem_define_values(p, out);
    problem_define_input(p, 0, "TUNE_IN", out);
    text_printf(out, "#define TUNE_RADIX_BITS %d\n", radix_bits(p));
    text_printf(out, "#define TUNE_INDICES %d\n#define TUNE_OFFSET %s\n#define TUNE_ALIGNED %d\n",
                p->input_count < 2, p->wide ? "u64" : "u32", p->aligned);
}

static const char *topk_invalid(const problem *p, const char *kind, const space *s,
                                const variant *v)
{
    int key = (int)cubc_type_size((cubc_type)p->type);
    int histograms = 4 << radix_bits(p) << variant_value(s, v, "hc", 0);
    if (strcmp(kind, "cpu") != 0 && histograms > 64 * 1024)
        return "the histograms leave the multiprocessor no room for a second block";
    return problem_invalid(p, kind, s, v, key);
}

// ---- plans --------------------------------------------------------------------------------------
// Candidates that a buffer has room for: half of a sort's temporary storage is enough for all.
static uint64_t buffer_room(uint64_t n)
{
    return n < 1 << 20 ? n : n / 8;
}

enum { STATE_BYTES = 32, PASS = 6, ROOM, BINS, STATE, TILES, MESSAGES, BUFFERS, ARGS = 16 };

static cubc_status topk_plan(const problem *p, const instance *i, plan *out)
{
    const device_kernel *kernels = i->kernels;
    uint64_t n = p->n, k = p->outputs[0].n, key = cubc_type_size((cubc_type)p->type);
    uint64_t tile =
        (uint64_t)variant_value(&i->space, &i->variant, "ipt", 1) * kernels[PASS_KERNEL].threads;
    uint64_t digit = (uint64_t)radix_bits(p);
    uint64_t passes = (8 * key + digit - 1) / digit;
    uint64_t tiles = ceil_div(n, tile), message_words = 1 + (tiles << (1 + p->wide));
    uint64_t room = buffer_room(n), offset = p->wide ? 8 : 4;
    if (k == 0) return CUBC_OK;

    // The parts that are zero at first come before the buffers.
    uint64_t at[ARGS] = {0};
    at[STATE] = at[BINS] + ((passes * 8) << digit);
    at[TILES] = at[STATE] + passes * STATE_BYTES;
    at[MESSAGES] = at[TILES] + passes * 8;
    out->cleared_bytes = at[MESSAGES] + passes * message_words * 8;
    at[BUFFERS] = round_up(out->cleared_bytes, 256);
    at[BUFFERS + 1] = at[BUFFERS] + round_up(room * key, 256);
    at[BUFFERS + 2] = at[BUFFERS + 1] + round_up(room * key, 256);
    at[BUFFERS + 3] = at[BUFFERS + 2] + round_up(room * offset, 256);
    out->scratch_bytes = at[BUFFERS + 3] + room * offset;

    out->launch_count = 1 + (int)passes;
    for (int l = 0; l < out->launch_count; l++) {
        const device_kernel *kernel = &kernels[l ? PASS_KERNEL : COUNT_KERNEL];
        uint64_t grid = (uint64_t)i->device->info.units * (uint64_t)kernel->info.blocks_per_unit;
        if (grid < n >> 30) grid = n >> 30; // a block's counts have 32 bits
        if (grid > tiles) grid = tiles;
        launch *to = &out->launches[l];
        *to = (launch){.kernel = kernel,
                       .shape.grid = (unsigned)grid,
                       .args_count = ARGS,
                       .args = {0, (uintptr_t)p->outputs[0].data, (uintptr_t)p->inputs[1].data,
                                (uintptr_t)p->outputs[1].data, n, k}};
        to->args[PASS] = l ? (uint64_t)l - 1 : 0;
        to->args[ROOM] = room;
        for (int a = BINS; a < ARGS; a++) {
            to->args[a] = at[a];
            to->scratch_args |= 1u << a;
        }
        to->args[MESSAGES] += to->args[PASS] * message_words * 8;
        TRY(problem_place_input(p, 0, to, 0));
    }
    return CUBC_OK;
}

// The keys are read for their counts and to be selected from.
static double topk_traffic(const problem *p)
{
    return 2 * problem_input_bytes(p, 0) +
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
static const benchmark topk_benchmarks[] = {BENCHMARK_AT("topk.pairs", AXIS(kept))};

const algorithm topk_algorithm = {.name = "topk",
                                  .source = "topk.cu",
                                  .kernels = {"topk_count", "topk_pass"},
                                  .axes = {"Elements", "K"},
                                  .benchmarks = topk_benchmarks,
                                  .benchmark_count = COUNT_OF(topk_benchmarks),
                                  FIELDS(topk_fields),
                                  .workload = topk_workload,
                                  .place = topk_place,
                                  .define = topk_define,
                                  .invalid = topk_invalid,
                                  .plan = topk_plan,
                                  .traffic = topk_traffic,
                                  .random = problem_random_bits};
