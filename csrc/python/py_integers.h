// Integers of an expression, in its text or among its operands, that its result cannot hold:
// refused as NumPy refuses them, where C would cut the result. cubc._expression_types has the rule;
// the tests here are those that most calls need no Python for.
#ifndef CUBC_PY_INTEGERS_H
#define CUBC_PY_INTEGERS_H

#include "python/py_module.h"

#include "cubc.h"

#include <stdbool.h>

// True if the result is an integer and a number of the text may be beyond it. Most texts have none,
// or a single short one, and need no closer look.
bool py_text_may_overflow(const char *expression, cubc_type out);
// False for an integer that a type of integers cannot hold. Of all other types and numbers, and of
// integers beyond 64 bits, the conversion says why they are refused.
bool py_holds(cubc_type type, PyObject *number);
// Raises OverflowError for an integer that the result's type cannot hold, and returns -1. Takes
// over `names` and `types`, the tuples of operands that cubc._expression_types expects, and
// `numbers`, the pairs of name and value of operands that are integers beyond the type. Any of them
// may be NULL with an exception set, which stays.
int py_check_integers(const char *expression, PyObject *names, PyObject *types, PyObject *numbers,
                      cubc_type out);
// The same for an operator of a and b, both of the type of the result.
int py_check_operator(const char *op, cubc_type type);

#endif
