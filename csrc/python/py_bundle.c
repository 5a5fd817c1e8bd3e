// Bundles of compiled kernels, for Python: see compile/bundle.h.
#include "python/py_bundle.h"
#include "python/py_module.h"

#include <string.h>

// Asks Python's builtins: a C program that links this library has no PyByteArray_Type.
static int is_bytearray(PyObject *object)
{
    PyObject *type = PyDict_GetItemString(PyEval_GetBuiltins(), "bytearray"); // borrowed
    return type ? PyObject_IsInstance(object, type) : 0;
}

int py_bundle_begin(PyObject *object, py_bundle *out)
{
    int grows;
    *out = (py_bundle){.object = object};
    if (!object) return 0;
    if ((grows = is_bytearray(object)) < 0) return -1;
    if (PyObject_GetBuffer(object, &out->view, PyBUF_SIMPLE) < 0) return -1;
    out->memory.records = out->view.buf;
    out->memory.bytes = (size_t)out->view.len;
    if (grows) out->memory.more = &out->more;
    return 0;
}

int py_bundle_end(py_bundle *b)
{
    int failed = 0;
    if (b->object) PyBuffer_Release(&b->view); // a bytearray that is looked at keeps its size
    if (b->more.failed) {
        PyErr_NoMemory();
        failed = -1;
    } else if (b->more.length) {
        Py_ssize_t old = PyByteArray_Size(b->object);
        failed = PyByteArray_Resize(b->object, old + (Py_ssize_t)b->more.length);
        if (!failed) memcpy(PyByteArray_AsString(b->object) + old, b->more.data, b->more.length);
    }
    text_free(&b->more);
    return failed;
}

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
