// The table of operators: see operator_row.h.
#include "lattice/solver/operator_row.h"

#include <string.h>

static const operator_row *const rows[] = {[CUBC_WILSON] = &wilson_row,
                                           [CUBC_TWISTED] = &twisted_row,
                                           [CUBC_CLOVER] = &clover_row,
                                           [CUBC_STAGGERED] = &staggered_row,
                                           [CUBC_TWISTED_CLOVER] = &twisted_clover_row,
                                           [CUBC_DOUBLET] = &doublet_row,
                                           [CUBC_DOMAIN_WALL] = &domain_wall_row};

cubc_status operator_row_of(cubc_operator_kind kind, const operator_row **out)
{
    if ((int)kind < 0 || (size_t)kind >= COUNT_OF(rows))
        FAIL(CUBC_INVALID_ARGUMENT, "no operator has the kind %d", (int)kind);
    *out = rows[kind];
    return CUBC_OK;
}

cubc_status operator_row_named(const char *name, cubc_operator_kind *kind, const operator_row **out)
{
    for (size_t k = 0; k < COUNT_OF(rows); k++)
        if (strcmp(rows[k]->name, name) == 0) {
            *kind = (cubc_operator_kind)k;
            *out = rows[k];
            return CUBC_OK;
        }
    FAIL(CUBC_INVALID_ARGUMENT, "no operator is called '%.30s'", name);
}

cubc_status operator_open(solver *s, const cubc_operator *from)
{
    s->system = mem_zalloc(1, s->row->state_bytes);
    if (!s->system) return CUBC_NO_MEMORY;
    TRY(solver_fields_of_types(s, s->scratch));
    return s->row->open(s, from);
}
