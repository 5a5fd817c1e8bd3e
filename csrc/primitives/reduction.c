// The part of a reduction's problem that all their descriptors share: see reduction.h.
#include "primitives/reduction.h"

#include "base/integer.h"

// Comes after the arrays, whose types it looks at.
static cubc_status add_operator(const reduction *r, problem *p)
{
    if (!type_valid(r->acc_type))
        FAIL(CUBC_INVALID_TYPE, "acc_type is %d: expected a cubc_type such as CUBC_F32",
             (int)r->acc_type);
    TRY(problem_operator(p, r->call, r->op, r->init_in_memory ? NULL : r->init));
    if (r->init && r->init_in_memory) TRY(problem_init_in_memory(p, r->call, r->acc_type, r->init));
    p->commutative = p->op || r->commutative;
    // The value for no items: a kernel that starts with its own identity need not look for it.
    if (p->n == 0 && p->op && p->op->float_mask) p->has_init = true;
    if (!p->op || !p->op->arg) return CUBC_OK;
    if (p->outputs[0].type != CUBC_I64)
        FAIL(CUBC_INVALID_TYPE, "%s gives an index: its output must be I64, not %s", r->op,
             cubc_type_name((cubc_type)p->outputs[0].type));
    p->acc_type = (uint8_t)type_arithmetic((cubc_type)p->type);
    return CUBC_OK;
}

// Segments may be empty where there are offsets, which the host does not see.
static cubc_status check_empty(const reduction *r, const problem *p)
{
    bool may_be = r->offsets || (p->n == 0 && p->outputs[0].n > 0);
    if (!may_be || p->has_init || (p->op && (p->op->identity || r->offsets))) return CUBC_OK;
    bool index = p->op && p->op->arg; // which takes no initial value
    FAIL(CUBC_INVALID_ARGUMENT, "%s of no items has no value%s; %sat least one item%s",
         p->op ? p->op->name : "a user's operator", r->offsets ? ", and segments may be empty" : "",
         index ? "" : "give an initial value (init=) or ", index ? " is needed" : "");
}

cubc_status reduction_operands(const reduction *r, const algorithm *a, problem *out)
{
    *out = (problem){.algorithm = a,
                     .n = r->n,
                     .type = (uint8_t)problem_input_type(r->in, r->type),
                     .acc_type = (uint8_t)r->acc_type,
                     .aligned = true};
    TRY(problem_lazy_input(out, r->input, r->in, r->n, r->type));
    const char *offsets = "the offsets of segmented_reduce";
    if (r->ends) {
        TRY(problem_ends(out, offsets, r->offsets, r->outer, r->offset_type));
        TRY(problem_ends(out, "the ends of segmented_reduce", r->ends, r->outer, r->end_type));
    } else if (r->offsets)
        TRY(problem_offsets(out, offsets, r->offsets, r->outer, r->offset_type));
    TRY(problem_output(out, r->output, r->out, r->outer * r->columns, r->out_type));
    // One result is written when all items have been read.
    if (r->shape != REDUCTION_WHOLE) TRY(problem_check_overlap(out, ANY_INPUT));
    if (out->in_place)
        FAIL(CUBC_INVALID_ARGUMENT, "%s: the output must be apart from the input%s", r->call,
             r->offsets ? "s" : "");
    TRY(add_operator(r, out));
    return check_empty(r, out);
}

uint64_t reduction_team_log2(uint64_t vectors, uint64_t loads, uint64_t segments, uint64_t threads)
{
    uint64_t log2 = 0;
    for (uint64_t team = 1;
         team < WARP_LANES &&
         (team * loads < vectors || (team < vectors && 2 * team * segments <= threads));
         team *= 2)
        log2++;
    return log2;
}

// ---- several in one pass ------------------------------------------------------------------------
bool reduction_is_several(const problem *p)
{
    return !p->op && p->commutative && p->inputs[0].lazy && type_table[p->type].kind == KIND_STRUCT;
}

static cubc_status several_type(cubc_type items, cubc_type *out)
{
    enum { TOTAL, LEAST, MOST, AT, COUNT };
    static const char *const operators[] = {"sum", "min", "max"};
    cubc_member members[COUNT] = {
        {.name = "total"}, {.name = "least"}, {.name = "most"}, {.name = "at", .type = CUBC_I64}};
    size_t end = 0, widest = 8;
    for (int k = 0; k < COUNT; k++) {
        cubc_type result;
        if (k != AT)
            operator_types(operator_find(operators[k]), items, true, NULL, &members[k].type,
                           &result);
        size_t alignment = (size_t)type_table[members[k].type].alignment;
        if (alignment > widest) widest = alignment;
        members[k].offset = round_up(end, alignment);
        end = members[k].offset + cubc_type_size(members[k].type);
    }
    return cubc_type_struct(members, COUNT, round_up(end, widest), out);
}

cubc_status reduction_several_input(const cubc_operand *x, cubc_lazy *out)
{
    *out = (cubc_lazy){.expression = "out_t{x, x, x, i}", .operands = x, .operand_count = 1};
    return several_type(x->type, &out->type);
}
