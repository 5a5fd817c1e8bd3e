// Views of any source: their shape, their device and their release.
#include "python/py_view.h"

#include "base/size.h"

#include <string.h>

int py_view_set_shape(py_view *view, const char *what, int ndim)
{
    if (ndim < 0 || ndim > VIEW_DIMENSIONS) {
        PyErr_Format(PyExc_ValueError, "%s has %d dimensions; at most %d are supported", what, ndim,
                     VIEW_DIMENSIONS);
        return -1;
    }
    view->ndim = ndim;
    if (size_of_extents(view->shape, ndim, cubc_type_size(view->type), &view->n)) return 0;
    return py_too_large(what);
}

int py_view_read_only(const char *what)
{
    PyErr_Format(PyExc_ValueError, "%s is read-only; pass an array that can be written", what);
    return -1;
}

int py_view_not_contiguous(const char *what)
{
    PyErr_Format(
        PyExc_ValueError,
        "%s is not contiguous in C order; pass a contiguous copy (numpy.ascontiguousarray, "
        "cupy.ascontiguousarray, tensor.contiguous())",
        what);
    return -1;
}

int py_view_open_cuda(py_view *view, const char *what, long named)
{
    size_t bytes = (size_t)view->n * cubc_type_size(view->type);
    bool whole = true;
    long found = view->n ? device_cuda_api.index_of(view->data, bytes, &whole) : named;
    cubc_status st = py_device_cuda(found, &view->device);
    if (st) {
        py_raise(st);
        return -1;
    }
    if (view->n == 0) return 0;
    if (found < 0)
        PyErr_Format(PyExc_ValueError,
                     "%s points to memory that no CUDA device reaches: it was freed, or it is the "
                     "host's; host memory is passed as a NumPy array",
                     what);
    else if (named >= 0 && named != found)
        PyErr_Format(PyExc_ValueError, "%s says that it is on cuda:%ld, its memory is on cuda:%ld",
                     what, named, found);
    else if (!whole)
        PyErr_Format(PyExc_ValueError, "%s says that it has %zu bytes, its memory ends before",
                     what, bytes);
    return PyErr_Occurred() ? -1 : 0;
}

// The interface does not name the device: the memory does. An array without items has none, so that
// DLPack's question is asked.
int py_view_open_named(PyObject *object, const char *what, py_view *out)
{
    long index = -1;
    if (out->n == 0) {
        PyObject *pair = PyObject_CallMethod(object, "__dlpack_device__", NULL);
        PyObject *second = pair ? PySequence_GetItem(pair, 1) : NULL;
        if (second && PyLong_Check(second)) index = PyLong_AsLong(second);
        Py_XDECREF(second);
        Py_XDECREF(pair);
        if (py_forget()) return -1;
    }
    return py_view_open_cuda(out, what, index);
}

int py_view_shape_from_tuple(py_view *view, const char *what, PyObject *shape)
{
    Py_ssize_t ndim = PyTuple_Check(shape) ? PyTuple_Size(shape) : -1;
    bool wrong = false;
    for (Py_ssize_t d = 0; d < ndim && d < VIEW_DIMENSIONS && !wrong; d++) {
        view->shape[d] = PyLong_AsSsize_t(PyTuple_GetItem(shape, d));
        wrong = PyErr_Occurred() != NULL;
    }
    if (py_forget()) return -1;
    if (ndim < 0 || wrong) {
        PyErr_Format(PyExc_TypeError, "%s has a malformed shape", what);
        return -1;
    }
    return py_view_set_shape(view, what, (int)ndim);
}

// Its views are ordinary ones: none is an expression again.
static void release_expression(py_expression *e)
{
    if (!e) return;
    for (int k = 0; k < e->count; k++) {
        py_view_release(&e->views[k]);
        Py_XDECREF(e->staged[k]);
    }
    PyMem_Free(e);
}

void py_view_clear(py_view *view)
{
    memset(view, 0, offsetof(py_view, buffer));
}

void py_view_release(py_view *view)
{
    if (view->has_buffer) PyBuffer_Release(&view->buffer);
    if (view->device) device_release(view->device);
    release_expression(view->expression);
    Py_XDECREF(view->capsule);
    Py_XDECREF(view->owner);
    py_view_clear(view);
}
