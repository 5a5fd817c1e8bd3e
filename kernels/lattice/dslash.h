// Shared part of the kernels of Wilson-like operators: the hopping term (dslash_hops.h), then the
// operator's site term, which is all that differs between them. Parameters and workload are those
// of dslash_sites.h and dslash_hops.h. Traffic a site and source: the links (eight a site of one
// parity, four of both) are read, shared by the sources of a thread or of a block; a spinor is read
// and one is written.
#pragma once
#include "dslash_hops.h"

template <class Term>
using dslash_args = operator_args<dslash_fields, Term>;

#if TUNE_CUT
#include "dslash_faces.h"
#endif

// The kernels of an operator.
#define DSLASH_KERNELS(name, term)                                   \
    KERNEL(name, dslash_args<term>, dslash_shared) { dslash(a, s); } \
    SUMS_KERNEL(name, dslash_args<term>, dslash_shared, a.tail.guard)
