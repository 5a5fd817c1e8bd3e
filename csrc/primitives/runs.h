// The part of runs.c that deterministic_scan.c, which reduces runs too, begins with.
#ifndef CUBC_ALGO_RUNS_H
#define CUBC_ALGO_RUNS_H

#include "run/problem.h"

// Places of the inputs and outputs.
enum { RUNS_KEYS = 0, RUNS_VALUES = 1 };
enum { RUNS_HEADS = 0, RUNS_RESULTS = 1, RUNS_COUNT = 2 }; // keys or offsets, what goes with them

// A problem but for its benchmark: arrays, operator, and all checks of them.
cubc_status runs_operands(const cubc_runs_params *params, const algorithm *a, problem *out);
// The problem of a benchmark that reduces.
void runs_reduction_workload(cubc_type type, uint64_t n, problem *out);

#endif
