// Updates the links of one parity and direction with Wilson's plaquette action,
//     S = -beta / 3 sum over plaquettes of Re tr U_plaquette.
// The action depends on a link U through Re tr(U A), where A is the sum of its six staples. No
// staple contains a link of the same parity and direction, so that all of these are updated at
// once. For each SU(2) subgroup (unitary.h) U becomes a U. V in SU(2) and k are such that Re tr(a U
// A) = k Re tr(a V) plus a term that does not depend on a:
//     heat bath        a = X V^+, X of the density exp(2 beta k X.scalar / 3), see su2.h
//     over-relaxation  a = (V^+)^2, which leaves the action as it is: S. L. Adler (1981),
//                      M. Creutz, "Overrelaxation and Monte Carlo simulation" (1987)
// The result is orthonormalised, so that rounding errors do not accumulate over the sweeps. Random
// numbers belong to seed, sweep, direction and site (philox.h), not to threads.
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 32:512:32 cpu=1:1:1
// %RANGE% TUNE_MIN_BLOCKS mb 1:16:1 cpu=1:1:1
// %RANGE% TUNE_SITES_PER_THREAD spt 1:1:1 cpu=16:16:1
//
// Workload: that of lattice.h, and
//     TUNE_T           type of stored reals: f64, f32
//     TUNE_OVER_RELAX  0: heat bath, 1: over-relaxation
//     TUNE_CUT, TUNE_MARGIN  those of part.h: the field is a rank's part with sites around it,
//     which
//                            get the new links of the neighbours' parts
// Traffic of a launch: the staples' links, nearly all of the field, are read once; an eighth is
// written.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "lattice.h"
typedef TUNE_T stored_t;
typedef real_of<stored_t> real_t;
#include "margins.h"
#include "unitary.h"

struct gauge_update_args {
    const stored_t* links;
    stored_t* out; // written at the given parity and direction; may be the same as links
    f64 beta;
    u64 seed, sweep, parity, direction;
#if TUNE_CUT
    part_place place;
#endif
};

// Adds the two staples of direction nu: U_nu(x + mu) U_mu(x + nu)^+ U_nu(x)^+, and that through x -
// nu.
FUNCTION void add_staples(const stored_t* links, const full_site& here, int mu, int nu, matrix& sum)
{
    const full_site along = moved(here, mu, true), behind = moved(here, nu, false);
    const matrix before =
        adjoint(link_at(links, behind, mu) * link_at(links, moved(along, nu, false), nu)) *
        link_at(links, behind, nu);
    add(sum, before);
    const matrix after =
        link_at(links, along, nu) *
        adjoint(link_at(links, here, nu) * link_at(links, moved(here, nu, true), mu));
    add(sum, after);
}

// Returns the SU(2) element to multiply the link with, for q = k V.
FUNCTION quaternion<real_t> subgroup_update(quaternion<real_t> q, real_t beta,
                                            random_stream& random)
{
    const real_t k = normalise(q);
    if constexpr (TUNE_OVER_RELAX) return conj(q * q);
    return draw_su2(2 * beta * k / 3, random) * conj(q);
}

FUNCTION matrix updated(matrix u, const matrix& staples, real_t beta, random_stream random)
{
    matrix w = u * staples;
    UNROLL
    for (int k = 0; k < SUBGROUPS; k++) {
        const quaternion<real_t> a = subgroup_update(subgroup_part(w, k), beta, random);
        subgroup_multiply(a, u, k);
        if (k + 1 < SUBGROUPS) subgroup_multiply(a, w, k);
    }
    orthonormalise(u);
    return u;
}

// Returns the number of a site, by which its random numbers go.
FUNCTION u32 number_of(const gauge_update_args& a, const full_site& here)
{
#if TUNE_CUT
    return static_cast<u32>(number_in_all(a.place, here.parity, here.at));
#else
    (void)a;
    return here.parity * SITES + here.at.index;
#endif
}

KERNEL(gauge_update, gauge_update_args, no_shared)
{
    (void)s;
    const u32 parity = static_cast<u32>(a.parity);
    const int mu = static_cast<int>(a.direction);
    for (u32 k = 0; k < TUNE_SITES_PER_THREAD; k++) {
        const u64 number = thread_site<TUNE_SITES_PER_THREAD>(k);
        if (number >= PART_SITES) return;
        const full_site here{part_site(static_cast<u32>(number), parity), parity};
        matrix staples{};
        for (int nu = 0; nu < DIRECTIONS; nu++)
            if (nu != mu) add_staples(a.links, here, mu, nu, staples);
        const random_stream random = random_stream_of(
            a.seed, number_of(a, here), static_cast<u32>(a.sweep), static_cast<u32>(mu));
        store_link<LINK>(
            a.out, here.at.index,
            updated(link_at(a.links, here, mu), staples, static_cast<real_t>(a.beta), random));
    }
}

MARGIN_KERNELS(gauge_update)
