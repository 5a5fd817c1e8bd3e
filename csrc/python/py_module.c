// The extension module cubc._core: the table of functions.
#include "python/py_module.h"
#include "python/py_dlpack.h"
#include "python/py_docs.h"
#include "python/py_ranks.h"
#include "python/py_transform.h"
#include "python/py_types.h"

// Has the n-th allocation from now on fail, for tests of what happens without memory.
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

// The name of a type in expressions, by which a struct is known there that no array has.
static PyObject *type_name(PyObject *self, PyObject *dtype)
{
    cubc_type type;
    (void)self;
    if (py_dtype(dtype, &type) < 0) return NULL;
    return PyUnicode_FromString(type_table[type].dialect);
}

// ---- the module ---------------------------------------------------------------------------------
#define FAST(function) ((PyCFunction)(void (*)(void))(function))
static PyMethodDef methods[] = {
    {"_fail_allocation", fail_allocation, METH_VARARGS, NULL},
    {"_outstanding", outstanding, METH_NOARGS, NULL},
    {"_lend", py_dlpack_lend, METH_VARARGS, NULL},
    {"_type_name", type_name, METH_O, NULL},
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
    if (py_support_setup(module) < 0 || py_types_setup() < 0 || py_device_setup(module) < 0 ||
        py_array_setup(module) < 0 || py_dlpack_exchange_setup() < 0 ||
        py_tuner_setup(module) < 0 || py_autotune_setup(module) < 0 ||
        py_recorded_calls_setup(module) < 0 || py_bound_setup(module) < 0 ||
        py_transform_setup(module) < 0 || py_workload_setup(module) < 0 ||
        py_program_setup(module) < 0 || py_bundle_setup(module) < 0 || py_store_setup(module) < 0 ||
        py_lattice_io_setup(module) < 0 || py_lattice_solve_setup(module) < 0 ||
        py_ranks_setup(module) < 0 ||
        PyModule_AddStringConstant(module, "__version__", cubc_version()) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
