// Checks of fields of Hermitian matrices: see clover.h.
#include "lattice/operators/clover.h"

static cubc_status check_length(const problem *p, const char *what, uint64_t n)
{
    uint64_t wanted = 2 * lattice_sites(p) * CLOVER_REALS;
    if (n == wanted) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT,
         "%s has %llu real numbers: on a lattice of %dx%dx%dx%d it has %llu, both parities' 72 a "
         "site",
         what, (unsigned long long)n, p->traits[LATTICE_X], p->traits[LATTICE_Y],
         p->traits[LATTICE_Z], p->traits[LATTICE_T], (unsigned long long)wanted);
}

cubc_status clover_input(problem *p, const void *data, const float *norms, uint64_t n,
                         cubc_type type)
{
    TRY(check_length(p, "the clover term", n));
    return lattice_field_input(p, "the clover term", data, norms, n, type, CLOVER_REALS);
}

cubc_status clover_output(problem *p, const char *what, void *data, float *norms, uint64_t n,
                          cubc_type type)
{
    TRY(check_length(p, what, n));
    return lattice_field_output(p, what, data, norms, n, type, CLOVER_REALS);
}

void clover_operands(const problem *p, cubc_type type, operand out[2])
{
    uint64_t sites = 2 * lattice_sites(p);
    out[0] = (operand){.n = sites * CLOVER_REALS, .type = (uint8_t)type};
    out[1] = (operand){.n = type == CUBC_I16 ? sites : 0, .type = CUBC_F32};
}
