// Checks of fields of Hermitian matrices: see clover.h.
#include "lattice/operators/clover.h"

static cubc_status check_length(const problem *p, const char *what, uint64_t n)
{
    const lattice_traits traits = lattice_traits_of(p);
    const int *l = traits.extents;
    uint64_t wanted = 2 * lattice_sites(p) * CLOVER_REALS;
    if (n == wanted) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT,
         "%s has %llu real numbers: on a lattice of %dx%dx%dx%d it has %llu, both parities' 72 a "
         "site",
         what, (unsigned long long)n, l[0], l[1], l[2], l[3], (unsigned long long)wanted);
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
