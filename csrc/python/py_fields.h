// Members of a public parameter struct that are filled in from Python objects, by its table of
// fields (algorithm.h): those that are no arrays, and take no type from one.
#ifndef CUBC_PY_FIELDS_H
#define CUBC_PY_FIELDS_H

#include "python/py_support.h"

#include "run/algorithm.h"

// Finds the objects that a dict has for fields by their names: objects[k] is that of fields[k],
// borrowed. It stays NULL for None, and where there is none. -1 with an exception.
int py_fields_find(const field *fields, int count, const char *owner, PyObject *given,
                   PyObject **objects);
// Puts a text, a number, a type or ranks in its place in the struct. -1 with an exception.
int py_field_put(const field *f, PyObject *object, void *params);

#endif
