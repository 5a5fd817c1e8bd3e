// Arrays made of a cubc.Array: slices and shapes, which share its memory, and copies.
#include "python/py_array_methods.h"

#include "python/py_call.h"
#include "python/py_types.h"

#include <string.h>

// The extents of reshape(2, -1) or reshape((2, -1)); -1 with an exception set.
static int read_extents(const py_array *a, PyObject *given, Py_ssize_t *shape)
{
    Py_ssize_t ndim = PyTuple_Size(given), open = -1;
    uint64_t n = 1;
    bool fits = ndim <= VIEW_DIMENSIONS;
    for (Py_ssize_t d = 0; fits && d < ndim; d++) {
        shape[d] = PyNumber_AsSsize_t(PyTuple_GetItem(given, d), PyExc_OverflowError);
        if (shape[d] == -1 && PyErr_Occurred()) return -1;
        fits = shape[d] >= 0 || (shape[d] == -1 && open < 0);
        if (shape[d] == -1) open = d;
        if (fits && d != open) fits = !__builtin_mul_overflow(n, (uint64_t)shape[d], &n);
    }
    if (fits && open >= 0 && n) shape[open] = (Py_ssize_t)(a->n / n);
    if (fits && open >= 0) n = n ? n * (uint64_t)shape[open] : a->n + 1;
    if (fits && n == a->n) return 0;
    PyErr_Format(PyExc_ValueError, "reshape(): cannot reshape array of size %llu into shape %R",
                 (unsigned long long)a->n, given);
    return -1;
}

PyObject *py_array_views_reshape(PyObject *self, PyObject *args, PyObject *keywords)
{
    if (keywords && PyDict_Size(keywords)) {
        PyErr_SetString(PyExc_TypeError,
                        "reshape() takes extents alone, and items in C order: for another order "
                        "reshape d.T, and turn the result");
        return NULL;
    }
    py_array *a = (py_array *)self;
    PyObject *shaped = NULL;
    Py_ssize_t shape[VIEW_DIMENSIONS];
    bool packed = PyTuple_Size(args) == 1 && !PyIndex_Check(PyTuple_GetItem(args, 0));
    PyObject *given = packed ? PySequence_Tuple(PyTuple_GetItem(args, 0)) : Py_NewRef(args);
    if (!given) return NULL;
    if (read_extents(a, given, shape) == 0)
        shaped = py_array_share(a, a->data, (int)PyTuple_Size(given), shape);
    Py_DECREF(given);
    return shaped;
}

// cubc.transform("x", x=self, dtype=dtype): by the public name, since transform's file uses this
// one.
static PyObject *converted(PyObject *self, PyObject *dtype)
{
    PyObject *module = PyImport_ImportModule("cubc"), *made = NULL;
    PyObject *function = module ? PyObject_GetAttrString(module, "transform") : NULL;
    PyObject *text = function ? Py_BuildValue("(s)", "x") : NULL;
    PyObject *options = text ? Py_BuildValue("{s:O,s:O}", "x", self, "dtype", dtype) : NULL;
    if (options) made = PyObject_Call(function, text, options);
    Py_XDECREF(options);
    Py_XDECREF(text);
    Py_XDECREF(function);
    Py_XDECREF(module);
    return made;
}

PyObject *py_array_views_astype(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"", "copy", NULL};
    PyObject *dtype, *copied = NULL;
    cubc_type type;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$O:astype", names, &dtype, &copied))
        return NULL;
    const int copy = py_truth(copied, "copy", 1);
    if (copy < 0) return NULL;
    bool known = py_dtype(dtype, &type) == 0;
    if (known && !copy && type == ((py_array *)self)->type) return Py_NewRef(self);
    bool is_there = known && py_check_conversion(((py_array *)self)->type, type) == 0;
    return py_call_named(is_there ? converted(self, dtype) : NULL, "transform", "astype");
}

PyObject *py_array_views_copy(PyObject *self, PyObject *unused)
{
    PyObject *dtype = py_numpy_dtype(((py_array *)self)->type);
    PyObject *made = dtype ? converted(self, dtype) : NULL;
    (void)unused;
    Py_XDECREF(dtype);
    return made;
}

// All indices but a[first:end] are Python's work: what they name may not lie together.
static PyObject *item_of(PyObject *self, PyObject *index)
{
    PyObject *module = PyImport_ImportModule("cubc._elements");
    PyObject *item = module ? PyObject_CallMethod(module, "item_of", "OO", self, index) : NULL;
    Py_XDECREF(module);
    return item;
}

PyObject *py_array_views_subscript(PyObject *self, PyObject *index)
{
    py_array *a = (py_array *)self;
    Py_ssize_t start, stop, step = 0, shape[VIEW_DIMENSIONS];
    if (PySlice_Check(index) && PySlice_Unpack(index, &start, &stop, &step) < 0) return NULL;
    if (step != 1 || a->ndim == 0) return item_of(self, index);
    uint64_t row = a->shape[0] ? a->n / (uint64_t)a->shape[0] : 0; // items
    memcpy(shape, a->shape, sizeof shape);
    shape[0] = PySlice_AdjustIndices(a->shape[0], &start, &stop, step);
    char *first = (char *)a->data + (uint64_t)start * row * cubc_type_size(a->type);
    return py_array_share(a, first, a->ndim, shape);
}
