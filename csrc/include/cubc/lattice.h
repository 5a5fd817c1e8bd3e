// Operators, solvers and gauge fields of lattice QCD: a part of cubc.h.
//
// The lattice is periodic, of lx * ly * lz * lt sites with even extents. The parity of a site is
// that of x + y + z + t. Sites of one parity are in the order of x / 2, y, z, t, with x fastest.
// Gamma matrices are those of DeGrand and Rossi. Plain fields have complex numbers of two reals,
// F64 or F32. Native fields have F64, F32 or I16. I16 is fixed point: 32767 stands for 1, or in
// spinors for the largest magnitude of the site. The norm of a site, that magnitude over 32767, is
// an F32 in another array.
//
// Native order: each parity's field is cut into chunks of 16 bytes of each site. Chunk k of all
// sites comes before chunk k + 1 of any. Parity 0 comes before parity 1. A link has 18, 12 or 8
// reals; the four directions of a parity follow each other, x, y, z, t. A spinor has 24 reals, spin
// slowest: first (upper + lower) / sqrt(2) of the plain spins, then (upper - lower) / sqrt(2).
// Arrays are aligned to 16 bytes.
#ifndef CUBC_LATTICE_H
#define CUBC_LATTICE_H

#include "cubc/core.h"

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

// Guard of a kernel that is part of a solver (kernels/lattice/solver/solver.h). Each right-hand
// side has a state; the kernel processes those whose phase is that of the guard.
enum { CUBC_STATE_BYTES = 2232 };
typedef struct cubc_guard {
    void *states;  // CUBC_STATE_BYTES a right-hand side, in the device's memory
    double *parts; // of sums, in the device's memory
    uint64_t parts_n;
    uint64_t phase; // of the right-hand sides to process
    uint64_t step;  // argument of the function that takes the sums
} cubc_guard;

// One pass over fields for a solver: statements on the complex numbers of each site, then real sums
// over all sites, which a function of kernels/lattice/solver takes. A list ends at its first NULL.
// Any part may be missing, but sums need the function and the function needs sums.
enum { CUBC_MOST_SCALARS = 4, CUBC_MOST_SUMS = 8 };
typedef struct cubc_site_update {
    const char *scalars[CUBC_MOST_SCALARS]; // of the state, that the statements use: {"alpha"}
    const char *statements;                 // "x = x + alpha * p; r = r - alpha * q"
    const char *sums[CUBC_MOST_SUMS];       // terms: {"norm(r)"}
    const char *finish;                     // the function: "cg_length"
} cubc_site_update;

// A copy of a gauge field in another order, precision or reconstruction. Links of fewer than 18
// reals are taken for SU(3) matrices. The copy must not overlap the source.
typedef struct cubc_link_copy_params {
    const void *from;
    void *to;
    uint64_t from_n, to_n; // reals of all links, 4 * sites * reals, or of C128 and C64 half as many
                           // complex numbers
    cubc_type from_type, to_type;
    cubc_field_order from_order, to_order;
    int from_reals, to_reals; // of a link: 18; 12 or 8 in native order
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
    int reals; // a site: 24 of spinors, whose basis is that of the order; 6 of colour vectors; 0:
               // 24
    int lx, ly, lz, lt;
} cubc_spinor_copy_params;

// The Wilson hopping term, out = D in, or out = x + a D in:
//     D psi(x) = sum over mu of (1 - gamma_mu) U_mu(x) psi(x + mu)
//                             + (1 + gamma_mu) U_mu(x - mu)^+ psi(x - mu)
// without the factor 1/2 of projectors. All fields are in native order and of one type. If the
// output is of one parity, 0 or 1, in is of the other parity; with 2 all fields are of both. out
// may be x; it overlaps no other array. Hops in space have the factor 1 / anisotropy. Links stay in
// SU(3), since the operator has the boundary condition.
typedef struct cubc_dslash_wilson_params {
    const void *links; // both parities
    const void *in;
    const float *in_norms; // of I16, else NULL; as are the other norms
    const void *x;         // NULL: out = D in
    const float *x_norms;
    void *out;
    float *out_norms;
    uint64_t links_n;    // 4 * sites * reconstruct
    uint64_t n;          // reals of in: 24 * sites (half of them for one parity) * sources
    uint64_t norms_n;    // n / 24, or 0
    cubc_type type;      // of links and spinors: F64, F32, I16
    cubc_type norm_type; // F32
    int lx, ly, lz, lt;
    int reconstruct;    // reals of a link: 18, 12, 8
    int parity;         // of the output: 0, 1; 2: both
    int inner;          // sources that follow each other and have one state of `guard`; 0: 1
    int dagger;         // not 0: the adjoint of D
    int antiperiodic;   // not 0: spinors change sign across the boundary in time
    int temporal_gauge; // not 0: links in time are 1 but for those of the last slice
    double a;
    double anisotropy; // 1: none
    // Spinors have the factor exp(i theta) across the boundary: psi(x + lx) = exp(i theta_x)
    // psi(x). That of `antiperiodic` comes on top.
    double theta_x, theta_y, theta_z, theta_t;
    // For solvers; NULL otherwise. The tail computes with the result m, with x and with z at each
    // site (kernels/lattice/solver/tail.h); NULL: out = m. z may be the output.
    const cubc_guard *guard;
    const cubc_site_update *tail;
    const void *z;
    const float *z_norms;
} cubc_dslash_wilson_params;

// Hopping term D of staggered fermions, which is anti-Hermitian (kernels/lattice/staggered_hops.h):
// out = a D in, or out = b x + a D in if there is x. Fields are colour vectors in native order.
// Links are in native order and without signs. A stored link times its scale is the link, so that
// fixed point holds fat links, whose elements exceed 1, and long links are stored as matrices of
// U(3).
typedef struct cubc_dslash_staggered_params {
    const void *links;      // fat links, or those of the gauge field; both parities
    const void *long_links; // NULL: none
    const void *in;
    const float *in_norms; // of I16, else NULL; as are the other norms
    const void *x;         // NULL: out = a D in
    const float *x_norms;
    void *out;
    float *out_norms;
    uint64_t links_n, long_n; // 4 * sites * reals of a link, 14 for 13 in fixed point
    uint64_t n;               // reals of in: 6 * sites (half of them for one parity) * sources
    uint64_t norms_n;         // n / 6, or 0
    cubc_type type;           // of links and vectors: F64, F32, I16
    cubc_type norm_type;      // F32
    int lx, ly, lz, lt;
    int reconstruct;      // reals of a link: 18; 12 or 8 of links in SU(3)
    int long_reconstruct; // reals of a long link: 18 or 13
    int parity;           // of the output: 0, 1; 2: both
    int inner;            // sources that follow each other and have one state of `guard`; 0: 1
    // Signs: five bits for each direction, x first. A hop in a direction changes sign with each of
    // the coordinates x, y, z, t that is odd and whose bit is set, and once if the fifth bit is.
    // Bit 20 is set if hops across the boundary in time change sign.
    uint64_t signs;
    double a, b;
    double scale, long_scale;
    const cubc_guard *guard; // as those of cubc_dslash_wilson_params
    const cubc_site_update *tail;
    const void *z;
    const float *z_norms;
} cubc_dslash_staggered_params;

// Linear algebra of a solver in one pass over its fields, which the update names. They are native
// fields of the same number of sites. Norms of a fixed-point field directly follow its reals.
typedef struct cubc_site_field {
    const char *name;
    void *data;
    cubc_type type; // F64, F32, I16
    int written;    // not 0: it changes
} cubc_site_field;

typedef struct cubc_field_update_params {
    const cubc_site_update *update;
    const cubc_site_field *fields; // at most 12, of which 4 are written
    int field_count;
    const cubc_guard *guard;
    int lx, ly, lz, lt;
    int reals; // a site: 24 of spinors, 6 of colour vectors; even
    int parts; // of a right-hand side, fields of one parity: 1, or 2 for both; times its inner
               // sites
    uint64_t sources;
} cubc_field_update_params;

// The clover term of Wilson fermions (B. Sheikholeslami and R. Wohlert, 1985):
//     A(x) = 1 + sum over mu < nu of c sigma_munu H_munu(x),  c = kappa c_sw
//     sigma_munu = i/2 [gamma_mu, gamma_nu],  H_munu = i/8 (Q_munu - Q_munu^+)
// Q is the sum of the four plaquettes in the plane that begin at x. The Dirac operator is A - kappa
// D. The term is a field of both parities in native order, with 72 reals for each site. They are
// two Hermitian 6x6 matrices, that of gamma_5 = 1 first, whose rows count spin (slowest) and colour
// in the DeGrand-Rossi basis. Each matrix has the 6 reals of its diagonal, then the complex numbers
// below it, row by row. In fixed point each site has a norm, as for spinors.
typedef struct cubc_clover_term_params {
    const void *links; // in native order, of 18 reals
    void *out;
    float *out_norms;     // of I16, else NULL
    uint64_t links_n;     // 72 * sites
    uint64_t n;           // 72 * sites
    cubc_type links_type; // F64, F32
    cubc_type type;       // of the result: F64, F32, I16
    uint64_t norms_n;     // sites, or 0
    cubc_type norm_type;  // F32
    int lx, ly, lz, lt;
    double magnetic, electric; // c of the planes in space, and of those with time
} cubc_clover_term_params;

// The inverse of a clover term, and log |det| of both matrices of each site together. The sum over
// all sites is the trace of the logarithm, if the matrices are positive definite, as those near 1
// are. The sign of a determinant is not reported.
typedef struct cubc_clover_invert_params {
    const void *clover;
    const float *clover_norms;
    void *out;
    float *out_norms;
    double *log_det;                  // those of parity 0 first
    uint64_t clover_n, n;             // 72 * sites
    uint64_t log_det_n;               // sites
    cubc_type clover_type, type;      // F64, F32, I16
    cubc_type log_det_type;           // F64
    uint64_t clover_norms_n, norms_n; // sites, or 0
    cubc_type norm_type;              // F32
    int lx, ly, lz, lt;
} cubc_clover_invert_params;

// out = C x for spinors in native order, where C is a clover term or its inverse. out may be x.
typedef struct cubc_clover_apply_params {
    const void *clover;
    const float *clover_norms; // of I16, else NULL; as are the other norms
    const void *x;
    const float *x_norms;
    void *out;
    float *out_norms;
    uint64_t clover_n;                // 72 * sites
    uint64_t n;                       // reals: 24 * sites (half of them for one parity) * sources
    uint64_t clover_norms_n, norms_n; // sites and n / 24, or 0
    cubc_type type;                   // F64, F32, I16
    cubc_type norm_type;              // F32
    int lx, ly, lz, lt;
    int parity; // of the spinors: 0, 1; 2: both
} cubc_clover_apply_params;

// Wilson-clover fermions: out = C D in, out = x + a C D in, or, with on_x, out = C x + a D in.
// The rest is as for the Wilson Dslash.
typedef struct cubc_dslash_clover_params {
    cubc_dslash_wilson_params wilson;
    const void *clover;        // C, of both parities
    const float *clover_norms; // of I16, else NULL
    uint64_t clover_n, clover_norms_n;
    int on_x;
} cubc_dslash_clover_params;

// Twisted mass fermions (R. Frezzotti et al., 2001):
//     out = (b + i b5 gamma_5) x + (a + i a5 gamma_5) D in
// If x is NULL its term is absent. The rest is as for the Wilson Dslash.
typedef struct cubc_dslash_twisted_params {
    cubc_dslash_wilson_params wilson;
    double a5, b, b5;
} cubc_dslash_twisted_params;

// out = (a + i a5 gamma_5) x for spinors in native order, of one parity or both, of any number of
// sources. out may be x.
typedef struct cubc_spinor_twist_params {
    const void *x;
    const float *x_norms; // of I16, else NULL
    void *out;
    float *out_norms;
    uint64_t n;          // reals: 24 * sites (half of them for one parity) * sources
    uint64_t norms_n;    // n / 24, or 0
    cubc_type type;      // F64, F32, I16
    cubc_type norm_type; // F32
    int lx, ly, lz, lt;
    double a, a5;
} cubc_spinor_twist_params;

cubc_status cubc_clover_apply_temp_bytes(cubc_device *device,
                                         const cubc_clover_apply_params *params, size_t *bytes);
cubc_status cubc_clover_apply(cubc_device *device, const cubc_clover_apply_params *params,
                              void *temp, size_t temp_bytes, cubc_stream stream);
cubc_status cubc_clover_invert_temp_bytes(cubc_device *device,
                                          const cubc_clover_invert_params *params, size_t *bytes);
cubc_status cubc_clover_invert(cubc_device *device, const cubc_clover_invert_params *params,
                               void *temp, size_t temp_bytes, cubc_stream stream);
cubc_status cubc_clover_term_temp_bytes(cubc_device *device, const cubc_clover_term_params *params,
                                        size_t *bytes);
cubc_status cubc_clover_term(cubc_device *device, const cubc_clover_term_params *params, void *temp,
                             size_t temp_bytes, cubc_stream stream);
cubc_status cubc_dslash_clover_temp_bytes(cubc_device *device,
                                          const cubc_dslash_clover_params *params, size_t *bytes);
cubc_status cubc_dslash_clover(cubc_device *device, const cubc_dslash_clover_params *params,
                               void *temp, size_t temp_bytes, cubc_stream stream);
cubc_status cubc_dslash_staggered_temp_bytes(cubc_device *device,
                                             const cubc_dslash_staggered_params *params,
                                             size_t *bytes);
cubc_status cubc_dslash_staggered(cubc_device *device, const cubc_dslash_staggered_params *params,
                                  void *temp, size_t temp_bytes, cubc_stream stream);
cubc_status cubc_dslash_twisted_temp_bytes(cubc_device *device,
                                           const cubc_dslash_twisted_params *params, size_t *bytes);
cubc_status cubc_dslash_twisted(cubc_device *device, const cubc_dslash_twisted_params *params,
                                void *temp, size_t temp_bytes, cubc_stream stream);
cubc_status cubc_dslash_wilson_temp_bytes(cubc_device *device,
                                          const cubc_dslash_wilson_params *params, size_t *bytes);
cubc_status cubc_dslash_wilson(cubc_device *device, const cubc_dslash_wilson_params *params,
                               void *temp, size_t temp_bytes, cubc_stream stream);
cubc_status cubc_field_update_temp_bytes(cubc_device *device,
                                         const cubc_field_update_params *params, size_t *bytes);
cubc_status cubc_field_update(cubc_device *device, const cubc_field_update_params *params,
                              void *temp, size_t temp_bytes, cubc_stream stream);
cubc_status cubc_link_copy_temp_bytes(cubc_device *device, const cubc_link_copy_params *params,
                                      size_t *bytes);
cubc_status cubc_link_copy(cubc_device *device, const cubc_link_copy_params *params, void *temp,
                           size_t temp_bytes, cubc_stream stream);
cubc_status cubc_spinor_copy_temp_bytes(cubc_device *device, const cubc_spinor_copy_params *params,
                                        size_t *bytes);
cubc_status cubc_spinor_copy(cubc_device *device, const cubc_spinor_copy_params *params, void *temp,
                             size_t temp_bytes, cubc_stream stream);
cubc_status cubc_spinor_twist_temp_bytes(cubc_device *device,
                                         const cubc_spinor_twist_params *params, size_t *bytes);
cubc_status cubc_spinor_twist(cubc_device *device, const cubc_spinor_twist_params *params,
                              void *temp, size_t temp_bytes, cubc_stream stream);

// ---- solvers ------------------------------------------------------------------------------------
// Solve of M x = b for any number of right-hand sides. The iteration runs on the device; the host
// reads no intermediate results. It works in the sloppy precision. When the residual has dropped by
// the factor `delta`, the correction is added to x, and the residual computed anew, in the precise
// one.
typedef enum cubc_operator_kind {
    CUBC_WILSON,   // M = 1 - kappa D
    CUBC_TWISTED,  // M = 1 + 2 i kappa mu gamma_5 - kappa D
    CUBC_CLOVER,   // M = A - kappa D
    CUBC_STAGGERED // M = 2 m + D
} cubc_operator_kind;

// Parameters of each kind. Extents are those of the cubc_operator.
typedef struct cubc_wilson_operator {
    const void *links; // in native order
    uint64_t links_n;
    cubc_type type;                   // of the links; copied if another is needed
    int reconstruct;                  // reals of a link: 18, 12, 8
    int antiperiodic, temporal_gauge; // as of cubc_dslash_wilson_params
    double anisotropy;
    double theta_x, theta_y, theta_z, theta_t;
    double kappa; // 1 / (2 (m + 1 + 3 / anisotropy)) at mass m
} cubc_wilson_operator;

typedef struct cubc_twisted_operator {
    cubc_wilson_operator wilson;
    double mu;
} cubc_twisted_operator;

typedef struct cubc_clover_operator {
    cubc_wilson_operator wilson;
    const void *clover; // A, of cubc_clover_term_params
    uint64_t clover_n;
    cubc_type clover_type; // F64, F32; copied if another is needed
} cubc_clover_operator;

typedef struct cubc_staggered_operator {
    const void *links;      // fat links, or those of the gauge field, in native order
    const void *long_links; // NULL: none
    uint64_t links_n, long_n;
    cubc_type type, long_type; // of the links; copied if another is needed
    // As of cubc_dslash_staggered_params.
    int reconstruct, long_reconstruct;
    uint64_t signs;
    double scale, long_scale;
    double mass; // above 0
} cubc_staggered_operator;

typedef struct cubc_operator {
    cubc_operator_kind kind;
    int lx, ly, lz, lt;
    union { // by the kind; those of Wilson-like operators begin with `wilson`
        cubc_wilson_operator wilson;
        cubc_twisted_operator twisted;
        cubc_clover_operator clover;
        cubc_staggered_operator staggered;
    } of;
} cubc_operator;

enum { CUBC_MOST_SHIFTS = 16 };

typedef enum cubc_solve_sites {
    CUBC_ALL_SITES,
    CUBC_BY_PARITY, // M x = b by the system of the even sites, from which the odd ones follow
    CUBC_EVEN_SITES // that system itself, M_e x = b: b and x are fields of the even sites
} cubc_solve_sites;

typedef struct cubc_solve_params {
    const cubc_operator *op;
    const char *solver;   // "cg": of the normal equations, unless M is Hermitian and positive;
                          // "bicgstab"; "gcr": restarted after 8 directions; "multishift": not by
                          // parity, in the precise type only
    const double *shifts; // of several systems (M^+ M + shift) x = b, or (M + shift) x = b where M
                          // is Hermitian and positive, none below 0; NULL: M x = b
    int shift_count;      // at most CUBC_MOST_SHIFTS
    const void *b;
    void *x;        // of one shift after the other
    uint64_t n;     // reals of b, and of x of each shift: those of a site (24 of Wilson-like
                    // operators) * sites (half of them for CUBC_EVEN_SITES) * sources
    cubc_type type; // of either: F64, F32
    cubc_field_order order; // of either
    int guess;              // not 0: x is the first guess; else 0 is
    double tolerance;       // of |b - M x| / |b|
    uint64_t iterations;    // at most, for each right-hand side
    cubc_type precise;      // F64, F32: of residual and solution
    cubc_type sloppy;       // F64, F32, I16: of the iteration
    cubc_solve_sites sites; // of the system that is solved
    int normal;             // not 0: M^+ M x = b, not by parity
    double delta;           // 0: 0.2
} cubc_solve_params;

typedef struct cubc_solve_info { // report of a right-hand side
    int converged;               // not 0: `residual` is at most the tolerance
    const char *reason;          // "converged", or the reason of the end; never freed
    uint64_t iterations, updates;
    double residual;        // |b - M x| / |b| of x in `type`, on the whole lattice, computed in the
                            // precise type; |b - M x| if b is 0. NaN: all of x is NaN
    double seconds;         // of all right-hand sides together, without compilation
    double gflops;          // of the operator only, of all right-hand sides together
    double compile_seconds; // before `seconds`, for kernels that were not compiled yet
} cubc_solve_info;

// The number of reports of a solve: one for each right-hand side and shift. It checks no more than
// that needs.
cubc_status cubc_solve_reports(const cubc_solve_params *params, uint64_t *count);

// Returns when x is complete. info has a report for each right-hand side, for one shift after the
// other. A solve that does not converge is no error. A solve that cannot reach the tolerance for
// rounding ends early.
cubc_status cubc_solve(cubc_device *device, const cubc_solve_params *params, cubc_solve_info *info,
                       cubc_stream stream);

// ---- gauge fields -------------------------------------------------------------------------------
// Links are in native order with all 18 reals, F64 or F32. A call that works in place takes the
// input as out; otherwise out must not overlap the input.

typedef enum cubc_gauge_quantity {
    CUBC_GAUGE_PLAQUETTES, // means of Re tr / 3: planes xy, xz, xt, yz, yt, zt, then links
    CUBC_GAUGE_POLYAKOV,   // mean of tr / 3 of the product of links in time: real, imaginary part
    CUBC_GAUGE_UNITARITY   // largest |U U^+ - 1| of all elements, and largest |det U - 1|
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
} cubc_gauge_rotate_params;

// The rotation to temporal gauge: links in time become 1, except in the last time slice.
typedef struct cubc_gauge_temporal_params {
    const void *links;
    void *out;
    uint64_t links_n; // 72 * sites
    uint64_t n;       // 18 * sites
    cubc_type type;
    int lx, ly, lz, lt;
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
