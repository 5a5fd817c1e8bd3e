// Tells which items belong to one run, by the workload's macros:
//     TUNE_EQUAL   an expression of an item b and of the item a before it: true if b continues the
//                  run of a. Absent: b == a.
// Each pair is asked about by itself. The expression may be true for a and b, and for b and c, and
// not for a and c.
#pragma once
#include "modulus.h"
#include "types.h"

#if defined(TUNE_EQUAL)
template <class T>
FUNCTION bool are_equal(const T& before, const T& item)
{
    const in_expression<T> a = before, b = item;
    (void)a;
    (void)b;
    return convert<bool>(TUNE_EQUAL);
}
#define SAME_RUN(before, item) are_equal(before, item)
#else
#define SAME_RUN(before, item) ((item) == (before))
#endif
