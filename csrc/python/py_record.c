// Records of a store as dicts, in both directions: by the table of its columns.
#include "python/py_record.h"

#include <limits.h>
#include <string.h>

// ---- dicts to structs ---------------------------------------------------------------------------
static const char *text_of(PyObject *dict, const char *key)
{
    PyObject *value = PyDict_GetItemString(dict, key);
    const char *text = value && value != Py_None ? PyUnicode_AsUTF8AndSize(value, NULL) : "";
    return text ? text : ""; // the exception stays set
}

// A message may hold anything, and ends at a NUL; what identifies a row is whole or an error.
static const char *column_text(PyObject *dict, const store_column *column)
{
    PyObject *value = PyDict_GetItemString(dict, column->name);
    const char *text = text_of(dict, column->name);
    Py_ssize_t length = 0;
    if (PyErr_Occurred() || !value || value == Py_None) return text;
    if (column->offset == offsetof(store_record, row.message)) return text;
    if (PyUnicode_AsUTF8AndSize(value, &length) && strlen(text) != (size_t)length)
        PyErr_Format(PyExc_ValueError, "%s holds a NUL", column->name);
    return text;
}

static long long integer_of(PyObject *dict, const char *key)
{
    PyObject *value = PyDict_GetItemString(dict, key);
    return value && value != Py_None ? PyLong_AsLongLong(value) : 0;
}

static double real_of(PyObject *dict, const char *key)
{
    PyObject *value = PyDict_GetItemString(dict, key);
    return value && value != Py_None ? PyFloat_AsDouble(value) : 0;
}

static int samples_of(PyObject *dict, const char *key, store_series *out)
{
    PyObject *value = PyDict_GetItemString(dict, key);
    char *bytes = NULL;
    Py_ssize_t length = 0;
    if (value && value != Py_None && PyBytes_AsStringAndSize(value, &bytes, &length) < 0) return -1;
    *out = (store_series){(const float *)(const void *)bytes, (size_t)length / 4};
    if (length % 4 == 0) return 0;
    PyErr_Format(PyExc_ValueError, "%s are float32 bytes", key);
    return -1;
}

static int count_of(PyObject *dict, const char *key, int *out)
{
    long long value = integer_of(dict, key);
    if (PyErr_Occurred()) return -1;
    *out = (int)value;
    if (value >= 0 && value <= INT_MAX) return 0;
    PyErr_Format(PyExc_ValueError, "%s is %lld, must be from 0 to %d", key, value, INT_MAX);
    return -1;
}

// The columns of a row that a caller gives; the others are the store's.
static int column_from(PyObject *dict, const store_column *column, void *to)
{
    switch (column->kind) {
    case STORE_TEXT: *(const char **)to = column_text(dict, column); break;
    case STORE_COUNT: return count_of(dict, column->name, to);
    case STORE_REAL: *(double *)to = real_of(dict, column->name); break;
    case STORE_SERIES: return samples_of(dict, column->name, to);
    default: break;
    }
    return PyErr_Occurred() ? -1 : 0;
}

int py_record_row(PyObject *dict, store_row *out)
{
    for (int i = 0; i < STORE_COLUMN_COUNT; i++) {
        const store_column *column = &store_columns[i];
        if (column->offset < sizeof *out &&
            column_from(dict, column, (char *)out + column->offset) < 0)
            return -1;
    }
    return 0;
}

static void copy_text(PyObject *dict, const char *key, char *out, size_t size)
{
    PyOS_snprintf(out, size, "%s", text_of(dict, key));
}

int py_record_device(PyObject *dict, device_info *out)
{
    *out = (device_info){0};
    if (!PyDict_Check(dict)) {
        PyErr_SetString(PyExc_TypeError, "expected the dict of device_info()");
        return -1;
    }
    copy_text(dict, "name", out->name, sizeof out->name);
    copy_text(dict, "kind", out->kind, sizeof out->kind);
    copy_text(dict, "model", out->model, sizeof out->model);
    copy_text(dict, "uuid", out->uuid, sizeof out->uuid);
    copy_text(dict, "arch", out->arch, sizeof out->arch);
    copy_text(dict, "compiler", out->compiler, sizeof out->compiler);
    copy_text(dict, "driver", out->driver, sizeof out->driver);
    copy_text(dict, "runtime", out->runtime, sizeof out->runtime);
    out->sm_count = (int)integer_of(dict, "sm_count");
    out->warp_size = (int)integer_of(dict, "warp_size");
    out->max_threads = (int)integer_of(dict, "max_threads");
    out->threads_per_sm = (int)integer_of(dict, "threads_per_sm");
    out->shared_bytes_per_block = integer_of(dict, "shared_bytes_per_block");
    out->shared_bytes_per_sm = integer_of(dict, "shared_bytes_per_sm");
    out->l2_bytes = integer_of(dict, "l2_bytes");
    out->memory_bytes = integer_of(dict, "memory_bytes");
    out->clock_khz = integer_of(dict, "clock_khz");
    out->memory_clock_khz = integer_of(dict, "memory_clock_khz");
    out->bus_bits = (int)integer_of(dict, "bus_bits");
    out->ecc = (int)integer_of(dict, "ecc");
    return PyErr_Occurred() ? -1 : 0;
}

// ---- structs to dicts ---------------------------------------------------------------------------
static PyObject *column_object(const store_column *column, const void *value)
{
    const store_series *series = value;
    switch (column->kind) {
    case STORE_TEXT: return PyUnicode_FromString(*(const char *const *)value);
    case STORE_COUNT: return PyLong_FromLong(*(const int *)value);
    case STORE_ID:
    case STORE_STATE: return PyLong_FromLongLong(*(const int64_t *)value);
    case STORE_REAL:
    case STORE_MEDIAN: return PyFloat_FromDouble(*(const double *)value);
    case STORE_SERIES:
        return PyBytes_FromStringAndSize((const char *)series->values,
                                         (Py_ssize_t)(4 * series->count));
    }
    return NULL;
}

// Takes `value`, which may be NULL with an exception.
static int put(PyObject *dict, const char *name, PyObject *value)
{
    int failed = value ? PyDict_SetItemString(dict, name, value) : -1;
    Py_XDECREF(value);
    return failed;
}

static PyObject *record_dict(const store_record *r)
{
    PyObject *dict = PyDict_New();
    int failed = dict ? put(dict, "id", PyLong_FromLongLong(r->id)) : -1;
    for (int i = 0; !failed && i < STORE_COLUMN_COUNT; i++) {
        const store_column *column = &store_columns[i];
        const void *value = (const char *)r + column->offset;
        if (column->kind != STORE_ID)
            failed = put(dict, column->name, column_object(column, value));
    }
    if (failed) Py_CLEAR(dict);
    return dict;
}

PyObject *py_record_object(const store_record *r)
{
    PyObject *dict = record_dict(r);
    if (dict || PyErr_ExceptionMatches(PyExc_MemoryError)) return dict;
    PyErr_Clear();
    return py_raise(error_set(__FILE__, __LINE__, CUBC_STORE_ERROR,
                              "row %lld of the store holds text that is not UTF-8",
                              (long long)r->id));
}

PyObject *py_record_columns(void)
{
    static const char *const kinds[] = {[STORE_TEXT] = "text",
                                        [STORE_COUNT] = "count",
                                        [STORE_REAL] = "real",
                                        [STORE_SERIES] = "series"};
    PyObject *columns = PyDict_New();
    int failed = columns ? 0 : -1;
    for (int i = 0; !failed && i < STORE_COLUMN_COUNT; i++) {
        const store_column *column = &store_columns[i];
        if (column->offset < sizeof(store_row))
            failed = put(columns, column->name, PyUnicode_FromString(kinds[column->kind]));
    }
    if (failed) Py_CLEAR(columns);
    return columns;
}
