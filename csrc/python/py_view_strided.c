// Views of device arrays whose items have steps between them: the items are gathered on the device
// into an array of their own, as NumPy's arrays with strides are copied on the host.
#include "python/py_array.h"
#include "python/py_binding.h"
#include "python/py_support.h"
#include "python/py_view.h"

#include <stdlib.h>

// All of the memory between the lowest and the highest item, in one dimension.
static PyObject *spanned(const py_view *view, const char *what, const Py_ssize_t *steps,
                         PyObject *base, Py_ssize_t *first)
{
    size_t bytes = cubc_type_size(view->type);
    Py_ssize_t below = 0, above = 0;
    for (int d = 0; d < view->ndim; d++) {
        Py_ssize_t end;
        if (__builtin_mul_overflow(view->shape[d] - 1, steps[d], &end) ||
            __builtin_add_overflow(end < 0 ? below : above, end, end < 0 ? &below : &above)) {
            (void)py_too_large(what);
            return NULL;
        }
    }
    py_view whole = {.type = view->type, .stream = view->stream, .read_only = true};
    Py_ssize_t lowest, *all = &whole.shape[0]; // bytes, items
    if (__builtin_mul_overflow(below, (Py_ssize_t)bytes, &lowest) ||
        __builtin_sub_overflow(above, below, all) || __builtin_add_overflow(*all, 1, all)) {
        (void)py_too_large(what);
        return NULL;
    }
    whole.data = (void *)((uintptr_t)view->data + (uintptr_t)lowest);
    PyObject *array = NULL;
    if (py_view_set_shape(&whole, what, 1) == 0 && py_view_open_cuda(&whole, what, -1) == 0)
        array = py_array_wrap(&whole, base);
    if (whole.device) device_release(whole.device);
    *first = -below;
    return array;
}

int py_view_gather(py_view *view, const char *what, const Py_ssize_t *steps, PyObject *base)
{
    Py_ssize_t first = 0;
    if (py_binding_refuse(PyExc_ValueError, "a device array that is not contiguous would be "
                                            "copied, and a bound call would read the copy") < 0)
        return -1;
    PyObject *whole = spanned(view, what, steps, base, &first), *made = NULL;
    PyObject *module = whole ? PyImport_ImportModule("cubc._strides") : NULL;
    PyObject *shape = module ? py_shape(view->ndim, view->shape) : NULL;
    PyObject *by = shape ? py_shape(view->ndim, steps) : NULL;
    if (by) made = PyObject_CallMethod(module, "gathered", "OnOO", whole, first, shape, by);
    Py_XDECREF(by);
    Py_XDECREF(shape);
    Py_XDECREF(module);
    Py_XDECREF(whole);
    if (!made) return -1;
    py_view_release(view);
    py_array_view((py_array *)made, view);
    Py_DECREF(made); // the view keeps it
    return 0;
}
