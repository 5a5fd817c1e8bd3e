// Types between Python and the core: see py_types.h. Members of a struct have dtypes themselves, so
// numbers and structs are converted by the same functions.
#include "python/py_types.h"

#include <stdlib.h>
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

// "<f4" as in the array interfaces.
int py_type_of_typestr(const char *text, cubc_type *out)
{
    if (strlen(text) < 3 || *text == '>') return -1;
    return py_type_of_kind(text[1], strtol(text + 2, NULL, 10), out);
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

// The type of a dtype's text. 1 done, 0 it is none, -1 exception.
static int type_of_str(PyObject *object, cubc_type *out)
{
    int status = 0;
    PyObject *text = object ? PyObject_Str(object) : NULL;
    const char *name = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (name) status = type_of_name(name, out) == 0;
    Py_XDECREF(text);
    return py_forget() ? -1 : status;
}

static PyObject *dtypes[CUBC_TYPE_LAST + 1]; // by type, once they were asked for

// The text of a dtype takes NumPy longer to make than a small call takes.
static bool type_of_made(PyObject *dtype, cubc_type *out)
{
    for (int t = 0; t < CUBC_TYPE_COUNT; t++)
        if (dtypes[t] && Py_IS_TYPE(dtype, Py_TYPE(dtypes[t])) &&
            PyObject_RichCompareBool(dtype, dtypes[t], Py_EQ) == 1) { // in the same byte order
            *out = (cubc_type)t;
            return true;
        }
    return false;
}

int py_type_of_dtype(PyObject *dtype, cubc_type *out)
{
    if (type_of_made(dtype, out)) return 1;
    int found = type_of_str(dtype, out);
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

// ---- structs: from a dtype ----------------------------------------------------------------------
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

// ---- structs: to a dtype ------------------------------------------------------------------------
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

// ---- dtypes -------------------------------------------------------------------------------------
static PyObject *bfloat16_dtype(void)
{
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

PyObject *py_numpy_dtype(cubc_type type)
{
    if (!dtypes[type])
        dtypes[type] = type_table[type].kind == KIND_STRUCT ? make_dtype(&type_table[type])
                       : type == CUBC_BF16
                           ? bfloat16_dtype()
                           : PyObject_CallMethod(py_numpy, "dtype", "s", numpy_names[type]);
    return Py_XNewRef(dtypes[type]);
}

int py_types_setup(void)
{
    for (int t = 0; t < CUBC_TYPE_COUNT; t++) {
        if (t == CUBC_BF16) continue; // ml_dtypes may not be there
        PyObject *dtype = py_numpy_dtype((cubc_type)t);
        if (!dtype) return -1;
        Py_DECREF(dtype);
    }
    return 0;
}

int py_dtype(PyObject *object, cubc_type *out)
{
    if (type_of_made(object, out)) return 0;
    int status = 0;
    if (!PyType_Check(object)) {
        if (!PyUnicode_Check(object)) status = py_type_of_struct(object, out);
        if (!status) status = type_of_str(object, out); // names, and PyTorch's dtypes
    }
    if (status) return status > 0 ? 0 : -1;
    PyObject *dtype = PyObject_CallMethod(py_numpy, "dtype", "(O)", object);
    status = py_forget() ? -1 : dtype ? py_type_of_dtype(dtype, out) : 0;
    Py_XDECREF(dtype);
    if (status > 0) return 0;
    if (status == 0) PyErr_Format(PyExc_TypeError, "dtype cannot be %.80R; " PY_SUPPORTED, object);
    return -1;
}

int py_check_dtype(cubc_type dtype, cubc_type out)
{
    if (dtype == out) return 0;
    PyErr_Format(PyExc_TypeError,
                 "dtype is %s but out has %s; leave dtype away or give another out",
                 py_type_name(dtype), py_type_name(out));
    return -1;
}

int py_check_type(const char *what, cubc_type given, cubc_type expected)
{
    if (given == expected) return 0;
    PyErr_Format(PyExc_TypeError, "%s has %s, expected %s", what, py_type_name(given),
                 py_type_name(expected));
    return -1;
}

int py_check_casting(cubc_type from, cubc_type to)
{
    type_kind kind = type_table[from].kind, given = type_table[to].kind;
    bool inexact = kind == KIND_FLOAT || kind == KIND_COMPLEX;
    if (!inexact || given == KIND_FLOAT || given >= kind) return 0;
    PyErr_Format(PyExc_TypeError,
                 "the result is %s and out has %s, which cannot hold it: give another out, or "
                 "casting='unsafe'",
                 py_type_name(from), py_type_name(to));
    return -1;
}

int py_check_conversion(cubc_type from, cubc_type to)
{
    if (type_converts(from, to)) return 0;
    const char *advice = type_table[from].kind == KIND_COMPLEX && type_table[to].kind != KIND_STRUCT
                             ? "take the real or the imaginary parts"
                             : "take one field, or cubc.transform";
    PyErr_Format(PyExc_TypeError, "items of %s do not become %s: %s", py_type_name(from),
                 py_type_name(to), advice);
    return -1;
}
