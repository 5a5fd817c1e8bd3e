// The part that scans share: see scan_shared.h.
#include "primitives/scan_shared.h"
#include "base/integer.h"

#include <string.h>

enum { ITEMS = SCAN_ITEMS, KEYS = SCAN_KEYS, OFFSETS = SCAN_KEYS }; // places of the inputs

typedef struct scan_traits {
    scan_kind kind;
} scan_traits;

typedef struct scan_numbers {
    uint64_t segments;
} scan_numbers;

PROBLEM_TRAITS(scan_traits);
PROBLEM_NUMBERS(scan_numbers);

scan_kind scan_kind_of(const problem *p)
{
    return scan_traits_of(p).kind;
}

bool scan_in_segments(const problem *p)
{
    return scan_kind_of(p) >= SCAN_BY_OFFSETS;
}

uint64_t scan_segments(const problem *p)
{
    return scan_numbers_of(p).segments;
}

// The input that has the offsets; -1 without them.
static int offsets_of(const problem *p)
{
    return scan_kind_of(p) == SCAN_BY_OFFSETS ? OFFSETS : -1;
}

void scan_set_kind(problem *p, scan_kind kind)
{
    scan_traits_set(p, (scan_traits){kind});
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

static cubc_status add_offsets(const cubc_scan_params *params, problem *p)
{
    scan_set_kind(p, SCAN_BY_OFFSETS);
    return problem_offsets(p, "the offsets of scan", params->offsets, params->segments,
                           params->offset_type);
}

// Adds the keys or offsets at which the scan begins anew.
static cubc_status add_runs(const cubc_scan_params *params, problem *p)
{
    bool segments = params->offsets || params->segments;
    if (segments && params->keys)
        FAIL(CUBC_INVALID_ARGUMENT, "scan takes keys or segments, not both");
    scan_numbers_set(p, (scan_numbers){params->segments});
    if (params->offsets) return add_offsets(params, p);
    if (segments) {
        TRY(problem_equal_segments("scan", params->n, params->segments));
        scan_set_kind(p, SCAN_OF_EQUAL_SIZE);
    }
    if (params->equal && !params->keys)
        FAIL(CUBC_INVALID_ARGUMENT,
             "scan takes an equality of keys, and there are none: give keys");
    if (!params->keys) return CUBC_OK;
    scan_set_kind(p, SCAN_BY_KEY);
    TRY(problem_take_equal(p, params->equal));
    return problem_input(p, "the keys of scan", params->keys, params->n, params->key_type);
}

cubc_status scan_operands(const cubc_scan_params *params, const algorithm *a, problem *out)
{
    *out = (problem){.algorithm = a,
                     .n = params->n,
                     .type = (uint8_t)problem_input_type(params->in, params->type),
                     .acc_type = (uint8_t)params->acc_type,
                     .inclusive = params->inclusive != 0,
                     .aligned = true};
    TRY(problem_lazy_input(out, "the input of scan", params->in, params->n, params->type));
    TRY(add_runs(params, out));
    TRY(problem_output(out, "the output of scan", params->out, params->n, params->out_type));
    if (!type_valid(params->acc_type))
        FAIL(CUBC_INVALID_TYPE, "acc_type is %d: expected a cubc_type such as CUBC_F32",
             (int)params->acc_type);
    TRY(problem_check_overlap(out, INPUT_OF_SAME_NUMBER));
    TRY(problem_operator(out, "scan", params->op, params->init_in_memory ? NULL : params->init));
    if (out->op && out->op->arg)
        FAIL(CUBC_INVALID_ARGUMENT, "scan does not take %s; use min or max", params->op);
    if (params->init && params->init_in_memory)
        TRY(problem_init_in_memory(out, "scan", params->acc_type, params->init));
    return begin_exclusive(out);
}

void scan_axis_values(const problem *p, uint64_t *values)
{
    uint64_t count = scan_segments(p);
    values[0] = p->n;
    values[SEGMENT_SIZE] = count ? p->n / count : 0;
}

cubc_scan_params scan_call(const benchmark *b, cubc_type type, const uint64_t *at)
{
    cubc_scan_params call = *(const cubc_scan_params *)b->call;
    call.n = at[0];
    call.type = call.key_type = type;
    if (call.offsets) call.segments = call.n / smaller(call.n, at[SEGMENT_SIZE]);
    operator_types(operator_find(call.op), type, false, NULL, &call.acc_type, &call.out_type);
    return call;
}

void scan_define(const problem *p, text *out)
{
    problem_define(p, out);
    problem_define_input(p, 0, "TUNE_IN", out);
    text_printf(out, "#define TUNE_INCLUSIVE %d\n#define TUNE_IN_PLACE %d\n", p->inclusive,
                p->in_place);
    if (scan_kind_of(p) == SCAN_BY_KEY)
        text_printf(out, "#define TUNE_K %s\n", type_table[p->inputs[KEYS].type].dialect);
    problem_define_equal(p, out);
    if (scan_in_segments(p)) problem_define_offsets(p, offsets_of(p), out);
    problem_define_plain_loads(p, out);
}

uint64_t scan_sum_bytes(const problem *p)
{
    cubc_type value = (cubc_type)p->acc_type;
    if (scan_kind_of(p) == SCAN_WHOLE) return cubc_type_size(value);
    return (uint64_t)problem_pair_bytes(value, p->wide ? 8 : 4);
}

cubc_status scan_launch(const problem *p, const device_kernel *kernel, uint64_t tiles,
                        uint64_t slots, plan *out)
{
    enum { IN, RUNS, BEHIND_RUNS }; // then as many as the problem has, counted as they are added
    TRY(problem_check_blocks(p, tiles));
    out->message_bytes = 8 * (1 + slots * ceil_div(scan_sum_bytes(p), 4));
    out->launch_count = tiles > 0;
    launch *l = &out->launches[0];
    *l = (launch){.kernel = kernel,
                  .shape.grid = (unsigned)tiles,
                  .args_count = BEHIND_RUNS,
                  .args = {[RUNS] = (uintptr_t)p->inputs[KEYS].data}};
    if (scan_in_segments(p)) { // arguments of segments.h behind the offsets
        uint64_t count = scan_segments(p);
        launch_add(l, count ? p->n / count : 0);
        launch_add(l, count);
        launch_add(l, p->n);
    }
    for (int k = 0; k < p->output_count; k++) launch_add(l, (uintptr_t)p->outputs[k].data);
    launch_add(l, p->n);
    l->message_args = 1u << l->args_count++;
    problem_append_init(p, l);
    if (scan_kind_of(p) == SCAN_BY_KEY) TRY(problem_place_input(p, KEYS, l, RUNS));
    if (scan_in_segments(p)) TRY(problem_place_input(p, offsets_of(p), l, RUNS));
    return problem_place_input(p, ITEMS, l, IN);
}

// Runs of eight, as in select.unique; segments of 1 to about twice the mean length.
const char *scan_random(const problem *p, int k)
{
    if (k != KEYS) return NULL;
    return scan_in_segments(p) ? problem_random_offsets : "random_u64(seed, i >> 3) >> 57";
}
