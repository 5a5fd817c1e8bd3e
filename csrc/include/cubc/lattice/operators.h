// Dirac operators, their site terms, and the linear algebra of solvers: a part of lattice.h, which
// describes the fields.
#ifndef CUBC_PUBLIC_LATTICE_OPERATORS_H
#define CUBC_PUBLIC_LATTICE_OPERATORS_H

#include "cubc/lattice/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)
// cffi: begin
// Guard of a kernel that is part of a solver (kernels/lattice/solver/solver.h). Each right-hand
// side has a state; the kernel processes those whose phase is that of the guard.
enum { CUBC_STATE_BYTES = 2632 };
typedef struct cubc_guard {
    void *states;  // CUBC_STATE_BYTES a right-hand side, in the device's memory
    double *parts; // of sums, in the device's memory
    uint64_t parts_n;
    uint64_t phase;    // of the right-hand sides to process
    uint64_t step;     // argument of the function that takes the sums
    cubc_ranks *ranks; // over which sums are taken: those of the fields; NULL: over none
} cubc_guard;

// One pass over fields for a solver: statements on the complex numbers of each site, then real sums
// over all sites, which a function of kernels/lattice/solver takes. A list ends at its first NULL.
// Any part may be missing, but sums need the function and the function needs sums.
enum { CUBC_MOST_SCALARS = 4, CUBC_MOST_SUMS = 32 };
typedef struct cubc_site_update {
    const char *scalars[CUBC_MOST_SCALARS]; // of the state, that the statements use: {"alpha"}
    const char *statements;                 // "x = x + alpha * p; r = r - alpha * q"
    const char *sums[CUBC_MOST_SUMS];       // terms: {"norm(r)"}
    const char *finish;                     // the function: "cg_length"
} cubc_site_update;

// The sites and sources of a hopping term: parameters that all operators have. Fields are in native
// order and of one type, which is that of the links too. If the output is of one parity, 0 or 1, in
// is of the other parity; with 2 all fields are of both. out may be x; it overlaps no other array.
typedef struct cubc_dslash_sites {
    const void *in;
    const float *in_norms; // of I16, else NULL; as are the other norms
    const void *x;         // NULL: the term of x is absent
    const float *x_norms;
    void *out;
    float *out_norms;
    uint64_t n; // reals of in: those of a site * sites (half of them for one parity) * sources
    uint64_t norms_n;    // sites of in * sources, or 0
    cubc_type type;      // F64, F32, I16
    cubc_type norm_type; // F32
    int lx, ly, lz, lt;
    int parity; // of the output: 0, 1; 2: both
    int inner;  // sources that follow each other and have one state of `guard`; 0: 1
    // The lattice of the fields is this rank's part of a larger one. All ranks make the same call.
    // NULL: it is periodic.
    cubc_ranks *ranks;
    int open; // bit d: hops across the edges of direction d are left out. No ranks
    // For solvers; NULL otherwise. The tail computes with the result m, with x and with z at each
    // site (kernels/lattice/solver/tail.h); NULL: out = m. z may be the output.
    const cubc_guard *guard;
    const cubc_site_update *tail;
    const void *z;
    const float *z_norms;
} cubc_dslash_sites;

// The Wilson hopping term of spinors, out = D in, or out = x + a D in:
//     D psi(x) = sum over mu of (1 - gamma_mu) U_mu(x) psi(x + mu)
//                             + (1 + gamma_mu) U_mu(x - mu)^+ psi(x - mu)
// without the factor 1/2 of projectors. Hops in space have the factor 1 / anisotropy. Links stay in
// SU(3), since the operator has the boundary condition.
typedef struct cubc_dslash_wilson_params {
    cubc_dslash_sites sites;
    const void *links;  // both parities
    uint64_t links_n;   // 4 * sites * reconstruct
    int reconstruct;    // reals of a link: 18, 12, 8
    int dagger;         // not 0: the adjoint of D
    int antiperiodic;   // not 0: spinors change sign across the boundary in time
    int temporal_gauge; // not 0: links in time are 1 but for those of the last slice
    double a;
    double anisotropy; // 1: none
    // Spinors have the factor exp(i theta) across the boundary: psi(x + lx) = exp(i theta_x)
    // psi(x). That of `antiperiodic` comes on top.
    double theta_x, theta_y, theta_z, theta_t;
} cubc_dslash_wilson_params;

// Hopping term D of staggered fermions, which is anti-Hermitian (kernels/lattice/staggered_hops.h):
// out = a D in, or out = b x + a D in if there is x. Fields are colour vectors. Links are in native
// order and without signs. A stored link times its scale is the link, so that fixed point holds fat
// links, whose elements exceed 1, and long links are stored as matrices of U(3).
typedef struct cubc_dslash_staggered_params {
    cubc_dslash_sites sites;
    const void *links;        // fat links, or those of the gauge field; both parities
    const void *long_links;   // NULL: none
    uint64_t links_n, long_n; // 4 * sites * reals of a link, 14 for 13 in fixed point
    int reconstruct;          // reals of a link: 18; 12 or 8 of links in SU(3)
    int long_reconstruct;     // reals of a long link: 18 or 13
    // Signs: five bits for each direction, x first. A hop in a direction changes sign with each of
    // the coordinates x, y, z, t that is odd and whose bit is set, and once if the fifth bit is.
    // Bit 20 is set if hops across the boundary in time change sign.
    uint64_t signs;
    double a, b;
    double scale, long_scale;
    double theta_x, theta_y, theta_z, theta_t; // as of cubc_dslash_wilson_params
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
// are. The sign of a determinant is not reported. With `squared` the same of C^2 + shift, which is
// (C + i t gamma_5)^+ (C + i t gamma_5) with shift = t^2.
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
    int squared;
    double shift;
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

// Twisted mass fermions with a clover term C: out = K (C - i t gamma_5) D in, out = x + a K (C - i
// t gamma_5) D in, or, with on_x, out = (C + i t gamma_5) x + a D in. K is the inverse of C^2 +
// t^2, of cubc_clover_invert. The rest is as for the Wilson Dslash.
typedef struct cubc_dslash_twisted_clover_params {
    cubc_dslash_wilson_params wilson;
    const void *clover;         // C, of both parities
    const float *clover_norms;  // of I16, else NULL
    const void *inverse;        // K; NULL with on_x
    const float *inverse_norms; // of I16, else NULL
    uint64_t clover_n, clover_norms_n;
    int on_x;
    double t;
} cubc_dslash_twisted_clover_params;

// A doublet of twisted mass fermions (R. Frezzotti and G. C. Rossi, 2004):
//     out = (b + i b5 gamma_5 tau_3 + b1 tau_1) x + (a + i a5 gamma_5 tau_3 + a1 tau_1) D in
// with Pauli matrices tau of flavour. Flavours are sources that follow each other: `inner` is 2. If
// x is NULL its term is absent. The rest is as for the Wilson Dslash.
typedef struct cubc_dslash_doublet_params {
    cubc_dslash_wilson_params wilson;
    double a5, a1, b, b5, b1;
} cubc_dslash_doublet_params;

// Domain-wall fermions, whose fields have a fifth dimension s of `inner` sites, each a source:
//     out = S D in, or out = x + S D in; without hops out = S in, or out = x + S in
//     S = (a + next H) (1 - step H)^-1
//     (H psi)_s = P_- psi_(s+1) + P_+ psi_(s-1),  P_+- = (1 +- gamma_5) / 2
// H has the factor -mass from s = inner - 1 to 0 and back; dagger: the adjoints of D and H. Without
// hops in is of the output's parity, and links are not read. The rest is as for the Wilson Dslash.
enum { CUBC_MOST_LS = 64 };
typedef struct cubc_dslash_domain_wall_params {
    cubc_dslash_wilson_params wilson;
    int hops;
    double next, step, mass;
} cubc_dslash_domain_wall_params;

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
cubc_status cubc_dslash_domain_wall_temp_bytes(cubc_device *device,
                                               const cubc_dslash_domain_wall_params *params,
                                               size_t *bytes);
cubc_status cubc_dslash_domain_wall(cubc_device *device,
                                    const cubc_dslash_domain_wall_params *params, void *temp,
                                    size_t temp_bytes, cubc_stream stream);
cubc_status cubc_dslash_doublet_temp_bytes(cubc_device *device,
                                           const cubc_dslash_doublet_params *params, size_t *bytes);
cubc_status cubc_dslash_doublet(cubc_device *device, const cubc_dslash_doublet_params *params,
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
cubc_status cubc_dslash_twisted_clover_temp_bytes(cubc_device *device,
                                                  const cubc_dslash_twisted_clover_params *params,
                                                  size_t *bytes);
cubc_status cubc_dslash_twisted_clover(cubc_device *device,
                                       const cubc_dslash_twisted_clover_params *params, void *temp,
                                       size_t temp_bytes, cubc_stream stream);
cubc_status cubc_dslash_wilson_temp_bytes(cubc_device *device,
                                          const cubc_dslash_wilson_params *params, size_t *bytes);
cubc_status cubc_dslash_wilson(cubc_device *device, const cubc_dslash_wilson_params *params,
                               void *temp, size_t temp_bytes, cubc_stream stream);
cubc_status cubc_field_update_temp_bytes(cubc_device *device,
                                         const cubc_field_update_params *params, size_t *bytes);
cubc_status cubc_field_update(cubc_device *device, const cubc_field_update_params *params,
                              void *temp, size_t temp_bytes, cubc_stream stream);
cubc_status cubc_spinor_twist_temp_bytes(cubc_device *device,
                                         const cubc_spinor_twist_params *params, size_t *bytes);
cubc_status cubc_spinor_twist(cubc_device *device, const cubc_spinor_twist_params *params,
                              void *temp, size_t temp_bytes, cubc_stream stream);
// cffi: end
#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
