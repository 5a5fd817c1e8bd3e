// The part that scans share: routes.c makes their problems, scan.c and deterministic_scan.c have
// kernels with the same arguments.
#ifndef CUBC_SCAN_SHARED_H
#define CUBC_SCAN_SHARED_H

#include "run/instance.h"
#include "run/problem.h"

enum { SCAN_ITEMS = 0, SCAN_KEYS = 1 }; // places of the inputs; the result is output 0

typedef enum scan_kind { SCAN_WHOLE, SCAN_BY_KEY, SCAN_BY_OFFSETS, SCAN_OF_EQUAL_SIZE } scan_kind;

scan_kind scan_kind_of(const problem *p);
void scan_set_kind(problem *p, scan_kind kind);
bool scan_in_segments(const problem *p);  // by offsets, or of equal size
uint64_t scan_segments(const problem *p); // how many there are
// A scan's problem but for its benchmark: arrays, operator, and all checks of them. The
// descriptor's `complete` adds the rest.
cubc_status scan_operands(const cubc_scan_params *params, const algorithm *a, problem *out);
// The parameters of a benchmark's call: those of its row, with types and sizes.
cubc_scan_params scan_call(const benchmark *b, cubc_type type, const uint64_t *at);
#define SCAN_CALL(...)                                                   \
    .call = &(const cubc_scan_params)                                    \
    {                                                                    \
        .in = BENCHMARK_ARRAY(0), .out = BENCHMARK_ARRAY(1), __VA_ARGS__ \
    }
#define SCAN_CALL_BY_KEY SCAN_CALL(.op = "sum", .inclusive = 1, .keys = BENCHMARK_ARRAY(2))
#define SCAN_CALL_SEGMENTED \
    SCAN_CALL(.op = "sum", .inclusive = 1, .offsets = BENCHMARK_ARRAY(2), .offset_type = CUBC_I64)
enum { SEGMENT_SIZE = 1 }; // among the run-time axes: the mean length of segments
// A call's elements, and the mean length of its segments.
void scan_axis_values(const problem *p, uint64_t *values);
const char *scan_random(const problem *p, int k);
void scan_define(const problem *p, text *out);
// sizeof(sum_t) of kernels/shared/scan_runs.h.
uint64_t scan_sum_bytes(const problem *p);
// The launch of a block a tile, which gets all outputs; slots: of messages, a sum each.
cubc_status scan_launch(const problem *p, const device_kernel *kernel, uint64_t tiles,
                        uint64_t slots, plan *out);

#endif
