// Structured dtypes of NumPy as struct types of the core, and back.
#include "python/py_support.h"

// ---- from a dtype -------------------------------------------------------------------------------
static int wrong_field(PyObject *name, PyObject *dtype, const char *why)
{
    PyErr_Format(PyExc_TypeError, "the field %R is %S, %s", name, dtype, why);
    return -1;
}

// A sub-array: its items' dtype, borrowed from it, and their number.
static int sub_array(PyObject *name, PyObject *dtype, PyObject **base, int *length)
{
    PyObject *pair = PyObject_GetAttrString(dtype, "subdtype");
    int status = pair ? 0 : -1;
    *base = dtype;
    *length = 0;
    if (pair && pair != Py_None) {
        PyObject *shape = PyTuple_GetItem(pair, 1);
        long extent = PyTuple_Size(shape) == 1 ? PyLong_AsLong(PyTuple_GetItem(shape, 0)) : 0;
        *base = PyTuple_GetItem(pair, 0);
        *length = extent > 0 && extent <= MAX_VALUE_BYTES ? (int)extent : 0;
        if (!*length)
            status = wrong_field(name, dtype,
                                 "and an array in a struct has one dimension and at "
                                 "most 64 bytes");
    }
    Py_XDECREF(pair);
    return status;
}

static int read_member(PyObject *fields, PyObject *name, cubc_member *out)
{
    PyObject *field = PyObject_GetItem(fields, name), *base; // (dtype, offset), perhaps a title
    PyObject *dtype = field ? PyTuple_GetItem(field, 0) : NULL;
    int status = -1;
    out->name = PyUnicode_AsUTF8AndSize(name, NULL); // as long as the dtype
    if (!dtype || !out->name || sub_array(name, dtype, &base, &out->length) < 0) goto done;
    out->offset = PyLong_AsSize_t(PyTuple_GetItem(field, 1));
    int known = py_type_of_dtype(base, &out->type);
    if (known == 0)
        wrong_field(name, dtype, "which a struct cannot have: " PY_SUPPORTED);
    else if (known > 0 && !PyErr_Occurred())
        status = 0;
done:
    Py_XDECREF(field);
    return status;
}

static int make_struct(PyObject *dtype, PyObject *names, cubc_type *out)
{
    cubc_member members[MAX_VALUE_BYTES];
    PyObject *fields = PyObject_GetAttrString(dtype, "fields");
    PyObject *itemsize = PyObject_GetAttrString(dtype, "itemsize");
    Py_ssize_t count = PyTuple_Size(names);
    int status = fields && itemsize ? 0 : -1;
    if (!status && count > MAX_VALUE_BYTES) {
        PyErr_Format(PyExc_ValueError,
                     "a struct of %zd fields is too large: it has at most %d bytes", count,
                     MAX_VALUE_BYTES);
        status = -1;
    }
    for (Py_ssize_t k = 0; !status && k < count; k++)
        status = read_member(fields, PyTuple_GetItem(names, k), &members[k]);
    if (!status) {
        cubc_status st = cubc_type_struct(members, (int)count, PyLong_AsSize_t(itemsize), out);
        if (st) py_raise(st);
        status = st ? -1 : 0;
    }
    Py_XDECREF(itemsize);
    Py_XDECREF(fields);
    return status;
}

int py_type_of_struct(PyObject *dtype, cubc_type *out)
{
    static PyObject *known; // the numbers of dtypes that were seen: a call must be quick
    if (!known && !(known = PyDict_New())) return -1;
    PyObject *names = PyObject_GetAttrString(dtype, "names");
    if (!names || !PyTuple_Check(names)) { // None: no struct
        Py_XDECREF(names);
        return py_forget() ? -1 : 0;
    }
    PyObject *number = PyDict_GetItemWithError(known, dtype);
    int status = number ? 1 : PyErr_Occurred() ? -1 : 0;
    if (number) *out = (cubc_type)PyLong_AsLong(number);
    if (status == 0 && make_struct(dtype, names, out) == 0) {
        number = PyLong_FromLong(*out);
        status = number && PyDict_SetItem(known, dtype, number) == 0 ? 1 : -1;
        Py_XDECREF(number);
    } else if (status == 0) {
        status = -1;
    }
    Py_DECREF(names);
    return status;
}

// ---- to a dtype ---------------------------------------------------------------------------------
static PyObject *member_dtype(const cubc_member *m)
{
    PyObject *dtype = py_numpy_dtype(m->type);
    return dtype && m->length ? Py_BuildValue("(N(i))", dtype, m->length) : dtype;
}

static PyObject *make_dtype(const type_info *t)
{
    PyObject *names = PyList_New(0), *formats = PyList_New(0), *offsets = PyList_New(0);
    PyObject *dtype = NULL;
    bool failed = !names || !formats || !offsets;
    for (int k = 0; !failed && k < t->member_count; k++) {
        const cubc_member *m = &t->members[k];
        PyObject *name = PyUnicode_FromString(m->name), *format = member_dtype(m);
        PyObject *offset = PyLong_FromSize_t(m->offset);
        failed = !name || !format || !offset || PyList_Append(names, name) < 0 ||
                 PyList_Append(formats, format) < 0 || PyList_Append(offsets, offset) < 0;
        Py_XDECREF(offset);
        Py_XDECREF(format);
        Py_XDECREF(name);
    }
    if (!failed)
        dtype = PyObject_CallMethod(py_numpy, "dtype", "({s:O,s:O,s:O,s:i})", "names", names,
                                    "formats", formats, "offsets", offsets, "itemsize", t->size);
    Py_XDECREF(offsets);
    Py_XDECREF(formats);
    Py_XDECREF(names);
    return dtype;
}

PyObject *py_struct_dtype(cubc_type type)
{
    static PyObject *made[CUBC_TYPE_LAST + 1];
    if (!made[type]) made[type] = make_dtype(&type_table[type]);
    return Py_XNewRef(made[type]);
}
