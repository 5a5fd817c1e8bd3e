// Gauge rotation g, one SU(3) matrix a site, of links or of fields of colour vectors:
//     U'_mu(x) = g(x) U_mu(x) g(x + mu)^+        psi'(x) = g(x) psi(x)
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 32:512:32 cpu=1:1:1
// %RANGE% TUNE_SITES_PER_THREAD spt 1:1:1 cpu=64:64:1
//
// Workload: that of lattice.h, and
//     TUNE_T         type of stored reals: f64, f32
//     TUNE_VECTORS   colour vectors a site: 4 for spinors, 1, or 0 for a field of links
//     TUNE_INVERSE   1: rotates by g^+
//     TUNE_TEMPORAL  1: g is the rotation to temporal gauge: links in time, except for those of the
//                    lattice's last slice, become 1 without rounding
// Traffic: the field is read once and written once, the rotation is read once.
#include "lattice.h"
typedef TUNE_T stored_t;
typedef real_of<stored_t> real_t;
#include "loops.h"

struct gauge_rotate_args {
    const stored_t* in;
    const stored_t* rotation;
    stored_t* out; // may be the same as the input
    u64 fields;    // fields, each of both parities; 1 for links
    u64 last;      // the lattice's last time slice, if it is here
};

enum { REALS = 6 * TUNE_VECTORS }; // reals a site, for vectors

FUNCTION matrix rotation_at(const stored_t* rotation, const full_site& p)
{
    const matrix g = load_matrix(matrices_of(rotation, p.parity), p.at.index);
    return TUNE_INVERSE ? adjoint(g) : g;
}

FUNCTION void rotate_links(const gauge_rotate_args& a, const full_site& here)
{
    const matrix g = rotation_at(a.rotation, here);
    for (int mu = 0; mu < DIRECTIONS; mu++) {
        matrix u = g * link_at(a.in, here, mu);
        u = u * adjoint(rotation_at(a.rotation, moved(here, mu, true)));
        if (TUNE_TEMPORAL && mu == TIME && here.at.t != a.last) u = unity();
        store_link<LINK>(links_of<LINK>(a.out, here.parity, mu), here.at.index, u);
    }
}

template <int N>
FUNCTION void rotate_vectors(const gauge_rotate_args& a, const full_site& here, u64 field)
{
    const u64 start = (2 * field + here.parity) * SITES * N;
    const matrix g = rotation_at(a.rotation, here);
    real_t reals[N];
    load_reals<N, 0, N, 0>(a.in + start, here.at.index, reals);
    UNROLL
    for (int v = 0; v < N; v += 6) {
        colour_vector vector;
        UNROLL
        for (int c = 0; c < 3; c++) vector.c[c] = complex_t{reals[v + 2 * c], reals[v + 2 * c + 1]};
        vector = g * vector;
        UNROLL
        for (int c = 0; c < 3; c++) {
            reals[v + 2 * c] = vector.c[c].real;
            reals[v + 2 * c + 1] = vector.c[c].imag;
        }
    }
    store_reals(a.out + start, here.at.index, reals);
}

KERNEL(gauge_rotate, gauge_rotate_args, no_shared)
{
    (void)s;
    for (u32 k = 0; k < TUNE_SITES_PER_THREAD; k++) {
        const u64 number = thread_site<TUNE_SITES_PER_THREAD>(k);
        const u64 field = number / (2 * static_cast<u64>(SITES));
        if (field >= a.fields) return;
        const full_site here = full_site_of(number % (2 * static_cast<u64>(SITES)));
        if constexpr (TUNE_VECTORS == 0)
            rotate_links(a, here);
        else
            rotate_vectors<REALS>(a, here, field);
    }
}
