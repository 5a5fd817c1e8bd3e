// Devices by name: opening, the default of a thread, and their description for Python.
#include "python/py_device.h"

#include "compile/cache.h"
#include "device/cuda/cuda_api.h"
#include "python/py_arguments.h"
#include "python/py_docs.h"
#include "python/py_module.h"

#include <string.h>

// A device that Python has named once stays open: compiled variants, worker threads and memory
// pools hang on it, and no call should pay for them twice. True if it is new. The GIL guards the
// table.
static bool keep_open(cubc_device *device)
{
    static cubc_device *kept[64];
    for (size_t i = 0; i < COUNT_OF(kept); i++) {
        if (kept[i] == device) return false;
        if (kept[i]) continue;
        device_retain(device);
        kept[i] = device;
        return true;
    }
    return false;
}

void py_device_find_cuda(void)
{
    static bool found; // a thread that comes meanwhile searches too
    if (found) return;
    if (cuda_api_compiler_ready() == CUBC_OK) { // under its usual name, and so is the runtime
        found = true;
        return;
    }
    PyObject *module = PyImport_ImportModule("cubc._device");
    PyObject *none = module ? PyObject_CallMethod(module, "find_cuda", NULL) : NULL;
    PyErr_Clear(); // then the core looks under the loader's usual names
    Py_XDECREF(none);
    Py_XDECREF(module);
    found = true;
}

// The device of `with cubc.device(...)`, in the thread that runs it.
static _Thread_local char default_device[16];

cubc_status py_device_open(const char *name, cubc_device **out)
{
    if (!name && default_device[0]) name = default_device;
    if (!name || strncmp(name, "cpu", 3) != 0) py_device_find_cuda();
    TRY(device_open(name, out));
    // A device without a cache works, but every process compiles anew: that is said once.
    if (!keep_open(*out) || !cache_why()) return CUBC_OK;
    if (PyErr_WarnEx(PyExc_UserWarning, cache_why(), 1) == 0) return CUBC_OK;
    cubc_device_close(*out);
    FAIL(CUBC_IO_ERROR, "%s", cache_why());
}

// Asked for each array of another library, so that it goes by the number. The GIL guards the table.
cubc_status py_device_cuda(long index, cubc_device **out)
{
    static cubc_device *known[64];
    char name[32] = "cuda";
    bool is_kept = index >= 0 && index < (long)COUNT_OF(known);
    if (is_kept && known[index]) {
        *out = known[index];
        device_retain(*out);
        return CUBC_OK;
    }
    if (index >= 0) PyOS_snprintf(name, sizeof name, "cuda:%ld", index);
    TRY(py_device_open(name, out));
    if (!is_kept) return CUBC_OK;
    known[index] = *out; // stays open
    device_retain(*out);
    return CUBC_OK;
}

cubc_status py_device(PyObject *name, cubc_device **out)
{
    const char *text = NULL;
    if (name && name != Py_None)
        TRY(py_text(name, "device", "such as 'cuda:0' or 'cpu', or None", &text));
    return py_device_open(text, out);
}

// ---- functions of Python ------------------------------------------------------------------------
static PyObject *devices(PyObject *self, PyObject *unused)
{
    enum { MOST_NAMES = 64 };
    char names[MOST_NAMES][16];
    int count;
    (void)self, (void)unused;
    py_device_find_cuda();
    Py_BEGIN_ALLOW_THREADS
    count = device_list(names, MOST_NAMES);
    Py_END_ALLOW_THREADS
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < count && i < MOST_NAMES; i++) {
        PyObject *name = PyUnicode_FromString(names[i]);
        if (!name || PyList_Append(list, name) < 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *device_info_dict(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"device", NULL};
    PyObject *name = NULL;
    cubc_device *device;
    cubc_status st;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:device_info", names, &name)) return NULL;
    if ((st = py_device(name, &device))) return py_raise(st);
    const device_info *i = &device->info;
    PyObject *dict = Py_BuildValue(
        "{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:i,s:i,s:L,s:L,s:L,s:L,s:L,s:L,s:i,s:i}", "name",
        i->name, "kind", i->kind, "model", i->model, "uuid", i->uuid, "arch", i->arch, "compiler",
        i->compiler, "driver", i->driver, "runtime", i->runtime, "sm_count", i->sm_count,
        "warp_size", i->warp_size, "max_threads", i->max_threads, "threads_per_sm",
        i->threads_per_sm, "shared_bytes_per_block", (long long)i->shared_bytes_per_block,
        "shared_bytes_per_sm", (long long)i->shared_bytes_per_sm, "l2_bytes",
        (long long)i->l2_bytes, "memory_bytes", (long long)i->memory_bytes, "clock_khz",
        (long long)i->clock_khz, "memory_clock_khz", (long long)i->memory_clock_khz, "bus_bits",
        i->bus_bits, "ecc", i->ecc);
    cubc_device_close(device);
    return dict;
}

static PyObject *topk_in_order(PyObject *self, PyObject *name)
{
    cubc_device *device;
    cubc_status st;
    (void)self;
    if ((st = py_device(name, &device))) return py_raise(st);
    uint64_t most = cubc_topk_in_order(device);
    cubc_device_close(device);
    return PyLong_FromUnsignedLongLong(most);
}

PyObject *py_kernel_info(const device_kernel *kernel)
{
    const kernel_info *i = &kernel->info;
    return Py_BuildValue("{s:i,s:i,s:L,s:i,s:i,s:I}", "registers", i->registers, "local_bytes",
                         i->local_bytes, "shared_bytes", (long long)i->shared_bytes,
                         "blocks_per_sm", i->blocks_per_sm, "max_threads", i->max_threads,
                         "threads", kernel->threads);
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

static PyObject *set_nccl_path(PyObject *self, PyObject *args)
{
    const char *nccl;
    (void)self;
    if (!PyArg_ParseTuple(args, "z:set_nccl_path", &nccl)) return NULL;
    cuda_nccl_set_path(nccl);
    Py_RETURN_NONE;
}

static PyObject *set_default_device(PyObject *self, PyObject *args)
{
    const char *name;
    (void)self;
    if (!PyArg_ParseTuple(args, "s:device", &name)) return NULL;
    PyObject *before = PyUnicode_FromString(default_device);
    if (before) PyOS_snprintf(default_device, sizeof default_device, "%s", name);
    return before;
}

static PyMethodDef methods[] = {
    {"devices", devices, METH_NOARGS, devices_doc},
    {"topk_in_order", topk_in_order, METH_O,
     "topk_in_order($module, device, /)\n--\n\nMost keys that topk finds in order on a device."},
    {"device_info", (PyCFunction)(void (*)(void))device_info_dict, METH_VARARGS | METH_KEYWORDS,
     device_info_doc},
    {"synchronize", (PyCFunction)(void (*)(void))synchronize, METH_VARARGS | METH_KEYWORDS,
     synchronize_doc},
    {"set_cuda_paths", set_cuda_paths, METH_VARARGS, "Files to load cudart and NVRTC from."},
    {"set_nccl_path", set_nccl_path, METH_VARARGS, "File to load NCCL from, or None."},
    {"_set_default_device", set_default_device, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

int py_device_setup(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
