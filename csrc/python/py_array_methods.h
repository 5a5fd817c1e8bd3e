// Methods of cubc.Array that stand in files of their own; py_array_type.c lists them.
#ifndef CUBC_PY_ARRAY_METHODS_H
#define CUBC_PY_ARRAY_METHODS_H

#include "python/py_array.h"

// ---- py_array_host.c ----------------------------------------------------------------------------
PyObject *py_array_host_numpy(PyObject *self, PyObject *unused);
PyObject *py_array_host_array(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *py_array_host_item(PyObject *self, PyObject *args);
PyObject *py_array_host_tolist(PyObject *self, PyObject *unused);
PyObject *py_array_host_complex(PyObject *self, PyObject *unused);
PyObject *py_array_host_float(PyObject *self);
PyObject *py_array_host_int(PyObject *self);
PyObject *py_array_host_index(PyObject *self);
int py_array_host_bool(PyObject *self);

// ---- py_array_views.c ---------------------------------------------------------------------------
PyObject *py_array_views_reshape(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *py_array_views_astype(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *py_array_views_copy(PyObject *self, PyObject *unused);
PyObject *py_array_views_subscript(PyObject *self, PyObject *index);

// ---- py_array_export.c --------------------------------------------------------------------------
PyObject *py_array_export_cuda_interface(PyObject *self, void *unused);
PyObject *py_array_export_dlpack(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *py_array_export_dlpack_device(PyObject *self, PyObject *unused);

#endif
