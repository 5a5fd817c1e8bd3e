// Number types between Python and the core: dtypes by name, scalars, and what to say of the types
// that cubc does not take.
#include "python/py_support.h"

#include <string.h>

static const char *const numpy_names[CUBC_TYPE_COUNT] = {
    "bool",   "int8",    "int16",    "int32",   "int64",   "uint8",     "uint16",    "uint32",
    "uint64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};

const char *py_type_name(cubc_type type)
{
    return type < CUBC_TYPE_COUNT ? numpy_names[type] : type_table[type].description;
}

// ---- from a description -------------------------------------------------------------------------
int py_type_of_kind(char kind, Py_ssize_t size, cubc_type *out)
{
    static const struct {
        char kind, size;
        cubc_type type;
    } table[] = {{'b', 1, CUBC_BOOL}, {'i', 1, CUBC_I8},    {'i', 2, CUBC_I16}, {'i', 4, CUBC_I32},
                 {'i', 8, CUBC_I64},  {'u', 1, CUBC_U8},    {'u', 2, CUBC_U16}, {'u', 4, CUBC_U32},
                 {'u', 8, CUBC_U64},  {'f', 2, CUBC_F16},   {'f', 4, CUBC_F32}, {'f', 8, CUBC_F64},
                 {'c', 8, CUBC_C64},  {'c', 16, CUBC_C128}, {'V', 2, CUBC_BF16}};
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (table[i].kind == kind && table[i].size == size) {
            *out = table[i].type;
            return 0;
        }
    return -1;
}

static int type_of_name(const char *name, cubc_type *out)
{
    const char *dot = strrchr(name, '.'); // "torch.float32"
    if (dot) name = dot + 1;
    for (int t = 0; t < CUBC_TYPE_COUNT; t++)
        if (strcmp(name, numpy_names[t]) == 0 || strcmp(name, type_table[t].name) == 0) {
            *out = (cubc_type)t;
            return 0;
        }
    return -1;
}

int py_type_of_str(PyObject *object, cubc_type *out)
{
    int status = 0;
    PyObject *text = object ? PyObject_Str(object) : NULL;
    const char *name = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (name) status = type_of_name(name, out) == 0;
    Py_XDECREF(text);
    return py_forget() ? -1 : status;
}

int py_type_of_dtype(PyObject *dtype, cubc_type *out)
{
    int found = py_type_of_str(dtype, out);
    return found ? found : py_type_of_struct(dtype, out);
}

// ---- what is not supported ----------------------------------------------------------------------
// "object", "clongdouble", "str", "big-endian float64" of a numpy.dtype; NULL without an exception
// if it is none. *foreign: not in this machine's byte order.
static PyObject *dtype_name(PyObject *dtype, bool *foreign)
{
    PyObject *type = PyObject_GetAttrString(dtype, "type"), *text = NULL;
    PyObject *name = type ? PyObject_GetAttrString(type, "__name__") : NULL;    // "object_", "str_"
    PyObject *order = name ? PyObject_GetAttrString(dtype, "byteorder") : NULL; // '=': this one's
    const char *bytes = order ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    const char *mark = bytes ? PyUnicode_AsUTF8AndSize(order, NULL) : NULL;
    if (mark) {
        char bare[64];
        PyOS_snprintf(bare, sizeof bare, "%s", bytes);
        size_t length = strlen(bare);
        if (length && bare[length - 1] == '_') bare[length - 1] = '\0';
        *foreign = *mark == '>' || *mark == '<';
        const char *prefix = *mark == '>' ? "big-endian " : *mark == '<' ? "little-endian " : "";
        text = PyUnicode_FromFormat("%s%s", prefix, bare);
    }
    Py_XDECREF(order);
    Py_XDECREF(name);
    Py_XDECREF(type);
    (void)py_forget();
    return text;
}

int py_unsupported(const char *what, PyObject *dtype, const char *otherwise)
{
    bool foreign = false;
    PyObject *name = dtype ? dtype_name(dtype, &foreign) : NULL;
    if (!name && !PyErr_Occurred()) name = PyUnicode_FromString(otherwise);
    const char *text = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    const char *advice = foreign ? "convert it with x.astype(x.dtype.newbyteorder('='))"
                         : text && strcmp(text, "clongdouble") == 0
                             ? "convert it with x.astype('complex128')"
                             : "convert it with x.astype('float64') or the like";
    if (text)
        PyErr_Format(PyExc_TypeError, "%s has the dtype %s; " PY_SUPPORTED ": %s", what, text,
                     advice);
    Py_XDECREF(name);
    return -1;
}

// ---- dtypes -------------------------------------------------------------------------------------
int py_dtype(PyObject *object, cubc_type *out)
{
    int status = py_type_of_str(object, out); // names, and PyTorch's dtypes
    if (status) return status > 0 ? 0 : -1;
    PyObject *dtype = PyObject_CallMethod(py_numpy, "dtype", "(O)", object);
    status = py_forget() ? -1 : dtype ? py_type_of_dtype(dtype, out) : 0;
    Py_XDECREF(dtype);
    if (status > 0) return 0;
    if (status == 0) PyErr_Format(PyExc_TypeError, "dtype cannot be %.80R; " PY_SUPPORTED, object);
    return -1;
}

PyObject *py_numpy_dtype(cubc_type type)
{
    if (type_table[type].kind == KIND_STRUCT) return py_struct_dtype(type);
    if (type != CUBC_BF16) return PyObject_CallMethod(py_numpy, "dtype", "s", numpy_names[type]);
    PyObject *ml_dtypes = PyImport_ImportModule("ml_dtypes"), *dtype = NULL;
    if (ml_dtypes) {
        PyObject *scalar = PyObject_GetAttrString(ml_dtypes, "bfloat16");
        if (scalar) dtype = PyObject_CallMethod(py_numpy, "dtype", "O", scalar);
        Py_XDECREF(scalar);
    } else {
        PyErr_SetString(PyExc_TypeError, "NumPy has no bfloat16 of its own: pip install ml-dtypes");
    }
    Py_XDECREF(ml_dtypes);
    return dtype;
}

PyObject *py_numpy_empty(cubc_type type, int ndim, const Py_ssize_t *shape)
{
    PyObject *extents = py_shape(ndim, shape), *array = NULL;
    PyObject *dtype = extents ? py_numpy_dtype(type) : NULL;
    if (dtype) array = PyObject_CallMethod(py_numpy, "empty", "OO", extents, dtype);
    Py_XDECREF(extents);
    Py_XDECREF(dtype);
    return array;
}

PyObject *py_numpy_words(PyObject *array, cubc_type type)
{
    char code[16];
    bool opaque = type == CUBC_BF16 || type_table[type].kind == KIND_STRUCT;
    if (!opaque) return Py_NewRef(array);
    PyOS_snprintf(code, sizeof code, "V%d", type_table[type].size);
    return PyObject_CallMethod(array, "view", "s", code);
}

int py_check_dtype(cubc_type dtype, cubc_type out)
{
    if (dtype == out) return 0;
    PyErr_Format(PyExc_TypeError,
                 "dtype is %s but out has %s; leave dtype away or give another out",
                 py_type_name(dtype), py_type_name(out));
    return -1;
}

// ---- scalars ------------------------------------------------------------------------------------
PyObject *py_numpy_scalar(cubc_type type, const void *value)
{
    PyObject *dtype = py_numpy_dtype(type), *array = NULL, *item = NULL;
    if (dtype)
        array = PyObject_CallMethod(py_numpy, "frombuffer", "y#O", (const char *)value,
                                    (Py_ssize_t)cubc_type_size(type), dtype);
    if (array) item = PySequence_GetItem(array, 0);
    Py_XDECREF(array);
    Py_XDECREF(dtype);
    return item;
}

// NumPy's error in our words, with the operand's name.
static void explain_scalar(PyObject *object, const char *what, cubc_type type)
{
    PyObject *kind = PyErr_ExceptionMatches(PyExc_OverflowError) ? PyExc_OverflowError
                     : PyErr_ExceptionMatches(PyExc_ValueError)  ? PyExc_ValueError
                     : PyErr_ExceptionMatches(PyExc_TypeError)   ? PyExc_TypeError
                                                                 : NULL;
    if (!kind) return;
    PyErr_Clear();
    PyErr_Format(kind, "%s is %.80R, which %s cannot hold", what, object, py_type_name(type));
}

// An integer type takes a number only if nothing of it is lost.
static int check_integral(PyObject *object, const char *what, cubc_type type)
{
    if (type_table[type].kind >= KIND_FLOAT || PyIndex_Check(object)) return 0;
    PyObject *number = PyNumber_Float(object);
    double value = number ? PyFloat_AsDouble(number) : 0;
    Py_XDECREF(number);
    if (PyErr_Occurred()) {
        explain_scalar(object, what, type);
        return -1;
    }
    if (value > -9.2e18 && value < 9.2e18 && value == (double)(int64_t)value) return 0;
    PyErr_Format(PyExc_ValueError, "%s: %.80R is not an integer, as %s takes", what, object,
                 numpy_names[type]);
    return -1;
}

int py_scalar(PyObject *object, const char *what, cubc_type type, type_value *out)
{
    int status = -1;
    char *bytes;
    Py_ssize_t size;
    if (check_integral(object, what, type) < 0) return -1;
    PyObject *dtype = py_numpy_dtype(type), *array = NULL;
    if (dtype && !(array = PyObject_CallMethod(py_numpy, "asarray", "(OO)", object, dtype)))
        explain_scalar(object, what, type);
    PyObject *text = array ? PyObject_CallMethod(array, "tobytes", NULL) : NULL;
    if (text && PyBytes_AsStringAndSize(text, &bytes, &size) == 0) {
        if ((size_t)size == cubc_type_size(type)) {
            *out = (type_value){0};
            memcpy(out, bytes, (size_t)size);
            status = 0;
        } else {
            PyErr_Format(PyExc_ValueError, "%s must be a single value, not an array", what);
        }
    }
    Py_XDECREF(text);
    Py_XDECREF(array);
    Py_XDECREF(dtype);
    return status;
}
