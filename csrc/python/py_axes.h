// Axes of an array from Python's axis= and keepdims=.
#ifndef CUBC_PY_AXES_H
#define CUBC_PY_AXES_H

#include "python/py_view.h"

// An array as [outer][length][columns] around its reduced axes, and its shape without them.
typedef struct axis_shape {
    uint64_t outer, length, columns;
    int ndim;
    Py_ssize_t shape[VIEW_DIMENSIONS];
    bool apart; // other axes lie between the reduced ones: outer, length and columns say nothing
} axis_shape;

// axis is an int, a tuple of ints, or NULL for all items, taken flat. -1 with an exception set;
// AxisError of NumPy for an axis that is not there.
int py_axis_shape(const py_view *x, PyObject *axis, PyObject *keepdims, axis_shape *out);

#endif
