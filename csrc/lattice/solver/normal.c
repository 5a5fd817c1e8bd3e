// The operator M^+ M of any M, Hermitian and positive.
#include "lattice/solver/operator_row.h"

static cubc_status apply(solver *s, const operator_call *call)
{
    const lattice_field *between = solver_in_type(s->half_way, call->in->type);
    operator_call back = *call;
    back.in = between;
    back.dagger = true;
    TRY(s->factor->apply(
        s, &(operator_call){
               .in = call->in, .out = between, .block = call->block, .phase = call->phase}));
    return s->factor->apply(s, &back);
}

static const lattice_operator normal = {.positive = true, .apply = apply};

cubc_status normal_open(solver *s)
{
    TRY(solver_fields_of_types(s, s->half_way));
    s->factor = s->op;
    s->op = &normal;
    s->flops *= 2;
    return CUBC_OK;
}
