// cubc.Array: a contiguous array in a device's memory.
#include "python/py_array.h"

#include "python/py_arguments.h"
#include "python/py_binding.h"
#include "python/py_dlpack.h"
#include "python/py_module.h"
#include "python/py_numpy.h"
#include "python/py_types.h"

#include "base/size.h"

#include <stdlib.h>
#include <string.h>

PyObject *py_array_type;

bool py_array_check(PyObject *object)
{
    return Py_IS_TYPE(object, (PyTypeObject *)py_array_type);
}

// ---- life ---------------------------------------------------------------------------------------
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

// Shares the memory, as a view of NumPy does.
static PyObject *array_part(py_array *a, Py_ssize_t first, Py_ssize_t end)
{
    Py_ssize_t shape[VIEW_DIMENSIONS];
    uint64_t row = a->shape[0] ? a->n / (uint64_t)a->shape[0] : 0;
    for (int d = 0; d < a->ndim; d++) shape[d] = d ? a->shape[d] : end - first;
    py_array *part = new_array(a->device, a->type, a->ndim, shape);
    if (!part) return NULL;
    part->data = (char *)a->data + (uint64_t)first * row * cubc_type_size(a->type);
    part->stream = a->stream;
    part->stream_object = Py_XNewRef(a->stream_object);
    part->read_only = a->read_only;
    part->base = Py_NewRef((PyObject *)a);
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

// There is nothing to clear, as in a tuple: what an array refers to was there before it, so a cycle
// has another member that can be cleared, and an array keeps its memory to the end.
static int array_traverse(PyObject *self, visitproc visit, void *arg)
{
    py_array *a = (py_array *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(a->base);
    Py_VISIT(a->stream_object);
    return 0;
}

static void array_dealloc(PyObject *self)
{
    py_array *a = (py_array *)self;
    PyObject_GC_UnTrack(self);
    if (a->device && !a->base) {
        Py_BEGIN_ALLOW_THREADS
        a->device->api->free(a->device, a->data, a->stream);
        Py_END_ALLOW_THREADS
    }
    if (a->base && py_array_check(a->base)) { // the memory is released after this part's last work
        py_array *whole = (py_array *)a->base;
        if (whole->stream != a->stream)
            (void)a->device->api->order(a->device, whole->stream, a->stream);
    }
    if (a->device) device_release(a->device);
    Py_XDECREF(a->base);
    Py_XDECREF(a->stream_object);
    py_release(self);
}

// ---- to the host --------------------------------------------------------------------------------
static PyObject *array_numpy(PyObject *self, PyObject *unused)
{
    py_array *a = (py_array *)self;
    PyObject *array = py_numpy_empty(a->type, a->ndim, a->shape);
    Py_buffer buffer;
    cubc_status st = CUBC_OK;
    (void)unused;
    if (!array) return NULL;
    PyObject *words = py_numpy_words(array, a->type);
    if (!words || PyObject_GetBuffer(words, &buffer, PyBUF_ANY_CONTIGUOUS | PyBUF_WRITABLE) < 0) {
        Py_XDECREF(words);
        Py_DECREF(array);
        return NULL;
    }
    py_binding_note_read();
    Py_BEGIN_ALLOW_THREADS
    st = cubc_copy(a->device, buffer.buf, a->data, (size_t)buffer.len, a->stream);
    if (!st) st = cubc_synchronize(a->device, a->stream);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&buffer);
    Py_DECREF(words);
    if (!st) return array;
    Py_DECREF(array);
    return py_raise(st);
}

static PyObject *array_array(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"dtype", "copy", NULL};
    PyObject *dtype = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO:__array__", names, &dtype, &copy))
        return NULL;
    if (copy == Py_False) {
        PyErr_SetString(PyExc_ValueError,
                        "device memory cannot become a NumPy array without a copy");
        return NULL;
    }
    PyObject *array = array_numpy(self, NULL);
    if (!array || dtype == Py_None) return array;
    PyObject *cast = PyObject_CallMethod(array, "astype", "O", dtype);
    Py_DECREF(array);
    return cast;
}

static PyObject *array_item(PyObject *self, PyObject *unused)
{
    py_array *a = (py_array *)self;
    (void)unused;
    if (a->n != 1) {
        PyErr_Format(PyExc_ValueError,
                     "only an array of one item can become a scalar, this one has %llu: a.numpy() "
                     "is a copy of all of them",
                     (unsigned long long)a->n);
        return NULL;
    }
    PyObject *array = array_numpy(self, NULL);
    PyObject *item = array ? PyObject_CallMethod(array, "item", NULL) : NULL;
    Py_XDECREF(array);
    return item;
}

static PyObject *array_tolist(PyObject *self, PyObject *unused)
{
    PyObject *array = array_numpy(self, unused);
    PyObject *list = array ? PyObject_CallMethod(array, "tolist", NULL) : NULL;
    Py_XDECREF(array);
    return list;
}

// ---- as another array ---------------------------------------------------------------------------
// The extents of reshape(2, -1) or reshape((2, -1)); -1 with an exception set.
static int read_extents(const py_array *a, PyObject *given, Py_ssize_t *shape)
{
    Py_ssize_t ndim = PyTuple_Size(given), open = -1;
    uint64_t n = 1;
    bool fits = ndim <= VIEW_DIMENSIONS;
    for (Py_ssize_t d = 0; fits && d < ndim; d++) {
        shape[d] = PyNumber_AsSsize_t(PyTuple_GetItem(given, d), PyExc_OverflowError);
        if (shape[d] == -1 && PyErr_Occurred()) return -1;
        fits = shape[d] >= 0 || (shape[d] == -1 && open < 0);
        if (shape[d] == -1) open = d;
        if (fits && d != open) fits = !__builtin_mul_overflow(n, (uint64_t)shape[d], &n);
    }
    if (fits && open >= 0 && n) shape[open] = (Py_ssize_t)(a->n / n);
    if (fits && open >= 0) n = n ? n * (uint64_t)shape[open] : a->n + 1;
    if (fits && n == a->n) return 0;
    PyErr_Format(PyExc_ValueError, "cannot reshape array of size %llu into shape %R",
                 (unsigned long long)a->n, given);
    return -1;
}

static PyObject *array_reshape(PyObject *self, PyObject *args)
{
    py_array *a = (py_array *)self, *shaped = NULL;
    Py_ssize_t shape[VIEW_DIMENSIONS];
    bool packed = PyTuple_Size(args) == 1 && !PyIndex_Check(PyTuple_GetItem(args, 0));
    PyObject *given = packed ? PySequence_Tuple(PyTuple_GetItem(args, 0)) : Py_NewRef(args);
    if (!given) return NULL;
    if (read_extents(a, given, shape) == 0)
        shaped = new_array(a->device, a->type, (int)PyTuple_Size(given), shape);
    Py_DECREF(given);
    if (!shaped) return NULL;
    shaped->data = a->data;
    shaped->stream = a->stream;
    shaped->stream_object = Py_XNewRef(a->stream_object);
    shaped->read_only = a->read_only;
    shaped->base = Py_NewRef(self);
    return (PyObject *)shaped;
}

// cubc.transform("x", x=self, dtype=dtype): by the public name, since transform's file uses this
// one.
static PyObject *converted(PyObject *self, PyObject *dtype)
{
    PyObject *module = PyImport_ImportModule("cubc"), *made = NULL;
    PyObject *function = module ? PyObject_GetAttrString(module, "transform") : NULL;
    PyObject *text = function ? Py_BuildValue("(s)", "x") : NULL;
    PyObject *options = text ? Py_BuildValue("{s:O,s:O}", "x", self, "dtype", dtype) : NULL;
    if (options) made = PyObject_Call(function, text, options);
    Py_XDECREF(options);
    Py_XDECREF(text);
    Py_XDECREF(function);
    Py_XDECREF(module);
    return made;
}

static PyObject *array_astype(PyObject *self, PyObject *dtype)
{
    return converted(self, dtype);
}

static PyObject *array_copy(PyObject *self, PyObject *unused)
{
    PyObject *dtype = py_numpy_dtype(((py_array *)self)->type);
    PyObject *made = dtype ? converted(self, dtype) : NULL;
    (void)unused;
    Py_XDECREF(dtype);
    return made;
}

static PyObject *array_complex(PyObject *self, PyObject *unused)
{
    PyObject *item = array_item(self, unused);
    PyObject *number = item ? PyObject_CallFunction((PyObject *)&PyComplex_Type, "O", item) : NULL;
    Py_XDECREF(item);
    return number;
}

static PyObject *array_float(PyObject *self)
{
    PyObject *item = array_item(self, NULL), *number = item ? PyNumber_Float(item) : NULL;
    Py_XDECREF(item);
    return number;
}

static PyObject *array_int(PyObject *self)
{
    PyObject *item = array_item(self, NULL), *number = item ? PyNumber_Long(item) : NULL;
    Py_XDECREF(item);
    return number;
}

static PyObject *array_index(PyObject *self)
{
    PyObject *item = array_item(self, NULL), *number = item ? PyNumber_Index(item) : NULL;
    Py_XDECREF(item);
    return number;
}

static int array_bool(PyObject *self)
{
    PyObject *item = array_item(self, NULL);
    int truth = item ? PyObject_IsTrue(item) : -1;
    Py_XDECREF(item);
    return truth;
}

static Py_ssize_t array_length(PyObject *self)
{
    py_array *a = (py_array *)self;
    if (a->ndim) return a->shape[0];
    PyErr_SetString(PyExc_TypeError, "len() of an array without dimensions");
    return -1;
}

static PyObject *array_repr(PyObject *self)
{
    py_array *a = (py_array *)self;
    PyObject *values = array_numpy(self, NULL);
    PyObject *text = values ? PyObject_Str(values) : NULL;
    PyObject *repr = text ? PyUnicode_FromFormat("cubc.Array(%U, dtype=%s, device='%s')", text,
                                                 py_type_name(a->type), a->device->info.name)
                          : NULL;
    Py_XDECREF(text);
    Py_XDECREF(values);
    return repr;
}

// A comparison item by item, as of NumPy's arrays, would be a copy or a launch each time.
static PyObject *array_compare(PyObject *self, PyObject *other, int operation)
{
    (void)self, (void)other, (void)operation;
    PyErr_SetString(PyExc_TypeError,
                    "cubc.Array has no comparisons: compare a.numpy(), or on the device "
                    "cubc.transform('a == b', a=a, b=b, dtype=bool)");
    return NULL;
}

static PyObject *array_subscript(PyObject *self, PyObject *index)
{
    py_array *a = (py_array *)self;
    Py_ssize_t start, stop, step;
    if (!PySlice_Check(index) || a->ndim == 0) {
        PyErr_SetString(PyExc_TypeError, "cubc.Array has no indexing but a[first:end]: take "
                                         "a.numpy()[...], or a.item() for the only item");
        return NULL;
    }
    if (PySlice_Unpack(index, &start, &stop, &step) < 0) return NULL;
    if (step != 1) {
        PyErr_SetString(PyExc_ValueError, "cubc.Array is contiguous: a slice of it has the step 1");
        return NULL;
    }
    Py_ssize_t length = PySlice_AdjustIndices(a->shape[0], &start, &stop, step);
    return array_part(a, start, start + length);
}

static PyObject *array_iterate(PyObject *self)
{
    (void)self;
    PyErr_SetString(PyExc_TypeError, "cubc.Array has no iteration: iterate over a.numpy()");
    return NULL;
}

// ---- properties ---------------------------------------------------------------------------------
static PyObject *get_shape(PyObject *self, void *unused)
{
    py_array *a = (py_array *)self;
    (void)unused;
    return py_shape(a->ndim, a->shape);
}

static PyObject *get_size(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((py_array *)self)->n);
}

static PyObject *get_ndim(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromLong(((py_array *)self)->ndim);
}

static PyObject *get_itemsize(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(cubc_type_size(((py_array *)self)->type));
}

static PyObject *get_nbytes(PyObject *self, void *unused)
{
    py_array *a = (py_array *)self;
    (void)unused;
    return PyLong_FromUnsignedLongLong(a->n * cubc_type_size(a->type));
}

static PyObject *get_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return py_numpy_dtype(((py_array *)self)->type);
}

static PyObject *get_device(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(((py_array *)self)->device->info.name);
}

static PyObject *get_ptr(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(((py_array *)self)->data);
}

// Adds the members of a struct, of which typestr says nothing.
static int add_members(PyObject *interface, const py_array *a)
{
    PyObject *dtype = py_numpy_dtype(a->type);
    PyObject *members = dtype ? PyObject_GetAttrString(dtype, "descr") : NULL;
    int status = members ? PyDict_SetItemString(interface, "descr", members) : -1;
    Py_XDECREF(members);
    Py_XDECREF(dtype);
    return status;
}

static PyObject *get_cuda_interface(PyObject *self, void *unused)
{
    static const char kinds[] = {[KIND_BOOL] = 'b',  [KIND_SIGNED] = 'i',  [KIND_UNSIGNED] = 'u',
                                 [KIND_FLOAT] = 'f', [KIND_COMPLEX] = 'c', [KIND_STRUCT] = 'V'};
    type_kind kind;
    py_array *a = (py_array *)self;
    char typestr[8];
    if (strcmp(a->device->info.kind, "cuda") != 0) {
        PyErr_SetString(PyExc_AttributeError, "the array is not in CUDA memory");
        return NULL;
    }
    kind = a->type == CUBC_BF16 ? KIND_STRUCT : type_table[a->type].kind;
    bool ordered = type_table[a->type].size > 1 && type_table[a->type].kind != KIND_STRUCT;
    PyOS_snprintf(typestr, sizeof typestr, "%c%c%d", ordered ? '<' : '|', kinds[kind],
                  type_table[a->type].size);
    PyObject *shape = get_shape(self, unused);
    if (!shape) return NULL;
    // 0 is forbidden as a stream: 1 names the legacy default stream.
    PyObject *interface =
        Py_BuildValue("{s:N,s:s,s:(NO),s:i,s:n}", "shape", shape, "typestr", typestr, "data",
                      PyLong_FromVoidPtr(a->data), Py_False, "version", 3, "stream",
                      a->stream ? (Py_ssize_t)a->stream : (Py_ssize_t)1);
    if (interface && type_table[a->type].kind == KIND_STRUCT && add_members(interface, a) < 0)
        Py_CLEAR(interface);
    return interface;
}

static PyObject *array_dlpack(PyObject *self, PyObject *args, PyObject *keywords)
{
    py_array *a = (py_array *)self;
    PyObject *stream_object = keywords ? PyDict_GetItemString(keywords, "stream") : NULL;
    PyObject *copy = keywords ? PyDict_GetItemString(keywords, "copy") : NULL;
    void *stream = NULL;
    cubc_status st = CUBC_OK;
    (void)args;
    if (copy == Py_True) {
        PyErr_SetString(PyExc_BufferError, "cubc.Array exports its own memory; copy the result");
        return NULL;
    }
    if (a->read_only) {
        PyErr_SetString(PyExc_BufferError, "the array is read-only, which DLPack cannot say");
        return NULL;
    }
    if (type_table[a->type].kind == KIND_STRUCT) {
        PyErr_SetString(PyExc_BufferError, "DLPack has no structs: take the array by "
                                           "__cuda_array_interface__, or a.numpy()");
        return NULL;
    }
    bool quiet = stream_object && PyLong_Check(stream_object) &&
                 PyLong_AsLong(stream_object) == -1 && !PyErr_Occurred();
    if (!quiet && py_stream(stream_object, &stream) < 0) return NULL;
    if (stream == (void *)1) stream = NULL;
    if (!quiet) st = a->device->api->order(a->device, stream, a->stream);
    return st ? py_raise(st) : py_dlpack_export(a);
}

static PyObject *array_dlpack_device(PyObject *self, PyObject *unused)
{
    const char *colon = strchr(((py_array *)self)->device->info.name, ':');
    (void)unused;
    return Py_BuildValue("(ii)", colon ? 2 : 1, colon ? atoi(colon + 1) : 0);
}

// ---- the type -----------------------------------------------------------------------------------
static PyGetSetDef properties[] = {
    {"shape", get_shape, NULL, "Extents, a tuple of int.", NULL},
    {"size", get_size, NULL, "Number of items.", NULL},
    {"ndim", get_ndim, NULL, "Number of dimensions.", NULL},
    {"itemsize", get_itemsize, NULL, "Bytes of an item.", NULL},
    {"nbytes", get_nbytes, NULL, "Bytes of all items.", NULL},
    {"dtype", get_dtype, NULL, "The items' type, a numpy.dtype.", NULL},
    {"device", get_device, NULL, "Name of the device, as 'cuda:0'.", NULL},
    {"ptr", get_ptr, NULL, "Address in the device's memory.", NULL},
    {"__cuda_array_interface__", get_cuda_interface, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

#define KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))
static PyMethodDef array_methods[] = {
    {"numpy", array_numpy, METH_NOARGS, "A copy as a NumPy array."},
    {"item", array_item, METH_NOARGS, "The only item as a Python number; of a struct as a tuple."},
    {"tolist", array_tolist, METH_NOARGS, "The items as a list, of lists for several dimensions."},
    {"reshape", array_reshape, METH_VARARGS,
     "The same memory in another shape; one extent may be -1."},
    {"astype", array_astype, METH_O, "A copy of another type, as NumPy converts items."},
    {"copy", array_copy, METH_NOARGS, "A copy on the same device."},
    {"__complex__", array_complex, METH_NOARGS, NULL},
    {"__array__", KEYWORDS(array_array), METH_VARARGS | METH_KEYWORDS, NULL},
    {"__dlpack__", KEYWORDS(array_dlpack), METH_VARARGS | METH_KEYWORDS, NULL},
    {"__dlpack_device__", array_dlpack_device, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_doc, "A contiguous array in a device's memory."},
                              {Py_tp_dealloc, array_dealloc},
                              {Py_tp_traverse, array_traverse},
                              {Py_tp_repr, array_repr},
                              {Py_tp_methods, array_methods},
                              {Py_tp_getset, properties},
                              {Py_tp_richcompare, array_compare},
                              {Py_tp_iter, array_iterate},
                              {Py_mp_subscript, array_subscript},
                              {Py_sq_length, array_length},
                              {Py_nb_float, array_float},
                              {Py_nb_int, array_int},
                              {Py_nb_index, array_index},
                              {Py_nb_bool, array_bool},
                              {0, NULL}};
static PyType_Spec spec = {
    "cubc._core.Array", sizeof(py_array), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int py_array_setup(PyObject *module)
{
    return py_add_type(module, &spec, &py_array_type);
}
