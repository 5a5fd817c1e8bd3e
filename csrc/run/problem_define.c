// Macros that the descriptors share, in front of a kernel's source: see problem.h.
#include "run/problem.h"

#include "base/integer.h"

void problem_define_rounding(text *out)
{
    text_puts(out, "#define SIMT_ROUNDED 1\n");
}

int problem_pair_bytes(cubc_type type, int word)
{
    int alignment = type_table[type].alignment;
    uint64_t value = round_up((uint64_t)type_table[type].size, (uint64_t)word) + (uint64_t)word;
    return (int)round_up(value, (uint64_t)(alignment > word ? alignment : word));
}

int problem_acc_bytes(const problem *p)
{
    if (p->op && p->op->arg) return problem_pair_bytes((cubc_type)p->acc_type, 8);
    if (p->op) return (int)cubc_type_size((cubc_type)p->acc_type);
    return problem_pair_bytes((cubc_type)p->acc_type, 4);
}

// A macro's text ends with its line. The compiler's messages call the place "expression".
void problem_define_expression(text *out, const char *name, const char *expression)
{
    text_printf(out, "#line 1 \"expression\"\n#define %s (", name);
    for (const char *c = expression; *c; c++)
        if (*c == '%' && c[1] != '=')
            text_puts(out, "*cubc_modulus*"); // see kernels/dialect/modulus.h
        else
            text_append(out, *c == '\n' || *c == '\r' ? " " : c, 1);
    text_puts(out, ")\n");
}

void problem_define(const problem *p, text *out)
{
    bool floating = type_table[p->acc_type].kind == KIND_FLOAT;
    bool signed_zero = floating || type_table[p->acc_type].kind == KIND_COMPLEX;
    text_printf(out, "#define TUNE_T %s\n#define TUNE_A %s\n#define TUNE_O %s\n",
                type_table[p->type].dialect, type_table[p->acc_type].dialect,
                type_table[p->outputs[0].type].dialect);
    text_printf(out, "#define TUNE_ALIGNED %d\n", p->aligned);
    if (p->init_in_memory) text_puts(out, "#define TUNE_INITIAL_IN_MEMORY 1\n");
    if (!p->op) {
        problem_define_expression(out, "TUNE_OPERATOR", p->expression);
        return;
    }
    problem_define_expression(out, "TUNE_OPERATOR",
                              floating && p->op->float_expression ? p->op->float_expression
                                                                  : p->op->expression);
    if (p->op->arg) text_puts(out, "#define TUNE_ARG 1\n");
    if (p->op->float_mask && signed_zero)
        text_printf(out, "#define TUNE_IDENTITY %s\n#define TUNE_OF_NONE %s\n", p->op->float_mask,
                    p->op->identity);
    else if (p->op->mask)
        text_printf(out, "#define TUNE_IDENTITY %s\n", p->op->mask);
}

void problem_define_equal(const problem *p, text *out)
{
    if (p->text_count) problem_define_expression(out, "TUNE_EQUAL", p->texts[0]);
}

void problem_define_keys(const problem *p, text *out)
{
    static const int mantissa[CUBC_TYPE_COUNT] = {
        [CUBC_F16] = 10, [CUBC_BF16] = 7, [CUBC_F32] = 23, [CUBC_F64] = 52};
    cubc_type type = (cubc_type)p->type;
    type_kind of = type_table[type].kind;
    int kind = of == KIND_FLOAT ? 2 : of == KIND_SIGNED ? 1 : of == KIND_BOOL ? 3 : 0;
    text_printf(out, "#define TUNE_KEY u%d\n#define TUNE_KEY_KIND %d\n",
                8 * (int)cubc_type_size(type), kind);
    text_printf(out, "#define TUNE_MANTISSA_BITS %d\n#define TUNE_DESCENDING %d\n", mantissa[type],
                p->descending);
}

void problem_define_values(const problem *p, text *out)
{
    const operand *values = &p->outputs[1];
    int width = p->output_count < 2 ? 0 : values->width ? values->width : 1;
    text_printf(out, "#define TUNE_VALUE %s\n#define TUNE_VALUE_WIDTH %d\n",
                width ? type_table[values->type].dialect : "u8", width);
}

void problem_define_plain_loads(const problem *p, text *out)
{
    if (p->in_place) text_puts(out, "#undef TUNE_LOAD\n#define TUNE_LOAD 0\n");
}
