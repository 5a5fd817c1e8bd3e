// The built-in operators: their expressions in the kernel dialect and their identities.
#include "run/algorithm.h"

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

cubc_status operator_unknown(const char *name)
{
    const char *names[COUNT_OF(operators)];
    for (size_t i = 0; i < COUNT_OF(operators); i++) names[i] = operators[i].name;
    const char *near = nearest_name(name, names, COUNT_OF(operators));
    FAIL(CUBC_NOT_FOUND,
         "no operator '%s'%s%s%s; built in are sum, prod, min, max, any, all, argmin, argmax; your "
         "own "
         "is a C expression of a and b, such as \"a + b\"",
         name, near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}
