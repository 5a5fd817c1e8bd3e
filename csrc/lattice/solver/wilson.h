// Wilson-like operators for the solvers: see wilson.c.
#ifndef CUBC_LATTICE_WILSON_H
#define CUBC_LATTICE_WILSON_H

#include "lattice/solver/operator_row.h"

typedef struct wilson {        // state of the operator; that of its site term is behind it
    stored_links links[TYPES]; // of links_of_types
    double kappa;
    cubc_dslash_wilson_params params; // the part that all hops share
} wilson;

// The site term A, as a part of the Dslash kernels: the `details` of the rows.
typedef struct wilson_term {
    double flops; // a site
    // Launches a hop with A or its inverse, or the adjoint of either.
    cubc_status (*dslash)(solver *s, const cubc_dslash_wilson_params *p, site_role role);
    cubc_status (*open)(solver *s, const cubc_operator *from); // NULL: nothing is to be done
} wilson_term;

cubc_status wilson_check(const cubc_operator *op);
cubc_status wilson_check_number(const char *name, double number); // finite
cubc_status wilson_open(solver *s, const cubc_operator *from);
double wilson_kappa(const solver *s);
cubc_status wilson_hop(solver *s, const hop *h);
// The parameters of a hop's kernel; guard as of hop_sites.
cubc_dslash_wilson_params wilson_hop_params(const solver *s, const hop *h, cubc_guard *guard);

// Fields of parameters that begin with those of Wilson's.
#define WILSON_FIELDS                                                     \
    FIELD_ARRAY(cubc_wilson_operator, links, FIELD_INPUT, type, links_n), \
        FIELD(cubc_wilson_operator, reconstruct, FIELD_INT),              \
        FIELD(cubc_wilson_operator, antiperiodic, FIELD_INT),             \
        FIELD(cubc_wilson_operator, temporal_gauge, FIELD_INT),           \
        FIELD(cubc_wilson_operator, anisotropy, FIELD_REAL),              \
        FIELD(cubc_wilson_operator, theta_x, FIELD_REAL),                 \
        FIELD(cubc_wilson_operator, theta_y, FIELD_REAL),                 \
        FIELD(cubc_wilson_operator, theta_z, FIELD_REAL),                 \
        FIELD(cubc_wilson_operator, theta_t, FIELD_REAL),                 \
        FIELD(cubc_wilson_operator, kappa, FIELD_REAL)

// Members of a Wilson-like row that all of them have, and further ones.
#define WILSON_ROW(...)     \
    {.reals = SPINOR_REALS, \
     .open = wilson_open,   \
     .kappa = wilson_kappa, \
     .hop = wilson_hop,     \
     __VA_ARGS__}

#endif
