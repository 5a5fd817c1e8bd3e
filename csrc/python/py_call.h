// The common way of a call from Python operands to the core: device and stream, staging of host
// operands, and the output.
//
// NumPy in gives NumPy out: on a GPU such operands travel there and back. Device arrays stay where
// they are and the call is asynchronous; this is the path that must be quick.
#ifndef CUBC_PY_CALL_H
#define CUBC_PY_CALL_H

#include "python/py_view.h"

typedef struct py_output {
    py_view view;
    PyObject *object; // result of the call: given or made
    bool made;
    PyObject *staged;  // device memory that stands for a host output
    PyObject *strided; // the caller's NumPy array, of which `object` is an aligned, contiguous
                       // copy; or NULL
} py_output;

// py_call_begin, and py_call_end always. The functions below return -1 with an exception set.
typedef struct py_call {
    cubc_device *device; // counted
    void *stream;
    PyObject *stream_object; // that keeps the stream, or NULL; borrowed
    bool host;               // operands are host memory
    bool wait;               // temporary memory is in use: finish before returning
    int in_count;
    py_output out[MAX_OUTPUTS];
    py_view workspace;
    // Inputs beyond in_count are not cleared.
    py_view in[MAX_INPUTS];
    PyObject *staged[MAX_INPUTS]; // device copies of host operands
} py_call;

void py_call_begin(py_call *c);
py_view *py_call_input(py_call *c); // one more, cleared
void py_call_end(py_call *c);
// Looks at a given output before the device is chosen, since its type may decide the result's.
int py_call_view_out(py_call *c, int k, PyObject *out);
// The device of the arrays, or the one asked for, or the default; and the stream.
int py_call_device(py_call *c, PyObject *device, PyObject *stream);
int py_call_stage_inputs(py_call *c);
// The given output, or a new one of the type and shape; then its device memory.
int py_call_prepare_out(py_call *c, int k, const char *function, cubc_type type, int ndim,
                        const Py_ssize_t *shape);
void *py_call_out_data(const py_call *c, int k);
int py_call_workspace(py_call *c, PyObject *workspace);
cubc_status py_call_run(py_call *c, const problem *p);
// True if the core has lines for the log or notes for the caller.
bool py_has_notes(void);
// Hands on the lines, and warns of what the core has noted; other than CUBC_OK where warnings are
// errors.
cubc_status py_say_notes(void);
// The output as it is, or a NumPy scalar for a single number without out=.
PyObject *py_call_result(py_call *c, int k, bool scalar);
// Returns the value. With NULL comes an error: it gets the attribute `cubc_function`, the
// algorithm's name, unless a call within this one has left its own. cubc._calls.name_function
// replaces that name in the message by the public function's, which is NULL if a caller in Python
// does it.
PyObject *py_call_named(PyObject *value, const char *algorithm, const char *function);
bool py_call_same_shape(const py_view *v, int ndim, const Py_ssize_t *shape);

#endif
