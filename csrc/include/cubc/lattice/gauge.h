// Gauge fields, measured, updated, rotated and smeared: a part of lattice.h, which describes the
// fields.
//
// Links are in native order with all 18 reals, F64 or F32. A call that works in place takes the
// input as out; otherwise out must not overlap the input.
#ifndef CUBC_PUBLIC_LATTICE_GAUGE_H
#define CUBC_PUBLIC_LATTICE_GAUGE_H

#include "cubc/lattice/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)
// cffi: begin
typedef enum cubc_gauge_quantity {
    CUBC_GAUGE_PLAQUETTES, // means of Re tr / 3: planes xy, xz, xt, yz, yt, zt, then links
    CUBC_GAUGE_POLYAKOV,   // mean of tr / 3 of the product of links in time: real, imaginary part
    CUBC_GAUGE_UNITARITY,  // largest |U U^+ - 1| of all elements, and largest |det U - 1|
    CUBC_GAUGE_TEMPORAL    // largest |U - 1| of links in time before the last slice, and in it
} cubc_gauge_quantity;

typedef struct cubc_gauge_measure_params {
    const void *links;
    double *out;
    uint64_t links_n; // 72 * sites
    uint64_t out_n;   // 7 of plaquettes, otherwise 2
    cubc_type type;
    cubc_type out_type; // F64
    cubc_gauge_quantity quantity;
    int lx, ly, lz, lt;
    int cut, margin; // plaquettes that begin in a part with sites around it (cubc_part_copy)
} cubc_gauge_measure_params;

typedef struct cubc_gauge_random_params {
    void *out;
    uint64_t n;   // 18 * matrices * sites
    int matrices; // of a site: 4, a gauge field; 1, a gauge rotation
    cubc_type type;
    int lx, ly, lz, lt;
    uint64_t seed;
    // The first two rows of identity * 1 + noise * G made orthonormal, G of normal complex numbers:
    // 1, 0 is unity; 0, 1 Haar's measure.
    double identity, noise;
    cubc_ranks *ranks; // the lattice is this rank's part, with its random numbers; or NULL
} cubc_gauge_random_params;

typedef enum cubc_gauge_projection {
    CUBC_GAUGE_ROWS,    // rows 0 and 1 made orthonormal, row 2 from both: SU(3)
    CUBC_GAUGE_NEAREST, // the nearest matrix of SU(3)
    CUBC_GAUGE_UNITARY  // the nearest matrix of U(3)
} cubc_gauge_projection;

// Projection of links to SU(3) or U(3); works in place too.
typedef struct cubc_gauge_project_params {
    const void *links;
    void *out;
    uint64_t n; // 72 * sites
    cubc_type type;
    int lx, ly, lz, lt;
    cubc_gauge_projection projection;
} cubc_gauge_project_params;

// Rotation of links, g(x) U_mu(x) g(x + mu)^+, or of spinors of any number of sources, g(x) psi(x).
// Works in place too.
typedef struct cubc_gauge_rotate_params {
    const void *in;
    const void *rotation; // one matrix a site, in native order
    void *out;
    uint64_t n;          // reals * sites, of spinors times sources
    uint64_t rotation_n; // 18 * sites
    int reals;           // of a site: 72, links; 24, spinors; 6, colour vectors
    cubc_type type;
    int lx, ly, lz, lt;
    int inverse;        // not 0: with g^+ for g
    int temporal_gauge; // not 0: g is of cubc_gauge_temporal, and links that become 1 are exact
    int slices_behind;  // then: time slices behind the last one of the lattice, as of a part with
                        // sites around it; -1: the last one is on another rank
} cubc_gauge_rotate_params;

// The rotation to temporal gauge: links in time become 1, except in the last time slice.
typedef struct cubc_gauge_temporal_params {
    const void *links;
    void *out;
    uint64_t links_n; // 72 * sites
    uint64_t n;       // 18 * sites
    cubc_type type;
    int lx, ly, lz, lt;
    // The first time slice of g [parity][z][y][x / 2][row][column], where the links are a part; it
    // becomes the slice behind the last one. NULL: g is 1 in the first.
    void *edge;
    uint64_t edge_n; // 18 * sites / lt, or 0
} cubc_gauge_temporal_params;

// One sweep of updates with the plaquette action, in place: heat bath of Cabibbo and Marinari, or
// over-relaxation. Random numbers are functions of seed, sweep, direction and site.
typedef struct cubc_gauge_update_params {
    void *links;
    uint64_t n; // 72 * sites
    uint64_t seed;
    uint64_t sweep; // below 2^32; a sweep and a seed determine the random numbers
    double beta;
    int over_relax; // 0: heat bath
    cubc_type type;
    int lx, ly, lz, lt;
    int direction; // 1 to 4: of the links in x, y, z or t alone; 0: of all, one after the other
    // The links are a rank's part with sites around it, as cubc_part_copy makes it; F64, and a call
    // is for one direction. All ranks call it, and the links around the part are those of the
    // neighbours afterwards. NULL and 0: the lattice is not cut.
    cubc_ranks *ranks;
    int margin;
} cubc_gauge_update_params;

// Links of improved staggered fermions, without phases or boundary conditions; out is apart from
// the links. Fat links are sums over paths of 1, 3, 5 and 7 links and over those two steps out,
// each with its coefficient (kernels/lattice/fat_links.cu); long links are products of three links
// of one direction, times a factor.
typedef struct cubc_fat_links_params {
    const void *links;
    void *out;
    uint64_t n; // 72 * sites
    cubc_type type;
    int lx, ly, lz, lt;
    double one, three, five, seven, lepage;
} cubc_fat_links_params;

typedef struct cubc_long_links_params {
    const void *links;
    void *out;
    uint64_t n; // 72 * sites
    cubc_type type;
    int lx, ly, lz, lt;
    double factor;
} cubc_long_links_params;

cubc_status cubc_fat_links_temp_bytes(cubc_device *device, const cubc_fat_links_params *params,
                                      size_t *bytes);
cubc_status cubc_fat_links(cubc_device *device, const cubc_fat_links_params *params, void *temp,
                           size_t temp_bytes, cubc_stream stream);
cubc_status cubc_long_links_temp_bytes(cubc_device *device, const cubc_long_links_params *params,
                                       size_t *bytes);
cubc_status cubc_long_links(cubc_device *device, const cubc_long_links_params *params, void *temp,
                            size_t temp_bytes, cubc_stream stream);
cubc_status cubc_gauge_measure_temp_bytes(cubc_device *device,
                                          const cubc_gauge_measure_params *params, size_t *bytes);
cubc_status cubc_gauge_measure(cubc_device *device, const cubc_gauge_measure_params *params,
                               void *temp, size_t temp_bytes, cubc_stream stream);
cubc_status cubc_gauge_project_temp_bytes(cubc_device *device,
                                          const cubc_gauge_project_params *params, size_t *bytes);
cubc_status cubc_gauge_project(cubc_device *device, const cubc_gauge_project_params *params,
                               void *temp, size_t temp_bytes, cubc_stream stream);
cubc_status cubc_gauge_random_temp_bytes(cubc_device *device,
                                         const cubc_gauge_random_params *params, size_t *bytes);
cubc_status cubc_gauge_random(cubc_device *device, const cubc_gauge_random_params *params,
                              void *temp, size_t temp_bytes, cubc_stream stream);
cubc_status cubc_gauge_rotate_temp_bytes(cubc_device *device,
                                         const cubc_gauge_rotate_params *params, size_t *bytes);
cubc_status cubc_gauge_rotate(cubc_device *device, const cubc_gauge_rotate_params *params,
                              void *temp, size_t temp_bytes, cubc_stream stream);
cubc_status cubc_gauge_temporal_temp_bytes(cubc_device *device,
                                           const cubc_gauge_temporal_params *params, size_t *bytes);
cubc_status cubc_gauge_temporal(cubc_device *device, const cubc_gauge_temporal_params *params,
                                void *temp, size_t temp_bytes, cubc_stream stream);
cubc_status cubc_gauge_update_temp_bytes(cubc_device *device,
                                         const cubc_gauge_update_params *params, size_t *bytes);
cubc_status cubc_gauge_update(cubc_device *device, const cubc_gauge_update_params *params,
                              void *temp, size_t temp_bytes, cubc_stream stream);
// cffi: end
#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
