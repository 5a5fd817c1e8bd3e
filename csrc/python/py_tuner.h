// Parameter spaces as Python's objects, for built-in kernels and those of users.
#ifndef CUBC_PY_TUNER_H
#define CUBC_PY_TUNER_H

#include "python/py_support.h"

#include "compile/variant.h"

// The parameters of a space: [(macro, label, start, end, step)].
PyObject *py_parameters(const space *s);

#endif
