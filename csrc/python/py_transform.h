// cubc.transform and cubc.Lazy: an expression evaluated now, or where a call reads it. Calls take
// their inputs through py_input_get, because each may be lazy.
#ifndef CUBC_PY_TRANSFORM_H
#define CUBC_PY_TRANSFORM_H

#include "python/py_view.h"

// Gives a view of an input as py_view_get does; the input may be lazy. Where the call takes none
// that is, it is evaluated here, which costs a pass.
int py_input_get(PyObject *object, const char *what, bool may_be_lazy, py_view *out);
bool py_lazy_check(PyObject *object);
// cubc.transform of it; keywords may be NULL.
PyObject *py_lazy_array(PyObject *lazy, PyObject *keywords);
PyObject *py_transform(PyObject *self, PyObject *args, PyObject *keywords);

#endif
