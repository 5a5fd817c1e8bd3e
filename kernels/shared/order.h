// Order of sorted arrays, from the workload's macros:
//     TUNE_T      type of the items
//     TUNE_LESS   an expression of a and b, both item_t: true if a precedes b
// If the expression is not a strict weak order, the arrangement of the items is unspecified. No
// kernel leaves its arrays then: positions are bounded whatever the comparisons return.
#pragma once
#include "modulus.h"
#include "types.h"

typedef TUNE_T item_t;

FUNCTION bool goes_before(in_expression<item_t> a, in_expression<item_t> b)
{
    (void)a;
    (void)b;
    return convert<bool>(TUNE_LESS);
}

struct order { // the same for block_merge.h
    FUNCTION_MEMBER bool operator()(item_t a, item_t b) const { return goes_before(a, b); }
};
