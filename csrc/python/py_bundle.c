// Bundles of compiled kernels, for Python: see compile/bundle.h.
#include "python/py_module.h"

#include "compile/bundle.h"

static PyObject *use_bundle(PyObject *self, PyObject *args)
{
    PyObject *path = NULL;
    int count = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "O&:use_bundle", PyUnicode_FSConverter, &path)) return NULL;
    cubc_status st = bundle_use(PyBytes_AsString(path), &count);
    Py_DECREF(path);
    return st ? py_raise(st) : PyLong_FromLong(count);
}

static PyObject *has_shipped_kernels(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyBool_FromLong(bundle_is_shipped());
}

static PyMethodDef methods[] = {
    {"use_bundle", use_bundle, METH_VARARGS, "Run the compiled kernels of a file."},
    {"has_shipped_kernels", has_shipped_kernels, METH_NOARGS,
     "True if compiled kernels of the cpu came with cubc."},
    {NULL, NULL, 0, NULL}};

int py_bundle_setup(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
