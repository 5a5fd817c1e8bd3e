// Products of extents that a caller gave. All are taken here, so that none wraps.
#ifndef CUBC_SIZE_H
#define CUBC_SIZE_H

#include "base/base.h"

// *bytes times a factor; false, with *bytes as it was, if that is more than any memory has. Sums of
// several such sizes fit 64 bits.
bool size_multiply(uint64_t *bytes, uint64_t factor);
// Counts the items of an array. False if an extent is negative or the array would be larger than
// any memory if its extents of 0 were 1: strides are in range, too.
bool size_of_extents(const ptrdiff_t *extents, int ndim, size_t item_bytes, uint64_t *items);

#endif
