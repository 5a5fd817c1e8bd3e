// Linear algebra on the fields of a solver: evaluates statements on the numbers of each site, and
// sums over them, in one pass.
//
// Fields are in native order (lattice.h), each in its own precision; the norms of a fixed-point
// field follow it. A thread takes sites of one right-hand side and processes their numbers in
// groups of a few loads. Threads exchange data only for the sums
// (solver_update.h).
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 32:512:32 cpu=1:1:1
// %RANGE% TUNE_MIN_BLOCKS mb 1:16:1 cpu=1:1:1
// %RANGE% TUNE_SITES_PER_THREAD spt 1:8:1 cpu=16:1024:16
//
// mb    1 where there are many sums
// spt   sites a thread, SIMT_THREADS apart
//
// Workload: that of lattice.h, that of solver_update.h, and
//     TUNE_REALS                  reals a site
//     TUNE_PARTS                  fields of one parity of a right-hand side, one after the other
//     TUNE_FIELDS(X)              X(name, type of stored reals) for each field
//     TUNE_WRITTEN(X)             the same for each field that is written
//     TUNE_HELD(X)                written fields in fixed point: a site is stored when it is whole
//     TUNE_FLOATS(X)              the other written fields
//     TUNE_REAL                   type of the calculation
//     TUNE_STATEMENTS             statements; a field's name is one complex number of the site
// Traffic: every field is read once, and each written field is written once.
#if TUNE_SUMS > 8 // which are in registers, and spilled if there are only some for a thread
#define SIMT_MIN_BLOCKS 1
#else
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#endif
#include "integer.h"
#include "lattice.h"
typedef TUNE_REAL real_t;
#include "solver_update.h"

enum {
    REALS = TUNE_REALS,
    GROUP = REALS % 8 ? REALS : 8, // whole loads in every precision
    PLACES = TUNE_PARTS * SITES,
    TILE = SIMT_THREADS * TUNE_SITES_PER_THREAD,
    BLOCKS = ceil_div(PLACES, TILE) // blocks a source
};

struct field_update_args {
#define MEMBER(name, type) const type* name;
    TUNE_FIELDS(MEMBER)
#undef MEMBER
#define MEMBER(name, type) type* name##_out;
    TUNE_WRITTEN(MEMBER)
#undef MEMBER
    guard_args guard;
    u64 sources;
};
struct field_update_shared {
    kernel_sums_storage sums;
};

struct held_sites {
#define MEMBER(name, type) real_of<type> name[REALS];
    TUNE_HELD(MEMBER)
#undef MEMBER
};

// Location of a place's numbers: the offset of its field, and the site.
struct update_place {
    u64 start; // sites before those of its parity and source
    u32 index;
    u64 sites; // sites of the whole field
};

template <class S>
FUNCTION const f32* norms_of(const S* field, u64 sites)
{
    return reinterpret_cast<const f32*>(field + sites * REALS);
}

template <int FIRST, class S>
FUNCTION void load_group(const S* field, const update_place& at, real_t (&out)[GROUP])
{
    real_of<S> raw[GROUP];
    load_reals<REALS, FIRST, GROUP, 0>(field + at.start * REALS, at.index, raw);
    const real_of<S> scale = load_norm<S>(norms_of(field, at.sites) + at.start, at.index);
    UNROLL
    for (int j = 0; j < GROUP; j++) out[j] = static_cast<real_t>(raw[j] * scale);
}

template <int FIRST, class S>
FUNCTION void store_group(S* field, const update_place& at, const real_t (&in)[GROUP])
{
    S raw[GROUP];
    UNROLL
    for (int j = 0; j < GROUP; j++) raw[j] = static_cast<S>(in[j]);
    store_some<REALS, FIRST>(field + at.start * REALS, at.index, raw);
}

template <int FIRST>
FUNCTION void update_group(const field_update_args& a, const solver_state* state,
                           const update_place& at, held_sites& held, kernel_sums& sums)
{
#define LOAD(name, type)        \
    real_t name##_reals[GROUP]; \
    load_group<FIRST>(a.name, at, name##_reals);
    TUNE_FIELDS(LOAD)
#undef LOAD
    TUNE_SCALARS(TAKE_SCALAR)
    UNROLL
    for (int place = 0; place < GROUP; place += 2) {
#define TAKE(name, type) complex<real_t> name{name##_reals[place], name##_reals[place + 1]};
        TUNE_FIELDS(TAKE)
#undef TAKE
        TUNE_STATEMENTS;
        TUNE_ADD(TAKE_SUM)
#define PUT(name, type)              \
    name##_reals[place] = name.real; \
    name##_reals[place + 1] = name.imag;
        TUNE_WRITTEN(PUT)
#undef PUT
    }
#define STORE(name, type) store_group<FIRST>(a.name##_out, at, name##_reals);
    TUNE_FLOATS(STORE)
#undef STORE
#define HOLD(name, type)            \
    UNROLL                          \
    for (int j = 0; j < GROUP; j++) \
        held.name[FIRST + j] = static_cast<real_of<type>>(name##_reals[j]);
    TUNE_HELD(HOLD)
#undef HOLD
    (void)state, (void)held, (void)sums;
    if constexpr (FIRST + GROUP < REALS) update_group<FIRST + GROUP>(a, state, at, held, sums);
}

FUNCTION void update_site(const field_update_args& a, u32 source, u32 place, kernel_sums& sums)
{
    const u32 part = place / SITES;
    const update_place at{(static_cast<u64>(source) * TUNE_PARTS + part) * SITES, place % SITES,
                          a.sources * PLACES};
    held_sites held;
    update_group<0>(a, a.guard.states + source, at, held, sums);
#define STORE(name, type)                                                               \
    store_site(a.name##_out + at.start * REALS,                                         \
               const_cast<f32*>(norms_of(a.name##_out, at.sites)) + at.start, at.index, \
               held.name);
    TUNE_HELD(STORE)
#undef STORE
}

KERNEL(field_update_sites, field_update_args, field_update_shared)
{
    const u32 source = block_id() / BLOCKS, block = block_id() % BLOCKS;
    kernel_sums sums{};
    if (!is_active(a.guard, source)) return; // same for all threads of the block
    for (u32 k = 0; k < TUNE_SITES_PER_THREAD; k++) {
        const u32 place = block * TILE + k * SIMT_THREADS + thread_id();
        if (place < PLACES) update_site(a, source, place, sums);
    }
    end_of_source(a.guard, source, sums, block, BLOCKS, s.sums);
}
SUMS_KERNEL(field_update_sites, field_update_args, field_update_shared, a.guard)
