// Solvers: a part of lattice.h, which describes the fields.
//
// Solve of M x = b for any number of right-hand sides. The iteration runs on the device; the host
// reads no intermediate results. It works in the sloppy precision. When the residual has dropped by
// the factor `delta`, the correction is added to x, and the residual computed anew, in the precise
// one.
#ifndef CUBC_PUBLIC_LATTICE_SOLVE_H
#define CUBC_PUBLIC_LATTICE_SOLVE_H

#include "cubc/lattice/copy.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)
// cffi: begin
typedef enum cubc_operator_kind {
    CUBC_WILSON,         // M = 1 - kappa D
    CUBC_TWISTED,        // M = 1 + 2 i kappa mu gamma_5 - kappa D
    CUBC_CLOVER,         // M = A - kappa D
    CUBC_STAGGERED,      // M = 2 m + D
    CUBC_TWISTED_CLOVER, // M = A + 2 i kappa mu gamma_5 - kappa D
    CUBC_DOUBLET,        // M = 1 + 2 i kappa mu gamma_5 tau_3 + 2 kappa epsilon tau_1 - kappa D
    CUBC_DOMAIN_WALL     // M = b5 D_W + 1 - (1 - c5 D_W) H, D_W = 4 - M5 - D / 2
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

typedef struct cubc_twisted_clover_operator {
    cubc_clover_operator clover;
    double mu;
} cubc_twisted_clover_operator;

typedef struct cubc_doublet_operator { // a source has two fields, its flavours
    cubc_wilson_operator wilson;
    double mu, epsilon;
} cubc_doublet_operator;

typedef struct cubc_staggered_operator {
    const void *links;      // fat links, or those of the gauge field, in native order
    const void *long_links; // NULL: none
    uint64_t links_n, long_n;
    cubc_type type, long_type; // of the links; copied if another is needed
    // The same as in cubc_dslash_staggered_params.
    int reconstruct, long_reconstruct;
    uint64_t signs;
    double scale, long_scale;
    double theta_x, theta_y, theta_z, theta_t;
    double mass; // above 0
} cubc_staggered_operator;

typedef struct cubc_domain_wall_operator {
    cubc_wilson_operator wilson; // but for kappa, which is not used
    double mass, m5, b5, c5;
    int ls; // sites of the fifth dimension: 1 to CUBC_MOST_LS
} cubc_domain_wall_operator;

typedef struct cubc_operator {
    cubc_operator_kind kind;
    int lx, ly, lz, lt;
    cubc_ranks *ranks; // as of cubc_dslash_sites
    union {            // by the kind; those of Wilson-like operators begin with `wilson`
        cubc_wilson_operator wilson;
        cubc_twisted_operator twisted;
        cubc_clover_operator clover;
        cubc_twisted_clover_operator twisted_clover;
        cubc_doublet_operator doublet;
        cubc_staggered_operator staggered;
        cubc_domain_wall_operator domain_wall;
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
                          // "block_cg": of up to 12 sources in one Krylov space, sloppy not I16;
                          // "ca_cg": as cg, four iterations at a time with one sum over ranks;
                          // "bicgstab"; "gcr": restarted after 8 directions; "multishift": not by
                          // parity, in the precise type only
    const double *shifts; // of several systems (M^+ M + shift) x = b, or (M + shift) x = b where M
                          // is Hermitian and positive, none below 0; NULL: M x = b
    int shift_count;      // at most CUBC_MOST_SHIFTS; without shifts it is not read
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
    double delta;           // 0: 0.2, of CG on a Hermitian positive operator 0.1
    int schwarz;            // "gcr": steps of its preconditioner, which are of minimal residual on
                            // the block of a rank, with hops from other ranks left out; 0: none
    cubc_type schwarz_type; // F64, F32, I16: of the preconditioner
} cubc_solve_params;

typedef struct cubc_solve_info { // report of a right-hand side
    int converged;               // not 0: `residual` is at most the tolerance
    const char *reason;          // "converged", or the reason of the end; never freed
    uint64_t iterations, updates;
    double residual; // |b - M x| / |b| of x in `type`, on the whole lattice, computed in the
                     // precise type; |b - M x| if b is 0. NaN: all of x is NaN
    double seconds;  // of all right-hand sides together, without compilation
    double gflops;   // of the operator only, of all right-hand sides on the whole lattice. In
                     // a block it is counted as if no hop were left out
    double compile_seconds; // before `seconds`, for kernels that were not compiled yet
    uint64_t sums;          // over the ranks of the operator: each waits for all of them
} cubc_solve_info;

// The number of reports of a solve: one for each right-hand side and shift. It checks no more than
// that needs.
cubc_status cubc_solve_reports(const cubc_solve_params *params, uint64_t *count);

// Returns when x is complete. info has a report for each right-hand side, for one shift after the
// other. A solve that does not converge is no error. A solve that cannot reach the tolerance for
// rounding ends early.
cubc_status cubc_solve(cubc_device *device, const cubc_solve_params *params, cubc_solve_info *info,
                       cubc_stream stream);
// cffi: end
#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
