// Program: a user's own kernels and the launches of a work, as Python objects; and what a search
// needs of a source before that.
#include "py_common.h"

#include "program.h"
#include "py_measure.h"

#include <stdio.h>
#include <string.h>

static PyObject *program_type;

typedef struct py_program {
    PyObject_HEAD
    program *program;
    PyObject *held; // list: the arrays that its launches point to
} py_program;

// ---- sources ------------------------------------------------------------------------------------
static PyObject *source_parameters(PyObject *self, PyObject *args)
{
    const char *source, *arch;
    space s;
    (void)self;
    if (!PyArg_ParseTuple(args, "ss:source_parameters", &source, &arch)) return NULL;
    cubc_status st = space_parse(source, strcmp(arch, "cpu") == 0 ? "cpu" : "cuda", &s);
    return st ? py_raise(st) : py_parameters(&s);
}

static PyObject *source_prelude(PyObject *self, PyObject *args)
{
    const char *arch;
    text prelude = {0};
    PyObject *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "s:source_prelude", &arch)) return NULL;
    cubc_status st = program_prelude(arch, &prelude);
    if (st)
        py_raise(st);
    else
        result = PyUnicode_FromStringAndSize(prelude.data, (Py_ssize_t)prelude.length);
    text_free(&prelude);
    return result;
}

static PyObject *source_compile(PyObject *self, PyObject *args)
{
    const char *source, *arch, *title;
    double deadline = 0, seconds = 0;
    binary code = {0};
    Py_buffer abandon = {0};
    cubc_status st;
    (void)self;
    if (!PyArg_ParseTuple(args, "sss|dy*:source_compile", &source, &arch, &title, &deadline,
                          &abandon))
        return NULL;
    if (strcmp(arch, "cpu") != 0) py_find_cuda();
    Py_BEGIN_ALLOW_THREADS
    interrupt_watch(abandon.len ? abandon.buf : NULL);
    st = variant_compile(arch, source, title, deadline, &code, &seconds);
    interrupt_watch(NULL);
    Py_END_ALLOW_THREADS
    binary_free(&code);
    PyBuffer_Release(&abandon);
    return st ? py_raise(st) : PyFloat_FromDouble(seconds);
}

// ---- Program ------------------------------------------------------------------------------------
static PyObject *program_new(PyTypeObject *cls, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"source", "title", "device", NULL};
    const char *source, *title;
    PyObject *device_name = NULL;
    cubc_device *device;
    cubc_status st;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "ss|O:Program", names, &source, &title,
                                     &device_name))
        return NULL;
    if ((st = py_device(device_name, &device))) return py_raise(st);
    py_program *self = (py_program *)py_allocate(cls);
    if (self && (self->held = PyList_New(0))) {
        Py_BEGIN_ALLOW_THREADS
        st = program_open(device, source, title, &self->program);
        Py_END_ALLOW_THREADS
        if (st) py_raise(st);
    }
    device_release(device);
    if (self && !self->program) Py_CLEAR(self);
    return (PyObject *)self;
}

static void program_dealloc(PyObject *self)
{
    py_program *p = (py_program *)self;
    Py_BEGIN_ALLOW_THREADS
    program_close(p->program);
    Py_END_ALLOW_THREADS
    Py_XDECREF(p->held);
    py_release(self);
}

// ---- arguments ----------------------------------------------------------------------------------
static const char *words_for(argument_kind kind)
{
    switch (kind) {
    case TYPE_POINTER: return "a pointer, so an array of cubc";
    case TYPE_SIGNED:
    case TYPE_UNSIGNED: return "an integer";
    case TYPE_FLOAT: return "a number";
    case TYPE_BYTES: break;
    }
    return "the bytes of a struct";
}

static int wrong_argument(const char *what, const argument_type *type, PyObject *given)
{
    PyErr_Format(PyExc_TypeError, "%s is of type %R, the kernel takes %s there (%zu bytes)", what,
                 (PyObject *)Py_TYPE(given), words_for(type->kind), type->size);
    return -1;
}

static int pack_array(py_program *self, PyObject *object, const char *what,
                      const argument_type *type, unsigned char *to)
{
    if (!py_array_check(object)) return wrong_argument(what, type, object);
    py_array *array = (py_array *)object;
    if (array->device != program_device(self->program)) {
        PyErr_Format(PyExc_ValueError, "%s is on %s, the kernel runs on %s", what,
                     array->device->info.name, program_device(self->program)->info.name);
        return -1;
    }
    memcpy(to, &array->data, sizeof array->data);
    return PyList_Append(self->held, object);
}

static int pack_number(PyObject *object, const char *what, const argument_type *type,
                       unsigned char *to)
{
    static const cubc_type types[3][9] = {
        {[1] = CUBC_I8, [2] = CUBC_I16, [4] = CUBC_I32, [8] = CUBC_I64},
        {[1] = CUBC_U8, [2] = CUBC_U16, [4] = CUBC_U32, [8] = CUBC_U64},
        {[4] = CUBC_F32, [8] = CUBC_F64}};
    int row = type->kind == TYPE_SIGNED ? 0 : type->kind == TYPE_UNSIGNED ? 1 : 2;
    uint64_t bits;
    if (py_array_check(object)) return wrong_argument(what, type, object);
    if (py_scalar(object, what, types[row][type->size], &bits) < 0) return -1;
    memcpy(to, &bits, type->size);
    return 0;
}

static int pack_bytes(PyObject *object, const char *what, const argument_type *type,
                      unsigned char *to)
{
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_C_CONTIGUOUS) < 0) {
        PyErr_Clear();
        return wrong_argument(what, type, object);
    }
    bool fits = (size_t)view.len == type->size;
    if (fits) memcpy(to, view.buf, type->size);
    PyBuffer_Release(&view);
    return fits ? 0 : wrong_argument(what, type, object);
}

static int pack(py_program *self, const char *name, const device_kernel *kernel, PyObject *given,
                unsigned char *to)
{
    Py_ssize_t count = PyTuple_Size(given);
    if (count != kernel->argument_count) {
        PyErr_Format(PyExc_TypeError, "%s takes %d arguments, %zd were given", name,
                     kernel->argument_count, count);
        return -1;
    }
    for (int i = 0; i < count; i++) {
        const argument_type *type = &kernel->arguments[i];
        PyObject *object = PyTuple_GetItem(given, i);
        char what[96];
        int status;
        snprintf(what, sizeof what, "argument %d of %.60s", i + 1, name);
        if (type->kind == TYPE_POINTER)
            status = pack_array(self, object, what, type, to + type->at);
        else if (type->kind == TYPE_BYTES)
            status = pack_bytes(object, what, type, to + type->at);
        else
            status = pack_number(object, what, type, to + type->at);
        if (status < 0) return -1;
    }
    return 0;
}

// ---- launches -----------------------------------------------------------------------------------
// CUDA's limits, on the cpu as well: what is measured here is meant to run there.
static cubc_status check_shape(const char *name, const unsigned grid[3], const unsigned block[3],
                               int shared)
{
    static const unsigned most[3] = {INT32_MAX, 65535, 65535}, most_block[3] = {1024, 1024, 64};
    for (int i = 0; i < 3; i++) {
        if (grid[i] < 1 || grid[i] > most[i])
            FAIL(CUBC_INVALID_ARGUMENT, "%s: the grid's extent %c is %u, must be 1 to %u", name,
                 "xyz"[i], grid[i], most[i]);
        if (block[i] < 1 || block[i] > most_block[i])
            FAIL(CUBC_NO_RESOURCES, "%s: the block's extent %c is %u, must be 1 to %u", name,
                 "xyz"[i], block[i], most_block[i]);
    }
    if (shared < 0)
        FAIL(CUBC_INVALID_ARGUMENT, "%s: shared is %d, must be the bytes of a block, 0 or more",
             name, shared);
    return CUBC_OK;
}

static PyObject *program_launch(PyObject *self, PyObject *args)
{
    py_program *p = (py_program *)self;
    _Alignas(32) unsigned char packed[MAX_ARGUMENT_BYTES];
    const char *name;
    PyObject *given;
    unsigned grid[3], block[3];
    int shared;
    device_kernel kernel;
    if (!PyArg_ParseTuple(args, "sO!(III)(III)i:add", &name, &PyTuple_Type, &given, &grid[0],
                          &grid[1], &grid[2], &block[0], &block[1], &block[2], &shared))
        return NULL;
    cubc_status st = check_shape(name, grid, block, shared);
    if (!st) st = program_kernel(p->program, name, block[0] * block[1] * block[2], &kernel);
    if (st) return py_raise(st);
    if (pack(p, name, &kernel, given, packed) < 0) return NULL;
    launch_shape shape = {.grid = grid[0],
                          .grid_y = grid[1],
                          .grid_z = grid[2],
                          .block_y = block[1],
                          .block_z = block[2],
                          .shared = (unsigned)shared};
    if ((st = program_add(p->program, &kernel, &shape, packed))) return py_raise(st);
    Py_RETURN_NONE;
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
    if (py_measure_options(args, keywords, &first, &reference, &options) < 0) return NULL;
    if (reference != Py_None && !(of_other.context = program_of(reference))) return NULL;
    return py_measure(device, &of_program, of_other.context ? &of_other : NULL, &options);
}

static PyObject *measure_hot(PyObject *self, PyObject *args)
{
    PyObject *object;
    double seconds = 0.1, mean_s = 0;
    int runs = 0;
    cubc_status st;
    (void)self;
    if (!PyArg_ParseTuple(args, "O|d:measure_hot", &object, &seconds)) return NULL;
    program *p = program_of(object);
    if (!p) return NULL;
    Py_BEGIN_ALLOW_THREADS
    st = timing_hot(program_device(p), &(timing_work){queue, p}, seconds, NULL, &mean_s, &runs);
    Py_END_ALLOW_THREADS
    return st ? py_raise(st) : Py_BuildValue("(di)", mean_s, runs);
}

// ---- types --------------------------------------------------------------------------------------
static PyGetSetDef properties[] = {
    {"info", program_info, NULL, "What the compiler made of the first kernel launched.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMethodDef program_methods[] = {
    {"add", program_launch, METH_VARARGS, "Add a launch to the work."},
    {"run", program_run, METH_NOARGS, "Do the work once, and wait for it."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, program_new},
                              {Py_tp_dealloc, program_dealloc},
                              {Py_tp_methods, program_methods},
                              {Py_tp_getset, properties},
                              {0, NULL}};
static PyType_Spec spec = {"cubc._core.Program", sizeof(py_program), 0, Py_TPFLAGS_DEFAULT, slots};

static PyMethodDef functions[] = {
    {"source_parameters", source_parameters, METH_VARARGS, "The parameter space of a source."},
    {"source_prelude", source_prelude, METH_VARARGS, "What goes in front of a plain source."},
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
