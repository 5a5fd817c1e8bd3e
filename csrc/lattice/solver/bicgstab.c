// BiCGStab, on M itself.
//
// H. A. van der Vorst, "Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution
// of nonsymmetric linear systems" (1992). kernels/lattice/solver/bicgstab.h has the iteration step
// by step, and its scalars.
//
// The new <q, r> follows from sums that the kernel of t has, so that the end of an iteration is one
// pass. An update renews r, and keeps p and q; after a breakdown it also begins anew, with q = p =
// r.
#include "lattice/solver/solver.h"

enum { X, P, V, R, T, Q, FIELDS }; // among work

// ---- the steps ---------------------------------------------------------------------------------
static const cubc_site_update add_correction = {
    .statements = "y = y + x; x = complex<real_t>(0)",
};
static const cubc_site_update restart = {
    .scalars = {"sigma"},
    .statements = "r = e; p = p + sigma * (e - p); q = q + sigma * (e - q)",
    .sums = {"dot_real(q, r)", "dot_imag(q, r)"},
    .finish = "bicgstab_restart",
};
static const cubc_site_update project = {
    .sums = {"dot_real(z, out)", "dot_imag(z, out)"},
    .finish = "bicgstab_project",
};
static const cubc_site_update half_step = {
    .scalars = {"alpha"},
    .statements = "r = r - alpha * v",
};
static const cubc_site_update stabilise = {
    .sums = {"dot_real(out, x)", "dot_imag(out, x)", "norm(out)", "dot_real(z, out)",
             "dot_imag(z, out)", "dot_real(z, x)", "dot_imag(z, x)"},
    .finish = "bicgstab_stabilise",
};
// The same of fields: the kernel of M^+ adds to M r, and has no r.
static const cubc_site_update stabilise_apart = {
    .sums = {"dot_real(t, r)", "dot_imag(t, r)", "norm(t)", "dot_real(q, t)", "dot_imag(q, t)",
             "dot_real(q, r)", "dot_imag(q, r)"},
    .finish = "bicgstab_stabilise",
};
static const cubc_site_update end_step = {
    .scalars = {"alpha", "omega", "beta"},
    .statements = "x = x + alpha * p + omega * r; r = r - omega * t; "
                  "p = r + beta * (p - omega * v)",
    .sums = {"norm(r)"},
    .finish = "bicgstab_end_step",
};

// ---- the method --------------------------------------------------------------------------------
static cubc_status open(solver *s)
{
    for (int k = 0; k < FIELDS; k++) TRY(solver_zero_field(s, s->sloppy, &s->work[k]));
    return CUBC_OK;
}

static cubc_status update(solver *s)
{
    const lattice_field *f = s->work;
    TRY(solver_pass(s, UPDATE, &add_correction, SITE_FIELDS(WRITE("y", s->y), WRITE("x", f[X]))));
    TRY(solver_residual(s));
    return solver_pass(
        s, UPDATE, &restart,
        SITE_FIELDS(READ("e", s->r), WRITE("r", f[R]), WRITE("p", f[P]), WRITE("q", f[Q])));
}

static cubc_status iterate(solver *s, uint64_t last_of_round)
{
    const lattice_field *f = s->work;
    TRY(s->op->apply(
        s, &(operator_call){
               .in = &f[P], .out = &f[V], .z = &f[Q], .tail = &project, .phase = ITERATE}));
    TRY(solver_pass(s, ITERATE, &half_step, SITE_FIELDS(WRITE("r", f[R]), READ("v", f[V]))));
    const bool apart = s->factor;
    TRY(s->op->apply(s, &(operator_call){.in = &f[R],
                                         .out = &f[T],
                                         .z = apart ? NULL : &f[Q],
                                         .tail = apart ? NULL : &stabilise,
                                         .phase = ITERATE}));
    if (apart)
        TRY(solver_pass(s, ITERATE, &stabilise_apart,
                        SITE_FIELDS(READ("t", f[T]), READ("r", f[R]), READ("q", f[Q]))));
    s->guard.step = last_of_round;
    return solver_pass(s, ITERATE, &end_step,
                       SITE_FIELDS(WRITE("x", f[X]), WRITE("p", f[P]), WRITE("r", f[R]),
                                   READ("v", f[V]), READ("t", f[T])));
}

const solver_method solver_bicgstab = {
    .name = "bicgstab",
    .open = open,
    .update = update,
    .iterate = iterate,
    .iteration_applies = 2,
    .update_applies = 1,
    .compacts = true,
};
