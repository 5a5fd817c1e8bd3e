// The common part of the CPython binding. The binding is the only code that sees Python.h, and
// uses the stable ABI of 3.11, so that one build serves all later versions.
//
// Ownership: a function returning PyObject* returns a new reference; a Python object that needs
// another (a plan its workload, an array what it wraps) holds a reference to it. The GIL is dropped
// around everything that may wait: compilation, launches, copies, measurements, SQLite.
#ifndef CUBC_PY_SUPPORT_H
#define CUBC_PY_SUPPORT_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

#include "base/size.h"
#include "device/device.h"
#include "run/algorithm.h"

// A C program may link this shared object for cubc.h without libpython. Functions of Python are
// bound when first called, which then never happens; data, and functions whose address is taken,
// must be weak to be left unbound.
#pragma weak _Py_NoneStruct
#pragma weak _Py_TrueStruct
#pragma weak _Py_FalseStruct
#pragma weak PyExc_Exception
#pragma weak PyExc_ValueError
#pragma weak PyExc_TypeError
#pragma weak PyExc_AttributeError
#pragma weak PyExc_MemoryError
#pragma weak PyExc_RuntimeError
#pragma weak PyExc_LookupError
#pragma weak PyExc_OverflowError
#pragma weak PyExc_BufferError
#pragma weak PyExc_UserWarning
#pragma weak PyFloat_Type
#pragma weak PyComplex_Type
#pragma weak PyBool_Type
#pragma weak PyDict_Type
#pragma weak PyTuple_Type
#pragma weak PyUnicode_FSConverter
#pragma weak PySlice_Type

// ---- py_support.c -------------------------------------------------------------------------------
extern PyObject *py_numpy; // the numpy module
// Raises the exception of the last error; always NULL.
PyObject *py_raise(cubc_status status);
// Forgets the exception of an attempt, so that another way may be tried. True if it stays, since it
// says nothing of the attempt: MemoryError, and what a signal handler raised.
bool py_forget(void);
// Opens a device named by a str or None (the default device), counted.
cubc_status py_device(PyObject *name, cubc_device **out);
// The text of a str argument; NUL characters, which would cut it short, are refused.
cubc_status py_text(PyObject *object, const char *what, const char *expected, const char **out);
cubc_status py_open_device(const char *name, cubc_device **out);
// Lets Python say where CUDA's libraries are, once, before they are first needed.
void py_find_cuda(void);
int py_add_type(PyObject *module, PyType_Spec *spec, PyObject **out);
// Allocates an instance of a type of ours, all of it zero; and the end of its deallocator.
PyObject *py_allocate(PyTypeObject *cls);
void py_release(PyObject *self);
int py_too_large(const char *what); // raises ValueError; -1
// An attribute that need not be there: NULL without an exception if it is not. Other exceptions of
// its property are the caller's to see.
PyObject *py_optional_attribute(PyObject *object, const char *name);
int py_not_contiguous(const char *what);               // raises ValueError; -1
PyObject *py_shape(int ndim, const Py_ssize_t *shape); // a tuple
int py_support_setup(PyObject *module);
PyObject *py_set_default_device(PyObject *self, PyObject *args); // of `with cubc.device(...)`

// ---- py_view.c ----------------------------------------------------------------------------------
enum { VIEW_DIMENSIONS = 32 };

typedef struct py_fused py_fused;

// An operand: any array-like object as contiguous typed memory. Zero-initialise, release always.
typedef struct py_view {
    void *data;
    uint64_t n;
    cubc_type type;
    int ndim;
    Py_ssize_t shape[VIEW_DIMENSIONS];
    bool on_host; // host memory (NumPy and the like), not a device array
    bool read_only;
    cubc_device *device; // of a device array; counted
    void *stream;        // on which its producer works
    bool has_stream;     // the producer named it; otherwise the order is up to its user
    PyObject *owner;     // keeps the memory
    Py_buffer buffer;
    bool has_buffer;
    PyObject *capsule; // of DLPack
    py_fused *lazy; // not in memory: an expression of operands (py_lazy.h), and data its cubc_lazy
} py_view;

// The type that the core's parameters have beside the view's data.
static inline cubc_type py_view_kind(const py_view *view)
{
    return view->lazy ? CUBC_LAZY : view->type;
}

// -1 with an exception set on failure. what names the operand in messages. With writable, the
// memory itself is needed: read-only and non-contiguous objects are refused, not copied.
int py_view_get(PyObject *object, const char *what, bool writable, void *stream, py_view *out);
// The same of an input that may be lazy too. Where the call does not take that, it is evaluated
// here: that costs a pass.
int py_input_get(PyObject *object, const char *what, bool may_be_lazy, py_view *out);
void py_view_release(py_view *view);
// Work queued on `stream` next comes after what another stream has to do with the memory, where
// that is known. stream_object: what the caller gave for the stream, or NULL.
cubc_status py_view_order(const py_view *view, void *stream, PyObject *stream_object);
// Checks extents that are in shape already and counts the items, whose type is known.
int py_view_set_shape(py_view *view, const char *what, int ndim);
// Opens the CUDA device that the view's items are on, and holds the memory against it: a pointer
// that the driver does not know would end in an illegal access, which poisons the process's
// context. named: the index that the object gives, or -1. 0, or -1 with an exception.
int py_view_open_cuda(py_view *view, const char *what, long named);

// ---- py_types.c ---------------------------------------------------------------------------------
#define PY_SUPPORTED                                                                            \
    "supported are bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64, " \
    "complex64 and complex128 in native byte order, and structs of them"
const char *py_type_name(cubc_type type); // as NumPy calls it: "float32"; of a struct its members
// The type of NumPy's kind and size; of the text of a dtype or its name. -1 without an exception.
int py_type_of_kind(char kind, Py_ssize_t size, cubc_type *out);
int py_type_of_str(PyObject *object, cubc_type *out);
// The type of a numpy.dtype. 1 done, 0 it is none that an array may have, -1 exception.
int py_type_of_dtype(PyObject *dtype, cubc_type *out);
// Raises TypeError for a dtype that no array may have; `otherwise` is its name if NumPy has none.
int py_unsupported(const char *what, PyObject *dtype, const char *otherwise);
// A dtype argument of NumPy, PyTorch or by name.
int py_dtype(PyObject *object, cubc_type *out);
int py_check_dtype(cubc_type dtype, cubc_type out); // dtype= beside out=: -1 unless they agree
PyObject *py_numpy_dtype(cubc_type type);
PyObject *py_numpy_empty(cubc_type type, int ndim, const Py_ssize_t *shape);
PyObject *py_numpy_scalar(cubc_type type, const void *value);
// A Python or NumPy scalar as one value of a type.
int py_scalar(PyObject *object, const char *what, cubc_type type, type_value *out);
// An array of NumPy's as one that exports its memory as a buffer, which not all dtypes can.
PyObject *py_numpy_words(PyObject *array, cubc_type type);

// ---- py_structs.c -------------------------------------------------------------------------------
int py_type_of_struct(PyObject *dtype, cubc_type *out); // as py_type_of_dtype
PyObject *py_struct_dtype(cubc_type type);

// ---- py_array.c ---------------------------------------------------------------------------------
typedef struct py_array {
    PyObject_HEAD
    void *data;
    cubc_device *device;
    cubc_type type;
    int ndim;
    Py_ssize_t shape[VIEW_DIMENSIONS];
    uint64_t n;
    void *stream;            // of the last work on it; its memory is freed in that order
    PyObject *stream_object; // keeps that stream, where somebody's object stands for it
    bool read_only;
    PyObject *base; // whose memory it is, or NULL: its own
} py_array;
extern PyObject *py_array_type;
PyObject *py_array_new(cubc_device *device, cubc_type type, int ndim, const Py_ssize_t *shape,
                       void *stream);
// A device array over memory that `base` owns.
PyObject *py_array_wrap(const py_view *view, PyObject *base);
bool py_array_check(PyObject *object);
// Orders the work that is about to be queued on a stream after all earlier work on the array.
// stream_object: whatever the caller gave for the stream, or NULL.
cubc_status py_array_use(py_array *array, void *stream, PyObject *stream_object);
int py_array_setup(PyObject *module);

// ---- py_asarray.c -------------------------------------------------------------------------------
PyObject *py_asarray(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);
PyObject *py_empty(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);

// ---- py_dlpack.c --------------------------------------------------------------------------------
PyObject *py_dlpack_export(py_array *array);
// Fills a view from an object with __dlpack__; 1 done, 0 no such protocol, -1 exception.
int py_dlpack_import(PyObject *object, const char *what, void *stream, py_view *out);

// ---- py_arguments.c -----------------------------------------------------------------------------
// Matches a vectorcall's arguments with parameter names; values are borrowed, NULL where not given.
// The first `positional` names may be given by place. -1 with a TypeError set.
typedef struct py_signature {
    const char *function;
    int count, positional, required;
    const char *names[12];
    PyObject *interned[12]; // filled on first use
    bool flat;              // is also there by the name of each operator, as cubc.sum
} py_signature;
int py_arguments(py_signature *signature, PyObject *const *args, Py_ssize_t n, PyObject *names,
                 PyObject **values);
// A stream argument: None, an int, or an object of CuPy, PyTorch, Numba or cuda.core.
int py_stream(PyObject *object, void **out);

// ---- the other parts of the module --------------------------------------------------------------
PyObject *py_reduce(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);
PyObject *py_scan(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);
PyObject *py_operator_types(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);
PyObject *py_run_algorithm(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);
PyObject *py_transform(PyObject *self, PyObject *args, PyObject *keywords);
int py_tuner_setup(PyObject *module); // py_tuner.c: spaces, policies, compilation
int py_autotune_setup(PyObject *module);
int py_lattice_io_setup(PyObject *module);             // py_lattice_io.c: fields in files
int py_lattice_solve_setup(PyObject *module);          // py_lattice_solve.c
int py_lazy_setup(PyObject *module);                   // py_lazy.c
PyObject *py_kernel_info(const device_kernel *kernel); // what the compiler made of it, a dict
PyObject *py_parameters(const space *s);               // [(macro, label, start, end, step)]
int py_workload_setup(PyObject *module);
int py_program_setup(PyObject *module); // py_program.c: a user's own kernels
int py_store_setup(PyObject *module);

#endif
