// The extension module cubc._core: what it tells of devices, and the table of functions.
#include "python/py_support.h"

#include "device/cuda/cuda_api.h"
#include "python/py_docs.h"

// ---- devices ------------------------------------------------------------------------------------

static PyObject *devices(PyObject *self, PyObject *unused)
{
    char names[64][16];
    int count;
    (void)self, (void)unused;
    py_find_cuda();
    Py_BEGIN_ALLOW_THREADS
    count = device_list(names, 64);
    Py_END_ALLOW_THREADS
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < count; i++) {
        PyObject *name = PyUnicode_FromString(names[i]);
        if (!name || PyList_Append(list, name) < 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *device_info_dict(PyObject *self, PyObject *args)
{
    PyObject *name = NULL;
    cubc_device *device;
    cubc_status st;
    (void)self;
    if (!PyArg_ParseTuple(args, "|O:device_info", &name)) return NULL;
    if ((st = py_device(name, &device))) return py_raise(st);
    const device_info *i = &device->info;
    PyObject *dict = Py_BuildValue(
        "{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:i,s:i,s:L,s:L,s:L,s:L,s:L,s:L,s:i,s:i}", "name",
        i->name, "kind", i->kind, "model", i->model, "uuid", i->uuid, "arch", i->arch, "compiler",
        i->compiler, "driver", i->driver, "runtime", i->runtime, "units", i->units, "warp_size",
        i->warp_size, "max_threads", i->max_threads, "threads_per_unit", i->threads_per_unit,
        "shared_bytes_per_block", (long long)i->shared_bytes_per_block, "shared_bytes_per_unit",
        (long long)i->shared_bytes_per_unit, "l2_bytes", (long long)i->l2_bytes, "memory_bytes",
        (long long)i->memory_bytes, "clock_khz", (long long)i->clock_khz, "memory_clock_khz",
        (long long)i->memory_clock_khz, "bus_bits", i->bus_bits, "ecc", i->ecc);
    cubc_device_close(device);
    return dict;
}

static PyObject *synchronize(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"device", "stream", NULL};
    PyObject *name = NULL, *stream_object = NULL;
    cubc_device *device;
    void *stream;
    cubc_status st;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO:synchronize", names, &name,
                                     &stream_object) ||
        py_stream(stream_object, &stream) < 0)
        return NULL;
    if ((st = py_device(name, &device))) return py_raise(st);
    Py_BEGIN_ALLOW_THREADS
    st = cubc_synchronize(device, stream);
    Py_END_ALLOW_THREADS
    cubc_device_close(device);
    if (st) return py_raise(st);
    Py_RETURN_NONE;
}

static PyObject *set_cuda_paths(PyObject *self, PyObject *args)
{
    const char *cudart, *nvrtc;
    (void)self;
    if (!PyArg_ParseTuple(args, "zz:set_cuda_paths", &cudart, &nvrtc)) return NULL;
    cuda_api_set_paths(cudart, nvrtc);
    Py_RETURN_NONE;
}

// For the tests of what happens when memory runs out: the n-th allocation from now fails.
static PyObject *fail_allocation(PyObject *self, PyObject *args)
{
    long nth;
    (void)self;
    if (!PyArg_ParseTuple(args, "l:_fail_allocation", &nth)) return NULL;
    mem_fail_at(nth);
    Py_RETURN_NONE;
}

static PyObject *outstanding(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyLong_FromLong(mem_outstanding());
}

// ---- the module ---------------------------------------------------------------------------------
#define FAST(function) ((PyCFunction)(void (*)(void))(function))
static PyMethodDef methods[] = {
    {"devices", devices, METH_NOARGS, "Names of the usable devices."},
    {"device_info", device_info_dict, METH_VARARGS, "Properties of a device."},
    {"synchronize", FAST(synchronize), METH_VARARGS | METH_KEYWORDS,
     "Wait for a device's stream; faults of its kernels are raised here."},
    {"set_cuda_paths", set_cuda_paths, METH_VARARGS, "Files to load cudart and NVRTC from."},
    {"_set_default_device", py_set_default_device, METH_VARARGS, NULL},
    {"_fail_allocation", fail_allocation, METH_VARARGS, NULL},
    {"_outstanding", outstanding, METH_NOARGS, NULL},
    {"asarray", FAST(py_asarray), METH_FASTCALL | METH_KEYWORDS, asarray_doc},
    {"empty", FAST(py_empty), METH_FASTCALL | METH_KEYWORDS, empty_doc},
    {"reduce", FAST(py_reduce), METH_FASTCALL | METH_KEYWORDS, reduce_doc},
    {"scan", FAST(py_scan), METH_FASTCALL | METH_KEYWORDS, scan_doc},
    {"call", FAST(py_run_algorithm), METH_FASTCALL | METH_KEYWORDS, call_doc},
    {"operator_types", FAST(py_operator_types), METH_FASTCALL | METH_KEYWORDS, operator_types_doc},
    {"transform", FAST(py_transform), METH_VARARGS | METH_KEYWORDS, transform_doc},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "cubc._core", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    if (py_support_setup(module) < 0 || py_array_setup(module) < 0 || py_tuner_setup(module) < 0 ||
        py_autotune_setup(module) < 0 || py_lazy_setup(module) < 0 ||
        py_workload_setup(module) < 0 || py_program_setup(module) < 0 ||
        py_store_setup(module) < 0 || py_lattice_io_setup(module) < 0 ||
        py_lattice_solve_setup(module) < 0 ||
        PyModule_AddStringConstant(module, "__version__", cubc_version()) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
