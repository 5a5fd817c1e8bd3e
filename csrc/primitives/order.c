// Orders and the limits of merging: see order.h.
#include "primitives/order.h"

// Takes the caller's comparison; items without one are compared by <, and have to be real.
cubc_status order_take(problem *p, const char *less)
{
    for (int k = 0; k < p->input_count && !less; k++)
        TRY(problem_check_real("items to be compared with <", (cubc_type)p->inputs[k].type));
    if (less && !*less)
        FAIL(CUBC_INVALID_ARGUMENT,
             "the comparison is empty: expected an expression of a and b such as 'a > b'");
    p->expression = less;
    return CUBC_OK;
}

void order_define(const problem *p, cubc_type type, text *out)
{
    // One instruction that is true for NaN too, one that is not; no branches.
    bool floating = type_table[type].kind == KIND_FLOAT;
    text_printf(out, "#define TUNE_T %s\n", type_table[type].dialect);
    problem_define_expression(out, "TUNE_LESS",
                              p->expression ? p->expression
                              : floating    ? "!(a >= b) & (a == a)"
                                            : "a < b");
}

void order_define_merge(const problem *p, text *out)
{
    order_define(p, (cubc_type)p->type, out);
    problem_define_values(p, out);
}

const char *order_invalid_merge(const problem *p, const char *kind, const space *s,
                                const variant *v)
{
    bool pairs = p->output_count > 1;
    int items = variant_value(s, v, "ipt", 1) * variant_value(s, v, "tpb", 1);
    int key = (int)cubc_type_size((cubc_type)p->type);
    int value = pairs ? (int)operand_item_bytes(&p->outputs[1]) : 0;
    if (device_is_cpu(kind))
        return items * (key + value) > 200 * 1024 ? "the tile does not fit" : NULL;
    int places = pairs ? 2 : 0,
        beside = value <= 4 && value > key ? value : 0; // as in merge_sort.cu
    if (items * (key + places + beside) > 200 * 1024)
        return "the tile does not fit the shared memory of a multiprocessor";
    return problem_invalid(p, kind, s, v, (key < 4 ? 4 : key) + 4);
}
