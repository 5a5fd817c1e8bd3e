// A cubc.Array given to another package: __cuda_array_interface__ and DLPack.
#include "python/py_array_methods.h"

#include "python/py_arguments.h"
#include "python/py_dlpack.h"
#include "python/py_types.h"

#include <string.h>

// Adds the members of a struct: typestr has its size alone.
static int add_members(PyObject *interface, const py_array *a)
{
    PyObject *dtype = py_numpy_dtype(a->type);
    PyObject *members = dtype ? PyObject_GetAttrString(dtype, "descr") : NULL;
    int status = members ? PyDict_SetItemString(interface, "descr", members) : -1;
    Py_XDECREF(members);
    Py_XDECREF(dtype);
    return status;
}

PyObject *py_array_export_cuda_interface(PyObject *self, void *unused)
{
    static const char kinds[] = {[KIND_BOOL] = 'b',  [KIND_SIGNED] = 'i',  [KIND_UNSIGNED] = 'u',
                                 [KIND_FLOAT] = 'f', [KIND_COMPLEX] = 'c', [KIND_STRUCT] = 'V'};
    type_kind kind;
    py_array *a = (py_array *)self;
    char typestr[8];
    (void)unused;
    if (device_is_cpu(a->device->info.kind)) {
        PyErr_SetString(PyExc_AttributeError, "the array is not in CUDA memory");
        return NULL;
    }
    kind = a->type == CUBC_BF16 ? KIND_STRUCT : type_table[a->type].kind;
    bool ordered = type_table[a->type].size > 1 && type_table[a->type].kind != KIND_STRUCT;
    PyOS_snprintf(typestr, sizeof typestr, "%c%c%d", ordered ? '<' : '|', kinds[kind],
                  type_table[a->type].size);
    PyObject *shape = py_shape(a->ndim, a->shape);
    if (!shape) return NULL;
    // 0 is forbidden as a stream: 1 names the legacy default stream.
    PyObject *interface =
        Py_BuildValue("{s:N,s:s,s:(NO),s:i,s:n}", "shape", shape, "typestr", typestr, "data",
                      PyLong_FromVoidPtr(a->data), a->read_only ? Py_True : Py_False, "version", 3,
                      "stream", a->stream ? (Py_ssize_t)a->stream : (Py_ssize_t)1);
    if (interface && type_table[a->type].kind == KIND_STRUCT && add_members(interface, a) < 0)
        Py_CLEAR(interface);
    return interface;
}

// A consumer asks for DLPack 1 by max_version=(1, 0) or above; others get 0.8. -1: an exception.
static int wants_versioned(PyObject *most)
{
    if (!most || most == Py_None) return 0;
    PyObject *major = PySequence_GetItem(most, 0);
    long number = major ? PyLong_AsLong(major) : -1;
    Py_XDECREF(major);
    return PyErr_Occurred() ? -1 : number >= 1;
}

// The device that a consumer asks for is the array's own, or none is named.
static bool same_device(PyObject *self, PyObject *asked)
{
    if (!asked || asked == Py_None) return true;
    PyObject *own = py_array_export_dlpack_device(self, NULL);
    bool same = own && PyObject_RichCompareBool(own, asked, Py_EQ) == 1;
    Py_XDECREF(own);
    return same;
}

PyObject *py_array_export_dlpack(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    py_array *a = (py_array *)self;
    PyObject *stream_object = NULL, *version = NULL, *asked = NULL, *copy = Py_None;
    void *stream = NULL;
    cubc_status st = CUBC_OK;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O$OOO:__dlpack__", names, &stream_object,
                                     &version, &asked, &copy))
        return NULL;
    const int copied = Py_IsNone(copy) ? 0 : py_truth(copy, "copy", 0);
    if (copied < 0) return NULL;
    int versioned = wants_versioned(version);
    if (versioned < 0) return NULL;
    if (!same_device(self, asked)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_BufferError,
                            "cubc.Array is exported on its own device: cubc.asarray(x, device=...) "
                            "moves it");
        return NULL;
    }
    if (a->read_only && !versioned && !copied) {
        PyErr_SetString(PyExc_BufferError, "the array is read-only, which DLPack says from 1.0 on: "
                                           "ask with max_version=(1, 0)");
        return NULL;
    }
    bool quiet = stream_object && PyLong_Check(stream_object) &&
                 PyLong_AsLong(stream_object) == -1 && !PyErr_Occurred();
    if (!quiet && py_stream(stream_object, &stream) < 0) return NULL;
    if (stream == (void *)1) stream = NULL;
    PyObject *given = copied ? py_array_views_copy(self, NULL) : Py_NewRef(self);
    if (!given) return NULL;
    a = (py_array *)given;
    if (!quiet) st = a->device->api->order(a->device, stream, a->stream);
    PyObject *capsule = st ? py_raise(st) : py_dlpack_export(a, versioned, copied);
    Py_DECREF(given);
    return capsule;
}

PyObject *py_array_export_dlpack_device(PyObject *self, PyObject *unused)
{
    DLDevice device = py_dlpack_device(((py_array *)self)->device);
    (void)unused;
    return Py_BuildValue("(ii)", (int)device.device_type, (int)device.device_id);
}
