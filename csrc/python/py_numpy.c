// Arrays and scalars of NumPy's: see py_numpy.h.
#include "python/py_numpy.h"
#include "python/py_types.h"

#include <float.h>
#include <math.h>
#include <string.h>

// ---- arrays -------------------------------------------------------------------------------------
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
                 py_type_name(type));
    return -1;
}

// Converts the numbers of Python that most calls have, as NumPy does; false for all others.
static bool plain_scalar(PyObject *object, cubc_type type, type_value *out)
{
    int overflow = 0;
    long long whole = 0;
    double real;
    if (PyFloat_CheckExact(object)) {
        real = PyFloat_AsDouble(object);
    } else if (PyLong_CheckExact(object)) {
        whole = PyLong_AsLongLongAndOverflow(object, &overflow);
        real = (double)whole;
    } else {
        return false;
    }
    const bool is_float = PyFloat_CheckExact(object), fits = fabs(real) <= FLT_MAX;
    *out = (type_value){0};
    if (overflow) return false;
    if (type == CUBC_I64 && !is_float)
        memcpy(out, &whole, sizeof whole);
    else if (type == CUBC_F64)
        memcpy(out, &real, sizeof real);
    else if (type == CUBC_F32 && fits) // NumPy warns of others
        memcpy(out, &(float){(float)real}, sizeof(float));
    else
        return false;
    return true;
}

int py_scalar(PyObject *object, const char *what, cubc_type type, type_value *out)
{
    int status = -1;
    char *bytes;
    Py_ssize_t size;
    if (plain_scalar(object, type, out)) return 0;
    if (PyUnicode_Check(object) || PyBytes_Check(object)) { // which NumPy would read as a number
        PyErr_Format(PyExc_TypeError, "%s is %.80R: expected a number", what, object);
        return -1;
    }
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
