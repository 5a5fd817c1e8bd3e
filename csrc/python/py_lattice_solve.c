// cubc.lattice's solver: fields and an operator's parameters on their way to cubc_solve. The table
// of fields of an operator's row (operator_row.h) says what its parameters are, so that they are
// filled in here from a dict by name.
#include "python/py_array.h"
#include "python/py_binding.h"
#include "python/py_call.h"
#include "python/py_fields.h"
#include "python/py_module.h"
#include "python/py_ranks.h"
#include "python/py_types.h"

#include "lattice/solver/operator_row.h"

#include <stdio.h>
#include <string.h>

enum { SOURCE, GUESS }; // inputs; then the operator's

typedef struct arguments { // borrowed
    PyObject *parameters, *b, *x0, *out, *extents, *stream, *precise, *sloppy, *shifts, *ranks,
        *schwarz_type;
    const operator_row *row;
    PyObject *values[MAX_FIELDS]; // of the row's fields; NULL: not given
    double shift[CUBC_MOST_SHIFTS];
} arguments;

// The type and the count of the parts of complex numbers.
static int parts_of(const py_view *view, cubc_type *type, uint64_t *n)
{
    if (view->type != CUBC_C64 && view->type != CUBC_C128) {
        PyErr_Format(PyExc_TypeError, "b is of %s: expected complex64 or complex128",
                     py_type_name(view->type));
        return -1;
    }
    *type = view->type == CUBC_C128 ? CUBC_F64 : CUBC_F32;
    *n = 2 * view->n;
    return 0;
}

// ---- the operator -------------------------------------------------------------------------------
static int find_parameters(arguments *a)
{
    char owner[64];
    snprintf(owner, sizeof owner, "the operator %s", a->row->name);
    return py_fields_find(a->row->fields, a->row->field_count, owner, a->parameters, a->values);
}

static void put_array(const field *f, const py_view *view, char *params)
{
    memcpy(params + f->at, &view->data, sizeof view->data);
    memcpy(params + f->type_at, &view->type, sizeof view->type);
    memcpy(params + f->count_at, &view->n, sizeof view->n);
}

static int fill_parameters(const py_call *c, const arguments *a, cubc_operator *op)
{
    int next = GUESS + 1;
    for (int k = 0; k < a->row->field_count; k++) {
        const field *f = &a->row->fields[k];
        if (!a->values[k]) continue;
        if (f->kind == FIELD_INPUT)
            put_array(f, &c->in[next++], (char *)&op->of);
        else if (py_field_put(f, a->values[k], &op->of) < 0)
            return -1;
    }
    return 0;
}

// ---- arrays -------------------------------------------------------------------------------------
static int view_input(py_call *c, PyObject *object, const char *name)
{
    return py_view_get(object, name, false, NULL, py_call_input(c));
}

// Takes b in the place of x0 where none is given.
static int view_inputs(py_call *c, const arguments *a)
{
    if (view_input(c, a->b, "b") < 0 || view_input(c, a->x0 ? a->x0 : a->b, "x0") < 0) return -1;
    for (int f = 0; f < a->row->field_count; f++)
        if (a->row->fields[f].kind == FIELD_INPUT && a->values[f] &&
            view_input(c, a->values[f], a->row->fields[f].name) < 0)
            return -1;
    const py_view *b = &c->in[SOURCE], *x0 = &c->in[GUESS];
    if (x0->type == b->type && py_call_same_shape(x0, b->ndim, b->shape)) return 0;
    PyErr_SetString(PyExc_ValueError, "x0 must have the shape and dtype of b");
    return -1;
}

static int take_shifts(arguments *a, cubc_solve_params *p)
{
    Py_ssize_t count = a->shifts ? PySequence_Size(a->shifts) : 0;
    if (count < 0) return -1;
    if (count > CUBC_MOST_SHIFTS) {
        PyErr_Format(PyExc_ValueError, "%zd shifts: at most %d are solved for at once", count,
                     CUBC_MOST_SHIFTS);
        return -1;
    }
    for (Py_ssize_t k = 0; k < count; k++) {
        PyObject *item = PySequence_GetItem(a->shifts, k);
        a->shift[k] = item ? PyFloat_AsDouble(item) : -1;
        Py_XDECREF(item);
        if (PyErr_Occurred()) return -1;
    }
    p->shifts = a->shifts ? a->shift : NULL;
    p->shift_count = (int)count;
    return 0;
}

// The output has the shape of b, with a first axis of the shifts.
static int prepare_out(py_call *c, const cubc_solve_params *p)
{
    const py_view *b = &c->in[SOURCE];
    Py_ssize_t shape[VIEW_DIMENSIONS + 1] = {p->shift_count};
    int more = p->shift_count > 0;
    if (b->ndim + more > VIEW_DIMENSIONS) {
        PyErr_Format(PyExc_ValueError,
                     "b has %d dimensions, and shifts add one: at most %d are possible; reshape "
                     "the axes of sources",
                     b->ndim, VIEW_DIMENSIONS);
        return -1;
    }
    memcpy(shape + more, b->shape, (size_t)b->ndim * sizeof *shape);
    return py_call_prepare_out(c, 0, "solve", b->type, b->ndim + more, shape);
}

static bool overlap(const py_view *a, const py_view *b)
{
    uintptr_t x = (uintptr_t)a->data, y = (uintptr_t)b->data;
    return x < y + b->n * cubc_type_size(b->type) && y < x + a->n * cubc_type_size(a->type);
}

// x0 is copied to x before b is read: an x that lies on b, or on a part of x0, has memory of its
// own until the end.
static int stage_out(py_call *c)
{
    py_output *out = &c->out[0];
    const py_view *x0 = &c->in[GUESS];
    bool on_b = overlap(&out->view, &c->in[SOURCE]),
         on_part = x0->data != out->view.data && overlap(&out->view, x0);
    if (out->staged || (!on_b && !on_part)) return 0;
    out->staged =
        py_array_new(c->device, out->view.type, out->view.ndim, out->view.shape, c->stream);
    return out->staged ? 0 : -1;
}

static int prepare(py_call *c, arguments *a, cubc_operator *op, cubc_solve_params *p)
{
    const py_view *b = &c->in[SOURCE];
    if (!PyArg_ParseTuple(a->extents, "iiii", &op->lx, &op->ly, &op->lz, &op->lt) ||
        (a->ranks && py_ranks(a->ranks, &op->ranks) < 0) || py_dtype(a->precise, &p->precise) < 0 ||
        py_dtype(a->sloppy, &p->sloppy) < 0 || py_dtype(a->schwarz_type, &p->schwarz_type) < 0 ||
        py_call_view_out(c, 0, a->out) < 0 || find_parameters(a) < 0 || view_inputs(c, a) < 0 ||
        parts_of(b, &p->type, &p->n) < 0 || py_call_device(c, NULL, a->stream) < 0 ||
        py_call_stage_inputs(c) < 0 || fill_parameters(c, a, op) < 0 || take_shifts(a, p) < 0 ||
        prepare_out(c, p) < 0 || (a->x0 && p->shift_count == 0 && stage_out(c) < 0))
        return -1;
    if (c->out[0].view.type != b->type) {
        PyErr_SetString(PyExc_TypeError, "out must have the dtype of b");
        return -1;
    }
    p->op = op;
    p->b = b->data;
    p->x = py_call_out_data(c, 0);
    p->guess = a->x0 != NULL;
    return 0;
}

static cubc_status solve(py_call *c, const cubc_solve_params *p, cubc_solve_info *info)
{
    const py_view *out = &c->out[0].view;
    size_t bytes = out->n * cubc_type_size(out->type);
    if (p->guess && p->shift_count == 0 && c->in[GUESS].data != p->x) // shifts take no guess
        TRY(cubc_copy(c->device, p->x, c->in[GUESS].data, bytes, c->stream));
    TRY(cubc_solve(c->device, p, info, c->stream));
    if (!c->out[0].staged) return CUBC_OK;
    TRY(cubc_copy(c->device, out->data, p->x, bytes, c->stream));
    return cubc_synchronize(c->device, c->stream);
}

static PyObject *info_list(const cubc_solve_info *info, uint64_t count)
{
    PyObject *list = PyList_New(0);
    for (uint64_t k = 0; list && k < count; k++) {
        PyObject *one = Py_BuildValue("(OsKKddddK)", info[k].converged ? Py_True : Py_False,
                                      info[k].reason, (unsigned long long)info[k].iterations,
                                      (unsigned long long)info[k].updates, info[k].residual,
                                      info[k].seconds, info[k].gflops, info[k].compile_seconds,
                                      (unsigned long long)info[k].sums);
        int failed = one ? PyList_Append(list, one) : -1;
        Py_XDECREF(one);
        if (failed) Py_CLEAR(list);
    }
    return list;
}

// The solution and its reports.
static PyObject *solution(py_call *c, const cubc_solve_params *p)
{
    uint64_t count = 0;
    cubc_status st = cubc_solve_reports(p, &count);
    cubc_solve_info *info = st ? NULL : mem_zalloc(count, sizeof *info);
    if (!st && !info) st = CUBC_NO_MEMORY;
    PyObject *result = NULL;
    Py_BEGIN_ALLOW_THREADS
    if (!st) st = solve(c, p, info);
    Py_END_ALLOW_THREADS
    if (!st && py_has_notes()) st = py_say_notes();
    if (!st) {
        PyObject *list = info_list(info, count);
        if (list) result = Py_BuildValue("(NN)", py_call_result(c, 0, false), list);
    }
    mem_free(info);
    return st ? py_raise(st) : result;
}

static PyObject *lattice_solve(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"operator", "parameters",   "b",     "x0",      "out",     "extents",
                            "stream",   "solver",       "tol",   "maxiter", "precise", "sloppy",
                            "sites",    "normal",       "delta", "order",   "shifts",  "ranks",
                            "schwarz",  "schwarz_type", NULL};
    arguments a = {0};
    cubc_operator op = {0};
    cubc_solve_params p = {0};
    unsigned long long iterations;
    const char *name;
    int order, sites;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "sO!OOOOOsdKOOipdiOOiO:lattice_solve", names,
                                     &name, &PyDict_Type, &a.parameters, &a.b, &a.x0, &a.out,
                                     &a.extents, &a.stream, &p.solver, &p.tolerance, &iterations,
                                     &a.precise, &a.sloppy, &sites, &p.normal, &p.delta, &order,
                                     &a.shifts, &a.ranks, &p.schwarz, &a.schwarz_type) ||
        py_binding_refuse(PyExc_ValueError, "a solve cannot be bound: the host looks at its "
                                            "residual, and repeats recorded rounds itself; bind "
                                            "the operator, as cubc.bind(operator, x, out=y)") < 0)
        return NULL;
    cubc_status known = operator_row_named(name, &op.kind, &a.row);
    if (known) return py_raise(known);
    PyObject **optional[] = {&a.x0, &a.out, &a.stream, &a.shifts, &a.ranks};
    for (size_t k = 0; k < COUNT_OF(optional); k++)
        if (*optional[k] == Py_None) *optional[k] = NULL;
    p.iterations = iterations;
    p.order = (cubc_field_order)order;
    p.sites = (cubc_solve_sites)sites;
    py_call c;
    py_call_begin(&c);
    PyObject *result = prepare(&c, &a, &op, &p) < 0 ? NULL : solution(&c, &p);
    py_call_end(&c);
    return result;
}

static PyMethodDef methods[] = {{"lattice_solve", (PyCFunction)(void (*)(void))lattice_solve,
                                 METH_VARARGS | METH_KEYWORDS,
                                 "Solve M x = b: x, and a report on each right-hand side."},
                                {NULL, NULL, 0, NULL}};

int py_lattice_solve_setup(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
