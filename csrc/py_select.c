// The call behind cubc.select, cubc.partition, cubc.unique_consecutive and cubc.flatnonzero.
#include "py_call.h"

enum { X, CONDITION, OUT, REST, COUNT, STREAM, WORKSPACE, DEVICE, ARGUMENTS };
enum { OUT_PLACE, COUNT_PLACE, REST_PLACE };

static int read_condition(py_call *c, PyObject *condition, cubc_select_params *params)
{
    if (!condition) return 0;
    if (PyUnicode_Check(condition) && !c->in_count) {
        PyErr_SetString(PyExc_TypeError, "indices are selected by an array, not by an expression");
        return -1;
    }
    if (PyUnicode_Check(condition)) {
        cubc_status st =
            py_text(condition, "condition", "with an expression of x and i", &params->predicate);
        if (st) py_raise(st);
        return st ? -1 : 0;
    }
    return py_view_get(condition, "the mask", false, NULL, &c->in[c->in_count++]);
}

static int check_lengths(const py_call *c)
{
    if (c->in_count < 2 || c->in[0].n == c->in[1].n) return 0;
    PyErr_Format(PyExc_ValueError,
                 "the mask has %llu items and the array %llu: one is needed for each",
                 (unsigned long long)c->in[1].n, (unsigned long long)c->in[0].n);
    return -1;
}

// rest=True asks for an array to be made.
static bool wants_rest(PyObject *rest)
{
    return rest && rest != Py_False;
}

static int prepare(py_call *c, PyObject *const *v, cubc_type type)
{
    Py_ssize_t n = (Py_ssize_t)c->in[0].n;
    if (py_call_prepare_out(c, OUT_PLACE, "select", type, 1, &n) < 0 ||
        py_check_dtype(type, c->out[OUT_PLACE].view.type) < 0 ||
        py_call_prepare_out(c, COUNT_PLACE, "select", CUBC_I64, 0, NULL) < 0 ||
        py_check_dtype(CUBC_I64, c->out[COUNT_PLACE].view.type) < 0)
        return -1;
    if (!wants_rest(v[REST])) return 0;
    if (py_call_prepare_out(c, REST_PLACE, "select", type, 1, &n) < 0) return -1;
    return py_check_dtype(type, c->out[REST_PLACE].view.type);
}

static PyObject *results(py_call *c, bool rest)
{
    PyObject *out = py_call_result(c, OUT_PLACE, false);
    PyObject *others = rest ? py_call_result(c, REST_PLACE, false) : Py_NewRef(Py_None);
    PyObject *count = py_call_result(c, COUNT_PLACE, false);
    return Py_BuildValue("(NNN)", out, others, count);
}

PyObject *py_select(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    static py_signature signature = {
        "select",
        ARGUMENTS,
        2,
        1,
        {"x", "condition", "out", "rest", "count", "stream", "workspace", "device"},
        {0},
        true};
    PyObject *v[ARGUMENTS], *value = NULL;
    cubc_select_params params = {0};
    problem p;
    py_call c = {0};
    (void)self;
    if (py_arguments(&signature, args, n, names, v) < 0) return NULL;
    bool indices = v[X] == Py_None, rest = wants_rest(v[REST]);
    PyObject *given_rest = rest && v[REST] != Py_True ? v[REST] : NULL;
    if ((!indices && py_view_get(v[X], "the array", false, NULL, &c.in[c.in_count++]) < 0) ||
        read_condition(&c, v[CONDITION], &params) < 0 || check_lengths(&c) < 0 ||
        py_call_view_out(&c, OUT_PLACE, v[OUT]) < 0 ||
        py_call_view_out(&c, COUNT_PLACE, v[COUNT]) < 0 ||
        py_call_view_out(&c, REST_PLACE, given_rest) < 0 ||
        py_call_device(&c, v[DEVICE], v[STREAM]) < 0 || py_call_stage_inputs(&c) < 0)
        goto done;
    params.type = indices ? CUBC_I64 : c.in[0].type;
    if (prepare(&c, v, params.type) < 0 || py_call_workspace(&c, v[WORKSPACE]) < 0) goto done;
    params.n = c.in[0].n;
    params.in = indices ? NULL : c.in[0].data;
    if (!params.predicate && c.in_count > !indices) {
        params.mask = c.in[!indices].data;
        params.mask_type = c.in[!indices].type;
    }
    params.out = py_call_out_data(&c, OUT_PLACE);
    params.count = py_call_out_data(&c, COUNT_PLACE);
    params.rest = rest ? py_call_out_data(&c, REST_PLACE) : NULL;
    cubc_status st = select_problem(&params, &p);
    if (!st) st = py_call_run(&c, &p);
    value = st ? py_raise(st) : results(&c, rest);
done:
    py_call_end(&c);
    return value;
}
