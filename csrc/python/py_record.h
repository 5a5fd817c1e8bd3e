// Records of a store as dicts: what Python adds to one, and what it reads of one.
#ifndef CUBC_PY_RECORD_H
#define CUBC_PY_RECORD_H

#include "python/py_support.h"

#include "device/device.h"
#include "store/store.h"

// The row and the device that a dict describes; texts and samples stay the dict's. 0, or -1 with an
// exception. The columns that a dict lacks are empty.
int py_record_row(PyObject *dict, store_row *out);
int py_record_device(PyObject *dict, device_info *out);
// A dict of all columns, or NULL with an exception: CUBC_STORE_ERROR for text that is not UTF-8.
PyObject *py_record_object(const store_record *record);
// The kinds of the columns that a caller gives, a dict by name, or NULL with an exception.
PyObject *py_record_columns(void);

#endif
