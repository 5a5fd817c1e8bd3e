// Arrays of a device: how they are made, share memory, and keep the order of streams. Their Python
// type is in py_array_type.c.
#include "python/py_array.h"

#include "base/size.h"

#include <string.h>

PyObject *py_array_type;

bool py_array_check(PyObject *object)
{
    return Py_IS_TYPE(object, (PyTypeObject *)py_array_type);
}

static py_array *new_array(cubc_device *device, cubc_type type, int ndim, const Py_ssize_t *shape)
{
    uint64_t n;
    if (!size_of_extents(shape, ndim, cubc_type_size(type), &n)) {
        py_too_large("the array");
        return NULL;
    }
    py_array *a = (py_array *)py_allocate((PyTypeObject *)py_array_type);
    if (!a) return NULL;
    a->type = type;
    a->ndim = ndim;
    a->n = n;
    for (int d = 0; d < ndim; d++) a->shape[d] = shape[d];
    a->device = device;
    device_retain(device);
    return a;
}

PyObject *py_array_new(cubc_device *device, cubc_type type, int ndim, const Py_ssize_t *shape,
                       void *stream)
{
    py_array *a = new_array(device, type, ndim, shape);
    if (!a) return NULL;
    cubc_status st;
    a->stream = stream;
    Py_BEGIN_ALLOW_THREADS
    st = device->api->alloc(device, a->n * cubc_type_size(type), stream, &a->data);
    Py_END_ALLOW_THREADS
    if (!st) return (PyObject *)a;
    Py_DECREF(a);
    return py_raise(st);
}

PyObject *py_array_wrap(const py_view *view, PyObject *base)
{
    py_array *a = new_array(view->device, view->type, view->ndim, view->shape);
    if (!a) return NULL;
    a->data = view->data;
    a->stream = view->stream;
    a->read_only = view->read_only;
    a->base = Py_NewRef(base);
    return (PyObject *)a;
}

PyObject *py_array_share(py_array *a, void *data, int ndim, const Py_ssize_t *shape)
{
    py_array *part = new_array(a->device, a->type, ndim, shape);
    if (!part) return NULL;
    part->data = data;
    part->stream = a->stream;
    part->stream_object = Py_XNewRef(a->stream_object);
    part->read_only = a->read_only;
    // A part of a part keeps the whole itself: a chain of any length would be freed by recursion.
    bool again = a->base && py_array_check(a->base);
    part->base = Py_NewRef(again ? a->base : (PyObject *)a);
    return (PyObject *)part;
}

cubc_status py_array_use(py_array *a, void *stream, PyObject *stream_object)
{
    if (stream == a->stream) return CUBC_OK;
    TRY(a->device->api->order(a->device, stream, a->stream));
    PyObject *old = a->stream_object;
    a->stream = stream;
    a->stream_object = stream_object ? Py_NewRef(stream_object) : NULL;
    Py_XDECREF(old);
    return CUBC_OK;
}

void py_array_view(py_array *array, py_view *out)
{
    out->data = array->data;
    out->n = array->n;
    out->type = array->type;
    out->ndim = array->ndim;
    memcpy(out->shape, array->shape, (size_t)array->ndim * sizeof *out->shape);
    out->device = array->device;
    device_retain(out->device);
    out->stream = array->stream;
    out->has_stream = true;
    out->read_only = array->read_only;
    out->owner = Py_NewRef((PyObject *)array);
}
