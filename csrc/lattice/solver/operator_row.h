// The kinds of operators as the solvers know them: a row each of the table in operator_row.c. A
// solver asks the row for everything that differs between them. CONTRIBUTING.md says how a kind is
// added.
#ifndef CUBC_LATTICE_OPERATOR_ROW_H
#define CUBC_LATTICE_OPERATOR_ROW_H

#include "lattice/solver/solver.h"

// The place of the site term A of M = A - kappa D in a hop.
typedef enum site_role {
    SITE_NONE,
    SITE_OF_X,         // out = A x + a D in
    SITE_OWN_OF_X,     // out = B x + a D in, with what a row's site_inverse takes for B
    SITE_INVERSE_OF_D, // out = [x +] a A^-1 D in
} site_role;

typedef struct hop { // out = D in, or x + a D in
    const lattice_field *in, *x, *out;
    int parity; // of out: 0, 1; 2: both
    double a;
    site_role site;
    const operator_call *call; // the call that it is a part of, or NULL
    bool last;                 // of the call: it has the tail
} hop;

struct operator_row {
    const char *name;    // "wilson"
    int reals;           // a site of its fields
    size_t state_bytes;  // of solver.system
    const field *fields; // of its parameters, a member of cubc_operator.of
    int field_count;
    const void *details; // of rows that share their functions
    // The number of fields of a source; NULL: one.
    cubc_status (*inner)(const cubc_operator *op, int *out);
    // Checks the parameters that `open` does not, before anything is allocated.
    cubc_status (*check)(const cubc_operator *op);
    cubc_status (*check_even)(const cubc_operator *op); // what only a system of even sites needs
    // Sets op, flops and the state, whose memory is zero.
    cubc_status (*open)(solver *s, const cubc_operator *from);

    // ---- of operators A - kappa D, which schur.c solves on the even sites; else NULL
    double (*kappa)(const solver *s);
    bool even_positive; // the system of the even sites is Hermitian and positive
    // Launches a hop with A or its inverse, or the adjoint of either.
    cubc_status (*hop)(solver *s, const hop *h);
    // Sets *out to A^-1 in on odd sites, in the precise type: to `in` where A is 1, else to
    // scratch.
    cubc_status (*site_inverse)(solver *s, const lattice_field *in, const lattice_field **out);
};

extern const operator_row wilson_row, twisted_row, clover_row, staggered_row, twisted_clover_row,
    doublet_row, domain_wall_row;

cubc_status operator_row_of(cubc_operator_kind kind, const operator_row **out);
cubc_status operator_row_named(const char *name, cubc_operator_kind *kind,
                               const operator_row **out);
// Opens the operator of a solver that has its row and shape.
cubc_status operator_open(solver *s, const cubc_operator *from);

// ---- normal.c -----------------------------------------------------------------------------------
// Puts M^+ M in the place of the solver's operator M.
cubc_status normal_open(solver *s);

// ---- links.c ------------------------------------------------------------------------------------
typedef struct stored_links { // in native order
    const void *data;
    cubc_type type;
    uint64_t n;
} stored_links;

// Links of `reals` reals in each of the solver's types (solver_types): those that are given, or
// copies in its memory.
cubc_status links_of_types(solver *s, const stored_links *from, int reals, stored_links out[TYPES]);
const stored_links *links_in_type(const stored_links links[TYPES], cubc_type type);

// ---- schur.c ------------------------------------------------------------------------------------
// The operator of all sites, or of the even ones, as the solver's shape has them.
void schur_open(solver *s, double hop_flops, double site_flops);
// The fields of a hop as its kernel takes them. *guard is for those of a call, and has to live as
// long as they do.
cubc_dslash_sites hop_sites(const solver *s, const hop *h, cubc_guard *guard);

#endif
