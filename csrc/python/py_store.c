// Store: the file of measurements as a Python object.
#include "python/py_module.h"

#include "store/store.h"

#include <limits.h>
#include <string.h>

static PyObject *store_type, *rows_type;

// Other threads may call while one is in SQLite without the GIL: the file stays open until the last
// of them, and the last iterator, is done.
typedef struct py_store {
    PyObject_HEAD
    store *store; // NULL once closed
    int users;    // calls and iterators under way; the GIL guards it
    bool closed;  // by close(): for new calls it is
} py_store;

typedef struct py_rows { // iterator
    PyObject_HEAD
    PyObject *owner;
    store_cursor *cursor;
    bool running; // in some thread
} py_rows;

static void close_unused(py_store *s)
{
    store *closing = s->store;
    if (s->users > 0 || !closing) return;
    s->store = NULL;
    Py_BEGIN_ALLOW_THREADS
    store_close(closing);
    Py_END_ALLOW_THREADS
}

// NULL with an exception if it is closed; otherwise end_use must follow.
static store *begin_use(PyObject *self)
{
    py_store *s = (py_store *)self;
    if (s->closed) {
        PyErr_SetString(PyExc_ValueError, "the store is closed");
        return NULL;
    }
    s->users++;
    return s->store;
}

static void end_use(PyObject *self)
{
    py_store *s = (py_store *)self;
    s->users--;
    if (s->closed) close_unused(s);
}

static PyObject *store_new(PyTypeObject *cls, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"path", "create", NULL};
    PyObject *path = NULL, *self;
    int create = 0;
    cubc_status st;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|p:Store", names, PyUnicode_FSConverter,
                                     &path, &create))
        return NULL;
    self = py_allocate(cls);
    if (self) {
        const char *name = PyBytes_AsString(path);
        Py_BEGIN_ALLOW_THREADS
        st = store_open(name, create ? STORE_CREATE : STORE_READ, &((py_store *)self)->store);
        Py_END_ALLOW_THREADS
        if (st) {
            Py_DECREF(self);
            self = py_raise(st);
        }
    }
    Py_DECREF(path);
    return self;
}

static PyObject *store_close_method(PyObject *self, PyObject *unused)
{
    (void)unused;
    ((py_store *)self)->closed = true;
    close_unused((py_store *)self);
    Py_RETURN_NONE;
}

static void store_dealloc(PyObject *self)
{
    close_unused((py_store *)self);
    py_release(self);
}

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

static int row_from(PyObject *dict, store_row *out)
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

static PyObject *store_set_device(PyObject *self, PyObject *dict)
{
    device_info i = {0};
    cubc_status st;
    if (!PyDict_Check(dict)) {
        PyErr_SetString(PyExc_TypeError, "expected the dict of device_info()");
        return NULL;
    }
    copy_text(dict, "name", i.name, sizeof i.name);
    copy_text(dict, "kind", i.kind, sizeof i.kind);
    copy_text(dict, "model", i.model, sizeof i.model);
    copy_text(dict, "uuid", i.uuid, sizeof i.uuid);
    copy_text(dict, "arch", i.arch, sizeof i.arch);
    copy_text(dict, "compiler", i.compiler, sizeof i.compiler);
    copy_text(dict, "driver", i.driver, sizeof i.driver);
    copy_text(dict, "runtime", i.runtime, sizeof i.runtime);
    i.sm_count = (int)integer_of(dict, "sm_count");
    i.warp_size = (int)integer_of(dict, "warp_size");
    i.max_threads = (int)integer_of(dict, "max_threads");
    i.threads_per_sm = (int)integer_of(dict, "threads_per_sm");
    i.shared_bytes_per_block = integer_of(dict, "shared_bytes_per_block");
    i.shared_bytes_per_sm = integer_of(dict, "shared_bytes_per_sm");
    i.l2_bytes = integer_of(dict, "l2_bytes");
    i.memory_bytes = integer_of(dict, "memory_bytes");
    i.clock_khz = integer_of(dict, "clock_khz");
    i.memory_clock_khz = integer_of(dict, "memory_clock_khz");
    i.bus_bits = (int)integer_of(dict, "bus_bits");
    i.ecc = (int)integer_of(dict, "ecc");
    store *s = PyErr_Occurred() ? NULL : begin_use(self);
    if (!s) return NULL;
    Py_BEGIN_ALLOW_THREADS
    st = store_device(s, &i, cubc_version());
    Py_END_ALLOW_THREADS
    end_use(self);
    if (st) return py_raise(st);
    Py_RETURN_NONE;
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

// The same; CUBC_STORE_ERROR for text that is not UTF-8.
static PyObject *record_object(const store_record *r)
{
    PyObject *dict = record_dict(r);
    if (dict || PyErr_ExceptionMatches(PyExc_MemoryError)) return dict;
    PyErr_Clear();
    return py_raise(error_set(__FILE__, __LINE__, CUBC_STORE_ERROR,
                              "row %lld of the store holds text that is not UTF-8",
                              (long long)r->id));
}

// ---- rows ---------------------------------------------------------------------------------------
// The row of a key, or NULL without an exception where there is none; `add` puts it there first.
static cubc_status put_and_find(store *s, const store_row *row, bool add, store_cursor **c,
                                store_record *record, bool *found)
{
    int64_t id = 0;
    bool added;
    if (add) TRY(store_add(s, row, &added));
    TRY(store_find(s, row, &id, found));
    if (!*found) return CUBC_OK;
    TRY(store_begin_at(s, id, c));
    return store_next(*c, record, found);
}

static PyObject *store_row_call(PyObject *self, PyObject *given, bool add)
{
    store_row row;
    store_record record;
    store_cursor *c = NULL;
    cubc_status st;
    bool found = false;
    if (!PyDict_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "a row is a dict");
        return NULL;
    }
    PyObject *dict = PyDict_Copy(given); // keeps the values while the GIL is dropped
    if (!dict) return NULL;
    store *s = row_from(dict, &row) < 0 ? NULL : begin_use(self);
    if (!s) {
        Py_DECREF(dict);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    st = put_and_find(s, &row, add, &c, &record, &found);
    Py_END_ALLOW_THREADS
    Py_DECREF(dict);
    PyObject *stored = st ? py_raise(st) : found ? record_object(&record) : Py_NewRef(Py_None);
    store_end(c);
    end_use(self);
    return stored;
}

static PyObject *store_add_method(PyObject *self, PyObject *dict)
{
    return store_row_call(self, dict, true);
}

static PyObject *store_find_method(PyObject *self, PyObject *dict)
{
    return store_row_call(self, dict, false);
}

// ---- several rows -------------------------------------------------------------------------------
typedef struct several {
    store_row *rows;
    int64_t *ids;
    bool *added;
} several;

static int make_several(several *s, Py_ssize_t count)
{
    size_t room = (size_t)count + 1;
    *s = (several){mem_zalloc(room, sizeof *s->rows), mem_zalloc(room, sizeof *s->ids),
                   mem_zalloc(room, sizeof *s->added)};
    if (s->rows && s->ids && s->added) return 0;
    PyErr_NoMemory();
    return -1;
}

static void free_several(several *s)
{
    mem_free(s->rows);
    mem_free(s->ids);
    mem_free(s->added);
}

static int rows_from(PyObject *tuple, store_row *out)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); i++) {
        PyObject *dict = PyTuple_GetItem(tuple, i);
        if (!PyDict_Check(dict)) {
            PyErr_SetString(PyExc_TypeError, "a row is a dict");
            return -1;
        }
        if (row_from(dict, &out[i]) < 0) return -1;
    }
    return 0;
}

static PyObject *pairs_of(const several *s, Py_ssize_t count)
{
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; list && i < count; i++) {
        PyObject *pair =
            Py_BuildValue("LO", (long long)s->ids[i], s->added[i] ? Py_True : Py_False);
        if (!pair || PyList_Append(list, pair) < 0) Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

static PyObject *add_several(PyObject *self, PyObject *tuple, several *all)
{
    cubc_status st;
    Py_ssize_t count = PyTuple_Size(tuple);
    if (count > INT_MAX || make_several(all, count) < 0 || rows_from(tuple, all->rows) < 0)
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    store *s = begin_use(self);
    if (!s) return NULL;
    Py_BEGIN_ALLOW_THREADS
    st = store_add_all(s, all->rows, (int)count, all->ids, all->added);
    Py_END_ALLOW_THREADS
    end_use(self);
    return st ? py_raise(st) : pairs_of(all, count);
}

// The caller's dicts stay as they are meanwhile: it is cubc.tuner, which has just made them.
static PyObject *store_add_all_method(PyObject *self, PyObject *given)
{
    several all = {0};
    PyObject *tuple = PySequence_Tuple(given);
    if (!tuple) return NULL;
    PyObject *found = add_several(self, tuple, &all);
    free_several(&all);
    Py_DECREF(tuple);
    return found;
}

static PyObject *store_merge_method(PyObject *self, PyObject *other)
{
    int64_t added, all;
    cubc_status st;
    if (!PyObject_TypeCheck(other, (PyTypeObject *)store_type)) {
        PyErr_SetString(PyExc_TypeError, "expected a Store");
        return NULL;
    }
    store *to = begin_use(self);
    if (!to) return NULL;
    store *from = begin_use(other);
    if (!from) {
        end_use(self);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    st = store_merge(to, from, &added, &all);
    Py_END_ALLOW_THREADS
    end_use(other);
    end_use(self);
    return st ? py_raise(st) : Py_BuildValue("LL", (long long)added, (long long)all);
}

static PyObject *store_has_log_method(PyObject *self, PyObject *unused)
{
    (void)unused;
    store *s = begin_use(self);
    if (!s) return NULL;
    bool found = store_has_log(s);
    end_use(self);
    return PyBool_FromLong(found);
}

static PyObject *store_rows(PyObject *self, PyObject *unused)
{
    py_rows *rows = (py_rows *)py_allocate((PyTypeObject *)rows_type);
    store *s = rows ? begin_use(self) : NULL;
    cubc_status st;
    (void)unused;
    if (!s) {
        Py_XDECREF((PyObject *)rows);
        return NULL;
    }
    rows->owner = Py_NewRef(self); // in use from here on, until the iterator goes
    Py_BEGIN_ALLOW_THREADS
    st = store_begin(s, &rows->cursor);
    Py_END_ALLOW_THREADS
    if (!st) return (PyObject *)rows;
    Py_DECREF(rows);
    return py_raise(st);
}

static PyObject *rows_next(PyObject *self)
{
    py_rows *rows = (py_rows *)self;
    store_record record;
    bool more = false;
    cubc_status st;
    if (rows->running || ((py_store *)rows->owner)->closed) {
        PyErr_SetString(PyExc_ValueError, rows->running ? "another thread is at this iterator"
                                                        : "the store is closed");
        return NULL;
    }
    rows->running = true; // the record's texts are the cursor's until its next step
    Py_BEGIN_ALLOW_THREADS
    st = store_next(rows->cursor, &record, &more);
    Py_END_ALLOW_THREADS
    PyObject *dict = st || !more ? NULL : record_object(&record);
    rows->running = false;
    return st ? py_raise(st) : dict;
}

static PyObject *rows_iter(PyObject *self)
{
    return Py_NewRef(self);
}

static void rows_dealloc(PyObject *self)
{
    py_rows *rows = (py_rows *)self;
    store_end(rows->cursor);
    if (rows->owner) end_use(rows->owner);
    Py_XDECREF(rows->owner);
    py_release(self);
}

// ---- types --------------------------------------------------------------------------------------
static PyMethodDef store_methods[] = {
    {"set_device", store_set_device, METH_O, "The device that rows added from here on are of."},
    {"add", store_add_method, METH_O, "Add a row and return that of its key as it is stored."},
    {"add_all", store_add_all_method, METH_O,
     "Add rows in one transaction; a list of (id, whether it was added)."},
    {"merge", store_merge_method, METH_O, "Add all rows of another store; (added, all)."},
    {"has_log", store_has_log_method, METH_NOARGS, "True if the file is in WAL mode."},
    {"find", store_find_method, METH_O, "The row with this key, or None."},
    {"rows", store_rows, METH_NOARGS, "All rows, oldest first."},
    {"close", store_close_method, METH_NOARGS, "Close the file."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot store_slots[] = {{Py_tp_new, store_new},
                                    {Py_tp_dealloc, store_dealloc},
                                    {Py_tp_methods, store_methods},
                                    {0, NULL}};
static PyType_Spec store_spec = {"cubc._core.Store", sizeof(py_store), 0, Py_TPFLAGS_DEFAULT,
                                 store_slots};
static PyType_Slot rows_slots[] = {
    {Py_tp_dealloc, rows_dealloc}, {Py_tp_iter, rows_iter}, {Py_tp_iternext, rows_next}, {0, NULL}};
static PyType_Spec rows_spec = {"cubc._core._Rows", sizeof(py_rows), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, rows_slots};

// The kinds of the columns that a caller gives.
static int add_columns(PyObject *module)
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
    if (!failed) failed = PyModule_AddObjectRef(module, "STORE_COLUMNS", columns);
    Py_XDECREF(columns);
    return failed;
}

int py_store_setup(PyObject *module)
{
    if (py_add_type(module, &store_spec, &store_type) < 0) return -1;
    if (py_add_type(module, &rows_spec, &rows_type) < 0 || add_columns(module) < 0) return -1;
    return PyModule_AddIntConstant(module, "MOST_SERIES", STORE_SERIES_BYTES);
}
