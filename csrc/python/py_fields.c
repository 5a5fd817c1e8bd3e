// Members of a parameter struct from Python objects: see py_fields.h.
#include "python/py_fields.h"

#include "python/py_ranks.h"
#include "python/py_types.h"

#include <string.h>

int py_fields_find(const field *fields, int count, const char *owner, PyObject *given,
                   PyObject **objects)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(given, &at, &key, &value)) {
        int f = 0;
        if (!PyUnicode_Check(key)) f = count;
        while (f < count && PyUnicode_CompareWithASCIIString(key, fields[f].name) != 0) f++;
        if (f == count) {
            PyErr_Format(PyExc_TypeError, "%s has no parameter %R", owner, key);
            return -1;
        }
        objects[f] = value == Py_None ? NULL : value;
    }
    return 0;
}

typedef struct member {
    union {
        const char *text;
        int number;
        uint64_t count;
        double real;
        cubc_type type;
        cubc_ranks *ranks;
    } is;
    size_t size;
} member;

// An int, or a count from 0 on.
static int integer(const field *f, PyObject *object, member *out)
{
    int overflow = 0;
    PyObject *index = PyNumber_Index(object);
    long long value = index ? PyLong_AsLongLongAndOverflow(index, &overflow) : -1;
    Py_XDECREF(index);
    if (PyErr_Occurred()) return -1;
    const bool is_count = f->kind == FIELD_COUNT;
    if (overflow || (is_count ? value < 0 : value > INT32_MAX || value < INT32_MIN)) {
        PyErr_Format(PyExc_ValueError, "%s is %R, which is out of range", f->name, object);
        return -1;
    }
    if (is_count)
        *out = (member){.is.count = (uint64_t)value, .size = sizeof out->is.count};
    else
        *out = (member){.is.number = (int)value, .size = sizeof out->is.number};
    return 0;
}

static int member_of(const field *f, PyObject *object, member *out)
{
    cubc_status st;
    switch (f->kind) {
    case FIELD_TEXT:
        out->size = sizeof out->is.text;
        st = py_text(object, f->name, "with an expression", &out->is.text);
        if (st) py_raise(st);
        return st ? -1 : 0;
    case FIELD_REAL:
        out->size = sizeof out->is.real;
        out->is.real = PyFloat_AsDouble(object);
        return PyErr_Occurred() ? -1 : 0;
    case FIELD_TYPE: out->size = sizeof out->is.type; return py_dtype(object, &out->is.type);
    case FIELD_RANKS: out->size = sizeof out->is.ranks; return py_ranks(object, &out->is.ranks);
    default: return integer(f, object, out);
    }
}

int py_field_put(const field *f, PyObject *object, void *params)
{
    member m;
    if (member_of(f, object, &m) < 0) return -1;
    memcpy((char *)params + f->at, &m.is, m.size);
    return 0;
}
