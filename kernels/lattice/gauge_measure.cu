// Observables of a gauge field; means over the lattice, except for 2:
//     0  plaquettes Re tr / 3 of the planes xy, xz, xt, yz, yt, zt, and Re tr / 3 of the links
//     1  the Polyakov loop, tr / 3 of the product of the links in time: real and imaginary part
//     2  deviation from SU(3): the largest |U U^+ - 1| of all elements, and the largest |det U -
//        1|;
//        NaN if the field contains NaN
//     3  deviation from temporal gauge: the largest |U - 1| of the elements of links in time,
//     before
//        the last slice and in it; NaN likewise
// Links are multiplied in their own precision; sums are in f64 (grid_sums.h).
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 32:512:32 cpu=1:1:1
// %RANGE% TUNE_MIN_BLOCKS mb 1:16:1 cpu=1:1:1
// %RANGE% TUNE_WAVES wav 1:8:1 cpu=1:16:1
//
// wav   blocks, in multiples of those resident at once; each takes one contiguous run of sites
//
// Workload: that of lattice.h, and
//     TUNE_T         type of stored reals: f64, f32
//     TUNE_QUANTITY  0 to 3 as above
//     TUNE_CUT, TUNE_MARGIN  those of part.h: plaquettes begin at the sites of the part
// Traffic: the links are read once; for 1 and 3, those in time.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "lattice.h"
typedef TUNE_T stored_t;
typedef real_of<stored_t> real_t;
#include "grid_sums.h"
#include "loops.h"
#include "part.h"

enum { PLAQUETTES, POLYAKOV, UNITARITY, TEMPORAL };
enum {
    QUANTITY = TUNE_QUANTITY,
    VALUES = QUANTITY == PLAQUETTES ? 7 : 2,
    LINK_TRACE = 6,
    SLICE = SITES / TUNE_LT // sites of one parity in a time slice
};
constexpr u64 PLACES = 2 * static_cast<u64>(QUANTITY == POLYAKOV ? u32(SLICE) : u32(PART_SITES));

typedef sums_of<VALUES> values;

struct gauge_measure_args {
    const stored_t* links;
    f64* out;
    u64* arrived;
    f64* parts; // one set of sums a block
    u64 share;  // places a block
};
struct gauge_measure_shared {
    sums_storage<VALUES> sum;
};

struct combine_numbers {
    FUNCTION_MEMBER f64 operator()(f64 a, f64 b) const
    {
        if constexpr (QUANTITY < UNITARITY) return a + b;
        return a >= b || a != a ? a : b; // NaN counts as the largest
    }
};
typedef each_of_sums<combine_numbers> combine;

FUNCTION values plaquettes_at(const stored_t* links, const full_site& here)
{
    values v{};
    int plane = 0;
    for (int mu = 0; mu < DIRECTIONS; mu++) {
        const matrix along = link_at(links, here, mu);
        v.value[LINK_TRACE] += trace(along).real;
        for (int nu = mu + 1; nu < DIRECTIONS; nu++, plane++) {
            const matrix one = along * link_at(links, moved(here, mu, true), nu);
            const matrix two = link_at(links, here, nu) * link_at(links, moved(here, nu, true), mu);
            const f64 plaquette = overlap(one, two);
            UNROLL
            for (int k = 0; k < LINK_TRACE; k++) v.value[k] = k == plane ? plaquette : v.value[k];
        }
    }
    return v;
}

// Returns the trace of the Polyakov loop that begins at a site of slice 0.
FUNCTION values polyakov_loop_at(const stored_t* links, u32 parity, u32 index)
{
    matrix loop = load_matrix(links_of<LINK>(links, parity, TIME), index);
    for (u32 t = 1; t < TUNE_LT; t++)
        loop =
            loop * load_matrix(links_of<LINK>(links, parity ^ (t & 1u), TIME), index + t * SLICE);
    const complex_t sum = trace(loop);
    return values{{sum.real, sum.imag}};
}

FUNCTION f64 distance(complex_t a, complex_t b)
{
    const f64 re = a.real - b.real, im = a.imag - b.imag;
    return sqrt(re * re + im * im);
}

FUNCTION values unitarity_of(const matrix& u)
{
    const matrix product = u * adjoint(u);
    values v{{0, 0}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            v = combine()(v, values{{distance(product.element[i][j], i == j ? 1 : 0), 0}});
    v.value[1] = distance(determinant_of(u), 1);
    return v;
}

FUNCTION values temporal_deviation_of(const matrix& u, bool in_last_slice)
{
    values v{{0, 0}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const f64 far = distance(u.element[i][j], i == j ? 1 : 0);
            v = combine()(v, in_last_slice ? values{{0, far}} : values{{far, 0}});
        }
    return v;
}

FUNCTION values measured(const stored_t* links, u64 number)
{
    if constexpr (QUANTITY == POLYAKOV) {
        const u32 parity = number >= SLICE;
        return polyakov_loop_at(links, parity, static_cast<u32>(number) - parity * SLICE);
    } else {
        const u32 parity = number >= PART_SITES;
        const full_site here{part_site(static_cast<u32>(number - parity * PART_SITES), parity),
                             parity};
        if constexpr (QUANTITY == PLAQUETTES) return plaquettes_at(links, here);
        if constexpr (QUANTITY == TEMPORAL)
            return temporal_deviation_of(link_at(links, here, TIME), here.at.t + 1 == TUNE_LT);
        values v{};
        for (int mu = 0; mu < DIRECTIONS; mu++)
            v = combine()(v, unitarity_of(link_at(links, here, mu)));
        return v;
    }
}

FUNCTION f64 normalised(int k, f64 sum)
{
    if (QUANTITY >= UNITARITY) return sum;
    const f64 terms = QUANTITY == PLAQUETTES && k == LINK_TRACE ? 4.0 * PLACES : 1.0 * PLACES;
    return sum / (3 * terms);
}

KERNEL(gauge_measure, gauge_measure_args, gauge_measure_shared)
{
    values sum{};
    const u64 first = block_id() * a.share;
    const u64 end = first + a.share < PLACES ? first + a.share : PLACES;
    for (u64 number = first + thread_id(); number < end; number += SIMT_THREADS)
        sum = combine()(sum, measured(a.links, number));
    if (sum_of_blocks<combine_numbers>(sum, block_id(), block_count(), a.parts, a.arrived, s.sum))
        for (int k = 0; k < VALUES; k++) a.out[k] = normalised(k, sum.value[k]);
}
