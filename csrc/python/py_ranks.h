// Ranks from Python: a capsule that closes them when it is no longer used.
#ifndef CUBC_PY_RANKS_H
#define CUBC_PY_RANKS_H

#include "python/py_support.h"

#include "cubc/fields.h"
#include "cubc/lattice.h"

// The ranks of a capsule of ranks_open. -1 with an exception.
int py_ranks(PyObject *object, cubc_ranks **out);
// The same for files: *out is NULL if there is one rank, or none (None); else it is as long as the
// capsule.
int py_field_ranks(PyObject *object, const cubc_field_ranks **out);
int py_ranks_setup(PyObject *module);

#endif
