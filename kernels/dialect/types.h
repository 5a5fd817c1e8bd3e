// Number types that C++ lacks, their limits and conversions, and user-defined structs.
//
// f16 and bf16 are storage formats: operators are evaluated in f32, to which both convert
// implicitly. bool8 is the storage format of a bool. All of them have trivial default constructors,
// so that they may be members of unions.
//     TUNE_STRUCTS   definitions of the workload's structs, if there are any
#pragma once
#include "simt.h"

template <class T, class V>
FUNCTION T convert(V v);

// Bool in memory. All bytes except 0 are true, as in NumPy, whose arrays may hold any byte (masks
// of 255, views of other data), while a C++ bool that is neither 0 nor 1 is undefined. Stores write
// 0 or 1.
struct bool8 {
    u8 byte;
    bool8() = default;
    template <class V>
    FUNCTION_MEMBER explicit bool8(V v) : byte(convert<bool>(v))
    {
    }
    FUNCTION_MEMBER operator bool() const { return byte != 0; }
    FUNCTION_MEMBER bool8& operator=(bool v)
    {
        byte = v;
        return *this;
    }
    FUNCTION_MEMBER bool8& operator|=(bool v) { return *this = *this || v; }
    FUNCTION_MEMBER bool8& operator&=(bool v) { return *this = *this && v; }
    FUNCTION_MEMBER bool8& operator^=(bool v) { return *this = *this != v; }
};

// Type of an item in an expression: a bool for a bool8, and f32 for f16 and bf16, of which C would
// make integers beside an integer in `x > 0 ? x : 0`.
template <class T>
struct expressed {
    typedef T type;
};
template <>
struct expressed<bool8> {
    typedef bool type;
};
template <class T>
using in_expression = typename expressed<T>::type;

struct f16;
struct bf16;
template <>
struct expressed<f16> {
    typedef f32 type;
};
template <>
struct expressed<bf16> {
    typedef f32 type;
};

// Computed in f32, and rounded where a result is stored.
#define STORED_ROUNDED(type)                                                                \
    FUNCTION_MEMBER type& operator=(f32 v);                                                 \
    FUNCTION_MEMBER type& operator+=(f32 v) { return *this = static_cast<f32>(*this) + v; } \
    FUNCTION_MEMBER type& operator-=(f32 v) { return *this = static_cast<f32>(*this) - v; } \
    FUNCTION_MEMBER type& operator*=(f32 v) { return *this = static_cast<f32>(*this) * v; } \
    FUNCTION_MEMBER type& operator/=(f32 v) { return *this = static_cast<f32>(*this) / v; }
struct f16 {
    u16 bits;
    FUNCTION_MEMBER operator f32() const;
    STORED_ROUNDED(f16)
};
struct bf16 {
    u16 bits;
    FUNCTION_MEMBER operator f32() const { return f32_of(static_cast<u32>(bits) << 16); }
    STORED_ROUNDED(bf16)
};
#undef STORED_ROUNDED

#if defined(SIMT_CUDA)
FUNCTION_MEMBER f16::operator f32() const
{
    f32 v;
    asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(bits));
    return v;
}
FUNCTION u16 f16_bits(f32 v)
{
    u16 b;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(b) : "f"(v));
    return b;
}
#else
FUNCTION_MEMBER f16::operator f32() const
{
    const u32 sign = static_cast<u32>(bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
    // Scaling by 2^112 converts the exponent from half to single and normalises subnormals.
    const f32 scaled = f32_of(magnitude << 13) * f32_of(0x77800000u);
    const u32 special = magnitude >= 0x7c00u ? (magnitude << 13 | 0x7f800000u) : bits_of(scaled);
    return f32_of(sign | special);
}
// Rounds to nearest even. Adding a number whose unit in the last place is that of the result makes
// the hardware round; one addition serves normal and subnormal results.
FUNCTION u16 f16_bits(f32 v)
{
    const u32 sign = bits_of(v) >> 16 & 0x8000u, magnitude = bits_of(v) & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<u16>(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) return static_cast<u16>(sign | 0x7c00u); // 65520 and above
    const u32 least = magnitude < 0x38800000u ? 0x38800000u : magnitude & 0x7f800000u;
    const f32 magic = f32_of(least + (13u << 23));
    const u32 rounded = bits_of(f32_of(magnitude) + magic) - bits_of(magic);
    const u32 exponent = (least >> 23) - 113u;
    return static_cast<u16>(sign | ((exponent << 10) + rounded));
}
#endif

FUNCTION u16 bf16_bits(f32 v)
{
    const u32 b = bits_of(v);
    if ((b & 0x7fffffffu) > 0x7f800000u) return static_cast<u16>(b >> 16 | 0x40u); // a quiet NaN
    return static_cast<u16>((b + 0x7fffu + (b >> 16 & 1u)) >> 16);
}
FUNCTION_MEMBER f16& f16::operator=(f32 v)
{
    bits = f16_bits(v);
    return *this;
}
FUNCTION_MEMBER bf16& bf16::operator=(f32 v)
{
    bits = bf16_bits(v);
    return *this;
}

// Complex number. A real number converts to one implicitly. z.real and z.imag are its parts.
template <class F>
struct complex {
    F real, imag;
    complex() = default;
    FUNCTION_MEMBER complex(F re, F im = 0) : real(re), imag(im) {}
    FUNCTION_MEMBER complex(bool8 re) : real(re), imag(0) {}
    template <class G>
    FUNCTION_MEMBER explicit complex(complex<G> z)
        : real(static_cast<F>(z.real)), imag(static_cast<F>(z.imag))
    {
    }
    friend FUNCTION_MEMBER complex operator+(complex a, complex b)
    {
        return complex(a.real + b.real, a.imag + b.imag);
    }
    friend FUNCTION_MEMBER complex operator-(complex a, complex b)
    {
        return complex(a.real - b.real, a.imag - b.imag);
    }
    friend FUNCTION_MEMBER complex operator*(complex a, complex b)
    {
        return complex(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real);
    }
    // Algorithm of R. L. Smith, "Algorithm 116: Complex Division", CACM 5 (1962): squares cannot
    // overflow.
    friend FUNCTION_MEMBER complex operator/(complex a, complex b)
    {
        if (fabs(b.real) >= fabs(b.imag)) {
            const F ratio = b.real == 0 ? b.real : b.imag / b.real;
            const F divisor = b.real + b.imag * ratio;
            return complex((a.real + a.imag * ratio) / divisor,
                           (a.imag - a.real * ratio) / divisor);
        }
        const F ratio = b.real / b.imag, divisor = b.imag + b.real * ratio;
        return complex((a.real * ratio + a.imag) / divisor, (a.imag * ratio - a.real) / divisor);
    }
    friend FUNCTION_MEMBER complex operator-(complex z) { return complex(-z.real, -z.imag); }
    friend FUNCTION_MEMBER bool operator==(complex a, complex b)
    {
        return a.real == b.real && a.imag == b.imag;
    }
    friend FUNCTION_MEMBER bool operator!=(complex a, complex b) { return !(a == b); }
};
typedef complex<f32> c64;
typedef complex<f64> c128;

template <class F>
FUNCTION F real(complex<F> z)
{
    return z.real;
}
template <class F>
FUNCTION F imag(complex<F> z)
{
    return z.imag;
}
template <class F>
FUNCTION complex<F> conj(complex<F> z)
{
    return complex<F>(z.real, -z.imag);
}
template <class F>
FUNCTION F abs(complex<F> z)
{
    return hypot(z.real, z.imag);
}

// convert<T>(v) converts a number to T, with the rounding of T; to bool it means "not zero".
template <class T>
struct conversion {
    template <class F>
    FUNCTION_MEMBER static T of(complex<F>)
    {
        static_assert(sizeof(F) == 0, "a complex number becomes a real one by real, imag or abs");
    }
    template <class V>
    FUNCTION_MEMBER static T of(V v)
    {
        return static_cast<T>(v);
    }
};
template <>
struct conversion<f16> {
    FUNCTION_MEMBER static f16 of(f16 v) { return v; }
    template <class V>
    FUNCTION_MEMBER static f16 of(V v)
    {
        return f16{f16_bits(static_cast<f32>(v))};
    }
};
template <>
struct conversion<bf16> {
    FUNCTION_MEMBER static bf16 of(bf16 v) { return v; }
    template <class V>
    FUNCTION_MEMBER static bf16 of(V v)
    {
        return bf16{bf16_bits(static_cast<f32>(v))};
    }
};
template <>
struct conversion<bool> {
    template <class V>
    FUNCTION_MEMBER static bool of(V v)
    {
        return v != V(0);
    }
    FUNCTION_MEMBER static bool of(bool v) { return v; }
    FUNCTION_MEMBER static bool of(bool8 v) { return v; }
    FUNCTION_MEMBER static bool of(f16 v) { return static_cast<f32>(v) != 0.0f; }
    FUNCTION_MEMBER static bool of(bf16 v) { return static_cast<f32>(v) != 0.0f; }
};
template <>
struct conversion<bool8> {
    template <class V>
    FUNCTION_MEMBER static bool8 of(V v)
    {
        return bool8(convert<bool>(v)); // also for a bool8: computed values are 0 or 1
    }
};
template <class F>
struct conversion<complex<F>> {
    FUNCTION_MEMBER static complex<F> of(complex<f32> v) { return complex<F>(v); }
    FUNCTION_MEMBER static complex<F> of(complex<f64> v) { return complex<F>(v); }
    template <class V>
    FUNCTION_MEMBER static complex<F> of(V v)
    {
        return complex<F>(static_cast<F>(v));
    }
};
template <class T, class V>
FUNCTION T convert(V v)
{
    return conversion<T>::of(v);
}

// order_code(v) is an unsigned number of the size of v, and these numbers have the order of the v.
// The code of a float follows its sign, then its magnitude; a NaN comes behind the infinity of its
// sign.
#define ORDER_CODE(type, code, expression) \
    FUNCTION code order_code(type v) { return static_cast<code>(expression); }
#define ORDER_CODE_OF_BITS(type, code, bits, sign) \
    ORDER_CODE(type, code, (bits) >> (sign) ? ~(bits) : (bits) | static_cast<code>(1) << (sign))
ORDER_CODE(bool, u8, v)
ORDER_CODE(bool8, u8, v.byte != 0)
ORDER_CODE(u8, u8, v)
ORDER_CODE(u16, u16, v)
ORDER_CODE(u32, u32, v)
ORDER_CODE(u64, u64, v)
ORDER_CODE(i8, u8, v ^ 0x80)
ORDER_CODE(i16, u16, v ^ 0x8000)
ORDER_CODE(i32, u32, static_cast<u32>(v) ^ 0x80000000u)
ORDER_CODE(i64, u64, static_cast<u64>(v) ^ 1ull << 63)
ORDER_CODE_OF_BITS(f16, u16, v.bits, 15)
ORDER_CODE_OF_BITS(bf16, u16, v.bits, 15)
ORDER_CODE_OF_BITS(f32, u32, bits_of(v), 31)
ORDER_CODE_OF_BITS(f64, u64, bits_of(v), 63)
#undef ORDER_CODE_OF_BITS
#undef ORDER_CODE

// Lowest and highest value: the identities of max and min (infinities for floating-point types).
template <class T>
struct limits;
#define LIMITS_OF(type, low, high)                               \
    template <>                                                  \
    struct limits<type> {                                        \
        FUNCTION_MEMBER static type lowest() { return (low); }   \
        FUNCTION_MEMBER static type highest() { return (high); } \
    };
LIMITS_OF(bool, false, true)
LIMITS_OF(bool8, bool8(false), bool8(true))
LIMITS_OF(i8, -128, 127)
LIMITS_OF(i16, -32768, 32767)
LIMITS_OF(i32, -2147483647 - 1, 2147483647)
LIMITS_OF(i64, -9223372036854775807ll - 1, 9223372036854775807ll)
LIMITS_OF(u8, 0, 255)
LIMITS_OF(u16, 0, 65535)
LIMITS_OF(u32, 0, 4294967295u)
LIMITS_OF(u64, 0, 18446744073709551615ull)
LIMITS_OF(f32, f32_of(0xff800000u), f32_of(0x7f800000u))
LIMITS_OF(f64, static_cast<f64>(f32_of(0xff800000u)), static_cast<f64>(f32_of(0x7f800000u)))
#undef LIMITS_OF

#if defined(TUNE_STRUCTS)
TUNE_STRUCTS
#endif

// Counter-based generator (splitmix64, Steele, Lea and Flood, OOPSLA 2014): returns the i-th number
// of a stream, from 0 on, without computing those before it. The state has i + 1, since a state of
// 0, as of seed 0 and i 0, would give the number 0.
FUNCTION u64 random_u64(u64 seed, u64 i)
{
    u64 z = seed * 0xd1342543de82ef95ull + (i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}
