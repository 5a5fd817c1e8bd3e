// cubc.transform: operands by name.
#include "py_call.h"

#include <stdio.h>
#include <string.h>

typedef struct map_arguments {
    PyObject *out, *dtype, *size, *stream, *device;
} map_arguments;

// Takes a named argument of the call itself; 0 if the name is an operand's.
static int take_argument(map_arguments *m, const char *name, PyObject *value)
{
    PyObject **slot = !strcmp(name, "out")      ? &m->out
                      : !strcmp(name, "dtype")  ? &m->dtype
                      : !strcmp(name, "size")   ? &m->size
                      : !strcmp(name, "stream") ? &m->stream
                      : !strcmp(name, "device") ? &m->device
                                                : NULL;
    if (slot && value != Py_None) *slot = value;
    return slot != NULL;
}

static bool is_python_number(PyObject *object)
{
    return PyLong_Check(object) || PyFloat_Check(object) || PyBool_Check(object) ||
           PyComplex_Check(object);
}

static bool is_numpy_scalar(PyObject *object)
{
    static PyObject *generic; // NumPy's base class of them
    if (!generic) generic = PyObject_GetAttrString(py_numpy, "generic");
    bool scalar = generic && PyObject_IsInstance(object, generic) == 1;
    PyErr_Clear();
    return scalar;
}

static bool is_complex(PyObject *number)
{
    if (PyComplex_Check(number) || !is_numpy_scalar(number)) return PyComplex_Check(number);
    PyObject *answer = PyObject_CallMethod(py_numpy, "iscomplexobj", "(O)", number);
    bool complex = answer && PyObject_IsTrue(answer) == 1;
    Py_XDECREF(answer);
    PyErr_Clear();
    return complex;
}

enum { WHAT_SIZE = 64 };

static const char *name_operand(char what[WHAT_SIZE], const char *name)
{
    PyOS_snprintf(what, WHAT_SIZE, "operand '%.40s'", name);
    return what;
}

// int64; uint64 for what only that can hold, as with the literals of C.
static int integer_type(PyObject *number, cubc_type *out)
{
    int overflow = 0;
    PyObject *integer = PyNumber_Index(number);
    if (!integer) return -1;
    PyLong_AsLongLongAndOverflow(integer, &overflow);
    Py_DECREF(integer);
    *out = overflow > 0 ? CUBC_U64 : CUBC_I64;
    return 0;
}

// The complex type that goes with another type: of what NumPy computes in single precision C64.
static cubc_type complex_of(cubc_type type)
{
    return type_arithmetic(type_real(type)) == CUBC_F32 ? CUBC_C64 : CUBC_C128;
}

// A scalar of NumPy that is a struct has a type of its own: 1; 0 for all others.
static int struct_type(PyObject *number, cubc_type *out)
{
    PyObject *dtype = is_numpy_scalar(number) ? PyObject_GetAttrString(number, "dtype") : NULL;
    int found = dtype ? py_type_of_struct(dtype, out) : 0;
    Py_XDECREF(dtype);
    return found;
}

// A Python number takes its type from its neighbours, as in NumPy: a float with float32 arrays is a
// float32. `result` is the type of the result.
static int scalar_operand(PyObject *number, cubc_type result, cubc_operand *o, type_value *value)
{
    char what[WHAT_SIZE];
    int found = struct_type(number, &o->type);
    if (found < 0) return -1;
    if (found)
        ;
    else if (is_complex(number))
        o->type = complex_of(result);
    else if (type_table[result].kind == KIND_FLOAT || type_table[result].kind == KIND_COMPLEX)
        o->type = type_arithmetic(type_real(result));
    else if (!PyIndex_Check(number))
        o->type = CUBC_F64;
    else if (integer_type(number, &o->type) < 0)
        return -1;
    o->scalar = 1;
    o->data = value;
    return py_scalar(number, name_operand(what, o->name), o->type, value);
}

// numpy.result_type of the arrays; float64 if there is none.
static int result_type(const py_call *c, cubc_type *out)
{
    PyObject *dtypes = PyTuple_New(c->in_count), *function = NULL, *dtype = NULL;
    int status = -1;
    *out = CUBC_F64;
    if (c->in_count == 0) {
        status = 0;
        goto done;
    }
    if (!dtypes) goto done;
    for (int k = 0; k < c->in_count; k++) {
        if (k && c->in[k].type != c->in[0].type) status = 1;
        *out = c->in[0].type;
    }
    if (status < 1) { // all alike
        status = 0;
        goto done;
    }
    status = -1;
    for (int k = 0; k < c->in_count; k++) {
        PyObject *one = py_numpy_dtype(c->in[k].type);
        if (!one) goto done;
        PyTuple_SetItem(dtypes, k, one);
    }
    function = PyObject_GetAttrString(py_numpy, "result_type");
    dtype = function ? PyObject_Call(function, dtypes, NULL) : NULL;
    if (dtype) status = py_dtype(dtype, out);
done:
    Py_XDECREF(dtype);
    Py_XDECREF(function);
    Py_XDECREF(dtypes);
    return status;
}

// What comes of the arrays and numbers if nothing else is said. A struct is mostly taken apart, so
// that its type would be a guess.
static int natural_type(const py_call *c, PyObject *const *numbers, int count, cubc_type *out)
{
    bool complex = false;
    for (int k = 0; k < c->in_count; k++)
        if (type_table[c->in[k].type].kind == KIND_STRUCT) {
            PyErr_SetString(PyExc_TypeError,
                            "with operands that are structs the result's type has to be given: "
                            "dtype='float32' or the like, or the dtype of a struct that the "
                            "expression makes as out_t{...}");
            return -1;
        }
    if (result_type(c, out) < 0) return -1;
    for (int k = 0; k < count; k++) complex = complex || (numbers[k] && is_complex(numbers[k]));
    if (complex) *out = complex_of(*out);
    return 0;
}

// The result's type: of dtype= or out=, which agree, or the natural one.
static int choose_type(const py_call *c, const map_arguments *m, PyObject *const *numbers,
                       int count, cubc_type *out)
{
    const py_view *given = c->out[0].object ? &c->out[0].view : NULL;
    if (!m->dtype && !given) return natural_type(c, numbers, count, out);
    if (given) *out = given->type;
    if (m->dtype && py_dtype(m->dtype, out) < 0) return -1;
    return given ? py_check_dtype(*out, given->type) : 0;
}

// There is no broadcasting: every array has the first one's shape.
static int check_shape(const py_call *c, const char *what)
{
    const py_view *last = &c->in[c->in_count - 1];
    if (py_call_same_shape(last, c->in[0].ndim, c->in[0].shape)) return 0;
    PyObject *first = py_shape(c->in[0].ndim, c->in[0].shape);
    PyObject *other = py_shape(last->ndim, last->shape);
    if (first && other)
        PyErr_Format(PyExc_ValueError,
                     "the arrays of a transform must have the same shape: %s has %R, the first "
                     "array has %R",
                     what, other, first);
    Py_XDECREF(first);
    Py_XDECREF(other);
    return -1;
}

// Beside arrays, or with size=, NumPy's scalars are numbers; alone they are arrays without
// dimensions.
static bool has_shape(PyObject *keywords)
{
    PyObject *name_object, *value;
    Py_ssize_t at = 0;
    map_arguments m = {0};
    while (keywords && PyDict_Next(keywords, &at, &name_object, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(name_object, NULL);
        bool operand = name && !take_argument(&m, name, value);
        if (operand && !is_python_number(value) && !is_numpy_scalar(value)) return true;
    }
    PyErr_Clear();
    return m.size != NULL;
}

// The operands by name: arrays become views of the call, numbers wait for the result's type.
static int collect_operands(py_call *c, PyObject *keywords, map_arguments *m,
                            cubc_operand *operands, PyObject **numbers, int *count)
{
    PyObject *name_object, *value;
    Py_ssize_t at = 0;
    bool shaped = has_shape(keywords);
    while (keywords && PyDict_Next(keywords, &at, &name_object, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(name_object, NULL);
        if (!name) return -1;
        if (take_argument(m, name, value)) continue;
        if (*count == MAX_INPUTS) {
            PyErr_Format(PyExc_ValueError, "a transform takes at most %d operands", MAX_INPUTS);
            return -1;
        }
        operands[*count] = (cubc_operand){.name = name};
        if (is_python_number(value) || (shaped && is_numpy_scalar(value))) {
            numbers[(*count)++] = value;
            continue;
        }
        char what[WHAT_SIZE];
        int k = c->in_count++;
        if (py_view_get(value, name_operand(what, name), false, NULL, &c->in[k]) < 0 ||
            check_shape(c, what) < 0)
            return -1;
        operands[*count].type = c->in[k].type;
        (*count)++;
    }
    return 0;
}

// The result's shape: of the arrays, else of out, else size, which must not say anything else.
static int map_shape(const py_call *c, const map_arguments *m, int *ndim, const Py_ssize_t **shape,
                     Py_ssize_t *size)
{
    const py_view *model = c->in_count ? &c->in[0] : c->out[0].object ? &c->out[0].view : NULL;
    if (!model && !m->size) {
        PyErr_SetString(PyExc_ValueError, "a transform without array operands needs out= or size=");
        return -1;
    }
    *size = m->size ? PyNumber_AsSsize_t(m->size, PyExc_OverflowError) : 0;
    if (PyErr_Occurred()) return -1;
    if (*size < 0) {
        PyErr_Format(PyExc_ValueError, "size must not be negative: %zd", *size);
        return -1;
    }
    if (model && m->size && (uint64_t)*size != model->n) {
        PyErr_Format(PyExc_ValueError,
                     "size is %zd, but %s %llu items; leave it away, or name an operand otherwise",
                     *size, c->in_count ? "the arrays have" : "out has",
                     (unsigned long long)model->n);
        return -1;
    }
    *ndim = model ? model->ndim : 1;
    *shape = model ? model->shape : size;
    return 0;
}

PyObject *py_transform(PyObject *self, PyObject *args, PyObject *keywords)
{
    cubc_operand operands[MAX_INPUTS];
    PyObject *numbers[MAX_INPUTS] = {NULL}, *value = NULL;
    type_value bits[MAX_INPUTS];
    const char *expression;
    const Py_ssize_t *shape;
    Py_ssize_t size;
    map_arguments m = {0};
    int count = 0, ndim;
    cubc_type type;
    problem p;
    py_call c = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "s:transform", &expression)) return NULL;
    if (collect_operands(&c, keywords, &m, operands, numbers, &count) < 0 ||
        py_call_view_out(&c, 0, m.out) < 0 || py_call_device(&c, m.device, m.stream) < 0 ||
        choose_type(&c, &m, numbers, count, &type) < 0)
        goto done;
    if (c.in_count == 0 && !c.out[0].object) c.host = m.device == NULL;
    for (int k = 0; k < count; k++)
        if (numbers[k] && scalar_operand(numbers[k], type, &operands[k], &bits[k]) < 0) goto done;
    if (map_shape(&c, &m, &ndim, &shape, &size) < 0 || py_call_stage_inputs(&c) < 0 ||
        py_call_prepare_out(&c, 0, "transform", type, ndim, shape) < 0)
        goto done;
    for (int k = 0, view = 0; k < count; k++)
        if (!numbers[k]) operands[k].data = c.in[view++].data;
    cubc_transform_params params = {.out = py_call_out_data(&c, 0),
                                    .out_type = type,
                                    .n = c.out[0].view.n,
                                    .expression = expression,
                                    .operands = operands,
                                    .operand_count = count};
    cubc_status st = transform_problem(&params, &p);
    if (!st) st = py_call_run(&c, &p);
    value = st ? py_raise(st) : py_call_result(&c, 0, false);
done:
    py_call_end(&c);
    return value;
}
