// The state of a thread that binds calls: see py_binding.h.
#include "python/py_binding.h"

static _Thread_local bool on, has_read;

bool py_binding_is_on(void)
{
    return on;
}

void py_binding_begin(void)
{
    on = true;
    has_read = false;
}

bool py_binding_end(void)
{
    on = false;
    return has_read;
}

void py_binding_note_read(void)
{
    has_read = true;
}

int py_binding_refuse(PyObject *exception, const char *what)
{
    if (!on) return 0;
    PyErr_SetString(exception, what);
    return -1;
}
