// Dslash of domain-wall fermions, with what they need in the fifth dimension s of extent Ls:
//     out = S D in, or out = x + S D in, and without hops out = S in, or out = x + S in
//     S = (a + next H) (1 - k H)^-1
//     (H psi)_s = P_- psi_(s+1) + P_+ psi_(s-1),  P_+- = (1 +- gamma_5) / 2
// where H has the factor -mass across the walls, from s = Ls - 1 to 0 and back. D is the hopping
// term of Wilson fermions, which leaves s as it is, and the adjoint has those of D and H. D. B.
// Kaplan, "A method for simulating chiral fermions on the lattice" (1992); Y. Shamir, "Chiral
// fermions from lattice boundaries" (1993); R. C. Brower, H. Neff and K. Orginos, "The Moebius
// domain wall fermion algorithm" (2012).
//
// H shifts P_+ psi upwards and P_- psi downwards, so that y = (1 - k H)^-1 v is a recursion,
//     y_s = v_s + k y_(s-1),  y_(-1) = -mass (sum over s of k^(Ls-1-s) v_s) / (1 + mass k^Ls)
// upwards, of 4 operations a real number with the sum. A block has all of s for some sites: its
// threads compute the hops of a few s of a site each, and put them into shared memory; then each
// thread takes numbers of a site for all s, in registers, and puts S of them in their place; then
// the threads end some s of a site each, with x and the tail.
//
// %RANGE% TUNE_COLUMNS_LOG2 cl 0:7:1 cpu=0:7:1
//
// cl    sites of a block, each with all of s
//
// Parameters and workload are those of dslash.h, in which TUNE_INNER is Ls and a source is one s,
// and
//     TUNE_HOPS  1: there are hops
// Traffic a site and s: that of the Wilson Dslash, in which the links are shared by all s; without
// hops a spinor is read and one is written. Either reads another if there is x.
#include "dslash.h"

struct wall_term {
    f64 a, next;
    f64 step;    // k
    f64 closing; // -mass / (1 + mass k^Ls)
};
typedef dslash_args<wall_term> wall_args;

// Sites of a block: as many as fit into the shared memory of any GPU. With their s they are a warp
// of threads at least: the room for the sums of a solver is that of a part for 32 of them.
constexpr u32 LS = TUNE_INNER, LEAST_COLUMNS = ceil_div(32, LS), MOST_BYTES = 61440;
FUNCTION constexpr u32 fitting_columns(u32 wanted)
{
    return wanted * LS * SPINOR * sizeof(real_t) > MOST_BYTES ? fitting_columns(wanted / 2)
                                                              : wanted;
}
constexpr u32 WANTED = fitting_columns(1u << TUNE_COLUMNS_LOG2),
              COLUMNS = WANTED < LEAST_COLUMNS ? LEAST_COLUMNS : WANTED;
constexpr u32 COLUMN_BLOCKS = ceil_div(DSLASH_PLACES, COLUMNS); // of a right-hand side
constexpr u32 GROUPS = ceil_div(LS, SPT);                       // of s, a thread each
// Places of an s in shared memory: those of fewer sites than banks are apart from those of the
// next.
constexpr u32 SLICE = SPINOR * COLUMNS + (COLUMNS < 32 ? COLUMNS : 0);

struct wall_shared {
#if TUNE_KEEP_LINKS
    alignas(16) real_t links[COLUMN_REALS * COLUMNS];
#endif
    real_t column[LS * SLICE]; // [s][real number][site]
#if TUNE_GUARDED
    kernel_sums_storage sums;
#endif
#if TUNE_CUT
    exchange_shared exchange;
#endif
};

FUNCTION real_t* column_of(wall_shared& s, u32 at, u32 column)
{
    return s.column + at * SLICE + column;
}

// Sets the site of a column of a block's tile. Returns false if it has none.
FUNCTION bool column_site(u32 tile, u32 column, dslash_work& w)
{
    const u32 place = tile * COLUMNS + column;
    if (place >= DSLASH_PLACES) return false;
    w.at = site_in_order(place, w.parity);
    return true;
}

// ---- hops ---------------------------------------------------------------------------------------
// Puts D in, or `in`, at some s of a site into shared memory. `first` is the source with s = 0.
FUNCTION void put_hops(const wall_args& a, u32 first, u32 from, u32 column, dslash_work& w,
                       wall_shared& s)
{
    w.source = first + from;
#if TUNE_KEEP_LINKS
    w.links = {s.links, COLUMNS, column};
#endif
#if TUNE_HOPS
    w.iterated = ~0u;
    dslash_fields d = a.d;
    d.sources = first + LS;
    dslash_at(d, w, [&](u32 k, const spinor& sum) {
        real_t hops[SPINOR];
        flatten(sum, hops);
        UNROLL
        for (u32 j = 0; j < SPINOR; j++) column_of(s, from + k, column)[j * COLUMNS] = hops[j];
    });
#else
    for (u32 k = 0; k < SPT && from + k < LS; k++) {
        real_t in[SPINOR];
        const u64 start = source_sites(w.source + k, w.parity);
        load_site(a.d.in + start * SPINOR, a.d.in_norms + start, w.at.index, in);
        UNROLL
        for (u32 j = 0; j < SPINOR; j++) column_of(s, from + k, column)[j * COLUMNS] = in[j];
    }
#endif
}

// ---- the fifth dimension ------------------------------------------------------------------------
// Replaces v, which H shifts upwards, by S v.
FUNCTION void shift_along(const wall_term& of, real_t (&v)[LS])
{
    const real_t same = static_cast<real_t>(of.a), next = static_cast<real_t>(of.next),
                 step = static_cast<real_t>(of.step);
    real_t last = v[0];
    UNROLL
    for (u32 s = 1; s < LS; s++) last = multiply_add(v[s], step, last);
    real_t below = static_cast<real_t>(of.closing) * last;
    UNROLL
    for (u32 s = 0; s < LS; s++) {
        const real_t here = multiply_add(v[s], step, below);
        v[s] = multiply_add(same * here, next, below);
        below = here;
    }
}

// Applies S to a real number of the upper half of a site's spinors, and to that of the lower half:
// in the basis of wilson.h, P_+- of them are half their sum and half their difference.
FUNCTION void mix_column(const wall_term& of, u32 number, u32 column, wall_shared& shared)
{
    real_t up[LS], down[LS];
    UNROLL
    for (u32 s = 0; s < LS; s++) {
        const real_t* const at = column_of(shared, s, column) + number * COLUMNS;
        const real_t upper = at[0], lower = at[SPINOR / 2 * COLUMNS];
        up[s] = upper + lower;
        down[LS - 1 - s] = upper - lower;
        if constexpr (TUNE_DAGGER) {
            up[s] = upper - lower;
            down[LS - 1 - s] = upper + lower;
        }
    }
    shift_along(of, up);
    shift_along(of, down);
    UNROLL
    for (u32 s = 0; s < LS; s++) {
        real_t* const at = column_of(shared, s, column) + number * COLUMNS;
        const real_t half = static_cast<real_t>(0.5), sum = up[s] + down[LS - 1 - s],
                     difference = up[s] - down[LS - 1 - s];
        at[0] = half * sum;
        at[SPINOR / 2 * COLUMNS] = TUNE_DAGGER ? -half * difference : half * difference;
    }
}

// ---- results ------------------------------------------------------------------------------------
FUNCTION void write_column_site(const wall_args& a, u32 source, u32 at, u32 column,
                                const dslash_work& w, wall_shared& s, kernel_sums& sums)
{
    const u64 start = source_sites(source, w.parity);
    real_t x[SPINOR] = {}, units[SPINOR] = {}, out[SPINOR];
    const real_t norm = load_x_units(a, start, w.at.index, x, units);
    UNROLL
    for (u32 j = 0; j < SPINOR; j++)
        out[j] = multiply_add(column_of(s, at, column)[j * COLUMNS], norm, units[j]);
#if TUNE_GUARDED
    apply_tail(a.tail, state_of(source), start, w.at.index, x, out, sums);
#else
    (void)sums;
#endif
    store_site(a.out + start * SPINOR, a.out_norms + start, w.at.index, out);
}

#if TUNE_CUT
typedef tiling<COLUMN_BLOCKS, COLUMNS, LS> wall_tiling;
#endif

KERNEL(dslash_domain_wall, wall_args, wall_shared)
{
    u32 number = block_id();
#if TUNE_CUT
    if (!begin_block(a, wall_tiling{}, s.exchange, number)) return;
#endif
    const block_place at = place_of_block<COLUMN_BLOCKS, COLUMNS>(a.d, number);
    const u32 first = at.sources * LS; // source with s = 0
    kernel_sums sums{};
    dslash_work w;
#if TUNE_GUARDED
    if (!is_active(a.tail.guard, state_of(first))) return; // same for all threads of the block
#endif
#if TUNE_CUT
    const bool exterior = has_exterior_site(at.tile, COLUMNS);
    if (exterior) w.exchange = number_of_exchange(a, wall_tiling{}, s.exchange);
#endif
#if TUNE_KEEP_LINKS
    for (u32 k = thread_id(); k < COLUMNS * 4; k += SIMT_THREADS) {
        if (!column_site(at.tile, k % COLUMNS, w)) continue;
        w.links = {s.links, COLUMNS, k % COLUMNS};
        keep_links(a.d, w, k / COLUMNS);
    }
    block_sync();
#endif
    for (u32 k = thread_id(); k < COLUMNS * GROUPS; k += SIMT_THREADS) {
        if (!column_site(at.tile, k % COLUMNS, w)) continue;
        const auto compute = [&](dslash_work& here) {
            put_hops(a, first, k / COLUMNS * SPT, k % COLUMNS, here, s);
        };
#if TUNE_CUT
        compute_by_place(w, exterior, compute);
#else
        compute(w);
#endif
    }
    block_sync();
    for (u32 k = thread_id(); k < COLUMNS * SPINOR / 2; k += SIMT_THREADS)
        mix_column(a.term, k / COLUMNS, k % COLUMNS, s);
    block_sync();
    for (u32 k = thread_id(); k < COLUMNS * LS; k += SIMT_THREADS)
        if (column_site(at.tile, k % COLUMNS, w))
            write_column_site(a, first + k / COLUMNS, k / COLUMNS, k % COLUMNS, w, s, sums);
#if TUNE_GUARDED
    end_of_source(a.tail.guard, state_of(first), sums, at.tile, COLUMN_BLOCKS, s.sums);
#endif
}
SUMS_KERNEL(dslash_domain_wall, wall_args, wall_shared, a.tail.guard)
