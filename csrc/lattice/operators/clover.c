// Checks of fields of Hermitian matrices: see clover.h.
#include "lattice/operators/clover.h"

static cubc_status check_length(const problem *p, const char *what, uint64_t n)
{
    uint64_t wanted = 2 * lattice_sites(p) * CLOVER_REALS;
    const lattice_traits lattice = lattice_traits_of(p);
    const int *extents = lattice.extents;
    if (n == wanted) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT,
         "%s has %llu real numbers: on a lattice of %dx%dx%dx%d it has %llu, both parities' 72 a "
         "site",
         what, (unsigned long long)n, extents[0], extents[1], extents[2], extents[3],
         (unsigned long long)wanted);
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
