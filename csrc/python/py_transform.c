// cubc.transform: an expression of operands by name, written to memory.
#include "python/py_call.h"
#include "python/py_lazy.h"

#include <string.h>

typedef struct map_arguments {
    PyObject *expression, *operands, *merged; // new references
    PyObject *out, *dtype, *size, *stream, *device;
} map_arguments;

static void release(map_arguments *m)
{
    Py_XDECREF(m->expression);
    Py_XDECREF(m->operands);
    Py_XDECREF(m->merged);
}

// The place of a named argument of the call itself; NULL if the name is an operand's.
static PyObject **argument_of(map_arguments *m, const char *name)
{
    return !strcmp(name, "out")      ? &m->out
           : !strcmp(name, "dtype")  ? &m->dtype
           : !strcmp(name, "size")   ? &m->size
           : !strcmp(name, "stream") ? &m->stream
           : !strcmp(name, "device") ? &m->device
                                     : NULL;
}

// A lazy object brings its operands along.
static int take_lazy(map_arguments *m)
{
    PyObject *lazy = m->expression, *dtype, *size;
    if (PyDict_Size(m->operands)) {
        PyErr_SetString(PyExc_TypeError,
                        "a lazy object has its operands already: to compute with it, name it, as "
                        "in transform('2 * x', x=lazy)");
        return -1;
    }
    Py_DECREF(m->operands);
    py_lazy_parts(lazy, &m->expression, &m->operands, &dtype, &size);
    Py_INCREF(m->expression);
    Py_INCREF(m->operands);
    if (!m->dtype && !m->out) m->dtype = dtype;
    if (!m->size) m->size = size;
    m->merged = lazy; // keeps dtype and size
    return 0;
}

static int merge(map_arguments *m)
{
    if (py_lazy_merged(m->expression, m->operands, &m->merged) < 0) return -1;
    Py_DECREF(m->expression);
    Py_DECREF(m->operands);
    m->expression = Py_NewRef(PyTuple_GetItem(m->merged, 0));
    m->operands = Py_NewRef(PyTuple_GetItem(m->merged, 1));
    if (!m->size && PyTuple_GetItem(m->merged, 2) != Py_None)
        m->size = PyTuple_GetItem(m->merged, 2);
    return 0;
}

static int take_arguments(map_arguments *m, PyObject *args, PyObject *keywords)
{
    PyObject *name_object, *value;
    Py_ssize_t at = 0;
    bool any_lazy = false;
    if (!PyArg_ParseTuple(args, "O:transform", &m->expression)) return -1;
    Py_INCREF(m->expression);
    m->operands = PyDict_New();
    if (!m->operands) return -1;
    while (keywords && PyDict_Next(keywords, &at, &name_object, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(name_object, NULL);
        PyObject **argument = name ? argument_of(m, name) : NULL;
        if (!name) return -1;
        any_lazy = any_lazy || py_lazy_check(value);
        if (argument && value != Py_None) *argument = value;
        if (!argument && PyDict_SetItem(m->operands, name_object, value) < 0) return -1;
    }
    if (py_lazy_check(m->expression)) return take_lazy(m);
    return any_lazy ? merge(m) : 0;
}

static int prepare(py_call *c, const map_arguments *m)
{
    const char *expression;
    cubc_status st = py_text(m->expression, "expression", "with an expression", &expression);
    if (st) {
        py_raise(st);
        return -1;
    }
    py_lazy_options options = {.dtype = m->dtype, .size = m->size};
    if (py_call_view_out(c, 0, m->out) < 0) return -1;
    if (m->out) options.out = &c->out[0].view;
    c->in_count = 1;
    if (py_fuse(expression, m->operands, &options, &c->in[0]) < 0 ||
        py_call_device(c, m->device, m->stream) < 0)
        return -1;
    if (!c->in[0].lazy->array_count && !m->out) c->host = m->device == NULL;
    if (py_call_stage_inputs(c) < 0) return -1;
    return py_call_prepare_out(c, 0, "transform", c->in[0].type, c->in[0].ndim, c->in[0].shape);
}

// After a failure: an operand that has the name of an option explains it best.
static void refuse_collision(PyObject *args, PyObject *keywords)
{
    PyObject *type, *error, *trace;
    if (PyTuple_Size(args) != 1 || !keywords || !PyErr_ExceptionMatches(PyExc_Exception)) return;
    PyErr_Fetch(&type, &error, &trace);
    PyObject *module = PyImport_ImportModule("cubc._lazy");
    PyObject *none = module ? PyObject_CallMethod(module, "refuse_collision", "sOO", "transform",
                                                  PyTuple_GetItem(args, 0), keywords)
                            : NULL;
    Py_XDECREF(none);
    Py_XDECREF(module);
    if (none) { // there is no such operand
        PyErr_Restore(type, error, trace);
        return;
    }
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
}

PyObject *py_transform(PyObject *self, PyObject *args, PyObject *keywords)
{
    PyObject *value = NULL;
    map_arguments m = {0};
    problem p;
    py_call c = {0};
    (void)self;
    if (take_arguments(&m, args, keywords) == 0 && prepare(&c, &m) == 0) {
        const cubc_lazy *lazy = &c.in[0].lazy->lazy;
        cubc_transform_params params = {.out = py_call_out_data(&c, 0),
                                        .out_type = lazy->type,
                                        .n = c.in[0].n,
                                        .expression = lazy->expression,
                                        .operands = lazy->operands,
                                        .operand_count = lazy->operand_count,
                                        .ndim = lazy->ndim,
                                        .shape = lazy->shape};
        cubc_status st = transform_problem(&params, &p);
        if (!st) st = py_call_run(&c, &p);
        value = st ? py_raise(st) : py_call_result(&c, 0, false);
    }
    py_call_end(&c);
    if (!value) refuse_collision(args, keywords);
    release(&m);
    return py_call_named(value, "transform", "transform");
}
