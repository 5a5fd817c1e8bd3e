// Program: a user's own kernels, launched or recorded as a work, as Python objects; and the
// declarations of a source.
#include "python/py_arguments.h"
#include "python/py_binding.h"
#include "python/py_bound.h"
#include "python/py_bundle.h"
#include "python/py_call.h"
#include "python/py_kernel_launch.h"
#include "python/py_module.h"
#include "python/py_timing.h"
#include "python/py_tuner.h"

#include "compile/program.h"
#include "run/recorded_calls.h"
#include <limits.h>

static PyObject *program_type;

typedef struct py_program {
    PyObject_HEAD
    program *program;
    unsigned threads; // of each block, which its collectives are compiled for; 0: any
    PyObject *held;   // list: the arrays that its recorded launches point to
} py_program;

// ---- sources ------------------------------------------------------------------------------------
static PyObject *source_parameters(PyObject *self, PyObject *args)
{
    const char *source, *arch;
    space s;
    (void)self;
    if (!PyArg_ParseTuple(args, "ss:source_parameters", &source, &arch)) return NULL;
    cubc_status st = space_parse(source, device_is_cpu(arch) ? "cpu" : "cuda", &s);
    return st ? py_raise(st) : py_parameters(&s);
}

static PyObject *source_prelude(PyObject *self, PyObject *args)
{
    const char *arch;
    unsigned threads;
    text prelude = {0};
    PyObject *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "sI:source_prelude", &arch, &threads)) return NULL;
    cubc_status st = program_prelude(arch, threads, &prelude);
    if (st)
        py_raise(st);
    else
        result = PyUnicode_FromStringAndSize(prelude.data, (Py_ssize_t)prelude.length);
    text_free(&prelude);
    return result;
}

static PyObject *source_folder_path(PyObject *self, PyObject *unused)
{
    char folder[PATH_MAX];
    (void)self, (void)unused;
    cubc_status st = source_folder(folder, sizeof folder);
    return st ? py_raise(st) : PyUnicode_DecodeFSDefault(folder);
}

static PyObject *source_compile(PyObject *self, PyObject *args)
{
    const char *source, *arch, *title;
    double deadline = 0, seconds = 0;
    binary code = {0};
    Py_buffer abandon = {0};
    PyObject *object = NULL;
    py_bundle bundle;
    cubc_status st;
    (void)self;
    if (!PyArg_ParseTuple(args, "sss|dy*O:source_compile", &source, &arch, &title, &deadline,
                          &abandon, &object))
        return NULL;
    if (py_bundle_begin(object, &bundle) < 0) {
        PyBuffer_Release(&abandon);
        return NULL;
    }
    if (!device_is_cpu(arch)) py_device_find_cuda();
    Py_BEGIN_ALLOW_THREADS
    const volatile char *before = interrupt_watch(abandon.len ? abandon.buf : NULL);
    st = variant_compile(arch, source, title, deadline, &bundle.memory, &code, &seconds);
    interrupt_watch(before);
    Py_END_ALLOW_THREADS
    binary_free(&code);
    PyBuffer_Release(&abandon);
    int failed = py_bundle_end(&bundle);
    if (st) return py_raise(st);
    return failed ? NULL : PyFloat_FromDouble(seconds);
}

// ---- Program ------------------------------------------------------------------------------------
static PyObject *program_new(PyTypeObject *cls, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"source", "title", "device", "threads", NULL};
    const char *source, *title;
    unsigned threads = 0;
    PyObject *device_name = NULL;
    cubc_device *device;
    cubc_status st;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "ss|OI:Program", names, &source, &title,
                                     &device_name, &threads))
        return NULL;
    if ((st = py_device(device_name, &device))) return py_raise(st);
    py_program *self = (py_program *)py_allocate(cls);
    if (self && (self->held = PyList_New(0))) {
        self->threads = threads;
        Py_BEGIN_ALLOW_THREADS
        st = program_open(device, source, title, &self->program);
        Py_END_ALLOW_THREADS
        if (!st && py_has_notes()) st = py_say_notes();
        if (st) py_raise(st);
    }
    device_release(device);
    if (self && (!self->program || st)) Py_CLEAR(self);
    return (PyObject *)self;
}

// A cycle is broken at the list of arrays, which is cleared by itself.
static int program_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((py_program *)self)->held);
    return 0;
}

static void program_dealloc(PyObject *self)
{
    py_program *p = (py_program *)self;
    PyObject_GC_UnTrack(self);
    Py_BEGIN_ALLOW_THREADS
    program_close(p->program);
    Py_END_ALLOW_THREADS
    Py_XDECREF(p->held);
    py_release(self);
}

// ---- launches -----------------------------------------------------------------------------------
typedef struct wanted {
    const char *name;
    PyObject *arguments, *stream;
    unsigned grid[3], block[3];
    int shared;
    const device_kernel *kernel;
    launch_shape shape;
} wanted;

static cubc_status check_threads(unsigned wanted, const char *name, const unsigned block[3])
{
    if (wanted && (block[0] != wanted || block[1] * block[2] != 1))
        FAIL(
            CUBC_INVALID_ARGUMENT,
            "%s uses collectives and is compiled for blocks of %u threads in one dimension, not of "
            "%u x %u x %u",
            name, wanted, block[0], block[1], block[2]);
    return CUBC_OK;
}

static int parse_launch(py_program *p, PyObject *args, wanted *w)
{
    if (!PyArg_ParseTuple(args, "sO!(III)(III)i|O", &w->name, &PyTuple_Type, &w->arguments,
                          &w->grid[0], &w->grid[1], &w->grid[2], &w->block[0], &w->block[1],
                          &w->block[2], &w->shared, &w->stream))
        return -1;
    cubc_status st = py_launch_check(w->name, w->grid, w->block, w->shared);
    unsigned threads = w->block[0] * w->block[1] * w->block[2];
    if (!st) st = check_threads(p->threads, w->name, w->block);
    if (!st) st = program_kernel(p->program, w->name, threads, &w->kernel);
    w->shape = (launch_shape){.grid = w->grid[0],
                              .grid_y = w->grid[1],
                              .grid_z = w->grid[2],
                              .block_y = w->block[1],
                              .block_z = w->block[2],
                              .shared = (unsigned)w->shared};
    if (st) py_raise(st);
    return st ? -1 : 0;
}

// Keeps what a work points to as long as the work.
static int hold(py_program *p, const py_launch *l)
{
    for (int i = 0; i < l->count; i++) {
        const py_view *view = &l->views[i];
        if (PyList_Append(p->held, view->capsule ? view->capsule : view->owner) < 0) return -1;
    }
    return 0;
}

static PyObject *program_record(PyObject *self, PyObject *args)
{
    py_program *p = (py_program *)self;
    wanted w = {0};
    py_launch l = {.count = 0};
    PyObject *result = NULL;
    if (parse_launch(p, args, &w) < 0) return NULL;
    if (py_launch_pack(&l, program_device(p->program), w.name, w.kernel, w.arguments, NULL) == 0 &&
        hold(p, &l) == 0) {
        cubc_status st = program_add(p->program, w.kernel, &w.shape, l.packed);
        result = st ? py_raise(st) : Py_NewRef(Py_None);
    }
    py_launch_end(&l);
    return result;
}

static call_work work_of(const program *p, const wanted *w)
{
    static const char *const axes[POLICY_AXES + 1] = {"Grid", "Block"};
    return (call_work){.code = program_serial(p),
                       .part = w->kernel,
                       .name = w->name,
                       .type = "",
                       .variant = "",
                       .axes = axes,
                       .axis_values = {(uint64_t)w->grid[0] * w->grid[1] * w->grid[2],
                                       (uint64_t)w->block[0] * w->block[1] * w->block[2]}};
}

static cubc_status queue_launch(program *p, const wanted *w, const void *args, void *stream)
{
    call_timer timer = {0};
    const call_work work = work_of(p, w);
    if (calls_are_recorded()) TRY(calls_begin(program_device(p), &work, stream, &timer));
    cubc_status st = program_launch(p, w->kernel, &w->shape, args, stream);
    calls_queued(&timer, st);
    return st;
}

static cubc_status bind_launch(py_program *self, const wanted *w, const py_launch *l, void *stream,
                               PyObject *stream_object)
{
    const call_work work = work_of(self->program, w);
    return py_bound_add_launch(&(py_bound_launch){.program = (PyObject *)self,
                                                  .launch = l,
                                                  .kernel = w->kernel,
                                                  .shape = &w->shape,
                                                  .work = &work,
                                                  .device = program_device(self->program),
                                                  .stream = stream,
                                                  .stream_object = stream_object});
}

static PyObject *launch_now(py_program *self, const wanted *w, py_launch *l)
{
    program *p = self->program;
    void *stream = NULL;
    PyObject *object = NULL;
    bool given = w->stream && w->stream != Py_None;
    cubc_status st;
    if (given && py_stream(w->stream, &stream) < 0) return NULL;
    if (py_launch_pack(l, program_device(p), w->name, w->kernel, w->arguments, stream) < 0)
        return NULL;
    if (!given)
        py_launch_stream(l, &stream, &object);
    else if (!PyLong_Check(w->stream))
        object = w->stream;
    if ((st = py_launch_order(l, stream, object))) return py_raise(st);
    Py_BEGIN_ALLOW_THREADS
    st = queue_launch(p, w, l->packed, stream);
    Py_END_ALLOW_THREADS
    if (!st && py_binding_is_on()) st = bind_launch(self, w, l, stream, object);
    return st ? py_raise(st) : Py_NewRef(Py_None);
}

static PyObject *program_launch_method(PyObject *self, PyObject *args)
{
    py_program *p = (py_program *)self;
    wanted w = {0};
    py_launch l = {.count = 0};
    if (parse_launch(p, args, &w) < 0) return NULL;
    PyObject *result = launch_now(p, &w, &l);
    py_launch_end(&l);
    return result;
}

static PyObject *program_kernel_info(PyObject *self, PyObject *args)
{
    const char *name;
    unsigned threads;
    const device_kernel *kernel;
    if (!PyArg_ParseTuple(args, "sI:kernel_info", &name, &threads)) return NULL;
    cubc_status st = program_kernel(((py_program *)self)->program, name, threads, &kernel);
    return st ? py_raise(st) : py_kernel_info(kernel);
}

static PyObject *program_run(PyObject *self, PyObject *unused)
{
    program *p = ((py_program *)self)->program;
    cubc_device *device = program_device(p);
    cubc_status st;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS
    st = program_queue(p, NULL);
    if (!st) st = device->api->synchronize(device, NULL);
    Py_END_ALLOW_THREADS
    if (st) return py_raise(st);
    Py_RETURN_NONE;
}

static PyObject *program_info(PyObject *self, void *unused)
{
    const device_kernel *first = program_first(((py_program *)self)->program);
    (void)unused;
    return first ? py_kernel_info(first) : PyDict_New();
}

static cubc_status queue(void *context, void *stream)
{
    return program_queue(context, stream);
}

// A program's work; NULL with an exception.
static program *program_of(PyObject *object)
{
    if (Py_IS_TYPE(object, (PyTypeObject *)program_type)) return ((py_program *)object)->program;
    PyErr_Format(PyExc_TypeError, "expected a Program, not %.80R", object);
    return NULL;
}

static PyObject *measure(PyObject *self, PyObject *args, PyObject *keywords)
{
    PyObject *first, *reference = Py_None;
    (void)self;
    if (PyTuple_Size(args) < 1) {
        PyErr_SetString(PyExc_TypeError, "measure() needs a Program");
        return NULL;
    }
    timing_work of_program = {queue, program_of(PyTuple_GetItem(args, 0))},
                of_other = {queue, NULL};
    if (!of_program.context) return NULL;
    cubc_device *device = program_device(of_program.context);
    timing_options options = timing_defaults(device);
    if (py_timing_options(args, keywords, &first, &reference, &options) < 0) return NULL;
    if (reference != Py_None && !(of_other.context = program_of(reference))) return NULL;
    return py_timing_measure(device, &of_program, of_other.context ? &of_other : NULL, &options);
}

static PyObject *measure_hot(PyObject *self, PyObject *args)
{
    PyObject *object;
    double seconds = 0.1;
    timing_runs runs;
    cubc_status st;
    (void)self;
    if (!PyArg_ParseTuple(args, "O|d:measure_hot", &object, &seconds)) return NULL;
    program *p = program_of(object);
    if (!p) return NULL;
    Py_BEGIN_ALLOW_THREADS
    st = timing_hot(program_device(p), &(timing_work){queue, p}, seconds, NULL, &runs);
    Py_END_ALLOW_THREADS
    return st ? py_raise(st) : Py_BuildValue("(did)", runs.mean_s, runs.count, runs.watts);
}

// ---- types --------------------------------------------------------------------------------------
static PyGetSetDef properties[] = {{"info", program_info, NULL,
                                    "Registers, memory and threads of the first kernel launched.",
                                    NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef program_methods[] = {
    {"add", program_record, METH_VARARGS, "Add a launch to the work."},
    {"launch", program_launch_method, METH_VARARGS, "Launch a kernel at once."},
    {"kernel_info", program_kernel_info, METH_VARARGS,
     "Registers, memory and threads of a kernel."},
    {"run", program_run, METH_NOARGS, "Do the work once, and wait for it."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, program_new},           {Py_tp_dealloc, program_dealloc},
                              {Py_tp_traverse, program_traverse}, {Py_tp_methods, program_methods},
                              {Py_tp_getset, properties},         {0, NULL}};
static PyType_Spec spec = {"cubc._core.Program", sizeof(py_program), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

static PyMethodDef functions[] = {
    {"source_parameters", source_parameters, METH_VARARGS, "The parameter space of a source."},
    {"source_prelude", source_prelude, METH_VARARGS, "The text in front of a plain source."},
    {"source_folder", source_folder_path, METH_NOARGS, "Where the kernels of cubc are."},
    {"source_compile", source_compile, METH_VARARGS, "Compile a source into the cache."},
    {"measure", (PyCFunction)(void (*)(void))measure, METH_VARARGS | METH_KEYWORDS,
     "Samples of a program and of a reference."},
    {"measure_hot", measure_hot, METH_VARARGS, "Mean time of runs that follow each other."},
    {NULL, NULL, 0, NULL}};

int py_program_setup(PyObject *module)
{
    if (py_add_type(module, &spec, &program_type) < 0) return -1;
    return PyModule_AddFunctions(module, functions);
}
