// Integers in the text of an expression that its result cannot hold: refused as NumPy refuses them,
// where C would cut the result.
#ifndef CUBC_PY_LITERALS_H
#define CUBC_PY_LITERALS_H

#include "python/py_module.h"

#include "cubc.h"

#include <stdbool.h>

// True if the result is an integer and a number of the text may be beyond it. Most texts have none,
// or a single short one, and need no closer look.
bool py_may_overflow(const char *expression, cubc_type out);
// Raises OverflowError for an integer that the result's type cannot hold, and returns -1. Takes
// over `names` and `types`, the tuples of operands that cubc._expression_types expects. Either may
// be NULL with an exception set, which stays.
int py_check_literals(const char *expression, PyObject *names, PyObject *types, cubc_type out);
// The same for an operator of a and b, both of the type of the result.
int py_check_operator(const char *op, cubc_type type);

#endif
