// The arguments of calls whose overhead counts; and streams, which all calls take.
#ifndef CUBC_PY_ARGUMENTS_H
#define CUBC_PY_ARGUMENTS_H

#include "python/py_support.h"

// The parameters of a call, read from its documentation on first use.
enum { MOST_PARAMETERS = 12 };
typedef struct py_signature {
    const char *doc;   // "scan($module, x, /, op='sum', *, init=None)\n--\n...", see py_docs.h
    int count;         // of parameters there
    bool per_operator; // is also there by the name of each operator, as cubc.sum
    char function[32];
    int positional, required; // may be given by place; have no default
    PyObject *interned[MOST_PARAMETERS];
    const char *names[MOST_PARAMETERS];
} py_signature;
// Matches a vectorcall's arguments with the parameters; values, count of them, are borrowed, NULL
// where not given. -1 with a TypeError set.
int py_arguments(py_signature *signature, PyObject *const *args, Py_ssize_t n, PyObject *names,
                 PyObject **values);
// A stream argument: None, an int, or an object of CuPy, PyTorch, Numba or cuda.core.
int py_stream(PyObject *object, void **out);

#endif
