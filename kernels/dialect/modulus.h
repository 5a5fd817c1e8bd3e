// % of an expression, of floats as well: the core writes `a % b` as `a *cubc_modulus* b`, which C++
// reads in the same order. For integers it is the operator itself.
#pragma once
#include "types.h"

struct modulus_sign {
};
static constexpr modulus_sign cubc_modulus = {};
template <class A>
struct modulus_of {
    A a;
};
template <class A>
FUNCTION modulus_of<A> operator*(A a, modulus_sign)
{
    return {a};
}

template <class Sum> // the type in which a and b would be added
struct modulus_in {
    template <class A, class B>
    FUNCTION_MEMBER static auto of(A a, B b)
    {
        return a % b;
    }
};
template <>
struct modulus_in<f32> {
    FUNCTION_MEMBER static f32 of(f32 a, f32 b) { return fmod(a, b); }
};
template <>
struct modulus_in<f64> {
    FUNCTION_MEMBER static f64 of(f64 a, f64 b) { return fmod(a, b); }
};
template <class A, class B>
FUNCTION auto operator*(modulus_of<A> left, B b)
{
    return modulus_in<decltype(left.a + b)>::of(left.a, b);
}
