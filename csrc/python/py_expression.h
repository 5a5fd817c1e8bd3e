// An expression of operands by name as an input of a call: what cubc.transform computes and what
// cubc.lazy puts off.
#ifndef CUBC_PY_EXPRESSION_H
#define CUBC_PY_EXPRESSION_H

#include "python/py_view.h"

// A call's own options, whichever are there: NULL if not given.
typedef struct py_expression_options {
    PyObject *dtype, *size;
    const py_view *out; // given, which decides what is not said otherwise
    bool unsafe;        // casting="unsafe": floats may become the integers of out
} py_expression_options;

// An expression of operands, a dict, as an input. The view has what is to be released, also
// after a failure; the texts are borrowed. -1 with an exception set.
int py_expression_get(const char *expression, PyObject *operands,
                      const py_expression_options *options, py_view *out);

#endif
