// The items of a cubc.Array on the host: NumPy's arrays, Python's numbers, lists and text.
#include "python/py_array_methods.h"

#include "python/py_binding.h"
#include "python/py_numpy.h"
#include "python/py_types.h"

PyObject *py_array_host_numpy(PyObject *self, PyObject *unused)
{
    py_array *a = (py_array *)self;
    PyObject *array = py_numpy_empty(a->type, a->ndim, a->shape);
    Py_buffer buffer;
    cubc_status st = CUBC_OK;
    (void)unused;
    if (!array) return NULL;
    PyObject *words = py_numpy_words(array, a->type);
    if (!words || PyObject_GetBuffer(words, &buffer, PyBUF_ANY_CONTIGUOUS | PyBUF_WRITABLE) < 0) {
        Py_XDECREF(words);
        Py_DECREF(array);
        return NULL;
    }
    py_binding_note_read();
    Py_BEGIN_ALLOW_THREADS
    st = cubc_copy(a->device, buffer.buf, a->data, (size_t)buffer.len, a->stream);
    if (!st) st = cubc_synchronize(a->device, a->stream);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&buffer);
    Py_DECREF(words);
    if (!st) return array;
    Py_DECREF(array);
    return py_raise(st);
}

PyObject *py_array_host_array(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"dtype", "copy", NULL};
    PyObject *dtype = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO:__array__", names, &dtype, &copy))
        return NULL;
    if (copy == Py_False) {
        PyErr_SetString(PyExc_ValueError,
                        "device memory cannot become a NumPy array without a copy");
        return NULL;
    }
    PyObject *array = py_array_host_numpy(self, NULL);
    if (!array || dtype == Py_None) return array;
    PyObject *cast = PyObject_CallMethod(py_numpy, "asarray", "OO", array, dtype);
    Py_DECREF(array);
    return cast;
}

// Conversions of Python refuse several items by TypeError, item() by ValueError, both as NumPy
// does.
static PyObject *only_item(PyObject *self, PyObject *refused)
{
    py_array *a = (py_array *)self;
    if (a->n != 1) {
        PyErr_Format(refused,
                     "only an array of one item can become a scalar, this one has %llu: a.numpy() "
                     "is a copy of all of them",
                     (unsigned long long)a->n);
        return NULL;
    }
    PyObject *array = py_array_host_numpy(self, NULL);
    PyObject *item = array ? PyObject_CallMethod(array, "item", NULL) : NULL;
    Py_XDECREF(array);
    return item;
}

PyObject *py_array_host_item(PyObject *self, PyObject *args)
{
    if (args && PyTuple_Size(args)) {
        PyErr_SetString(PyExc_TypeError, "item() takes no index: write d[k].item(), or "
                                         "d.reshape(-1)[k].item() for a place among all items");
        return NULL;
    }
    return only_item(self, PyExc_ValueError);
}

PyObject *py_array_host_tolist(PyObject *self, PyObject *unused)
{
    PyObject *array = py_array_host_numpy(self, unused);
    PyObject *list = array ? PyObject_CallMethod(array, "tolist", NULL) : NULL;
    Py_XDECREF(array);
    return list;
}

PyObject *py_array_host_complex(PyObject *self, PyObject *unused)
{
    PyObject *item = only_item(self, PyExc_TypeError);
    PyObject *number = item ? PyObject_CallFunction((PyObject *)&PyComplex_Type, "O", item) : NULL;
    Py_XDECREF(item);
    return number;
}

PyObject *py_array_host_float(PyObject *self)
{
    PyObject *item = only_item(self, PyExc_TypeError), *number = item ? PyNumber_Float(item) : NULL;
    Py_XDECREF(item);
    return number;
}

PyObject *py_array_host_int(PyObject *self)
{
    PyObject *item = only_item(self, PyExc_TypeError), *number = item ? PyNumber_Long(item) : NULL;
    Py_XDECREF(item);
    return number;
}

// Makes an index of an array without dimensions. All others are refused: NumPy takes an object that
// has __index__ for a number, and leaves its dimension out of the result.
PyObject *py_array_host_index(PyObject *self)
{
    if (((py_array *)self)->ndim) {
        PyErr_SetString(PyExc_TypeError, "only an array without dimensions can become an index");
        return NULL;
    }
    PyObject *item = only_item(self, PyExc_TypeError), *number = item ? PyNumber_Index(item) : NULL;
    Py_XDECREF(item);
    return number;
}

int py_array_host_bool(PyObject *self)
{
    const uint64_t n = ((py_array *)self)->n;
    if (n != 1) {
        PyErr_Format(PyExc_ValueError,
                     "%llu items are neither true nor false: ask cubc.any(x) or cubc.all(x)",
                     (unsigned long long)n);
        return -1;
    }
    PyObject *item = only_item(self, PyExc_TypeError);
    int truth = item ? PyObject_IsTrue(item) : -1;
    Py_XDECREF(item);
    return truth;
}
