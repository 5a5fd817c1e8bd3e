// The binding of calls: py_call and py_program add those that their thread makes while it binds.
#ifndef CUBC_PY_BOUND_H
#define CUBC_PY_BOUND_H

#include "python/py_call.h"
#include "python/py_kernel_launch.h"
#include "run/recorded_calls.h"

// Binds a call that has run. Needs the GIL, since it keeps what owns the arrays.
cubc_status py_bound_add(const py_call *c, const problem *p);
// The same of a launch of a user's kernel.
typedef struct py_bound_launch {
    PyObject *program; // that has the kernel
    const py_launch *launch;
    const device_kernel *kernel;
    const launch_shape *shape;
    const call_work *work;
    cubc_device *device;
    void *stream;
    PyObject *stream_object;
} py_bound_launch;
cubc_status py_bound_add_launch(const py_bound_launch *l);

#endif
