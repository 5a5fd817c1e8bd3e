// Wilson-like operators for the solvers: see wilson.c.
#ifndef CUBC_LATTICE_WILSON_H
#define CUBC_LATTICE_WILSON_H

#include "lattice/solver/solver.h"

typedef struct wilson_links {
    const void *data;
    cubc_type type;
    uint64_t n;
} wilson_links;

typedef struct wilson {
    cubc_operator_kind kind;
    wilson_links links[2]; // in the precise and in the sloppy type
    double kappa;
    uint64_t clover_sites;
    double twist;                        // 2 kappa mu, of twisted mass
    lattice_field clover[2], inverse[2]; // of the clover term, in either type
    cubc_dslash_wilson_params params;    // the part that all hops share
} wilson;

static inline const wilson *wilson_of(const solver *s)
{
    return s->system;
}

// Opens the solver's operator. *out has to live as long as the solver.
cubc_status wilson_open(solver *s, const cubc_operator *from, wilson *out);

// ---- the site term A, site_term.c ---------------------------------------------------------------
// The place of A in a hop; that of Wilson fermions is 1.
typedef enum site_role {
    SITE_NONE,
    SITE_OF_X,         // out = A x + a D in
    SITE_INVERSE_OF_D, // out = [x +] a A^-1 D in
} site_role;

cubc_status site_term_open(solver *s, const cubc_operator *from, wilson *w);
// Launches a hop with A or its inverse, or the adjoint of either.
cubc_status site_term_dslash(solver *s, const cubc_dslash_wilson_params *p, site_role role);
// Sets *out to A^-1 in on odd sites, in the precise type: to `in` where A is 1, else to scratch.
cubc_status site_term_apply_inverse(solver *s, const lattice_field *in, const lattice_field **out);
int site_term_flops(cubc_operator_kind kind); // a site

#endif
