// DLPack both ways: see py_dlpack.c.
#ifndef CUBC_PY_DLPACK_H
#define CUBC_PY_DLPACK_H

#include "python/py_array.h"

PyObject *py_dlpack_export(py_array *array, bool versioned);
// Fills a view from an object with __dlpack__; 1 done, 0 no such protocol, -1 exception.
int py_dlpack_import(PyObject *object, const char *what, bool writable, void *stream, py_view *out);

#endif
