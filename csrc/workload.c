// See workload.h. Inputs are filled and outputs compared by the library's own transform and reduce.
#include "workload.h"

#include <stdio.h>
#include <string.h>

struct workload {
    cubc_device *device;
    problem problem;
    void *inputs[MAX_OPERANDS];
    int input_count;
    void *out;
    void *expected;   // the base's output; NULL until the first verification
    void *difference; // one byte an output item
    uint64_t *count;  // of differences, on the device
    uint64_t outputs;
};

// ---- inputs -------------------------------------------------------------------------------------
static const char *input_expression(const problem *p, cubc_type type)
{
    bool product = p->op && strcmp(p->op->name, "prod") == 0;
    if (type_table[type].kind != KIND_FLOAT) return "random_u64(seed, i)";
    if (product) return "random_u64(seed, i) >> 63 ? 1 : -1";
    // Differences of two draws: their mean is 0, so that running sums stay exact.
    if (type_table[type].size == 2)
        return "static_cast<i32>(random_u64(seed, i) >> 61) - "
               "static_cast<i32>(random_u64(seed, i) >> 8 & 7)";
    return "static_cast<i32>(random_u64(seed, i) >> 57) - "
           "static_cast<i32>(random_u64(seed, i) >> 8 & 127)";
}

static cubc_status fill_random(workload *w, void *to, cubc_type type, uint64_t seed)
{
    cubc_operand seed_operand = {.name = "seed", .type = CUBC_U64, .data = &seed, .scalar = 1};
    cubc_transform_params params = {.out = to,
                                    .out_type = type,
                                    .n = w->problem.n,
                                    .expression = input_expression(&w->problem, type),
                                    .operands = &seed_operand,
                                    .operand_count = 1};
    return cubc_transform(w->device, &params, NULL, 0, NULL);
}

static cubc_status make_input(workload *w, cubc_type type, uint64_t seed, const void **out)
{
    void **input = &w->inputs[w->input_count];
    TRY(w->device->api->alloc(w->device, w->problem.n * cubc_type_size(type), NULL, input));
    w->input_count++;
    *out = *input;
    return fill_random(w, *input, type, seed + 0x1000000 * (uint64_t)w->input_count);
}

static cubc_status make_operands(workload *w, uint64_t seed)
{
    problem *p = &w->problem;
    if (p->operand_count == 0 && strcmp(p->algorithm->name, "transform") != 0)
        return make_input(w, (cubc_type)p->type, seed, &p->in);
    for (int k = 0; k < p->operand_count; k++)
        if (!p->operands[k].scalar)
            TRY(make_input(w, p->operands[k].type, seed, &p->operands[k].data));
    return CUBC_OK;
}

// ---- life ---------------------------------------------------------------------------------------
cubc_status workload_open(cubc_device *device, const char *name, cubc_type type, int log2_n,
                          uint64_t seed, workload **out)
{
    const algorithm *a;
    const benchmark *b;
    const device_api *api = device->api;
    *out = NULL;
    TRY(benchmark_find(name, &a, &b));
    if (log2_n < 0 || log2_n > 40)
        FAIL(CUBC_INVALID_ARGUMENT, "Elements{io}[pow2]=%d: expected an exponent of 0 to 40",
             log2_n);
    workload *w = mem_zalloc(1, sizeof *w);
    if (!w) return CUBC_NO_MEMORY;
    w->device = device;
    device_retain(device);
    cubc_status st;
    GUARD(st, a->workload(b, type, (uint64_t)1 << log2_n, &w->problem), failed);
    w->problem.algorithm = a;
    snprintf(w->problem.benchmark, sizeof w->problem.benchmark, "%s", b->name);
    w->outputs = a->one_output ? 1 : w->problem.n;
    size_t bytes = w->outputs * cubc_type_size((cubc_type)w->problem.out_type);
    GUARD(st, make_operands(w, seed), failed);
    GUARD(st, api->alloc(device, bytes, NULL, &w->out), failed);
    w->problem.out = w->out;
    GUARD(st, api->alloc(device, sizeof *w->count, NULL, (void **)&w->count), failed);
    GUARD(st, api->synchronize(device, NULL), failed);
    *out = w;
    return CUBC_OK;
failed:
    workload_close(w);
    return st;
}

void workload_close(workload *w)
{
    if (!w) return;
    const device_api *api = w->device->api;
    for (int k = 0; k < w->input_count; k++) api->free(w->device, w->inputs[k], NULL);
    api->free(w->device, w->out, NULL);
    api->free(w->device, w->expected, NULL);
    api->free(w->device, w->difference, NULL);
    api->free(w->device, w->count, NULL);
    device_release(w->device);
    mem_free(w);
}

cubc_device *workload_device(const workload *w)
{
    return w->device;
}

const problem *workload_problem(const workload *w)
{
    return &w->problem;
}

double workload_bytes(const workload *w)
{
    return w->problem.algorithm->traffic(&w->problem);
}

cubc_status workload_variant(workload *w, const char *label, instance **out)
{
    return instance_open(w->device, &w->problem, label, out);
}

cubc_status workload_queue(const workload *w, instance *i, void *stream)
{
    return instance_run(i, &w->problem, stream);
}

// ---- verification -------------------------------------------------------------------------------
static cubc_status run_poisoned(workload *w, instance *i, void *out)
{
    problem p = w->problem;
    size_t bytes = w->outputs * cubc_type_size((cubc_type)p.out_type);
    p.out = out;
    TRY(w->device->api->fill(w->device, out, 0xA5, bytes, NULL));
    TRY(instance_run(i, &p, NULL));
    return w->device->api->synchronize(w->device, NULL);
}

static cubc_status make_expected(workload *w)
{
    const device_api *api = w->device->api;
    size_t bytes = w->outputs * cubc_type_size((cubc_type)w->problem.out_type);
    instance *base = NULL;
    void *expected = NULL;
    cubc_status st;
    if (!w->difference) TRY(api->alloc(w->device, w->outputs, NULL, &w->difference));
    TRY(workload_variant(w, "base", &base));
    GUARD(st, api->alloc(w->device, bytes, NULL, &expected), done);
    GUARD(st, run_poisoned(w, base, expected), done);
    w->expected = expected;
    expected = NULL;
done:
    api->free(w->device, expected, NULL);
    instance_close(base);
    return st;
}

// The bytes of the outputs are compared, as unsigned numbers of the same size.
static cubc_status count_differences(workload *w, uint64_t *count)
{
    static const cubc_type by_size[] = {
        [1] = CUBC_U8, [2] = CUBC_U16, [4] = CUBC_U32, [8] = CUBC_U64};
    cubc_type type = by_size[cubc_type_size((cubc_type)w->problem.out_type)];
    cubc_operand operands[2] = {{.name = "x", .type = type, .data = w->out},
                                {.name = "y", .type = type, .data = w->expected}};
    cubc_transform_params differ = {.out = w->difference,
                                    .out_type = CUBC_U8,
                                    .n = w->outputs,
                                    .expression = "x != y",
                                    .operands = operands,
                                    .operand_count = 2};
    cubc_reduce_params sum = {.in = w->difference,
                              .out = w->count,
                              .n = w->outputs,
                              .type = CUBC_U8,
                              .acc_type = CUBC_U64,
                              .out_type = CUBC_U64,
                              .op = "sum"};
    TRY(cubc_transform(w->device, &differ, NULL, 0, NULL));
    TRY(cubc_reduce(w->device, &sum, NULL, 0, NULL));
    TRY(w->device->api->copy(w->device, count, w->count, sizeof *count, NULL));
    return w->device->api->synchronize(w->device, NULL);
}

cubc_status workload_verify(workload *w, instance *i, uint64_t *wrong)
{
    if (!w->expected) TRY(make_expected(w));
    TRY(run_poisoned(w, i, w->out));
    return count_differences(w, wrong);
}
