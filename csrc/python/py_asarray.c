// cubc.asarray and cubc.empty: how arrays come to a device.
#include "python/py_arguments.h"
#include "python/py_array.h"
#include "python/py_call.h"
#include "python/py_docs.h"
#include "python/py_module.h"
#include "python/py_transform.h"
#include "python/py_types.h"

static PyObject *copy_to_device(const py_view *view, cubc_device *device, void *stream)
{
    PyObject *array = py_array_new(device, view->type, view->ndim, view->shape, stream);
    if (!array) return NULL;
    void *to = ((py_array *)array)->data;
    size_t bytes = view->n * cubc_type_size(view->type);
    // The side that is a GPU copies: it knows both memories.
    bool source_copies = view->device && device_is_cpu(device->info.kind);
    cubc_device *copier = source_copies ? view->device : device;
    void *on = source_copies ? view->stream : stream;
    cubc_status st = CUBC_OK;
    Py_BEGIN_ALLOW_THREADS
    if (view->device && !source_copies) st = cubc_synchronize(view->device, view->stream);
    if (!st) st = cubc_copy(copier, to, view->data, bytes, on);
    // The source may go away as soon as this returns.
    if (!st) st = cubc_synchronize(copier, on);
    Py_END_ALLOW_THREADS
    if (!st) return array;
    Py_DECREF(array);
    return py_raise(st);
}

// The same numbers in another type: on the device that they are on, otherwise by NumPy.
static PyObject *converted(PyObject *x, const py_view *view, cubc_type type, PyObject *stream)
{
    if (!view->device) {
        PyObject *dtype = py_numpy_dtype(type), *array = NULL;
        if (dtype) array = PyObject_CallMethod(py_numpy, "asarray", "(OO)", x, dtype);
        Py_XDECREF(dtype);
        return array;
    }
    PyObject *arguments = Py_BuildValue("(s)", "v"), *keywords = NULL;
    if (arguments)
        keywords = Py_BuildValue("{s:O,s:s,s:O}", "v", x, "dtype", cubc_type_name(type), "stream",
                                 stream ? stream : Py_None);
    PyObject *array = keywords ? py_transform(NULL, arguments, keywords) : NULL;
    Py_XDECREF(arguments);
    Py_XDECREF(keywords);
    return array;
}

PyObject *py_asarray(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    enum { X, DTYPE, DEVICE, STREAM, COUNT };
    static py_signature signature = {.doc = asarray_doc, .count = COUNT};
    PyObject *v[COUNT], *result = NULL, *source = NULL, *evaluated = NULL;
    py_view view = {0};
    cubc_device *device = NULL;
    cubc_type type;
    cubc_status st;
    void *stream;
    (void)self;
    if (py_arguments(&signature, args, n, names, v) < 0 || py_stream(v[STREAM], &stream) < 0)
        return py_call_named(NULL, "asarray", "asarray");
    if (py_lazy_check(v[X])) { // evaluated where its operands are
        PyObject *keywords = Py_BuildValue("{s:O}", "stream", v[STREAM] ? v[STREAM] : Py_None);
        v[X] = evaluated = keywords ? py_lazy_array(v[X], keywords) : NULL;
        Py_XDECREF(keywords);
        if (!v[X]) goto done;
    }
    if (py_view_get(v[X], "the array", false, stream, &view) < 0) goto done;
    if (v[DTYPE] && py_dtype(v[DTYPE], &type) < 0) goto done;
    if (v[DTYPE] && type != view.type) {
        if (py_check_conversion(view.type, type) < 0) goto done;
        source = converted(v[X], &view, type, v[STREAM]);
        py_view_release(&view);
        if (!source || py_view_get(source, "the array", false, stream, &view) < 0) goto done;
    }
    if (view.device && !v[DEVICE]) {
        device = view.device;
        device_retain(device);
    } else if ((st = py_device(v[DEVICE], &device))) {
        py_raise(st);
        goto done;
    }
    if (view.device == device)
        result = py_array_check(view.owner)
                     ? Py_NewRef(view.owner)
                     : py_array_wrap(&view, view.capsule ? view.capsule : view.owner);
    else
        result = copy_to_device(&view, device, stream);
    if (result && v[STREAM] && !((py_array *)result)->stream_object)
        ((py_array *)result)->stream_object = Py_NewRef(v[STREAM]);
done:
    if (device) device_release(device);
    py_view_release(&view);
    Py_XDECREF(source);
    Py_XDECREF(evaluated);
    return py_call_named(result, "asarray", "asarray");
}

// One extent; -1 if it is none.
static Py_ssize_t parse_extent(PyObject *shape, bool single, Py_ssize_t d)
{
    PyObject *item = single ? Py_NewRef(shape) : PySequence_GetItem(shape, d);
    Py_ssize_t extent = item ? PyNumber_AsSsize_t(item, PyExc_OverflowError) : -1;
    Py_XDECREF(item);
    return extent;
}

static int parse_shape(PyObject *object, Py_ssize_t *shape, int *ndim)
{
    bool single = PyIndex_Check(object);
    Py_ssize_t count = single ? 1 : PySequence_Size(object);
    if (count > VIEW_DIMENSIONS) {
        PyErr_Format(PyExc_ValueError, "a shape has at most %d dimensions, not %zd",
                     VIEW_DIMENSIONS, count);
        return -1;
    }
    for (Py_ssize_t d = 0; d < count && !PyErr_Occurred(); d++) {
        shape[d] = parse_extent(object, single, d);
        if (!PyErr_Occurred() && shape[d] < 0)
            PyErr_Format(PyExc_ValueError, "a shape is made of non-negative extents, not %.80R",
                         object);
    }
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "a shape is an int or a sequence of int, not %.80R", object);
    *ndim = (int)count;
    return PyErr_Occurred() ? -1 : 0;
}

PyObject *py_empty(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    enum { SHAPE, DTYPE, DEVICE, STREAM, COUNT };
    static py_signature signature = {.doc = empty_doc, .count = COUNT};
    PyObject *v[COUNT], *result = NULL;
    Py_ssize_t shape[VIEW_DIMENSIONS];
    cubc_type type = CUBC_F64;
    cubc_device *device;
    cubc_status st;
    void *stream;
    int ndim;
    (void)self;
    if (py_arguments(&signature, args, n, names, v) < 0 || py_stream(v[STREAM], &stream) < 0 ||
        parse_shape(v[SHAPE], shape, &ndim) < 0 || (v[DTYPE] && py_dtype(v[DTYPE], &type) < 0))
        return py_call_named(NULL, "empty", "empty");
    if ((st = py_device(v[DEVICE], &device))) return py_call_named(py_raise(st), "empty", "empty");
    result = py_array_new(device, type, ndim, shape, stream);
    device_release(device);
    if (result && v[STREAM]) ((py_array *)result)->stream_object = Py_NewRef(v[STREAM]);
    return py_call_named(result, "empty", "empty");
}
