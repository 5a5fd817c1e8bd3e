// The part of runs.c that deterministic_scan.c shares, which reduces runs too.
#ifndef CUBC_RUNS_SHARED_H
#define CUBC_RUNS_SHARED_H

#include "run/instance.h"
#include "run/problem.h"

// Places of the inputs and outputs.
enum { RUNS_KEYS = 0, RUNS_VALUES = 1 };
enum { RUNS_HEADS = 0, RUNS_RESULTS = 1, RUNS_COUNT = 2 }; // keys or offsets, what goes with them

// A problem but for its benchmark: arrays, operator, and all checks of them. The descriptor's
// `complete` adds the rest.
cubc_status runs_operands(const cubc_runs_params *params, const algorithm *a, problem *out);
// A benchmark's call; its row has the arrays and the operator.
cubc_runs_params runs_call(const benchmark *b, cubc_type type, const uint64_t *at);
// Members of a row's call: of all but one that gives offsets, and of one that reduces.
#define RUNS_CALL                                                                          \
    .keys = BENCHMARK_ARRAY(0), .keys_out = BENCHMARK_ARRAY(1), .out = BENCHMARK_ARRAY(2), \
    .count = BENCHMARK_ARRAY(3)
#define RUNS_REDUCE_CALL RUNS_CALL, .values = BENCHMARK_ARRAY(4), .op = "sum"

#endif
