// cubc.sort, cubc.argsort and cubc.sort_pairs.
#include "py_call.h"

// The arguments that the three have in common, behind their arrays.
enum { DESCENDING, BEGIN_BIT, END_BIT, OUT, STREAM, WORKSPACE, DEVICE, OPTIONS };
#define OPTION_NAMES "descending", "begin_bit", "end_bit", "out", "stream", "workspace", "device"

static int bit_of(PyObject *object, const char *what, int otherwise, int *out)
{
    *out = otherwise;
    if (!object || object == Py_None) return 0;
    long bit = PyLong_AsLong(object);
    if (bit == -1 && PyErr_Occurred()) return -1;
    if (bit < 0 || bit > 64) {
        PyErr_Format(PyExc_ValueError, "%s is %ld, which is no bit of a key", what, bit);
        return -1;
    }
    *out = (int)bit;
    return 0;
}

static int read_options(PyObject *const *v, const py_view *keys, cubc_sort_params *params)
{
    int most = 8 * (int)cubc_type_size(keys->type);
    params->descending = v[DESCENDING] ? PyObject_IsTrue(v[DESCENDING]) : 0;
    if (params->descending < 0 || bit_of(v[BEGIN_BIT], "begin_bit", 0, &params->begin_bit) < 0 ||
        bit_of(v[END_BIT], "end_bit", most, &params->end_bit) < 0)
        return -1;
    if (params->end_bit == 0 && params->begin_bit > 0) {
        PyErr_Format(PyExc_ValueError, "there are no bits %d to 0: begin_bit is above end_bit",
                     params->begin_bit);
        return -1;
    }
    // No bits at all; in the core's parameters an end of 0 means the highest.
    if (params->end_bit == 0) params->begin_bit = params->end_bit = most;
    return 0;
}

// NumPy sorts along the last axis, so an array of more must not be taken flat.
static int check_keys(const char *function, const py_view *keys)
{
    if (keys->ndim == 1) return 0;
    PyObject *shape = py_shape(keys->ndim, keys->shape);
    if (shape)
        PyErr_Format(PyExc_ValueError,
                     "%s() takes keys of one dimension, not of the shape %R; for the rows of a "
                     "matrix call it on each, for all items on x.ravel()",
                     function, shape);
    Py_XDECREF(shape);
    return -1;
}

static cubc_status run(py_call *c, cubc_sort_params *params)
{
    problem p;
    params->keys_in = c->in[0].data;
    params->keys_out = py_call_out_data(c, 0);
    params->n = c->in[0].n;
    params->type = c->in[0].type;
    TRY(sort_problem(params, &p));
    return py_call_run(c, &p);
}

PyObject *py_sort(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    static py_signature signature = {"sort", 1 + OPTIONS, 1, 1, {"x", OPTION_NAMES}, {0}, false};
    PyObject *v[1 + OPTIONS], *value = NULL, **options = v + 1;
    cubc_sort_params params = {0};
    py_call c = {.in_count = 1};
    (void)self;
    if (py_arguments(&signature, args, n, names, v) < 0) return NULL;
    if (py_view_get(v[0], "the array", false, NULL, &c.in[0]) < 0 ||
        check_keys("sort", &c.in[0]) < 0 || read_options(options, &c.in[0], &params) < 0 ||
        py_call_view_out(&c, 0, options[OUT]) < 0 ||
        py_call_device(&c, options[DEVICE], options[STREAM]) < 0 || py_call_stage_inputs(&c) < 0 ||
        py_call_prepare_out(&c, 0, "sort", c.in[0].type, 1, c.in[0].shape) < 0 ||
        py_check_dtype(c.in[0].type, c.out[0].view.type) < 0 ||
        py_call_workspace(&c, options[WORKSPACE]) < 0)
        goto done;
    cubc_status st = run(&c, &params);
    value = st ? py_raise(st) : py_call_result(&c, 0, false);
done:
    py_call_end(&c);
    return value;
}

// The sorted keys are a by-product: output 0 is temporary.
PyObject *py_argsort(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    static py_signature signature = {"argsort", 1 + OPTIONS, 1, 1, {"x", OPTION_NAMES}, {0}, false};
    PyObject *v[1 + OPTIONS], *value = NULL, **options = v + 1;
    cubc_sort_params params = {.value_bytes = 8};
    py_call c = {.in_count = 1};
    (void)self;
    if (py_arguments(&signature, args, n, names, v) < 0) return NULL;
    if (py_view_get(v[0], "the array", false, NULL, &c.in[0]) < 0 ||
        check_keys("argsort", &c.in[0]) < 0 || read_options(options, &c.in[0], &params) < 0 ||
        py_call_view_out(&c, 1, options[OUT]) < 0 ||
        py_call_device(&c, options[DEVICE], options[STREAM]) < 0 || py_call_stage_inputs(&c) < 0 ||
        py_call_prepare_out(&c, 0, "argsort", c.in[0].type, 1, c.in[0].shape) < 0 ||
        py_call_prepare_out(&c, 1, "argsort", CUBC_I64, 1, c.in[0].shape) < 0 ||
        py_check_dtype(CUBC_I64, c.out[1].view.type) < 0 ||
        py_call_workspace(&c, options[WORKSPACE]) < 0)
        goto done;
    params.values_out = py_call_out_data(&c, 1);
    cubc_status st = run(&c, &params);
    value = st ? py_raise(st) : py_call_result(&c, 1, false);
done:
    py_call_end(&c);
    return value;
}

// ---- pairs --------------------------------------------------------------------------------------
// One value a key: an item of a vector, or a row of whatever there is behind the first axis.
static int check_values(const py_view *keys, const py_view *values, int *bytes)
{
    size_t row = cubc_type_size(values->type);
    for (int d = 1; d < values->ndim; d++) row *= (size_t)values->shape[d];
    *bytes = row <= 16 ? (int)row : 17;
    if (values->ndim >= 1 && values->shape[0] == keys->shape[0]) return 0;
    PyObject *shape = py_shape(values->ndim, values->shape);
    if (shape)
        PyErr_Format(PyExc_ValueError,
                     "sort_pairs() takes a value for each of the %zd keys; values has the shape %R",
                     keys->shape[0], shape);
    Py_XDECREF(shape);
    return -1;
}

static int view_two_outs(py_call *c, PyObject *out)
{
    if (!out || out == Py_None) return 0;
    if (!PyTuple_Check(out) || PyTuple_Size(out) != 2) {
        PyErr_SetString(PyExc_TypeError,
                        "sort_pairs(): out must be a tuple of two arrays, (keys, values)");
        return -1;
    }
    for (int k = 0; k < 2; k++)
        if (py_call_view_out(c, k, PyTuple_GetItem(out, k)) < 0) return -1;
    return 0;
}

static PyObject *two_results(py_call *c)
{
    PyObject *keys = py_call_result(c, 0, false), *values = py_call_result(c, 1, false);
    PyObject *both = keys && values ? PyTuple_Pack(2, keys, values) : NULL;
    Py_XDECREF(keys);
    Py_XDECREF(values);
    return both;
}

PyObject *py_sort_pairs(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    static py_signature signature = {
        "sort_pairs", 2 + OPTIONS, 2, 2, {"keys", "values", OPTION_NAMES}, {0}, false};
    PyObject *v[2 + OPTIONS], *value = NULL, **options = v + 2;
    cubc_sort_params params = {0};
    py_call c = {.in_count = 2};
    (void)self;
    if (py_arguments(&signature, args, n, names, v) < 0) return NULL;
    const py_view *keys = &c.in[0], *values = &c.in[1];
    if (py_view_get(v[0], "keys", false, NULL, &c.in[0]) < 0 ||
        py_view_get(v[1], "values", false, NULL, &c.in[1]) < 0 ||
        check_keys("sort_pairs", keys) < 0 || check_values(keys, values, &params.value_bytes) < 0 ||
        read_options(options, keys, &params) < 0 || view_two_outs(&c, options[OUT]) < 0 ||
        py_call_device(&c, options[DEVICE], options[STREAM]) < 0 || py_call_stage_inputs(&c) < 0 ||
        py_call_prepare_out(&c, 0, "sort_pairs", keys->type, 1, keys->shape) < 0 ||
        py_call_prepare_out(&c, 1, "sort_pairs", values->type, values->ndim, values->shape) < 0 ||
        py_check_dtype(keys->type, c.out[0].view.type) < 0 ||
        py_check_dtype(values->type, c.out[1].view.type) < 0 ||
        py_call_workspace(&c, options[WORKSPACE]) < 0)
        goto done;
    params.values_in = values->data;
    params.values_out = py_call_out_data(&c, 1);
    cubc_status st = run(&c, &params);
    value = st ? py_raise(st) : two_results(&c);
done:
    py_call_end(&c);
    return value;
}
