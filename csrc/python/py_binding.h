// The binding of calls in this thread (py_bound.c): whether it is on, and refusals of what a bound
// call could not repeat.
#ifndef CUBC_PY_BINDING_H
#define CUBC_PY_BINDING_H

#include "python/py_support.h"

bool py_binding_is_on(void);
void py_binding_begin(void);
// True if the host has read a result since the beginning, which may have decided something.
bool py_binding_end(void);
// The host reads what a call has written.
void py_binding_note_read(void);
// Refuses what a bound call could not repeat: `what` says what it is, "a list would be copied". -1
// with an exception while the thread binds.
int py_binding_refuse(PyObject *exception, const char *what);

#endif
