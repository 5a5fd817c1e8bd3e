// cubc: device-wide primitives that tune themselves. The public C interface, in four parts:
//
//   core.h         status codes, types, devices and their memory
//   primitives.h   the primitives, each called in two phases
//   lattice.h      lattice QCD, an umbrella too: operators, solvers, gauge fields
//   fields.h       its fields in files
#ifndef CUBC_H
#define CUBC_H

#include "cubc/core.h"
#include "cubc/fields.h"
#include "cubc/lattice.h"
#include "cubc/primitives.h"

#endif
