// Common part of cubc.h: status codes, types, devices and their memory.
//
// A call that can fail returns a cubc_status. cubc_error_message() is the text of the thread's last
// failure, cubc_error_log() the compiler's output with it. No call prints or exits. Who opens a
// handle closes it; every *_close and *_free takes NULL.
#ifndef CUBC_CORE_H
#define CUBC_CORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The library is built with hidden visibility and exports these declarations.
#pragma GCC visibility push(default)
// The text between the markers is plain C declarations, which cubc.ffi() passes to CFFI unchanged.
// cffi: begin
typedef enum cubc_status {
    CUBC_OK = 0,
    CUBC_INVALID_ARGUMENT, // a value out of range, a wrong shape, a malformed text
    CUBC_INVALID_TYPE,     // a type that the call does not take
    CUBC_NOT_FOUND,        // no such operator, benchmark, axis, parameter or policy
    CUBC_NO_MEMORY,        // host memory exhausted
    CUBC_NO_DEVICE_MEMORY, // device memory exhausted
    CUBC_NO_DEVICE,        // no such device, or its driver, runtime or compiler is missing
    CUBC_DEVICE_ERROR,     // the device's driver or runtime reported an error
    CUBC_KERNEL_FAULT,     // a kernel did something illegal: bad address, divergent barrier, ...
    CUBC_COMPILE_ERROR,    // the kernel compiler rejected the source; see cubc_error_log
    CUBC_NO_RESOURCES,  // a variant needs more registers, shared memory or threads than there are
    CUBC_TIMEOUT,       // a deadline passed
    CUBC_INTERRUPTED,   // the user asked to stop
    CUBC_IO_ERROR,      // a file could not be read or written
    CUBC_STORE_ERROR,   // a store is corrupt, locked, read-only or of a newer version
    CUBC_OUT_OF_BOUNDS, // with CUBC_CHECK=1: an expression indexes an array beyond its ends
    CUBC_INTERNAL       // a bug in cubc
} cubc_status;

typedef enum cubc_type {
    CUBC_BOOL = 0, // one byte: 0 is false, any other true; results are 0 and 1, but for items that
                   // are moved as they are (select, take, merge and others) and keep their bytes
    CUBC_I8,
    CUBC_I16,
    CUBC_I32,
    CUBC_I64,
    CUBC_U8,
    CUBC_U16,
    CUBC_U32,
    CUBC_U64,
    CUBC_F16,
    CUBC_BF16,
    CUBC_F32,
    CUBC_F64,
    CUBC_C64,             // complex: two F32, the real part first
    CUBC_C128,            // two F64
    CUBC_TYPE_COUNT,      // of the built-in types; those above are structs (cubc_type_struct)
    CUBC_TYPE_LAST = 254, // the highest that a struct may get
    CUBC_LAZY = 255       // beside an input: the pointer is to a cubc_lazy and not to items
} cubc_type;

// A member of a struct.
typedef struct cubc_member {
    const char *name; // an identifier of at most 31 characters
    cubc_type type;   // a built-in type or a struct
    size_t offset;    // bytes from the beginning of the struct; members follow each other
    int length;       // 0: one value; else the number of values of an array
} cubc_member;

typedef struct cubc_device cubc_device;
typedef void *cubc_stream; // a CUstream on "cuda:N" (NULL: the default stream); ignored on "cpu"

const char *cubc_version(void);
const char *cubc_status_name(cubc_status status);
const char *cubc_error_message(void); // text of this thread's last failure; "" if none
const char *cubc_error_log(void);     // compiler output of that failure; "" if none
size_t cubc_type_size(cubc_type type);
const char *cubc_type_name(cubc_type type); // "F32", "I64", ...

// Gives the type of a struct, for items, accumulators, operands, and values of a sort. Expressions
// read members as in C, a.x. They make a struct of a value for each member, in order:
// value_t{a.x + b.x, a.m} is an accumulator, out_t{...} a result of a transform or of a lazy input,
// decltype(a.inner){...} a struct in a struct, {1, 2, 3} an array in a struct. Structs of one type
// compare by their members with == and !=. `size` is that of an item with its padding, at most 64
// bytes. Arrays have C's alignment of the struct, or less if an offset is not a multiple of its
// member's alignment. The same description gives the same type again.
cubc_status cubc_type_struct(const cubc_member *members, int count, size_t size, cubc_type *out);

cubc_status cubc_device_open(const char *name, cubc_device **out); // "cuda:0", "cpu"; NULL: default
void cubc_device_close(cubc_device *device);
const char *cubc_device_name(const cubc_device *device);

cubc_status cubc_alloc(cubc_device *device, size_t bytes, cubc_stream stream, void **out);
void cubc_free(cubc_device *device, void *pointer, cubc_stream stream);
cubc_status cubc_copy(cubc_device *device, void *to, const void *from, size_t bytes,
                      cubc_stream stream); // from and to host or device memory
cubc_status cubc_synchronize(cubc_device *device, cubc_stream stream);
// cffi: end
#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
