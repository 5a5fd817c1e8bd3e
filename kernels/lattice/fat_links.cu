// Fat links of improved staggered fermions: sums of products of links along the paths of lengths 1,
// 3, 5 and 7 that join the ends of a link, and along those that go two steps out on one side. With
//     P_n[W](x) = A_n[W](x) + B_n[W](x)
//     A_n[W](x) = U_n(x) W(x + n) U_n(x + mu)^+
//     B_n[W](x) = U_n(x - n)^+ W(x - n) U_n(x - n + mu)
// and q, r, n the directions other than mu in any order,
//     F_mu = one U_mu + lepage sum over n of (A_n[A_n[U_mu]] + B_n[B_n[U_mu]])
//          + sum over q of P_q[three U_mu + sum over r of P_r[five U_mu + seven P_n[U_mu]]]
// K. Orginos, D. Toussaint and R. L. Sugar, "Variants of fattening and flavor symmetry restoration"
// (1999); G. P. Lepage, "Flavor-symmetry restoration and Symanzik improvement for staggered quarks"
// (1999).
//
// A launch computes one pair of brackets of one direction, for three directions at once: a path is
// shared by all that continue it, and 12 staple pairs a link replace 3 + 12 + 18.
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 32:512:32 cpu=1:1:1
// %RANGE% TUNE_MIN_BLOCKS mb 1:16:1 cpu=1:1:1
// %RANGE% TUNE_SITES_PER_THREAD spt 1:1:1 cpu=16:16:1
//
// Workload: that of lattice.h, and
//     TUNE_T  type of stored reals: f64, f32
// Traffic of a direction's launches, in matrices a site: 4 + 3, 3 + 4 + 3, 3 + 4 + 1 where the
// caches keep neighbours.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "lattice.h"
typedef TUNE_T stored_t;
typedef real_of<stored_t> real_t;
#include "loops.h"

enum { SIDES = DIRECTIONS - 1 }; // directions other than mu

struct fat_links_args {
    const stored_t* links;
    stored_t* out;
    stored_t *inner, *middle; // fields of a matrix a site, one for each other direction
    f64 one, three, five, seven, lepage;
    u64 direction; // mu
};

FUNCTION void add_scaled(matrix& sum, real_t factor, const matrix& a)
{
    UNROLL
    for (int i = 0; i < 3; i++) {
        UNROLL
        for (int j = 0; j < 3; j++)
            sum.element[i][j] = sum.element[i][j] + scaled(factor, a.element[i][j]);
    }
}

// Returns the k-th direction other than mu.
FUNCTION int side(int mu, int k) { return k < mu ? k : k + 1; }

// Returns field k of `inner` or `middle`.
FUNCTION stored_t* side_field(stored_t* fields, int k)
{
    return fields + static_cast<u64>(k) * 2 * SITES * LINK;
}

FUNCTION matrix matrix_at(stored_t* field, const full_site& p)
{
    return load_matrix(matrices_of(field, p.parity), p.at.index);
}

FUNCTION void store_matrix(stored_t* field, const full_site& p, const matrix& u)
{
    store_link<LINK>(matrices_of(field, p.parity), p.at.index, u);
}

// A_n and B_n of the matrices that `at` returns for a site.
template <class At>
FUNCTION matrix staple_above(const stored_t* links, const full_site& here, int mu, int n, At at)
{
    const matrix out = link_at(links, here, n) * at(moved(here, n, true));
    return out * adjoint(link_at(links, moved(here, mu, true), n));
}
template <class At>
FUNCTION matrix staple_below(const stored_t* links, const full_site& here, int mu, int n, At at)
{
    const full_site below = moved(here, n, false);
    const matrix out = adjoint(link_at(links, below, n)) * at(below);
    return out * link_at(links, moved(below, mu, true), n);
}

template <class At>
FUNCTION matrix staples(const stored_t* links, const full_site& here, int mu, int n, At at)
{
    matrix sum = staple_above(links, here, mu, n, at);
    add(sum, staple_below(links, here, mu, n, at));
    return sum;
}

template <class Each>
FUNCTION void for_sites(Each each)
{
    for (u32 k = 0; k < TUNE_SITES_PER_THREAD; k++) {
        const u64 number = thread_site<TUNE_SITES_PER_THREAD>(k);
        if (number >= 2 * static_cast<u64>(SITES)) return;
        each(full_site_of(number));
    }
}

KERNEL(fat_links_inner, fat_links_args, no_shared)
{
    (void)s;
    const int mu = static_cast<int>(a.direction);
    const auto link = [&](const full_site& p) { return link_at(a.links, p, mu); };
    for_sites([&](const full_site& here) {
        for (int k = 0; k < SIDES; k++) {
            matrix sum{};
            add_scaled(sum, static_cast<real_t>(a.five), link(here));
            add_scaled(sum, static_cast<real_t>(a.seven),
                       staples(a.links, here, mu, side(mu, k), link));
            store_matrix(side_field(a.inner, k), here, sum);
        }
    });
}

KERNEL(fat_links_middle, fat_links_args, no_shared)
{
    (void)s;
    const int mu = static_cast<int>(a.direction);
    for_sites([&](const full_site& here) {
        for (int q = 0; q < SIDES; q++) {
            matrix sum{};
            add_scaled(sum, static_cast<real_t>(a.three), link_at(a.links, here, mu));
            for (int r = 0; r < SIDES; r++) {
                if (r == q) continue;
                stored_t* const field = side_field(a.inner, SIDES - q - r);
                add(sum, staples(a.links, here, mu, side(mu, r),
                                 [&](const full_site& p) { return matrix_at(field, p); }));
            }
            store_matrix(side_field(a.middle, q), here, sum);
        }
    });
}

KERNEL(fat_links_outer, fat_links_args, no_shared)
{
    (void)s;
    const int mu = static_cast<int>(a.direction);
    const auto link = [&](const full_site& p) { return link_at(a.links, p, mu); };
    for_sites([&](const full_site& here) {
        matrix sum{};
        add_scaled(sum, static_cast<real_t>(a.one), link(here));
        for (int k = 0; k < SIDES; k++) {
            const int n = side(mu, k);
            stored_t* const field = side_field(a.middle, k);
            add(sum, staples(a.links, here, mu, n,
                             [&](const full_site& p) { return matrix_at(field, p); }));
            if (a.lepage == 0) continue;
            matrix far = staple_above(a.links, here, mu, n, [&](const full_site& p) {
                return staple_above(a.links, p, mu, n, link);
            });
            add(far, staple_below(a.links, here, mu, n, [&](const full_site& p) {
                    return staple_below(a.links, p, mu, n, link);
                }));
            add_scaled(sum, static_cast<real_t>(a.lepage), far);
        }
        store_link<LINK>(links_of<LINK>(a.out, here.parity, mu), here.at.index, sum);
    });
}
