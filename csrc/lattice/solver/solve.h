// The parts of cubc_solve (solve.c): fields on their way from and to the caller (solve_fields.c),
// and sources of unusual size (solve_scale.c).
#ifndef CUBC_LATTICE_SOLVE_H
#define CUBC_LATTICE_SOLVE_H

#include "lattice/solver/solver.h"

static inline bool by_parity(const cubc_solve_params *p)
{
    return p->sites == CUBC_BY_PARITY;
}

// Systems of a solve that differ by their shifts; 0: there is one, without.
static inline int shifts_of(const cubc_solve_params *p)
{
    return p->shifts && p->shift_count > 0 ? p->shift_count : 0;
}

typedef struct whole_fields {                // of both parities
    lattice_field b, x;                      // sources one after the other
    lattice_field b_of[2], x_of[2], m_of[2]; // of each parity, where the even system is solved
} whole_fields;

// ---- solve_fields.c -----------------------------------------------------------------------------
cubc_status solve_take_fields(solver *s, const cubc_solve_params *p, whole_fields *w);
// Writes the solution, the odd sites too, and reports on its residual on the whole lattice.
cubc_status solve_give_fields(solver *s, const cubc_solve_params *p, whole_fields *w,
                              cubc_solve_info *info);
// The same of each shift.
cubc_status solve_give_shifted(solver *s, const cubc_solve_params *p, const whole_fields *w,
                               cubc_solve_info *info);
const char *solve_reason(uint64_t phase); // why a solve ended

// ---- solve_scale.c ------------------------------------------------------------------------------
double solve_epsilon(cubc_type type);
// |r|^2 at which a solve ends, relative to the source.
double solve_first_target(const solver *s, const cubc_solve_params *p);
// Scales sources that are too small or too large for the precision, and their guesses.
cubc_status solve_scale_source(solver *s, const cubc_solve_params *p, const whole_fields *w);
// Scales x back for the caller, or again for the scaled sources.
cubc_status solve_rescale(solver *s, const cubc_solve_params *p, const whole_fields *w,
                          bool for_caller);

#endif
