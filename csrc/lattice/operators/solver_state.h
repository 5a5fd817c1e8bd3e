// The state of a right-hand side in a solve. The host and the kernels have the same struct, made of
// the one list below; tests/lattice compares the two, and the phases and limits, which
// kernels/lattice/solver/solver.h explains.
#ifndef CUBC_SOLVER_STATE_H
#define CUBC_SOLVER_STATE_H

#include "cubc.h"

typedef enum solver_phase {
    ITERATE,
    UPDATE,
    CONVERGED,
    AT_LIMIT,
    BROKEN,
    NOT_FINITE,
    STAGNANT,
    NO_SOURCE,
    ITERATE_SHIFT
} solver_phase;

enum { MOST_SHIFTS = CUBC_MOST_SHIFTS, MOST_BASIS = 8, CA_STEPS = 4 };

// The members, each an array where it has bounds.
#define SOLVER_STATE(WORD, REAL, COMPLEX)                                                        \
    WORD(phase, )                                                                                \
    WORD(iterations, )                                                                           \
    WORD(updates, )                                                                              \
    WORD(limit, )       /* most iterations */                                                    \
    WORD(verdict, )     /* phase after the next update; 0: iterate */                            \
    WORD(due, )         /* 1: an update follows the current round of launches */                 \
    WORD(last_update, ) /* iterations before the last update */                                  \
    WORD(stalls, )      /* updates that did not lower the residual */                            \
    WORD(arrived, )     /* blocks that have stored their sums */                                 \
    WORD(sums, )        /* taken over ranks */                                                   \
    WORD(next, )        /* CA-CG: phase after the step that is being taken */                    \
    REAL(source, )      /* |b|^2 */                                                              \
    REAL(target, )      /* |r|^2 to reach; relative until the source is known */                 \
    REAL(drop, )        /* |r|^2, relative to largest, at which an update is due */              \
    REAL(most_drop, )   /* the same at which it is immediate: the precision holds no more */     \
    REAL(residual, )    /* |r|^2 now */                                                          \
    REAL(least, )       /* of all updates */                                                     \
    REAL(largest, )     /* since the last update */                                              \
    REAL(gamma, )       /* CG: |M^+ r|^2 */                                                      \
    REAL(alpha_real, )                                                                           \
    REAL(beta_real, )                                                                            \
    COMPLEX(alpha, )                                                                             \
    COMPLEX(beta, )                                                                              \
    COMPLEX(omega, )                                                                             \
    COMPLEX(sigma, )                                                                             \
    COMPLEX(rho, )                                                                               \
    COMPLEX(basis, [MOST_BASIS])                  /* GCR: coefficients of the directions */      \
    COMPLEX(step, [MOST_BASIS])                   /* GCR: of the orthogonalised directions */    \
    COMPLEX(projection, [MOST_BASIS][MOST_BASIS]) /* [k][j]: component of direction k along j */ \
    REAL(length, [MOST_BASIS])                    /* |v|^2 of the orthogonalised directions */   \
    COMPLEX(block_step, )                         /* of the preconditioner, on this rank */      \
    REAL(least_pivot, )                           /* CA-CG: below it a direction is rounding */  \
    REAL(node_scale, )                            /* of the basis: factor of each vector */      \
    REAL(node, [CA_STEPS])                        /* and shift of the operator before it */      \
    REAL(mix, [CA_STEPS][CA_STEPS])               /* [i][j]: old direction i in the new one j */ \
    REAL(inverse, [CA_STEPS][CA_STEPS])           /* of P^+ A P of the directions P */           \
    REAL(overlap, [CA_STEPS])                     /* P^+ r after an update */                    \
    REAL(along, [CA_STEPS])                       /* steps along the directions */               \
    WORD(shifts, )                                                                               \
    WORD(open_shifts, )        /* one bit for each shift that has not converged */               \
    REAL(shift, [MOST_SHIFTS]) /* of the systems (M^+ M + shift) x = b */                        \
    REAL(zeta, [MOST_SHIFTS])  /* residuals relative to that without a shift */                  \
    REAL(zeta_old, [MOST_SHIFTS])                                                                \
    REAL(shift_alpha, [MOST_SHIFTS])                                                             \
    REAL(shift_beta, [MOST_SHIFTS])

typedef struct solver_state {
#define WORD(name, bounds) uint64_t name bounds;
#define REAL(name, bounds) double name bounds;
#define COMPLEX(name, bounds) double name bounds[2];
    SOLVER_STATE(WORD, REAL, COMPLEX)
#undef WORD
#undef REAL
#undef COMPLEX
} solver_state;

// The members in the language of the kernels.
#define SOLVER_STATE_WORD(name, bounds) "u64 " #name #bounds "; "
#define SOLVER_STATE_REAL(name, bounds) "f64 " #name #bounds "; "
#define SOLVER_STATE_COMPLEX(name, bounds) "c128 " #name #bounds "; "
#define SOLVER_STATE_TEXT SOLVER_STATE(SOLVER_STATE_WORD, SOLVER_STATE_REAL, SOLVER_STATE_COMPLEX)

#endif
