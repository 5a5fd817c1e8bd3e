// The type cubc.Array: a contiguous array in a device's memory. Methods that are more than a member
// read stand in py_array_host.c, py_array_views.c and py_array_export.c; cubc/_methods.py adds
// those that calls of cubc can say: operators, texts, pickles, methods of NumPy's names.
#include "python/py_array_methods.h"

#include "python/py_docs.h"
#include "python/py_module.h"
#include "python/py_types.h"

// ---- the end of its life ------------------------------------------------------------------------
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

// ---- operations of a sequence ------------------------------------------------------------------
static Py_ssize_t array_length(PyObject *self)
{
    py_array *a = (py_array *)self;
    if (a->ndim) return a->shape[0];
    PyErr_SetString(PyExc_TypeError, "len() of an array without dimensions");
    return -1;
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
    {"__cuda_array_interface__", py_array_export_cuda_interface, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

#define KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))
static PyMethodDef array_methods[] = {
    {"numpy", py_array_host_numpy, METH_NOARGS, array_numpy_doc},
    {"item", py_array_host_item, METH_VARARGS, array_item_doc},
    {"tolist", py_array_host_tolist, METH_NOARGS, array_tolist_doc},
    {"reshape", KEYWORDS(py_array_views_reshape), METH_VARARGS | METH_KEYWORDS, array_reshape_doc},
    {"astype", KEYWORDS(py_array_views_astype), METH_VARARGS | METH_KEYWORDS, array_astype_doc},
    {"copy", py_array_views_copy, METH_NOARGS, array_copy_doc},
    {"__complex__", py_array_host_complex, METH_NOARGS, NULL},
    {"__array__", KEYWORDS(py_array_host_array), METH_VARARGS | METH_KEYWORDS, NULL},
    {"__dlpack__", KEYWORDS(py_array_export_dlpack), METH_VARARGS | METH_KEYWORDS, NULL},
    {"__dlpack_device__", py_array_export_dlpack_device, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)array_doc},   {Py_tp_dealloc, array_dealloc},
    {Py_tp_traverse, array_traverse}, {Py_tp_methods, array_methods},
    {Py_tp_getset, properties},       {Py_mp_subscript, py_array_views_subscript},
    {Py_sq_length, array_length},     {Py_nb_float, py_array_host_float},
    {Py_nb_int, py_array_host_int},   {Py_nb_index, py_array_host_index},
    {Py_nb_bool, py_array_host_bool}, {0, NULL}};
static PyType_Spec spec = {
    "cubc._core.Array", sizeof(py_array), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int py_array_setup(PyObject *module)
{
    return py_add_type(module, &spec, &py_array_type);
}
