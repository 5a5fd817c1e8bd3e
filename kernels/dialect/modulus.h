// % of an expression, of floats as well: the core writes `a % b` as `a *cubc_modulus* b`, which C++
// reads in the same order. For integers it is the operator itself. And gcd, which is made of it.
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

// ---- gcd ----------------------------------------------------------------------------------------
template <int BYTES>
struct magnitude_of {
    typedef u32 type;
};
template <>
struct magnitude_of<8> {
    typedef u64 type;
};

template <class A>
FUNCTION auto gcd_magnitude(A a)
{
    typedef typename magnitude_of<sizeof(a)>::type unsigned_a;
    return a < 0 ? unsigned_a(0) - unsigned_a(a) : unsigned_a(a);
}

// Returns the greatest common divisor of two integers, 0 of two zeros. As in NumPy that of the
// least integer is negative where it has no positive one.
template <class A, class B>
FUNCTION auto gcd(A a, B b)
{
    typedef decltype(a + b) both;
    static_assert(static_cast<both>(0.5) == 0, "gcd takes integers");
    typedef typename magnitude_of<sizeof(both)>::type wide;
    wide x = gcd_magnitude(a), y = gcd_magnitude(b);
    while (y != 0) {
        const wide rest = x % y;
        x = y;
        y = rest;
    }
    return static_cast<both>(x);
}
