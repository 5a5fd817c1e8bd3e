// Descriptor of copy_batch: kernels/primitives/copy_batch.cu.
#include "base/integer.h"
#include "run/instance.h"
#include "run/problem.h"

#include <string.h>

enum { FROM = 0, TO = 1, ENDS = 2, ITEMS = 3 }; // places of the inputs

typedef struct copy_batch_numbers {
    uint64_t bytes; // of all copies
} copy_batch_numbers;

PROBLEM_NUMBERS(copy_batch_numbers);

// Places are bytes in arrays, or addresses of the device where there are no arrays.
static cubc_status add_arrays(const cubc_copy_batch_params *params, problem *p)
{
    if (!params->in != !params->out)
        FAIL(CUBC_INVALID_ARGUMENT,
             "copy_batch takes an input and an output, or neither and addresses instead");
    if (!params->in) return CUBC_OK;
    TRY(problem_input(p, "the input of copy_batch", params->in, params->n, params->type));
    return problem_output(p, "the output of copy_batch", params->out, params->n, params->type);
}

cubc_status copy_batch_problem(const cubc_copy_batch_params *params, problem *out)
{
    *out = (problem){.algorithm = &copy_batch_algorithm,
                     .n = params->count,
                     .type = CUBC_U8,
                     .acc_type = CUBC_U8};
    uint64_t count = params->count;
    copy_batch_numbers_set(out, (copy_batch_numbers){params->bytes});
    TRY(problem_input(out, "the sources of copy_batch", params->from, count, CUBC_I64));
    TRY(problem_input(out, "the destinations of copy_batch", params->to, count, CUBC_I64));
    TRY(problem_input(out, "the ends of copy_batch", params->ends, count, CUBC_I64));
    TRY(add_arrays(params, out));
    TRY(problem_check_overlap(out, ANY_INPUT));
    if (out->in_place)
        FAIL(CUBC_INVALID_ARGUMENT, "copy_batch: the output must be apart from all inputs");
    strcpy(out->benchmark, "copy_batch.buffers");
    out->aligned = true; // the kernel looks for itself
    return CUBC_OK;
}

enum { BUFFER_SIZE = 1 }; // among the run-time axes: the mean, in bytes

static void copy_batch_axis_values(const problem *p, uint64_t *values)
{
    uint64_t bytes = copy_batch_numbers_of(p).bytes;
    values[0] = bytes;
    values[BUFFER_SIZE] = p->n ? bytes / p->n : 0;
}

// Each copy to its own place, in the order of the sources. The last may be shorter.
static const char *copy_batch_random(const problem *p, int k)
{
    if (k == ITEMS) return NULL;
    (void)p;
    return k == ENDS ? "(i + 1) * BufferSize + 0 * seed" : "i * BufferSize + 0 * seed";
}

static cubc_status copy_batch_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                       problem *out)
{
    cubc_copy_batch_params call = *(const cubc_copy_batch_params *)b->call;
    call.n = at[0];
    call.type = type;
    call.bytes = call.n * cubc_type_size(type);
    call.count = ceil_div(call.bytes, at[BUFFER_SIZE]);
    return copy_batch_problem(&call, out);
}

static void copy_batch_define(const problem *p, text *out)
{
    text_printf(out, "#define TUNE_ALIGNED %d\n", p->aligned);
}

static const char *copy_batch_invalid(const problem *p, const char *kind, const space *s,
                                      const variant *v)
{
    (void)p, (void)kind, (void)s, (void)v;
    return NULL;
}

static cubc_status copy_batch_plan(const problem *p, const instance *i, plan *out)
{
    enum { IN, OUT, FROM_ARG, TO_ARG, ENDS_ARG, COUNT, BYTES, ARGS };
    const device_kernel *kernel = &i->kernels[0];
    uint64_t bytes = copy_batch_numbers_of(p).bytes;
    uint64_t tile = 16 * instance_tile(i, kernel);
    uint64_t tiles = ceil_div(bytes, tile);
    if (tiles > INT32_MAX)
        FAIL(CUBC_INVALID_ARGUMENT, "copy_batch of %llu bytes needs more than 2^31 blocks",
             (unsigned long long)bytes);
    bool arrays = p->input_count > ITEMS;
    out->launch_count = p->n && tiles;
    out->launches[0] = (launch){.kernel = kernel,
                                .shape.grid = (unsigned)tiles,
                                .args_count = ARGS,
                                .args = {[IN] = arrays ? (uintptr_t)p->inputs[ITEMS].data : 0,
                                         [OUT] = arrays ? (uintptr_t)p->outputs[0].data : 0,
                                         [FROM_ARG] = (uintptr_t)p->inputs[FROM].data,
                                         [TO_ARG] = (uintptr_t)p->inputs[TO].data,
                                         [ENDS_ARG] = (uintptr_t)p->inputs[ENDS].data,
                                         [COUNT] = p->n,
                                         [BYTES] = bytes}};
    return CUBC_OK;
}

static double copy_batch_traffic(const problem *p)
{
    return 2 * (double)copy_batch_numbers_of(p).bytes + 24 * (double)p->n;
}

static const field copy_batch_fields[] = {
    FIELD_UNTYPED(cubc_copy_batch_params, from, FIELD_INPUT, count),
    FIELD_UNTYPED(cubc_copy_batch_params, to, FIELD_INPUT, count),
    FIELD_UNTYPED(cubc_copy_batch_params, ends, FIELD_INPUT, count),
    FIELD_ARRAY(cubc_copy_batch_params, in, FIELD_INPUT, type, n),
    FIELD(cubc_copy_batch_params, bytes, FIELD_COUNT),
    FIELD_ARRAY(cubc_copy_batch_params, out, FIELD_CHANGED, type, n),
};

static const int sizes[] = {64, 65536};
static const cubc_copy_batch_params one_array = {.in = BENCHMARK_ARRAY(0),
                                                 .out = BENCHMARK_ARRAY(1),
                                                 .from = BENCHMARK_ARRAY(2),
                                                 .to = BENCHMARK_ARRAY(3),
                                                 .ends = BENCHMARK_ARRAY(4)};
static const cubc_type bytes_only[] = {CUBC_U8};
static const benchmark copy_batch_benchmarks[] = {{.name = "copy_batch.buffers",
                                                   .types = bytes_only,
                                                   .type_count = COUNT_OF(bytes_only),
                                                   .axes = {AXIS(problem_elements), AXIS(sizes)},
                                                   .call = &one_array}};

const algorithm copy_batch_algorithm = {.name = "copy_batch",
                                        .source = "copy_batch.cu",
                                        .kernels = {"copy_batch_tiles"},
                                        .axes = {"Elements", "BufferSize"},
                                        .benchmarks = copy_batch_benchmarks,
                                        .benchmark_count = COUNT_OF(copy_batch_benchmarks),
                                        .fields = copy_batch_fields,
                                        .field_count = COUNT_OF(copy_batch_fields),
                                        .workload = copy_batch_workload,
                                        .axis_values = copy_batch_axis_values,
                                        .define = copy_batch_define,
                                        .invalid = copy_batch_invalid,
                                        .plan = copy_batch_plan,
                                        .traffic = copy_batch_traffic,
                                        .random = copy_batch_random};
