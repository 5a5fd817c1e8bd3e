// Functions of cubc.tuner: declared benchmarks and spaces, policies, compilation.
#include "python/py_tuner.h"
#include "python/py_bundle.h"
#include "python/py_device.h"
#include "python/py_module.h"

#include "compile/policy.h"
#include "device/cpu/hostcc.h"
#include "measure/workload.h"
#include "python/py_workload.h"
#include "run/keys.h"
#include "run/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- declared benchmarks ------------------------------------------------------------------------
static int add_axis(PyObject *axes, const char *name, PyObject *values)
{
    int failed = !values || PyDict_SetItemString(axes, name, values) < 0;
    Py_XDECREF(values);
    return failed ? -1 : 0;
}

static PyObject *list_of(const benchmark_axis *axis)
{
    PyObject *values = PyList_New(axis->count);
    for (int i = 0; values && i < axis->count; i++)
        PyList_SetItem(values, i, PyLong_FromLong(axis->values[i]));
    return values;
}

// Elements come last: they are what a search varies fastest.
static PyObject *axis_values(const algorithm *a, const benchmark *b)
{
    const char *const *names = algorithm_axes(a);
    int first = algorithm_has_elements(a);
    PyObject *axes = PyDict_New(), *types = PyList_New(b->type_count);
    for (int i = 0; types && i < b->type_count; i++)
        PyList_SetItem(types, i, PyUnicode_FromString(cubc_type_name(b->types[i])));
    int failed = !axes || add_axis(axes, "T{ct}", types) < 0;
    for (int k = first; !failed && names[k]; k++)
        if (b->axes[k].count) failed = add_axis(axes, names[k], list_of(&b->axes[k])) < 0;
    if (!failed && first) failed = add_axis(axes, PY_ELEMENTS, list_of(&b->axes[0])) < 0;
    if (failed) Py_CLEAR(axes);
    return axes;
}

static PyObject *benchmarks(PyObject *self, PyObject *unused)
{
    PyObject *all = PyDict_New();
    (void)self, (void)unused;
    for (int a = 0; all && algorithm_list[a]; a++)
        for (int j = 0; j < algorithm_list[a]->benchmark_count; j++) {
            const benchmark *b = &algorithm_list[a]->benchmarks[j];
            PyObject *axes = axis_values(algorithm_list[a], b);
            int failed = !axes || PyDict_SetItemString(all, b->name, axes) < 0;
            Py_XDECREF(axes);
            if (failed) {
                Py_DECREF(all);
                return NULL;
            }
        }
    return all;
}

// A problem for a benchmark and {"T{ct}": "F32"}: enough to compile for, not to run. rt: its
// run-time workload; NULL or None: none in particular.
static int problem_from(const char *name, PyObject *ct, PyObject *rt, problem *out)
{
    uint64_t at[POLICY_AXES], keys[KEY_AXES];
    cubc_type type;
    if (py_workload_axes(name, ct, rt, &type, at, keys) < 0) return -1;
    cubc_status st = workload_problem_at(name, type, at, out);
    if (st) py_raise(st);
    return st ? -1 : 0;
}

// The values of a parameter: a range, or a tuple of numbers or of names.
static PyObject *values_of(const parameter *p)
{
    if (p->kind == VALUE_RANGE)
        return PyObject_CallFunction((PyObject *)&PyRange_Type, "iii", p->start, p->end + 1,
                                     p->step);
    PyObject *tuple = PyTuple_New(p->count);
    for (int k = 0; tuple && k < p->count; k++) {
        int length;
        const char *item = space_item(p, k, &length);
        PyObject *value = p->kind == VALUE_NAMES ? PyUnicode_FromStringAndSize(item, length)
                                                 : PyLong_FromLong(strtol(item, NULL, 10));
        if (value)
            PyTuple_SetItem(tuple, k, value);
        else
            Py_CLEAR(tuple);
    }
    return tuple;
}

PyObject *py_parameters(const space *s)
{
    PyObject *list = PyList_New(s->count);
    for (int i = 0; list && i < s->count; i++) {
        const parameter *p = &s->parameters[i];
        PyObject *values = values_of(p);
        PyObject *row = values ? Py_BuildValue("(ssN)", p->macro, p->label, values) : NULL;
        if (row)
            PyList_SetItem(list, i, row);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *parameters(PyObject *self, PyObject *args)
{
    const char *name, *device = NULL, *arch = "cpu";
    const algorithm *a;
    const benchmark *b;
    cubc_device *opened = NULL;
    space s;
    (void)self;
    if (!PyArg_ParseTuple(args, "s|z:parameters", &name, &device)) return NULL;
    cubc_status st = benchmark_find(name, &a, &b);
    if (!st && device && strncmp(device, "sm_", 3) == 0) {
        arch = device;
    } else if (!st) {
        st = py_device_open(device, &opened);
        if (!st) arch = opened->info.arch;
    }
    if (!st) st = algorithm_space(a, arch, &s);
    if (opened) cubc_device_close(opened);
    if (st) return py_raise(st);
    return py_parameters(&s);
}

static PyObject *current_label(PyObject *self, PyObject *args)
{
    const char *name, *arch, *label;
    const algorithm *a;
    const benchmark *b;
    char now[MAX_LABEL];
    space s;
    variant v;
    (void)self;
    if (!PyArg_ParseTuple(args, "sss:current_label", &name, &arch, &label)) return NULL;
    if (benchmark_find(name, &a, &b) || algorithm_space(a, arch, &s) ||
        variant_parse(&s, label, &v)) {
        error_clear();
        return PyUnicode_FromString(label);
    }
    variant_label(&s, &v, now);
    return PyUnicode_FromString(now);
}

// ---- policies -----------------------------------------------------------------------------------
static PyObject *archs(PyObject *self, PyObject *unused)
{
    PyObject *all = PyList_New(0);
    const char *arch;
    (void)self, (void)unused;
    for (size_t i = 0; all && (arch = policy_arch(i)); i++) {
        PyObject *name = PyUnicode_FromString(arch);
        int failed = !name || PyList_Append(all, name) < 0;
        Py_XDECREF(name);
        if (failed) Py_CLEAR(all);
    }
    return all;
}

static PyObject *key_axis_names(PyObject *self, PyObject *benchmark_object)
{
    const char *name = PyUnicode_AsUTF8AndSize(benchmark_object, NULL);
    const algorithm *a;
    const benchmark *b;
    (void)self;
    if (!name) return NULL;
    cubc_status st = benchmark_find(name, &a, &b);
    if (st) return py_raise(st);
    if (!keys_are_of(a, b->name)) return PyTuple_New(0);
    return Py_BuildValue("(ssss)", key_axes[0], key_axes[1], key_axes[2], key_axes[3]);
}

// The row of policies for a benchmark, a compile-time workload, an architecture and, where it is
// given, a run-time workload. release with policy_list_free. -1: exception.
static int find_row(PyObject *args, const char *format, bool base, problem *p, policy_list *rows)
{
    const char *name, *arch;
    PyObject *ct, *rt = Py_None;
    uint64_t values[POLICY_AXES];
    if (!PyArg_ParseTuple(args, format, &name, &ct, &arch, &rt) ||
        problem_from(name, ct, rt, p) < 0)
        return -1;
    cubc_status st = algorithm_policies(p, arch, rows);
    if (st) {
        py_raise(st);
        return -1;
    }
    problem_axis_values(p, values);
    return policy_choose(rows, rt == Py_None ? NULL : values, base);
}

static PyObject *policy_label(PyObject *args, const char *format, bool base)
{
    problem p;
    policy_list rows;
    int row = find_row(args, format, base, &p, &rows);
    if (row < 0) return NULL;
    PyObject *label = PyUnicode_FromString(rows.rows[row].label);
    policy_list_free(&rows);
    return label;
}

static PyObject *base(PyObject *self, PyObject *args)
{
    (void)self;
    return policy_label(args, "sOs|O:base", true);
}

static PyObject *current(PyObject *self, PyObject *args)
{
    (void)self;
    return policy_label(args, "sOs|O:policy", false);
}

// Lists the labels of some rows, each once. NULL: exception.
static PyObject *labels_of(const policy_list *rows, const int *order, int count)
{
    PyObject *labels = PyList_New(0);
    for (int k = 0; labels && k < count; k++) {
        PyObject *label = PyUnicode_FromString(rows->rows[order[k]].label);
        int there = label ? PySequence_Contains(labels, label) : -1;
        if (there == 0) there = PyList_Append(labels, label);
        Py_XDECREF(label);
        if (there < 0) Py_CLEAR(labels);
    }
    return labels;
}

static PyObject *shipped(PyObject *self, PyObject *args)
{
    const char *name, *arch;
    PyObject *ct, *rt;
    problem p;
    policy_list rows;
    uint64_t values[POLICY_AXES];
    (void)self;
    if (!PyArg_ParseTuple(args, "sOsO:shipped", &name, &ct, &arch, &rt) ||
        problem_from(name, ct, rt, &p) < 0)
        return NULL;
    cubc_status st = algorithm_policies(&p, arch, &rows);
    if (st) return py_raise(st);
    problem_axis_values(&p, values);
    int *order = mem_alloc((size_t)rows.count, sizeof *order);
    PyObject *labels = order ? labels_of(&rows, order, policy_by_distance(&rows, values, order))
                             : PyErr_NoMemory();
    mem_free(order);
    policy_list_free(&rows);
    return labels;
}

static PyObject *base_range(PyObject *self, PyObject *args)
{
    problem p;
    policy_list rows;
    text ranges = {0};
    int row = find_row(args, "sOs|O:base_range", true, &p, &rows);
    (void)self;
    if (row < 0) return NULL;
    policy_range_text(&rows.rows[row], algorithm_axes(p.algorithm), &ranges);
    policy_list_free(&rows);
    cubc_status st = text_done(&ranges);
    PyObject *found = st ? py_raise(st) : PyUnicode_FromString(ranges.data ? ranges.data : "");
    text_free(&ranges);
    return found;
}

static PyObject *use_policy(PyObject *self, PyObject *args)
{
    const char *name, *arch, *label;
    char resolved[MAX_LABEL];
    PyObject *ct, *rt = Py_None;
    uint64_t values[POLICY_AXES];
    problem p;
    space s;
    variant v;
    (void)self;
    if (!PyArg_ParseTuple(args, "sOss|O:use_policy", &name, &ct, &arch, &label, &rt) ||
        problem_from(name, ct, rt, &p) < 0)
        return NULL;
    cubc_status st = algorithm_variant(&p, arch, label, &s, &v, resolved);
    problem_axis_values(&p, values);
    if (!st)
        st = policy_overlay(arch, name, cubc_type_name((cubc_type)p.type),
                            rt == Py_None ? NULL : values, resolved);
    if (st) return py_raise(st);
    Py_RETURN_NONE;
}

static PyObject *clear_policies(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    policy_clear();
    Py_RETURN_NONE;
}

// ---- variants -----------------------------------------------------------------------------------
static PyObject *variant_invalid(PyObject *self, PyObject *args)
{
    const char *name, *arch, *label;
    char resolved[MAX_LABEL];
    PyObject *ct, *rt = NULL;
    problem p;
    space s;
    variant v;
    (void)self;
    if (!PyArg_ParseTuple(args, "sOss|O:variant_invalid", &name, &ct, &arch, &label, &rt) ||
        problem_from(name, ct, rt, &p) < 0)
        return NULL;
    cubc_status st = algorithm_variant(&p, arch, label, &s, &v, resolved);
    if (st == CUBC_NO_RESOURCES) return PyUnicode_FromString(cubc_error_message());
    if (st) return py_raise(st);
    Py_RETURN_NONE;
}

static PyObject *source_hash(PyObject *self, PyObject *args)
{
    const char *name, *arch;
    char resolved[MAX_LABEL], hash[65];
    PyObject *ct;
    problem p;
    space s;
    variant v;
    text source = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "sOs:source_hash", &name, &ct, &arch) ||
        problem_from(name, ct, NULL, &p) < 0)
        return NULL;
    cubc_status st = algorithm_variant(&p, arch, "base", &s, &v, resolved);
    if (!st) st = algorithm_source(&p, arch, &s, &v, &source, hash);
    text_free(&source);
    return st ? py_raise(st) : PyUnicode_FromString(hash);
}

// The code of a variant, from the cache if it is there, and the seconds that compiling it took. 0,
// or -1 with an exception.
static int compiled(PyObject *args, const char *format, binary *code, double *seconds)
{
    const char *name, *arch, *label;
    char resolved[MAX_LABEL], hash[65], title[MAX_LABEL + 64];
    double deadline = 0;
    PyObject *ct, *rt = NULL, *object = NULL;
    problem p;
    space s;
    variant v;
    text source = {0};
    Py_buffer abandon = {0};
    py_bundle bundle;
    if (!PyArg_ParseTuple(args, format, &name, &ct, &arch, &label, &deadline, &abandon, &rt,
                          &object))
        return -1;
    if (problem_from(name, ct, rt, &p) < 0 || py_bundle_begin(object, &bundle) < 0) {
        PyBuffer_Release(&abandon);
        return -1;
    }
    cubc_status st = algorithm_variant(&p, arch, label, &s, &v, resolved);
    if (!st) st = algorithm_source(&p, arch, &s, &v, &source, hash);
    if (!device_is_cpu(arch)) py_device_find_cuda();
    if (!st) {
        snprintf(title, sizeof title, "%s %s", name, resolved);
        Py_BEGIN_ALLOW_THREADS
        const volatile char *before = interrupt_watch(abandon.len ? abandon.buf : NULL);
        st = variant_compile(arch, source.data, title, deadline, &bundle.memory, code, seconds);
        interrupt_watch(before);
        Py_END_ALLOW_THREADS
    }
    text_free(&source);
    PyBuffer_Release(&abandon);
    int failed = py_bundle_end(&bundle);
    if (st) py_raise(st);
    return st ? -1 : failed;
}

static PyObject *compile_variant(PyObject *self, PyObject *args)
{
    binary code = {0};
    double seconds = 0;
    int failed = compiled(args, "sOss|dy*OO:compile", &code, &seconds);
    (void)self;
    binary_free(&code);
    return failed ? NULL : PyFloat_FromDouble(seconds);
}

static PyObject *variant_code(PyObject *self, PyObject *args)
{
    binary code = {0};
    double seconds = 0;
    int failed = compiled(args, "sOss|dy*O:code", &code, &seconds);
    PyObject *bytes =
        failed ? NULL : PyBytes_FromStringAndSize((const char *)code.data, (Py_ssize_t)code.size);
    (void)self;
    binary_free(&code);
    return bytes;
}

static PyObject *compiler(PyObject *self, PyObject *arch_object)
{
    const char *arch = PyUnicode_AsUTF8AndSize(arch_object, NULL);
    char name[96];
    (void)self;
    if (!arch) return NULL;
    if (!device_is_cpu(arch)) py_device_find_cuda();
    cubc_status st = device_api_of_arch(arch)->compiler(name, sizeof name);
    return st ? py_raise(st) : PyUnicode_FromString(name);
}

static PyObject *traffic(PyObject *self, PyObject *args)
{
    const char *name;
    PyObject *ct, *rt = NULL;
    problem p;
    (void)self;
    if (!PyArg_ParseTuple(args, "sO|O:traffic", &name, &ct, &rt) ||
        problem_from(name, ct, rt, &p) < 0)
        return NULL;
    return PyLong_FromDouble(p.algorithm->traffic(&p));
}

static PyObject *compilers_started(PyObject *self, PyObject *args)
{
    (void)self, (void)args;
    return PyLong_FromUnsignedLong(hostcc_started());
}

static PyObject *compiling(PyObject *self, PyObject *args)
{
    (void)self, (void)args;
    return PyLong_FromUnsignedLong(variant_compiling());
}

static PyMethodDef methods[] = {
    {"benchmarks", benchmarks, METH_NOARGS, "Declared benchmarks and their axes."},
    {"key_axes", key_axis_names, METH_O, "Axes that say what a benchmark's keys are like."},
    {"parameters", parameters, METH_VARARGS, "The parameter space of a benchmark."},
    {"archs", archs, METH_NOARGS, "Architectures that have shipped policies."},
    {"current_label", current_label, METH_VARARGS, "Label of a variant of an earlier version."},
    {"base", base, METH_VARARGS, "Label of the shipped policy."},
    {"policy", current, METH_VARARGS, "Label that the next call runs."},
    {"shipped", shipped, METH_VARARGS, "Labels of all shipped policies, the nearest first."},
    {"base_range", base_range, METH_VARARGS, "Calls that the shipped policy is for, as a text."},
    {"use_policy", use_policy, METH_VARARGS, "Overlay a policy."},
    {"clear_policies", clear_policies, METH_NOARGS, "Drop all overlaid policies."},
    {"variant_invalid", variant_invalid, METH_VARARGS, "Why a variant makes no sense, or None."},
    {"source_hash", source_hash, METH_VARARGS, "SHA-256 of source and compile-time workload."},
    {"compile", compile_variant, METH_VARARGS, "Compile a variant into the cache."},
    {"code", variant_code, METH_VARARGS, "Machine code of a variant."},
    {"compiler", compiler, METH_O, "Compiler of this host for an architecture."},
    {"traffic", traffic, METH_VARARGS, "Compulsory traffic of a workload in bytes."},
    {"compiling", compiling, METH_NOARGS, "Variants that are being compiled."},
    {"compilers_started", compilers_started, METH_NOARGS, "Host compilers started until now."},
    {NULL, NULL, 0, NULL}};

int py_tuner_setup(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}
