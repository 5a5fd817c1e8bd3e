// The common part of scan.c and fixed_scan.c: two kernels with the same arguments.
#ifndef CUBC_ALGO_SCAN_H
#define CUBC_ALGO_SCAN_H

#include "run/problem.h"

enum { SCAN_ITEMS = 0, SCAN_KEYS = 1 }; // places of the inputs; the result is output 0

// Makes the problem a scan by its second input.
void scan_by_keys(problem *p);
// sizeof(sum_t) of kernels/shared/scan_runs.h.
uint64_t scan_sum_bytes(const problem *p);
// The launch of a block a tile, which gets all outputs; slots: of messages, a sum each.
cubc_status scan_launch(const problem *p, const device_kernel *kernel, uint64_t tiles,
                        uint64_t slots, plan *out);

#endif
