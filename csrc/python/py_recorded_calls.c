// The recording of calls, for Python: see run/recorded_calls.h.
#include "python/py_module.h"

#include "run/recorded_calls.h"

#include <string.h>

static PyObject *record_calls(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    cubc_status st = calls_record();
    if (st) return py_raise(st);
    Py_RETURN_NONE;
}

// {"Elements": 1000, ...}; NULL: exception.
static PyObject *place_of(const recorded_call *c)
{
    PyObject *all = PyDict_New();
    for (int k = 0; all && k < POLICY_AXES && c->axes[k][0]; k++) {
        PyObject *value = PyLong_FromUnsignedLongLong(c->place[k]);
        if (!value || PyDict_SetItemString(all, c->axes[k], value) < 0) Py_CLEAR(all);
        Py_XDECREF(value);
    }
    return all;
}

static PyObject *call_dict(const recorded_call *c)
{
    // A kernel's name may have been cut within a letter.
    PyObject *name = PyUnicode_DecodeUTF8(c->name, (Py_ssize_t)strlen(c->name), "ignore");
    PyObject *place = name ? place_of(c) : NULL;
    if (!place) {
        Py_XDECREF(name);
        return NULL;
    }
    return Py_BuildValue("{sssNsssssNsKsdsy#}", "device", c->device.name, "name", name, "type",
                         c->type, "variant", c->variant, "place", place, "calls",
                         (unsigned long long)c->count, "bytes", c->bytes, "seconds",
                         (const char *)c->seconds, (Py_ssize_t)(sizeof(float) * (size_t)c->timed));
}

static PyObject *calls_list(const recorded_call *calls, size_t count)
{
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list && k < count; k++) {
        PyObject *call = call_dict(&calls[k]);
        if (!call || PyList_Append(list, call) < 0) Py_CLEAR(list);
        Py_XDECREF(call);
    }
    return list;
}

static PyObject *recorded_calls(PyObject *self, PyObject *unused)
{
    recorded_call *calls;
    size_t count;
    uint64_t lost;
    cubc_status st;
    (void)self, (void)unused;
    Py_BEGIN_ALLOW_THREADS
    st = calls_end(&calls, &count, &lost);
    Py_END_ALLOW_THREADS
    if (st) return py_raise(st);
    PyObject *list = calls_list(calls, count);
    mem_free(calls);
    return list ? Py_BuildValue("NK", list, (unsigned long long)lost) : NULL;
}

static PyObject *forget_calls(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    calls_forget();
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"record_calls", record_calls, METH_NOARGS, "Record all calls from now on."},
    {"recorded_calls", recorded_calls, METH_NOARGS,
     "End the recording: the calls, most time first, and how many had no room."},
    {"forget_calls", forget_calls, METH_NOARGS, "End the recording in a forked child."},
    {NULL, NULL, 0, NULL}};

int py_recorded_calls_setup(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
