// Lattice QCD: a part of cubc.h, in five parts, whose fields and conventions are described here.
//
//   lattice/copy.h        orders of fields, and copies between them
//   lattice/gauge.h       gauge fields: measured, updated, rotated, smeared
//   lattice/ranks.h       lattices over several devices
//   lattice/operators.h   Dirac operators and their site terms
//   lattice/solve.h       solvers
//
// The lattice is periodic, of lx * ly * lz * lt sites with even extents. The parity of a site is
// that of x + y + z + t. Sites of one parity are in the order of x / 2, y, z, t, with x fastest.
// Gamma matrices are those of DeGrand and Rossi. Plain fields have complex numbers of two reals,
// F64 or F32. Native fields have F64, F32 or I16. I16 is fixed point: 32767 stands for 1, or in
// spinors for the largest magnitude of the site. The norm of a site, that magnitude over 32767, is
// an F32 in another array.
//
// Native order: each parity's field is cut into chunks of 16 bytes of each site. Chunk k of all
// sites comes before chunk k + 1 of any. Parity 0 comes before parity 1. A link has 18, 12 or 8
// reals; the four directions of a parity follow each other, x, y, z, t. A spinor has 24 reals, spin
// slowest: first (upper + lower) / sqrt(2) of the plain spins, then (upper - lower) / sqrt(2).
// Arrays are aligned to 16 bytes.
#ifndef CUBC_LATTICE_H
#define CUBC_LATTICE_H

#include "cubc/lattice/copy.h"
#include "cubc/lattice/gauge.h"
#include "cubc/lattice/operators.h"
#include "cubc/lattice/ranks.h"
#include "cubc/lattice/solve.h"

#endif
