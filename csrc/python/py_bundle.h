// Bundles in memory, as Python gives them to what compiles.
#ifndef CUBC_PY_BUNDLE_H
#define CUBC_PY_BUNDLE_H

#include "python/py_support.h"

#include "compile/bundle.h"

typedef struct py_bundle {
    PyObject *object; // borrowed; NULL: none was given
    Py_buffer view;
    text more;
    bundle_memory memory;
} py_bundle;

// Takes any bytes, or NULL. 0, or -1 with an exception. py_bundle_end belongs to each success.
int py_bundle_begin(PyObject *object, py_bundle *out);
// Adds what was compiled if the object is a bytearray. 0, or -1 with an exception.
int py_bundle_end(py_bundle *b);

#endif
