// The common part of scan.c and deterministic_scan.c: two kernels with the same arguments.
#ifndef CUBC_ALGO_SCAN_H
#define CUBC_ALGO_SCAN_H

#include "run/problem.h"

enum { SCAN_ITEMS = 0, SCAN_KEYS = 1 }; // places of the inputs; the result is output 0

typedef enum scan_kind { SCAN_WHOLE, SCAN_BY_KEY, SCAN_BY_OFFSETS, SCAN_OF_EQUAL_SIZE } scan_kind;

scan_kind scan_kind_of(const problem *p);
void scan_set_kind(problem *p, scan_kind kind);
// A scan's problem but for its benchmark: arrays, operator, and all checks of them.
cubc_status scan_operands(const cubc_scan_params *params, const algorithm *a, problem *out);
// The problem of a benchmark.
cubc_status scan_workload_of(scan_kind kind, const char *op, bool inclusive, cubc_type type,
                             const uint64_t *at, problem *out);
// A call's elements, and the mean length of its segments.
void scan_place(const problem *p, uint64_t *place);
const char *scan_random(const problem *p, int k);
void scan_define(const problem *p, text *out);
// sizeof(sum_t) of kernels/shared/scan_runs.h.
uint64_t scan_sum_bytes(const problem *p);
// The launch of a block a tile, which gets all outputs; slots: of messages, a sum each.
cubc_status scan_launch(const problem *p, const device_kernel *kernel, uint64_t tiles,
                        uint64_t slots, plan *out);

#endif
