// Packed arithmetic on words that hold four bytes or two 16-bit halves.
#pragma once
#include "simt.h"

#if defined(SIMT_CUDA)
// Returns `sum` plus the dot product of the words' bytes: __dp4a, which NVRTC before 12.3 cannot
// link.
FUNCTION i32 dot_of_bytes(i32 a, i32 b, i32 sum)
{
    asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}
FUNCTION u32 dot_of_bytes(u32 a, u32 b, u32 sum)
{
    asm("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}
// Minimum or maximum of each 16-bit half of two words.
FUNCTION u32 least_of_halves(u32 a, u32 b) { return __vminu2(a, b); }
FUNCTION u32 least_of_halves_signed(u32 a, u32 b) { return __vmins2(a, b); }
FUNCTION u32 greatest_of_halves(u32 a, u32 b) { return __vmaxu2(a, b); }
FUNCTION u32 greatest_of_halves_signed(u32 a, u32 b) { return __vmaxs2(a, b); }
#else
FUNCTION i32 dot_of_bytes(i32 a, i32 b, i32 sum)
{
    for (int k = 0; k < 32; k += 8) sum += static_cast<i8>(a >> k) * static_cast<i8>(b >> k);
    return sum;
}
FUNCTION u32 dot_of_bytes(u32 a, u32 b, u32 sum)
{
    for (int k = 0; k < 32; k += 8)
        sum += static_cast<u32>(static_cast<u8>(a >> k)) * static_cast<u8>(b >> k);
    return sum;
}
template <class H>
FUNCTION u32 better_halves(u32 a, u32 b, bool greatest)
{
    u32 r = 0;
    for (int k = 0; k < 32; k += 16) {
        const H x = static_cast<H>(a >> k), y = static_cast<H>(b >> k);
        r |= static_cast<u32>(static_cast<u16>((x > y) == greatest ? x : y)) << k;
    }
    return r;
}
FUNCTION u32 least_of_halves(u32 a, u32 b) { return better_halves<u16>(a, b, false); }
FUNCTION u32 least_of_halves_signed(u32 a, u32 b) { return better_halves<i16>(a, b, false); }
FUNCTION u32 greatest_of_halves(u32 a, u32 b) { return better_halves<u16>(a, b, true); }
FUNCTION u32 greatest_of_halves_signed(u32 a, u32 b) { return better_halves<i16>(a, b, true); }
#endif
