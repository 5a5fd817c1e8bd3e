// Matching of arguments without a tuple, a dict or a format string: see py_arguments.h.
#include "python/py_arguments.h"

#include "base/name.h"
#include "python/py_array.h"

#include <string.h>

static int find_name(const py_signature *s, PyObject *name)
{
    for (int i = 0; i < s->count; i++)
        if (s->interned[i] == name) return i; // keywords in calls are interned
    for (int i = 0; i < s->count; i++)
        if (PyUnicode_Compare(s->interned[i], name) == 0) return i;
    return -1;
}

static int add_parameter(py_signature *s, int k, const char *name, size_t length)
{
    if (k == s->count || k == MOST_PARAMETERS) return 0; // one more than there is room for
    PyObject *interned = PyUnicode_FromStringAndSize(name, (Py_ssize_t)length);
    if (!interned) return -1;
    PyUnicode_InternInPlace(&interned);
    s->interned[k] = interned;
    s->names[k] = PyUnicode_AsUTF8AndSize(interned, NULL);
    return s->names[k] ? 0 : -1;
}

// Reads "name", "name=default", "/", "*" and "$module" between commas; no default has a comma.
static int read_signature(py_signature *s)
{
    const char *at = strchr(s->doc, '(');
    int found = 0;
    bool by_name = false;
    PyOS_snprintf(s->function, sizeof s->function, "%.*s", (int)(at - s->doc), s->doc);
    s->positional = s->required = 0;
    for (at++; at[-1] != ')'; at += strcspn(at, ",)") + 1) {
        at += *at == ' ';
        size_t length = strcspn(at, "=,)");
        by_name = by_name || *at == '*';
        if (strchr("$/*", *at)) continue;
        if (add_parameter(s, found++, at, length) < 0) return -1;
        s->positional += !by_name;
        s->required += at[length] != '=';
    }
    if (found == s->count) return 0;
    PyErr_Format(PyExc_SystemError, "%s() has %d parameters, its documentation %d", s->function,
                 s->count, found);
    return -1;
}

// NumPy's axis is what most people try first.
static int unknown_name(const py_signature *s, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    const char *near = text ? nearest_name(text, s->names, (size_t)s->count) : NULL;
    if (text && near)
        PyErr_Format(PyExc_TypeError, "%s() has no argument '%s'; did you mean '%s'?", s->function,
                     text, near);
    else if (text)
        PyErr_Format(PyExc_TypeError, "%s() has no argument '%s'; help(cubc.%s) lists them",
                     s->function, text, s->function);
    return -1;
}

static int given_twice(const py_signature *s, int at)
{
    // The caller of cubc.sum(x, op=...) does not know that it calls reduce.
    const char *more =
        s->per_operator && at == 1 ? "; cubc.sum, cubc.max, ... have their op already" : "";
    PyErr_Format(PyExc_TypeError, "%s() got '%s' twice, by place and by name%s", s->function,
                 s->names[at], more);
    return -1;
}

int py_arguments(py_signature *s, PyObject *const *args, Py_ssize_t n, PyObject *names,
                 PyObject **values)
{
    if (!s->names[s->count - 1] && read_signature(s) < 0) return -1;
    for (int i = 0; i < s->count; i++) values[i] = NULL;
    if (n > s->positional) {
        PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional arguments, %zd were given",
                     s->function, s->positional, n);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) values[i] = args[i];
    Py_ssize_t keywords = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t k = 0; k < keywords; k++) {
        PyObject *name = PyTuple_GetItem(names, k);
        int at = find_name(s, name);
        if (at < 0) return unknown_name(s, name);
        if (values[at]) return given_twice(s, at);
        values[at] = args[n + k];
    }
    for (int i = 0; i < s->required; i++)
        if (!values[i]) {
            PyErr_Format(PyExc_TypeError, "%s() needs the argument '%s'", s->function, s->names[i]);
            return -1;
        }
    for (int i = s->required; i < s->count; i++)
        if (values[i] == Py_None) values[i] = NULL;
    return 0;
}

// ---- streams ------------------------------------------------------------------------------------
int py_stream(PyObject *object, void **out)
{
    // cuda.core's protocol first: (version, handle). Then CuPy, PyTorch, Numba.
    static const char *const attributes[] = {"ptr", "cuda_stream", "handle"};
    PyObject *number = NULL;
    *out = NULL;
    if (!object || object == Py_None) return 0;
    if (PyLong_Check(object) && !PyBool_Check(object)) {
        number = Py_NewRef(object);
    } else if (PyObject_HasAttrString(object, "__cuda_stream__")) {
        PyObject *pair = PyObject_CallMethod(object, "__cuda_stream__", NULL);
        number = pair ? PySequence_GetItem(pair, 1) : NULL;
        Py_XDECREF(pair);
    } else if (!py_array_check(object)) { // whose ptr is that of its items
        for (size_t i = 0; !number && i < COUNT_OF(attributes); i++) {
            number = PyObject_GetAttrString(object, attributes[i]);
            if (!number && py_forget()) return -1;
        }
    }
    if (number && !PyLong_Check(number)) { // Numba's handle is a ctypes pointer
        PyObject *pointer = number;
        number = PyObject_GetAttrString(pointer, "value"); // None for the default stream
        Py_DECREF(pointer);
        if (number == Py_None) {
            Py_DECREF(number);
            number = PyLong_FromLong(0);
        }
    }
    if (number && PyLong_Check(number)) {
        *out = PyLong_AsVoidPtr(number);
        Py_DECREF(number);
        return PyErr_Occurred() ? -1 : 0;
    }
    Py_XDECREF(number);
    if (py_forget()) return -1;
    PyErr_SetString(PyExc_TypeError, "stream must be None, a stream of CuPy, PyTorch, Numba or "
                                     "cuda.core, or a CUstream's address as an int");
    return -1;
}
