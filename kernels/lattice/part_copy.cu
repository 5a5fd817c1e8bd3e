// Copies a rank's part of a field into one with sites of its neighbours around it, whose numbers
// come from the neighbours (margins.h), or out of such a one.
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 32:512:32 cpu=1:1:1
// %RANGE% TUNE_SITES_PER_THREAD spt 1:1:1 cpu=64:64:1
//
// Workload: that of lattice.h and part.h, and
//     TUNE_T      type of stored reals: f64, f32, i16
//     TUNE_REALS  reals a site; a field has those of even sites, then those of odd ones
//     TUNE_CROP   1: the part is copied out of the larger field
// Traffic: the part is read and written.
#include "lattice.h"
#include "margins.h"
typedef TUNE_T stored_t;

struct part_copy_args {
    const stored_t* from;
    stored_t* to;
};

enum : int { REALS = TUNE_REALS, WHOLE = 16 / sizeof(stored_t) };

// Copies a chunk of `items` reals, 4 bytes or a multiple of them.
FUNCTION void copy_chunk(const stored_t* from, stored_t* to, int items)
{
    if (items == WHOLE) {
        *reinterpret_cast<bytes16*>(to) = *reinterpret_cast<const bytes16*>(from);
        return;
    }
    const int words = items * static_cast<int>(sizeof(stored_t)) / 4;
    for (int w = 0; w < words; w++)
        reinterpret_cast<u32*>(to)[w] = reinterpret_cast<const u32*>(from)[w];
}

// Returns where a chunk of a site is, in a field with `sites` sites of each parity.
FUNCTION u64 place_of(u64 sites, u32 parity, u32 index, int first, int items)
{
    return parity * sites * REALS + sites * static_cast<u64>(first) +
           static_cast<u64>(index) * static_cast<u64>(items);
}

KERNEL(part_copy, part_copy_args, no_shared)
{
    (void)s;
    for (u32 k = 0; k < TUNE_SITES_PER_THREAD; k++) {
        const u64 number = thread_site<TUNE_SITES_PER_THREAD>(k);
        if (number >= 2 * static_cast<u64>(PART_SITES)) return;
        const u32 parity = number >= PART_SITES,
                  index = static_cast<u32>(number - parity * PART_SITES),
                  around = part_site(index, parity).index;
        for (int c = 0; c < REALS; c += WHOLE) {
            const int items = REALS - c < WHOLE ? REALS - c : WHOLE;
            const u64 in_part = place_of(PART_SITES, parity, index, c, items),
                      in_all = place_of(SITES, parity, around, c, items);
            copy_chunk(a.from + (TUNE_CROP ? in_all : in_part),
                       a.to + (TUNE_CROP ? in_part : in_all), items);
        }
    }
}

MARGIN_KERNELS(part_copy)
