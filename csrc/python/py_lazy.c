// cubc.Lazy: an expression that is evaluated where a call reads it, as an object that waits for
// one.
#include "python/py_lazy.h"
#include "python/py_call.h"

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

void py_lazy_parts(PyObject *object, PyObject **expression, PyObject **operands, PyObject **dtype,
                   PyObject **size)
{
    py_lazy *lazy = (py_lazy *)object;
    *expression = lazy->expression;
    *operands = lazy->operands;
    *dtype = lazy->dtype;
    *size = lazy->size;
}

int py_lazy_merged(PyObject *expression, PyObject *operands, PyObject **merged)
{
    PyObject *module = PyImport_ImportModule("cubc._lazy");
    *merged = module ? PyObject_CallMethod(module, "merged", "OO", expression, operands) : NULL;
    Py_XDECREF(module);
    return *merged ? 0 : -1;
}

// ---- as an input --------------------------------------------------------------------------------
static int fuse(py_lazy *lazy, py_view *out)
{
    const char *expression;
    py_lazy_options options = {.dtype = lazy->dtype, .size = lazy->size};
    cubc_status st = py_text(lazy->expression, "expression", "with an expression", &expression);
    if (st) {
        py_raise(st);
        return -1;
    }
    return py_fuse(expression, lazy->operands, &options, out);
}

int py_input_get(PyObject *object, const char *what, bool may_be_lazy, py_view *out)
{
    if (!py_lazy_check(object)) return py_view_get(object, what, false, NULL, out);
    if (may_be_lazy) return fuse((py_lazy *)object, out);
    PyObject *array = py_lazy_array(object, NULL);
    int status = array ? py_view_get(array, what, false, NULL, out) : -1;
    Py_XDECREF(array);
    return status;
}

// ---- the object ---------------------------------------------------------------------------------
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
    if (lazy->operands && fuse(lazy, &view) == 0) {
        lazy->type = view.type;
        lazy->shape = py_shape(view.ndim, view.shape);
    }
    py_view_release(&view);
    if (lazy->shape) return (PyObject *)lazy;
    Py_DECREF(lazy);
    return py_call_named(NULL, "Lazy", NULL);
}

PyObject *py_lazy_array(PyObject *lazy, PyObject *keywords)
{
    PyObject *alone = PyTuple_Pack(1, lazy);
    PyObject *array = alone ? py_transform(NULL, alone, keywords) : NULL;
    Py_XDECREF(alone);
    return array;
}

static PyObject *lazy_array(PyObject *self, PyObject *args, PyObject *keywords)
{
    return PyArg_ParseTuple(args, ":array") ? py_lazy_array(self, keywords) : NULL;
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

static PyObject *lazy_repr(PyObject *self)
{
    py_lazy *lazy = (py_lazy *)self;
    PyObject *names = PyDict_Keys(lazy->operands);
    PyObject *separator = names ? PyUnicode_FromString(", ") : NULL;
    PyObject *joined = separator ? PyUnicode_Join(separator, names) : NULL;
    PyObject *text = joined
                         ? PyUnicode_FromFormat("<cubc.Lazy %R of (%U), %s %R>", lazy->expression,
                                                joined, py_type_name(lazy->type), lazy->shape)
                         : NULL;
    Py_XDECREF(joined);
    Py_XDECREF(separator);
    Py_XDECREF(names);
    return text;
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
    {"expression", get_expression, NULL, "Of the operands' names and of the flat index i.", NULL},
    {"operands", get_operands, NULL, "Arrays and numbers by name.", NULL},
    {"dtype", get_dtype, NULL, "Type of the items, a numpy.dtype.", NULL},
    {"shape", get_shape, NULL, "Extents, a tuple of int.", NULL},
    {"ndim", get_ndim, NULL, "Number of dimensions.", NULL},
    {"size", get_size, NULL, "Number of items.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

#define KEYWORDS(function) ((PyCFunction)(void (*)(void))(function))
static PyMethodDef lazy_methods[] = {
    {"array", KEYWORDS(lazy_array), METH_VARARGS | METH_KEYWORDS,
     "array($self, **options)\n--\n\n"
     "Evaluate: ``cubc.transform(self, **options)``, with its out, dtype, stream and device."},
    {"__array__", KEYWORDS(lazy_numpy), METH_VARARGS | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_doc, "An expression of arrays, evaluated where a call reads it. Made by `cubc.lazy`."},
    {Py_tp_new, lazy_new},
    {Py_tp_dealloc, lazy_dealloc},
    {Py_tp_traverse, lazy_traverse},
    {Py_tp_repr, lazy_repr},
    {Py_tp_methods, lazy_methods},
    {Py_tp_getset, properties},
    {0, NULL}};
static PyType_Spec spec = {"cubc._core.Lazy", sizeof(py_lazy), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

int py_lazy_setup(PyObject *module)
{
    return py_add_type(module, &spec, &lazy_type);
}
