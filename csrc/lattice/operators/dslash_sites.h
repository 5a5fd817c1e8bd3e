// Common part of the descriptors of all operators, without their links and own arguments: fields of
// sources, checks, variants and the launch of kernels/lattice/dslash_sites.h.
//
// An operator's problem is made by dslash_sites_begin, then the inputs of its links, then
// dslash_sites_fields, then the inputs of its site term. Its own traits and numbers come after
// those that are named here.
#ifndef CUBC_LATTICE_DSLASH_SITES_H
#define CUBC_LATTICE_DSLASH_SITES_H

#include "lattice/operators/lattice_problem.h"
#include "lattice/operators/solver_update.h"

typedef struct dslash_site_traits {
    int links; // inputs before `in`
    int parity, xpay, guarded, z;
    int several; // sources
    int inner;   // sources of one state of a solver
} dslash_site_traits;

typedef struct dslash_site_numbers {
    uint64_t sources;
    cubc_guard guard;
} dslash_site_numbers;

LATTICE_TRAITS(dslash_site_traits);
PROBLEM_NUMBERS(dslash_site_numbers);
#define DSLASH_TRAITS(type) \
    PROBLEM_STRUCT(type, traits, sizeof(lattice_traits) + sizeof(dslash_site_traits))
#define DSLASH_NUMBERS(type) PROBLEM_STRUCT(type, numbers, sizeof(dslash_site_numbers))

// The members that the public parameters of all operators have.
typedef struct dslash_site_params {
    const algorithm *algorithm;
    int reals; // a site
    int extents[4], parity, inner;
    cubc_type type;
    uint64_t n, norms_n;
    const void *in, *x, *z; // x and z may be NULL
    const float *in_norms, *x_norms, *z_norms;
    void *out;
    float *out_norms;
    const cubc_guard *guard;
    const cubc_site_update *tail;
} dslash_site_params;
#define DSLASH_SITE_PARAMS(of, site_reals, params)                        \
    {.algorithm = (of),                                                   \
     .reals = (site_reals),                                               \
     .extents = {(params)->lx, (params)->ly, (params)->lz, (params)->lt}, \
     .parity = (params)->parity,                                          \
     .inner = (params)->inner ? (params)->inner : 1,                      \
     .type = (params)->type,                                              \
     .n = (params)->n,                                                    \
     .norms_n = (params)->norms_n,                                        \
     .in = (params)->in,                                                  \
     .x = (params)->x,                                                    \
     .z = (params)->z,                                                    \
     .in_norms = (params)->in_norms,                                      \
     .x_norms = (params)->x_norms,                                        \
     .z_norms = (params)->z_norms,                                        \
     .out = (params)->out,                                                \
     .out_norms = (params)->out_norms,                                    \
     .guard = (params)->guard,                                            \
     .tail = (params)->tail}

cubc_status dslash_sites_begin(const dslash_site_params *params, problem *out);
// Fails if the output overlaps `in` or the links.
cubc_status dslash_sites_fields(const dslash_site_params *params, problem *out);
// Fails if the output overlaps an input.
cubc_status dslash_apart(const problem *p, const operand *in, const char *what);
// Place, macros and variants that make sense.
void dslash_place(const problem *p, uint64_t *place);
void dslash_sites_define(const problem *p, text *out);
const char *dslash_invalid(const problem *p, const char *kind, const space *s, const variant *v);

// Arguments of 8 bytes each.
typedef struct dslash_words {
    const void *data;
    size_t bytes;
} dslash_words;
// The launch: arguments of the hops, fields, arguments of the site term, then those of a solver.
cubc_status dslash_sites_plan(const problem *p, const instance *i, dslash_words hops,
                              dslash_words term, plan *out);
uint64_t dslash_word(double number);

#endif
