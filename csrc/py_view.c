// Operands: whatever looks like an array, as typed contiguous memory.
//
// Tried in this order: cubc.Array, __cuda_array_interface__ (CuPy, Numba, PyTorch on CUDA), the
// buffer protocol (NumPy and most of Python), DLPack (PyTorch on the CPU, JAX), and at last
// numpy.asarray (lists, numbers, types that the buffer protocol cannot say, such as bfloat16).
#include "py_common.h"

#include <string.h>

// ---- types --------------------------------------------------------------------------------------
static int type_of_kind(char kind, Py_ssize_t size, cubc_type *out)
{
    static const struct {
        char kind, size;
        cubc_type type;
    } table[] = {{'b', 1, CUBC_BOOL}, {'i', 1, CUBC_I8},  {'i', 2, CUBC_I16}, {'i', 4, CUBC_I32},
                 {'i', 8, CUBC_I64},  {'u', 1, CUBC_U8},  {'u', 2, CUBC_U16}, {'u', 4, CUBC_U32},
                 {'u', 8, CUBC_U64},  {'f', 2, CUBC_F16}, {'f', 4, CUBC_F32}, {'f', 8, CUBC_F64},
                 {'V', 2, CUBC_BF16}};
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (table[i].kind == kind && table[i].size == size) {
            *out = table[i].type;
            return 0;
        }
    return -1;
}

// A struct-module format of one item, as in Py_buffer.
static int type_of_format(const char *format, Py_ssize_t size, cubc_type *out)
{
    if (!format) format = "B";
    if (*format == '>' && size > 1) return -1; // big-endian
    if (strchr("@=<>|", *format)) format++;
    if (!*format || format[1]) return -1;
    char kind = strchr("bhilq", *format)   ? 'i'
                : strchr("BHILQ", *format) ? 'u'
                : strchr("efd", *format)   ? 'f'
                : *format == '?'           ? 'b'
                                           : 0;
    return kind ? type_of_kind(kind, size, out) : -1;
}

// "<f4" as in the array interfaces.
static int type_of_typestr(const char *text, cubc_type *out)
{
    if (strlen(text) != 3 || *text == '>') return -1;
    return type_of_kind(text[1], text[2] - '0', out);
}

static int unsupported(const char *what, const char *type)
{
    PyErr_Format(PyExc_TypeError,
                 "%s has the type %s; supported are bool, int8 to int64, uint8 to uint64, float16, "
                 "bfloat16, float32 and float64 in native byte order",
                 what, type);
    return -1;
}

static const char *const numpy_names[CUBC_TYPE_COUNT] = {
    "bool",   "int8",   "int16",   "int32",    "int64",   "uint8",  "uint16",
    "uint32", "uint64", "float16", "bfloat16", "float32", "float64"};

static int type_of_name(const char *name, cubc_type *out)
{
    const char *dot = strrchr(name, '.'); // "torch.float32"
    if (dot) name = dot + 1;
    for (int t = 0; t < CUBC_TYPE_COUNT; t++)
        if (strcmp(name, numpy_names[t]) == 0 || strcmp(name, type_table[t].name) == 0) {
            *out = (cubc_type)t;
            return 0;
        }
    return -1;
}

static int type_of_str(PyObject *object, cubc_type *out)
{
    int status = -1;
    PyObject *text = object ? PyObject_Str(object) : NULL;
    const char *name = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (name) status = type_of_name(name, out);
    Py_XDECREF(text);
    PyErr_Clear();
    return status;
}

int py_dtype(PyObject *object, cubc_type *out)
{
    if (type_of_str(object, out) == 0) return 0; // names, and PyTorch's dtypes
    PyObject *dtype = PyObject_CallMethod(py_numpy, "dtype", "(O)", object);
    PyErr_Clear();
    int status = dtype ? type_of_str(dtype, out) : -1;
    Py_XDECREF(dtype);
    if (status == 0) return 0;
    PyObject *text = PyObject_Str(object);
    if (text) unsupported("the result", PyUnicode_AsUTF8AndSize(text, NULL));
    Py_XDECREF(text);
    return -1;
}

PyObject *py_numpy_dtype(cubc_type type)
{
    if (type != CUBC_BF16) return PyObject_CallMethod(py_numpy, "dtype", "s", numpy_names[type]);
    PyObject *ml_dtypes = PyImport_ImportModule("ml_dtypes"), *dtype = NULL;
    if (ml_dtypes) {
        PyObject *scalar = PyObject_GetAttrString(ml_dtypes, "bfloat16");
        if (scalar) dtype = PyObject_CallMethod(py_numpy, "dtype", "O", scalar);
        Py_XDECREF(scalar);
    } else {
        PyErr_SetString(PyExc_TypeError, "NumPy has no bfloat16 of its own: pip install ml-dtypes");
    }
    Py_XDECREF(ml_dtypes);
    return dtype;
}

PyObject *py_numpy_scalar(cubc_type type, const void *value)
{
    PyObject *dtype = py_numpy_dtype(type), *array = NULL, *item = NULL;
    if (dtype)
        array = PyObject_CallMethod(py_numpy, "frombuffer", "y#O", (const char *)value,
                                    (Py_ssize_t)cubc_type_size(type), dtype);
    if (array) item = PySequence_GetItem(array, 0);
    Py_XDECREF(array);
    Py_XDECREF(dtype);
    return item;
}

// An integer type takes a number only if nothing of it is lost.
static int check_integral(PyObject *object, cubc_type type)
{
    if (type_table[type].kind == KIND_FLOAT || PyIndex_Check(object)) return 0;
    PyObject *number = PyNumber_Float(object);
    double value = number ? PyFloat_AsDouble(number) : 0;
    Py_XDECREF(number);
    if (PyErr_Occurred()) return -1;
    if (value == (double)(int64_t)value && value > -9.2e18 && value < 9.2e18) return 0;
    PyErr_Format(PyExc_ValueError, "%R is not an integer, as %s takes", object,
                 type_table[type].name);
    return -1;
}

int py_scalar(PyObject *object, cubc_type type, uint64_t *bits)
{
    int status = -1;
    if (check_integral(object, type) < 0) return -1;
    Py_buffer buffer;
    PyObject *dtype = py_numpy_dtype(type), *array = NULL;
    // BF16 is not a type that a buffer can say; no accumulator has it.
    if (dtype) array = PyObject_CallMethod(py_numpy, "asarray", "(OO)", object, dtype);
    if (array && PyObject_GetBuffer(array, &buffer, PyBUF_C_CONTIGUOUS) == 0) {
        if ((size_t)buffer.len == cubc_type_size(type)) {
            *bits = 0;
            memcpy(bits, buffer.buf, cubc_type_size(type));
            status = 0;
        } else {
            PyErr_SetString(PyExc_ValueError, "expected a single value, not an array");
        }
        PyBuffer_Release(&buffer);
    }
    Py_XDECREF(array);
    Py_XDECREF(dtype);
    return status;
}

// ---- streams ------------------------------------------------------------------------------------
int py_stream(PyObject *object, void **out)
{
    // cuda.core's protocol first: (version, handle). Then CuPy, PyTorch, Numba.
    static const char *const attributes[] = {"ptr", "cuda_stream", "handle"};
    PyObject *number = NULL;
    *out = NULL;
    if (!object || object == Py_None) return 0;
    if (PyLong_Check(object)) {
        number = Py_NewRef(object);
    } else if (PyObject_HasAttrString(object, "__cuda_stream__")) {
        PyObject *pair = PyObject_CallMethod(object, "__cuda_stream__", NULL);
        number = pair ? PySequence_GetItem(pair, 1) : NULL;
        Py_XDECREF(pair);
    } else {
        for (size_t i = 0; !number && i < COUNT_OF(attributes); i++) {
            number = PyObject_GetAttrString(object, attributes[i]);
            if (!number) PyErr_Clear();
        }
    }
    if (number && !PyLong_Check(number)) { // Numba's handle is a ctypes pointer
        PyObject *pointer = number;
        number = PyObject_GetAttrString(pointer, "value"); // None for the default stream
        Py_DECREF(pointer);
        if (number == Py_None) {
            Py_DECREF(number);
            number = PyLong_FromLong(0);
        }
    }
    if (number && PyLong_Check(number)) {
        *out = PyLong_AsVoidPtr(number);
        Py_DECREF(number);
        return PyErr_Occurred() ? -1 : 0;
    }
    Py_XDECREF(number);
    PyErr_Clear();
    PyErr_SetString(PyExc_TypeError, "stream must be None, a stream of CuPy, PyTorch, Numba or "
                                     "cuda.core, or a CUstream's address as an int");
    return -1;
}

// ---- shapes -------------------------------------------------------------------------------------
int py_view_set_shape(py_view *view, const char *what, int ndim)
{
    if (ndim < 0 || ndim > VIEW_DIMENSIONS) {
        PyErr_Format(PyExc_ValueError, "%s has %d dimensions; at most %d are supported", what, ndim,
                     VIEW_DIMENSIONS);
        return -1;
    }
    view->ndim = ndim;
    view->n = 1;
    for (int d = 0; d < ndim; d++) {
        if (view->shape[d] < 0 ||
            (view->shape[d] && view->n > (uint64_t)INT64_MAX / 8 / (uint64_t)view->shape[d])) {
            PyErr_Format(PyExc_ValueError, "%s has a negative or an impossibly large extent", what);
            return -1;
        }
        view->n *= (uint64_t)view->shape[d];
    }
    return 0;
}

static int shape_from_tuple(py_view *view, const char *what, PyObject *shape)
{
    Py_ssize_t ndim = PyTuple_Check(shape) ? PyTuple_Size(shape) : -1;
    for (Py_ssize_t d = 0; d < ndim && d < VIEW_DIMENSIONS; d++)
        view->shape[d] = PyLong_AsSsize_t(PyTuple_GetItem(shape, d));
    if (ndim < 0 || PyErr_Occurred()) {
        PyErr_Format(PyExc_TypeError, "%s has a malformed shape", what);
        return -1;
    }
    return py_view_set_shape(view, what, (int)ndim);
}

static int not_contiguous(const char *what)
{
    PyErr_Format(
        PyExc_ValueError,
        "%s is not contiguous in C order; pass a contiguous copy (numpy.ascontiguousarray, "
        "cupy.ascontiguousarray, tensor.contiguous())",
        what);
    return -1;
}

static bool contiguous(const py_view *view, PyObject *strides)
{
    if (!strides || strides == Py_None) return true;
    if (!PyTuple_Check(strides) || PyTuple_Size(strides) != view->ndim) return false;
    Py_ssize_t expected = (Py_ssize_t)cubc_type_size(view->type);
    for (int d = view->ndim - 1; d >= 0; d--) {
        if (view->shape[d] != 1 && PyLong_AsSsize_t(PyTuple_GetItem(strides, d)) != expected)
            return view->n == 0;
        expected *= view->shape[d];
    }
    return true;
}

// ---- sources ------------------------------------------------------------------------------------
static int from_array(PyObject *object, const char *what, bool writable, py_view *out)
{
    py_array *array = (py_array *)object;
    if (writable && array->read_only) {
        PyErr_Format(PyExc_ValueError, "%s is read-only", what);
        return -1;
    }
    out->data = array->data;
    out->n = array->n;
    out->type = array->type;
    out->ndim = array->ndim;
    memcpy(out->shape, array->shape, sizeof out->shape);
    out->device = array->device;
    device_retain(out->device);
    out->stream = array->stream;
    out->has_stream = true;
    out->read_only = array->read_only;
    out->owner = Py_NewRef(object);
    return 0;
}

// The interface does not name the device; where there are several, DLPack's question does.
static int cuda_device_of(PyObject *object, cubc_device **out)
{
    char name[32] = "cuda";
    PyObject *pair = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    PyObject *index = pair ? PySequence_GetItem(pair, 1) : NULL;
    if (index && PyLong_Check(index))
        PyOS_snprintf(name, sizeof name, "cuda:%ld", PyLong_AsLong(index));
    PyErr_Clear();
    Py_XDECREF(index);
    Py_XDECREF(pair);
    cubc_status st = py_open_device(name, out);
    if (st) py_raise(st);
    return st ? -1 : 0;
}

static int from_cuda_interface(PyObject *object, PyObject *interface, const char *what,
                               bool writable, py_view *out)
{
    PyObject *data = PyMapping_GetItemString(interface, "data");
    PyObject *shape = PyMapping_GetItemString(interface, "shape");
    PyObject *typestr = PyMapping_GetItemString(interface, "typestr");
    int status = -1;
    if (!data || !shape || !typestr || !PyTuple_Check(data) || PyTuple_Size(data) != 2) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s has a malformed __cuda_array_interface__", what);
        goto done;
    }
    const char *type = PyUnicode_AsUTF8AndSize(typestr, NULL);
    if (!type) goto done;
    if (type_of_typestr(type, &out->type) < 0) {
        unsupported(what, type);
        goto done;
    }
    out->data = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
    out->read_only = PyObject_IsTrue(PyTuple_GetItem(data, 1)) == 1;
    if (PyErr_Occurred() || shape_from_tuple(out, what, shape) < 0) goto done;
    PyObject *strides = PyMapping_GetItemString(interface, "strides");
    PyErr_Clear();
    bool ordered = contiguous(out, strides);
    Py_XDECREF(strides);
    if (!ordered) {
        not_contiguous(what);
        goto done;
    }
    if (writable && out->read_only) {
        PyErr_Format(PyExc_ValueError, "%s is read-only", what);
        goto done;
    }
    PyObject *stream = PyMapping_GetItemString(interface, "stream");
    PyErr_Clear();
    if (stream && PyLong_Check(stream)) {
        out->has_stream = true;
        out->stream = PyLong_AsVoidPtr(stream);
        if (out->stream == (void *)1) out->stream = NULL; // the legacy default stream
    }
    Py_XDECREF(stream);
    if (cuda_device_of(object, &out->device) < 0) goto done;
    out->owner = Py_NewRef(object);
    status = 0;
done:
    Py_XDECREF(data);
    Py_XDECREF(shape);
    Py_XDECREF(typestr);
    return status;
}

// 1 done, 0 another way may succeed, -1 exception.
static int from_buffer(PyObject *object, const char *what, bool writable, py_view *out)
{
    int flags = PyBUF_FORMAT | PyBUF_STRIDES;
    if (PyObject_GetBuffer(object, &out->buffer, flags) < 0) {
        PyErr_Clear(); // ml_dtypes: the array's type has no format
        return 0;
    }
    out->has_buffer = true;
    const Py_buffer *b = &out->buffer;
    if (type_of_format(b->format, b->itemsize, &out->type) < 0)
        return unsupported(what, b->format ? b->format : "bytes");
    if (b->ndim <= VIEW_DIMENSIONS)
        memcpy(out->shape, b->shape, (size_t)b->ndim * sizeof *b->shape);
    if (py_view_set_shape(out, what, b->ndim) < 0) return -1;
    if (!PyBuffer_IsContiguous(b, 'C')) {
        if (writable) return not_contiguous(what);
        PyBuffer_Release(&out->buffer);
        out->has_buffer = false;
        return 0;
    }
    if (writable && b->readonly) {
        PyErr_Format(PyExc_ValueError, "%s is read-only", what);
        return -1;
    }
    out->data = b->buf;
    out->on_host = true;
    out->read_only = b->readonly;
    out->owner = Py_NewRef(object);
    return 1;
}

// An array of ml_dtypes.bfloat16 as the 16-bit integers that it is made of.
static int from_bfloat16(PyObject *array, const char *what, bool writable, py_view *out)
{
    PyObject *words = PyObject_CallMethod(array, "view", "s", "uint16");
    int status = words ? from_buffer(words, what, writable, out) : -1;
    Py_XDECREF(words);
    if (status == 1) out->type = CUBC_BF16;
    return status == 1 ? 0 : -1;
}

// numpy.asarray(object), contiguous; a copy only where that changes something.
static PyObject *as_numpy(PyObject *object)
{
    PyObject *array = PyObject_CallMethod(py_numpy, "asarray", "(O)", object);
    if (!array) return NULL;
    PyObject *require = PyObject_CallMethod(py_numpy, "require", "OOs", array, Py_None, "C");
    Py_DECREF(array);
    return require;
}

static int from_numpy(PyObject *object, const char *what, bool writable, py_view *out)
{
    PyObject *array = as_numpy(object);
    int status = -1;
    cubc_type type;
    if (!array) return -1;
    PyObject *dtype = PyObject_GetAttrString(array, "dtype");
    if (writable && array != object) {
        PyErr_Format(PyExc_TypeError, "%s must be an array", what);
    } else if (type_of_str(dtype, &type) == 0 && type == CUBC_BF16) {
        status = from_bfloat16(array, what, writable, out);
    } else {
        int got = from_buffer(array, what, writable, out);
        if (got == 0) {
            PyObject *text = dtype ? PyObject_Str(dtype) : NULL;
            unsupported(what, text ? PyUnicode_AsUTF8AndSize(text, NULL) : "?");
            Py_XDECREF(text);
        }
        status = got == 1 ? 0 : -1;
    }
    Py_XDECREF(dtype);
    Py_DECREF(array);
    return status;
}

// An attribute that need not be there: NULL without an exception if it is not. Other exceptions of
// its property are the caller's to see.
static PyObject *optional_attribute(PyObject *object, const char *name)
{
    PyObject *value = PyObject_GetAttrString(object, name);
    if (!value && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    return value;
}

int py_view_get(PyObject *object, const char *what, bool writable, void *stream, py_view *out)
{
    if (py_array_check(object)) return from_array(object, what, writable, out);
    PyObject *interface = optional_attribute(object, "__cuda_array_interface__");
    if (interface) {
        int status = from_cuda_interface(object, interface, what, writable, out);
        Py_DECREF(interface);
        return status;
    }
    if (PyErr_Occurred()) return -1;
    if (PyObject_CheckBuffer(object)) {
        int status = from_buffer(object, what, writable, out);
        if (status) return status < 0 ? -1 : 0;
    } else {
        int status = py_dlpack_import(object, what, stream, out);
        if (status > 0 && writable && out->on_host) { // DLPack 0.8 cannot say what is immutable
            PyErr_Format(PyExc_TypeError, "%s must be a NumPy array or a device array", what);
            return -1;
        }
        if (status) return status < 0 ? -1 : 0;
    }
    return from_numpy(object, what, writable, out);
}

void py_view_release(py_view *view)
{
    if (view->has_buffer) PyBuffer_Release(&view->buffer);
    if (view->device) device_release(view->device);
    Py_XDECREF(view->capsule);
    Py_XDECREF(view->owner);
    memset(view, 0, sizeof *view);
}
