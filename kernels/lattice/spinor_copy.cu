// Copies a field of spinors or of colour vectors between orders and precisions.
//
// A plain field is the user's: [t][z][y][x][spin][colour], spinors in the DeGrand-Rossi basis, or
// [t][z][y][x][colour]. An even-odd field is the same with the sites of parity 0 first. A field in
// native order (lattice.h) has spinors in the basis of wilson.h. In all orders the sources follow
// each other.
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 32:512:32 cpu=1:1:1
// %RANGE% TUNE_SITES_PER_THREAD spt 1:1:1 cpu=64:64:1
//
// Workload: that of lattice.h, and
//     TUNE_FROM, TUNE_TO              type of stored reals
//     TUNE_FROM_ORDER, TUNE_TO_ORDER  0 plain, 1 even-odd, 2 native
//     TUNE_REALS                      reals a site: 24 of spinors, 6 of colour vectors
// Traffic: the field is read once and written once.
#include "lattice.h"

typedef TUNE_FROM from_t;
typedef TUNE_TO to_t;
enum { PLAIN, EVEN_ODD, NATIVE };
enum { REALS = TUNE_REALS };
// Type of the calculation: the wider of the two precisions.
typedef real_of<TUNE_WIDE> real_t;
#include "spinor.h"

struct spinor_copy_args {
    const from_t* from;
    const f32* from_norms;
    to_t* to;
    f32* to_norms;
    u64 fields; // fields of one parity, over all sources
};

// Returns the index of a site's first complex number.
template <int ORDER>
FUNCTION u64 plain_place(u64 source, u32 parity, u32 index)
{
    u64 place = static_cast<u64>(parity) * SITES + index;
    if constexpr (ORDER == PLAIN) {
        const site s = site_of(index, parity);
        place = s.x + TUNE_LX * (index / HALF_X); // rows of both parities are in the same order
    }
    return (source * (2 * static_cast<u64>(SITES)) + place) * REALS;
}

template <int ORDER, class S>
FUNCTION void read_site(const S* from, const f32* norms, u64 source, u32 parity, u32 index,
                        real_t (&out)[REALS])
{
    if constexpr (ORDER == NATIVE) {
        const u64 start = (2 * source + parity) * SITES;
        real_of<S> reals[REALS];
        load_site(from + start * REALS, norms + start, index, reals);
        for (int j = 0; j < REALS; j++) out[j] = static_cast<real_t>(reals[j]);
    } else {
        const S* const at = from + plain_place<ORDER>(source, parity, index);
        for (int j = 0; j < REALS; j++) out[j] = static_cast<real_t>(at[j]);
    }
}

template <int ORDER, class S>
FUNCTION void write_site(S* to, f32* norms, u64 source, u32 parity, u32 index,
                         const real_t (&in)[REALS])
{
    if constexpr (ORDER == NATIVE) {
        const u64 start = (2 * source + parity) * SITES;
        real_of<S> reals[REALS];
        for (int j = 0; j < REALS; j++) reals[j] = static_cast<real_of<S>>(in[j]);
        store_site(to + start * REALS, norms + start, index, reals);
    } else {
        S* const at = to + plain_place<ORDER>(source, parity, index);
        for (int j = 0; j < REALS; j++) at[j] = static_cast<S>(in[j]);
    }
}

// Changes the basis of a spinor; colour vectors have none to change.
template <int N>
FUNCTION void change_spins(real_t (&v)[N])
{
    if constexpr (N == SPINOR) change_basis(v);
}

KERNEL(spinor_copy_sites, spinor_copy_args, no_shared)
{
    (void)s;
    for (u32 k = 0; k < TUNE_SITES_PER_THREAD; k++) {
        const u64 place = thread_site<TUNE_SITES_PER_THREAD>(k);
        const u64 field = place / SITES;
        const u32 index = static_cast<u32>(place % SITES), parity = field % 2;
        real_t v[REALS];
        if (field >= a.fields) return;
        read_site<TUNE_FROM_ORDER>(a.from, a.from_norms, field / 2, parity, index, v);
        if constexpr ((TUNE_FROM_ORDER == NATIVE) != (TUNE_TO_ORDER == NATIVE)) change_spins(v);
        write_site<TUNE_TO_ORDER>(a.to, a.to_norms, field / 2, parity, index, v);
    }
}
