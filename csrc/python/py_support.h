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

#include "base/base.h"

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
#pragma weak PyExc_SystemError
#pragma weak PyExc_LookupError
#pragma weak PyExc_OverflowError
#pragma weak PyExc_BufferError
#pragma weak PyExc_UserWarning
#pragma weak PyExc_RuntimeWarning
#pragma weak PyFloat_Type
#pragma weak PyComplex_Type
#pragma weak PyBool_Type
#pragma weak PyDict_Type
#pragma weak PyTuple_Type
#pragma weak PyUnicode_FSConverter
#pragma weak PyLong_Type
#pragma weak PyRange_Type
#pragma weak PySlice_Type

extern PyObject *py_numpy; // the numpy module
// Raises the exception of the last error; always NULL.
PyObject *py_raise(cubc_status status);
// Hands the core's lines to Python's logging. A failure there does not fail the call; the exception
// of Ctrl-C alone stays set.
void py_say_log(void);
// Forgets the exception of an attempt, so that another way may be tried. True if it stays, since it
// says nothing of the attempt: MemoryError, and what a signal handler raised.
bool py_forget(void);
// The text of a str argument; NUL characters, which would cut it short, are refused.
cubc_status py_text(PyObject *object, const char *what, const char *expected, const char **out);
int py_add_type(PyObject *module, PyType_Spec *spec, PyObject **out);
// Allocates an instance of a type of ours, all of it zero; and the end of its deallocator.
PyObject *py_allocate(PyTypeObject *cls);
void py_release(PyObject *self);
// An option that is a bool, `otherwise` for NULL; -1 with an exception set. A text would be true,
// whatever it says.
int py_truth(PyObject *option, const char *name, int otherwise);
int py_too_large(const char *what); // raises ValueError; -1
// An attribute that need not be there: NULL without an exception if it is not. Other exceptions of
// its property are the caller's to see.
PyObject *py_optional_attribute(PyObject *object, const char *name);
PyObject *py_shape(int ndim, const Py_ssize_t *shape); // a tuple
int py_support_setup(PyObject *module);

#endif
