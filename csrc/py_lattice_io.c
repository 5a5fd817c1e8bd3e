// Fields of lattice QCD in files, as NumPy arrays: cubc.lattice reads and writes through these.
#include "py_common.h"

#include "cubc_lattice.h"

#include <math.h>
#include <string.h>

// Of links [t][z][y][x][mu][row][column], of a propagator [t][z][y][x][spin][spin][colour][colour].
static int field_shape(const cubc_field_info *info, Py_ssize_t *shape)
{
    bool links = info->kind == CUBC_FIELD_GAUGE;
    int ndim = 0;
    for (int k = 3; k >= 0; k--) shape[ndim++] = info->extent[k];
    for (int k = links ? 1 : 0; k < 2; k++) shape[ndim++] = 4;
    for (int k = 0; k < 2; k++) shape[ndim++] = 3;
    return ndim;
}

// ---- reading ------------------------------------------------------------------------------------
static PyObject *number_or_none(double value)
{
    return isnan(value) ? Py_NewRef(Py_None) : PyFloat_FromDouble(value);
}

static PyObject *checksum_of(const cubc_field_info *i)
{
    bool two = strcmp(i->format, "nersc") != 0;
    if (!i->has_checksum) return Py_NewRef(Py_None);
    return two ? Py_BuildValue("(II)", i->checksum[0], i->checksum[1])
               : Py_BuildValue("(I)", i->checksum[0]);
}

static PyObject *info_dict(const cubc_field_info *i)
{
    return Py_BuildValue("{s:s,s:s,s:(iiii),s:s,s:i,s:s,s:N,s:K,s:K,s:N,s:N}", "format", i->format,
                         "kind", i->kind == CUBC_FIELD_GAUGE ? "links" : "propagator", "extent",
                         i->extent[0], i->extent[1], i->extent[2], i->extent[3], "precision",
                         i->precision == 32 ? "single" : "double", "rows", i->rows, "byte_order",
                         i->big_endian ? "big" : "little", "checksum", checksum_of(i),
                         "data_offset", (unsigned long long)i->data_offset, "data_bytes",
                         (unsigned long long)i->data_bytes, "plaquette",
                         number_or_none(i->plaquette), "link_trace", number_or_none(i->link_trace));
}

// A new array with the field in it.
static PyObject *read_array(const cubc_field_file *file, const cubc_field_info *info)
{
    Py_ssize_t shape[8];
    Py_buffer memory;
    cubc_status st;
    int ndim = field_shape(info, shape);
    PyObject *array = py_numpy_empty(CUBC_C128, ndim, shape);
    if (!array || PyObject_GetBuffer(array, &memory, PyBUF_CONTIG) < 0) {
        Py_XDECREF(array);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    st = cubc_field_read(file, memory.buf, (size_t)memory.len);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&memory);
    if (!st) return array;
    Py_DECREF(array);
    return py_raise(st);
}

static cubc_status check_kind(const cubc_field_info *info, const char *path, int kind)
{
    static const char *const names[] = {"links", "a propagator"};
    if ((int)info->kind != kind)
        FAIL(CUBC_INVALID_ARGUMENT, "%s: it holds %s, not %s; read it with cubc.lattice.read_%s",
             path, names[info->kind], names[kind],
             info->kind == CUBC_FIELD_GAUGE ? "links" : "propagator");
    return CUBC_OK;
}

static PyObject *read_field(PyObject *self, PyObject *args)
{
    PyObject *path = NULL, *array = NULL, *info = NULL;
    cubc_field_file *file = NULL;
    int kind, flags;
    cubc_status st;
    (void)self;
    if (!PyArg_ParseTuple(args, "O&ii:read_field", PyUnicode_FSConverter, &path, &kind, &flags))
        return NULL;
    const char *name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS
    st = cubc_field_open(name, flags, &file);
    Py_END_ALLOW_THREADS
    if (!st) st = check_kind(cubc_field_describe(file), name, kind);
    if (st)
        py_raise(st);
    else if ((array = read_array(file, cubc_field_describe(file))))
        info = info_dict(cubc_field_describe(file));
    cubc_field_close(file);
    Py_DECREF(path);
    if (array && info) return Py_BuildValue("(NN)", array, info);
    Py_XDECREF(array);
    return NULL;
}

// ---- writing ------------------------------------------------------------------------------------
static int get_extent(PyObject *array, int kind, cubc_field_write_params *out, Py_buffer *memory)
{
    Py_ssize_t shape[8];
    cubc_field_info info = {.kind = kind ? CUBC_FIELD_PROPAGATOR : CUBC_FIELD_GAUGE};
    if (PyObject_GetBuffer(array, memory, PyBUF_ND | PyBUF_FORMAT) < 0) return -1;
    for (int k = 0; k < 4 && k < memory->ndim; k++)
        info.extent[3 - k] = memory->shape[k] <= INT32_MAX ? (int)memory->shape[k] : 0;
    int ndim = field_shape(&info, shape);
    bool fits = memory->ndim == ndim && memory->format && strcmp(memory->format, "Zd") == 0;
    for (int k = 0; fits && k < ndim; k++) fits = shape[k] == memory->shape[k];
    if (fits) {
        out->kind = info.kind;
        out->data = memory->buf;
        memcpy(out->extent, info.extent, sizeof info.extent);
        return 0;
    }
    PyBuffer_Release(memory);
    PyErr_Format(PyExc_ValueError, "expected a contiguous complex128 array of shape %s",
                 kind ? "(T, Z, Y, X, 4, 4, 3, 3)" : "(T, Z, Y, X, 4, 3, 3)");
    return -1;
}

static PyObject *write_field(PyObject *self, PyObject *args)
{
    PyObject *path = NULL, *array;
    Py_buffer memory;
    cubc_field_write_params p = {0};
    int kind;
    cubc_status st;
    (void)self;
    if (!PyArg_ParseTuple(args, "O&Oisii:write_field", PyUnicode_FSConverter, &path, &array, &kind,
                          &p.format, &p.precision, &p.rows))
        return NULL;
    if (get_extent(array, kind, &p, &memory) < 0) {
        Py_DECREF(path);
        return NULL;
    }
    const char *name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS
    st = cubc_field_write(name, &p);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&memory);
    Py_DECREF(path);
    if (st) return py_raise(st);
    Py_RETURN_NONE;
}

// ---- the module's part --------------------------------------------------------------------------
static PyMethodDef methods[] = {
    {"read_field", read_field, METH_VARARGS, "A field of a file, and what the file says of it."},
    {"write_field", write_field, METH_VARARGS, "Write a field to a file."},
    {NULL, NULL, 0, NULL}};

int py_lattice_io_setup(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
