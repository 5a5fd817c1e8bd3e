// Descriptor of scan: kernels/scan.cu.
#include "problem.h"

#include <stdio.h>
#include <string.h>

enum { ITEMS = 0, KEYS = 1 }; // places of the inputs

static bool by_key(const problem *p)
{
    return p->input_count > KEYS;
}

static void name_benchmark(problem *p)
{
    if (by_key(p)) { // one for all operators
        strcpy(p->benchmark, "scan.by_key");
        return;
    }
    snprintf(p->benchmark, sizeof p->benchmark, "scan.%s.%s",
             p->inclusive ? "inclusive" : "exclusive", p->op ? p->op->name : "custom");
}

// An exclusive scan begins with the operator's identity unless a value is given.
static cubc_status begin_exclusive(problem *p)
{
    if (p->inclusive || p->has_init) return CUBC_OK;
    if (!p->op || !p->op->identity)
        FAIL(CUBC_INVALID_ARGUMENT,
             "an exclusive scan with %s needs an initial value (init=): it has no identity",
             p->op ? p->op->name : "a user's operator");
    bool one = strcmp(p->op->identity, "1") == 0;
    p->has_init = true;
    p->init = one ? type_one((cubc_type)p->acc_type) : (type_value){0};
    return CUBC_OK;
}

cubc_status scan_problem(const cubc_scan_params *params, problem *out)
{
    *out = (problem){.algorithm = &scan_algorithm,
                     .n = params->n,
                     .type = (uint8_t)problem_input_type(params->in, params->type),
                     .acc_type = (uint8_t)params->acc_type,
                     .inclusive = params->inclusive != 0,
                     .aligned = true};
    TRY(problem_lazy_input(out, "the input of scan", params->in, params->n, params->type));
    if (params->keys)
        TRY(problem_input(out, "the keys of scan", params->keys, params->n, params->key_type));
    TRY(problem_output(out, "the output of scan", params->out, params->n, params->out_type));
    if (!type_valid(params->acc_type)) FAIL(CUBC_INVALID_TYPE, "unknown accumulator type");
    TRY(problem_overlap(out, INPUT_OF_SAME_NUMBER));
    TRY(problem_operator(out, "scan", params->op, params->init));
    if (out->op && out->op->arg)
        FAIL(CUBC_INVALID_ARGUMENT, "scan does not take %s; use min or max", params->op);
    name_benchmark(out);
    return begin_exclusive(out);
}

static cubc_status scan_workload(const benchmark *b, cubc_type type, uint64_t n, problem *out)
{
    bool keys = strcmp(b->name, "scan.by_key") == 0;
    *out = (problem){.op = operator_find(keys ? "sum" : strrchr(b->name, '.') + 1),
                     .n = n,
                     .type = (uint8_t)type,
                     .acc_type = (uint8_t)type_arithmetic(type),
                     .inputs = {{.n = n, .type = (uint8_t)type}, {.n = n, .type = (uint8_t)type}},
                     .input_count = keys ? 2 : 1,
                     .outputs[0] = {.n = n, .type = (uint8_t)type},
                     .output_count = 1,
                     .inclusive = keys || strncmp(b->name, "scan.inclusive", 14) == 0,
                     .aligned = true};
    return begin_exclusive(out);
}

static void scan_define(const problem *p, text *out)
{
    problem_define(p, out);
    problem_define_input(p, 0, "TUNE_IN", out);
    text_printf(out, "#define TUNE_INCLUSIVE %d\n", p->inclusive);
    if (by_key(p))
        text_printf(out, "#define TUNE_K %s\n", type_table[p->inputs[KEYS].type].dialect);
    // Memory that the kernel itself writes must not be read through the read-only path.
    if (p->in_place) text_puts(out, "#undef TUNE_LOAD\n#define TUNE_LOAD 0\n");
}

// sizeof(sum_t) of the kernel.
static uint64_t sum_bytes(const problem *p)
{
    cubc_type value = (cubc_type)p->acc_type;
    return by_key(p) ? (uint64_t)problem_bytes_with(value, 4) : cubc_type_size(value);
}

static const char *scan_invalid(const problem *p, const char *kind, const space *s,
                                const variant *v)
{
    return problem_invalid(p, kind, s, v, (int)sum_bytes(p));
}

static cubc_status scan_plan(const problem *p, const instance *i, plan *out)
{
    const device_kernel *kernel = &i->kernels[0];
    uint64_t tile = (uint64_t)variant_value(&i->space, &i->variant, "ipt", 1) * kernel->threads;
    uint64_t tiles = p->n / tile + (p->n % tile != 0);
    if (tiles > INT32_MAX)
        FAIL(CUBC_INVALID_ARGUMENT, "scan of %llu items needs more than 2^31 blocks",
             (unsigned long long)p->n);
    out->message_bytes = 8 * (1 + tiles * ((sum_bytes(p) + 3) / 4));
    out->launch_count = tiles > 0;
    out->launches[0] = (launch){
        .kernel = kernel,
        .shape.grid = (unsigned)tiles,
        .message_args = 1u << 4,
        .args_count = 5,
        .args = {0, (uintptr_t)p->inputs[KEYS].data, (uintptr_t)p->outputs[0].data, p->n, 0}};
    problem_append_init(p, &out->launches[0]);
    return problem_place_input(p, ITEMS, &out->launches[0], 0);
}

// Runs of eight, as in select.unique.
static const char *scan_random(const problem *p, int k)
{
    (void)p;
    return k == KEYS ? "random_u64(seed, i >> 3) >> 57" : NULL;
}

static const field scan_fields[] = {
    FIELD_ARRAY(cubc_scan_params, in, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_scan_params, keys, FIELD_INPUT, key_type, n),
    FIELD(cubc_scan_params, op, FIELD_TEXT),
    FIELD(cubc_scan_params, inclusive, FIELD_INT),
    FIELD(cubc_scan_params, acc_type, FIELD_TYPE),
    {"init", FIELD_VALUE, offsetof(cubc_scan_params, init), offsetof(cubc_scan_params, acc_type), 0,
     0},
    FIELD_ARRAY(cubc_scan_params, out, FIELD_OUTPUT, out_type, n),
};

#define BENCHMARK(name) {"scan." name, problem_all_types, PROBLEM_ALL_TYPES, problem_elements, 4}
static const benchmark scan_benchmarks[] = {BENCHMARK("exclusive.sum"), BENCHMARK("inclusive.sum"),
                                            BENCHMARK("inclusive.min"), BENCHMARK("inclusive.max"),
                                            BENCHMARK("by_key")};

const algorithm scan_algorithm = {.name = "scan",
                                  .source = "scan.cu",
                                  .kernels = {"scan_tiles"},
                                  .benchmarks = scan_benchmarks,
                                  .benchmark_count = COUNT_OF(scan_benchmarks),
                                  .fields = scan_fields,
                                  .field_count = COUNT_OF(scan_fields),
                                  .workload = scan_workload,
                                  .define = scan_define,
                                  .invalid = scan_invalid,
                                  .plan = scan_plan,
                                  .traffic = problem_array_bytes,
                                  .random = scan_random};
