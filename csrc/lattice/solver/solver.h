// The common part of the solvers: the operator and the fields of a solve, and the launches that are
// queued again and again until the device says that it is done (kernels/lattice/solver/solver.h).
//
// A method is two lists of launches, an update and an iteration. A solve begins with an update. A
// round is some iterations and an update, which does nothing where none is due. The first rounds
// are queued launch by launch; then one is recorded and replayed. The host looks at what has become
// of a round while the next one runs.
#ifndef CUBC_LATTICE_SOLVER_H
#define CUBC_LATTICE_SOLVER_H

#include "lattice/solver/state.h"
#include "run/algorithm.h"

_Static_assert(sizeof(solver_state) == CUBC_STATE_BYTES, "callers have its size");

enum { MOST_FIELDS = 64 };

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
    uint64_t sources;
} lattice_shape;

typedef struct solver solver;
typedef struct dry_run dry_run;
typedef struct lattice_operator lattice_operator;

// out = M in, or its adjoint, and what becomes of it (kernels/lattice/solver/tail.h). All fields
// are of one type, which may be any of those that the operator was opened with.
typedef struct operator_call {
    const lattice_field *in, *out;
    const lattice_field *z;       // or NULL
    const cubc_site_update *tail; // NULL: nothing but out = M in
    bool dagger;
    solver_phase phase; // that it is for
    uint64_t step;
} operator_call;

// The system M x = b that is solved is the whole one, or that of the even sites alone.
struct lattice_operator {
    cubc_status (*apply)(solver *s, const operator_call *call);
    // Steps between the whole system and one parity; not called where the whole is solved.
    cubc_status (*source)(solver *s, const lattice_field b[2], const lattice_field *out);
    cubc_status (*odd_part)(solver *s, const lattice_field b[2], const lattice_field x[2]);
    cubc_status (*whole)(solver *s, const lattice_field x[2], const lattice_field out[2]);
};

typedef struct solver_method {
    const char *name;
    cubc_status (*open)(solver *s);
    cubc_status (*update)(solver *s);
    cubc_status (*iterate)(solver *s, uint64_t last_of_round);
    int iteration_applies, update_applies; // M or its adjoint so often
} solver_method;

// All that a solve does on the device, so that there can be a dry run of it (dry_run.h).
typedef struct solver_actions {
    cubc_status (*alloc)(solver *s, size_t bytes, void **out);
    cubc_status (*fill)(solver *s, void *memory, int byte, size_t bytes);
    cubc_status (*copy)(solver *s, void *to, const void *from, size_t bytes);
    cubc_status (*launch)(solver *s, const problem *p);
    cubc_status (*run_rounds)(solver *s); // until every state has stopped
} solver_actions;
extern const solver_actions solver_real_actions;

struct solver {
    cubc_device *device; // borrowed
    void *stream;
    const solver_actions *actions;
    dry_run *dry_run; // the list of its launches; NULL: it is real
    const lattice_operator *op;
    const void *system; // the operator's own
    double flops;       // of one application, a site of its fields
    const solver_method *method;
    lattice_shape shape;       // of the system that is solved
    cubc_type precise, sloppy; // F64 or F32; any
    cubc_guard guard;          // but for phase and step
    solver_state *states;      // in host memory
    double *scales;            // of b, and so of x while it is solved for; one a source
    double compile_seconds;    // so far

    lattice_field b, y, r;                   // precise: source, solution, residual
    lattice_field scratch[2];                // the operator's own, precise and sloppy
    lattice_field work[2 * MOST_SHIFTS + 4]; // the method's own
    int shifts;                              // of several systems
    int cycle;                               // steps of GCR in the round that is queued
    void *memory[MOST_FIELDS];               // all of it
    int memory_count;
};

// ---- memory -------------------------------------------------------------------------------------
cubc_status solver_alloc(solver *s, size_t bytes, void **out);
cubc_status solver_field(solver *s, cubc_type type, lattice_field *out);
cubc_status solver_zero_field(solver *s, cubc_type type, lattice_field *out);
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
// One pass over fields, which the update calls by these names.
cubc_status solver_update(solver *s, solver_phase phase, const cubc_site_update *update,
                          const cubc_site_field *fields, int count);
// y += x in full precision has happened: r = b - M y, and whether that is enough.
cubc_status solver_residual(solver *s);

// ---- running ------------------------------------------------------------------------------------
cubc_status solver_upload(solver *s);   // the states
cubc_status solver_download(solver *s); // when all is done
// After a failure: waits, interrupted or not, for what is queued and still uses all of this.
void solver_settle(solver *s);
// Queues the method's iterations and its update once.
cubc_status solver_queue_round(solver *s);

extern const solver_method solver_cg, solver_bicgstab, solver_gcr, solver_multishift;
// The solution of a shift, with its true residual in the states.
const lattice_field *multishift_solution(solver *s, int shift);
cubc_status multishift_residual(solver *s, int shift);

#endif
