// reduce, scan and transform on arrays: from Python operands to problems of the core.
//
// NumPy in gives NumPy out: on a GPU such operands travel there and back. Device arrays stay where
// they are and the call is asynchronous; this is the path that must be quick.
#include "py_common.h"

#include <stdio.h>
#include <string.h>

// ---- a call -------------------------------------------------------------------------------------
// What any primitive needs around its launch. Zero-initialise; call_end always.
typedef struct call {
    cubc_device *device; // counted
    void *stream;
    bool host; // operands are host memory
    bool wait; // temporary memory is in use: finish before returning
    py_view in[MAX_OPERANDS];
    PyObject *staged[MAX_OPERANDS]; // device copies of host operands
    int in_count;
    py_view out;
    PyObject *out_object; // what the call returns: given or made
    PyObject *out_staged; // device memory that stands for a host output
    py_view workspace;
} call;

static void call_end(call *c)
{
    for (int k = 0; k < c->in_count; k++) {
        py_view_release(&c->in[k]);
        Py_XDECREF(c->staged[k]);
    }
    py_view_release(&c->out);
    py_view_release(&c->workspace);
    Py_XDECREF(c->out_object);
    Py_XDECREF(c->out_staged);
    if (c->device) device_release(c->device);
}

static bool same_device(const py_view *a, const cubc_device *device)
{
    return a->device == NULL || a->device == device;
}

// The device of the arrays, or the one asked for, or the default; and the stream.
static int choose_device(call *c, PyObject *device, PyObject *stream)
{
    cubc_status st;
    for (int k = 0; k < c->in_count && !c->device; k++)
        if (c->in[k].device) {
            c->device = c->in[k].device;
            device_retain(c->device);
            if (!stream) c->stream = c->in[k].stream;
        }
    c->host = !c->device;
    if (!c->device && c->out.device) { // no array among the operands
        c->device = c->out.device;
        device_retain(c->device);
        c->host = false;
        if (!stream) c->stream = c->out.stream;
    }
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
        if (!same_device(&c->in[k], c->device) || (!c->host && c->in[k].on_host)) {
            PyErr_SetString(PyExc_ValueError, "the operands are on different devices; move them "
                                              "with cubc.asarray(x, device=...)");
            return -1;
        }
    return stream ? py_stream(stream, &c->stream) : 0;
}

// Work of another stream on an operand must be done before this call's; host operands travel.
static cubc_status ready_operand(call *c, py_view *view, PyObject **staged)
{
    if (py_array_check(view->owner)) return py_array_use((py_array *)view->owner, c->stream);
    if (view->device)
        return view->stream == c->stream
                   ? CUBC_OK
                   : view->device->api->synchronize(view->device, view->stream);
    if (strcmp(c->device->info.kind, "cpu") == 0) return CUBC_OK; // host memory is its memory
    *staged = py_array_new(c->device, view->type, view->ndim, view->shape, c->stream);
    if (!*staged) return CUBC_NO_DEVICE_MEMORY;
    c->wait = true;
    void *data = ((py_array *)*staged)->data;
    cubc_status st;
    Py_BEGIN_ALLOW_THREADS st =
        cubc_copy(c->device, data, view->data, view->n * cubc_type_size(view->type), c->stream);
    Py_END_ALLOW_THREADS view->data = data;
    return st;
}

static bool same_shape(const py_view *v, int ndim, const Py_ssize_t *shape)
{
    if (v->ndim != ndim) return false;
    for (int d = 0; d < ndim; d++)
        if (v->shape[d] != shape[d]) return false;
    return true;
}

static int wrong_out(const char *function, const py_view *got, int ndim, const Py_ssize_t *shape)
{
    char expected[256] = "", given[256] = "";
    for (int d = 0; d < ndim && strlen(expected) < 200; d++)
        PyOS_snprintf(expected + strlen(expected), 32, "%s%zd", d ? ", " : "", shape[d]);
    for (int d = 0; d < got->ndim && strlen(given) < 200; d++)
        PyOS_snprintf(given + strlen(given), 32, "%s%zd", d ? ", " : "", got->shape[d]);
    PyErr_Format(PyExc_ValueError, "%s(): out has the shape (%s), expected (%s)", function, given,
                 expected);
    return -1;
}

// Looks at a given output before the device is chosen, since its type may decide the result's.
static int view_out(call *c, PyObject *out)
{
    if (!out) return 0;
    c->out_object = Py_NewRef(out);
    return py_view_get(out, "out", true, NULL, &c->out);
}

// The given output, or a new one of the type and shape; then its device memory.
static int prepare_out(call *c, const char *function, cubc_type type, int ndim,
                       const Py_ssize_t *shape)
{
    if (!c->out_object) {
        if (c->host) {
            PyObject *extents = PyTuple_New(ndim), *dtype = py_numpy_dtype(type);
            for (int d = 0; extents && d < ndim; d++)
                PyTuple_SetItem(extents, d, PyLong_FromSsize_t(shape[d]));
            if (extents && dtype)
                c->out_object = PyObject_CallMethod(py_numpy, "empty", "OO", extents, dtype);
            Py_XDECREF(extents);
            Py_XDECREF(dtype);
        } else {
            c->out_object = py_array_new(c->device, type, ndim, shape, c->stream);
        }
        if (!c->out_object || py_view_get(c->out_object, "out", true, NULL, &c->out) < 0) return -1;
    }
    if (!same_shape(&c->out, ndim, shape) && !(ndim == 0 && c->out.n == 1))
        return wrong_out(function, &c->out, ndim, shape);
    if (c->host != c->out.on_host || !same_device(&c->out, c->device)) {
        PyErr_Format(PyExc_ValueError, "%s(): out must be %s as the input is", function,
                     c->host ? "host memory" : c->device->info.name);
        return -1;
    }
    if (py_array_check(c->out.owner)) {
        cubc_status st = py_array_use((py_array *)c->out.owner, c->stream);
        if (st) py_raise(st);
        return st ? -1 : 0;
    }
    if (!c->host || strcmp(c->device->info.kind, "cpu") == 0) return 0;
    c->out_staged = py_array_new(c->device, c->out.type, c->out.ndim, c->out.shape, c->stream);
    c->wait = true;
    return c->out_staged ? 0 : -1;
}

static void *out_data(const call *c)
{
    return c->out_staged ? ((py_array *)c->out_staged)->data : c->out.data;
}

static int prepare_workspace(call *c, PyObject *workspace)
{
    if (!workspace) return 0;
    if (py_view_get(workspace, "workspace", true, c->stream, &c->workspace) < 0) return -1;
    bool host_on_cpu = c->workspace.on_host && strcmp(c->device->info.kind, "cpu") == 0;
    if (!host_on_cpu && c->workspace.device != c->device) {
        PyErr_SetString(PyExc_ValueError, "workspace must be memory of the device that computes");
        return -1;
    }
    if (py_array_check(c->workspace.owner)) py_array_use((py_array *)c->workspace.owner, c->stream);
    return 0;
}

static int stage_inputs(call *c)
{
    for (int k = 0; k < c->in_count; k++) {
        cubc_status st = ready_operand(c, &c->in[k], &c->staged[k]);
        if (!st) continue;
        py_raise(st);
        return -1;
    }
    return 0;
}

static cubc_status run(call *c, const problem *p)
{
    cubc_status st;
    size_t room = c->workspace.n * cubc_type_size(c->workspace.type);
    Py_BEGIN_ALLOW_THREADS st = algorithm_run(c->device, p, c->workspace.data, room, c->stream);
    if (!st && c->out_staged)
        st = cubc_copy(c->device, c->out.data, out_data(c), c->out.n * cubc_type_size(c->out.type),
                       c->stream);
    if (!st && c->wait) st = cubc_synchronize(c->device, c->stream);
    Py_END_ALLOW_THREADS return st;
}

// What the caller gets: the output as it is, or a NumPy scalar for a single number without out=.
static PyObject *result(call *c, bool scalar)
{
    if (scalar && c->host) return py_numpy_scalar(c->out.type, c->out.data);
    return Py_NewRef(c->out_object);
}

// ---- types --------------------------------------------------------------------------------------
// The result's type: of out, else dtype=, else as the operator has it. The accumulator follows.
static int choose_types(call *c, PyObject *dtype, const operator_info *op, bool widen,
                        cubc_type *acc, cubc_type *out)
{
    cubc_type type = c->in[0].type, asked;
    cubc_type natural = op && op->widens && widen ? type_widened(type) : type;
    if (!widen && type == CUBC_BOOL && op && op->widens) natural = CUBC_I64;
    if (op && op->arg) natural = CUBC_I64;
    *out = c->out_object ? c->out.type : natural;
    *acc = op && op->arg ? type_arithmetic(type) : type_arithmetic(natural);
    if (dtype) {
        if (py_dtype(dtype, &asked) < 0) return -1;
        if (c->out_object && asked != *out) {
            PyErr_Format(PyExc_TypeError, "dtype is %s but out has %s", cubc_type_name(asked),
                         cubc_type_name(*out));
            return -1;
        }
        *out = asked;
    }
    // A wider result is accumulated in its own type; a narrower one is converted at the end.
    if (!(op && op->arg) && (dtype || c->out_object) &&
        (type_table[*out].kind == KIND_FLOAT) >= (type_table[*acc].kind == KIND_FLOAT) &&
        *out != CUBC_BOOL)
        *acc = type_arithmetic(*out);
    return 0;
}

static const char *operator_text(PyObject *op)
{
    const char *text = op ? PyUnicode_AsUTF8AndSize(op, NULL) : "sum";
    if (text && strlen(text) == 0) {
        PyErr_SetString(PyExc_ValueError, "op is empty: expected a name such as 'sum' or a C "
                                          "expression of a and b");
        return NULL;
    }
    return text;
}

// ---- reduce -------------------------------------------------------------------------------------
PyObject *py_reduce(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    enum { X, OP, INIT, OUT, DTYPE, COMMUTATIVE, STREAM, WORKSPACE, DEVICE, COUNT };
    static py_signature signature = {
        "reduce",
        COUNT,
        2,
        1,
        {"x", "op", "init", "out", "dtype", "commutative", "stream", "workspace", "device"},
        {0}};
    PyObject *v[COUNT], *value = NULL;
    cubc_type acc, out;
    cubc_status st;
    problem p;
    uint64_t init;
    call c = {0};
    (void)self;
    if (py_arguments(&signature, args, n, names, v) < 0) return NULL;
    const char *op = operator_text(v[OP]);
    c.in_count = 1;
    if (!op || py_view_get(v[X], "the array", false, NULL, &c.in[0]) < 0 ||
        view_out(&c, v[OUT]) < 0 || choose_device(&c, v[DEVICE], v[STREAM]) < 0 ||
        choose_types(&c, v[DTYPE], operator_find(op), true, &acc, &out) < 0 ||
        (v[INIT] && py_scalar(v[INIT], acc, &init) < 0) || stage_inputs(&c) < 0 ||
        prepare_out(&c, "reduce", out, 0, NULL) < 0 || prepare_workspace(&c, v[WORKSPACE]) < 0)
        goto done;
    cubc_reduce_params params = {.in = c.in[0].data,
                                 .out = out_data(&c),
                                 .n = c.in[0].n,
                                 .type = c.in[0].type,
                                 .acc_type = acc,
                                 .out_type = out,
                                 .op = op,
                                 .commutative = v[COMMUTATIVE] && PyObject_IsTrue(v[COMMUTATIVE]),
                                 .init = v[INIT] ? &init : NULL};
    st = reduce_problem(&params, &p);
    if (!st) st = run(&c, &p);
    value = st ? py_raise(st) : result(&c, !v[OUT]);
done:
    call_end(&c);
    return value;
}

// ---- scan ---------------------------------------------------------------------------------------
PyObject *py_scan(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    enum { X, OP, INCLUSIVE, INIT, OUT, DTYPE, STREAM, WORKSPACE, DEVICE, COUNT };
    static py_signature signature = {
        "scan",
        COUNT,
        2,
        1,
        {"x", "op", "inclusive", "init", "out", "dtype", "stream", "workspace", "device"},
        {0}};
    PyObject *v[COUNT], *value = NULL;
    cubc_type acc, out;
    cubc_status st;
    problem p;
    uint64_t init;
    call c = {0};
    (void)self;
    if (py_arguments(&signature, args, n, names, v) < 0) return NULL;
    const char *op = operator_text(v[OP]);
    c.in_count = 1;
    if (!op || py_view_get(v[X], "the array", false, NULL, &c.in[0]) < 0 ||
        view_out(&c, v[OUT]) < 0 || choose_device(&c, v[DEVICE], v[STREAM]) < 0 ||
        choose_types(&c, v[DTYPE], operator_find(op), false, &acc, &out) < 0 ||
        (v[INIT] && py_scalar(v[INIT], acc, &init) < 0) || stage_inputs(&c) < 0)
        goto done;
    Py_ssize_t length = (Py_ssize_t)c.in[0].n; // of the flattened array, as in numpy.cumsum
    bool keep = c.out_object && c.out.ndim == c.in[0].ndim;
    if (prepare_out(&c, "scan", out, keep ? c.in[0].ndim : 1, keep ? c.in[0].shape : &length) < 0 ||
        prepare_workspace(&c, v[WORKSPACE]) < 0)
        goto done;
    cubc_scan_params params = {.in = c.in[0].data,
                               .out = out_data(&c),
                               .n = c.in[0].n,
                               .type = c.in[0].type,
                               .acc_type = acc,
                               .out_type = out,
                               .op = op,
                               .inclusive = !v[INCLUSIVE] || PyObject_IsTrue(v[INCLUSIVE]),
                               .init = v[INIT] ? &init : NULL};
    st = scan_problem(&params, &p);
    if (!st) st = run(&c, &p);
    value = st ? py_raise(st) : result(&c, false);
done:
    call_end(&c);
    return value;
}

// ---- transform ----------------------------------------------------------------------------------
typedef struct map_arguments {
    PyObject *out, *dtype, *size, *stream, *device;
} map_arguments;

// Takes a named argument of the call itself; 0 if the name is an operand's.
static int take_argument(map_arguments *m, const char *name, PyObject *value)
{
    PyObject **slot = !strcmp(name, "out")      ? &m->out
                      : !strcmp(name, "dtype")  ? &m->dtype
                      : !strcmp(name, "size")   ? &m->size
                      : !strcmp(name, "stream") ? &m->stream
                      : !strcmp(name, "device") ? &m->device
                                                : NULL;
    if (slot && value != Py_None) *slot = value;
    return slot != NULL;
}

static bool is_number(PyObject *object)
{
    return PyLong_Check(object) || PyFloat_Check(object) || PyBool_Check(object);
}

// A Python number takes its type from its neighbours, as in NumPy: a float with float32 arrays is a
// float32. `result` is the type of the result.
static int scalar_operand(PyObject *number, cubc_type result, cubc_operand *o, uint64_t *bits)
{
    if (PyFloat_Check(number))
        o->type = type_table[result].kind == KIND_FLOAT ? type_arithmetic(result) : CUBC_F64;
    else
        o->type = type_table[result].kind == KIND_FLOAT ? type_arithmetic(result) : CUBC_I64;
    o->scalar = 1;
    o->data = bits;
    return py_scalar(number, o->type, bits);
}

// numpy.result_type of the arrays; float64 if there is none.
static int result_type(const call *c, cubc_type *out)
{
    PyObject *dtypes = PyTuple_New(c->in_count), *function = NULL, *dtype = NULL;
    int status = -1;
    *out = CUBC_F64;
    if (c->in_count == 0) {
        status = 0;
        goto done;
    }
    if (!dtypes) goto done;
    for (int k = 0; k < c->in_count; k++) {
        if (k && c->in[k].type != c->in[0].type) status = 1;
        *out = c->in[0].type;
    }
    if (status < 1) { // all alike
        status = 0;
        goto done;
    }
    status = -1;
    for (int k = 0; k < c->in_count; k++) {
        PyObject *one = py_numpy_dtype(c->in[k].type);
        if (!one) goto done;
        PyTuple_SetItem(dtypes, k, one);
    }
    function = PyObject_GetAttrString(py_numpy, "result_type");
    dtype = function ? PyObject_Call(function, dtypes, NULL) : NULL;
    if (dtype) status = py_dtype(dtype, out);
done:
    Py_XDECREF(dtype);
    Py_XDECREF(function);
    Py_XDECREF(dtypes);
    return status;
}

static int check_shapes(const call *c)
{
    for (int k = 1; k < c->in_count; k++)
        if (!same_shape(&c->in[k], c->in[0].ndim, c->in[0].shape)) {
            PyErr_SetString(PyExc_ValueError, "the arrays of a transform must have the same shape");
            return -1;
        }
    return 0;
}

// The operands by name: arrays become views of the call, numbers wait for the result's type.
static int collect_operands(call *c, PyObject *keywords, map_arguments *m, cubc_operand *operands,
                            PyObject **numbers, int *count)
{
    PyObject *name_object, *value;
    Py_ssize_t at = 0;
    while (keywords && PyDict_Next(keywords, &at, &name_object, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(name_object, NULL);
        if (!name) return -1;
        if (take_argument(m, name, value)) continue;
        if (*count == MAX_OPERANDS) {
            PyErr_Format(PyExc_ValueError, "a transform takes at most %d operands", MAX_OPERANDS);
            return -1;
        }
        operands[*count] = (cubc_operand){.name = name};
        if (is_number(value)) {
            numbers[(*count)++] = value;
            continue;
        }
        char what[64];
        PyOS_snprintf(what, sizeof what, "operand '%.40s'", name);
        int k = c->in_count++;
        if (py_view_get(value, what, false, NULL, &c->in[k]) < 0) return -1;
        operands[*count].type = c->in[k].type;
        (*count)++;
    }
    return 0;
}

// The result's shape: of the arrays, else of out, else size.
static int map_shape(const call *c, const map_arguments *m, int *ndim, const Py_ssize_t **shape,
                     Py_ssize_t *size)
{
    if (c->in_count) {
        *ndim = c->in[0].ndim;
        *shape = c->in[0].shape;
    } else if (c->out_object) {
        *ndim = c->out.ndim;
        *shape = c->out.shape;
    } else {
        if (!m->size) {
            PyErr_SetString(PyExc_ValueError, "a transform without array operands needs out= or "
                                              "size=");
            return -1;
        }
        *size = PyNumber_AsSsize_t(m->size, PyExc_OverflowError);
        if (PyErr_Occurred()) return -1;
        if (*size < 0) {
            PyErr_SetString(PyExc_ValueError, "size must not be negative");
            return -1;
        }
        *ndim = 1;
        *shape = size;
    }
    return 0;
}

PyObject *py_transform(PyObject *self, PyObject *args, PyObject *keywords)
{
    cubc_operand operands[MAX_OPERANDS];
    PyObject *numbers[MAX_OPERANDS] = {NULL}, *value = NULL;
    uint64_t bits[MAX_OPERANDS];
    const char *expression;
    const Py_ssize_t *shape;
    Py_ssize_t size;
    map_arguments m = {0};
    int count = 0, ndim;
    cubc_type type;
    problem p;
    call c = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "s:transform", &expression)) return NULL;
    if (collect_operands(&c, keywords, &m, operands, numbers, &count) < 0 || check_shapes(&c) < 0 ||
        view_out(&c, m.out) < 0 || choose_device(&c, m.device, m.stream) < 0 ||
        result_type(&c, &type) < 0)
        goto done;
    if (c.in_count == 0 && !c.out_object) c.host = m.device == NULL;
    if (m.dtype && py_dtype(m.dtype, &type) < 0) goto done;
    if (c.out_object && !m.dtype) type = c.out.type;
    if (c.out_object && type != c.out.type) {
        PyErr_Format(PyExc_TypeError, "dtype is %s but out has %s", cubc_type_name(type),
                     cubc_type_name(c.out.type));
        goto done;
    }
    for (int k = 0; k < count; k++)
        if (numbers[k] && scalar_operand(numbers[k], type, &operands[k], &bits[k]) < 0) goto done;
    if (map_shape(&c, &m, &ndim, &shape, &size) < 0 || stage_inputs(&c) < 0 ||
        prepare_out(&c, "transform", type, ndim, shape) < 0)
        goto done;
    for (int k = 0, view = 0; k < count; k++)
        if (!numbers[k]) operands[k].data = c.in[view++].data;
    cubc_transform_params params = {.out = out_data(&c),
                                    .out_type = type,
                                    .n = c.out.n,
                                    .expression = expression,
                                    .operands = operands,
                                    .operand_count = count};
    cubc_status st = transform_problem(&params, &p);
    if (!st) st = run(&c, &p);
    value = st ? py_raise(st) : result(&c, false);
done:
    call_end(&c);
    return value;
}
