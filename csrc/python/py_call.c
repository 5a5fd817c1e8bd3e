// The steps around a primitive's launch: see py_call.h.
#include "python/py_call.h"

#include "base/log.h"
#include "python/py_arguments.h"
#include "python/py_array.h"
#include "python/py_binding.h"
#include "python/py_bound.h"
#include "python/py_numpy.h"
#include "run/notes.h"
#include "run/run.h"

#include <stdio.h>

void py_call_begin(py_call *c)
{
    c->device = NULL;
    c->stream = NULL;
    c->stream_object = NULL;
    c->host = c->wait = false;
    c->in_count = 0;
    for (int k = 0; k < MAX_OUTPUTS; k++) {
        py_view_clear(&c->out[k].view);
        c->out[k].object = c->out[k].staged = c->out[k].strided = NULL;
        c->out[k].made = false;
    }
    py_view_clear(&c->workspace);
}

py_view *py_call_input(py_call *c)
{
    int k = c->in_count++;
    py_view_clear(&c->in[k]);
    c->staged[k] = NULL;
    return &c->in[k];
}

void py_call_end(py_call *c)
{
    for (int k = 0; k < c->in_count; k++) {
        py_view_release(&c->in[k]);
        Py_XDECREF(c->staged[k]);
    }
    for (int k = 0; k < MAX_OUTPUTS; k++) {
        py_view_release(&c->out[k].view);
        Py_XDECREF(c->out[k].object);
        Py_XDECREF(c->out[k].staged);
        Py_XDECREF(c->out[k].strided);
    }
    py_view_release(&c->workspace);
    if (c->device) device_release(c->device);
}

static bool same_device(const py_view *a, const cubc_device *device)
{
    return a->device == NULL || a->device == device;
}

// Works where a device array is, on the stream of its last work.
static void follow(py_call *c, const py_view *view)
{
    const py_expression *e = view->expression;
    for (int k = 0; e && k < e->count && !c->device; k++) follow(c, &e->views[k]);
    if (!view->device) return;
    c->device = view->device;
    device_retain(c->device);
    c->stream = view->stream;
    if (py_array_check(view->owner)) c->stream_object = ((py_array *)view->owner)->stream_object;
}

// Memory of the host that comes by DLPack is the host's and the cpu device's alike.
static bool is_lent_to_cpu(const py_call *c, const py_view *view)
{
    return view->on_host && view->capsule && device_is_cpu(c->device->info.kind);
}

static bool is_of_host(const py_call *c, const py_view *view)
{
    return !c->host && view->on_host && !is_lent_to_cpu(c, view);
}

// Refuses what is not where the call computes. Views of what is no array are empty.
static int check_place(const py_call *c, const py_view *view)
{
    const py_expression *e = view->expression;
    const char *name = c->device->info.name;
    for (int k = 0; e && k < e->count; k++)
        if (check_place(c, &e->views[k]) < 0) return -1;
    if (is_of_host(c, view))
        PyErr_Format(PyExc_ValueError,
                     "an operand is in the host's memory, as NumPy's arrays are, and another is on "
                     "\"%s\": move it with cubc.asarray(x, device=\"%s\")",
                     name, name);
    else if (!same_device(view, c->device))
        PyErr_SetString(PyExc_ValueError, "the operands are on different devices; move them with "
                                          "cubc.asarray(x, device=...)");
    else
        return 0;
    return -1;
}

int py_call_device(py_call *c, PyObject *device, PyObject *stream)
{
    cubc_status st;
    for (int k = 0; k < c->in_count && !c->device; k++) follow(c, &c->in[k]);
    for (int k = 0; k < MAX_OUTPUTS && !c->device; k++) follow(c, &c->out[k].view);
    c->host = !c->device;
    if (c->device && device) {
        cubc_device *asked;
        if ((st = py_device(device, &asked))) {
            py_raise(st);
            return -1;
        }
        bool same = asked == c->device;
        device_release(asked);
        if (!same) {
            PyErr_Format(PyExc_ValueError,
                         "the arrays are on %s; to compute elsewhere, move them with "
                         "cubc.asarray(x, device=...)",
                         c->device->info.name);
            return -1;
        }
    }
    if (!c->device && (st = py_device(device, &c->device))) {
        py_raise(st);
        return -1;
    }
    for (int k = 0; k < c->in_count; k++)
        if (check_place(c, &c->in[k]) < 0) return -1;
    if (stream) c->stream_object = PyLong_Check(stream) ? NULL : stream;
    return stream ? py_stream(stream, &c->stream) : 0;
}

static cubc_status ready_operand(py_call *c, py_view *view, PyObject **staged);

static cubc_status ready_expression(py_call *c, py_expression *e)
{
    for (int k = 0; k < e->count; k++) {
        if (e->numbers[k]) continue;
        TRY(ready_operand(c, &e->views[k], &e->staged[k]));
        e->operands[k].data = e->views[k].data;
    }
    return CUBC_OK;
}

// Host operands travel to the device.
static cubc_status ready_operand(py_call *c, py_view *view, PyObject **staged)
{
    if (view->expression) return ready_expression(c, view->expression);
    if (view->device) return py_view_order(view, c->stream, c->stream_object);
    if (device_is_cpu(c->device->info.kind)) return CUBC_OK; // host memory is its memory
    *staged = py_array_new(c->device, view->type, view->ndim, view->shape, c->stream);
    if (!*staged) return CUBC_NO_DEVICE_MEMORY;
    c->wait = true;
    void *data = ((py_array *)*staged)->data;
    cubc_status st;
    Py_BEGIN_ALLOW_THREADS
    st = cubc_copy(c->device, data, view->data, view->n * cubc_type_size(view->type), c->stream);
    Py_END_ALLOW_THREADS
    view->data = data;
    return st;
}

bool py_call_same_shape(const py_view *v, int ndim, const Py_ssize_t *shape)
{
    if (v->ndim != ndim) return false;
    for (int d = 0; d < ndim; d++)
        if (v->shape[d] != shape[d]) return false;
    return true;
}

static int wrong_out(const char *function, const py_view *got, int ndim, const Py_ssize_t *shape)
{
    PyObject *expected = py_shape(ndim, shape);
    PyObject *given = expected ? py_shape(got->ndim, got->shape) : NULL;
    if (given)
        PyErr_Format(PyExc_ValueError, "%s(): out has the shape %R, expected %R", function, given,
                     expected);
    Py_XDECREF(expected);
    Py_XDECREF(given);
    return -1;
}

static bool is_numpy_array(PyObject *o)
{
    static PyObject *array; // numpy.ndarray
    if (!array && !(array = PyObject_GetAttrString(py_numpy, "ndarray"))) return false;
    return Py_IS_TYPE(o, (PyTypeObject *)array);
}

// A copy in C order of a NumPy array that can be written, and is not in C order unless `in_order`;
// NULL of all else.
static PyObject *contiguous_copy(PyObject *out, bool in_order)
{
    if (!is_numpy_array(out)) return NULL;
    PyObject *flags = PyObject_GetAttrString(out, "flags"), *copy = NULL;
    PyObject *ordered = flags ? PyObject_GetAttrString(flags, "c_contiguous") : NULL;
    PyObject *writeable = ordered ? PyObject_GetAttrString(flags, "writeable") : NULL;
    if ((in_order || ordered == Py_False) && writeable == Py_True)
        copy = PyObject_CallMethod(out, "copy", "s", "C");
    Py_XDECREF(writeable);
    Py_XDECREF(ordered);
    Py_XDECREF(flags);
    return copy;
}

static bool is_aligned(const py_view *v)
{
    return (uintptr_t)v->data % type_table[v->type].alignment == 0;
}

// The copies of arrays with strides lie apart, so these are compared themselves.
static int check_apart(const py_call *c, int k)
{
    for (int j = 0; j < k; j++) {
        const py_output *one = &c->out[j], *two = &c->out[k];
        PyObject *a = one->strided ? one->strided : one->object,
                 *b = two->strided ? two->strided : two->object;
        if (!a || (!one->strided && !two->strided) || !is_numpy_array(a) || !is_numpy_array(b))
            continue;
        PyObject *shared = PyObject_CallMethod(py_numpy, "shares_memory", "OO", a, b);
        int yes = shared ? PyObject_IsTrue(shared) : -1;
        Py_XDECREF(shared);
        if (yes > 0) PyErr_SetString(PyExc_ValueError, "two outputs overlap: they must be apart");
        if (yes) return -1;
    }
    return 0;
}

// NumPy's arrays with strides, and those that are not aligned, are written by way of a copy, but
// not by calls that are bound.
int py_call_view_out(py_call *c, int k, PyObject *out)
{
    PyObject *type = NULL, *error = NULL, *trace = NULL;
    if (!out) return 0;
    c->out[k].object = Py_NewRef(out);
    const bool in_order = py_view_get(out, "out", true, NULL, &c->out[k].view) == 0;
    if (in_order && is_aligned(&c->out[k].view)) return check_apart(c, k);
    if (!in_order) PyErr_Fetch(&type, &error, &trace);
    PyObject *copy = py_binding_is_on() ? NULL : contiguous_copy(out, in_order);
    if (!copy) {
        (void)py_forget();
        if (in_order) return 0; // is refused where the alignment is checked
        PyErr_Restore(type, error, trace);
        return -1;
    }
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    c->out[k].strided = c->out[k].object;
    c->out[k].object = copy;
    py_view_release(&c->out[k].view);
    py_view_clear(&c->out[k].view);
    if (py_view_get(copy, "out", true, NULL, &c->out[k].view)) return -1;
    return check_apart(c, k);
}

int py_call_prepare_out(py_call *c, int k, const char *function, cubc_type type, int ndim,
                        const Py_ssize_t *shape)
{
    py_output *out = &c->out[k];
    if (!out->object) {
        out->object = c->host ? py_numpy_empty(type, ndim, shape)
                              : py_array_new(c->device, type, ndim, shape, c->stream);
        if (!out->object || py_view_get(out->object, "out", true, NULL, &out->view) < 0) return -1;
        out->made = true;
    }
    if (!py_call_same_shape(&out->view, ndim, shape) && !(ndim == 0 && out->view.n == 1))
        return wrong_out(function, &out->view, ndim, shape);
    bool there = c->host == out->view.on_host || is_lent_to_cpu(c, &out->view);
    if (!there || !same_device(&out->view, c->device)) {
        PyErr_Format(PyExc_ValueError, "%s(): out must lie %s%s, as the input does", function,
                     c->host ? "in host memory" : "on ", c->host ? "" : c->device->info.name);
        return -1;
    }
    cubc_status st = py_view_order(&out->view, c->stream, c->stream_object);
    if (st) {
        py_raise(st);
        return -1;
    }
    if (!c->host || device_is_cpu(c->device->info.kind)) return 0;
    out->staged =
        py_array_new(c->device, out->view.type, out->view.ndim, out->view.shape, c->stream);
    c->wait = true;
    return out->staged ? 0 : -1;
}

void *py_call_out_data(const py_call *c, int k)
{
    const py_output *out = &c->out[k];
    return out->staged ? ((py_array *)out->staged)->data : out->view.data;
}

int py_call_workspace(py_call *c, PyObject *workspace)
{
    if (!workspace) return 0;
    if (py_view_get(workspace, "workspace", true, c->stream, &c->workspace) < 0) return -1;
    bool host_on_cpu = c->workspace.on_host && device_is_cpu(c->device->info.kind);
    if (!host_on_cpu && c->workspace.device != c->device) {
        PyErr_Format(PyExc_ValueError,
                     "workspace must be memory of the device that computes, %s: make it by "
                     "cubc.empty(bytes, 'uint8', device=...)",
                     c->device->info.name);
        return -1;
    }
    cubc_status st = py_view_order(&c->workspace, c->stream, c->stream_object);
    if (st) py_raise(st);
    return st ? -1 : 0;
}

int py_call_stage_inputs(py_call *c)
{
    for (int k = 0; k < c->in_count; k++) {
        cubc_status st = ready_operand(c, &c->in[k], &c->staged[k]);
        if (!st) continue;
        py_raise(st);
        return -1;
    }
    return 0;
}

cubc_status py_say_notes(void)
{
    char note[NOTE_BYTES];
    py_say_log();
    if (PyErr_Occurred()) FAIL(CUBC_INTERRUPTED, "interrupted while a line was logged");
    while (note_take(note))
        if (PyErr_WarnEx(PyExc_RuntimeWarning, note, 1) < 0)
            FAIL(CUBC_INVALID_ARGUMENT, "%s", note);
    return CUBC_OK;
}

bool py_has_notes(void)
{
    return note_is_there() || log_is_there();
}

cubc_status py_call_run(py_call *c, const problem *p)
{
    cubc_status st;
    size_t room = c->workspace.n * cubc_type_size(c->workspace.type);
    Py_BEGIN_ALLOW_THREADS
    st = run_problem(c->device, p, c->workspace.data, room, c->stream);
    for (int k = 0; k < MAX_OUTPUTS && !st; k++) {
        const py_view *out = &c->out[k].view;
        if (c->out[k].staged)
            st = cubc_copy(c->device, out->data, py_call_out_data(c, k),
                           out->n * cubc_type_size(out->type), c->stream);
    }
    if (!st && c->wait) st = cubc_synchronize(c->device, c->stream);
    Py_END_ALLOW_THREADS
    if (!st && py_binding_is_on()) st = py_bound_add(c, p);
    return st || !py_has_notes() ? st : py_say_notes();
}

PyObject *py_call_named(PyObject *value, const char *algorithm, const char *function)
{
    PyObject *type, *error, *trace;
    if (value || !PyErr_ExceptionMatches(PyExc_Exception)) return value;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (trace) (void)PyException_SetTraceback(error, trace); // says if the user's code raised it
    PyObject *name = PyUnicode_FromString(algorithm), *module = NULL, *done = NULL;
    bool ready = name && (PyObject_HasAttrString(error, "cubc_function") ||
                          PyObject_SetAttrString(error, "cubc_function", name) == 0);
    if (ready && function && (module = PyImport_ImportModule("cubc._calls")))
        done = PyObject_CallMethod(module, "name_function", "Os", error, function);
    Py_XDECREF(done);
    Py_XDECREF(module);
    Py_XDECREF(name);
    PyErr_Restore(type, error, trace); // replaces an error of the naming itself
    return NULL;
}

PyObject *py_call_result(py_call *c, int k, bool scalar)
{
    const py_output *out = &c->out[k];
    if (scalar && c->host) {
        py_binding_note_read();
        return py_numpy_scalar(out->view.type, out->view.data);
    }
    if (!out->strided) return Py_NewRef(out->object);
    PyObject *none = PyObject_CallMethod(py_numpy, "copyto", "OO", out->strided, out->object);
    Py_XDECREF(none);
    return none ? Py_NewRef(out->strided) : NULL;
}
