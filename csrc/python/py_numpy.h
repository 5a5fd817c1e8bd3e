// Arrays and scalars of NumPy, made and read.
#ifndef CUBC_PY_NUMPY_H
#define CUBC_PY_NUMPY_H

#include "python/py_support.h"

#include "base/types.h"

PyObject *py_numpy_empty(cubc_type type, int ndim, const Py_ssize_t *shape);
PyObject *py_numpy_scalar(cubc_type type, const void *value);
// A Python or NumPy scalar as one value of a type.
int py_scalar(PyObject *object, const char *what, cubc_type type, type_value *out);
// An array of NumPy's as one that exports its memory as a buffer, which not all dtypes can.
PyObject *py_numpy_words(PyObject *array, cubc_type type);

#endif
