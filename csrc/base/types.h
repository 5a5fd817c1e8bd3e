// The number types, with their names, sizes and names in kernel code; and structs of them.
//
// Structs are described at run time (cubc_type_struct). A type's row is written once, before
// anybody has its number, and stays for the life of the process, so it is read without a lock.
#ifndef CUBC_TYPES_H
#define CUBC_TYPES_H

#include "base/base.h"

typedef enum type_kind {
    KIND_BOOL,
    KIND_SIGNED,
    KIND_UNSIGNED,
    KIND_FLOAT,
    KIND_COMPLEX,
    KIND_STRUCT
} type_kind;

enum { MAX_VALUE_BYTES = 64 }; // of one item of any type

typedef struct type_info {
    const char *name;    // "F32": as CUB's benchmarks say it
    const char *dialect; // "f32": as kernels say it
    uint8_t size;        // bytes
    uint8_t alignment;   // of arrays
    type_kind kind;
    // A struct's:
    const cubc_member *members;
    int member_count;
    const char *description; // "{f32 x; u8 k; f32 m @8; 12 bytes}"
    const char *definition;  // in the dialect, one line
} type_info;

// The rows of all types. Numbers that type_valid accepts have one.
extern const type_info *const type_table;
// Adds a struct's row, whose texts and members stay for ever. One thread at a time.
cubc_status type_add(const type_info *row, cubc_type *out);

// One value of any type.
typedef struct type_value {
    uint64_t word[MAX_VALUE_BYTES / 8];
} type_value;

bool type_valid(cubc_type type);
cubc_status type_from_name(const char *name, cubc_type *out); // "F32"; built-in types alone
// The type an operator is evaluated in: F32 for F16 and BF16, otherwise the type itself.
cubc_type type_arithmetic(cubc_type type);
// The unsigned integer of 1, 2, 4 or 8 bytes.
cubc_type type_unsigned(size_t bytes);
// NumPy's rule for sums and products: integers and bool to 64 bits of their signedness.
cubc_type type_widened(cubc_type type);
// NumPy's result_type of two real types: the smallest that holds both, F64 if there is none.
cubc_type type_common(cubc_type a, cubc_type b);
// 1 as a number of the type.
type_value type_one(cubc_type type);
// True if a number is not 0, as a NaN is.
bool type_truth(cubc_type type, const void *number);
// The struct that the dialect calls so; false if there is none.
bool type_from_dialect(const char *name, cubc_type *out);
// True if a value may become one of another type: a struct is never converted, and a complex number
// never to a real one.
bool type_converts(cubc_type from, cubc_type to);
// The type of the parts of a real or complex number: F32 of C64.
cubc_type type_real(cubc_type type);

// The dialect's definitions of the structs among these types and of what they are made of, each
// once; `done` has a place for each type and begins all false.
void type_define(cubc_type type, bool done[CUBC_TYPE_LAST + 1], text *out);

#endif
