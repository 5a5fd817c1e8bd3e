// A launch of a user's kernel on its way from Python: its arguments, packed as the kernel takes
// them, and the arrays that they point to.
#ifndef CUBC_PY_KERNEL_LAUNCH_H
#define CUBC_PY_KERNEL_LAUNCH_H

#include "python/py_view.h"

// Zero-initialise; py_launch_end always.
typedef struct py_launch {
    _Alignas(32) unsigned char packed[MAX_ARGUMENT_BYTES];
    int count;
    py_view views[MAX_KERNEL_ARGUMENTS];
} py_launch;

void py_launch_end(py_launch *l);
// Packs the arguments of kernel `name`, given as a tuple. Arrays have to be where the device that
// launches can read them. `stream` is what their producers are told. -1 with an exception.
int py_launch_pack(py_launch *l, const cubc_device *device, const char *name,
                   const device_kernel *kernel, PyObject *given, void *stream);
// Checks extents of grid and block, and the bytes of shared memory: CUDA's limits, on the cpu too.
cubc_status py_launch_check(const char *name, const unsigned grid[3], const unsigned block[3],
                            int shared);
// The stream of the first array that has one, and the object that stands for it.
void py_launch_stream(const py_launch *l, void **stream, PyObject **object);
// Orders what is queued next after earlier work on the arrays.
cubc_status py_launch_order(py_launch *l, void *stream, PyObject *object);

#endif
