// The additive Schwarz preconditioner of GCR: a few steps of minimal residual on this rank's block
// of the lattice, whose edges are open, since hops from other ranks are left out. It sends nothing
// and has no sums over ranks.
//
// M. Luscher, "Solution of the Dirac equation in lattice QCD using a domain decomposition method"
// (2004); R. Babich et al., "Scaling lattice QCD beyond 100 GPUs" (2011). The steps of a block
// depend on the residual in it, so that the preconditioner is another one in each iteration.
//
// Without ranks, and on one that is not cut, the block is the whole lattice.
#include "lattice/solver/solver.h"

enum { E, W, Z }; // among fields: residual in the block, M e, solution

// ---- the steps ---------------------------------------------------------------------------------
static const cubc_site_update length = {
    .sums = {"norm(out)", "dot_real(out, z)", "dot_imag(out, z)"},
    .finish = "schwarz_length",
};
static const cubc_site_update only_step = {
    .scalars = {"block_step"},
    .statements = "out = block_step * r",
};
static const cubc_site_update first_step = {
    .scalars = {"block_step"},
    .statements = "z = block_step * r; e = r - block_step * w",
};
static const cubc_site_update next_step = {
    .scalars = {"block_step"},
    .statements = "z = z + block_step * e; e = e - block_step * w",
};
static const cubc_site_update last_step = {
    .scalars = {"block_step"},
    .statements = "out = z + block_step * e",
};

// ---- the preconditioner ------------------------------------------------------------------------
cubc_status schwarz_open(solver *s, lattice_field fields[SCHWARZ_FIELDS])
{
    for (int k = 0; k < SCHWARZ_FIELDS; k++) TRY(solver_zero_field(s, s->schwarz_type, &fields[k]));
    return CUBC_OK;
}

// M of the block, and the step along its input.
static cubc_status apply_block(solver *s, const lattice_field *in, const lattice_field *out)
{
    return s->op->apply(
        s, &(operator_call){
               .in = in, .out = out, .z = in, .tail = &length, .block = true, .phase = ITERATE});
}

static cubc_status take_first(solver *s, const lattice_field *f, const lattice_field *residual,
                              const lattice_field *out)
{
    const lattice_field *in = s->schwarz_type == s->sloppy ? residual : &f[E];
    if (in == &f[E]) TRY(solver_assign(s, ITERATE, &f[E], residual));
    TRY(apply_block(s, in, &f[W]));
    if (s->schwarz == 1)
        return solver_pass(s, ITERATE, &only_step,
                           SITE_FIELDS(WRITE("out", *out), READ("r", *residual)));
    return solver_pass(
        s, ITERATE, &first_step,
        SITE_FIELDS(WRITE("z", f[Z]), WRITE("e", f[E]), READ("r", *residual), READ("w", f[W])));
}

cubc_status schwarz_apply(solver *s, const lattice_field fields[SCHWARZ_FIELDS],
                          const lattice_field *residual, const lattice_field *out)
{
    const lattice_field *f = fields;
    TRY(take_first(s, f, residual, out));
    for (int k = 1; k < s->schwarz; k++) {
        TRY(apply_block(s, &f[E], &f[W]));
        if (k + 1 == s->schwarz)
            return solver_pass(s, ITERATE, &last_step,
                               SITE_FIELDS(WRITE("out", *out), READ("z", f[Z]), READ("e", f[E])));
        TRY(solver_pass(s, ITERATE, &next_step,
                        SITE_FIELDS(WRITE("z", f[Z]), WRITE("e", f[E]), READ("w", f[W]))));
    }
    return CUBC_OK;
}
