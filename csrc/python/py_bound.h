// The binding of calls: py_call adds those that its thread makes while it binds.
#ifndef CUBC_PY_BOUND_H
#define CUBC_PY_BOUND_H

#include "python/py_call.h"

// Binds a call that has run. With the GIL, as it keeps what owns the arrays.
cubc_status py_bound_add(const py_call *c, const problem *p);

#endif
