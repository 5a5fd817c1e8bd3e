// Opens ranks, whose communicator is Python functions: see py_ranks.h.
#include "python/py_ranks.h"

#include "lattice/grid/ranks.h"
#include "python/py_arguments.h"
#include "python/py_device.h"

#include <string.h>

static const char capsule_name[] = "cubc.ranks";

// The communicator's context lives as long as the ranks.
typedef struct python_ranks {
    cubc_ranks *ranks;
    cubc_comm comm;
    cubc_field_ranks files;
    PyObject *all_gather; // of bytes: a list of the bytes of all ranks. NULL: there is one rank
    PyObject *start;      // of a rank, a buffer, a rank, a buffer to fill. NULL: all_gather does it
    PyObject *finish;     // of seconds: None, or the rank whose message has not come, or -1
} python_ranks;

static int take_bytes(PyObject *list, void *all, size_t bytes, int size)
{
    if (!list) return -1;
    if (!PyList_Check(list) || PyList_Size(list) != size) {
        PyErr_Format(PyExc_TypeError, "allgather has not returned a list of %d items", size);
        return -1;
    }
    for (int k = 0; k < size; k++) {
        PyObject *item = PyList_GetItem(list, k);
        if (!PyBytes_Check(item) || (size_t)PyBytes_Size(item) != bytes) {
            PyErr_Format(PyExc_TypeError,
                         "rank %d has gathered something else: all ranks make the same calls", k);
            return -1;
        }
        memcpy((char *)all + (size_t)k * bytes, PyBytes_AsString(item), bytes);
    }
    return 0;
}

// ---- functions of the communicator --------------------------------------------------------------
// They may be called where the lock of Python is not held, and after one of them was interrupted.
typedef struct python_turn {
    PyGILState_STATE state;
    PyObject *type, *value, *trace; // the interruption, which stays set
} python_turn;

static python_turn begin_turn(void)
{
    python_turn turn = {.state = PyGILState_Ensure()};
    PyErr_Fetch(&turn.type, &turn.value, &turn.trace);
    return turn;
}

// Prints an exception, because the core passes on statuses alone. The exception of Ctrl-C stays set
// for py_raise.
static void end_turn(python_turn *turn, PyObject *function)
{
    if (PyErr_Occurred() && (turn->type || PyErr_ExceptionMatches(PyExc_Exception)))
        PyErr_WriteUnraisable(function);
    if (turn->type) PyErr_Restore(turn->type, turn->value, turn->trace);
    PyGILState_Release(turn->state);
}

static int all_gather(void *context, const void *mine, void *all, size_t bytes)
{
    python_ranks *r = context;
    python_turn turn = begin_turn();
    PyObject *given = PyObject_CallFunction(r->all_gather, "y#", mine, (Py_ssize_t)bytes);
    int failed = take_bytes(given, all, bytes, r->comm.size);
    Py_XDECREF(given);
    end_turn(&turn, r->all_gather);
    return failed;
}

static int start(void *context, int to, const void *send, int from, void *receive, size_t bytes)
{
    python_ranks *r = context;
    python_turn turn = begin_turn();
    PyObject *sent = PyMemoryView_FromMemory((char *)send, (Py_ssize_t)bytes, PyBUF_READ);
    PyObject *received = PyMemoryView_FromMemory(receive, (Py_ssize_t)bytes, PyBUF_WRITE);
    PyObject *done =
        sent && received ? PyObject_CallFunction(r->start, "iOiO", to, sent, from, received) : NULL;
    const int failed = done == NULL;
    Py_XDECREF(done);
    Py_XDECREF(received);
    Py_XDECREF(sent);
    end_turn(&turn, r->start);
    return failed;
}

static int finish(void *context, double seconds)
{
    python_ranks *r = context;
    python_turn turn = begin_turn();
    PyObject *late = PyObject_CallFunction(r->finish, "d", seconds);
    long rank = late && late != Py_None ? PyLong_AsLong(late) : -1;
    const int done = late == Py_None;
    Py_XDECREF(late);
    end_turn(&turn, r->finish);
    if (done) return 0;
    return rank >= 0 && rank < r->comm.size ? 1 + (int)rank : -1;
}

// ---- ranks --------------------------------------------------------------------------------------
static void forget(python_ranks *r)
{
    Py_BEGIN_ALLOW_THREADS // the end of messages is waited for
    cubc_ranks_close(r->ranks);
    Py_END_ALLOW_THREADS
    Py_XDECREF(r->all_gather);
    Py_XDECREF(r->start);
    Py_XDECREF(r->finish);
    mem_free(r);
}

static void destroy(PyObject *capsule)
{
    python_ranks *r = PyCapsule_GetPointer(capsule, capsule_name);
    if (r) forget(r);
}

int py_ranks(PyObject *object, cubc_ranks **out)
{
    python_ranks *r = PyCapsule_GetPointer(object, capsule_name);
    *out = r ? r->ranks : NULL;
    return r ? 0 : -1;
}

int py_field_ranks(PyObject *object, const cubc_field_ranks **out)
{
    *out = NULL;
    if (object == Py_None) return 0;
    python_ranks *r = PyCapsule_GetPointer(object, capsule_name);
    if (!r) return -1;
    if (r->comm.size > 1) *out = &r->files;
    return 0;
}

static PyObject *ranks_open(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"device", "rank", "size",    "allgather", "messages",
                            "grid",   "cut",  "seconds", "transport", NULL};
    cubc_ranks_params p = {0};
    PyObject *function, *messages, *name;
    int rank, size, transport;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OiiOO(iiii)idi:ranks_open", names, &name,
                                     &rank, &size, &function, &messages, &p.grid[0], &p.grid[1],
                                     &p.grid[2], &p.grid[3], &p.cut, &p.seconds, &transport))
        return NULL;
    p.transport = (cubc_ranks_transport)transport;
    python_ranks *r = mem_zalloc(1, sizeof *r);
    if (!r) return py_raise(CUBC_NO_MEMORY);
    r->comm = (cubc_comm){.rank = rank, .size = size, .context = r, .all_gather = all_gather};
    r->files.comm = &r->comm;
    memcpy(r->files.grid, p.grid, sizeof p.grid);
    if (function != Py_None) {
        r->all_gather = Py_NewRef(function);
        p.comm = &r->comm;
    }
    if (messages != Py_None) {
        if (!PyArg_ParseTuple(messages, "OO", &r->start, &r->finish)) {
            r->start = r->finish = NULL;
            forget(r);
            return NULL;
        }
        Py_INCREF(r->start);
        Py_INCREF(r->finish);
        r->comm.start = start;
        r->comm.finish = finish;
    }
    cubc_device *device;
    cubc_status st = py_device(name == Py_None ? NULL : name, &device);
    if (!st) {
        st = cubc_ranks_open(device, &p, &r->ranks);
        device_release(device);
    }
    PyObject *capsule = st ? NULL : PyCapsule_New(r, capsule_name, destroy);
    if (!capsule) {
        forget(r);
        return st ? py_raise(st) : NULL;
    }
    int place[4];
    cubc_ranks_place(r->ranks, place);
    return Py_BuildValue("N(iiii)", capsule, place[0], place[1], place[2], place[3]);
}

static PyObject *ranks_check(PyObject *self, PyObject *object)
{
    cubc_ranks *ranks;
    cubc_status st;
    (void)self;
    if (py_ranks(object, &ranks) < 0) return NULL;
    Py_BEGIN_ALLOW_THREADS
    st = cubc_ranks_check(ranks, NULL);
    Py_END_ALLOW_THREADS
    if (st) return py_raise(st);
    Py_RETURN_NONE;
}

static PyObject *ranks_end_waits(PyObject *self, PyObject *object)
{
    cubc_ranks *ranks;
    cubc_status st;
    (void)self;
    if (py_ranks(object, &ranks) < 0) return NULL;
    Py_BEGIN_ALLOW_THREADS
    st = ranks_stop(ranks);
    Py_END_ALLOW_THREADS
    if (st) return py_raise(st);
    Py_RETURN_NONE;
}

static PyObject *ranks_begin_anew(PyObject *self, PyObject *object)
{
    cubc_ranks *ranks;
    (void)self;
    if (py_ranks(object, &ranks) < 0) return NULL;
    Py_BEGIN_ALLOW_THREADS
    ranks_renew(ranks);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

// Python's handlers run in the main thread alone, which tells this one by the flag.
static PyObject *ranks_work(PyObject *self, PyObject *args)
{
    PyObject *work;
    Py_buffer flag;
    (void)self;
    if (!PyArg_ParseTuple(args, "Oy*:ranks_work", &work, &flag)) return NULL;
    const volatile char *before = interrupt_watch(flag.len ? flag.buf : NULL);
    PyObject *made = PyObject_CallNoArgs(work);
    interrupt_watch(before);
    PyBuffer_Release(&flag);
    return made;
}

static PyMethodDef methods[] = {
    {"ranks_open", (PyCFunction)(void (*)(void))ranks_open, METH_VARARGS | METH_KEYWORDS,
     "Open the ranks of a grid, with the place of this one: device, rank, size, allgather, "
     "messages, grid, cut, seconds, "
     "transport."},
    {"ranks_check", ranks_check, METH_O, "Raise TimeoutError if a rank has waited in vain."},
    {"ranks_stop", ranks_end_waits, METH_O, "End the waits of a rank."},
    {"ranks_renew", ranks_begin_anew, METH_O, "Have a rank begin anew, when all have ended."},
    {"ranks_work", ranks_work, METH_VARARGS,
     "Call a function, interrupted once the first byte of a bytearray is set: function, flag."},
    {NULL, NULL, 0, NULL}};

int py_ranks_setup(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
