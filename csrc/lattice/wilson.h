// Wilson's operator for the solvers: see wilson.c.
#ifndef CUBC_LATTICE_WILSON_H
#define CUBC_LATTICE_WILSON_H

#include "solver.h"

typedef struct wilson_links {
    const void *data;
    cubc_type type;
    uint64_t n;
} wilson_links;

typedef struct wilson {
    wilson_links links[2]; // in the precise and in the sloppy type
    double kappa;
    cubc_dslash_wilson_params params; // what is the same for each hop
} wilson;

// Gives the solver this operator, which lives as long.
cubc_status wilson_open(solver *s, const cubc_operator *from, wilson *out);

#endif
