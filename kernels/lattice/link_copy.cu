// Copies a gauge field between orders, precisions and reconstructions.
//
// A plain field is the user's: [t][z][y][x][direction][row][column] of complex numbers, as in
// files. An even-odd field is [direction][parity][t][z][y][x / 2][row][column]. A native field
// stores 18, 12 or 8 reals a link (su3.h).
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 32:512:32 cpu=1:1:1
// %RANGE% TUNE_SITES_PER_THREAD spt 1:1:1 cpu=64:64:1
//
// Workload: that of lattice.h, and
//     TUNE_FROM, TUNE_TO              type of stored reals
//     TUNE_FROM_ORDER, TUNE_TO_ORDER  0 plain, 1 even-odd, 2 native
//     TUNE_FROM_REALS, TUNE_TO_REALS  reals a link in native order
// Traffic: the field is read once and written once.
#include "lattice.h"

enum { PLAIN, EVEN_ODD, NATIVE };
typedef real_of<TUNE_WIDE> real_t;
#include "su3.h"

typedef link_storage<TUNE_FROM>::type from_t;
typedef link_storage<TUNE_TO>::type to_t;

struct link_copy_args {
    const from_t* from;
    to_t* to;
};

enum { MATRIX = 18 };

template <int ORDER>
FUNCTION u64 plain_place(u32 parity, int direction, u32 index)
{
    if constexpr (ORDER == EVEN_ODD)
        return (static_cast<u64>(2 * static_cast<u32>(direction) + parity) * SITES + index) *
               MATRIX;
    const site s = site_of(index, parity);
    const u64 place = s.x + static_cast<u64>(TUNE_LX) * (index / HALF_X);
    return (place * 4 + static_cast<u32>(direction)) * MATRIX;
}

template <int ORDER, int REALS, class S>
FUNCTION matrix read_link(const S* from, u32 parity, int direction, u32 index)
{
    if constexpr (ORDER == NATIVE) {
        real_t scale;
        matrix u = load_link<REALS, 0>(links_of<REALS>(from, parity, direction), index, scale);
        for (int j = 0; j < MATRIX / 2; j++)
            u.element[j / 3][j % 3] = scaled(scale, u.element[j / 3][j % 3]);
        return u;
    }
    const S* const at = from + plain_place<ORDER>(parity, direction, index);
    matrix u;
    for (int j = 0; j < MATRIX / 2; j++)
        u.element[j / 3][j % 3] =
            complex_t{static_cast<real_t>(at[2 * j]), static_cast<real_t>(at[2 * j + 1])};
    return u;
}

template <int ORDER, int REALS, class S>
FUNCTION void write_link(S* to, u32 parity, int direction, u32 index, const matrix& u)
{
    if constexpr (ORDER == NATIVE) {
        store_link<REALS>(links_of<REALS>(to, parity, direction), index, u);
    } else {
        S* const at = to + plain_place<ORDER>(parity, direction, index);
        for (int j = 0; j < MATRIX / 2; j++) {
            at[2 * j] = static_cast<S>(u.element[j / 3][j % 3].real);
            at[2 * j + 1] = static_cast<S>(u.element[j / 3][j % 3].imag);
        }
    }
}

KERNEL(link_copy_sites, link_copy_args, no_shared)
{
    (void)s;
    for (u32 k = 0; k < TUNE_SITES_PER_THREAD; k++) {
        const u64 place = thread_site<TUNE_SITES_PER_THREAD>(k);
        const u32 parity = place >= SITES, index = static_cast<u32>(place - parity * SITES);
        if (place >= 2 * static_cast<u64>(SITES)) return;
        for (int direction = 0; direction < 4; direction++)
            write_link<TUNE_TO_ORDER, TUNE_TO_REALS>(
                a.to, parity, direction, index,
                read_link<TUNE_FROM_ORDER, TUNE_FROM_REALS>(a.from, parity, direction, index));
    }
}
