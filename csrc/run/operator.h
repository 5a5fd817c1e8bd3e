// The built-in operators of reductions and scans, and the types of their results.
#ifndef CUBC_OPERATOR_H
#define CUBC_OPERATOR_H

#include "base/types.h"

typedef struct operator_info {
    const char *name;             // "sum"
    const char *expression;       // of a and b
    const char *float_expression; // where floats need another (NaN), else NULL
    const char *identity;         // of value_t; NULL: an empty reduction is an error
    const char *mask;       // identity used inside the kernel; differs where `identity` is NULL
    const char *float_mask; // where the one of floats leaves other numbers alone (-0.0), else NULL
    bool arg;               // the result is the index
    bool logical;           // it works in bool: what is not 0 is true
    bool widens;            // reductions of integers accumulate in 64 bits, as NumPy's do
    bool ordered;           // the items must have an order, which complex numbers have not
} operator_info;

// A built-in by name, or NULL.
const operator_info *operator_find(const char *name);
// A built-in by name, or NULL for an expression. A bare word that is neither is an error: "no
// operator 'smu', did you mean 'sum'? ..."
cubc_status operator_read(const char *text, const operator_info **out);
// An operator that adds, and whose order shows with items of the type: integers have one in
// expressions alone.
const char *operator_in_order(cubc_type type);
// The type of a result and the type that the operator (NULL: an expression) is evaluated in: see
// cubc_reduce_types. widen: as in reductions; scans keep the types of integers. asked: the type
// that the caller wants the result to have, or NULL.
void operator_types(const operator_info *op, cubc_type type, bool widen, const cubc_type *asked,
                    cubc_type *acc, cubc_type *out);

#endif
