// Expressions of operands as an input of a call: see py_expression.h.
#include "python/py_expression.h"
#include "python/py_integers.h"
#include "python/py_numpy.h"
#include "python/py_types.h"
#include "run/expression.h"

#include <string.h>

enum { WHAT_SIZE = 64 };

static const char *name_operand(char what[WHAT_SIZE], const char *name)
{
    PyOS_snprintf(what, WHAT_SIZE, "operand '%.40s'", name);
    return what;
}

// ---- numbers ------------------------------------------------------------------------------------
static bool is_numpy_scalar(PyObject *object)
{
    static PyObject *generic; // NumPy's base class of them
    if (!generic) generic = PyObject_GetAttrString(py_numpy, "generic");
    bool scalar = generic && PyObject_IsInstance(object, generic) == 1;
    (void)py_forget();
    return scalar;
}

// Python's bool for one of NumPy, which has no index and would be taken for a float.
static PyObject *without_numpy_bool(PyObject *number)
{
    static PyObject *bool_type;
    if (!bool_type) bool_type = PyObject_GetAttrString(py_numpy, "bool");
    bool found = bool_type && PyObject_IsInstance(number, bool_type) == 1;
    (void)py_forget();
    if (!found) return number;
    return PyObject_IsTrue(number) ? Py_True : Py_False;
}

// float64 and complex128 of NumPy are also Python's float and complex, and no Python numbers here.
static bool is_python_number(PyObject *object)
{
    if (PyLong_Check(object)) return true;
    if (PyFloat_CheckExact(object) || PyComplex_CheckExact(object)) return true;
    return (PyFloat_Check(object) || PyComplex_Check(object)) && !is_numpy_scalar(object);
}

static bool is_complex(PyObject *number)
{
    if (PyComplex_Check(number) || !is_numpy_scalar(number)) return PyComplex_Check(number);
    PyObject *answer = PyObject_CallMethod(py_numpy, "iscomplexobj", "(O)", number);
    bool complex = answer && PyObject_IsTrue(answer) == 1;
    Py_XDECREF(answer);
    (void)py_forget();
    return complex;
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
// float32. `result` is the type of the result, or for a comparison that of what it compares.
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

// ---- operands -----------------------------------------------------------------------------------
// Beside arrays, or with size= or out=, NumPy's scalars are numbers; alone they are arrays without
// dimensions.
static bool has_shape(PyObject *operands, const py_expression_options *options)
{
    PyObject *name, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(operands, &at, &name, &value))
        if (!is_python_number(value) && !is_numpy_scalar(value)) return true;
    return options->size || options->out;
}

// Arrays become views, numbers wait for the result's type.
static int collect_operands(py_expression *f, PyObject *operands,
                            const py_expression_options *options)
{
    PyObject *name_object, *value;
    Py_ssize_t at = 0;
    char what[WHAT_SIZE];
    bool shaped = has_shape(operands, options);
    while (PyDict_Next(operands, &at, &name_object, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(name_object, NULL);
        if (!name) return -1;
        if (f->count == MAX_OPERANDS) {
            PyErr_Format(PyExc_ValueError, "an expression takes at most %d operands", MAX_OPERANDS);
            return -1;
        }
        int k = f->count++;
        f->operands[k] = (cubc_operand){.name = name};
        if (is_python_number(value) || (shaped && is_numpy_scalar(value))) {
            f->numbers[k] = without_numpy_bool(value);
            continue;
        }
        f->array_count++;
        if (py_view_get(value, name_operand(what, name), false, NULL, &f->views[k]) < 0) return -1;
        f->operands[k].type = f->views[k].type;
    }
    return 0;
}

// numpy.result_type of the arrays; float64 if there is none.
static int result_type(const py_expression *f, cubc_type *out)
{
    PyObject *dtypes, *function = NULL, *dtype = NULL;
    int status = -1, place = 0;
    bool alike = true, found = false;
    *out = CUBC_F64;
    for (int k = 0; k < f->count; k++) {
        if (f->numbers[k]) continue;
        alike = alike && (!found || f->views[k].type == *out);
        *out = f->views[k].type;
        found = true;
    }
    if (alike) return 0;
    dtypes = PyTuple_New(f->array_count);
    if (!dtypes) return -1;
    for (int k = 0; k < f->count; k++) {
        if (f->numbers[k]) continue;
        PyObject *one = py_numpy_dtype(f->views[k].type);
        if (!one || PyTuple_SetItem(dtypes, place++, one) < 0) goto done;
    }
    function = PyObject_GetAttrString(py_numpy, "result_type");
    dtype = function ? PyObject_Call(function, dtypes, NULL) : NULL;
    if (dtype) status = py_dtype(dtype, out);
done:
    Py_XDECREF(dtype);
    Py_XDECREF(function);
    Py_DECREF(dtypes);
    return status;
}

// The type that comes of the arrays and numbers if nothing else is said. A struct is mostly taken
// apart, so that its type would be a guess.
static int default_type(const py_expression *f, cubc_type *out)
{
    bool complex = false;
    for (int k = 0; k < f->count; k++)
        if (!f->numbers[k] && type_table[f->views[k].type].kind == KIND_STRUCT) {
            PyErr_SetString(PyExc_TypeError,
                            "with operands that are structs the result's type has to be given: "
                            "dtype='float32' or the like, or the dtype of a struct that the "
                            "expression makes as out_t{...}");
            return -1;
        }
    if (result_type(f, out) < 0) return -1;
    for (int k = 0; k < f->count; k++)
        complex = complex || (f->numbers[k] && is_complex(f->numbers[k]));
    if (complex) *out = complex_of(*out);
    return 0;
}

// The types of the operands, as cubc._expression_types takes them.
static PyObject *operand_types(const py_expression *f)
{
    PyObject *types = PyTuple_New(f->count);
    for (int k = 0; types && k < f->count; k++) {
        PyObject *number = f->numbers[k], *one;
        if (!number)
            one = py_numpy_dtype(f->views[k].type);
        else if (PyBool_Check(number))
            one = py_numpy_dtype(CUBC_BOOL);
        else
            one = Py_NewRef(is_complex(number)      ? (PyObject *)&PyComplex_Type
                            : PyIndex_Check(number) ? (PyObject *)&PyLong_Type
                                                    : (PyObject *)&PyFloat_Type);
        if (!one || PyTuple_SetItem(types, k, one) < 0) Py_CLEAR(types);
    }
    return types;
}

static PyObject *operand_names(const py_expression *f)
{
    PyObject *names = PyTuple_New(f->count);
    for (int k = 0; names && k < f->count; k++) {
        PyObject *one = PyUnicode_FromString(f->operands[k].name);
        if (!one || PyTuple_SetItem(names, k, one) < 0) Py_CLEAR(names);
    }
    return names;
}

// The type by NumPy's promotion: a dtype, a type of Python's numbers, or None.
static PyObject *promoted(const char *expression, const py_expression *f)
{
    static PyObject *function;
    if (!function) {
        PyObject *module = PyImport_ImportModule("cubc._expression_types");
        function = module ? PyObject_GetAttrString(module, "result") : NULL;
        Py_XDECREF(module);
        if (!function) return NULL;
    }
    PyObject *names = operand_names(f), *types = names ? operand_types(f) : NULL;
    PyObject *found = NULL;
    if (types) found = PyObject_CallFunction(function, "sOO", expression, names, types);
    Py_XDECREF(types);
    Py_XDECREF(names);
    return found;
}

// *out: the type of the result if nothing else is said; *numbers: the one that Python's numbers are
// converted to. Where those decide, or nothing is known, both go by the arrays' types.
static int natural_type(const char *expression, const py_expression *f, cubc_type *out,
                        cubc_type *numbers)
{
    PyObject *found = promoted(expression, f);
    if (!found) return -1;
    bool weak = found == Py_None || PyType_Check(found);
    bool is_int = found == (PyObject *)&PyLong_Type, is_float = found == (PyObject *)&PyFloat_Type;
    int status = weak ? default_type(f, numbers) : py_dtype(found, out);
    Py_DECREF(found);
    if (status < 0) return -1;
    if (!weak) {
        *numbers = *out;
        // A comparison of structs is bool, which says nothing of what it compares.
        if (*out == CUBC_BOOL && default_type(f, numbers) < 0) *numbers = CUBC_BOOL;
        return py_forget() ? -1 : 0;
    }
    *out = *numbers;
    if (is_float && type_table[*out].kind < KIND_FLOAT) *out = CUBC_F64;
    if (is_int) *out = CUBC_I64;
    if (is_int && !f->array_count) *numbers = CUBC_I64;
    return 0;
}

// An output of floats takes every real result, so that most calls need not look at the expression.
static bool takes_all(const py_expression *f, cubc_type out)
{
    bool complex = false;
    for (int k = 0; k < f->count; k++)
        complex = complex || (f->numbers[k] ? is_complex(f->numbers[k])
                                            : type_table[f->views[k].type].kind == KIND_COMPLEX);
    return type_table[out].kind >= KIND_COMPLEX || (type_table[out].kind == KIND_FLOAT && !complex);
}

// Floats that would become integers are refused, as far as the expression tells.
static int check_promoted(const char *expression, const py_expression *f, cubc_type out)
{
    PyObject *found = promoted(expression, f);
    if (!found) return -1;
    cubc_type natural = found == (PyObject *)&PyFloat_Type     ? CUBC_F64
                        : found == (PyObject *)&PyComplex_Type ? CUBC_C128
                                                               : out;
    int status = found == Py_None || PyType_Check(found) ? 0 : py_dtype(found, &natural);
    Py_DECREF(found);
    return status ? status : py_check_casting(natural, out);
}

static int choose_type(const char *expression, const py_expression *f,
                       const py_expression_options *options, cubc_type *out, cubc_type *numbers)
{
    if (!options->dtype && !options->out) return natural_type(expression, f, out, numbers);
    if (options->dtype) {
        if (py_dtype(options->dtype, out) < 0 ||
            (options->out && py_check_dtype(*out, options->out->type) < 0))
            return -1;
    } else {
        *out = options->out->type;
    }
    *numbers = *out;
    return options->dtype || options->unsafe || takes_all(f, *out)
               ? 0
               : check_promoted(expression, f, *out);
}

// ---- integers that a result cannot hold ---------------------------------------------------------
// The integers among the operands that a type cannot hold, as pairs of name and value.
static PyObject *integers_beyond(const py_expression *f, cubc_type out)
{
    PyObject *pairs = PyList_New(0), *found;
    for (int k = 0; pairs && k < f->count; k++) {
        if (!f->numbers[k] || py_holds(out, f->numbers[k])) continue;
        PyObject *integer = PyNumber_Index(f->numbers[k]);
        PyObject *pair = integer ? Py_BuildValue("(sO)", f->operands[k].name, integer) : NULL;
        if (!pair || PyList_Append(pairs, pair) < 0) Py_CLEAR(pairs);
        Py_XDECREF(pair);
        Py_XDECREF(integer);
    }
    found = pairs ? PyList_AsTuple(pairs) : NULL;
    Py_XDECREF(pairs);
    return found;
}

// Most calls have no integer that could be beyond the result, and none asks Python then.
static int check_integers(const char *expression, const py_expression *f, cubc_type out)
{
    bool held = !py_text_may_overflow(expression, out);
    for (int k = 0; held && k < f->count; k++)
        held = !f->numbers[k] || py_holds(out, f->numbers[k]);
    return held ? 0
                : py_check_integers(expression, operand_names(f), operand_types(f),
                                    integers_beyond(f, out), out);
}

// ---- shapes -------------------------------------------------------------------------------------
// Arrays that the expression indexes have shapes of their own.
static bool is_table(const py_expression *f, const char *expression, int k)
{
    bool mixed;
    return strchr(expression, '[') && expression_indexes(expression, f->operands[k].name, &mixed);
}

// NumPy's rule: extents agree from the last on, or one of them is 1 or missing.
static int broadcast(py_view *whole, const py_view *one, const char *name)
{
    int ndim = whole->ndim > one->ndim ? whole->ndim : one->ndim;
    Py_ssize_t shape[VIEW_DIMENSIONS];
    for (int d = 1; d <= ndim; d++) { // from the last
        Py_ssize_t a = d <= whole->ndim ? whole->shape[whole->ndim - d] : 1;
        Py_ssize_t b = d <= one->ndim ? one->shape[one->ndim - d] : 1;
        if (a != b && a != 1 && b != 1) {
            PyObject *others = py_shape(whole->ndim, whole->shape);
            PyObject *own = others ? py_shape(one->ndim, one->shape) : NULL;
            if (own)
                PyErr_Format(PyExc_ValueError,
                             "the operands' shapes do not go together: operand '%s' has %R, those "
                             "before it %R; extents must be equal or 1",
                             name, own, others);
            Py_XDECREF(others);
            Py_XDECREF(own);
            return -1;
        }
        shape[ndim - d] = a == 1 ? b : a;
    }
    memcpy(whole->shape, shape, sizeof(Py_ssize_t) * (size_t)ndim);
    return py_view_set_shape(whole, "the result", ndim);
}

static bool same_shape(const py_view *a, const py_view *b)
{
    return a->ndim == b->ndim &&
           memcmp(a->shape, b->shape, sizeof a->shape[0] * (size_t)a->ndim) == 0;
}

static int read_size(PyObject *object, Py_ssize_t *size)
{
    *size = PyNumber_AsSsize_t(object, PyExc_OverflowError);
    if (*size >= 0) return 0;
    if (PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "size is %R: expected an int", object);
        return -1;
    }
    PyErr_Format(PyExc_ValueError, "size must not be negative: %zd", *size);
    return -1;
}

// The result's shape: of the arrays, else of out, else size, which must not say anything else.
static int find_shape(const py_expression *f, const char *expression,
                      const py_expression_options *options, py_view *whole)
{
    int shaped = 0;
    for (int k = 0; k < f->count; k++) shaped += !f->numbers[k] && !is_table(f, expression, k);
    const py_view *model = shaped ? whole : options->out;
    Py_ssize_t size = 0;
    if (!model && !options->size) {
        PyErr_SetString(PyExc_ValueError, "an expression without arrays needs out= or size=");
        return -1;
    }
    for (int k = 0; k < f->count; k++)
        if (!f->numbers[k] && !is_table(f, expression, k) &&
            broadcast(whole, &f->views[k], f->operands[k].name) < 0)
            return -1;
    if (options->size && read_size(options->size, &size) < 0) return -1;
    if (options->size && shaped && whole->ndim == 0 && size != 1) model = NULL; // numbers alone
    if (model && options->size && (uint64_t)size != model->n) {
        PyErr_Format(PyExc_ValueError,
                     "size is %zd, but %s %llu items; leave it away, or name an operand otherwise",
                     size, shaped ? "the arrays have" : "out has", (unsigned long long)model->n);
        return -1;
    }
    if (!shaped && model) memcpy(whole->shape, model->shape, sizeof whole->shape);
    if (!model) whole->shape[0] = size;
    return py_view_set_shape(whole, "the result", model ? model->ndim : 1);
}

// Operands of the result's shape go along with its index; with those alone it needs no axes.
static void describe_shapes(py_expression *f, const char *expression, const py_view *whole)
{
    for (int k = 0; k < f->count; k++) {
        bool table = !f->numbers[k] && is_table(f, expression, k);
        if (f->numbers[k] || (!table && same_shape(&f->views[k], whole))) continue;
        f->operands[k].ndim = f->views[k].ndim;
        f->operands[k].shape = f->views[k].shape;
        if (table) continue;
        f->lazy.ndim = whole->ndim;
        f->lazy.shape = whole->shape;
    }
}

// Host arrays without dimensions beside arrays of a device are numbers, each of its own type.
static void take_numbers(py_expression *f, PyObject *operands)
{
    bool on_device = false;
    for (int k = 0; k < f->count; k++) on_device = on_device || f->views[k].device;
    for (int k = 0; on_device && k < f->count; k++) {
        py_view *view = &f->views[k];
        if (!view->on_host || view->ndim) continue;
        f->operands[k].scalar = 1;
        f->operands[k].data = &f->bits[k];
        memcpy(&f->bits[k], view->data, cubc_type_size(view->type));
        f->numbers[k] = PyDict_GetItemString(operands, f->operands[k].name);
        f->array_count--;
        py_view_release(view);
    }
}

int py_expression_get(const char *expression, PyObject *operands,
                      const py_expression_options *options, py_view *out)
{
    py_expression *f = out->expression = PyMem_Calloc(1, sizeof *f);
    if (!f) {
        PyErr_NoMemory();
        return -1;
    }
    cubc_type numbers;
    if (collect_operands(f, operands, options) < 0 ||
        choose_type(expression, f, options, &out->type, &numbers) < 0 ||
        (!options->dtype && !options->unsafe && check_integers(expression, f, out->type) < 0) ||
        find_shape(f, expression, options, out) < 0)
        return -1;
    for (int k = 0; k < f->count; k++)
        if (f->numbers[k] &&
            scalar_operand(f->numbers[k], numbers, &f->operands[k], &f->bits[k]) < 0)
            return -1;
    take_numbers(f, operands);
    f->lazy.expression = expression;
    f->lazy.type = out->type;
    f->lazy.operands = f->operands;
    f->lazy.operand_count = f->count;
    describe_shapes(f, expression, out);
    out->data = &f->lazy;
    return 0;
}
