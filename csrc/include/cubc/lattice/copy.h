// Orders of fields, and copies from one order and precision to another: a part of lattice.h.
#ifndef CUBC_PUBLIC_LATTICE_COPY_H
#define CUBC_PUBLIC_LATTICE_COPY_H

#include "cubc/lattice/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)
// cffi: begin
typedef enum cubc_field_order {
    CUBC_PLAIN,    // spinors [t][z][y][x][spin][colour], links [t][z][y][x][direction][row][column]
    CUBC_EVEN_ODD, // spinors [parity][t][z][y][x / 2][spin][colour],
                   // links [direction][parity][t][z][y][x / 2][row][column]
    CUBC_NATIVE
} cubc_field_order;

// A copy of a gauge field in another order, precision or reconstruction. Links of 12 or 8 reals are
// taken for SU(3) matrices, those of 13 for matrices of U(3), without a check, which would wait for
// the device. CUBC_GAUGE_UNITARITY of cubc_gauge_measure tells how far the links are from
// either; more than 1e-4 is not rounding, and what Python refuses. The copy must not overlap the
// source.
typedef struct cubc_link_copy_params {
    const void *from;
    void *to;
    uint64_t from_n, to_n; // reals of all links, 4 * sites * reals, or of C128 and C64 half as many
                           // complex numbers
    cubc_type from_type, to_type;
    cubc_field_order from_order, to_order;
    int from_reals, to_reals; // of a link: 18; 12, 8 or 13 in native order
    int lx, ly, lz, lt;
} cubc_link_copy_params;

// A copy of spinors or colour vectors in another order or precision, of any number of sources one
// after the other. They are of both parities, or of one if neither order is plain. The copy must
// not overlap the source.
typedef struct cubc_spinor_copy_params {
    const void *from;
    const float *from_norms; // of I16, else NULL
    void *to;
    float *to_norms;
    uint64_t from_n, to_n; // `reals` * sites (half of them for one parity) * sources, or of C128
                           // and C64 half as many complex numbers
    cubc_type from_type, to_type;
    uint64_t norms_n;    // sites * sources, or 0
    cubc_type norm_type; // F32
    cubc_field_order from_order, to_order;
    int reals; // a site: 24 of spinors, whose basis is that of the order; 6 of colour vectors; 72
               // of clover terms, native to native; 0: 24
    int lx, ly, lz, lt;
} cubc_spinor_copy_params;

// A copy of a rank's part of a field, in native order, into the middle of a larger one, with sites
// of its neighbours around it, or out of such a one. The extents are those of the larger field.
// The sites around it get the numbers of neighbouring ranks, all of which make the call; without
// ranks they stay as they are.
typedef struct cubc_part_copy_params {
    const void *from;
    void *to;
    uint64_t from_n, to_n; // reals * sites
    cubc_type type;        // F64; of copies without ranks F32 and I16 too
    int reals;             // a site, up to 72
    int lx, ly, lz, lt;
    int crop;          // not 0: out of the larger field
    int cut;           // bit d: there are sites around along direction d: 1 y, 2 z, 3 t
    int margin;        // sites on each side, an even number
    cubc_ranks *ranks; // or NULL
} cubc_part_copy_params;

cubc_status cubc_part_copy_temp_bytes(cubc_device *device, const cubc_part_copy_params *params,
                                      size_t *bytes);
cubc_status cubc_part_copy(cubc_device *device, const cubc_part_copy_params *params, void *temp,
                           size_t temp_bytes, cubc_stream stream);
cubc_status cubc_link_copy_temp_bytes(cubc_device *device, const cubc_link_copy_params *params,
                                      size_t *bytes);
cubc_status cubc_link_copy(cubc_device *device, const cubc_link_copy_params *params, void *temp,
                           size_t temp_bytes, cubc_stream stream);
cubc_status cubc_spinor_copy_temp_bytes(cubc_device *device, const cubc_spinor_copy_params *params,
                                        size_t *bytes);
cubc_status cubc_spinor_copy(cubc_device *device, const cubc_spinor_copy_params *params, void *temp,
                             size_t temp_bytes, cubc_stream stream);
// cffi: end
#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
