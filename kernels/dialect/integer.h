// Arithmetic of sizes and counts, as csrc/base/integer.h has it for the core. Headers that a user's
// kernel may include do without it, since such a kernel may define these names.
#pragma once
#include "simt.h"

// Returns a quotient, rounded up, in the type of a / b. The caller knows that a + b does not wrap.
template <class A, class B>
FUNCTION constexpr auto ceil_div(A a, B b)
{
    return (a + b - 1) / b;
}
