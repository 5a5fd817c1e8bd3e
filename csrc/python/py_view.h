// An operand of a call: typed contiguous memory, or an expression that the call evaluates.
//
// py_view.c has what concerns the view itself, py_view_sources.c where views come from: whatever
// looks like an array.
#ifndef CUBC_PY_VIEW_H
#define CUBC_PY_VIEW_H

#include "python/py_device.h"
#include "run/algorithm.h"

enum { VIEW_DIMENSIONS = 32 };

typedef struct py_expression py_expression;

// An operand: any array-like object as contiguous typed memory. Zero-initialise, or py_view_clear;
// release always.
typedef struct py_view {
    void *data;
    uint64_t n;
    cubc_type type;
    int ndim;
    bool on_host; // host memory (NumPy and the like), not a device array
    bool read_only;
    cubc_device *device; // of a device array; counted
    void *stream;        // on which its producer works
    bool has_stream;     // the producer named it; otherwise the order is up to its user
    PyObject *owner;     // keeps the memory
    bool has_buffer;
    PyObject *capsule;         // of DLPack
    py_expression *expression; // not in memory: an expression of operands; data is its cubc_lazy
    // These are not cleared.
    Py_buffer buffer;                  // if has_buffer
    Py_ssize_t shape[VIEW_DIMENSIONS]; // of ndim
} py_view;

// An expression as an input of one call: its arrays as views, its numbers as bits, and the
// cubc_lazy that the core takes. It hangs on the view that stands for the input, whose type, shape
// and number of items are the result's.
struct py_expression {
    cubc_lazy lazy;
    cubc_operand operands[MAX_OPERANDS];
    PyObject *numbers[MAX_OPERANDS]; // borrowed from the operands; NULL: an array
    type_value bits[MAX_OPERANDS];
    py_view views[MAX_OPERANDS];
    PyObject *staged[MAX_OPERANDS]; // device copies of host operands
    int count, array_count;
};

// The type that the core's parameters have beside the view's data.
static inline cubc_type py_view_kind(const py_view *view)
{
    return view->expression ? CUBC_LAZY : view->type;
}

void py_view_clear(py_view *view); // of memory that holds nothing yet
void py_view_release(py_view *view);
// Raises ValueError; -1.
int py_view_not_contiguous(const char *what);
int py_view_read_only(const char *what);
// Checks extents that are in shape already and counts the items, whose type is known.
int py_view_set_shape(py_view *view, const char *what, int ndim);
// The same of a tuple of extents.
int py_view_shape_from_tuple(py_view *view, const char *what, PyObject *shape);
// py_view_open_cuda for an object whose memory tells the device, or DLPack where there are no
// items.
int py_view_open_named(PyObject *object, const char *what, py_view *out);
// Opens the CUDA device that the view's items are on, and holds the memory against it: a pointer
// that the driver does not know would end in an illegal access, which poisons the process's
// context. named: the index that the object gives, or -1. 0, or -1 with an exception.
int py_view_open_cuda(py_view *view, const char *what, long named);

// Gathers the items of a device array, which lie `steps` items apart along each axis, into an array
// of their own, that the view is of then. The view has a type, a shape without an extent of 0, the
// first item's address and a stream; `base` keeps the memory.
int py_view_gather(py_view *view, const char *what, const Py_ssize_t *steps, PyObject *base);

// ---- py_view_cupy.c -----------------------------------------------------------------------------
bool py_view_is_cupy(PyObject *object);
// 1 done, 0 for an array that is not contiguous, -1 with an exception, as for a type that there is
// not.
int py_view_from_cupy(PyObject *object, const char *what, py_view *out);

// ---- py_view_sources.c --------------------------------------------------------------------------
// -1 with an exception set on failure. what names the operand in messages. With writable, the
// memory itself is needed: read-only and non-contiguous objects are refused, not copied.
int py_view_get(PyObject *object, const char *what, bool writable, void *stream, py_view *out);
// Work queued on `stream` next comes after what another stream has to do with the memory, where
// that is known. stream_object: what the caller gave for the stream, or NULL.
cubc_status py_view_order(const py_view *view, void *stream, PyObject *stream_object);

#endif
