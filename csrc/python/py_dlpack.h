// DLPack both ways: see py_dlpack.c; its table for other libraries' C code: py_dlpack_exchange.c.
#ifndef CUBC_PY_DLPACK_H
#define CUBC_PY_DLPACK_H

#include "python/py_array.h"

typedef struct DLDevice {
    int32_t device_type, device_id;
} DLDevice;
typedef struct DLDataType {
    uint8_t code, bits;
    uint16_t lanes;
} DLDataType;
typedef struct DLTensor {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
    struct {
        uint32_t major, minor;
    } version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

DLDevice py_dlpack_device(const cubc_device *device);
PyObject *py_dlpack_export(py_array *array, bool versioned, bool copied);
// A tensor that keeps the array until its deleter is called; NULL with an exception.
DLManagedTensorVersioned *py_dlpack_managed(py_array *array);
// An array of a tensor's type on its device, whose contents are anything.
PyObject *py_dlpack_empty(const DLTensor *prototype);
// An array over a tensor's memory, which is given up with the array, or here in case of an error.
PyObject *py_dlpack_wrap(DLManagedTensorVersioned *managed);
// Fills a view from an object with __dlpack__; 1 done, 0 no such protocol, -1 exception. An input
// of the host with strides is DLPACK_STRIDED, and not taken.
enum { DLPACK_STRIDED = 2 };
int py_dlpack_import(PyObject *object, const char *what, bool writable, void *stream, py_view *out);
// The memory of an object with __dlpack__, which may be written, as an array of its device: object,
// and its name in messages.
PyObject *py_dlpack_lend(PyObject *self, PyObject *args);
// Sets __dlpack_c_exchange_api__ of cubc.Array.
int py_dlpack_exchange_setup(void);

#endif
