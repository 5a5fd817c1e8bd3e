// Views of whatever looks like an array, as typed contiguous memory.
//
// Tried in this order: cubc.Array, CuPy's, __cuda_array_interface__ (Numba, PyTorch on CUDA), the
// buffer protocol (NumPy and most of Python), DLPack (PyTorch on the CPU, JAX), and at last
// numpy.asarray (lists, numbers, types that the buffer protocol cannot say, such as bfloat16).
// JAX's arrays on CUDA have both interfaces, and only DLPack waits for their producer.
#include "python/py_array.h"
#include "python/py_binding.h"
#include "python/py_dlpack.h"
#include "python/py_numpy.h"
#include "python/py_types.h"
#include "python/py_view.h"

#include <stdlib.h>
#include <string.h>

// ---- types --------------------------------------------------------------------------------------
// A struct-module format of one item, as in Py_buffer.
static int type_of_format(const char *format, Py_ssize_t size, cubc_type *out)
{
    if (!format) format = "B";
    if (*format == '>' && size > 1) return -1; // big-endian
    if (strchr("@=<>|", *format)) format++;
    bool complex = *format == 'Z';
    if (complex) format++;
    if (!*format || format[1]) return -1;
    char kind = complex                    ? 'c'
                : strchr("bhilq", *format) ? 'i'
                : strchr("BHILQ", *format) ? 'u'
                : strchr("efd", *format)   ? 'f'
                : *format == '?'           ? 'b'
                                           : 0;
    return kind ? py_type_of_kind(kind, size, out) : -1;
}

// NumPy knows what a buffer says in a code ("T{f:x:f:y:}", "Zg"). -1: exception.
static int type_of_buffer(PyObject *object, const char *what, const char *code, cubc_type *out)
{
    PyObject *array = PyObject_CallMethod(py_numpy, "asarray", "(O)", object);
    PyObject *dtype = array ? PyObject_GetAttrString(array, "dtype") : NULL;
    int found = py_forget() ? -1 : dtype ? py_type_of_dtype(dtype, out) : 0;
    if (found == 0) py_unsupported(what, dtype, code);
    Py_XDECREF(dtype);
    Py_XDECREF(array);
    return found > 0 ? 0 : -1;
}

// The dtype behind a typestr, as far as NumPy can tell: of the object if it has one, else by what
// the interface says of a struct's members, else of the typestr itself.
static PyObject *dtype_of_interface(PyObject *object, PyObject *interface, PyObject *typestr)
{
    PyObject *dtype = PyObject_GetAttrString(object, "dtype"), *members = NULL;
    if (!dtype && !py_forget()) members = PyMapping_GetItemString(interface, "descr");
    if (py_forget()) return dtype;
    if (members) {
        PyObject *module = PyImport_ImportModule("numpy.lib.format");
        if (module) dtype = PyObject_CallMethod(module, "descr_to_dtype", "O", members);
        Py_XDECREF(module);
        Py_DECREF(members);
    } else if (!dtype) {
        dtype = PyObject_CallMethod(py_numpy, "dtype", "O", typestr);
    }
    (void)py_forget();
    return dtype;
}

// A struct has a code for its size alone, which may be that of another type.
static int type_of_interface(PyObject *object, PyObject *interface, const char *what,
                             PyObject *typestr, cubc_type *out)
{
    const char *code = PyUnicode_AsUTF8AndSize(typestr, NULL);
    if (!code) return -1;
    bool opaque = *code && code[1] == 'V';
    if (!opaque && py_type_of_typestr(code, out) == 0) return 0;
    PyObject *dtype = dtype_of_interface(object, interface, typestr);
    int found = py_forget() ? -1 : dtype ? py_type_of_struct(dtype, out) : 0;
    if (found == 0 && py_type_of_typestr(code, out) == 0) found = 1;
    if (found == 0) py_unsupported(what, dtype, code);
    Py_XDECREF(dtype);
    return found > 0 ? 0 : -1;
}

// ---- sources ------------------------------------------------------------------------------------
// None stands for an entry that is not there.
static int malformed(const char *what, const char *entry, PyObject *given)
{
    PyErr_Format(PyExc_TypeError, "%s has a malformed __cuda_array_interface__: %s is %.80R", what,
                 entry, given ? given : Py_None);
    return -1;
}

static bool is_place(PyObject *data) // (address, read-only)
{
    return data && PyTuple_Check(data) && PyTuple_Size(data) == 2 &&
           PyLong_Check(PyTuple_GetItem(data, 0));
}

// Steps of the axes in items. 1: they are those of an array in C order; 0: they are not; -1 with an
// exception: they are no multiples of an item.
static int read_steps(const py_view *view, const char *what, PyObject *strides, Py_ssize_t *steps)
{
    if (!strides || strides == Py_None || view->n == 0) return 1;
    if (!PyTuple_Check(strides) || PyTuple_Size(strides) != view->ndim)
        return py_view_not_contiguous(what);
    Py_ssize_t bytes = (Py_ssize_t)cubc_type_size(view->type), expected = 1;
    int ordered = 1;
    for (int d = view->ndim - 1; d >= 0; d--) {
        Py_ssize_t stride = PyLong_AsSsize_t(PyTuple_GetItem(strides, d));
        if (PyErr_Occurred()) return py_forget() ? -1 : malformed(what, "strides", strides);
        if (stride % bytes && view->shape[d] != 1) return py_view_not_contiguous(what);
        steps[d] = stride / bytes;
        if (view->shape[d] != 1 && steps[d] != expected) ordered = 0;
        expected *= view->shape[d];
    }
    return ordered;
}

static int from_array(PyObject *object, const char *what, bool writable, py_view *out)
{
    if (writable && ((py_array *)object)->read_only) return py_view_read_only(what);
    py_array_view((py_array *)object, out);
    return 0;
}

static int from_cuda_interface(PyObject *object, PyObject *interface, const char *what,
                               bool writable, py_view *out)
{
    PyObject *data = PyMapping_GetItemString(interface, "data");
    PyObject *shape = data ? PyMapping_GetItemString(interface, "shape") : NULL;
    PyObject *typestr = shape ? PyMapping_GetItemString(interface, "typestr") : NULL;
    int status = -1;
    if (py_forget()) goto done;
    if (!is_place(data)) {
        malformed(what, "data", data);
        goto done;
    }
    if (!shape || !typestr || !PyUnicode_Check(typestr)) {
        malformed(what, shape ? "typestr" : "shape", typestr);
        goto done;
    }
    if (type_of_interface(object, interface, what, typestr, &out->type) < 0) goto done;
    out->data = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
    out->read_only = PyObject_IsTrue(PyTuple_GetItem(data, 1)) == 1;
    if (PyErr_Occurred() || py_view_shape_from_tuple(out, what, shape) < 0) goto done;
    PyObject *strides = PyMapping_GetItemString(interface, "strides");
    if (py_forget()) goto done;
    Py_ssize_t steps[VIEW_DIMENSIONS];
    int ordered = read_steps(out, what, strides, steps);
    Py_XDECREF(strides);
    if (ordered == 0 && writable) ordered = py_view_not_contiguous(what);
    if (ordered < 0) goto done;
    if (writable && out->read_only) {
        py_view_read_only(what);
        goto done;
    }
    PyObject *mask = PyMapping_GetItemString(interface, "mask");
    if (py_forget()) goto done;
    bool masked = mask && mask != Py_None;
    Py_XDECREF(mask);
    if (masked) {
        PyErr_Format(PyExc_TypeError, "%s has a mask, which cubc does not know: pass it filled",
                     what);
        goto done;
    }
    PyObject *stream = PyMapping_GetItemString(interface, "stream");
    if (py_forget()) goto done;
    if (stream && PyLong_Check(stream)) {
        out->has_stream = true;
        out->stream = PyLong_AsVoidPtr(stream);
        if (out->stream == (void *)1) out->stream = NULL; // the legacy default stream
    }
    Py_XDECREF(stream);
    if (!ordered) {
        status = py_view_gather(out, what, steps, object);
        goto done;
    }
    if (py_view_open_named(object, what, out) < 0) goto done;
    out->owner = Py_NewRef(object);
    status = 0;
done:
    Py_XDECREF(data);
    Py_XDECREF(shape);
    Py_XDECREF(typestr);
    return status;
}

// Lets a buffer go that has to be copied.
static int other_way(py_view *out)
{
    PyBuffer_Release(&out->buffer);
    out->has_buffer = false;
    return 0;
}

// 1 done, 0 another way may succeed, -1 exception. type: known already, or NULL.
static int from_buffer(PyObject *object, const char *what, bool writable, const cubc_type *type,
                       py_view *out)
{
    int flags = PyBUF_FORMAT | PyBUF_STRIDES;
    if (PyObject_GetBuffer(object, &out->buffer, flags) < 0) {
        return py_forget() ? -1 : 0; // ml_dtypes: the array's type has no format
    }
    out->has_buffer = true;
    const Py_buffer *b = &out->buffer;
    if (type)
        out->type = *type;
    else if (type_of_format(b->format, b->itemsize, &out->type) < 0 &&
             type_of_buffer(object, what, b->format ? b->format : "bytes", &out->type) < 0)
        return -1;
    for (int d = 0; d < b->ndim && d < VIEW_DIMENSIONS; d++) out->shape[d] = b->shape[d];
    if (py_view_set_shape(out, what, b->ndim) < 0) return -1;
    if (!PyBuffer_IsContiguous(b, 'C')) {
        if (writable) return py_view_not_contiguous(what);
        return other_way(out);
    }
    bool aligned = out->n == 0 || (uintptr_t)b->buf % type_table[out->type].alignment == 0;
    if (!aligned && !writable) return other_way(out);
    if (writable && b->readonly) return py_view_read_only(what);
    out->data = b->buf;
    out->on_host = true;
    out->read_only = b->readonly;
    out->owner = Py_NewRef(object);
    return 1;
}

// An array whose dtype no buffer can say, such as ml_dtypes.bfloat16 and structs with it.
static int from_words(PyObject *array, const char *what, bool writable, cubc_type type,
                      py_view *out)
{
    PyObject *words = py_numpy_words(array, type);
    int status = words ? from_buffer(words, what, writable, &type, out) : -1;
    Py_XDECREF(words);
    return status;
}

// numpy.asarray(object), contiguous and aligned; a copy only where that changes something.
static PyObject *as_numpy(PyObject *object)
{
    PyObject *array = PyObject_CallMethod(py_numpy, "asarray", "(O)", object);
    if (!array) return NULL;
    PyObject *require = PyObject_CallMethod(py_numpy, "require", "OOs", array, Py_None, "CA");
    bool copied = require != array;
    Py_DECREF(array);
    if (require && copied &&
        py_binding_refuse(PyExc_ValueError, "an array that is not contiguous and aligned would be "
                                            "copied, and a bound call would read the copy") < 0)
        Py_CLEAR(require);
    return require;
}

// Refuses what NumPy can only make an array of objects of. False: it is something else.
static bool refuse_object(PyObject *object, PyObject *dtype, const char *what)
{
    PyObject *kind = PyObject_GetAttrString(dtype, "kind");
    if (!kind) return py_forget();
    bool objects = PyUnicode_CompareWithASCIIString(kind, "O") == 0;
    Py_DECREF(kind);
    bool array = PyObject_HasAttrString(object, "dtype");
    if (objects && !array)
        PyErr_Format(PyExc_TypeError,
                     "%s is %.80R, which is no array of numbers: pass an array, a list or a number",
                     what, object);
    return objects && !array;
}

static bool is_plain_ndarray(PyObject *object)
{
    static PyObject *ndarray;
    if (!ndarray) ndarray = PyObject_GetAttrString(py_numpy, "ndarray");
    return Py_IS_TYPE(object, (PyTypeObject *)ndarray);
}

// NumPy reads masked arrays without their masks, and makes NaN of the nulls of tables. Numbers, the
// most common here, have none.
static int refuse_missing(PyObject *object, const char *what)
{
    if (PyFloat_Check(object) || PyLong_Check(object)) return 0;
    PyObject *module = PyImport_ImportModule("cubc._nulls");
    PyObject *none =
        module ? PyObject_CallMethod(module, "refuse_missing", "Os", object, what) : NULL;
    Py_XDECREF(none);
    Py_XDECREF(module);
    return none ? 0 : -1;
}

static int from_numpy(PyObject *object, const char *what, bool writable, py_view *out)
{
    if (!is_plain_ndarray(object) && refuse_missing(object, what) < 0) return -1;
    if ((PyList_Check(object) || PyTuple_Check(object)) &&
        py_binding_refuse(PyExc_TypeError, "a list would be copied: give an array") < 0)
        return -1;
    PyObject *array = as_numpy(object);
    int status = -1;
    cubc_type type;
    if (!array) return -1;
    PyObject *dtype = PyObject_GetAttrString(array, "dtype");
    if (writable && array != object) {
        PyErr_Format(PyExc_TypeError, "%s must be an array", what);
    } else if (dtype) {
        int known = py_type_of_dtype(dtype, &type);
        if (known > 0) known = from_words(array, what, writable, type, out);
        if (known == 0 && !refuse_object(object, dtype, what)) py_unsupported(what, dtype, "?");
        status = known == 1 ? 0 : -1;
    }
    Py_XDECREF(dtype);
    Py_DECREF(array);
    return status;
}

// True of an interface that names no stream, and whose memory is read-only: JAX's. Its streams are
// known to nobody, so that only DLPack can order a call behind them. Others that name none, as
// PyTorch's, work on a stream that their user gives to the call too.
static bool is_of_unknown_order(PyObject *interface)
{
    PyObject *data = PyMapping_GetItemString(interface, "data"), *stream = NULL;
    bool fixed = data && PyTuple_Check(data) && PyTuple_Size(data) == 2 &&
                 PyObject_IsTrue(PyTuple_GetItem(data, 1)) == 1;
    if (fixed) stream = PyMapping_GetItemString(interface, "stream");
    fixed = fixed && (!stream || stream == Py_None);
    Py_XDECREF(stream);
    Py_XDECREF(data);
    PyErr_Clear(); // what is malformed is told by its reader
    return fixed;
}

// NumPy copies an array of the host with strides, as its own, unless it has no such type.
static int copied_by_numpy(PyObject *object, const char *what, void *stream, py_view *out)
{
    PyObject *array = PyObject_CallMethod(py_numpy, "from_dlpack", "O", object);
    if (!array && PyErr_ExceptionMatches(PyExc_RuntimeError)) {
        PyErr_Clear();
        return py_view_not_contiguous(what);
    }
    int status = array ? py_view_get(array, what, false, stream, out) : -1;
    Py_XDECREF(array);
    return status;
}

int py_view_get(PyObject *object, const char *what, bool writable, void *stream, py_view *out)
{
    if (py_array_check(object)) return from_array(object, what, writable, out);
    if (is_plain_ndarray(object)) { // the common case has none of what is asked for below
        int status = from_buffer(object, what, writable, NULL, out);
        return status ? status < 0 ? -1 : 0 : from_numpy(object, what, writable, out);
    }
    if (py_view_is_cupy(object)) {
        int status = py_view_from_cupy(object, what, out);
        if (status) return status < 0 ? -1 : 0;
    }
    PyObject *interface = py_optional_attribute(object, "__cuda_array_interface__");
    if (interface) {
        int status = 0;
        if (!writable && is_of_unknown_order(interface))
            status = py_dlpack_import(object, what, false, stream, out);
        if (!status) status = from_cuda_interface(object, interface, what, writable, out);
        Py_DECREF(interface);
        return status < 0 ? -1 : 0;
    }
    if (PyErr_Occurred()) return -1;
    if (PyObject_CheckBuffer(object)) {
        // A masked array is a buffer of all its items.
        if (PyObject_HasAttrString(object, "filled") && refuse_missing(object, what) < 0) return -1;
        int status = from_buffer(object, what, writable, NULL, out);
        if (status) return status < 0 ? -1 : 0;
    } else {
        int status = py_dlpack_import(object, what, writable, stream, out);
        if (status == DLPACK_STRIDED) return copied_by_numpy(object, what, stream, out);
        if (status) return status < 0 ? -1 : 0;
    }
    return from_numpy(object, what, writable, out);
}

cubc_status py_view_order(const py_view *view, void *stream, PyObject *stream_object)
{
    if (view->owner && py_array_check(view->owner))
        return py_array_use((py_array *)view->owner, stream, stream_object);
    if (!view->device || !view->has_stream) return CUBC_OK;
    return view->device->api->order(view->device, stream, view->stream);
}
