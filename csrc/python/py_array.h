// cubc.Array: a contiguous array in a device's memory.
#ifndef CUBC_PY_ARRAY_H
#define CUBC_PY_ARRAY_H

#include "python/py_view.h"

typedef struct py_array {
    PyObject_HEAD
    void *data;
    cubc_device *device;
    cubc_type type;
    int ndim;
    Py_ssize_t shape[VIEW_DIMENSIONS];
    uint64_t n;
    void *stream;            // of the last work on it; its memory is freed in that order
    PyObject *stream_object; // keeps that stream, where somebody's object stands for it
    bool read_only;
    PyObject *base; // whose memory it is, or NULL: its own
} py_array;
extern PyObject *py_array_type;
PyObject *py_array_new(cubc_device *device, cubc_type type, int ndim, const Py_ssize_t *shape,
                       void *stream);
// A device array over memory that `base` owns.
PyObject *py_array_wrap(const py_view *view, PyObject *base);
// An array of the array's type over a part of its memory, which it keeps.
PyObject *py_array_share(py_array *array, void *data, int ndim, const Py_ssize_t *shape);
bool py_array_check(PyObject *object);
void py_array_view(py_array *array, py_view *out); // into an empty view, which keeps the array
// Orders the work that is about to be queued on a stream after all earlier work on the array.
// stream_object: whatever the caller gave for the stream, or NULL.
cubc_status py_array_use(py_array *array, void *stream, PyObject *stream_object);

#endif
