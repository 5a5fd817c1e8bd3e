// The table of DLPack's C exchange (DLPack 1.3), by which extensions in C take and make arrays
// without a call of Python: cubc.Array.__dlpack_c_exchange_api__.
//
// A tensor of an array may be used on the stream of current_stream, the device's default stream,
// which waits for earlier work on the array. No function waits itself.
#include "python/py_dlpack.h"
#include "python/py_module.h"

typedef struct exchange_header {
    struct {
        uint32_t major, minor;
    } version;
    struct exchange_header *older;
} exchange_header;

typedef void (*tell_error)(void *context, const char *kind, const char *message);

typedef struct exchange_table {
    exchange_header header;
    int (*allocate)(DLTensor *prototype, DLManagedTensorVersioned **out, void *context,
                    tell_error tell);
    int (*from_object)(void *object, DLManagedTensorVersioned **out);
    int (*to_object)(DLManagedTensorVersioned *tensor, void **out);
    int (*view_of_object)(void *object, DLTensor *out); // NULL: a view has no place for strides
    int (*current_stream)(int32_t device_type, int32_t device_id, void **out);
} exchange_table;

static int from_object(void *object, DLManagedTensorVersioned **out)
{
    *out = NULL;
    if (!py_array_check(object)) {
        PyErr_SetString(PyExc_TypeError, "this table of DLPack's is that of cubc.Array");
        return -1;
    }
    py_array *array = object;
    cubc_status st = array->device->api->order(array->device, NULL, array->stream);
    if (st)
        py_raise(st);
    else
        *out = py_dlpack_managed(array);
    return *out ? 0 : -1;
}

static int to_object(DLManagedTensorVersioned *tensor, void **out)
{
    *out = py_dlpack_wrap(tensor);
    return *out ? 0 : -1;
}

// Hands an exception to a caller that has another way for errors.
static void tell_exception(void *context, tell_error tell)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    PyObject *text = error ? PyObject_Str(error) : NULL;
    const char *message = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    PyErr_Clear();
    if (tell) tell(context, "RuntimeError", message ? message : "cubc cannot make an array");
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
}

static int allocate(DLTensor *prototype, DLManagedTensorVersioned **out, void *context,
                    tell_error tell)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *array = py_dlpack_empty(prototype);
    *out = array ? py_dlpack_managed((py_array *)array) : NULL;
    Py_XDECREF(array);
    if (!*out) tell_exception(context, tell);
    PyGILState_Release(state);
    return *out ? 0 : -1;
}

static int current_stream(int32_t device_type, int32_t device_id, void **out)
{
    (void)device_type, (void)device_id;
    *out = NULL;
    return 0;
}

int py_dlpack_exchange_setup(void)
{
    static exchange_table table = {.header = {.version = {1, 3}},
                                   .allocate = allocate,
                                   .from_object = from_object,
                                   .to_object = to_object,
                                   .current_stream = current_stream};
    PyObject *capsule = PyCapsule_New(&table, "dlpack_exchange_api", NULL);
    int failed =
        capsule ? PyObject_SetAttrString(py_array_type, "__dlpack_c_exchange_api__", capsule) : -1;
    Py_XDECREF(capsule);
    return failed;
}
