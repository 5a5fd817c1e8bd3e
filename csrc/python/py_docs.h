// The texts of help() on the primitives.
//
// Each begins with its call, which is written here alone: inspect.signature reads it, py_arguments
// takes the names of its parameters from it, and tools/stub.py writes it into _core.pyi. "--" ends
// that line.
#ifndef CUBC_PY_DOCS_H
#define CUBC_PY_DOCS_H

extern const char asarray_doc[];
extern const char empty_doc[];
extern const char reduce_doc[];
extern const char scan_doc[];
extern const char transform_doc[];
extern const char call_doc[];
extern const char operator_types_doc[];

#endif
