// Devices by name, as Python gives them.
#ifndef CUBC_PY_DEVICE_H
#define CUBC_PY_DEVICE_H

#include "python/py_support.h"

#include "device/device.h"

// Opens a device named by a str or None (the default device), counted.
cubc_status py_device(PyObject *name, cubc_device **out);
// The same of a text; NULL for the default device.
cubc_status py_device_open(const char *name, cubc_device **out);
// The same of a CUDA device by its index; below 0: the first.
cubc_status py_device_cuda(long index, cubc_device **out);
// Lets Python say where CUDA's libraries are, once, before they are first needed.
void py_device_find_cuda(void);
// Describes what the compiler made of a kernel: a dict.
PyObject *py_kernel_info(const device_kernel *kernel);

#endif
