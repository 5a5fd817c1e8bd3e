// The common part of the solvers: the operator and the fields of a solve, and the launches that are
// queued repeatedly until the device says that it is done (kernels/lattice/solver/solver.h).
//
// A method is two lists of launches, an update and an iteration. A solve begins with an update. A
// round is some iterations and an update, which does nothing where none is due. The first rounds
// are queued launch by launch; then one is recorded and replayed. The host reads the
// states after a round while the next one runs. When half of the sources have stopped they leave
// the batch (compact.c).
#ifndef CUBC_LATTICE_SOLVER_H
#define CUBC_LATTICE_SOLVER_H

#include "lattice/operators/solver_state.h"
#include "run/algorithm.h"

_Static_assert(sizeof(solver_state) == CUBC_STATE_BYTES, "callers have its size");

enum { MOST_FIELDS = 64 };

// Types of the fields of a solve: precise, sloppy, and that of the preconditioner.
enum { TYPES = 3 };

// Fields of all right-hand sides, one after the other, in native order.
typedef struct lattice_field {
    void *data;
    float *norms; // behind the data; NULL where there are none
    cubc_type type;
} lattice_field;

typedef struct lattice_shape {
    int extents[4];
    int reals;    // a site
    int parities; // of a field: 1 or 2
    int inner;    // fields of a source, one after the other: the sites of an inner dimension; or 1
    uint64_t sources;
} lattice_shape;

typedef struct solver solver;
typedef struct dry_run dry_run;
typedef struct lattice_operator lattice_operator;
typedef struct operator_row operator_row;

// out = M in, or its adjoint, with a tail (kernels/lattice/solver/tail.h), whose x is `in` but for
// M^+ M. All fields are of one type, which may be any of those that the operator was opened with.
typedef struct operator_call {
    const lattice_field *in, *out;
    const lattice_field *z;       // or NULL
    const cubc_site_update *tail; // NULL: nothing but out = M in
    bool dagger;
    bool block;         // of this rank's block alone: hops from other ranks are left out
    solver_phase phase; // of the right-hand sides to process
    uint64_t step;
} operator_call;

// The operator of the system M x = b that is solved: the whole one, or that of the even sites.
struct lattice_operator {
    bool positive; // Hermitian and positive: `dagger` changes nothing
    cubc_status (*apply)(solver *s, const operator_call *call);
    // Steps between the whole system and the even one; NULL where the whole is solved.
    cubc_status (*source)(solver *s, const lattice_field b[2], const lattice_field *out);
    cubc_status (*odd_part)(solver *s, const lattice_field b[2], const lattice_field x[2]);
    cubc_status (*whole)(solver *s, const lattice_field x[2], const lattice_field out[2]);
};

enum { USUAL_SUMS = 8 };

typedef struct solver_method solver_method;
struct solver_method {
    const char *name;
    cubc_status (*open)(solver *s);
    cubc_status (*update)(solver *s);
    cubc_status (*iterate)(solver *s, uint64_t last_of_round);
    int iteration_applies, update_applies; // how often M or its adjoint is applied
    const solver_method *of_positive;      // the same for Hermitian positive M; NULL: this one
    bool compacts; // sources that have stopped may leave the batch (compact.c)
    double delta;  // drop of the residual at which an update is due; 0: that of most methods
    int sums;      // of a pass, at most; 0: USUAL_SUMS
};

// The actions of a solve on the device: those of a run (solver.c), or of a dry run (dry_run.c).
typedef struct solver_actions {
    cubc_status (*alloc)(solver *s, size_t bytes, void **out);
    cubc_status (*fill)(solver *s, void *memory, int byte, size_t bytes);
    cubc_status (*copy)(solver *s, void *to, const void *from, size_t bytes);
    cubc_status (*launch)(solver *s, const problem *p);
    cubc_status (*run_rounds)(solver *s); // until every state has stopped
} solver_actions;
extern const solver_actions solver_run_actions;

struct solver {
    cubc_device *device; // borrowed
    void *stream;
    const solver_actions *actions;
    dry_run *dry_run;        // the list of its launches; NULL: not a dry run
    const operator_row *row; // kind of the operator
    const lattice_operator *op;
    const lattice_operator *factor; // M, where op is M^+ M (normal.c)
    lattice_field half_way[TYPES];  // M x; of solver_fields_of_types
    void *system; // state of the operator, of row->state_bytes; freed with the solver
    double flops; // of one application, a site of its fields
    const solver_method *method;
    lattice_shape shape;       // of the system that is solved
    cubc_type precise, sloppy; // F64 or F32; any
    int schwarz;               // GCR: steps of its preconditioner (schwarz.c); 0: there is none
    cubc_type schwarz_type;    // of the preconditioner; without it, sloppy
    cubc_guard guard;          // without phase and step, which are those of a launch; its ranks are
                               // those of the lattice
    solver_state *states;      // in host memory
    double *scales;            // factor of b, and of x during the solve; one per source
    double compile_seconds;    // so far

    lattice_field b, y, r;                   // precise: source, solution, residual
    lattice_field scratch[TYPES];            // used by the operator; as half_way
    lattice_field work[2 * MOST_SHIFTS + 4]; // used by the method
    int shifts;                              // multishift: number of systems
    void *matrices;                          // block_cg: those of its blocks
    double *block_parts;                     // and partial sums
    uint64_t block_parts_n;
    int cycle;                 // steps of GCR, or of CA-CG, in the round that is queued
    void *memory[MOST_FIELDS]; // all device memory of the solve
    int memory_count;
};

// ---- memory -------------------------------------------------------------------------------------
cubc_status solver_alloc(solver *s, size_t bytes, void **out);
cubc_status solver_field(solver *s, cubc_type type, lattice_field *out);
cubc_status solver_zero_field(solver *s, cubc_type type, lattice_field *out);
// The types of the fields of a solve, each once; returns their number.
int solver_types(const solver *s, cubc_type types[TYPES]);
// A field in each of them.
cubc_status solver_fields_of_types(solver *s, lattice_field out[TYPES]);
// The one of such fields that has a type.
const lattice_field *solver_in_type(const lattice_field fields[TYPES], cubc_type type);
uint64_t solver_reals(const solver *s); // of a field
void solver_free(solver *s);
cubc_status solver_zero(solver *s, void *memory, size_t bytes);
cubc_status solver_copy(solver *s, void *to, const void *from, size_t bytes);

// ---- launches -----------------------------------------------------------------------------------
// Launches any algorithm; params is a cubc_<name>_params, whose texts are constants.
cubc_status solver_launch(solver *s, const algorithm *a, const void *params);
#define READ(name, field) {(name), (field).data, (field).type, 0}
#define WRITE(name, field) {(name), (field).data, (field).type, 1}
#define SITE_FIELDS(...)                    \
    (const cubc_site_field[]){__VA_ARGS__}, \
        (int)(sizeof((const cubc_site_field[]){__VA_ARGS__}) / sizeof(cubc_site_field))
// Launches one pass over fields (field_update); the update's statements call them by these names.
cubc_status solver_pass(solver *s, solver_phase phase, const cubc_site_update *update,
                        const cubc_site_field *fields, int count);
// The same, with the ranks whose sums are taken together; NULL: each rank has its own.
cubc_status solver_pass_over(solver *s, cubc_ranks *ranks, solver_phase phase,
                             const cubc_site_update *update, const cubc_site_field *fields,
                             int count);
// Copies a field to another, of any type: one kernel of each two types for all methods.
cubc_status solver_assign(solver *s, solver_phase phase, const lattice_field *to,
                          const lattice_field *from);
// Computes r = b - M y in full precision, and judges it (take_residual).
cubc_status solver_residual(solver *s);
// The residual in the precision of iterations: itself, or its copy in a field of that precision.
cubc_status solver_sloppy_residual(solver *s, const lattice_field *copy, const lattice_field **out);

// ---- running ------------------------------------------------------------------------------------
cubc_status solver_upload(solver *s);   // the states
cubc_status solver_download(solver *s); // when all is done
// Waits after a failure, interrupted or not, for queued launches, which still use the memory.
void solver_settle(solver *s);
// Queues a round: iterations of the method, and its update.
cubc_status solver_queue_round(solver *s);

extern const solver_method solver_cg, solver_cg_positive, solver_block_cg, solver_ca_cg,
    solver_bicgstab, solver_gcr, solver_multishift, solver_multishift_positive;
// ---- schwarz.c ----------------------------------------------------------------------------------
enum { SCHWARZ_FIELDS = 3, MOST_SCHWARZ = 64 }; // its fields among work; steps
// The preconditioner of GCR, in s->schwarz steps: makes its fields, and applies it to a residual.
cubc_status schwarz_open(solver *s, lattice_field fields[SCHWARZ_FIELDS]);
cubc_status schwarz_apply(solver *s, const lattice_field fields[SCHWARZ_FIELDS],
                          const lattice_field *residual, const lattice_field *out);

// ---- multishift.c -------------------------------------------------------------------------------
// The solution of a shift.
const lattice_field *multishift_solution(solver *s, int shift);
// Computes the true residual of a shift, which the states then have.
cubc_status multishift_residual(solver *s, int shift);

#endif
