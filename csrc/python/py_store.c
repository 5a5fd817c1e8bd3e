// Store: the file of measurements as a Python object.
#include "python/py_module.h"
#include "python/py_record.h"

#include "store/store_image.h"

#include <limits.h>

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
    PyObject *path = NULL, *created = NULL, *self;
    cubc_status st;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|O:Store", names, PyUnicode_FSConverter,
                                     &path, &created))
        return NULL;
    const int create = py_truth(created, "create", 0);
    self = create < 0 ? NULL : py_allocate(cls);
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

static PyObject *store_set_device(PyObject *self, PyObject *dict)
{
    device_info info;
    cubc_status st;
    store *s = py_record_device(dict, &info) < 0 ? NULL : begin_use(self);
    if (!s) return NULL;
    Py_BEGIN_ALLOW_THREADS
    st = store_device(s, &info, cubc_version());
    Py_END_ALLOW_THREADS
    end_use(self);
    if (st) return py_raise(st);
    Py_RETURN_NONE;
}

// ---- rows ---------------------------------------------------------------------------------------
static PyObject *row_at(store *s, int64_t id)
{
    store_record record;
    store_cursor *c = NULL;
    bool found = false;
    cubc_status st;
    Py_BEGIN_ALLOW_THREADS
    st = store_begin_at(s, id, &c);
    if (!st) st = store_next(c, &record, &found);
    Py_END_ALLOW_THREADS
    PyObject *row = st ? py_raise(st) : found ? py_record_object(&record) : Py_NewRef(Py_None);
    store_end(c);
    return row;
}

static cubc_status put_and_find(store *s, const store_row *row, bool add, int64_t *id, bool *found)
{
    bool added;
    if (add) TRY(store_add(s, row, &added));
    return store_find(s, row, id, found);
}

// The row of a key, or None where there is none; `add` puts it there first.
static PyObject *store_row_call(PyObject *self, PyObject *given, bool add)
{
    store_row row;
    int64_t id = 0;
    cubc_status st;
    bool found = false;
    if (!PyDict_Check(given)) {
        PyErr_SetString(PyExc_TypeError, "a row is a dict");
        return NULL;
    }
    PyObject *dict = PyDict_Copy(given); // keeps the values while the GIL is dropped
    if (!dict) return NULL;
    store *s = py_record_row(dict, &row) < 0 ? NULL : begin_use(self);
    if (!s) {
        Py_DECREF(dict);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    st = put_and_find(s, &row, add, &id, &found);
    Py_END_ALLOW_THREADS
    Py_DECREF(dict);
    PyObject *stored = st ? py_raise(st) : found ? row_at(s, id) : Py_NewRef(Py_None);
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
    device_info *infos;          // of the devices, each once in a row
    const device_info **devices; // one per row
    int64_t *ids;
} several;

static int make_several(several *s, Py_ssize_t count)
{
    size_t room = (size_t)count + 1;
    *s = (several){mem_zalloc(room, sizeof *s->rows), mem_zalloc(room, sizeof *s->infos),
                   mem_zalloc(room, sizeof *s->devices), mem_zalloc(room, sizeof *s->ids)};
    if (s->rows && s->infos && s->devices && s->ids) return 0;
    PyErr_NoMemory();
    return -1;
}

static void free_several(several *s)
{
    mem_free(s->rows);
    mem_free(s->infos);
    mem_free(s->devices);
    mem_free(s->ids);
}

static int rows_from(PyObject *tuple, store_row *out)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); i++) {
        PyObject *dict = PyTuple_GetItem(tuple, i);
        if (!PyDict_Check(dict)) {
            PyErr_SetString(PyExc_TypeError, "a row is a dict");
            return -1;
        }
        if (py_record_row(dict, &out[i]) < 0) return -1;
    }
    return 0;
}

// Takes the device of each row; those that follow each other are often one dict.
static int devices_from(PyObject *tuple, Py_ssize_t count, several *all)
{
    PyObject *before = NULL;
    int last = -1;
    if (PyTuple_Size(tuple) != count) {
        PyErr_SetString(PyExc_ValueError, "there are not as many devices as rows");
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *dict = PyTuple_GetItem(tuple, i);
        if (dict != before && py_record_device(dict, &all->infos[++last]) < 0) return -1;
        before = dict;
        all->devices[i] = &all->infos[last];
    }
    return 0;
}

static PyObject *rows_at(store *s, const int64_t *ids, Py_ssize_t count)
{
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; list && i < count; i++) {
        PyObject *row = row_at(s, ids[i]);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *add_several(PyObject *self, PyObject *tuple, PyObject *devices, several *all)
{
    cubc_status st;
    Py_ssize_t count = PyTuple_Size(tuple);
    if (count > INT_MAX || make_several(all, count) < 0 || rows_from(tuple, all->rows) < 0 ||
        (devices && devices_from(devices, count, all) < 0))
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    store *s = begin_use(self);
    if (!s) return NULL;
    Py_BEGIN_ALLOW_THREADS
    st = store_add_all(s, all->rows, devices ? all->devices : NULL, cubc_version(), (int)count,
                       all->ids);
    Py_END_ALLOW_THREADS
    PyObject *stored = st ? py_raise(st) : rows_at(s, all->ids, count);
    end_use(self);
    return stored;
}

// The caller's dicts stay as they are meanwhile: it is cubc.tuner, which has just made them.
static PyObject *store_add_all_method(PyObject *self, PyObject *arguments)
{
    several all = {0};
    PyObject *given, *of = NULL, *found = NULL;
    if (!PyArg_ParseTuple(arguments, "O|O", &given, &of)) return NULL;
    PyObject *rows = PySequence_Tuple(given);
    PyObject *devices = rows && of ? PySequence_Tuple(of) : NULL;
    if (rows && (devices || !of)) found = add_several(self, rows, devices, &all);
    free_several(&all);
    Py_XDECREF(rows);
    Py_XDECREF(devices);
    return found;
}

static PyObject *store_merge_method(PyObject *self, PyObject *arguments)
{
    int64_t added, all;
    cubc_status st;
    PyObject *other;
    int replace = 0;
    if (!PyArg_ParseTuple(arguments, "O!|p", store_type, &other, &replace)) return NULL;
    store *to = begin_use(self);
    if (!to) return NULL;
    store *from = begin_use(other);
    if (!from) {
        end_use(self);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    st = store_merge(to, from, replace, &added, &all);
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
    PyObject *dict = st || !more ? NULL : py_record_object(&record);
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
    {"add_all", store_add_all_method, METH_VARARGS,
     "Add rows in one transaction, with the device of each; return them as they are stored."},
    {"merge", store_merge_method, METH_VARARGS, "Add all rows of another store; (added, all)."},
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

static PyObject *read_file(PyObject *self, PyObject *args)
{
    PyObject *path, *bytes = NULL;
    Py_ssize_t most;
    store_image image = {0};
    cubc_status st;
    (void)self;
    if (!PyArg_ParseTuple(args, "O&n", PyUnicode_FSConverter, &path, &most)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    st = image_read_begin(PyBytes_AsString(path), most < 0 ? SIZE_MAX : (size_t)most, &image);
    Py_END_ALLOW_THREADS
    if (!st) bytes = PyBytes_FromStringAndSize((const char *)image.bytes, (Py_ssize_t)image.size);
    image_free(&image);
    Py_DECREF(path);
    return st ? py_raise(st) : bytes;
}

static PyMethodDef functions[] = {
    {"read_file", read_file, METH_VARARGS, "The first bytes of a file that may be a store."},
    {NULL, NULL, 0, NULL}};

int py_store_setup(PyObject *module)
{
    if (PyModule_AddFunctions(module, functions) < 0) return -1;
    if (py_add_type(module, &store_spec, &store_type) < 0) return -1;
    if (py_add_type(module, &rows_spec, &rows_type) < 0) return -1;
    PyObject *columns = py_record_columns();
    int failed = columns ? PyModule_AddObjectRef(module, "STORE_COLUMNS", columns) : -1;
    Py_XDECREF(columns);
    return failed ? -1 : PyModule_AddIntConstant(module, "MOST_SERIES", STORE_SERIES_BYTES);
}
