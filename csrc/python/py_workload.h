// The workloads of benchmarks as Python writes them.
#ifndef CUBC_PY_WORKLOAD_H
#define CUBC_PY_WORKLOAD_H

#include "python/py_support.h"

#include "base/types.h"

// The axis of elements by its full name: exponents of two.
#define PY_ELEMENTS "Elements{io}[pow2]"
// A compile-time workload, {"T{ct}": "F32"}, and a run-time one of a benchmark: values of its axes
// by name, or NULL or None. at gets POLICY_AXES numbers; those that rt leaves out are 2^20 elements
// and the first value that is declared of other axes. keys gets KEY_AXES numbers (run/keys.h), 0
// where rt leaves them out. 0, or -1 with an exception.
int py_workload_axes(const char *benchmark, PyObject *ct, PyObject *rt, cubc_type *type,
                     uint64_t *at, uint64_t *keys);

#endif
