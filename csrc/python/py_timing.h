// Measurements for Python: their options, and the sampling of a work, which may be a variant's run
// or the recorded launches of a user's kernel.
#ifndef CUBC_PY_TIMING_H
#define CUBC_PY_TIMING_H

#include "python/py_support.h"

#include "measure/timing.h"

// Reads (work, reference=None, *, options...). Options are those of timing_options and
// stopping_options by name; one that is left out or 0 keeps what *out has. 0, or -1 with an
// exception.
int py_timing_options(PyObject *args, PyObject *keywords, PyObject **work, PyObject **reference,
                      timing_options *out);
// Samples a work and, alternately, a reference unless it is NULL; a dict, or NULL with an
// exception.
PyObject *py_timing_measure(cubc_device *device, const timing_work *work,
                            const timing_work *reference, const timing_options *options);

#endif
