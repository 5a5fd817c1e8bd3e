// The part of a reduction's problem that all their descriptors share: see reduction.h.
#include "primitives/reduction.h"

// Segments may be empty where there are offsets, which the host does not see.
static cubc_status check_empty(const reduction *r, const problem *p)
{
    bool may_be = r->offsets || (p->n == 0 && p->outputs[0].n > 0);
    if (!may_be || p->has_init || (p->op && (p->op->identity || r->offsets))) return CUBC_OK;
    return problem_of_none(p, r->offsets != NULL);
}

cubc_status reduction_operands(const reduction *r, const algorithm *a, problem *out)
{
    *out = (problem){.algorithm = a,
                     .n = r->n,
                     .type = (uint8_t)problem_input_type(r->in, r->type),
                     .acc_type = (uint8_t)r->acc_type,
                     .aligned = true};
    TRY(problem_lazy_input(out, r->input, r->in, r->n, r->type));
    if (r->offsets)
        TRY(problem_input(out, "the offsets of segmented_reduce", r->offsets, r->outer + 1,
                          r->offset_type));
    TRY(problem_output(out, r->output, r->out, r->outer * r->columns, r->out_type));
    // One result is written when all items have been read.
    if (r->shape != REDUCTION_WHOLE) TRY(problem_overlap(out, ANY_INPUT));
    if (out->in_place)
        FAIL(CUBC_INVALID_ARGUMENT, "%s: the output must be apart from the input%s", r->call,
             r->offsets ? "s" : "");
    TRY(problem_reduction(out, r->call, r->op, r->commutative, r->init));
    return check_empty(r, out);
}
