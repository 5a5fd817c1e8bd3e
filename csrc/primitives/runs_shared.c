// The part that runs.c and deterministic_scan.c share: see runs_shared.h.
#include "primitives/runs_shared.h"

static const char offsets_name[] = "offsets"; // by which runs.c tells them from keys

// Policies go by the larger of key and value.
static void choose_type(problem *p)
{
    const operand *keys = &p->inputs[RUNS_KEYS], *values = &p->inputs[RUNS_VALUES];
    bool larger =
        p->input_count > RUNS_VALUES && operand_item_bytes(values) > operand_item_bytes(keys);
    p->type = larger ? values->type : keys->type;
}

static cubc_status add_reduction(const cubc_runs_params *params, problem *p)
{
    TRY(problem_lazy_input(p, "the values of runs", params->values, params->n, params->value_type));
    TRY(problem_output(p, "the output of runs", params->out, params->n, params->out_type));
    if (!type_valid(params->acc_type))
        FAIL(CUBC_INVALID_TYPE, "acc_type is %d: expected a cubc_type such as CUBC_F32",
             (int)params->acc_type);
    p->type = p->inputs[RUNS_VALUES].type; // for now: of what is reduced
    TRY(problem_operator(p, "a reduction by key", params->op, NULL));
    if (p->op && p->op->arg)
        FAIL(CUBC_INVALID_ARGUMENT, "a reduction by key does not take %s; use min or max",
             params->op);
    return CUBC_OK;
}

static cubc_status add_first_values(const cubc_runs_params *params, problem *p)
{
    cubc_type type;
    uint8_t width;
    if (params->value_type == CUBC_LAZY)
        FAIL(CUBC_INVALID_TYPE, "values that runs keeps cannot be lazy: evaluate them by "
                                "cubc_transform before");
    if (!problem_opaque(params->value_bytes, &type, &width))
        FAIL(CUBC_INVALID_TYPE, "runs keeps values of 1, 2, 4, 8 or 16 bytes, not of %d",
             params->value_bytes);
    TRY(problem_input(p, "the values of runs", params->values, params->n, type));
    TRY(problem_output(p, "the output of runs", params->out, params->n, type));
    p->inputs[RUNS_VALUES].width = p->outputs[RUNS_RESULTS].width = width;
    return CUBC_OK;
}

static cubc_status add_lengths(const cubc_runs_params *params, uint64_t most, problem *p)
{
    cubc_type type = params->out_type;
    TRY(problem_output(p, "the lengths of runs", params->out, most, type));
    if (type != CUBC_I32 && type != CUBC_I64)
        FAIL(CUBC_INVALID_TYPE, "the lengths of runs are I64 or I32, not %s", cubc_type_name(type));
    return CUBC_OK;
}

static cubc_status check(const cubc_runs_params *params)
{
    if (params->op && params->n && !params->values)
        FAIL(CUBC_INVALID_ARGUMENT, "runs reduces values, and there are none: give values");
    if (params->offsets && (params->keys_out || params->values || params->op))
        FAIL(CUBC_INVALID_ARGUMENT,
             "runs gives offsets and lengths alone: leave out keys_out, values and op");
    return CUBC_OK;
}

cubc_status runs_operands(const cubc_runs_params *params, const algorithm *a, problem *out)
{
    *out = (problem){.algorithm = a,
                     .n = params->n,
                     .acc_type = (uint8_t)(params->op ? params->acc_type : CUBC_I64),
                     .wide = params->n >= UINT32_MAX, // one item more is counted
                     .aligned = true};
    TRY(check(params));
    TRY(problem_take_equal(out, params->equal));
    uint64_t most = params->offsets ? params->n / 2 : params->n;
    TRY(problem_lazy_input(out, "the keys of runs", params->keys, params->n, params->type));
    if (params->offsets) {
        TRY(problem_output(out, "the offsets of runs", params->offsets, most, CUBC_I64));
        out->outputs[RUNS_HEADS].name = offsets_name;
    } else
        TRY(problem_output(out, "the output of keys", params->keys_out, most,
                           (cubc_type)out->inputs[RUNS_KEYS].type));
    if (params->op)
        TRY(add_reduction(params, out));
    else if (params->values)
        TRY(add_first_values(params, out));
    else
        TRY(add_lengths(params, most, out));
    TRY(problem_output(out, "the count of runs", params->count, 1, CUBC_I64));
    choose_type(out);
    TRY(problem_check_overlap(out, INPUT_OF_SAME_NUMBER));
    // A tile looks at the item before it, which the tile before may have written by then.
    if (out->in_place && out->lazy_count)
        FAIL(CUBC_INVALID_ARGUMENT,
             "an output of runs is an operand of a lazy input: they must be apart");
    return CUBC_OK;
}

cubc_runs_params runs_call(const benchmark *b, cubc_type type, const uint64_t *at)
{
    cubc_runs_params call = *(const cubc_runs_params *)b->call;
    call.n = at[0];
    call.type = call.value_type = type;
    call.value_bytes = (int)cubc_type_size(type);
    call.out_type = CUBC_I64;
    if (call.op)
        operator_types(operator_find(call.op), type, true, NULL, &call.acc_type, &call.out_type);
    return call;
}
