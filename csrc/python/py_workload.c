// Workload and Variant: what a search measures, as Python objects.
#include "python/py_workload.h"
#include "python/py_device.h"
#include "python/py_module.h"
#include "python/py_timing.h"

#include "measure/workload.h"
#include "run/keys.h"

#include <string.h>

static PyObject *workload_type, *variant_type;

typedef struct py_workload {
    PyObject_HEAD
    workload *workload;
} py_workload;

typedef struct py_variant {
    PyObject_HEAD
    PyObject *owner; // its py_workload, which must outlive it
    instance *instance;
} py_variant;

// ---- axes ---------------------------------------------------------------------------------------
// A value of a run-time axis, which is its exponent where the name says [pow2].
static int axis_value(PyObject *name, const char *text, PyObject *value, uint64_t *out)
{
    unsigned long long number = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred()) return -1;
    bool exponent = strstr(text, "[pow2]") != NULL;
    if (exponent && number > 40) {
        PyErr_Format(PyExc_ValueError, "%U=%llu: expected an exponent of 0 to 40", name, number);
        return -1;
    }
    *out = exponent ? (uint64_t)1 << number : number;
    return 0;
}

static bool is_name(const char *axis, const char *text, size_t length)
{
    return strlen(axis) == length && strncmp(axis, text, length) == 0;
}

// A place for a value of an axis; NULL: there is no such axis.
static uint64_t *find_axis(const algorithm *a, const benchmark *b, const char *text, uint64_t *at,
                           uint64_t *keys)
{
    const char *const *axes = algorithm_axes(a);
    size_t length = strcspn(text, "{[");
    for (int k = 0; axes[k]; k++)
        if (b->axes[k].count && is_name(axes[k], text, length)) return &at[k];
    for (int k = 0; keys_are_of(a, b->name) && k < KEY_AXES; k++)
        if (is_name(key_axes[k], text, length)) return &keys[k];
    return NULL;
}

static int run_time_axes(const algorithm *a, const benchmark *b, PyObject *rt, uint64_t *at,
                         uint64_t *keys)
{
    Py_ssize_t next = 0;
    PyObject *name, *value;
    while (PyDict_Next(rt, &next, &name, &value)) {
        const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
        uint64_t *values = text ? find_axis(a, b, text, at, keys) : NULL;
        if (!text) return -1;
        if (!values) {
            PyErr_Format(PyExc_ValueError, "%s has no run-time axis %U", b->name, name);
            return -1;
        }
        if (axis_value(name, text, value, values) < 0) return -1;
    }
    return 0;
}

int py_workload_axes(const char *name, PyObject *ct, PyObject *rt, cubc_type *type, uint64_t *at,
                     uint64_t *keys)
{
    const algorithm *a;
    const benchmark *b;
    cubc_status st = benchmark_find(name, &a, &b);
    if (st) {
        py_raise(st);
        return -1;
    }
    PyObject *value = PyDict_Check(ct) ? PyDict_GetItemString(ct, "T{ct}") : NULL;
    const char *text = value ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
    bool none = !rt || rt == Py_None;
    if (!text || PyDict_Size(ct) != 1 || !(none || PyDict_Check(rt))) {
        if (py_forget()) return -1;
        PyErr_Format(PyExc_ValueError, "%s: a workload is ct={'T{ct}': type} and rt={'%s': %s}",
                     name, algorithm_has_elements(a) ? PY_ELEMENTS : algorithm_axes(a)[0],
                     algorithm_has_elements(a) ? "exponent" : "number");
        return -1;
    }
    if ((st = type_from_name(text, type))) {
        py_raise(st);
        return -1;
    }
    for (int k = 0; k < POLICY_AXES; k++) // of what is left out
        at[k] = b->axes[k].count ? (uint64_t)b->axes[k].values[0] : 0;
    if (algorithm_has_elements(a)) at[0] = (uint64_t)1 << 20;
    memset(keys, 0, KEY_AXES * sizeof *keys);
    return none ? 0 : run_time_axes(a, b, rt, at, keys);
}

// ---- Workload -----------------------------------------------------------------------------------
static PyObject *workload_new(PyTypeObject *cls, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"benchmark", "ct", "rt", "device", "seed", NULL};
    const char *name;
    unsigned long long seed = 42;
    PyObject *ct, *rt, *device_name = NULL, *self = NULL;
    uint64_t at[POLICY_AXES], keys[KEY_AXES];
    cubc_device *device;
    cubc_type type;
    cubc_status st;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "sO!O!|OK:Workload", names, &name,
                                     &PyDict_Type, &ct, &PyDict_Type, &rt, &device_name, &seed))
        return NULL;
    if (py_workload_axes(name, ct, rt, &type, at, keys) < 0) return NULL;
    if ((st = py_device(device_name, &device))) return py_raise(st);
    self = py_allocate(cls);
    if (self) {
        workload **w = &((py_workload *)self)->workload;
        Py_BEGIN_ALLOW_THREADS
        st = workload_open(device, name, type, at, keys, seed, w);
        Py_END_ALLOW_THREADS
    }
    device_release(device);
    if (!self || !st) return self;
    Py_DECREF(self);
    return py_raise(st);
}

static void workload_dealloc(PyObject *self)
{
    workload *w = ((py_workload *)self)->workload;
    Py_BEGIN_ALLOW_THREADS
    workload_close(w);
    Py_END_ALLOW_THREADS
    py_release(self);
}

static PyObject *get_bytes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromDouble(workload_bytes(((py_workload *)self)->workload));
}

static PyObject *get_flops(PyObject *self, void *unused)
{
    (void)unused;
    return PyFloat_FromDouble(workload_flops(((py_workload *)self)->workload));
}

// Appends the addresses of the arrays that have memory to a list. 0, or -1 with an exception.
static int append_addresses(PyObject *list, const operand *arrays, int count)
{
    for (int k = 0; k < count; k++) {
        if (!arrays[k].data) continue;
        PyObject *address = PyLong_FromVoidPtr(arrays[k].data);
        int failed = address ? PyList_Append(list, address) : -1;
        Py_XDECREF(address);
        if (failed) return -1;
    }
    return 0;
}

static PyObject *get_pointers(PyObject *self, void *unused)
{
    const problem *p = workload_problem(((py_workload *)self)->workload);
    PyObject *in = PyList_New(0), *out = PyList_New(0);
    (void)unused;
    if (!in || !out || append_addresses(in, p->inputs, p->input_count) < 0 ||
        append_addresses(in, p->operands, p->operand_count) < 0 ||
        append_addresses(out, p->outputs, p->output_count) < 0) {
        Py_XDECREF(in);
        Py_XDECREF(out);
        return NULL;
    }
    return Py_BuildValue("(NN)", in, out);
}

static PyObject *workload_open_variant(PyObject *self, PyObject *label_object)
{
    const char *label = PyUnicode_AsUTF8AndSize(label_object, NULL);
    PyObject *variant = label ? py_allocate((PyTypeObject *)variant_type) : NULL;
    cubc_status st;
    if (!variant) return NULL;
    Py_BEGIN_ALLOW_THREADS
    st = workload_variant(((py_workload *)self)->workload, label,
                          &((py_variant *)variant)->instance);
    Py_END_ALLOW_THREADS
    if (st) {
        Py_DECREF(variant);
        return py_raise(st);
    }
    ((py_variant *)variant)->owner = Py_NewRef(self);
    return variant;
}

// A variant of this very workload.
static instance *own_variant(PyObject *self, PyObject *object)
{
    if (!Py_IS_TYPE(object, (PyTypeObject *)variant_type) ||
        ((py_variant *)object)->owner != self) {
        PyErr_SetString(PyExc_TypeError, "expected a variant of this workload");
        return NULL;
    }
    return ((py_variant *)object)->instance;
}

static PyObject *workload_check(PyObject *self, PyObject *variant)
{
    instance *i = own_variant(self, variant);
    uint64_t wrong;
    cubc_status st;
    if (!i) return NULL;
    Py_BEGIN_ALLOW_THREADS
    st = workload_verify(((py_workload *)self)->workload, i, &wrong);
    Py_END_ALLOW_THREADS
    return st ? py_raise(st) : PyLong_FromUnsignedLongLong(wrong);
}

static PyObject *workload_poison_outputs(PyObject *self, PyObject *unused)
{
    cubc_status st;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS
    st = workload_poison(((py_workload *)self)->workload);
    Py_END_ALLOW_THREADS
    if (st) return py_raise(st);
    Py_RETURN_NONE;
}

static PyObject *workload_wrong(PyObject *self, PyObject *unused)
{
    uint64_t wrong;
    cubc_status st;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS
    st = workload_compare(((py_workload *)self)->workload, &wrong);
    Py_END_ALLOW_THREADS
    return st ? py_raise(st) : PyLong_FromUnsignedLongLong(wrong);
}

// ---- measuring ----------------------------------------------------------------------------------
typedef struct queued {
    const workload *workload;
    instance *instance;
} queued;

static cubc_status queue(void *context, void *stream)
{
    const queued *q = context;
    return workload_queue(q->workload, q->instance, stream);
}

// A C function of somebody else's, int (*)(void *context, void *stream): 0 if the work was queued.
typedef struct foreign {
    int (*queue)(void *context, void *stream);
    void *context;
} foreign;

static cubc_status queue_foreign(void *context, void *stream)
{
    const foreign *f = context;
    int status = f->queue(f->context, stream);
    if (status) FAIL(CUBC_DEVICE_ERROR, "the reference's function returned %d", status);
    return CUBC_OK;
}

// A reference: a variant of this workload, or (function address, context address). 1 there is one,
// 0 none, -1 exception.
static int reference_work(PyObject *self, PyObject *object, queued *base, foreign *other,
                          timing_work *out)
{
    if (object == Py_None) return 0;
    if (PyTuple_Check(object)) {
        PyObject *function, *context;
        if (!PyArg_ParseTuple(object, "OO:reference", &function, &context)) return -1;
        void *address = PyLong_AsVoidPtr(function);
        memcpy(&other->queue, &address, sizeof address);
        other->context = PyLong_AsVoidPtr(context);
        *out = (timing_work){queue_foreign, other};
        return PyErr_Occurred() ? -1 : 1;
    }
    base->instance = own_variant(self, object);
    *out = (timing_work){queue, base};
    return base->instance ? 1 : -1;
}

static PyObject *workload_time(PyObject *self, PyObject *args, PyObject *keywords)
{
    workload *w = ((py_workload *)self)->workload;
    PyObject *variant, *reference = Py_None;
    timing_options options = timing_defaults(workload_device(w));
    if (py_timing_options(args, keywords, &variant, &reference, &options) < 0) return NULL;
    queued work = {w, own_variant(self, variant)}, base = {w, NULL};
    foreign other;
    timing_work of_variant = {queue, &work}, of_base;
    if (!work.instance) return NULL;
    int referenced = reference_work(self, reference, &base, &other, &of_base);
    if (referenced < 0) return NULL;
    return py_timing_measure(workload_device(w), &of_variant, referenced ? &of_base : NULL,
                             &options);
}

static PyObject *workload_hot(PyObject *self, PyObject *args)
{
    workload *w = ((py_workload *)self)->workload;
    PyObject *variant;
    double seconds = 0.1;
    timing_runs runs;
    cubc_status st;
    if (!PyArg_ParseTuple(args, "O|d:measure_hot", &variant, &seconds)) return NULL;
    queued work = {w, own_variant(self, variant)};
    if (!work.instance) return NULL;
    Py_BEGIN_ALLOW_THREADS
    st = timing_hot(workload_device(w), &(timing_work){queue, &work}, seconds, NULL, &runs);
    Py_END_ALLOW_THREADS
    return st ? py_raise(st) : Py_BuildValue("(did)", runs.mean_s, runs.count, runs.watts);
}

// ---- Variant ------------------------------------------------------------------------------------
static void variant_dealloc(PyObject *self)
{
    py_variant *p = (py_variant *)self;
    Py_BEGIN_ALLOW_THREADS
    instance_close(p->instance);
    Py_END_ALLOW_THREADS
    Py_XDECREF(p->owner);
    py_release(self);
}

static PyObject *variant_run(PyObject *self, PyObject *unused)
{
    py_variant *p = (py_variant *)self;
    cubc_status st;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS
    st = workload_queue(((py_workload *)p->owner)->workload, p->instance, NULL);
    Py_END_ALLOW_THREADS
    if (st) return py_raise(st);
    Py_RETURN_NONE;
}

static PyObject *get_label(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(((py_variant *)self)->instance->label);
}

static PyObject *get_info(PyObject *self, void *unused)
{
    (void)unused;
    return py_kernel_info(&((py_variant *)self)->instance->kernels[0]);
}

// ---- types --------------------------------------------------------------------------------------
static PyGetSetDef workload_properties[] = {
    {"bytes", get_bytes, NULL, "Compulsory traffic in bytes.", NULL},
    {"flops", get_flops, NULL, "Floating-point operations; 0 if they are not counted.", NULL},
    {"pointers", get_pointers, NULL, "Addresses of the inputs and of the outputs.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef workload_methods[] = {
    {"variant", workload_open_variant, METH_O, "Compile, load and bind a variant."},
    {"verify", workload_check, METH_O, "Number of output items that differ from the base's."},
    {"poison", workload_poison_outputs, METH_NOARGS, "Poison the outputs."},
    {"wrong", workload_wrong, METH_NOARGS, "Number of output items that differ by now."},
    {"measure", (PyCFunction)(void (*)(void))workload_time, METH_VARARGS | METH_KEYWORDS,
     "Samples of a variant and of a reference."},
    {"measure_hot", workload_hot, METH_VARARGS, "Mean time of runs that follow each other."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot workload_slots[] = {{Py_tp_new, workload_new},
                                       {Py_tp_dealloc, workload_dealloc},
                                       {Py_tp_methods, workload_methods},
                                       {Py_tp_getset, workload_properties},
                                       {0, NULL}};
static PyType_Spec workload_spec = {"cubc._core.Workload", sizeof(py_workload), 0,
                                    Py_TPFLAGS_DEFAULT, workload_slots};

static PyGetSetDef variant_properties[] = {
    {"label", get_label, NULL, "The variant's label.", NULL},
    {"info", get_info, NULL, "Registers, memory and threads of the variant.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef variant_methods[] = {{"run", variant_run, METH_NOARGS, "Queue the work once."},
                                        {NULL, NULL, 0, NULL}};
static PyType_Slot variant_slots[] = {{Py_tp_dealloc, variant_dealloc},
                                      {Py_tp_methods, variant_methods},
                                      {Py_tp_getset, variant_properties},
                                      {0, NULL}};
static PyType_Spec variant_spec = {"cubc._core.Variant", sizeof(py_variant), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                   variant_slots};

int py_workload_setup(PyObject *module)
{
    if (py_add_type(module, &workload_spec, &workload_type) < 0) return -1;
    return py_add_type(module, &variant_spec, &variant_type);
}
