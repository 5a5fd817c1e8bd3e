// The part of a kernel that belongs to a solver: its cubc_site_update and the state that it reads,
// as a problem, as macros and as arguments (kernels/lattice/solver/solver_update.h).
#ifndef CUBC_LATTICE_SOLVER_UPDATE_H
#define CUBC_LATTICE_SOLVER_UPDATE_H

#include "lattice/operators/lattice_problem.h"

// Traits of a problem that may have an update, behind those of its lattice.
typedef struct solver_update_traits {
    int over_ranks; // the update has sums, of the fields of several ranks
} solver_update_traits;

LATTICE_TRAITS(solver_update_traits);
// An algorithm's own are behind them.
#define SOLVER_UPDATE_TRAITS(type) \
    PROBLEM_STRUCT(type, traits, sizeof(lattice_traits) + sizeof(solver_update_traits))

// Checks the update, and makes it the problem's texts, which stay the caller's, and traits. NULL:
// it is empty. The guard has `states` states.
cubc_status solver_update_set(problem *p, const char *what, const cubc_site_update *update,
                              const cubc_guard *guard, uint64_t states);
// The macros of kernels/lattice/solver/solver_update.h and TUNE_STATEMENTS.
void solver_update_define(const problem *p, text *out);
// Appends the members of guard_args; fails if there is no room for sums of that many blocks.
cubc_status solver_update_place(const problem *p, const cubc_guard *guard, uint64_t blocks,
                                uint64_t states, launch *l);
// Adds a launch to receive the sums, by `kernel`, where ranks share no memory: a block with the
// arguments of the launch before, which has sent them.
void solver_update_receive(const problem *p, const cubc_guard *guard, const device_kernel *kernel,
                           plan *out);

#endif
