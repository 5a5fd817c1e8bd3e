// Counter-based random numbers: Philox4x32-10 of J. Salmon et al., "Parallel random numbers: as
// easy as 1, 2, 3" (SC11). A number is a function of a key and of its place in a stream, so that it
// does not depend on the thread that draws it.
#pragma once
#include "simt.h"

struct random_words {
    u32 word[4];
};

FUNCTION u32 multiply_halves(u32 a, u32 b, u32& low)
{
    const u64 product = static_cast<u64>(a) * b;
    low = static_cast<u32>(product);
    return static_cast<u32>(product >> 32);
}

FUNCTION random_words philox(random_words counter, u64 key)
{
    u32(&c)[4] = counter.word;
    u32 key0 = static_cast<u32>(key), key1 = static_cast<u32>(key >> 32);
    UNROLL
    for (int round = 0; round < 10; round++) {
        u32 low0, low1;
        const u32 high0 = multiply_halves(0xD2511F53u, c[0], low0);
        const u32 high1 = multiply_halves(0xCD9E8D57u, c[2], low1);
        c[0] = high1 ^ c[1] ^ key0;
        c[1] = low1;
        c[2] = high0 ^ c[3] ^ key1;
        c[3] = low0;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return counter;
}

// Stream of random numbers, one for each site, sweep and purpose. Word 0 of the counter counts the
// draws.
struct random_stream {
    u64 key;
    random_words counter;
};

FUNCTION random_stream random_stream_of(u64 seed, u32 number, u32 sweep, u32 purpose)
{
    return random_stream{seed, {{0, number, sweep, purpose}}};
}

// Draws two independent numbers, uniform in the open interval (0, 1).
FUNCTION void draw_uniform(random_stream& stream, f64 (&out)[2])
{
    const random_words r = philox(stream.counter, stream.key);
    stream.counter.word[0]++;
    for (int k = 0; k < 2; k++) {
        const u64 bits = static_cast<u64>(r.word[2 * k]) << 32 | r.word[2 * k + 1];
        out[k] = (static_cast<f64>(bits >> 12) + 0.5) * 0x1p-52;
    }
}
FUNCTION void draw_uniform(random_stream& stream, f32 (&out)[2])
{
    const random_words r = philox(stream.counter, stream.key);
    stream.counter.word[0]++;
    for (int k = 0; k < 2; k++) out[k] = (static_cast<f32>(r.word[k] >> 9) + 0.5f) * 0x1p-23f;
}

// Computes cosine and sine of `part` of a whole turn, from 0 to 1. Within an eighth of a turn
// around 0 the Taylor series to the 17th power are exact to f64; symmetry gives the other eighths.
// There is no reduction of large arguments, which the library's functions have to include.
template <class F>
FUNCTION void turn(F part, F& cosine, F& sine)
{
    const int quarter = static_cast<int>(4 * part + static_cast<F>(0.5));
    const F angle = (part - static_cast<F>(0.25) * static_cast<F>(quarter)) *
                    static_cast<F>(6.283185307179586476925);
    const F square = angle * angle;
    F c = 1, s = 1;
    UNROLL
    for (int k = 16; k > 0; k -= 2) {
        c = 1 - c * square * (1 / static_cast<F>(k * (k - 1)));
        s = 1 - s * square * (1 / static_cast<F>(k * (k + 1)));
    }
    s *= angle;
    cosine = quarter & 1 ? s : c;
    sine = quarter & 1 ? c : s;
    if ((quarter + 1) & 2) cosine = -cosine;
    if (quarter & 2) sine = -sine;
}

// Draws two independent normal numbers: G. E. P. Box and M. E. Muller, "A note on the generation of
// random normal deviates" (1958).
template <class F>
FUNCTION void draw_normal(random_stream& stream, F (&out)[2])
{
    F uniform[2];
    draw_uniform(stream, uniform);
    const F radius = sqrt(-2 * log(uniform[0]));
    turn(uniform[1], out[0], out[1]);
    out[0] *= radius;
    out[1] *= radius;
}
