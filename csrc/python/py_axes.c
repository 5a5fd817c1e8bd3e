// Axes as NumPy's reductions take them: see py_axes.h. Axes beside each other are one to a kernel.
#include "python/py_axes.h"

#include "python/py_numpy.h"

static void raise_axis_error(PyObject *axis, int ndim)
{
    PyObject *exceptions = PyObject_GetAttrString(py_numpy, "exceptions");
    PyObject *type = exceptions ? PyObject_GetAttrString(exceptions, "AxisError") : NULL;
    PyObject *error = type ? PyObject_CallFunction(type, "Oi", axis, ndim) : NULL;
    if (error) PyErr_SetObject(type, error);
    Py_XDECREF(error);
    Py_XDECREF(type);
    Py_XDECREF(exceptions);
}

// The axis from 0 on; -1 with an exception set. alone: it is not one of a tuple.
static int axis_number(PyObject *axis, int ndim, bool alone)
{
    // True is no axis of NumPy's either, and mostly a keepdims= in the wrong place.
    PyObject *index = PyBool_Check(axis) ? NULL : PyNumber_Index(axis);
    if (!index) {
        if (py_forget()) return -1;
        PyErr_Format(PyExc_TypeError,
                     "axis is %R: expected an int, a tuple of them, or None for all items", axis);
        return -1;
    }
    long number = PyLong_AsLong(index);
    Py_DECREF(index);
    bool fits = !PyErr_Occurred();
    if (py_forget()) return -1;
    int most = ndim > 0 || !alone ? ndim : 1; // NumPy gives one item alone the axes 0 and -1
    if (fits && number >= -most && number < most) return (int)(number < 0 ? number + most : number);
    raise_axis_error(axis, ndim);
    return -1;
}

static int mark_axis(PyObject *axis, int ndim, bool alone, bool reduced[VIEW_DIMENSIONS])
{
    int number = axis_number(axis, ndim, alone);
    if (number < 0) return -1;
    if (reduced[number]) {
        PyErr_SetString(PyExc_ValueError, "duplicate value in 'axis'");
        return -1;
    }
    reduced[number] = true;
    return 0;
}

static int mark_axes(PyObject *axis, int ndim, bool reduced[VIEW_DIMENSIONS])
{
    if (!axis)
        for (int d = 0; d < ndim; d++) reduced[d] = true;
    if (!axis) return 0;
    if (!PyTuple_Check(axis)) return mark_axis(axis, ndim, true, reduced);
    for (Py_ssize_t k = 0; k < PyTuple_Size(axis); k++)
        if (mark_axis(PyTuple_GetItem(axis, k), ndim, false, reduced) < 0) return -1;
    return 0;
}

int py_axis_shape(const py_view *x, PyObject *axis, PyObject *keepdims, axis_shape *out)
{
    bool reduced[VIEW_DIMENSIONS] = {false}, behind = false, any = false;
    int keep = py_truth(keepdims, "keepdims", 0);
    if (keep < 0 || mark_axes(axis, x->ndim, reduced) < 0) return -1;
    *out = (axis_shape){.outer = 1, .length = 1, .columns = 1};
    for (int d = 0; d < x->ndim; d++) {
        uint64_t extent = (uint64_t)x->shape[d];
        if (!reduced[d] || keep) out->shape[out->ndim++] = reduced[d] ? 1 : x->shape[d];
        if (extent == 1) continue; // no matter beside what
        out->apart = out->apart || (reduced[d] && behind);
        behind = behind || (any && !reduced[d]);
        any = any || reduced[d];
        *(reduced[d] ? &out->length : behind ? &out->columns : &out->outer) *= extent;
    }
    return 0;
}
