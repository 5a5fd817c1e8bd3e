// DLPack both ways (the ABIs of DLPack 1 and, for those who do not ask for it, 0.8,
// https://dmlc.github.io/dlpack): zero-copy exchange with PyTorch, JAX, CuPy and NumPy.
#include "python/py_dlpack.h"
#include "python/py_types.h"

#include <stdlib.h>
#include <string.h>

enum { DL_MAJOR = 1, DL_READ_ONLY = 1, DL_IS_COPIED = 2 }; // the last two are flags
enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6 };

static DLDataType type_to_dl(cubc_type type)
{
    static const uint8_t codes[] = {[KIND_BOOL] = DL_BOOL,
                                    [KIND_SIGNED] = DL_INT,
                                    [KIND_UNSIGNED] = DL_UINT,
                                    [KIND_FLOAT] = DL_FLOAT,
                                    [KIND_COMPLEX] = DL_COMPLEX};
    uint8_t code = type == CUBC_BF16 ? DL_BFLOAT : codes[type_table[type].kind];
    return (DLDataType){code, (uint8_t)(8 * type_table[type].size), 1};
}

static int type_from_dl(DLDataType dl, cubc_type *out)
{
    for (int t = 0; t < CUBC_TYPE_COUNT; t++) {
        DLDataType own = type_to_dl((cubc_type)t);
        if (own.code == dl.code && own.bits == dl.bits && dl.lanes == 1) {
            *out = (cubc_type)t;
            return 0;
        }
    }
    return -1;
}

DLDevice py_dlpack_device(const cubc_device *device)
{
    if (device_is_cpu(device->info.kind))
        return (DLDevice){DL_CPU, 0}; // "cpu:1" has its memory too
    return (DLDevice){DL_CUDA, atoi(strchr(device->info.name, ':') + 1)};
}

// ---- export -------------------------------------------------------------------------------------
typedef struct exported {
    DLManagedTensor managed; // one of the two is given away
    DLManagedTensorVersioned versioned;
    PyObject *array;
    int64_t shape[VIEW_DIMENSIONS], strides[VIEW_DIMENSIONS];
} exported;

static void release_exported(exported *e)
{
    PyGILState_STATE state = PyGILState_Ensure(); // a consumer may let go on any thread
    Py_DECREF(e->array);
    PyGILState_Release(state);
    mem_free(e);
}

static void delete_exported(DLManagedTensor *managed)
{
    release_exported(managed->manager_ctx);
}

static void delete_versioned(DLManagedTensorVersioned *managed)
{
    release_exported(managed->manager_ctx);
}

// A capsule that nobody took: a consumer renames it, and owns the tensor then.
static void delete_capsule(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor"))
        delete_exported(PyCapsule_GetPointer(capsule, "dltensor"));
    else if (PyCapsule_IsValid(capsule, "dltensor_versioned"))
        delete_versioned(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
}

static exported *export_array(py_array *array)
{
    if (type_table[array->type].kind == KIND_STRUCT) {
        PyErr_SetString(PyExc_BufferError, "DLPack has no structs: take the array by "
                                           "__cuda_array_interface__, or a.numpy()");
        return NULL;
    }
    exported *e = mem_zalloc(1, sizeof *e);
    if (!e) {
        py_raise(CUBC_NO_MEMORY);
        return NULL;
    }
    int64_t step = 1;
    for (int d = array->ndim - 1; d >= 0; d--) {
        e->shape[d] = array->shape[d];
        e->strides[d] = step;
        step *= array->shape[d];
    }
    e->array = Py_NewRef((PyObject *)array);
    e->managed = (DLManagedTensor){.dl_tensor = {.data = array->data,
                                                 .device = py_dlpack_device(array->device),
                                                 .ndim = array->ndim,
                                                 .dtype = type_to_dl(array->type),
                                                 .shape = e->shape,
                                                 .strides = e->strides},
                                   .manager_ctx = e,
                                   .deleter = delete_exported};
    e->versioned = (DLManagedTensorVersioned){.version = {DL_MAJOR, 0},
                                              .manager_ctx = e,
                                              .deleter = delete_versioned,
                                              .flags = array->read_only ? DL_READ_ONLY : 0,
                                              .dl_tensor = e->managed.dl_tensor};
    return e;
}

PyObject *py_dlpack_export(py_array *array, bool versioned, bool copied)
{
    exported *e = export_array(array);
    if (!e) return NULL;
    if (copied) e->versioned.flags |= DL_IS_COPIED;
    PyObject *capsule = versioned
                            ? PyCapsule_New(&e->versioned, "dltensor_versioned", delete_capsule)
                            : PyCapsule_New(&e->managed, "dltensor", delete_capsule);
    if (!capsule) release_exported(e);
    return capsule;
}

DLManagedTensorVersioned *py_dlpack_managed(py_array *array)
{
    exported *e = export_array(array);
    return e ? &e->versioned : NULL;
}

// ---- import -------------------------------------------------------------------------------------
// A deleter may enter Python, which an exception that is set would keep it from.
static void delete_tensor(DLManagedTensor *old, DLManagedTensorVersioned *versioned)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (old && old->deleter) old->deleter(old);
    if (versioned && versioned->deleter) versioned->deleter(versioned);
    PyErr_Restore(type, value, trace);
}

// Renamed as the protocol asks; the destructor returns the tensor when the view lets go.
static void delete_imported(PyObject *capsule)
{
    delete_tensor(PyCapsule_GetPointer(capsule, "used_dltensor"), NULL);
}

static void delete_imported_versioned(PyObject *capsule)
{
    delete_tensor(NULL, PyCapsule_GetPointer(capsule, "used_dltensor_versioned"));
}

// The tensor of a capsule, which is ours from now on; NULL with an exception.
static const DLTensor *take_tensor(PyObject *capsule, const char *what, bool *read_only)
{
    *read_only = false;
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        DLManagedTensor *managed = PyCapsule_GetPointer(capsule, "dltensor");
        PyCapsule_SetName(capsule, "used_dltensor");
        PyCapsule_SetDestructor(capsule, delete_imported);
        return &managed->dl_tensor;
    }
    if (!PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        PyErr_Format(PyExc_TypeError,
                     "%s is no tensor: its __dlpack__ returned %.80R, expected a capsule that "
                     "nobody has taken",
                     what, capsule);
        return NULL;
    }
    DLManagedTensorVersioned *managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    PyCapsule_SetName(capsule, "used_dltensor_versioned");
    PyCapsule_SetDestructor(capsule, delete_imported_versioned);
    *read_only = managed->flags & DL_READ_ONLY;
    if (managed->version.major == DL_MAJOR) return &managed->dl_tensor;
    PyErr_Format(PyExc_BufferError, "%s comes by DLPack %u, and cubc knows %d", what,
                 (unsigned)managed->version.major, DL_MAJOR);
    return NULL;
}

static int open_device(DLDevice device, const char *what, py_view *out)
{
    out->on_host = device.device_type == DL_CPU || device.device_type == DL_CUDA_HOST;
    if (out->on_host) return 0;
    if (device.device_type != DL_CUDA && device.device_type != DL_CUDA_MANAGED) {
        PyErr_Format(PyExc_TypeError, "%s is on a device that cubc does not know (DLPack type %d)",
                     what, (int)device.device_type);
        return -1;
    }
    return py_view_open_cuda(out, what, device.device_id);
}

static bool in_order(const DLTensor *t, uint64_t n)
{
    int64_t expected = 1;
    for (int d = t->ndim - 1; t->strides && n && d >= 0; d--) {
        if (t->shape[d] != 1 && t->strides[d] != expected) return false;
        expected *= t->shape[d];
    }
    return true;
}

static int read_shape(const DLTensor *t, const char *what, py_view *out)
{
    if (t->ndim > 0 && !t->shape) {
        PyErr_Format(PyExc_ValueError, "%s comes by DLPack with %d dimensions and no shape", what,
                     (int)t->ndim);
        return -1;
    }
    for (int d = 0; d < t->ndim && d < VIEW_DIMENSIONS; d++)
        out->shape[d] = (Py_ssize_t)t->shape[d];
    if (py_view_set_shape(out, what, t->ndim) < 0) return -1;
    if (!out->n || t->data) return 0;
    PyErr_Format(PyExc_ValueError, "%s comes by DLPack with %llu items at no address", what,
                 (unsigned long long)out->n);
    return -1;
}

// 0, DLPACK_STRIDED, or -1 with an exception.
static int fill_view(const DLTensor *t, const char *what, bool writable, py_view *out)
{
    Py_ssize_t steps[VIEW_DIMENSIONS];
    if (type_from_dl(t->dtype, &out->type) < 0) {
        static const char *const kinds[] = {"int",    "uint",    "float", "opaque",
                                            "bfloat", "complex", "bool"};
        char name[48], lanes[16] = "";
        if (t->dtype.lanes != 1) PyOS_snprintf(lanes, sizeof lanes, "x%d", t->dtype.lanes);
        PyOS_snprintf(name, sizeof name, "%s%d%s",
                      t->dtype.code < COUNT_OF(kinds) ? kinds[t->dtype.code]
                                                      : "DLPack type of bits ",
                      t->dtype.bits, lanes);
        return py_unsupported(what, NULL, name);
    }
    if (read_shape(t, what, out) < 0) return -1;
    // An array of no items may have any pointer and any offset.
    out->data = (void *)((uintptr_t)t->data + t->byte_offset);
    if (in_order(t, out->n)) return open_device(t->device, what, out);
    if (!writable && t->device.device_type == DL_CPU) return DLPACK_STRIDED;
    if (writable || (t->device.device_type != DL_CUDA && t->device.device_type != DL_CUDA_MANAGED))
        return py_view_not_contiguous(what);
    for (int d = 0; d < t->ndim; d++) steps[d] = (Py_ssize_t)t->strides[d];
    return py_view_gather(out, what, steps, out->capsule);
}

// Consumers of CUDA memory tell their stream: 1 is the legacy default stream.
static PyObject *request_capsule(PyObject *object, PyObject *method, void *stream)
{
    PyObject *capsule = NULL;
    PyObject *device = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    PyObject *kind = device ? PySequence_GetItem(device, 0) : NULL;
    PyObject *empty = kind ? PyTuple_New(0) : NULL;
    if (empty) {
        long type = PyLong_AsLong(kind);
        PyObject *keywords = Py_BuildValue("{s:(ii)}", "max_version", DL_MAJOR, 0);
        PyObject *on = type == DL_CUDA || type == DL_CUDA_MANAGED
                           ? PyLong_FromSsize_t(stream ? (Py_ssize_t)stream : 1)
                           : NULL;
        if (keywords && on) (void)PyDict_SetItemString(keywords, "stream", on);
        capsule = PyErr_Occurred() ? NULL : PyObject_Call(method, empty, keywords);
        if (!capsule && keywords && PyErr_ExceptionMatches(PyExc_TypeError)) { // of DLPack 0.8
            PyErr_Clear();
            (void)PyDict_DelItemString(keywords, "max_version");
            capsule = PyObject_Call(method, empty, keywords);
        }
        Py_XDECREF(on);
        Py_XDECREF(keywords);
    }
    Py_XDECREF(empty);
    Py_XDECREF(kind);
    Py_XDECREF(device);
    return capsule;
}

int py_dlpack_import(PyObject *object, const char *what, bool writable, void *stream, py_view *out)
{
    PyObject *method = py_optional_attribute(object, "__dlpack__");
    if (!method) return PyErr_Occurred() ? -1 : 0;
    PyObject *capsule = request_capsule(object, method, stream);
    Py_DECREF(method);
    if (!capsule) return -1;
    bool versioned = PyCapsule_IsValid(capsule, "dltensor_versioned");
    const DLTensor *tensor = take_tensor(capsule, what, &out->read_only);
    if (!tensor) {
        Py_DECREF(capsule);
        return -1;
    }
    if (writable && out->read_only) {
        Py_DECREF(capsule);
        return py_view_read_only(what);
    }
    out->capsule = capsule;
    out->owner = Py_NewRef(object);
    out->stream = stream;
    out->has_stream = true;
    const int filled = fill_view(tensor, what, writable, out);
    if (filled < 0) return -1;
    if (filled == DLPACK_STRIDED) {
        py_view_release(out);
        return filled;
    }
    if (!writable || versioned || !out->on_host) return 1;
    PyErr_Format(PyExc_TypeError,
                 "%s must be a NumPy array or a device array: it comes by DLPack 0.8, which cannot "
                 "say that an array may be written",
                 what);
    return -1;
}

PyObject *py_dlpack_lend(PyObject *self, PyObject *args)
{
    py_view view = {0};
    PyObject *object, *array = NULL;
    const char *what;
    (void)self;
    if (!PyArg_ParseTuple(args, "Os:_lend", &object, &what)) return NULL;
    int status = py_dlpack_import(object, what, true, NULL, &view);
    if (status > 0) { // memory of the host is that of the device "cpu"
        cubc_status st = view.device ? CUBC_OK : py_device_open("cpu", &view.device);
        array = st ? py_raise(st) : py_array_wrap(&view, view.capsule);
    } else if (status == 0) {
        PyErr_Format(PyExc_TypeError, "%s is %.80R: expected an array", what, object);
    }
    py_view_release(&view);
    return array;
}

// ---- arrays of tensors --------------------------------------------------------------------------
static cubc_status open_named(DLDevice device, cubc_device **out)
{
    if (device.device_type == DL_CPU) return py_device_open("cpu", out);
    if (device.device_type == DL_CUDA) return py_device_cuda(device.device_id, out);
    FAIL(CUBC_INVALID_ARGUMENT, "DLPack's device type %d is none of cubc's",
         (int)device.device_type);
}

PyObject *py_dlpack_empty(const DLTensor *prototype)
{
    Py_ssize_t shape[VIEW_DIMENSIONS];
    cubc_device *device;
    cubc_type type;
    if (type_from_dl(prototype->dtype, &type) < 0 || prototype->ndim < 0 ||
        prototype->ndim > VIEW_DIMENSIONS) {
        PyErr_Format(PyExc_TypeError,
                     "cubc.Array has no items of DLPack's type (%d, %d bits), or "
                     "not %d dimensions",
                     prototype->dtype.code, prototype->dtype.bits, (int)prototype->ndim);
        return NULL;
    }
    if (prototype->ndim && !prototype->shape) {
        PyErr_Format(PyExc_TypeError, "a prototype of %d dimensions has no shape",
                     (int)prototype->ndim);
        return NULL;
    }
    for (int d = 0; d < prototype->ndim; d++) shape[d] = (Py_ssize_t)prototype->shape[d];
    cubc_status st = open_named(prototype->device, &device);
    if (st) return py_raise(st);
    PyObject *array = py_array_new(device, type, prototype->ndim, shape, NULL);
    device_release(device);
    return array;
}

PyObject *py_dlpack_wrap(DLManagedTensorVersioned *managed)
{
    static const char what[] = "the tensor";
    py_view view = {0};
    PyObject *array = NULL;
    cubc_status st = CUBC_OK;
    PyObject *capsule = PyCapsule_New(managed, "dltensor_versioned", NULL);
    if (!capsule) {
        delete_tensor(NULL, managed);
        return NULL;
    }
    const DLTensor *tensor = take_tensor(capsule, what, &view.read_only);
    if (tensor && fill_view(tensor, what, true, &view) == 0) {
        // Memory of the host is that of the device "cpu".
        if (!view.device) st = py_device_open("cpu", &view.device);
        array = st ? py_raise(st) : py_array_wrap(&view, capsule);
    }
    if (view.device) device_release(view.device);
    Py_DECREF(capsule);
    return array;
}
