// The text of what a solver fuses into one kernel: kernels/lattice/sums.h.
//
//     "alpha, beta | x = x + alpha * p; p = r + beta * p | norm(p) | cg_length"
//
// The scalars of the state that it reads; statements on the complex numbers of a site; the terms of
// real sums, separated by semicolons; the function of kernels/lattice/solver.h that is called with
// the sums. Each part may be empty.
#ifndef CUBC_ALGO_FUSED_H
#define CUBC_ALGO_FUSED_H

#include "run/problem.h"

enum { MOST_SUMS = 8 };

// The state and the rest of what a launch of a solver has: among a problem's numbers, from `first`.
enum { GUARD_STATES, GUARD_PARTS, GUARD_PHASE, GUARD_STEP, GUARD_ROOM, GUARD_NUMBERS };
void fused_guard(const cubc_guard *guard, uint64_t numbers[GUARD_NUMBERS]);
cubc_status fused_check(const char *what, const char *text);
int fused_sums(const char *text);
// The macros of kernels/lattice/sums.h and TUNE_STATEMENTS.
void fused_define(const char *from, text *out);
// Appends the members of guard_args; fails where the sums of so many blocks have no room.
cubc_status fused_place(const char *text, const uint64_t numbers[GUARD_NUMBERS], uint64_t blocks,
                        launch *l);

#endif
