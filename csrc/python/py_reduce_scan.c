// cubc.reduce and cubc.scan.
#include "python/py_arguments.h"
#include "python/py_array.h"
#include "python/py_axes.h"
#include "python/py_call.h"
#include "python/py_docs.h"
#include "python/py_integers.h"
#include "python/py_module.h"
#include "python/py_numpy.h"
#include "python/py_transform.h"
#include "python/py_types.h"

#include <string.h>

// ---- types --------------------------------------------------------------------------------------
// given_out: the type of out=, or NULL.
static int choose_types(cubc_type type, const cubc_type *given_out, PyObject *dtype,
                        const char *text, bool widen, cubc_type *acc, cubc_type *out)
{
    const operator_info *op = operator_find(text);
    cubc_type asked;
    if (dtype) {
        if (py_dtype(dtype, &asked) < 0) return -1;
        if (given_out && py_check_dtype(asked, *given_out) < 0) return -1;
    }
    operator_types(op, type, widen, dtype ? &asked : given_out, acc, out);
    if (!op) return py_check_operator(text, *acc);
    if (!op->arg || *out == CUBC_I64) return 0;
    PyErr_Format(PyExc_TypeError, "%s gives an index: its result is int64, not %s", op->name,
                 py_type_name(*out));
    return -1;
}

static const char *operator_text(PyObject *op)
{
    const char *text = "sum";
    cubc_status st = CUBC_OK;
    if (op)
        st = py_text(op, "op",
                     "with a name such as 'sum' or a C expression of a and b such as 'a + b'",
                     &text);
    if (!st && !*text)
        st = error_set(__FILE__, __LINE__, CUBC_INVALID_ARGUMENT,
                       "op is empty: expected a name such as 'sum' or a C expression of a and b");
    if (!st) return text;
    py_raise(st);
    return NULL;
}

// Returns the text of an operator. A Python function is replaced by its text for items of x, which
// *made keeps.
static const char *take_operator(PyObject **op, PyObject *x, PyObject *dtype, PyObject **made)
{
    if (!*op || !PyCallable_Check(*op)) return operator_text(*op);
    PyObject *module = PyImport_ImportModule("cubc._callables");
    if (module)
        *op = *made =
            PyObject_CallMethod(module, "operator_of", "OOO", *op, x, dtype ? dtype : Py_None);
    Py_XDECREF(module);
    return *made ? operator_text(*op) : NULL;
}

// The type in a form that a dtype= argument takes.
static PyObject *name_type(cubc_type type)
{
    if (type_table[type].kind == KIND_STRUCT) return py_numpy_dtype(type);
    return PyUnicode_FromString(py_type_name(type));
}

// The dtype of an array that has not been looked at yet.
static int array_dtype(const char *what, PyObject *dtype, cubc_type *out)
{
    if (py_dtype(dtype, out) == 0) return 0;
    return py_forget() ? -1 : py_unsupported(what, dtype, "?");
}

PyObject *py_operator_types(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    enum { OP, ITEMS, DTYPE, OUT, WIDEN, COUNT };
    static py_signature signature = {.doc = operator_types_doc, .count = COUNT};
    PyObject *v[COUNT];
    cubc_type type, given, acc, out;
    (void)self;
    if (py_arguments(&signature, args, n, names, v) < 0) return NULL;
    const char *op = operator_text(v[OP]);
    int widen = py_truth(v[WIDEN], "widen", 0);
    if (!op || widen < 0 || array_dtype("the array", v[ITEMS], &type) < 0 ||
        (v[OUT] && array_dtype("out", v[OUT], &given) < 0) ||
        choose_types(type, v[OUT] ? &given : NULL, v[DTYPE], op, widen, &acc, &out) < 0)
        return py_call_named(NULL, "operator_types", NULL);
    PyObject *of_acc = name_type(acc), *of_out = of_acc ? name_type(out) : NULL;
    if (of_out) return Py_BuildValue("(NN)", of_acc, of_out);
    Py_XDECREF(of_acc);
    return py_call_named(NULL, "operator_types", NULL);
}

// ---- initial values -----------------------------------------------------------------------------
typedef struct initial {
    type_value value;
    const py_view *view; // of an array of a device; NULL: the value counts
    PyObject *array;     // that is kept
} initial;

// An array of one item stays on its device, as one of the accumulator's type.
static int take_initial(py_call *c, PyObject *init, cubc_type acc, initial *out)
{
    if (!init) return 0;
    if (!PyFloat_Check(init) && !PyLong_Check(init)) {
        PyObject *module = PyImport_ImportModule("cubc._initial"), *type = NULL;
        if (module) type = name_type(acc);
        if (type) out->array = PyObject_CallMethod(module, "init_in_memory", "OO", init, type);
        Py_XDECREF(type);
        Py_XDECREF(module);
        if (!out->array) return -1;
    }
    if (!out->array || !py_array_check(out->array))
        return py_scalar(out->array ? out->array : init, "init", acc, &out->value);
    py_view *view = py_call_input(c);
    out->view = view;
    return py_view_get(out->array, "init", true, NULL, view);
}

static const void *initial_address(const initial *i, PyObject *init)
{
    return i->view ? i->view->data : init ? &i->value : NULL;
}

// ---- reduce -------------------------------------------------------------------------------------
// Makes a call by a function of Python, which splits it into several.
static PyObject *call_python(const char *file, const char *name, PyObject *const *v,
                             const py_signature *signature)
{
    PyObject *module = PyImport_ImportModule(file), *value = NULL;
    PyObject *function = module ? PyObject_GetAttrString(module, name) : NULL;
    PyObject *one = function ? PyTuple_Pack(1, v[0]) : NULL, *options = one ? PyDict_New() : NULL;
    bool failed = !options;
    for (int k = 1; !failed && k < signature->count; k++)
        failed = v[k] && PyDict_SetItem(options, signature->interned[k], v[k]) < 0;
    if (!failed) value = PyObject_Call(function, one, options);
    Py_XDECREF(options);
    Py_XDECREF(one);
    Py_XDECREF(function);
    Py_XDECREF(module);
    return value;
}

// Refuses several axes of an operator whose result is an index.
static int check_axis(const operator_info *op, PyObject *axis)
{
    if (!op || !op->arg || !axis || !PyTuple_Check(axis)) return 0;
    PyErr_Format(PyExc_TypeError, "axis is %R: %s() takes one axis, an int", axis, op->name);
    return -1;
}

PyObject *py_reduce(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    enum {
        X,
        OP,
        AXIS,
        KEEPDIMS,
        INIT,
        OUT,
        DTYPE,
        COMMUTATIVE,
        DETERMINISTIC,
        STREAM,
        WORKSPACE,
        DEVICE,
        COUNT
    };
    static py_signature signature = {.doc = reduce_doc, .count = COUNT, .per_operator = true};
    PyObject *v[COUNT], *value = NULL, *made = NULL;
    cubc_type acc, out;
    cubc_status st;
    problem p;
    initial init = {0};
    axis_shape shape;
    py_call c;
    (void)self;
    py_call_begin(&c);
    if (py_arguments(&signature, args, n, names, v) < 0)
        return py_call_named(NULL, "reduce", "reduce");
    if (v[OP] && (PyList_Check(v[OP]) || PyTuple_Check(v[OP]))) {
        value = call_python("cubc._several", "reduce_several", v, &signature);
        goto done;
    }
    const char *op = take_operator(&v[OP], v[X], v[DTYPE], &made);
    int commutative = py_truth(v[COMMUTATIVE], "commutative", 0),
        deterministic = py_truth(v[DETERMINISTIC], "deterministic", 0);
    const operator_info *known = op ? operator_find(op) : NULL;
    if (!op || commutative < 0 || deterministic < 0 ||
        py_input_get(v[X], "the array", true, py_call_input(&c)) < 0 ||
        py_axis_shape(&c.in[0], v[AXIS], v[KEEPDIMS], &shape) < 0 || check_axis(known, v[AXIS]) < 0)
        goto done;
    if (shape.apart) {
        // One reduction for each axis, from the last one on: operands keep their order.
        value = call_python("cubc._axes", "reduce_in_turns", v, &signature);
        goto done;
    }
    if (py_call_view_out(&c, 0, v[OUT]) < 0 ||
        choose_types(c.in[0].type, v[OUT] ? &c.out[0].view.type : NULL, v[DTYPE], op, true, &acc,
                     &out) < 0 ||
        take_initial(&c, v[INIT], acc, &init) < 0 || py_call_device(&c, v[DEVICE], v[STREAM]) < 0 ||
        py_call_stage_inputs(&c) < 0 ||
        py_call_prepare_out(&c, 0, "reduce", out, shape.ndim, shape.shape) < 0 ||
        py_call_workspace(&c, v[WORKSPACE]) < 0)
        goto done;
    cubc_axis_reduce_params params = {.in = c.in[0].data,
                                      .out = py_call_out_data(&c, 0),
                                      .outer = shape.outer,
                                      .length = shape.length,
                                      .columns = shape.columns,
                                      .type = py_view_kind(&c.in[0]),
                                      .acc_type = acc,
                                      .out_type = out,
                                      .op = op,
                                      .commutative = commutative,
                                      .deterministic = deterministic,
                                      .init = initial_address(&init, v[INIT]),
                                      .init_in_memory = init.view != NULL};
    st = axis_reduce_problem(&params, &p);
    if (!st) st = py_call_run(&c, &p);
    value = st ? py_raise(st) : py_call_result(&c, 0, !v[OUT] && shape.ndim == 0);
done:
    py_call_end(&c);
    Py_XDECREF(made);
    Py_XDECREF(init.array);
    return py_call_named(value, "axis_reduce", "reduce");
}

// ---- scan ---------------------------------------------------------------------------------------
PyObject *py_scan(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    enum { X, OP, INCLUSIVE, INIT, OUT, DTYPE, DETERMINISTIC, STREAM, WORKSPACE, DEVICE, COUNT };
    static py_signature signature = {.doc = scan_doc, .count = COUNT, .per_operator = true};
    PyObject *v[COUNT], *value = NULL, *made = NULL;
    cubc_type acc, out;
    cubc_status st;
    problem p;
    initial init = {0};
    py_call c;
    (void)self;
    py_call_begin(&c);
    if (py_arguments(&signature, args, n, names, v) < 0) return py_call_named(NULL, "scan", "scan");
    const char *op = take_operator(&v[OP], v[X], v[DTYPE], &made);
    int inclusive = py_truth(v[INCLUSIVE], "inclusive", 1);
    int deterministic = py_truth(v[DETERMINISTIC], "deterministic", 0);
    if (!op || inclusive < 0 || deterministic < 0 ||
        py_input_get(v[X], "the array", true, py_call_input(&c)) < 0 ||
        py_call_view_out(&c, 0, v[OUT]) < 0 ||
        choose_types(c.in[0].type, v[OUT] ? &c.out[0].view.type : NULL, v[DTYPE], op, false, &acc,
                     &out) < 0 ||
        take_initial(&c, v[INIT], acc, &init) < 0 || py_call_device(&c, v[DEVICE], v[STREAM]) < 0 ||
        py_call_stage_inputs(&c) < 0)
        goto done;
    Py_ssize_t length = (Py_ssize_t)c.in[0].n; // of the flattened array, as in numpy.cumsum
    bool keep = c.out[0].object && c.out[0].view.ndim == c.in[0].ndim;
    if (py_call_prepare_out(&c, 0, "scan", out, keep ? c.in[0].ndim : 1,
                            keep ? c.in[0].shape : &length) < 0 ||
        py_call_workspace(&c, v[WORKSPACE]) < 0)
        goto done;
    cubc_scan_params params = {.in = c.in[0].data,
                               .out = py_call_out_data(&c, 0),
                               .n = c.in[0].n,
                               .type = py_view_kind(&c.in[0]),
                               .acc_type = acc,
                               .out_type = out,
                               .op = op,
                               .inclusive = inclusive,
                               .deterministic = deterministic,
                               .init = initial_address(&init, v[INIT]),
                               .init_in_memory = init.view != NULL};
    st = scan_problem(&params, &p);
    if (!st) st = py_call_run(&c, &p);
    value = st ? py_raise(st) : py_call_result(&c, 0, false);
done:
    py_call_end(&c);
    Py_XDECREF(made);
    Py_XDECREF(init.array);
    return py_call_named(value, "scan", "scan");
}
