// Compiles the kernels of a solve in parallel before it begins: see dry_run.c.
#ifndef CUBC_LATTICE_DRY_RUN_H
#define CUBC_LATTICE_DRY_RUN_H

#include "lattice/solver/solver.h"

// Goes through `steps` with a copy of the solver, and compiles the kernels that they would launch.
cubc_status dry_run_compile(const solver *s, cubc_status (*steps)(solver *s, void *context),
                            void *context);

#endif
