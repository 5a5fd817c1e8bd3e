// cubc.lattice's solver: fields and an operator's numbers on their way to cubc_solve.
#include "python/py_binding.h"
#include "python/py_call.h"
#include "python/py_module.h"
#include "python/py_types.h"

#include <string.h>

enum { LINKS, SOURCE }; // inputs; then the optional ones

typedef struct arguments { // borrowed
    PyObject *links, *clover, *b, *x0, *out, *extents, *device, *stream, *precise, *sloppy, *shifts;
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

static int view_input(py_call *c, PyObject *object, const char *name)
{
    return py_view_get(object, name, false, NULL, py_call_input(c));
}

// x0 comes last.
static const py_view *guess_of(const py_call *c)
{
    return &c->in[c->in_count - 1];
}

static int view_inputs(py_call *c, const arguments *a)
{
    if (view_input(c, a->links, "the links") < 0 || view_input(c, a->b, "b") < 0 ||
        (a->clover && view_input(c, a->clover, "the clover term") < 0) ||
        (a->x0 && view_input(c, a->x0, "x0") < 0))
        return -1;
    if (!a->x0) return 0;
    const py_view *b = &c->in[SOURCE], *x0 = guess_of(c);
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
        PyErr_SetString(PyExc_ValueError, "b has too many dimensions");
        return -1;
    }
    memcpy(shape + more, b->shape, (size_t)b->ndim * sizeof *shape);
    return py_call_prepare_out(c, 0, "solve", b->type, b->ndim + more, shape);
}

static int prepare(py_call *c, arguments *a, cubc_operator *op, cubc_solve_params *p)
{
    const py_view *b = &c->in[SOURCE];
    if (!PyArg_ParseTuple(a->extents, "iiii", &op->lx, &op->ly, &op->lz, &op->lt) ||
        py_dtype(a->precise, &p->precise) < 0 || py_dtype(a->sloppy, &p->sloppy) < 0 ||
        py_call_view_out(c, 0, a->out) < 0 || view_inputs(c, a) < 0 ||
        parts_of(b, &p->type, &p->n) < 0 || py_call_device(c, a->device, a->stream) < 0 ||
        py_call_stage_inputs(c) < 0 || take_shifts(a, p) < 0 || prepare_out(c, p) < 0)
        return -1;
    if (c->out[0].view.type != b->type) {
        PyErr_SetString(PyExc_TypeError, "out must have the dtype of b");
        return -1;
    }
    op->links = c->in[LINKS].data;
    op->links_n = c->in[LINKS].n;
    op->type = c->in[LINKS].type;
    if (a->clover) {
        const py_view *clover = &c->in[SOURCE + 1];
        op->clover = clover->data;
        op->clover_n = clover->n;
        op->clover_type = clover->type;
    }
    p->op = op;
    p->b = b->data;
    p->x = py_call_out_data(c, 0);
    p->guess = a->x0 != NULL;
    return 0;
}

static cubc_status run(py_call *c, const cubc_solve_params *p, cubc_solve_info *info)
{
    const py_view *out = &c->out[0].view;
    size_t bytes = out->n * cubc_type_size(out->type);
    if (p->guess && p->shift_count == 0 && guess_of(c)->data != p->x) // shifts take no guess
        TRY(cubc_copy(c->device, p->x, guess_of(c)->data, bytes, c->stream));
    TRY(cubc_solve(c->device, p, info, c->stream));
    if (c->out[0].staged) TRY(cubc_copy(c->device, out->data, p->x, bytes, c->stream));
    return CUBC_OK;
}

static PyObject *info_list(const cubc_solve_info *info, uint64_t count)
{
    PyObject *list = PyList_New(0);
    for (uint64_t k = 0; list && k < count; k++) {
        PyObject *one = Py_BuildValue("(OsKKdddd)", info[k].converged ? Py_True : Py_False,
                                      info[k].reason, (unsigned long long)info[k].iterations,
                                      (unsigned long long)info[k].updates, info[k].residual,
                                      info[k].seconds, info[k].gflops, info[k].compile_seconds);
        int failed = one ? PyList_Append(list, one) : -1;
        Py_XDECREF(one);
        if (failed) Py_CLEAR(list);
    }
    return list;
}

static PyObject *solve(py_call *c, const cubc_solve_params *p)
{
    uint64_t sites =
        (uint64_t)p->op->lx * (uint64_t)p->op->ly * (uint64_t)p->op->lz * (uint64_t)p->op->lt;
    uint64_t most = p->n / (24 * (sites ? sites : 1)) + 1; // right-hand sides; the core checks
    uint64_t shifts = p->shift_count ? (uint64_t)p->shift_count : 1;
    cubc_solve_info *info = mem_zalloc(most * shifts, sizeof *info);
    cubc_status st = info ? CUBC_OK : CUBC_NO_MEMORY;
    PyObject *result = NULL;
    Py_BEGIN_ALLOW_THREADS
    if (!st) st = run(c, p, info);
    Py_END_ALLOW_THREADS
    if (!st) {
        PyObject *list = info_list(info, (most - 1) * shifts);
        if (list) result = Py_BuildValue("(NN)", py_call_result(c, 0, false), list);
    }
    mem_free(info);
    return st ? py_raise(st) : result;
}

static PyObject *lattice_solve(PyObject *self, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"links",      "b",      "x0",          "out",          "extents",
                            "device",     "stream", "reconstruct", "antiperiodic", "temporal_gauge",
                            "anisotropy", "kappa",  "kind",        "mu",           "clover",
                            "solver",     "tol",    "maxiter",     "precise",      "sloppy",
                            "even_odd",   "delta",  "order",       "shifts",       NULL};
    arguments a = {0};
    cubc_operator op = {0};
    cubc_solve_params p = {0};
    unsigned long long iterations;
    int kind, order;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOOOOOippddidOsdKOOpdiO:lattice_solve",
                                     names, &a.links, &a.b, &a.x0, &a.out, &a.extents, &a.device,
                                     &a.stream, &op.reconstruct, &op.antiperiodic,
                                     &op.temporal_gauge, &op.anisotropy, &op.kappa, &kind, &op.mu,
                                     &a.clover, &p.solver, &p.tolerance, &iterations, &a.precise,
                                     &a.sloppy, &p.even_odd, &p.delta, &order, &a.shifts) ||
        py_binding_refuse(PyExc_ValueError, "a solve cannot be bound") < 0)
        return NULL;
    PyObject **optional[] = {&a.clover, &a.x0, &a.out, &a.device, &a.stream, &a.shifts};
    for (size_t k = 0; k < COUNT_OF(optional); k++)
        if (*optional[k] == Py_None) *optional[k] = NULL;
    op.kind = (cubc_operator_kind)kind;
    p.iterations = iterations;
    p.order = (cubc_field_order)order;
    py_call c;
    py_call_begin(&c);
    PyObject *result = prepare(&c, &a, &op, &p) < 0 ? NULL : solve(&c, &p);
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
