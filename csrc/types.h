// The number types: names, sizes, and what they are called in kernel code.
#ifndef CUBC_TYPES_H
#define CUBC_TYPES_H

#include "base.h"

typedef enum type_kind { KIND_BOOL, KIND_SIGNED, KIND_UNSIGNED, KIND_FLOAT } type_kind;

typedef struct type_info {
    const char *name;    // "F32": as CUB's benchmarks say it
    const char *dialect; // "f32": as kernels say it
    uint8_t size;        // bytes
    type_kind kind;
} type_info;

extern const type_info type_table[CUBC_TYPE_COUNT];

bool type_valid(cubc_type type);
cubc_status type_from_name(const char *name, cubc_type *out); // "F32"
// The type an operator is evaluated in: F32 for F16 and BF16, otherwise the type itself.
cubc_type type_arithmetic(cubc_type type);
// NumPy's rule for sums and products: integers and bool to 64 bits of their signedness.
cubc_type type_widened(cubc_type type);
// NumPy's result_type of two: the smallest that holds both, F64 if there is none.
cubc_type type_common(cubc_type a, cubc_type b);

#endif
