// The ways from the public calls of reductions, scans and runs to their descriptors: see routes.c.
#ifndef CUBC_ROUTES_H
#define CUBC_ROUTES_H

#include "primitives/reduction.h"

// Each in its descriptor's file: its own problem and no other's.
cubc_status reduce_build(const reduction *r, problem *out);
cubc_status segmented_reduce_build(const reduction *r, problem *out);
cubc_status row_reduce_build(const reduction *r, problem *out);
cubc_status axis_reduce_build(const reduction *r, problem *out);
cubc_status deterministic_reduce_build(const reduction *r, problem *out); // whole or segments
// `whole` has the parameters but for the shape, as those of a scan of all items.
cubc_status axis_scan_build(const cubc_scan_params *whole, uint64_t length, uint64_t columns,
                            problem *out);
cubc_status scan_build(const cubc_scan_params *params, problem *out);
cubc_status deterministic_scan_build(const cubc_scan_params *params, problem *out);
cubc_status runs_build(const cubc_runs_params *params, problem *out);
cubc_status deterministic_runs_build(const cubc_runs_params *params, problem *out);

#endif
