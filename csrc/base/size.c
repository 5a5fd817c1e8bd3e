// Products of extents: see size.h.
#include "base/size.h"

bool size_multiply(uint64_t *bytes, uint64_t factor)
{
    const uint64_t most = (uint64_t)1 << 60;
    if (factor && *bytes > most / factor) return false;
    *bytes *= factor;
    return true;
}

bool size_of_extents(const ptrdiff_t *extents, int ndim, size_t item_bytes, uint64_t *items)
{
    uint64_t bytes = item_bytes;
    *items = 1;
    for (int d = 0; d < ndim; d++) {
        uint64_t extent = (uint64_t)extents[d];
        if (extents[d] < 0 || !size_multiply(&bytes, extent ? extent : 1)) return false;
        *items *= extent;
    }
    return true;
}
