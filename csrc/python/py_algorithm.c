// One call for every algorithm whose parameters are described: _core.call("sort", {...}).
//
// The descriptor's table of fields (algorithm.h) says what each member of the public parameter
// struct means, so the struct is filled in here from Python objects by name. Only reduce, scan and
// transform, which must be quick, have glue of their own.
#include "python/py_arguments.h"
#include "python/py_array.h"
#include "python/py_call.h"
#include "python/py_docs.h"
#include "python/py_fields.h"
#include "python/py_module.h"
#include "python/py_numpy.h"
#include "python/py_transform.h"
#include "python/py_types.h"

#include <stdio.h>
#include <string.h>

enum { PARAMS_BYTES = 512, TITLE_BYTES = 64 };

#define ALGORITHM(name) \
    _Static_assert(sizeof(cubc_##name##_params) <= PARAMS_BYTES, "PARAMS_BYTES is too small");
#include "run/list.def"
#undef ALGORITHM

typedef struct params_call {
    const algorithm *algorithm;
    PyObject *objects[MAX_FIELDS]; // borrowed from the dict; NULL: not given
    int number[MAX_FIELDS];        // of an array among the inputs or outputs
    bool made[MAX_OUTPUTS];
    type_value values[MAX_FIELDS];
    _Alignas(16) unsigned char params[PARAMS_BYTES];
    py_call call;
} params_call;

static const field *field_of(const params_call *c, int f)
{
    return &c->algorithm->fields[f];
}

static bool is_input(const field *f)
{
    return f->kind == FIELD_INPUT || f->kind == FIELD_LAZY;
}

static bool is_output(const field *f)
{
    return f->kind == FIELD_OUTPUT || f->kind == FIELD_CHANGED;
}

static const py_view *view_of(const params_call *c, int f)
{
    const py_call *call = &c->call;
    int k = c->number[f];
    return is_input(field_of(c, f)) ? &call->in[k] : &call->out[k].view;
}

static bool is_array(const field *f)
{
    return is_input(f) || is_output(f);
}

// A value that an array of a device has, as cubc._initial gives it.
static bool is_in_memory(const params_call *c, int f)
{
    return field_of(c, f)->kind == FIELD_VALUE && c->objects[f] && py_array_check(c->objects[f]);
}

static void put(params_call *c, uint16_t at, const void *value, size_t size)
{
    memcpy(c->params + at, value, size);
}

// ---- names --------------------------------------------------------------------------------------
static const algorithm *algorithm_called(const char *name)
{
    for (int k = 0; algorithm_list[k]; k++)
        if (strcmp(algorithm_list[k]->name, name) == 0 && algorithm_list[k]->field_count)
            return algorithm_list[k];
    PyErr_Format(PyExc_LookupError, "no algorithm '%s' is called this way", name);
    return NULL;
}

// ---- arrays -------------------------------------------------------------------------------------
// An array as the public functions call it, "keys" for keys_in and "x" for in; then " of " and a
// name, or nothing.
static void title(const field *f, const char *of, const char *name, char out[TITLE_BYTES])
{
    const char *own = strcmp(f->name, "in") == 0 ? "x" : f->name, *in = strstr(own, "_in");
    int length = in && !in[3] ? (int)(in - own) : TITLE_BYTES - 1;
    snprintf(out, TITLE_BYTES, "%.*s%s%s", length, own, of, name);
}

// An array in messages: "mask of select", where cubc._calls.name_function puts its function's name.
static void describe(const params_call *c, int f, char out[TITLE_BYTES])
{
    title(field_of(c, f), " of ", c->algorithm->name, out);
}

static int view_arrays(params_call *c)
{
    char what[TITLE_BYTES];
    int outputs = 0;
    for (int f = 0; f < c->algorithm->field_count; f++) {
        const field *described = field_of(c, f);
        PyObject *object = c->objects[f];
        if (!object || !(is_array(described) || is_in_memory(c, f))) continue;
        describe(c, f, what);
        if (described->kind == FIELD_VALUE) {
            c->number[f] = c->call.in_count;
            if (py_view_get(object, what, true, NULL, py_call_input(&c->call)) < 0) return -1;
            continue;
        }
        if (is_input(described)) {
            c->number[f] = c->call.in_count;
            py_view *in = py_call_input(&c->call);
            if (py_input_get(object, what, described->kind == FIELD_LAZY, in) < 0) return -1;
            continue;
        }
        c->number[f] = outputs++;
        if (!PyTuple_Check(object) || PyTuple_Size(object) != 3) {
            PyErr_Format(PyExc_TypeError, "%s: expected (dtype, shape, array or None)", what);
            return -1;
        }
        PyObject *array = PyTuple_GetItem(object, 2);
        if (py_call_view_out(&c->call, c->number[f], array == Py_None ? NULL : array) < 0)
            return -1;
    }
    return 0;
}

// The input that a text names, perhaps as "keys.size"; -1 if it names none.
static int named_input(const params_call *c, PyObject *object, bool *size)
{
    const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
    const char *dot = text ? strchr(text, '.') : NULL;
    size_t length = !text ? 0 : dot ? (size_t)(dot - text) : strlen(text);
    *size = dot && strcmp(dot, ".size") == 0;
    for (int f = 0; text && f < c->algorithm->field_count; f++) {
        const field *described = field_of(c, f);
        if (is_input(described) && c->objects[f] && strncmp(described->name, text, length) == 0 &&
            !described->name[length])
            return f;
    }
    return -1;
}

static int read_shape(const params_call *c, PyObject *object, Py_ssize_t *shape, int *ndim)
{
    bool size;
    int f = named_input(c, object, &size);
    if (f >= 0 && size) {
        *ndim = 1;
        shape[0] = (Py_ssize_t)view_of(c, f)->n;
        return 0;
    }
    if (f >= 0) {
        *ndim = view_of(c, f)->ndim;
        memcpy(shape, view_of(c, f)->shape, sizeof(Py_ssize_t) * (size_t)*ndim);
        return 0;
    }
    *ndim = PyTuple_Check(object) ? (int)PyTuple_Size(object) : -1;
    if (*ndim < 0 || *ndim > VIEW_DIMENSIONS) {
        PyErr_Format(PyExc_TypeError, "%R is no shape: expected a tuple or an input's name",
                     object);
        return -1;
    }
    for (int d = 0; d < *ndim; d++) {
        shape[d] = PyLong_AsSsize_t(PyTuple_GetItem(object, d));
        if (shape[d] < 0) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "an extent is negative");
            return -1;
        }
    }
    return 0;
}

// An array that is changed lies where the call computes: otherwise a copy would be changed instead.
static int check_changed(const params_call *c, int f)
{
    const py_call *call = &c->call;
    char what[TITLE_BYTES];
    if (field_of(c, f)->kind != FIELD_CHANGED) return 0;
    describe(c, f, what);
    if (!call->out[c->number[f]].object) {
        PyErr_Format(PyExc_TypeError, "%s is changed in place: an array is needed, not None", what);
        return -1;
    }
    if (!call->host || device_is_cpu(call->device->info.kind)) return 0;
    PyErr_Format(PyExc_ValueError,
                 "%s is changed in place, and host memory cannot be on %s: move it there with "
                 "cubc.asarray(x, device=...), or compute with device=\"cpu\"",
                 what, call->device->info.name);
    return -1;
}

// The output as described, (dtype, shape, array or None): dtype may be an input's name, or None
// where the array has its own.
static int prepare_output(params_call *c, int f)
{
    Py_ssize_t shape[VIEW_DIMENSIONS];
    int ndim, k = c->number[f];
    bool size;
    PyObject *dtype = PyTuple_GetItem(c->objects[f], 0);
    py_output *out = &c->call.out[k];
    cubc_type type = out->view.type;
    int like = named_input(c, dtype, &size);
    if (like >= 0)
        type = view_of(c, like)->type;
    else if (dtype != Py_None && py_dtype(dtype, &type) < 0)
        return -1;
    c->made[k] = !out->object;
    if (check_changed(c, f) < 0 ||
        read_shape(c, PyTuple_GetItem(c->objects[f], 1), shape, &ndim) < 0 ||
        py_call_prepare_out(&c->call, k, c->algorithm->name, type, ndim, shape) < 0)
        return -1;
    return py_check_type("out", out->view.type, type);
}

// Arrays that share a field for their type or count agree in it. -1, or the first such array.
static int agreeing(const params_call *c, int f, bool count)
{
    const field *a = field_of(c, f);
    for (int e = 0; e < f; e++) {
        const field *b = field_of(c, e);
        if (!is_array(b) || !c->objects[e]) continue;
        if (count ? a->count_at && a->count_at == b->count_at
                  : a->type_at && a->type_at == b->type_at)
            return e;
    }
    return -1;
}

static uint64_t items_of(const field *f, const py_view *view)
{
    return f->row_at ? (view->ndim ? (uint64_t)view->shape[0] : 1) : view->n;
}

static int check_agreement(const params_call *c, int f)
{
    const py_view *view = view_of(c, f);
    char what[TITLE_BYTES], than[TITLE_BYTES];
    int other = agreeing(c, f, false);
    if (other >= 0 && view_of(c, other)->type != view->type) {
        describe(c, f, what);
        title(field_of(c, other), "", "", than);
        PyErr_Format(PyExc_TypeError, "%s is %s and %s is %s: they must be of one type", what,
                     py_type_name(view->type), than, py_type_name(view_of(c, other)->type));
        return -1;
    }
    other = agreeing(c, f, true);
    if (other < 0) return 0;
    uint64_t here = items_of(field_of(c, f), view);
    uint64_t there = items_of(field_of(c, other), view_of(c, other));
    if (here == there) return 0;
    describe(c, f, what);
    title(field_of(c, other), "", "", than);
    PyErr_Format(PyExc_ValueError, "%s has %llu items and %s %llu: as many are needed", what,
                 (unsigned long long)here, than, (unsigned long long)there);
    return -1;
}

static int fill_array(params_call *c, int f)
{
    const field *described = field_of(c, f);
    const py_view *view = view_of(c, f);
    void *data = is_input(described) ? view->data : py_call_out_data(&c->call, c->number[f]);
    uint64_t items = items_of(described, view);
    cubc_type type = py_view_kind(view);
    if (check_agreement(c, f) < 0) return -1;
    put(c, described->at, &data, sizeof data);
    // The first of the arrays that share it puts it: a lazy input among them must be left alone.
    if (described->type_at && agreeing(c, f, false) < 0)
        put(c, described->type_at, &type, sizeof type);
    if (described->count_at) put(c, described->count_at, &items, sizeof items);
    if (described->row_at) {
        size_t row = cubc_type_size(view->type);
        for (int d = 1; d < view->ndim; d++) row *= (size_t)view->shape[d];
        int bytes = row < INT32_MAX ? (int)row : INT32_MAX;
        put(c, described->row_at, &bytes, sizeof bytes);
    }
    return 0;
}

// ---- everything else ----------------------------------------------------------------------------
static int fill_plain(params_call *c, int f)
{
    return py_field_put(field_of(c, f), c->objects[f], c->params);
}

// One value of a type that another field has by now.
static int fill_value(params_call *c, int f)
{
    const field *described = field_of(c, f);
    const void *value = &c->values[f];
    cubc_type type;
    memcpy(&type, c->params + described->type_at, sizeof type);
    for (int e = 0; e < c->algorithm->field_count; e++)
        if (field_of(c, e)->kind == FIELD_LAZY && field_of(c, e)->type_at == described->type_at &&
            c->objects[e])
            type = view_of(c, e)->type;
    if (is_in_memory(c, f)) {
        const py_view *view = &c->call.in[c->number[f]];
        put(c, described->row_at, &(int){1}, sizeof(int));
        value = view->data;
        if (py_check_type(described->name, view->type, type) < 0) return -1;
    } else if (py_scalar(c->objects[f], described->name, type, &c->values[f]) < 0)
        return -1;
    put(c, described->at, &value, sizeof value);
    return 0;
}

static int fill(params_call *c)
{
    static int (*const fillers[])(params_call *, int) = {
        [FIELD_INPUT] = fill_array,   [FIELD_LAZY] = fill_array, [FIELD_OUTPUT] = fill_array,
        [FIELD_CHANGED] = fill_array, [FIELD_TEXT] = fill_plain, [FIELD_INT] = fill_plain,
        [FIELD_COUNT] = fill_plain,   [FIELD_REAL] = fill_plain, [FIELD_TYPE] = fill_plain,
        [FIELD_VALUE] = fill_value,   [FIELD_RANKS] = fill_plain};
    for (int pass = 0; pass < 2; pass++) // values come last: their types are fields
        for (int f = 0; f < c->algorithm->field_count; f++)
            if (c->objects[f] && (field_of(c, f)->kind == FIELD_VALUE) == pass &&
                fillers[field_of(c, f)->kind](c, f) < 0)
                return -1;
    return 0;
}

// ---- the call -----------------------------------------------------------------------------------
static PyObject *results(params_call *c)
{
    int count = 0;
    for (int f = 0; f < c->algorithm->field_count; f++) count += is_output(field_of(c, f));
    PyObject *all = PyTuple_New(count);
    for (int f = 0, at = 0; all && f < c->algorithm->field_count; f++) {
        if (!is_output(field_of(c, f))) continue;
        int k = c->number[f];
        PyObject *one = c->objects[f]
                            ? py_call_result(&c->call, k, c->made[k] && !view_of(c, f)->ndim)
                            : Py_NewRef(Py_None);
        if (!one || PyTuple_SetItem(all, at++, one) < 0) Py_CLEAR(all);
    }
    return all;
}

static int prepare(params_call *c, PyObject *const *v, PyObject *fields, int options)
{
    PyObject *stream = v[options], *workspace = v[options + 1], *device = v[options + 2];
    const algorithm *a = c->algorithm;
    if (py_fields_find(a->fields, a->field_count, a->name, fields, c->objects) < 0 ||
        view_arrays(c) < 0 || py_call_device(&c->call, device, stream) < 0 ||
        py_call_stage_inputs(&c->call) < 0)
        return -1;
    for (int f = 0; f < c->algorithm->field_count; f++)
        if (is_output(field_of(c, f)) && c->objects[f] && prepare_output(c, f) < 0) return -1;
    return fill(c) < 0 ? -1 : py_call_workspace(&c->call, workspace);
}

PyObject *py_run_algorithm(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    enum { NAME, FIELDS, STREAM, WORKSPACE, DEVICE, COUNT };
    static py_signature signature = {.doc = call_doc, .count = COUNT};
    PyObject *v[COUNT], *value = NULL;
    params_call c;
    problem p;
    (void)self;
    memset(&c, 0, offsetof(params_call, call));
    py_call_begin(&c.call);
    if (py_arguments(&signature, args, n, names, v) < 0) return NULL;
    const char *name = PyUnicode_Check(v[NAME]) ? PyUnicode_AsUTF8AndSize(v[NAME], NULL) : NULL;
    if (!name || !PyDict_Check(v[FIELDS])) {
        PyErr_SetString(PyExc_TypeError, "call() takes an algorithm's name and a dict");
        return NULL;
    }
    c.algorithm = algorithm_called(name);
    if (!c.algorithm) return NULL;
    if (prepare(&c, v, v[FIELDS], STREAM) == 0) {
        cubc_status st;
        Py_BEGIN_ALLOW_THREADS // ranks of this process may wait for each other here
        st = algorithm_problem(c.algorithm, c.params, &p);
        Py_END_ALLOW_THREADS
        if (!st) st = py_call_run(&c.call, &p);
        value = st ? py_raise(st) : results(&c);
    }
    py_call_end(&c.call);
    return py_call_named(value, c.algorithm->name, NULL);
}
