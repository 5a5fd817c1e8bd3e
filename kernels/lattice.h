// A four-dimensional periodic lattice: its sites, their neighbours, and the order of fields in
// memory.
//
// Extents are constants of the variant, even, so that sites alternate: the parity of a site is that
// of x + y + z + t, and its neighbours are of the other. Fields keep the sites of each parity
// together, x fastest, then y, z, t: site s of a parity has x / 2 = s % (X / 2).
//
// A field has some real numbers a site. They are cut into chunks of 16 bytes, with a shorter tail
// where that does not divide; chunk k of all sites comes before chunk k + 1 of any, so that the
// lanes of a warp, which have neighbouring sites, read and write whole lines.
//
// The workload's macros: TUNE_LX, TUNE_LY, TUNE_LZ, TUNE_LT, the extents.
#pragma once
#include "simt.h"

enum : u32 {
    HALF_X = TUNE_LX / 2,
    SITES = static_cast<u32>(HALF_X) * TUNE_LY * TUNE_LZ * TUNE_LT, // of one parity
};
static_assert(TUNE_LX % 2 == 0 && TUNE_LY % 2 == 0 && TUNE_LZ % 2 == 0 && TUNE_LT % 2 == 0,
              "sites alternate across the boundary too");

// ---- sites --------------------------------------------------------------------------------------
struct site {
    u32 index;      // among those of its parity
    u32 x, y, z, t; // coordinates on the lattice
};

FUNCTION u32 other_parity(u32 parity) { return parity ^ 1u; }

FUNCTION site site_at(u32 half_x, u32 y, u32 z, u32 t, u32 parity)
{
    return site{half_x + HALF_X * (y + TUNE_LY * (z + TUNE_LZ * t)),
                2 * half_x + ((y + z + t + parity) & 1u), y, z, t};
}

FUNCTION site site_of(u32 index, u32 parity)
{
    const u32 row = index / HALF_X, slab = row / TUNE_LY;
    return site_at(index % HALF_X, row % TUNE_LY, slab % TUNE_LZ, slab / TUNE_LZ, parity);
}

// Directions are 0 to 3 for x, y, z, t.
enum { TIME = 3 };

// The index of the neighbour in that direction, among the sites of the other parity.
template <int MU>
FUNCTION u32 site_after(const site& s)
{
    if constexpr (MU == 0)
        return s.x + 1 == TUNE_LX ? s.index + 1 - HALF_X : s.index + (s.x & 1u);
    else if constexpr (MU == 1)
        return s.y + 1 == TUNE_LY ? s.index - (TUNE_LY - 1) * HALF_X : s.index + HALF_X;
    else if constexpr (MU == 2)
        return s.z + 1 == TUNE_LZ ? s.index - (TUNE_LZ - 1) * (HALF_X * TUNE_LY)
                                  : s.index + HALF_X * TUNE_LY;
    else
        return s.t + 1 == TUNE_LT ? s.index - (TUNE_LT - 1) * (HALF_X * TUNE_LY * TUNE_LZ)
                                  : s.index + HALF_X * TUNE_LY * TUNE_LZ;
}
template <int MU>
FUNCTION u32 site_before(const site& s)
{
    if constexpr (MU == 0)
        return s.x == 0 ? s.index + HALF_X - 1 : s.index - (1u - (s.x & 1u));
    else if constexpr (MU == 1)
        return s.y == 0 ? s.index + (TUNE_LY - 1) * HALF_X : s.index - HALF_X;
    else if constexpr (MU == 2)
        return s.z == 0 ? s.index + (TUNE_LZ - 1) * (HALF_X * TUNE_LY) : s.index - HALF_X * TUNE_LY;
    else
        return s.t == 0 ? s.index + (TUNE_LT - 1) * (HALF_X * TUNE_LY * TUNE_LZ)
                        : s.index - HALF_X * TUNE_LY * TUNE_LZ;
}

// ---- the order of fields ------------------------------------------------------------------------
// Reals are stored as S: f64, f32, or i16 for fixed point, of which 32767 is 1 or the largest of a
// site. Calculations are done in real_of<S>. Fixed-point numbers that have no sign but 32768 added
// are u16: a float is made of them in another unit of the multiprocessor than of i16, so that a
// kernel that reads both keeps both busy.
const f32 FIXED_ONE = 32767;

template <class S>
struct storage {
    typedef S real;
    static constexpr bool fixed = false;
};
template <>
struct storage<i16> {
    typedef f32 real;
    static constexpr bool fixed = true;
};
template <>
struct storage<u16> : storage<i16> {
};
template <class S>
using real_of = typename storage<S>::real;

template <class S>
union chunk {
    bytes16 bytes;
    u64 two_words[2];
    u32 word[4];
    S item[16 / sizeof(S)];
};

// A real of a chunk; of i16, if it is shifted, times 2^16, which takes a shift and a conversion
// from 32 bits, of which the multiprocessor does four in the time of one from 16 bits.
const f32 SHIFTED_ONE = 65536;

template <class S>
FUNCTION real_of<S> real_at(const chunk<S>& v, int j, bool shifted)
{
    if constexpr (storage<S>::fixed) {
        const u32 word = v.word[j / 2];
        if (shifted)
            return static_cast<f32>(static_cast<i32>(j % 2 ? word & 0xffff0000u : word << 16));
    }
    return static_cast<real_of<S>>(v.item[j]);
}
FUNCTION f32 real_at(const chunk<u16>& v, int j, bool)
{
    const u32 word = v.word[j / 2];
    return (j % 2 ? above_two_to_23<true>(word) : above_two_to_23<false>(word)) -
           (8388608.0f + 32768.0f);
}

// Where the chunk from real FIRST on of N begins, at a site. The last chunk may be shorter.
template <int N, class S>
FUNCTION S* chunk_at(S* field, u32 index, int first)
{
    constexpr int whole = 16 / sizeof(S);
    const int items = N - first < whole ? N - first : whole;
    return field + static_cast<u64>(SITES) * static_cast<u64>(first) +
           static_cast<u64>(index) * static_cast<u64>(items);
}

// Reals FIRST to FIRST + COUNT of N a site, in the units of storage: a fixed-point number is an
// integer. CACHING as for load_bytes16. FIRST and COUNT are multiples of half a chunk. Fixed-point
// numbers from SHIFTED on are shifted.
template <int N, int FIRST, int COUNT, int CACHING, int SHIFTED = N, class S>
FUNCTION void load_reals(const S* field, u32 index, real_of<S> (&out)[COUNT])
{
    constexpr int whole = 16 / sizeof(S);
    UNROLL
    for (int c = FIRST / whole * whole; c < FIRST + COUNT; c += whole) {
        const S* const at = chunk_at<N>(field, index, c);
        // Of its chunk, only these are wanted or there.
        const int from = c < FIRST ? FIRST - c : 0;
        const int to = FIRST + COUNT - c < whole ? FIRST + COUNT - c : whole;
        chunk<S> v;
        if ((to - from) * sizeof(S) == 16)
            v.bytes = load_bytes16<CACHING>(at);
        else if ((to - from) * sizeof(S) == 8)
            v.two_words[from ? 1 : 0] = *reinterpret_cast<const u64*>(at + from);
        else {
            UNROLL
            for (int w = 0; w < (to - from) * static_cast<int>(sizeof(S)) / 4; w++)
                v.word[w] = reinterpret_cast<const u32*>(at)[w];
        }
        UNROLL
        for (int j = 0; j < whole; j++)
            if (j >= from && j < to) out[c + j - FIRST] = real_at(v, j, c + j >= SHIFTED);
    }
}

// Reals FIRST to FIRST + COUNT of N a site, whole chunks, in the units of storage.
template <int N, int FIRST, int COUNT, class S>
FUNCTION void store_some(S* field, u32 index, const S (&in)[COUNT])
{
    constexpr int whole = 16 / sizeof(S);
    UNROLL
    for (int c = FIRST; c < FIRST + COUNT; c += whole) {
        S* const at = chunk_at<N>(field, index, c);
        const int items = N - c < whole ? N - c : whole;
        chunk<S> v;
        UNROLL
        for (int j = 0; j < whole; j++)
            if (j < items) v.item[j] = in[c + j - FIRST];
        if (items * sizeof(S) == 16)
            *reinterpret_cast<bytes16*>(at) = v.bytes;
        else if (items * sizeof(S) == 8)
            *reinterpret_cast<u64*>(at) = v.two_words[0];
        else {
            UNROLL
            for (int w = 0; w < items * static_cast<int>(sizeof(S)) / 4; w++)
                reinterpret_cast<u32*>(at)[w] = v.word[w];
        }
    }
}
// All N of them.
template <int N, class S>
FUNCTION void store_reals(S* field, u32 index, const S (&in)[N])
{
    store_some<N, 0>(field, index, in);
}

// The nearest fixed-point number, for |v| up to 32767: adding 1.5 * 2^23 leaves the rounded integer
// in the low bits.
FUNCTION i32 round_to_fixed(f32 v) { return static_cast<i16>(bits_of(v + 12582912.0f)); }

// Fixed-point fields have a norm a site, the largest magnitude over 32767, that the integers are
// multiplied by; M. A. Clark et al., "Solving Lattice QCD systems of equations using mixed
// precision solvers on GPUs" (2010). Other fields have none: norms is NULL.
template <class S>
FUNCTION real_of<S> load_norm(const f32* norms, u32 index)
{
    if constexpr (storage<S>::fixed) return norms[index];
    return 1;
}

template <int N, class S>
FUNCTION void load_site(const S* field, const f32* norms, u32 index, real_of<S> (&out)[N])
{
    load_reals<N, 0, N, 0>(field, index, out);
    if constexpr (storage<S>::fixed) {
        const f32 norm = norms[index];
        UNROLL
        for (int j = 0; j < N; j++) out[j] *= norm;
    }
}

template <int N, class S>
FUNCTION void store_site(S* field, f32* norms, u32 index, const real_of<S> (&in)[N])
{
    S out[N];
    if constexpr (storage<S>::fixed) {
        f32 largest = 0;
        UNROLL
        for (int j = 0; j < N; j++) largest = fmaxf(largest, fabsf(in[j]));
        const f32 scale = largest > 1e-37f ? FIXED_ONE * fast_reciprocal(largest) : 0.0f;
        UNROLL
        for (int j = 0; j < N; j++) out[j] = static_cast<S>(round_to_fixed(in[j] * scale));
        norms[index] = largest * (1 / FIXED_ONE);
    } else {
        UNROLL
        for (int j = 0; j < N; j++) out[j] = in[j];
    }
    store_reals(field, index, out);
}
