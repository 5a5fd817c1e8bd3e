// The operator of a call and its initial value: which types they take. See problem.h.
#include "run/problem.h"

#include <string.h>

// Structs have the operators that a user writes for them, complex numbers those without an order.
static cubc_status check_operator(const problem *p, const char *op)
{
    cubc_type type = (cubc_type)p->type;
    if (p->op && type_table[type].kind == KIND_STRUCT)
        FAIL(CUBC_INVALID_TYPE,
             "'%s' is for numbers and the items are structs, %.200s: write an expression of the "
             "members of a and b with a value for each, \"value_t{a.%s + b.%s, ...}\"",
             op, type_table[type].description, type_table[type].members[0].name,
             type_table[type].members[0].name);
    if (p->op && p->op->ordered && type_table[type].kind == KIND_COMPLEX)
        FAIL(CUBC_INVALID_TYPE,
             "%s needs an order, which complex items (%s) have not: write what is meant, such as "
             "\"abs(a) < abs(b) ? a : b\", or take the real or the imaginary parts",
             op, cubc_type_name(type));
    if (p->op && p->op->ordered && type_table[p->acc_type].kind == KIND_COMPLEX)
        FAIL(CUBC_INVALID_TYPE,
             "%s needs an order, which complex numbers (%s) have not: take an accumulator or a "
             "result of real numbers",
             op, cubc_type_name((cubc_type)p->acc_type));
    return CUBC_OK;
}

// From the items over the accumulator to the result.
static cubc_status check_conversions(const problem *p, const char *family)
{
    cubc_type steps[] = {(cubc_type)p->type, (cubc_type)p->acc_type,
                         (cubc_type)p->outputs[p->output_count - 1].type};
    if (p->op && p->op->arg) return CUBC_OK; // the result is another thing than the items
    for (size_t k = 0; k + 1 < COUNT_OF(steps); k++) {
        const type_info *from = &type_table[steps[k]], *to = &type_table[steps[k + 1]];
        if (type_converts(steps[k], steps[k + 1])) continue;
        if (from->kind == KIND_COMPLEX && to->kind != KIND_STRUCT)
            FAIL(CUBC_INVALID_TYPE,
                 "%s: complex numbers (%s) do not become real ones (%s): take the real or the "
                 "imaginary parts first",
                 family, from->name, to->name);
        FAIL(CUBC_INVALID_TYPE,
             "%s: %.200s does not become %.200s: items that are structs, accumulator and result "
             "have one type; transform makes structs of other items",
             family, from->description ? from->description : from->name,
             to->description ? to->description : to->name);
    }
    return CUBC_OK;
}

// A value of the caller's accumulator, of which logical operators take the truth.
static cubc_status take_init(problem *p, const char *op, cubc_type type, const void *init)
{
    p->has_init = true;
    if (!p->op || !p->op->logical) {
        memcpy(&p->init, init, cubc_type_size(type));
        return CUBC_OK;
    }
    if (!type_converts(type, CUBC_BOOL))
        FAIL(CUBC_INVALID_TYPE, "%s begins with a number, and acc_type is %.200s: give BOOL", op,
             type_table[type].description);
    const bool truth = type_truth(type, init);
    memcpy(&p->init, &truth, sizeof truth);
    return CUBC_OK;
}

cubc_status problem_operator(problem *p, const char *family, const char *op, const void *init)
{
    const cubc_type given = (cubc_type)p->acc_type;
    if (!op) FAIL(CUBC_INVALID_ARGUMENT, "%s: an operator is needed", family);
    TRY(operator_read(op, &p->op));
    if (!p->op) p->expression = op;
    TRY(check_operator(p, op));
    if (p->op && p->op->logical) p->acc_type = CUBC_BOOL;
    if (p->acc_type == CUBC_F16 || p->acc_type == CUBC_BF16)
        FAIL(CUBC_INVALID_TYPE, "%s accumulates F16 and BF16 items in F32, not in %s", family,
             cubc_type_name((cubc_type)p->acc_type));
    TRY(check_conversions(p, family));
    if (p->op && p->op->arg && init) FAIL(CUBC_INVALID_ARGUMENT, "%s takes no initial value", op);
    return init ? take_init(p, op, given, init) : CUBC_OK;
}

const char *problem_operator_name(const problem *p)
{
    return p->op ? p->op->name : "custom";
}

cubc_status problem_take_equal(problem *p, const char *equal)
{
    if (!equal) return CUBC_OK;
    if (strspn(equal, " \t\n") == strlen(equal))
        FAIL(CUBC_INVALID_ARGUMENT,
             "the equality is empty: expected an expression of a and b such as 'a / 10 == b / 10'");
    p->texts[0] = equal;
    p->text_count = 1;
    return CUBC_OK;
}

cubc_status problem_init_in_memory(problem *p, const char *family, cubc_type type, const void *init)
{
    const operand place = {
        .data = (void *)(uintptr_t)init, .n = 1, .type = p->acc_type, .width = 1};
    operand checked;
    if (p->op && p->op->arg) FAIL(CUBC_INVALID_ARGUMENT, "%s takes no initial value", p->op->name);
    if (type != (cubc_type)p->acc_type)
        FAIL(CUBC_INVALID_TYPE, "%s with init_in_memory needs acc_type %s, not %s",
             problem_operator_name(p), cubc_type_name((cubc_type)p->acc_type),
             cubc_type_name(type));
    TRY(problem_array(p, &checked, "the initial value", init, 1, type));
    for (int k = 0; k < p->output_count; k++) // a single result is written after it has been read
        if (p->outputs[k].n > 1 && problem_overlap(&p->outputs[k], &place))
            FAIL(CUBC_INVALID_ARGUMENT,
                 "%s: the initial value is in the output, which is written before it is read "
                 "everywhere: they must be apart",
                 family);
    p->has_init = p->init_in_memory = true;
    p->init = (type_value){.word = {(uintptr_t)init}};
    return CUBC_OK;
}
