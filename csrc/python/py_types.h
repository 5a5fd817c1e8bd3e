// Types between Python and the core: dtypes, also of structs, by number and by name.
#ifndef CUBC_PY_TYPES_H
#define CUBC_PY_TYPES_H

#include "python/py_support.h"

#include "base/types.h"

#define PY_SUPPORTED                                                                            \
    "supported are bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64, " \
    "complex64 and complex128 in native byte order, and structs of them"
const char *py_type_name(cubc_type type); // as NumPy calls it: "float32"; of a struct its members
// The type of NumPy's kind and size. -1 without an exception.
int py_type_of_kind(char kind, Py_ssize_t size, cubc_type *out);
// The same of "<f4", as in the array interfaces; big-endian items have no type.
int py_type_of_typestr(const char *text, cubc_type *out);
// The type of a numpy.dtype. 1 done, 0 it is none that an array may have, -1 exception.
int py_type_of_dtype(PyObject *dtype, cubc_type *out);
// Raises TypeError for a dtype that no array may have; `otherwise` is its name if NumPy has none.
int py_unsupported(const char *what, PyObject *dtype, const char *otherwise);
// A dtype argument of NumPy, PyTorch or by name.
int py_dtype(PyObject *object, cubc_type *out);
int py_check_dtype(cubc_type dtype, cubc_type out); // dtype= beside out=: -1 unless they agree
// The type of an array that may have no other.
int py_check_type(const char *what, cubc_type given, cubc_type expected);
// A result of one type written to another, without dtype=: floats do not become integers unasked.
int py_check_casting(cubc_type from, cubc_type to);
// NumPy would drop imaginary parts with a warning, and cut structs up: -1 for these.
int py_check_conversion(cubc_type from, cubc_type to);
PyObject *py_numpy_dtype(cubc_type type);
int py_types_setup(void);                               // makes the dtypes that NumPy has itself
int py_type_of_struct(PyObject *dtype, cubc_type *out); // as py_type_of_dtype, of structs alone

#endif
