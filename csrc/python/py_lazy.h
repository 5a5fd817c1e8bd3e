// An expression and its operands by name: what cubc.transform computes and cubc.lazy puts off.
//
// py_fused is such an expression as an input of one call: its arrays as views, its numbers as bits,
// and the cubc_lazy that the core takes. It hangs on the py_view that stands for the input, whose
// type, shape and number of items are the result's.
#ifndef CUBC_PY_LAZY_H
#define CUBC_PY_LAZY_H

#include "python/py_support.h"

struct py_fused {
    cubc_lazy lazy;
    cubc_operand operands[MAX_OPERANDS];
    PyObject *numbers[MAX_OPERANDS]; // borrowed from the operands; NULL: an array
    type_value bits[MAX_OPERANDS];
    py_view views[MAX_OPERANDS];
    PyObject *staged[MAX_OPERANDS]; // device copies of host operands
    int count, array_count;
};

// A call's own options, whichever are there: NULL if not given.
typedef struct py_lazy_options {
    PyObject *dtype, *size;
    const py_view *out; // given, which decides what is not said otherwise
} py_lazy_options;

// An expression of operands, a dict, as an input. What there is to release is in the view, also
// after a failure; the texts are borrowed. -1 with an exception set.
int py_fuse(const char *expression, PyObject *operands, const py_lazy_options *options,
            py_view *out);
void py_fused_free(py_fused *fused);

// ---- py_lazy.c ----------------------------------------------------------------------------------
bool py_lazy_check(PyObject *object);
// cubc.transform of it; keywords may be NULL.
PyObject *py_lazy_array(PyObject *lazy, PyObject *keywords);
// (expression, operands, size) without operands that are lazy themselves; new references.
int py_lazy_merged(PyObject *expression, PyObject *operands, PyObject **merged);
// The parts of a lazy object; borrowed.
void py_lazy_parts(PyObject *lazy, PyObject **expression, PyObject **operands, PyObject **dtype,
                   PyObject **size);

#endif
