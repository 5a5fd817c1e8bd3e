// Workloads: see workload.h. The library's own transform and reduce fill inputs and compare
// outputs.
#include "measure/workload.h"

#include "run/keys.h"
#include "run/problem.h"
#include "run/run.h"

#include <stdio.h>
#include <string.h>

struct workload {
    cubc_device *device;
    uint64_t at[POLICY_AXES]; // values of the run-time axes
    uint64_t keys[KEY_AXES];
    problem problem;
    void *expected[MAX_OUTPUTS]; // the base's outputs
    bool verified;               // these are there
    void *difference;            // one byte for each number that outputs are compared by
    uint64_t *count;             // of differences, on the device
};

// ---- inputs -------------------------------------------------------------------------------------
// Inputs first, then the operands of lazy ones.
static int array_count(const problem *p)
{
    return p->input_count + p->operand_count;
}

static operand *array_at(problem *p, int k)
{
    return k < p->input_count ? &p->inputs[k] : &p->operands[k - p->input_count];
}

static const char *input_expression(problem *p, int k)
{
    cubc_type type = (cubc_type)array_at(p, k)->type;
    bool has_own = p->algorithm->random && k < p->input_count;
    const char *own = has_own ? p->algorithm->random(p, k) : NULL;
    if (own) return own;
    // Factors stay small.
    bool product = p->op && (k >= p->input_count || strcmp(p->op->name, "prod") == 0);
    if (type_table[type].kind < KIND_FLOAT) return "random_u64(seed, i)";
    if (product) return "random_u64(seed, i) >> 63 ? 1 : -1";
    // Differences of two draws: their mean is 0, so that running sums stay exact.
    if (type_table[type].size == 2)
        return "static_cast<i32>(random_u64(seed, i) >> 61) - "
               "static_cast<i32>(random_u64(seed, i) >> 8 & 7)";
    return "static_cast<i32>(random_u64(seed, i) >> 57) - "
           "static_cast<i32>(random_u64(seed, i) >> 8 & 127)";
}

static uint64_t value_count(const operand *o)
{
    return o->n * (o->width ? o->width : 1);
}

static bool has_given_keys(const workload *w, int k)
{
    static const uint64_t none[KEY_AXES];
    return k == w->problem.algorithm->keys - 1 && memcmp(w->keys, none, sizeof none) != 0;
}

static cubc_status fill_keys(const workload *w, const operand *input, uint64_t seed)
{
    keys_made made;
    keys_make(w->keys, (cubc_type)input->type, input->n, seed, &made);
    const cubc_transform_params params = {.out = input->data,
                                          .out_type = (cubc_type)input->type,
                                          .n = input->n,
                                          .expression = made.expression,
                                          .operands = made.operands,
                                          .operand_count = made.count};
    return cubc_transform(w->device, &params, NULL, 0, NULL);
}

static cubc_status fill_random(workload *w, int k, uint64_t seed)
{
    const operand *input = array_at(&w->problem, k);
    if (has_given_keys(w, k)) return fill_keys(w, input, seed);
    const char *expression = input_expression(&w->problem, k);
    const char *const *axes = algorithm_axes(w->problem.algorithm);
    cubc_operand operands[1 + POLICY_AXES] = {
        {.name = "seed", .type = CUBC_U64, .data = &seed, .scalar = 1}};
    int count = 1;
    for (int a = 0; axes[a]; a++) // those that the expression uses, as transform asks for
        if (strstr(expression, axes[a]))
            operands[count++] =
                (cubc_operand){.name = axes[a], .type = CUBC_U64, .data = &w->at[a], .scalar = 1};
    cubc_transform_params params = {.out = input->data,
                                    .out_type = (cubc_type)input->type,
                                    .n = value_count(input),
                                    .expression = expression,
                                    .operands = operands,
                                    .operand_count = count};
    TRY(cubc_transform(w->device, &params, NULL, 0, NULL));
    cubc_sort_params in_place = {.keys_in = input->data,
                                 .keys_out = input->data,
                                 .n = input->n,
                                 .type = (cubc_type)input->type};
    return input->sorted ? cubc_sort(w->device, &in_place, NULL, 0, NULL) : CUBC_OK;
}

static cubc_status allocate(workload *w, operand *o, void **out)
{
    return w->device->api->alloc(w->device, o->n * operand_item_bytes(o), NULL, out);
}

static cubc_status make_arrays(workload *w, uint64_t seed)
{
    problem *p = &w->problem;
    for (int k = 0; k < array_count(p); k++) {
        operand *input = array_at(p, k);
        if (input->lazy) continue;
        TRY(allocate(w, input, &input->data));
        TRY(fill_random(w, k, seed + 0x1000000 * (uint64_t)(k + 1)));
    }
    uint64_t longest = 0;
    for (int k = 0; k < p->output_count; k++) {
        TRY(allocate(w, &p->outputs[k], &p->outputs[k].data));
        const operand *o = &p->outputs[k];
        uint64_t compared = o->n * operand_item_bytes(o) / type_table[o->type].alignment;
        if (compared > longest) longest = compared;
    }
    TRY(w->device->api->alloc(w->device, longest, NULL, &w->difference));
    return w->device->api->alloc(w->device, sizeof *w->count, NULL, (void **)&w->count);
}

// ---- life ---------------------------------------------------------------------------------------
// A benchmark's arrays have no memory yet.
static void forget_places(problem *p)
{
    for (int k = 0; k < array_count(p); k++) array_at(p, k)->data = NULL;
    for (int k = 0; k < p->output_count; k++) p->outputs[k].data = NULL;
}

cubc_status workload_problem_at(const char *name, cubc_type type, const uint64_t *at, problem *out)
{
    static const uint64_t most = (uint64_t)1 << 40;
    const algorithm *a;
    const benchmark *b;
    TRY(benchmark_find(name, &a, &b));
    for (int k = 0; k < POLICY_AXES; k++)
        if (b->axes[k].count && (at[k] < 1 || at[k] > most))
            FAIL(CUBC_INVALID_ARGUMENT, "%s: %s is %llu; expected 1 to 2^40", name,
                 algorithm_axes(a)[k], (unsigned long long)at[k]);
    cubc_status st = a->workload(b, type, at, out);
    forget_places(out); // of one that is refused, too, which is closed
    TRY(st);
    if (strcmp(out->benchmark, b->name) != 0)
        FAIL(CUBC_INTERNAL, "the calls of %s are those that %s stands for", b->name,
             out->benchmark);
    return CUBC_OK;
}

cubc_status workload_open(cubc_device *device, const char *name, cubc_type type, const uint64_t *at,
                          const uint64_t *keys, uint64_t seed, workload **out)
{
    const device_api *api = device->api;
    *out = NULL;
    workload *w = mem_zalloc(1, sizeof *w);
    if (!w) return CUBC_NO_MEMORY;
    w->device = device;
    device_retain(device);
    cubc_status st;
    memcpy(w->at, at, sizeof w->at);
    if (keys) memcpy(w->keys, keys, sizeof w->keys);
    GUARD(st, workload_problem_at(name, type, at, &w->problem), failed);
    GUARD(st, make_arrays(w, seed), failed);
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
    problem *p = &w->problem;
    for (int k = 0; k < array_count(p); k++) api->free(w->device, array_at(p, k)->data, NULL);
    for (int k = 0; k < p->output_count; k++) {
        api->free(w->device, p->outputs[k].data, NULL);
        api->free(w->device, w->expected[k], NULL);
    }
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

double workload_flops(const workload *w)
{
    const algorithm *a = w->problem.algorithm;
    return a->flops ? a->flops(&w->problem) : 0;
}

cubc_status workload_variant(workload *w, const char *label, instance **out)
{
    return instance_open(w->device, &w->problem, label, out);
}

cubc_status workload_queue(const workload *w, instance *i, void *stream)
{
    return run_instance(i, &w->problem, stream);
}

// ---- verification -------------------------------------------------------------------------------
static cubc_status poison(const workload *w, const problem *p)
{
    for (int k = 0; k < p->output_count; k++) {
        const operand *o = &p->outputs[k];
        TRY(w->device->api->fill(w->device, o->data, 0xA5, o->n * operand_item_bytes(o), NULL));
    }
    return CUBC_OK;
}

static cubc_status run_poisoned(workload *w, instance *i, const problem *p)
{
    TRY(poison(w, p));
    TRY(run_instance(i, p, NULL));
    return w->device->api->synchronize(w->device, NULL);
}

// Puts outputs in the order in which they are compared.
static cubc_status arrange(const workload *w, const problem *p)
{
    return p->algorithm->arrange ? p->algorithm->arrange(w->device, p) : CUBC_OK;
}

static cubc_status make_expected(workload *w)
{
    instance *base = NULL;
    problem p = w->problem;
    cubc_status st;
    TRY(workload_variant(w, "base", &base));
    for (int k = 0; k < p.output_count; k++) {
        if (!w->expected[k]) GUARD(st, allocate(w, &p.outputs[k], &w->expected[k]), done);
        p.outputs[k].data = w->expected[k];
    }
    GUARD(st, run_poisoned(w, base, &p), done);
    st = arrange(w, &p);
    w->verified = st == CUBC_OK;
done:
    instance_close(base);
    return st;
}

// The bytes of an output are compared, as unsigned numbers of the same alignment.
static cubc_status count_differences(workload *w, int k, uint64_t *count)
{
    const operand *o = &w->problem.outputs[k];
    cubc_type type = type_unsigned(type_table[o->type].alignment);
    uint64_t n = o->n * operand_item_bytes(o) / type_table[o->type].alignment;
    cubc_operand operands[2] = {{.name = "x", .type = type, .data = o->data},
                                {.name = "y", .type = type, .data = w->expected[k]}};
    cubc_transform_params differ = {.out = w->difference,
                                    .out_type = CUBC_U8,
                                    .n = n,
                                    .expression = "x != y",
                                    .operands = operands,
                                    .operand_count = 2};
    cubc_reduce_params sum = {.in = w->difference,
                              .out = w->count,
                              .n = n,
                              .type = CUBC_U8,
                              .acc_type = CUBC_U64,
                              .out_type = CUBC_U64,
                              .op = "sum"};
    TRY(cubc_transform(w->device, &differ, NULL, 0, NULL));
    TRY(cubc_reduce(w->device, &sum, NULL, 0, NULL));
    TRY(w->device->api->copy(w->device, count, w->count, sizeof *count, NULL));
    return w->device->api->synchronize(w->device, NULL);
}

cubc_status workload_poison(workload *w)
{
    if (!w->verified) TRY(make_expected(w));
    return poison(w, &w->problem);
}

cubc_status workload_compare(workload *w, uint64_t *wrong)
{
    *wrong = 0;
    if (!w->verified) TRY(make_expected(w));
    TRY(arrange(w, &w->problem));
    for (int k = 0; k < w->problem.output_count; k++) {
        uint64_t count;
        TRY(count_differences(w, k, &count));
        *wrong += count;
    }
    return CUBC_OK;
}

cubc_status workload_verify(workload *w, instance *i, uint64_t *wrong)
{
    TRY(workload_poison(w));
    TRY(run_instance(i, &w->problem, NULL));
    TRY(w->device->api->synchronize(w->device, NULL));
    return workload_compare(w, wrong);
}
