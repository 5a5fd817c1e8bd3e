// Arrays of algorithms along an axis that is not the last: [outer][length][columns], of which the
// axis has the length.
#ifndef CUBC_MATRICES_H
#define CUBC_MATRICES_H

#include "base/integer.h"

enum { MATRIX_AXIS = 1, COLUMN_AXIS = 2 }; // among the run-time axes: what `outer` counts, columns

typedef struct matrices {
    uint64_t outer, length, columns;
} matrices;

// The arrays at a benchmark's values: as many rows as the items are enough for. One column would
// make the axis the last.
static inline matrices matrices_at(const uint64_t *at)
{
    const uint64_t n = larger(at[0], 2), columns = larger(smaller(n, at[COLUMN_AXIS]), 2);
    const uint64_t outer = smaller(n / columns, at[MATRIX_AXIS]);
    return (matrices){outer, n / outer / columns, columns};
}

#endif
