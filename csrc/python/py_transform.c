// cubc.transform and cubc.Lazy: an expression of operands by name, evaluated now, or where a call
// reads it.
#include "python/py_transform.h"

#include "python/py_call.h"
#include "python/py_docs.h"
#include "python/py_expression.h"
#include "python/py_module.h"
#include "python/py_numpy.h"
#include "python/py_types.h"

#include <string.h>

static PyObject *lazy_type;

typedef struct py_lazy {
    PyObject_HEAD
    PyObject *expression, *operands; // a str and a dict
    PyObject *dtype, *size;          // as given, or NULL
    cubc_type type;
    PyObject *shape; // a tuple
} py_lazy;

bool py_lazy_check(PyObject *object)
{
    return Py_IS_TYPE(object, (PyTypeObject *)lazy_type);
}

// ---- transform ----------------------------------------------------------------------------------
typedef struct transform_arguments {
    PyObject *expression, *operands, *merged; // new references
    PyObject *out, *dtype, *casting, *size, *stream, *device;
    bool several; // results: dtype is a struct, whose fields go to arrays of their own
} transform_arguments;

static void release(transform_arguments *m)
{
    Py_XDECREF(m->expression);
    Py_XDECREF(m->operands);
    Py_XDECREF(m->merged);
}

// The place of a named argument of the call itself; NULL if the name is an operand's.
static PyObject **argument_of(transform_arguments *m, const char *name)
{
    return !strcmp(name, "out")       ? &m->out
           : !strcmp(name, "dtype")   ? &m->dtype
           : !strcmp(name, "casting") ? &m->casting
           : !strcmp(name, "size")    ? &m->size
           : !strcmp(name, "stream")  ? &m->stream
           : !strcmp(name, "device")  ? &m->device
                                      : NULL;
}

// A lazy object brings its operands along.
static int take_lazy(transform_arguments *m)
{
    py_lazy *lazy = (py_lazy *)m->expression;
    if (PyDict_Size(m->operands)) {
        PyErr_SetString(PyExc_TypeError,
                        "a lazy object has its operands already: to compute with it, name it, as "
                        "in transform('2 * x', x=lazy)");
        return -1;
    }
    Py_DECREF(m->operands);
    m->expression = Py_NewRef(lazy->expression);
    m->operands = Py_NewRef(lazy->operands);
    if (!m->dtype && !m->out) m->dtype = lazy->dtype;
    if (!m->size) m->size = lazy->size;
    m->merged = (PyObject *)lazy; // keeps dtype and size
    return 0;
}

// Replaces operands that are lazy themselves by theirs.
static int merge(transform_arguments *m)
{
    PyObject *module = PyImport_ImportModule("cubc._lazy");
    if (module) m->merged = PyObject_CallMethod(module, "merged", "OO", m->expression, m->operands);
    Py_XDECREF(module);
    if (!m->merged) return -1;
    Py_DECREF(m->expression);
    Py_DECREF(m->operands);
    m->expression = Py_NewRef(PyTuple_GetItem(m->merged, 0));
    m->operands = Py_NewRef(PyTuple_GetItem(m->merged, 1));
    if (!m->size && PyTuple_GetItem(m->merged, 2) != Py_None)
        m->size = PyTuple_GetItem(m->merged, 2);
    return 0;
}

static PyObject *or_none(PyObject *object)
{
    return object ? object : Py_None;
}

// A Python function or several expressions become one expression, with operands, type and size.
static int take_made(transform_arguments *m, const char *module_name, const char *function)
{
    PyObject *module = PyImport_ImportModule(module_name);
    m->merged = module
                    ? PyObject_CallMethod(module, function, "OOOOO", m->expression, m->operands,
                                          or_none(m->dtype), or_none(m->out), or_none(m->casting))
                    : NULL;
    Py_XDECREF(module);
    if (!m->merged) return -1;
    PyObject *expression, *operands, *dtype, *size;
    int several;
    if (!PyArg_ParseTuple(m->merged, "OOOOp", &expression, &operands, &dtype, &size, &several))
        return -1;
    Py_DECREF(m->expression);
    Py_DECREF(m->operands);
    m->expression = Py_NewRef(expression);
    m->operands = Py_NewRef(operands);
    m->several = several;
    if (several || (!m->dtype && !m->out)) m->dtype = dtype;
    if (!m->size && size != Py_None) m->size = size;
    return 0;
}

static int take_arguments(transform_arguments *m, PyObject *args, PyObject *keywords)
{
    PyObject *name_object, *value;
    Py_ssize_t at = 0;
    bool any_lazy = false; // or one that hides the index
    if (PyTuple_Size(args) != 1) {
        PyErr_Format(PyExc_TypeError,
                     "transform() takes one argument by place, its expression, and %zd were given: "
                     "name the operands, as in transform('x + y', x=x, y=y)",
                     PyTuple_Size(args));
        return -1;
    }
    m->expression = Py_NewRef(PyTuple_GetItem(args, 0));
    m->operands = PyDict_New();
    if (!m->operands) return -1;
    while (keywords && PyDict_Next(keywords, &at, &name_object, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(name_object, NULL);
        PyObject **argument = name ? argument_of(m, name) : NULL;
        if (!name) return -1;
        any_lazy = any_lazy || py_lazy_check(value) || !strcmp(name, "i");
        if (argument && value != Py_None) *argument = value;
        if (!argument && PyDict_SetItem(m->operands, name_object, value) < 0) return -1;
    }
    if (py_lazy_check(m->expression)) return take_lazy(m);
    if (PyCallable_Check(m->expression)) return take_made(m, "cubc._callables", "transform_of");
    if (PyList_Check(m->expression) || PyTuple_Check(m->expression))
        return take_made(m, "cubc._results", "of_expressions");
    return any_lazy ? merge(m) : 0;
}

// NumPy's rules, as far as an output of integers needs a choice.
static int read_casting(PyObject *casting, bool *unsafe)
{
    bool text = casting && PyUnicode_Check(casting);
    *unsafe = text && PyUnicode_CompareWithASCIIString(casting, "unsafe") == 0;
    if (!casting || *unsafe ||
        (text && PyUnicode_CompareWithASCIIString(casting, "same_kind") == 0))
        return 0;
    PyErr_Format(PyExc_ValueError, "casting is %R: expected 'same_kind' or 'unsafe'", casting);
    return -1;
}

// Outputs for the fields of the struct, given or made.
static int prepare_parts(py_call *c)
{
    const type_info *type = &type_table[c->in[0].type];
    for (int k = 0; k < type->member_count; k++) {
        cubc_type member = type->members[k].type;
        if (py_call_prepare_out(c, k, "transform", member, c->in[0].ndim, c->in[0].shape) < 0 ||
            py_check_type("out", c->out[k].view.type, member) < 0)
            return -1;
    }
    return 0;
}

// The given outputs; the first says which shape results have where no array does.
static int view_outs(py_call *c, const transform_arguments *m, py_view *model)
{
    if (!m->several) {
        if (py_call_view_out(c, 0, m->out) < 0) return -1;
        *model = c->out[0].view;
        return 0;
    }
    for (int k = 0; m->out && k < MAX_OUTPUTS && k < PyTuple_Size(m->out); k++)
        if (py_call_view_out(c, k, PyTuple_GetItem(m->out, k)) < 0) return -1;
    *model = c->out[0].view;
    return py_dtype(m->dtype, &model->type);
}

static int prepare(py_call *c, const transform_arguments *m)
{
    const char *expression;
    py_view model; // borrows
    cubc_status st = py_text(m->expression, "expression", "with an expression", &expression);
    if (st) {
        py_raise(st);
        return -1;
    }
    py_expression_options options = {.dtype = m->dtype, .size = m->size};
    if (read_casting(m->casting, &options.unsafe) < 0 || view_outs(c, m, &model) < 0) return -1;
    if (m->out) options.out = &model;
    if (py_expression_get(expression, m->operands, &options, py_call_input(c)) < 0 ||
        py_call_device(c, m->device, m->stream) < 0)
        return -1;
    if (!c->in[0].expression->array_count && !m->out) c->host = m->device == NULL;
    if (py_call_stage_inputs(c) < 0) return -1;
    if (m->several) return prepare_parts(c);
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

// The result; of several a tuple.
static PyObject *results(py_call *c, bool several)
{
    if (!several) return py_call_result(c, 0, false);
    int count = type_table[c->in[0].type].member_count;
    PyObject *all = PyTuple_New(count);
    for (int k = 0; all && k < count; k++) {
        PyObject *one = py_call_result(c, k, false);
        if (!one || PyTuple_SetItem(all, k, one) < 0) Py_CLEAR(all);
    }
    return all;
}

PyObject *py_transform(PyObject *self, PyObject *args, PyObject *keywords)
{
    PyObject *value = NULL;
    transform_arguments m = {0};
    problem p;
    py_call c;
    (void)self;
    py_call_begin(&c);
    if (take_arguments(&m, args, keywords) == 0 && prepare(&c, &m) == 0) {
        const cubc_lazy *lazy = &c.in[0].expression->lazy;
        void *parts[MAX_OUTPUTS];
        for (int k = 0; k < MAX_OUTPUTS; k++) parts[k] = py_call_out_data(&c, k);
        cubc_transform_params params = {.out = m.several ? NULL : parts[0],
                                        .parts = m.several ? parts : NULL,
                                        .out_type = lazy->type,
                                        .n = c.in[0].n,
                                        .expression = lazy->expression,
                                        .operands = lazy->operands,
                                        .operand_count = lazy->operand_count,
                                        .ndim = lazy->ndim,
                                        .shape = lazy->shape};
        cubc_status st = transform_problem(&params, &p);
        if (!st) st = py_call_run(&c, &p);
        value = st ? py_raise(st) : results(&c, m.several);
    }
    py_call_end(&c);
    if (!value) refuse_collision(args, keywords);
    release(&m);
    return py_call_named(value, "transform", "transform");
}

// ---- a lazy input -------------------------------------------------------------------------------
PyObject *py_lazy_array(PyObject *lazy, PyObject *keywords)
{
    PyObject *alone = PyTuple_Pack(1, lazy);
    PyObject *array = alone ? py_transform(NULL, alone, keywords) : NULL;
    Py_XDECREF(alone);
    return array;
}

static int view_expression(py_lazy *lazy, py_view *out)
{
    const char *expression;
    py_expression_options options = {.dtype = lazy->dtype, .size = lazy->size};
    cubc_status st = py_text(lazy->expression, "expression", "with an expression", &expression);
    if (st) {
        py_raise(st);
        return -1;
    }
    return py_expression_get(expression, lazy->operands, &options, out);
}

int py_input_get(PyObject *object, const char *what, bool may_be_lazy, py_view *out)
{
    if (!py_lazy_check(object)) return py_view_get(object, what, false, NULL, out);
    if (may_be_lazy) return view_expression((py_lazy *)object, out);
    PyObject *array = py_lazy_array(object, NULL);
    int status = array ? py_view_get(array, what, false, NULL, out) : -1;
    Py_XDECREF(array);
    return status;
}

// ---- Lazy -----------------------------------------------------------------------------------
// A cycle is broken at the dict of operands, which is cleared by itself.
static int lazy_traverse(PyObject *self, visitproc visit, void *arg)
{
    py_lazy *lazy = (py_lazy *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(lazy->expression);
    Py_VISIT(lazy->operands);
    Py_VISIT(lazy->dtype);
    Py_VISIT(lazy->size);
    Py_VISIT(lazy->shape);
    return 0;
}

static void lazy_dealloc(PyObject *self)
{
    py_lazy *lazy = (py_lazy *)self;
    PyObject_GC_UnTrack(self);
    Py_XDECREF(lazy->expression);
    Py_XDECREF(lazy->operands);
    Py_XDECREF(lazy->dtype);
    Py_XDECREF(lazy->size);
    Py_XDECREF(lazy->shape);
    py_release(self);
}

// Lazy(expression, operands, dtype, size): cubc.lazy has merged what is lazy among the operands.
static PyObject *lazy_new(PyTypeObject *cls, PyObject *args, PyObject *keywords)
{
    PyObject *expression, *operands, *dtype, *size;
    py_view view = {0};
    (void)keywords;
    if (!PyArg_ParseTuple(args, "UO!OO:Lazy", &expression, &PyDict_Type, &operands, &dtype, &size))
        return NULL;
    py_lazy *lazy = (py_lazy *)py_allocate(cls);
    if (!lazy) return NULL;
    lazy->expression = Py_NewRef(expression);
    lazy->operands = PyDict_Copy(operands);
    lazy->dtype = dtype == Py_None ? NULL : Py_NewRef(dtype);
    lazy->size = size == Py_None ? NULL : Py_NewRef(size);
    if (lazy->operands && view_expression(lazy, &view) == 0) {
        lazy->type = view.type;
        lazy->shape = py_shape(view.ndim, view.shape);
    }
    py_view_release(&view);
    if (lazy->shape) return (PyObject *)lazy;
    Py_DECREF(lazy);
    return py_call_named(NULL, "Lazy", NULL);
}

static PyObject *lazy_array(PyObject *self, PyObject *args, PyObject *keywords)
{
    if (!PyArg_ParseTuple(args, ":array")) return NULL;
    return py_call_named(py_lazy_array(self, keywords), "transform", "array");
}

// NumPy's protocol: for calls that know nothing of lazy inputs.
static PyObject *lazy_numpy(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"dtype", "copy", NULL};
    PyObject *dtype = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO:__array__", names, &dtype, &copy))
        return NULL;
    PyObject *array = py_lazy_array(self, NULL);
    PyObject *result =
        array ? PyObject_CallMethod(py_numpy, "asarray", "(OO)", array, dtype) : NULL;
    Py_XDECREF(array);
    return result;
}

static PyObject *get_expression(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((py_lazy *)self)->expression);
}

static PyObject *get_operands(PyObject *self, void *unused)
{
    (void)unused;
    return PyDictProxy_New(((py_lazy *)self)->operands);
}

static PyObject *get_dtype(PyObject *self, void *unused)
{
    (void)unused;
    return py_numpy_dtype(((py_lazy *)self)->type);
}

static PyObject *get_shape(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((py_lazy *)self)->shape);
}

static PyObject *get_ndim(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSsize_t(PyTuple_Size(((py_lazy *)self)->shape));
}

static PyObject *get_size(PyObject *self, void *unused)
{
    PyObject *shape = ((py_lazy *)self)->shape, *size = PyLong_FromLong(1);
    (void)unused;
    for (Py_ssize_t d = 0; size && d < PyTuple_Size(shape); d++) {
        PyObject *next = PyNumber_Multiply(size, PyTuple_GetItem(shape, d));
        Py_DECREF(size);
        size = next;
    }
    return size;
}

static PyGetSetDef properties[] = {
    {"expression", get_expression, NULL, "C expression of the operands' names and of the index i.",
     NULL},
    {"operands", get_operands, NULL, "Arrays and numbers by name.", NULL},
    {"dtype", get_dtype, NULL, "Type of the items, a numpy.dtype.", NULL},
    {"shape", get_shape, NULL, "Extents, a tuple of int.", NULL},
    {"ndim", get_ndim, NULL, "Number of dimensions.", NULL},
    {"size", get_size, NULL, "Number of items.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

#define KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))
static PyMethodDef lazy_methods[] = {
    {"array", KEYWORDS(lazy_array), METH_VARARGS | METH_KEYWORDS, lazy_array_doc},
    {"__array__", KEYWORDS(lazy_numpy), METH_VARARGS | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_doc, (void *)lazy_type_doc},
                              {Py_tp_new, lazy_new},
                              {Py_tp_dealloc, lazy_dealloc},
                              {Py_tp_traverse, lazy_traverse},
                              {Py_tp_methods, lazy_methods},
                              {Py_tp_getset, properties},
                              {0, NULL}};
static PyType_Spec spec = {"cubc._core.Lazy", sizeof(py_lazy), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

int py_transform_setup(PyObject *module)
{
    return py_add_type(module, &spec, &lazy_type);
}
