// Python's callable that tunes a workload before its first call, called by the core.
#include "python/py_module.h"

#include "base/types.h"
#include "compile/cache.h"
#include "run/problem.h"
#include "run/table.h"

static PyObject *asked; // the callable; NULL: none. The GIL guards it.

// {"Elements": 1000, ...}; NULL: exception.
static PyObject *axis_values_of(const problem *p)
{
    const char *const *axes = algorithm_axes(p->algorithm);
    uint64_t values[POLICY_AXES];
    PyObject *all = PyDict_New();
    problem_axis_values(p, values);
    for (int k = 0; all && axes[k]; k++) {
        PyObject *value = PyLong_FromUnsignedLongLong(values[k]);
        if (!value || PyDict_SetItemString(all, axes[k], value) < 0) Py_CLEAR(all);
        Py_XDECREF(value);
    }
    return all;
}

// Needs the GIL. False if an interrupt ends the call; nothing else that the callable raises does.
static bool ask(const cubc_device *device, const problem *p, bool *settled)
{
    PyObject *tuner = Py_XNewRef(asked); // it may be replaced while it runs
    if (!tuner) return true;
    PyObject *values = axis_values_of(p);
    PyObject *answer = values
                           ? PyObject_CallFunction(tuner, "sssN", device->info.name, p->benchmark,
                                                   cubc_type_name(problem_policy_type(p)), values)
                           : NULL;
    bool interrupted = !answer && !PyErr_ExceptionMatches(PyExc_Exception);
    if (answer) *settled = answer == Py_True;
    if (!answer && !interrupted) PyErr_WriteUnraisable(tuner);
    Py_XDECREF(answer);
    Py_DECREF(tuner);
    return !interrupted; // the exception stays set; py_raise finds it
}

static cubc_status tune(const cubc_device *device, const problem *p, bool *settled)
{
    if (!Py_IsInitialized()) return CUBC_OK;
    PyGILState_STATE state = PyGILState_Ensure();
    bool go_on = ask(device, p, settled);
    PyGILState_Release(state);
    if (go_on) return CUBC_OK;
    FAIL(CUBC_INTERRUPTED, "interrupted while %s was tuned", p->benchmark);
}

static PyObject *set_tuner(PyObject *self, PyObject *callable)
{
    (void)self;
    if (callable != Py_None && !PyCallable_Check(callable)) {
        PyErr_SetString(PyExc_TypeError, "expected a callable or None");
        return NULL;
    }
    PyObject *before = asked;
    asked = callable == Py_None ? NULL : Py_NewRef(callable);
    Py_XDECREF(before);
    table_set_tuner(asked ? tune : NULL);
    Py_RETURN_NONE;
}

static PyObject *cache(PyObject *self, PyObject *unused)
{
    const char *folder = cache_folder();
    (void)self, (void)unused;
    if (!folder) Py_RETURN_NONE;
    return PyUnicode_DecodeFSDefault(folder);
}

static PyMethodDef methods[] = {
    {"set_tuner", set_tuner, METH_O, "Callable that may tune a workload before it is first run."},
    {"cache_folder", cache, METH_NOARGS, "Folder of compiled variants; None if there is none."},
    {NULL, NULL, 0, NULL}};

int py_autotune_setup(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
