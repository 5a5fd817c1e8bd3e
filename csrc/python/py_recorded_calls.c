// The recording of calls, for Python: see store/recording.h.
#include "python/py_module.h"

#include "store/recording.h"

static PyObject *record_calls(PyObject *self, PyObject *args)
{
    PyObject *path;
    double seconds;
    unsigned long long number;
    int keys;
    cubc_status st;
    (void)self;
    if (!PyArg_ParseTuple(args, "O&dpK:record_calls", PyUnicode_FSConverter, &path, &seconds, &keys,
                          &number))
        return NULL;
    const char *name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS
    st = recording_begin(name, seconds, keys, number);
    Py_END_ALLOW_THREADS
    Py_DECREF(path);
    if (st) return py_raise(st);
    Py_RETURN_NONE;
}

static PyObject *end_recording(PyObject *self, PyObject *object)
{
    uint64_t lost;
    cubc_status st;
    (void)self;
    unsigned long long number = PyLong_AsUnsignedLongLong(object);
    if (PyErr_Occurred()) return NULL;
    Py_BEGIN_ALLOW_THREADS
    st = recording_end(number, &lost);
    Py_END_ALLOW_THREADS
    return st ? py_raise(st) : PyLong_FromUnsignedLongLong(lost);
}

static PyObject *forget_recording(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    recording_forget();
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"record_calls", record_calls, METH_VARARGS,
     "Record all calls from now on in a store, written every `seconds`: path, seconds, keys, and a "
     "number of the recording."},
    {"end_recording", end_recording, METH_O,
     "Write what was recorded, if the recording of this number is on: how many calls had no "
     "room."},
    {"forget_recording", forget_recording, METH_NOARGS, "End the recording in a forked child."},
    {NULL, NULL, 0, NULL}};

int py_recorded_calls_setup(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
