// The built-in operators: their expressions in the kernel dialect, their identities, and the types
// of their results.
#include "run/operator.h"

#include "base/name.h"
#include "cubc/primitives.h" // cubc_reduce_types, which is exported

#include <string.h>

static const operator_info operators[] = {
    // 0.0 is no identity of floats: 0.0 + -0.0 is 0.0.
    {.name = "sum",
     .expression = "a + b",
     .identity = "0",
     .mask = "0",
     .float_mask = "-value_t(0)",
     .widens = true},
    {.name = "prod", .expression = "a * b", .identity = "1", .mask = "1", .widens = true},
    // A NaN wins, as in NumPy.
    {.name = "min",
     .expression = "a < b ? a : b",
     .float_expression = "a < b || a != a ? a : b",
     .mask = "limits<value_t>::highest()",
     .ordered = true},
    {.name = "max",
     .expression = "a > b ? a : b",
     .float_expression = "a > b || a != a ? a : b",
     .mask = "limits<value_t>::lowest()",
     .ordered = true},
    {.name = "any", .expression = "a || b", .identity = "0", .mask = "false", .logical = true},
    {.name = "all", .expression = "a && b", .identity = "1", .mask = "true", .logical = true},
    {.name = "argmin", .expression = "a < b", .arg = true, .ordered = true},
    {.name = "argmax", .expression = "a > b", .arg = true, .ordered = true},
};

const operator_info *operator_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(operators); i++)
        if (strcmp(operators[i].name, name) == 0) return &operators[i];
    return NULL;
}

static cubc_status unknown(const char *name)
{
    const char *names[COUNT_OF(operators)];
    for (size_t i = 0; i < COUNT_OF(operators); i++) names[i] = operators[i].name;
    const char *near = nearest_name(name, names, COUNT_OF(operators));
    FAIL(CUBC_NOT_FOUND,
         "no operator '%s'%s%s%s; built in are sum, prod, min, max, any, all, argmin, argmax; your "
         "own is a C expression of a and b, such as \"a + b\"",
         name, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

// A bare word that is not an operand is a misspelt operator, not an expression.
static bool is_word(const char *op)
{
    return strspn(op, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
               strlen(op) &&
           strcmp(op, "a") != 0 && strcmp(op, "b") != 0;
}

cubc_status operator_read(const char *text, const operator_info **out)
{
    *out = operator_find(text);
    return !*out && is_word(text) ? unknown(text) : CUBC_OK;
}

// ---- types --------------------------------------------------------------------------------------
// Integers and bool, then floats, complex numbers, structs.
static int rank_of(cubc_type type)
{
    type_kind kind = type_table[type].kind;
    return kind < KIND_FLOAT ? 0 : (int)kind;
}

const char *operator_in_order(cubc_type type)
{
    return type_table[type].kind >= KIND_FLOAT ? "sum" : "a + b";
}

void operator_types(const operator_info *op, cubc_type type, bool widen, const cubc_type *asked,
                    cubc_type *acc, cubc_type *out)
{
    cubc_type natural = type;
    if (op && op->widens && (widen || type == CUBC_BOOL)) natural = type_widened(type);
    if (op && op->arg) natural = CUBC_I64;
    if (op && op->logical) natural = CUBC_BOOL;
    *out = asked ? *asked : natural;
    *acc = type_arithmetic(op && op->arg ? type : natural);
    if (!asked || (op && (op->arg || op->logical))) return;
    // The result's type is also the accumulator's, as in NumPy, except that floats are never
    // accumulated in integers or bool, and complex numbers never in real ones.
    if (rank_of(*asked) >= rank_of(*acc) && *asked != CUBC_BOOL) *acc = type_arithmetic(*asked);
}

static cubc_status default_types(const char *op, cubc_type type, bool widen, cubc_type *acc_type,
                                 cubc_type *out_type)
{
    const operator_info *known;
    if (!op || !acc_type || !out_type)
        FAIL(CUBC_INVALID_ARGUMENT, "the types of an operator: NULL argument");
    if (!type_valid(type)) FAIL(CUBC_INVALID_TYPE, "unknown type (%d) of items", (int)type);
    TRY(operator_read(op, &known));
    operator_types(known, type, widen, NULL, acc_type, out_type);
    return CUBC_OK;
}

cubc_status cubc_reduce_types(const char *op, cubc_type type, cubc_type *acc_type,
                              cubc_type *out_type)
{
    return default_types(op, type, true, acc_type, out_type);
}

cubc_status cubc_scan_types(const char *op, cubc_type type, cubc_type *acc_type,
                            cubc_type *out_type)
{
    return default_types(op, type, false, acc_type, out_type);
}
