// Primitives that copy items without a look at them: a part of cubc.h.
#ifndef CUBC_COPIES_H
#define CUBC_COPIES_H

#include "cubc.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)
// cffi: begin
// Many copies of memory at once: copy k takes the bytes from in + from[k] to out + to[k], as many
// as its end lies behind the one before it. No destination may overlap another or a source.
typedef struct cubc_copy_batch_params {
    const void *in; // n items; NULL, with out: from and to are addresses of the device
    void *out;
    uint64_t n;
    cubc_type type;
    const int64_t *from, *to; // count of each, in the device's memory
    const int64_t *ends;      // of the copies if they lay one behind the other: inclusive sums of
                              // their bytes
    uint64_t count;
    uint64_t bytes; // of all copies: the last end
} cubc_copy_batch_params;

// Each of several matrices transposed, which lie one behind the other: n is a multiple of rows *
// columns. out lies apart from in.
typedef struct cubc_transpose_params {
    const void *in; // in C order
    void *out;
    uint64_t n;
    uint64_t rows, columns; // of each matrix of the input
    cubc_type type;
} cubc_transpose_params;

cubc_status cubc_copy_batch_temp_bytes(cubc_device *device, const cubc_copy_batch_params *params,
                                       size_t *bytes);
cubc_status cubc_copy_batch(cubc_device *device, const cubc_copy_batch_params *params, void *temp,
                            size_t temp_bytes, cubc_stream stream);
cubc_status cubc_transpose_temp_bytes(cubc_device *device, const cubc_transpose_params *params,
                                      size_t *bytes);
cubc_status cubc_transpose(cubc_device *device, const cubc_transpose_params *params, void *temp,
                           size_t temp_bytes, cubc_stream stream);
// cffi: end
#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
