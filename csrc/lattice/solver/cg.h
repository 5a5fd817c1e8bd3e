// Parts of conjugate gradients that its two forms share: on the normal equations (cg.c), and on a
// positive operator (cg_positive.c). The solution along p is added with the next direction.
#ifndef CUBC_LATTICE_CG_H
#define CUBC_LATTICE_CG_H

#include "lattice/solver/solver.h"

// Among work: correction since the last update, direction, M p, and the residual that is iterated,
// M^+ r or r.
enum { X, P, W, S };

cubc_status cg_open(solver *s); // the fields
cubc_status cg_add_correction(solver *s);
cubc_status cg_next_direction(solver *s);

#endif
