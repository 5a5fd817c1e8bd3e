// The arguments of calls that must be quick, and streams.
#ifndef CUBC_PY_ARGUMENTS_H
#define CUBC_PY_ARGUMENTS_H

#include "python/py_support.h"

// Matches a vectorcall's arguments with parameter names; values are borrowed, NULL where not given.
// The first `positional` names may be given by place. -1 with a TypeError set.
typedef struct py_signature {
    const char *function;
    int count, positional, required;
    const char *names[12];
    PyObject *interned[12]; // filled on first use
    bool flat;              // is also there by the name of each operator, as cubc.sum
} py_signature;
int py_arguments(py_signature *signature, PyObject *const *args, Py_ssize_t n, PyObject *names,
                 PyObject **values);
// A stream argument: None, an int, or an object of CuPy, PyTorch, Numba or cuda.core.
int py_stream(PyObject *object, void **out);

#endif
