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
    int cut;     // bit d: faces of direction d come from other ranks
    int staged;  // 1: some as messages
    int depth;   // slices of a face
    int open;    // bit d: hops across the edges of direction d are left out
} dslash_site_traits;

// The part of a face that is sent (kernels/lattice/halo.h).
typedef struct dslash_halo {
    int reals;  // a site
    int depth;  // slices that hops reach
    int slices; // that are stored, at most
} dslash_halo;

typedef struct dslash_site_numbers {
    uint64_t sources;
    uint32_t face_reals, face_slices; // those of dslash_halo
    cubc_guard guard;                 // its ranks are those of the fields, with a guard or without
} dslash_site_numbers;

SOLVER_UPDATE_TRAITS(dslash_site_traits);
PROBLEM_NUMBERS(dslash_site_numbers);
#define DSLASH_TRAITS_AT \
    (sizeof(lattice_traits) + sizeof(solver_update_traits) + sizeof(dslash_site_traits))
#define DSLASH_TRAITS(type) PROBLEM_STRUCT(type, traits, DSLASH_TRAITS_AT)
#define DSLASH_NUMBERS(type) PROBLEM_STRUCT(type, numbers, sizeof(dslash_site_numbers))

// The problem of an algorithm whose fields have `reals` reals a site, without its arrays.
cubc_status dslash_sites_begin(const algorithm *a, int reals, const cubc_dslash_sites *sites,
                               problem *out);
// Takes in the fields and the guard. Fails if the output overlaps `in` or the links, or a part of x
// or z, or if the guard has other ranks than the fields.
cubc_status dslash_sites_fields(int reals, const cubc_dslash_sites *sites, dslash_halo halo,
                                problem *out);
// An operator's kernels, and which of them a problem has: that of sums over ranks.
#define DSLASH_KERNEL_NAMES(name) {name, name "_sums"}
bool dslash_has_kernel(const problem *p, int k);
// Fails if the output overlaps an input.
cubc_status dslash_apart(const problem *p, const operand *in, const char *what);
// *phases gets a bit for each direction whose boundary has a phase exp(i theta).
cubc_status dslash_phases(const double theta[4], int *phases);
// Place, macros and variants that make sense.
void dslash_axis_values(const problem *p, uint64_t *values);
void dslash_sites_define(const problem *p, text *out);
const char *dslash_sites_invalid(const problem *p, const char *kind, const space *s,
                                 const variant *v);

// Arguments of 8 bytes each.
typedef struct dslash_words {
    const void *data;
    size_t bytes;
} dslash_words;
typedef struct dslash_grid {
    uint64_t blocks, parts; // parts: of a solver's sums, of all sources
    uint64_t tile;          // sites of a block
} dslash_grid;
uint64_t dslash_output_sites(const problem *p);
dslash_grid dslash_sites_grid(const problem *p, const instance *i); // that of dslash_sites.h
// The launch: arguments of the hops, fields, arguments of the site term, then those of a solver.
// Staged faces need three of them.
cubc_status dslash_sites_plan(const problem *p, const instance *i, dslash_grid grid,
                              dslash_words hops, dslash_words term, plan *out);
uint64_t dslash_word(double number);
// Floating-point operations: `site` of them a site, and those of adding x.
double dslash_flops(const problem *p, int reals, int site);
enum { DSLASH_PHASE_WORDS = 8 };
// The phases as arguments of a kernel; returns how many words these are.
int dslash_phase_words(const double theta[4], uint64_t words[DSLASH_PHASE_WORDS]);
enum { DSLASH_RANK_WORDS = 2 };
// Adds the ranks, and the part of a launch that has all sites, to *count arguments of a kernel, if
// the lattice is cut; they are the last of those of the hops.
cubc_status dslash_rank_words(const problem *p, const instance *i, uint64_t *words, int *count);

// The fields of parameters that begin with those of the sites.
#define DSLASH_SITES_FIELDS                                                                       \
    FIELD_ARRAY(cubc_dslash_sites, in, FIELD_INPUT, type, n),                                     \
        FIELD_ARRAY(cubc_dslash_sites, in_norms, FIELD_INPUT, norm_type, norms_n),                \
        FIELD_ARRAY(cubc_dslash_sites, x, FIELD_INPUT, type, n),                                  \
        FIELD_ARRAY(cubc_dslash_sites, x_norms, FIELD_INPUT, norm_type, norms_n),                 \
        FIELD_ARRAY(cubc_dslash_sites, out, FIELD_OUTPUT, type, n),                               \
        FIELD_ARRAY(cubc_dslash_sites, out_norms, FIELD_OUTPUT, norm_type, norms_n),              \
        LATTICE_EXTENT_FIELDS(cubc_dslash_sites), FIELD(cubc_dslash_sites, parity, FIELD_INT),    \
        FIELD(cubc_dslash_sites, inner, FIELD_INT), FIELD(cubc_dslash_sites, ranks, FIELD_RANKS), \
        FIELD(cubc_dslash_sites, open, FIELD_INT)

// The sites of a benchmark's call, from odd to even and without x. A source has `each` fields, and
// the links are array 0.
#define DSLASH_SITES_CALL(reals, each)                                                      \
    {LATTICE_FIELD(in, 1), LATTICE_FIELD(out, 3), .n = (reals) * (each), .norms_n = (each), \
     .norm_type = CUBC_F32}

#endif
