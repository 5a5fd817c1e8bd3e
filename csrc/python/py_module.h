// The parts of the extension module: functions of its table, and set-ups that add types and more.
#ifndef CUBC_PY_MODULE_H
#define CUBC_PY_MODULE_H

#include "python/py_support.h"

PyObject *py_asarray(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);
PyObject *py_empty(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);
PyObject *py_reduce(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);
PyObject *py_scan(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);
PyObject *py_operator_types(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);
PyObject *py_run_algorithm(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);

// 0, or -1 with an exception.
int py_device_setup(PyObject *module);
int py_array_setup(PyObject *module);
int py_transform_setup(PyObject *module); // cubc.Lazy
int py_tuner_setup(PyObject *module);     // spaces, policies, compilation
int py_autotune_setup(PyObject *module);
int py_recorded_calls_setup(PyObject *module);
int py_bound_setup(PyObject *module);
int py_workload_setup(PyObject *module);
int py_program_setup(PyObject *module); // a user's own kernels
int py_bundle_setup(PyObject *module);
int py_store_setup(PyObject *module);
int py_lattice_io_setup(PyObject *module); // fields in files
int py_lattice_solve_setup(PyObject *module);

#endif
