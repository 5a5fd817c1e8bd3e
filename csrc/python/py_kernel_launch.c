// The arguments of a kernel, out of Python's objects: see py_kernel_launch.h.
#include "python/py_kernel_launch.h"

#include "python/py_array.h"
#include "python/py_numpy.h"
#include "python/py_types.h"

#include <stdio.h>
#include <string.h>

void py_launch_end(py_launch *l)
{
    for (int i = 0; i < l->count; i++) py_view_release(&l->views[i]);
}

// ---- arguments ----------------------------------------------------------------------------------
static const char *words_for(argument_kind kind)
{
    switch (kind) {
    case TYPE_POINTER: return "a pointer, so an array";
    case TYPE_SIGNED:
    case TYPE_UNSIGNED: return "an integer";
    case TYPE_FLOAT: return "a number";
    case TYPE_BYTES: break;
    }
    return "the bytes of a struct";
}

static int wrong_argument(const char *what, const argument_type *type, PyObject *given)
{
    PyErr_Format(PyExc_TypeError, "%s is of type %R, the kernel takes %s there (%zu bytes)", what,
                 (PyObject *)Py_TYPE(given), words_for(type->kind), type->size);
    return -1;
}

static cubc_type type_of(argument_kind kind, size_t size)
{
    static const cubc_type types[3][9] = {
        {[1] = CUBC_I8, [2] = CUBC_I16, [4] = CUBC_I32, [8] = CUBC_I64},
        {[1] = CUBC_U8, [2] = CUBC_U16, [4] = CUBC_U32, [8] = CUBC_U64},
        {[4] = CUBC_F32, [8] = CUBC_F64}};
    return types[kind == TYPE_SIGNED ? 0 : kind == TYPE_UNSIGNED ? 1 : 2][size];
}

static bool is_number(argument_kind kind, size_t size)
{
    bool integer = kind == TYPE_SIGNED || kind == TYPE_UNSIGNED;
    return integer ? size <= 8 && (size & (size - 1)) == 0 && size
                   : kind == TYPE_FLOAT && (size == 4 || size == 8);
}

// Structs, vectors and half-precision floats may be in an array of any type.
static int check_items(const py_view *view, const char *what, const argument_type *type)
{
    if (!is_number(type->item, type->item_size)) return 0;
    cubc_type wanted = type_of(type->item, type->item_size);
    cubc_type given = view->type == CUBC_BOOL ? CUBC_U8 : view->type;
    if (given == wanted) return 0;
    PyErr_Format(PyExc_TypeError,
                 "%s is an array of %s, the kernel's pointer is to %s: convert it, or declare the "
                 "parameter accordingly",
                 what, py_type_name(view->type), py_type_name(wanted));
    return -1;
}

static int check_device(const py_view *view, const char *what, const cubc_device *device)
{
    bool on_cpu = device_is_cpu(device->info.kind);
    if (view->device == device || (view->on_host && on_cpu)) return 0;
    PyErr_Format(PyExc_ValueError,
                 "%s is on %s, the kernel runs on %s: move it with cubc.asarray(x, device=...)",
                 what, view->device ? view->device->info.name : "the host", device->info.name);
    return -1;
}

static bool is_array(PyObject *object)
{
    return py_array_check(object) || PyObject_HasAttrString(object, "__cuda_array_interface__") ||
           PyObject_HasAttrString(object, "__dlpack__") ||
           PyObject_HasAttrString(object, "__array_interface__");
}

// The array's own memory is passed, so it is asked for as if it were written; what is read-only
// goes where the kernel takes a pointer to const.
static int pack_array(py_launch *l, const cubc_device *device, PyObject *object, const char *what,
                      const argument_type *type, void *stream, unsigned char *to)
{
    py_view *view = &l->views[l->count];
    if (!is_array(object)) return wrong_argument(what, type, object);
    int status = py_view_get(object, what, !type->constant, stream, view);
    l->count++;
    if (status < 0 || check_device(view, what, device) < 0 || check_items(view, what, type) < 0)
        return -1;
    memcpy(to, &view->data, sizeof view->data);
    return 0;
}

static int pack_number(PyObject *object, const char *what, const argument_type *type,
                       unsigned char *to)
{
    type_value value;
    if (py_array_check(object)) return wrong_argument(what, type, object);
    if (py_scalar(object, what, type_of(type->kind, type->size), &value) < 0) return -1;
    memcpy(to, &value, type->size);
    return 0;
}

static int pack_bytes(PyObject *object, const char *what, const argument_type *type,
                      unsigned char *to)
{
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_C_CONTIGUOUS) < 0)
        return py_forget() ? -1 : wrong_argument(what, type, object);
    bool fits = (size_t)view.len == type->size;
    if (fits) memcpy(to, view.buf, type->size);
    PyBuffer_Release(&view);
    return fits ? 0 : wrong_argument(what, type, object);
}

int py_launch_pack(py_launch *l, const cubc_device *device, const char *name,
                   const device_kernel *kernel, PyObject *given, void *stream)
{
    Py_ssize_t count = PyTuple_Size(given);
    if (count != kernel->argument_count) {
        PyErr_Format(PyExc_TypeError, "%s takes %d arguments, %zd were given", name,
                     kernel->argument_count, count);
        return -1;
    }
    for (int i = 0; i < count; i++) {
        const argument_type *type = &kernel->arguments[i];
        PyObject *object = PyTuple_GetItem(given, i);
        unsigned char *to = l->packed + type->at;
        char what[96];
        int status;
        snprintf(what, sizeof what, "argument %d of %.60s", i + 1, name);
        if (type->kind == TYPE_POINTER)
            status = pack_array(l, device, object, what, type, stream, to);
        else if (is_number(type->kind, type->size))
            status = pack_number(object, what, type, to);
        else
            status = pack_bytes(object, what, type, to);
        if (status < 0) return -1;
    }
    return 0;
}

// ---- the launch ---------------------------------------------------------------------------------
cubc_status py_launch_check(const char *name, const unsigned grid[3], const unsigned block[3],
                            int shared)
{
    static const unsigned most[3] = {INT32_MAX, 65535, 65535}, most_block[3] = {1024, 1024, 64};
    for (int i = 0; i < 3; i++) {
        if (grid[i] < 1 || grid[i] > most[i])
            FAIL(CUBC_INVALID_ARGUMENT, "%s: the grid's extent %c is %u, must be 1 to %u", name,
                 "xyz"[i], grid[i], most[i]);
        if (block[i] < 1 || block[i] > most_block[i])
            FAIL(CUBC_NO_RESOURCES, "%s: the block's extent %c is %u, must be 1 to %u", name,
                 "xyz"[i], block[i], most_block[i]);
    }
    if (shared < 0)
        FAIL(CUBC_INVALID_ARGUMENT, "%s: shared is %d, must be the bytes of a block, 0 or more",
             name, shared);
    return CUBC_OK;
}

void py_launch_stream(const py_launch *l, void **stream, PyObject **object)
{
    for (int i = 0; i < l->count; i++) {
        const py_view *view = &l->views[i];
        if (!view->has_stream) continue;
        *stream = view->stream;
        if (py_array_check(view->owner)) *object = ((py_array *)view->owner)->stream_object;
        return;
    }
}

cubc_status py_launch_order(py_launch *l, void *stream, PyObject *object)
{
    for (int i = 0; i < l->count; i++) TRY(py_view_order(&l->views[i], stream, object));
    return CUBC_OK;
}
