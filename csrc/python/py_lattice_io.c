// Fields of lattice QCD in files, as NumPy arrays: cubc.lattice reads and writes through these.
#include "python/py_module.h"
#include "python/py_numpy.h"
#include "python/py_ranks.h"

#include "cubc/fields.h"

#include <math.h>
#include <string.h>

static int field_shape(cubc_field_kind kind, const int extent[4], Py_ssize_t shape[8])
{
    uint64_t axes[8];
    int ndim = cubc_field_shape(kind, extent, axes);
    for (int k = 0; k < ndim; k++) shape[k] = (Py_ssize_t)axes[k];
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

static PyObject *source_of(const cubc_field_info *i)
{
    if (i->source_colour < 0) return Py_NewRef(Py_None);
    return i->source_spin < 0 ? Py_BuildValue("(i)", i->source_colour)
                              : Py_BuildValue("(ii)", i->source_spin, i->source_colour);
}

static PyObject *info_dict(const cubc_field_info *i)
{
    return Py_BuildValue("{s:s,s:s,s:(iiii),s:s,s:i,s:s,s:N,s:N,s:K,s:K,s:N,s:N}", "format",
                         i->format, "kind", cubc_field_kind_name(i->kind), "extent", i->extent[0],
                         i->extent[1], i->extent[2], i->extent[3], "precision",
                         i->precision == 32 ? "single" : "double", "rows", i->rows, "byte_order",
                         i->big_endian ? "big" : "little", "checksum", checksum_of(i), "source",
                         source_of(i), "data_offset", (unsigned long long)i->data_offset,
                         "data_bytes", (unsigned long long)i->data_bytes, "plaquette",
                         number_or_none(i->plaquette), "link_trace", number_or_none(i->link_trace));
}

static PyObject *info_list(const cubc_field_file *file)
{
    size_t count = cubc_field_count(file);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t k = 0; list && k < count; k++) {
        PyObject *info = info_dict(cubc_field_describe(file, k));
        if (info)
            PyList_SetItem(list, (Py_ssize_t)k, info);
        else
            Py_CLEAR(list);
    }
    return list;
}

// A new array for a field or, with ranks, for this rank's part of it.
static PyObject *new_array(const cubc_field_info *info, const cubc_field_ranks *ranks,
                           Py_buffer *memory)
{
    Py_ssize_t shape[8];
    int extent[4];
    for (int k = 0; k < 4; k++) extent[k] = info->extent[k] / (ranks ? ranks->grid[k] : 1);
    int ndim = field_shape(info->kind, extent, shape);
    PyObject *array = py_numpy_empty(CUBC_C128, ndim, shape);
    if (array && PyObject_GetBuffer(array, memory, PyBUF_CONTIG) == 0) return array;
    Py_XDECREF(array);
    return NULL;
}

// Tells the ranks that wait for this one of a failure that is set as exception.
static void fail_together(const cubc_field_ranks *ranks)
{
    PyObject *type, *value, *trace;
    if (!ranks) return;
    PyErr_Fetch(&type, &value, &trace);
    Py_BEGIN_ALLOW_THREADS
    cubc_field_read_part(NULL, 0, ranks, NULL, 0);
    Py_END_ALLOW_THREADS
    PyErr_Restore(type, value, trace);
}

// A new array with the field in it.
static PyObject *read_array(const cubc_field_file *file, size_t index,
                            const cubc_field_ranks *ranks)
{
    Py_buffer memory = {0};
    cubc_status st;
    PyObject *array = new_array(cubc_field_describe(file, index), ranks, &memory);
    if (!array) {
        fail_together(ranks);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    st = ranks ? cubc_field_read_part(file, index, ranks, memory.buf, (size_t)memory.len)
               : cubc_field_read(file, index, memory.buf, (size_t)memory.len);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&memory);
    if (!st) return array;
    Py_DECREF(array);
    return py_raise(st);
}

// Opens a file whose path an argument is; a failure is set as exception.
static cubc_field_file *open_path(PyObject *path, int flags, const cubc_field_ranks *ranks)
{
    cubc_field_file *file = NULL;
    const char *name = PyBytes_AsString(path);
    cubc_status st;
    Py_BEGIN_ALLOW_THREADS
    st = ranks ? cubc_field_open_part(name, flags, ranks, &file)
               : cubc_field_open(name, flags, &file);
    Py_END_ALLOW_THREADS
    if (st) py_raise(st);
    return file;
}

static PyObject *field_infos(PyObject *self, PyObject *args)
{
    PyObject *path = NULL, *list = NULL;
    int flags;
    (void)self;
    if (!PyArg_ParseTuple(args, "O&i:field_infos", PyUnicode_FSConverter, &path, &flags))
        return NULL;
    cubc_field_file *file = open_path(path, flags, NULL);
    if (file) list = info_list(file);
    cubc_field_close(file);
    Py_DECREF(path);
    return list;
}

static PyObject *is_field_file(PyObject *self, PyObject *argument)
{
    PyObject *path = NULL;
    int known = 0;
    (void)self;
    if (!PyUnicode_FSConverter(argument, &path)) return NULL;
    cubc_status st = cubc_field_known(PyBytes_AsString(path), &known);
    Py_DECREF(path);
    return st ? py_raise(st) : PyBool_FromLong(known);
}

// The caller has asked field_infos for the index; the file may be another by now.
static cubc_status check_kind(const cubc_field_info *info, const char *path, const char *kind)
{
    if (!info || strcmp(cubc_field_kind_name(info->kind), kind) != 0)
        FAIL(CUBC_IO_ERROR, "%s: it changed while it was read", path);
    return CUBC_OK;
}

static PyObject *read_field(PyObject *self, PyObject *args)
{
    PyObject *path = NULL, *array = NULL, *info = NULL;
    const char *kind;
    Py_ssize_t index;
    int flags;
    PyObject *given = Py_None;
    const cubc_field_ranks *ranks;
    (void)self;
    if (!PyArg_ParseTuple(args, "O&sni|O:read_field", PyUnicode_FSConverter, &path, &kind, &index,
                          &flags, &given))
        return NULL;
    if (py_field_ranks(given, &ranks) < 0) {
        Py_DECREF(path);
        return NULL;
    }
    cubc_field_file *file = open_path(path, flags, ranks);
    const cubc_field_info *found = cubc_field_describe(file, (size_t)index);
    cubc_status st = file ? check_kind(found, PyBytes_AsString(path), kind) : CUBC_OK;
    if (st) {
        py_raise(st);
        fail_together(ranks);
    } else if (file && (array = read_array(file, (size_t)index, ranks)))
        info = info_dict(found);
    cubc_field_close(file);
    Py_DECREF(path);
    if (array && info) return Py_BuildValue("(NN)", array, info);
    Py_XDECREF(array);
    return NULL;
}

// ---- writing ------------------------------------------------------------------------------------
static int find_kind(const char *name, cubc_field_kind *out)
{
    for (int k = 0; k < CUBC_FIELD_KIND_COUNT; k++)
        if (strcmp(cubc_field_kind_name((cubc_field_kind)k), name) == 0) {
            *out = (cubc_field_kind)k;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "no kind of field is called '%s'", name);
    return -1;
}

// Raises that the array should be contiguous complex128 of shape (T, Z, Y, X, 4, 3, 3).
static void raise_shape(cubc_field_kind kind)
{
    text axes = {0};
    Py_ssize_t shape[8];
    int ndim = field_shape(kind, (const int[4]){1, 1, 1, 1}, shape);
    for (int k = 4; k < ndim; k++) text_printf(&axes, ", %d", (int)shape[k]);
    cubc_status st = text_done(&axes);
    if (st)
        py_raise(st);
    else
        PyErr_Format(PyExc_ValueError,
                     "expected a contiguous complex128 array of shape (T, Z, Y, X%s)", axes.data);
    text_free(&axes);
}

static int get_array(PyObject *array, cubc_field_write_params *out, Py_buffer *memory)
{
    Py_ssize_t shape[8];
    if (PyObject_GetBuffer(array, memory, PyBUF_ND | PyBUF_FORMAT) < 0) return -1;
    for (int k = 0; k < 4 && k < memory->ndim; k++)
        out->extent[3 - k] = memory->shape[k] <= INT32_MAX ? (int)memory->shape[k] : 0;
    int ndim = field_shape(out->kind, out->extent, shape);
    bool fits = memory->ndim == ndim && memory->format && strcmp(memory->format, "Zd") == 0;
    for (int k = 0; fits && k < ndim; k++) fits = shape[k] == memory->shape[k];
    out->data = memory->buf;
    if (fits) return 0;
    PyBuffer_Release(memory);
    raise_shape(out->kind);
    return -1;
}

// Tells the ranks that wait for this one of a failure that is set as exception.
static void fail_to_write(const char *path, const cubc_field_ranks *ranks)
{
    const cubc_field_write_params none = {.ranks = ranks};
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    Py_BEGIN_ALLOW_THREADS
    cubc_field_write(path, &none);
    Py_END_ALLOW_THREADS
    PyErr_Restore(type, value, trace);
}

static PyObject *write_field(PyObject *self, PyObject *args)
{
    PyObject *path = NULL, *array, *given = Py_None, *pair = NULL;
    Py_buffer memory;
    cubc_field_write_params p = {0};
    double measured[2];
    const char *kind;
    cubc_status st;
    (void)self;
    if (!PyArg_ParseTuple(args, "O&Osz|iiOO!:write_field", PyUnicode_FSConverter, &path, &array,
                          &kind, &p.format, &p.precision, &p.rows, &given, &PyTuple_Type, &pair))
        return NULL;
    if (pair) p.measured = measured;
    const char *name = PyBytes_AsString(path);
    if ((pair && !PyArg_ParseTuple(pair, "dd", &measured[0], &measured[1])) ||
        py_field_ranks(given, &p.ranks) < 0 || find_kind(kind, &p.kind) < 0 ||
        get_array(array, &p, &memory) < 0) {
        if (p.ranks) fail_to_write(name, p.ranks);
        Py_DECREF(path);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    st = cubc_field_write(name, &p);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&memory);
    Py_DECREF(path);
    if (st) return py_raise(st);
    Py_RETURN_NONE;
}

// The plaquette and the link trace of a lattice over ranks.
static PyObject *measure_links(PyObject *self, PyObject *args)
{
    PyObject *array, *given;
    Py_buffer memory;
    cubc_field_write_params p = {.kind = CUBC_FIELD_GAUGE};
    const cubc_field_ranks *ranks;
    double out[2];
    int margin;
    cubc_status st;
    (void)self;
    if (!PyArg_ParseTuple(args, "OiO:measure_links", &array, &margin, &given)) return NULL;
    if (py_field_ranks(given, &ranks) < 0 || get_array(array, &p, &memory) < 0) return NULL;
    Py_BEGIN_ALLOW_THREADS
    st = cubc_field_measure(p.data, p.extent, margin, ranks, out);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&memory);
    return st ? py_raise(st) : Py_BuildValue("(dd)", out[0], out[1]);
}

// ---- the module's part --------------------------------------------------------------------------
static PyMethodDef methods[] = {
    {"field_infos", field_infos, METH_VARARGS, "Describe each field in a file."},
    {"is_field_file", is_field_file, METH_O,
     "True for a file that begins as one of fields does, though it may be damaged."},
    {"read_field", read_field, METH_VARARGS, "A field of a file, and what the file says of it."},
    {"write_field", write_field, METH_VARARGS, "Write a field to a file."},
    {"measure_links", measure_links, METH_VARARGS,
     "The plaquette and the link trace of a lattice over ranks."},
    {NULL, NULL, 0, NULL}};

int py_lattice_io_setup(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
