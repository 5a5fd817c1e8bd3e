// Bound calls, for Python: see run/bound.h.
//
// While a thread binds, each of its calls runs as usual and is bound too. One object then queues
// all of them in their order.
#include "python/py_bound.h"

#include "python/py_array.h"
#include "python/py_binding.h"
#include "python/py_module.h"
#include "python/py_support.h"
#include "run/bound.h"

static PyObject *bound_type;

typedef struct py_bound {
    PyObject_HEAD
    bound *calls; // NULL: none yet
    size_t count;
    void *stream;            // of the calls
    PyObject *stream_object; // that keeps it, or NULL; in `between`
    bool failed;       // at a call that could not be bound; who made it may have caught the error
    PyObject *result;  // result of a call
    PyObject *kept;    // arguments of the caller
    PyObject *between; // list: what else owns memory of the calls
    PyObject *made;    // list: outputs that the calls made
} py_bound;

static _Thread_local py_bound *binding;

// ---- binding ------------------------------------------------------------------------------------
static int keep(PyObject *list, PyObject *owner)
{
    return owner ? PyList_Append(list, owner) : 0;
}

// A buffer that is held cannot be resized nor closed, as those of bytearray, array.array and mmap.
static int keep_buffer(PyObject *list, PyObject *owner)
{
    PyObject *held = PyMemoryView_FromObject(owner);
    int status = held ? PyList_Append(list, held) : -1;
    Py_XDECREF(held);
    return status;
}

static int keep_view(PyObject *list, const py_view *view)
{
    const py_expression *e = view->expression;
    for (int k = 0; e && k < e->count; k++)
        if (keep_view(list, &e->views[k]) < 0) return -1;
    if (view->has_buffer && keep_buffer(list, view->buffer.obj) < 0) return -1;
    return keep(list, view->owner) < 0 || keep(list, view->capsule) < 0 ? -1 : 0;
}

// Functions make arrays of their own between those that they are given and those they return.
static int keep_arrays(PyObject *list, const py_call *c)
{
    for (int k = 0; k < c->in_count; k++)
        if (keep_view(list, &c->in[k]) < 0) return -1;
    for (int k = 0; k < MAX_OUTPUTS; k++)
        if (keep_view(list, &c->out[k].view) < 0 || keep(list, c->out[k].object) < 0) return -1;
    return keep(list, c->stream_object);
}

static int keep_made(PyObject *list, const py_call *c)
{
    for (int k = 0; k < MAX_OUTPUTS; k++)
        if (c->out[k].made && keep(list, c->out[k].object) < 0) return -1;
    return 0;
}

// Opens the bound calls with the first of them.
static cubc_status open_on(py_bound *b, cubc_device *device, void *stream, PyObject *stream_object)
{
    if (!b->calls) {
        TRY(bound_open(device, stream, &b->calls));
        b->stream = stream;
        b->stream_object = stream_object;
    }
    if (!bound_is_on(b->calls, device, stream))
        FAIL(CUBC_INVALID_ARGUMENT, "calls that are bound together run on one device and stream");
    b->count++;
    return CUBC_OK;
}

static cubc_status add(py_bound *b, const py_call *c, const problem *p)
{
    if (c->wait)
        FAIL(CUBC_INVALID_ARGUMENT, "a call with arrays of the host cannot be bound on a GPU");
    if (keep_arrays(b->between, c) < 0 || keep_made(b->made, c) < 0) return CUBC_NO_MEMORY;
    TRY(open_on(b, c->device, c->stream, c->stream_object));
    return bound_add(b->calls, p);
}

cubc_status py_bound_add(const py_call *c, const problem *p)
{
    py_bound *b = binding;
    cubc_status st = add(b, c, p);
    b->failed = b->failed || st;
    return st;
}

static cubc_status add_launch(py_bound *b, const py_bound_launch *l)
{
    for (int k = 0; k < l->launch->count; k++)
        if (keep_view(b->between, &l->launch->views[k]) < 0) return CUBC_NO_MEMORY;
    if (keep(b->between, l->program) < 0 || keep(b->between, l->stream_object) < 0)
        return CUBC_NO_MEMORY;
    TRY(open_on(b, l->device, l->stream, l->stream_object));
    return bound_add_launch(b->calls, l->kernel, l->shape, l->launch->packed, l->work);
}

cubc_status py_bound_add_launch(const py_bound_launch *l)
{
    py_bound *b = binding;
    cubc_status st = add_launch(b, l);
    b->failed = b->failed || st;
    return st;
}

static PyObject *bind_begin(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    if (py_binding_refuse(PyExc_ValueError, "a call is being bound already") < 0) return NULL;
    py_bound *b = (py_bound *)py_allocate((PyTypeObject *)bound_type);
    if (!b) return NULL;
    b->between = PyList_New(0);
    b->made = b->between ? PyList_New(0) : NULL;
    if (!b->made) {
        Py_DECREF((PyObject *)b);
        return NULL;
    }
    binding = b;
    py_binding_begin();
    Py_RETURN_NONE;
}

static PyObject *bind_drop(PyObject *self, PyObject *unused)
{
    PyObject *dropped = (PyObject *)binding;
    (void)self, (void)unused;
    binding = NULL;
    py_binding_end();
    Py_XDECREF(dropped);
    Py_RETURN_NONE;
}

static PyObject *bind_keep(PyObject *self, PyObject *owner)
{
    (void)self;
    if (binding && PyList_Append(binding->between, owner) < 0) return NULL;
    Py_RETURN_NONE;
}

static bool has_made(const py_bound *b, PyObject *result)
{
    bool found = false;
    for (Py_ssize_t k = 0; k < PyList_Size(b->made) && !found; k++)
        found = PyList_GetItem(b->made, k) == result;
    for (Py_ssize_t k = 0; PyTuple_Check(result) && k < PyTuple_Size(result) && !found; k++)
        found = has_made(b, PyTuple_GetItem(result, k));
    return found;
}

static PyObject *is_binding(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyBool_FromLong(py_binding_is_on());
}

// Why the calls cannot be bound; NULL: they can.
static const char *refusal(const py_bound *b, PyObject *result, bool read)
{
    if (read)
        return "the host reads a result before the call ends, which a bound call cannot repeat: "
               "give it out=, or count=, and arrays of a device (cubc.asarray) where it is a "
               "number";
    if (b->failed) return "a call within it could not be bound, and its error was caught";
    return has_made(b, result) ? "the call makes an array for its result: give it out=, or count="
                               : NULL;
}

// The object that queues what was called since bind_begin.
static PyObject *bind_end(PyObject *self, PyObject *args)
{
    py_bound *b = binding;
    PyObject *result, *kept;
    (void)self;
    binding = NULL;
    bool read = py_binding_end();
    if (!b) {
        PyErr_SetString(PyExc_ValueError, "no call is being bound");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "OO:bind_end", &result, &kept)) {
        Py_DECREF((PyObject *)b);
        return NULL;
    }
    const char *why = refusal(b, result, read);
    if (why) {
        PyErr_SetString(PyExc_ValueError, why);
        Py_DECREF((PyObject *)b);
        return NULL;
    }
    Py_CLEAR(b->made);
    b->result = Py_NewRef(result);
    b->kept = Py_NewRef(kept);
    cubc_status st = b->calls ? bound_end(b->calls) : CUBC_OK;
    if (!st) return (PyObject *)b;
    Py_DECREF((PyObject *)b);
    return py_raise(st);
}

// ---- calls --------------------------------------------------------------------------------------
// Comes after what other streams do with the arrays, and they after it, as with any call.
static cubc_status order(const py_bound *b)
{
    Py_ssize_t count = b->calls ? PyList_Size(b->between) : 0;
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *owner = PyList_GetItem(b->between, k);
        if (py_array_check(owner))
            TRY(py_array_use((py_array *)owner, b->stream, b->stream_object));
    }
    return CUBC_OK;
}

static PyObject *bound_call(PyObject *self, PyObject *args, PyObject *keywords)
{
    py_bound *b = (py_bound *)self;
    cubc_status st = CUBC_OK;
    if (PyTuple_Size(args) || (keywords && PyDict_Size(keywords))) {
        PyErr_SetString(PyExc_TypeError, "a bound call takes no arguments: they were bound");
        return NULL;
    }
    if (py_binding_refuse(PyExc_ValueError, "a bound call cannot be bound again") < 0) return NULL;
    if ((st = order(b))) return py_raise(st);
    Py_BEGIN_ALLOW_THREADS
    if (b->calls) st = bound_queue(b->calls);
    Py_END_ALLOW_THREADS
    return st ? py_raise(st) : Py_NewRef(b->result);
}

static PyObject *bound_count(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(((py_bound *)self)->count);
}

// A cycle is broken at what is kept, which then has the arrays no more: so are the calls.
static int bound_clear(PyObject *self)
{
    py_bound *b = (py_bound *)self;
    bound *calls = b->calls;
    b->calls = NULL;
    Py_BEGIN_ALLOW_THREADS
    bound_close(calls);
    Py_END_ALLOW_THREADS
    Py_CLEAR(b->result);
    Py_CLEAR(b->kept);
    Py_CLEAR(b->between);
    Py_CLEAR(b->made);
    return 0;
}

static int bound_traverse(PyObject *self, visitproc visit, void *arg)
{
    py_bound *b = (py_bound *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(b->result);
    Py_VISIT(b->kept);
    Py_VISIT(b->between);
    Py_VISIT(b->made);
    return 0;
}

static void bound_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    bound_clear(self);
    py_release(self);
}

static PyGetSetDef members[] = {
    {"count", bound_count, NULL, "Primitives that a call queues.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {{Py_tp_call, bound_call},
                              {Py_tp_dealloc, bound_dealloc},
                              {Py_tp_traverse, bound_traverse},
                              {Py_tp_clear, bound_clear},
                              {Py_tp_getset, members},
                              {Py_tp_doc, "Calls that are bound to their arrays: see cubc.bind."},
                              {0, NULL}};
static PyType_Spec spec = {
    "cubc._core.Bound", sizeof(py_bound), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

static PyMethodDef methods[] = {
    {"bind_begin", bind_begin, METH_NOARGS, "Bind what this thread calls from now on."},
    {"bind_end", bind_end, METH_VARARGS, "The bound calls, with their result and what they keep."},
    {"bind_drop", bind_drop, METH_NOARGS, "Bind no more, and drop what was bound."},
    {"bind_keep", bind_keep, METH_O, "Keep what owns memory of a call, if the thread binds."},
    {"is_binding", is_binding, METH_NOARGS, "Tell if the thread binds."},
    {NULL, NULL, 0, NULL}};

int py_bound_setup(PyObject *module)
{
    if (py_add_type(module, &spec, &bound_type) < 0) return -1;
    return PyModule_AddFunctions(module, methods);
}
