// Four-dimensional periodic lattice: its sites, their neighbours, and the order of fields in
// memory.
//
// Extents are even constants of the variant. The parity of a site is that of x + y + z + t, and its
// neighbours have the other parity. Fields store the sites of each parity together, x fastest, then
// y, z, t: site s of a parity has x / 2 = s % (X / 2).
//
// A field has a number of reals a site (native order). They are cut into chunks of 16 bytes, the
// last of which may be shorter. Chunk k of all sites comes before chunk k + 1 of any site, so that
// the lanes of a warp, which have neighbouring sites, read and write whole cache lines.
//
// The workload's macros: TUNE_LX, TUNE_LY, TUNE_LZ, TUNE_LT, the extents.
#pragma once
#include "simt.h"

enum : u32 {
    HALF_X = TUNE_LX / 2,
    SITES = static_cast<u32>(HALF_X) * TUNE_LY * TUNE_LZ * TUNE_LT, // sites of one parity
};
static_assert(TUNE_LX % 2 == 0 && TUNE_LY % 2 == 0 && TUNE_LZ % 2 == 0 && TUNE_LT % 2 == 0,
              "sites alternate across the boundary too");

// ---- sites --------------------------------------------------------------------------------------
struct site {
    u32 index;      // among those of its parity
    u32 x, y, z, t; // coordinates on the lattice
    bool off_faces; // a constant true: no neighbour is on another rank (halo.h)
};

// Returns the number of the thread's k-th site, where each thread has EACH neighbouring ones.
template <u32 EACH>
FUNCTION u64 thread_site(u32 k)
{
    return (static_cast<u64>(block_id()) * SIMT_THREADS + thread_id()) * EACH + k;
}

FUNCTION u32 other_parity(u32 parity) { return parity ^ 1u; }

FUNCTION site site_at(u32 half_x, u32 y, u32 z, u32 t, u32 parity)
{
    return site{half_x + HALF_X * (y + TUNE_LY * (z + TUNE_LZ * t)),
                2 * half_x + ((y + z + t + parity) & 1u),
                y,
                z,
                t,
                false};
}

FUNCTION site site_of(u32 index, u32 parity)
{
    const u32 row = index / HALF_X, slab = row / TUNE_LY;
    return site_at(index % HALF_X, row % TUNE_LY, slab % TUNE_LZ, slab / TUNE_LZ, parity);
}

// Directions are 0 to 3 for x, y, z, t.
enum { TIME = 3 };

// Returns the index of the neighbour in direction MU, among the sites of the other parity.
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

// Returns the index of the site STEPS away in direction MU, among the sites of its parity, which is
// the other for odd STEPS. The way may cross the boundary more than once.
template <int MU, int STEPS>
FUNCTION u32 site_beyond(const site& s)
{
    constexpr u32 extents[] = {TUNE_LX, TUNE_LY, TUNE_LZ, TUNE_LT};
    constexpr int extent = static_cast<int>(extents[MU]);
    constexpr u32 steps = static_cast<u32>((STEPS % extent + extent) % extent);
    const u32 at = MU == 0 ? s.x : MU == 1 ? s.y : MU == 2 ? s.z : s.t;
    const u32 to = at + steps < extents[MU] ? at + steps : at + steps - extents[MU];
    if constexpr (MU == 0) return s.index - s.x / 2 + to / 2;
    constexpr u32 stride = MU == 1   ? HALF_X
                           : MU == 2 ? HALF_X * TUNE_LY
                                     : HALF_X * TUNE_LY * TUNE_LZ;
    return s.index + (to - at) * stride;
}

// Returns how often the way to that site crosses the boundary.
template <int MU, int STEPS>
FUNCTION u32 crossings(const site& s)
{
    constexpr int extents[] = {TUNE_LX, TUNE_LY, TUNE_LZ, TUNE_LT};
    const int at = static_cast<int>(MU == 0 ? s.x : MU == 1 ? s.y : MU == 2 ? s.z : s.t);
    const int to = at + STEPS;
    return static_cast<u32>(to < 0 ? (extents[MU] - 1 - to) / extents[MU] : to / extents[MU]);
}

// ---- the order of fields ------------------------------------------------------------------------
// Reals are stored as S: f64, f32, or i16 for fixed point, in which 32767 stands for 1 or for the
// largest magnitude of a site. Calculations are done in real_of<S>. u16 is fixed point with an
// offset of 32768 instead of a sign. It is converted to float in another unit of the multiprocessor
// than i16, so that a kernel that reads both keeps both units busy.
const f32 FIXED_ONE = 32767;
// A site has larger numbers, or is 0: the norm of a smaller one is subnormal.
const f32 LEAST_FIXED = 4e-34f;

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
struct storage<const S> : storage<S> {
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

// Returns a real of a chunk. A shifted i16 gives the real times 2^16: it takes a shift and a
// conversion from 32 bits, which runs at four times the rate of one from 16 bits.
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

// Returns the address of the chunk that begins with real FIRST of N, at one of a field's places,
// which are its sites. The last chunk may be shorter.
template <int N, class S>
FUNCTION S* chunk_at(S* field, u32 index, int first, u32 places = SITES)
{
    constexpr int whole = 16 / sizeof(S);
    const int items = N - first < whole ? N - first : whole;
    return field + static_cast<u64>(places) * static_cast<u64>(first) +
           static_cast<u64>(index) * static_cast<u64>(items);
}

// Loads reals FIRST to FIRST + COUNT of N a site, in storage units: a fixed-point number is an
// integer. CACHING is that of load_bytes16. FIRST and COUNT are multiples of half a chunk.
// Fixed-point numbers from SHIFTED on are shifted.
template <int N, int FIRST, int COUNT, int CACHING, int SHIFTED = N, class S>
FUNCTION void load_reals(const S* field, u32 index, real_of<S> (&out)[COUNT], u32 places = SITES)
{
    constexpr int whole = 16 / sizeof(S);
    UNROLL
    for (int c = FIRST / whole * whole; c < FIRST + COUNT; c += whole) {
        const S* const at = chunk_at<N>(field, index, c, places);
        // Range of the chunk's reals that are wanted and exist.
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

// Stores reals FIRST to FIRST + COUNT of N a site, whole chunks, in storage units.
template <int N, int FIRST, int COUNT, class S>
FUNCTION void store_some(S* field, u32 index, const S (&in)[COUNT], u32 places = SITES)
{
    constexpr int whole = 16 / sizeof(S);
    UNROLL
    for (int c = FIRST; c < FIRST + COUNT; c += whole) {
        S* const at = chunk_at<N>(field, index, c, places);
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
// Stores all N reals of a site.
template <int N, class S>
FUNCTION void store_reals(S* field, u32 index, const S (&in)[N])
{
    store_some<N, 0>(field, index, in);
}

// Returns the fixed-point number nearest to v * scale, up to 32767: adding 1.5 * 2^23 leaves the
// rounded integer in the low bits.
FUNCTION i32 round_to_fixed(f32 v, f32 scale)
{
    return static_cast<i16>(bits_of(multiply_add(12582912.0f, v, scale)));
}

// Returns the norm of a site of a fixed-point field, by which its integers are multiplied: the
// largest magnitude over 32767 (M. A. Clark et al., "Solving Lattice QCD systems of equations using
// mixed precision solvers on GPUs", 2010). A site with a number that is none has a norm that is
// none. Other fields have no norms: `norms` is NULL.
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
        for (int j = 0; j < N; j++) largest = larger_or_nan(largest, fabsf(in[j]));
        const f32 scale = largest > LEAST_FIXED ? FIXED_ONE * fast_reciprocal(largest) : 0.0f;
        UNROLL
        for (int j = 0; j < N; j++) out[j] = static_cast<S>(round_to_fixed(in[j], scale));
        norms[index] = largest * (1 / FIXED_ONE);
    } else {
        UNROLL
        for (int j = 0; j < N; j++) out[j] = in[j];
    }
    store_reals(field, index, out);
}
