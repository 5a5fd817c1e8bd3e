// The binding of calls: py_call asks whether its thread binds.
#ifndef CUBC_PY_BOUND_H
#define CUBC_PY_BOUND_H

#include "python/py_call.h"

bool py_bound_is_binding(void);
// The host reads what a call has written.
void py_bound_note_read(void);
// Refuses what a bound call could not repeat: `what` says what it is, "a list would be copied". -1
// with an exception while the thread binds.
int py_bound_refuse(PyObject *exception, const char *what);
// Binds a call that has run. With the GIL, as it keeps what owns the arrays.
cubc_status py_bound_add(const py_call *c, const problem *p);

#endif
