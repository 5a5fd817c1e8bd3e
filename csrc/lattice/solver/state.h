// The state of a right-hand side, as the host sees it. The kernels have the same phases and the
// same struct: kernels/lattice/solver/solver.h explains the members, and tests/lattice compares the
// two.
#ifndef CUBC_LATTICE_STATE_H
#define CUBC_LATTICE_STATE_H

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

enum { MOST_SHIFTS = CUBC_MOST_SHIFTS, MOST_BASIS = 8 };

// MEMBER(type, name, array bounds). Complex numbers are two doubles.
#define SOLVER_STATE(MEMBER)                                \
    MEMBER(uint64_t, phase, )                               \
    MEMBER(uint64_t, iterations, )                          \
    MEMBER(uint64_t, updates, )                             \
    MEMBER(uint64_t, limit, )                               \
    MEMBER(uint64_t, verdict, )                             \
    MEMBER(uint64_t, due, )                                 \
    MEMBER(uint64_t, last_update, )                         \
    MEMBER(uint64_t, stalls, )                              \
    MEMBER(uint64_t, arrived, )                             \
    MEMBER(double, source, )                                \
    MEMBER(double, target, )                                \
    MEMBER(double, drop, )                                  \
    MEMBER(double, most_drop, )                             \
    MEMBER(double, residual, )                              \
    MEMBER(double, least, )                                 \
    MEMBER(double, largest, )                               \
    MEMBER(double, gamma, )                                 \
    MEMBER(double, alpha_real, )                            \
    MEMBER(double, beta_real, )                             \
    MEMBER(double, alpha, [2])                              \
    MEMBER(double, beta, [2])                               \
    MEMBER(double, omega, [2])                              \
    MEMBER(double, sigma, [2])                              \
    MEMBER(double, rho, [2])                                \
    MEMBER(double, basis, [MOST_BASIS][2])                  \
    MEMBER(double, step, [MOST_BASIS][2])                   \
    MEMBER(double, projection, [MOST_BASIS][MOST_BASIS][2]) \
    MEMBER(double, length, [MOST_BASIS])                    \
    MEMBER(uint64_t, shifts, )                              \
    MEMBER(uint64_t, open_shifts, )                         \
    MEMBER(double, shift, [MOST_SHIFTS])                    \
    MEMBER(double, zeta, [MOST_SHIFTS])                     \
    MEMBER(double, zeta_old, [MOST_SHIFTS])                 \
    MEMBER(double, shift_alpha, [MOST_SHIFTS])              \
    MEMBER(double, shift_beta, [MOST_SHIFTS])

typedef struct solver_state {
#define MEMBER(type, name, more) type name more;
    SOLVER_STATE(MEMBER)
#undef MEMBER
} solver_state;

#endif
