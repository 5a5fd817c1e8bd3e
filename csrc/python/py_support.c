// Exceptions, signals and objects, for all files of the binding: see py_support.h.
#include "python/py_support.h"

#include "base/log.h"

#include <pthread.h>
#include <string.h>

PyObject *py_numpy;

// ---- exceptions ---------------------------------------------------------------------------------
static PyObject *exceptions[CUBC_INTERNAL + 1];

// ".Name" is a class of this module, anything else one of Python's.
static int make_exceptions(PyObject *module)
{
    PyObject *builtins = PyImport_ImportModule("builtins");
    if (!builtins) return -1;
    for (int s = 1; s <= CUBC_INTERNAL; s++) {
        const char *name = status_exception((cubc_status)s);
        char full[64] = "cubc.";
        if (name[0] != '.') {
            exceptions[s] = PyObject_GetAttrString(builtins, name);
        } else {
            strncat(full, name + 1, sizeof full - 6);
            PyObject *base = s == CUBC_NO_DEVICE_MEMORY ? PyExc_MemoryError : PyExc_RuntimeError;
            exceptions[s] =
                PyErr_NewExceptionWithDoc(full, status_exception_doc((cubc_status)s), base, NULL);
            if (exceptions[s] && PyModule_AddObjectRef(module, name + 1, exceptions[s]) < 0)
                return -1;
        }
        if (!exceptions[s]) return -1;
    }
    Py_DECREF(builtins);
    return 0;
}

// A message may quote bytes that are not UTF-8, or be cut inside a character.
static PyObject *decoded(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

void py_say_log(void)
{
    char line[LOG_BYTES];
    log_kind kind;
    if (!log_is_there()) return;
    PyObject *module = PyImport_ImportModule("cubc._logging");
    while (log_take(&kind, line)) {
        PyObject *text = decoded(line);
        PyObject *done =
            module && text ? PyObject_CallMethod(module, "say", "iO", (int)kind, text) : NULL;
        const bool interrupted = !done && !PyErr_ExceptionMatches(PyExc_Exception);
        if (!done && !interrupted) PyErr_WriteUnraisable(NULL);
        Py_XDECREF(text);
        Py_XDECREF(done);
        if (interrupted) break;
    }
    Py_XDECREF(module);
}

PyObject *py_raise(cubc_status status)
{
    PyObject *type = (unsigned)status <= CUBC_INTERNAL ? exceptions[status] : NULL;
    if (PyErr_Occurred()) return NULL; // a signal handler has raised already
    if (!type) type = exceptions[CUBC_INTERNAL];
    // The message has the first error; all that the compiler said is in the exception's log.
    PyObject *message = decoded(cubc_error_message());
    PyObject *log = message ? decoded(cubc_error_log()) : NULL;
    if (message && log && PyUnicode_GetLength(log) > 0) {
        PyObject *short_message = message;
        message = PyUnicode_FromFormat("%U (the whole output is in .log)", short_message);
        Py_DECREF(short_message);
    }
    PyObject *error = message && log ? PyObject_CallFunction(type, "O", message) : NULL;
    py_say_log(); // what was tried before comes before what failed
    if (!PyErr_Occurred() && error &&
        (status != CUBC_COMPILE_ERROR || PyObject_SetAttrString(error, "log", log) == 0))
        PyErr_SetObject(type, error);
    Py_XDECREF(error);
    Py_XDECREF(log);
    Py_XDECREF(message);
    return NULL;
}

bool py_forget(void)
{
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception) &&
        !PyErr_ExceptionMatches(PyExc_MemoryError))
        PyErr_Clear();
    return PyErr_Occurred() != NULL;
}

static pthread_t main_thread; // of Python; a thread of it that forks is that of the child

static void take_this_thread(void)
{
    main_thread = pthread_self();
}

// Another thread may be the first to import cubc.
static int find_main_thread(void)
{
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *thread = threading ? PyObject_CallMethod(threading, "main_thread", NULL) : NULL;
    PyObject *number = thread ? PyObject_GetAttrString(thread, "ident") : NULL;
    if (number) main_thread = (pthread_t)PyLong_AsUnsignedLong(number);
    Py_XDECREF(number);
    Py_XDECREF(thread);
    Py_XDECREF(threading);
    return PyErr_Occurred() ? -1 : 0;
}

// Runs Python's signal handlers in the middle of a wait, so that Ctrl-C ends it. The exception that
// they raise stays set; py_raise finds it.
static bool check_signals(void)
{
    // Only Python's main thread runs handlers; others need not queue for the GIL to learn that.
    if (!pthread_equal(pthread_self(), main_thread) || !Py_IsInitialized()) return false;
    PyGILState_STATE state = PyGILState_Ensure();
    bool pending = PyErr_Occurred() || PyErr_CheckSignals() < 0;
    PyGILState_Release(state);
    return pending;
}

// ---- objects ------------------------------------------------------------------------------------
cubc_status py_text(PyObject *object, const char *what, const char *expected, const char **out)
{
    Py_ssize_t length = 0;
    *out = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &length) : NULL;
    if (py_forget()) return CUBC_NO_MEMORY; // else of a lone surrogate, which is no text
    if (!*out) FAIL(CUBC_INVALID_TYPE, "%s must be a str %s", what, expected);
    if (strlen(*out) != (size_t)length)
        FAIL(CUBC_INVALID_ARGUMENT, "%s contains a NUL character", what);
    return CUBC_OK;
}

int py_add_type(PyObject *module, PyType_Spec *spec, PyObject **out)
{
    const char *dot = strrchr(spec->name, '.');
    *out = PyType_FromSpec(spec);
    return *out ? PyModule_AddObjectRef(module, dot + 1, *out) : -1;
}

PyObject *py_allocate(PyTypeObject *cls)
{
    return ((allocfunc)PyType_GetSlot(cls, Py_tp_alloc))(cls, 0);
}

void py_release(PyObject *self)
{
    PyTypeObject *cls = Py_TYPE(self);
    ((freefunc)PyType_GetSlot(cls, Py_tp_free))(self);
    Py_DECREF(cls);
}

PyObject *py_optional_attribute(PyObject *object, const char *name)
{
    PyObject *value = PyObject_GetAttrString(object, name);
    if (!value && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    return value;
}

PyObject *py_shape(int ndim, const Py_ssize_t *shape)
{
    PyObject *extents = PyTuple_New(ndim);
    for (int d = 0; extents && d < ndim; d++) {
        PyObject *extent = PyLong_FromSsize_t(shape[d]);
        if (!extent || PyTuple_SetItem(extents, d, extent) < 0) Py_CLEAR(extents);
    }
    return extents;
}

int py_truth(PyObject *option, const char *name, int otherwise)
{
    if (!option) return otherwise;
    if (!PyUnicode_Check(option) && !PyBytes_Check(option)) return PyObject_IsTrue(option);
    PyErr_Format(PyExc_TypeError, "%s is %.80R: expected a bool", name, option);
    return -1;
}

int py_too_large(const char *what)
{
    PyErr_Format(PyExc_ValueError,
                 "%s has a negative extent, or would be larger than any memory: extents are 0 or "
                 "more, and their product is at most 2^60 bytes",
                 what);
    return -1;
}

int py_support_setup(PyObject *module)
{
    py_numpy = PyImport_ImportModule("numpy");
    if (!py_numpy || make_exceptions(module) < 0 || find_main_thread() < 0) return -1;
    pthread_atfork(NULL, NULL, take_this_thread);
    interrupt_set_hook(check_signals);
    return 0;
}
