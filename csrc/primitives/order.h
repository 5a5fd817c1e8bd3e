// The common part of the algorithms that take a user's order: merge_sort, merge and searchsorted.
#ifndef CUBC_ORDER_H
#define CUBC_ORDER_H

#include "run/instance.h"
#include "run/problem.h"

// Takes in an expression of a and b that is true if a goes before b. NULL: the smaller one does,
// and any number before NaN.
cubc_status order_take(problem *p, const char *less);
// TUNE_T, TUNE_LESS: the order of items of a type.
void order_define(const problem *p, cubc_type type, text *out);
// TUNE_T, TUNE_LESS and values: what kernels/shared/merge_path.h takes, and the limits of its
// variants.
void order_define_merge(const problem *p, text *out);
const char *order_invalid_merge(const problem *p, const char *kind, const space *s,
                                const variant *v);

#endif
