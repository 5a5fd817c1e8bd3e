// The texts of help() on the primitives, on devices and on arrays.
//
// The text of a call begins with its signature, which is written here alone: inspect.signature
// reads it, py_arguments takes the names of the parameters from it, and tools/stub.py writes it
// into _core.pyi. "--" ends that line.
#ifndef CUBC_PY_DOCS_H
#define CUBC_PY_DOCS_H

extern const char reduce_doc[];
extern const char scan_doc[];
extern const char transform_doc[];
extern const char call_doc[];
extern const char operator_types_doc[];
extern const char devices_doc[];
extern const char device_info_doc[];
extern const char synchronize_doc[];

// py_array_docs.c
extern const char asarray_doc[];
extern const char empty_doc[];
extern const char array_doc[];
extern const char array_numpy_doc[];
extern const char array_item_doc[];
extern const char array_tolist_doc[];
extern const char array_reshape_doc[];
extern const char array_astype_doc[];
extern const char array_copy_doc[];
extern const char lazy_type_doc[];
extern const char lazy_array_doc[];

#endif
