// Sites around a rank's part (part.h) get their numbers by exchanges (face_memory.h), one for each
// direction that is cut, of two launches: slices of the part next to the margin are sent to the
// neighbours, then the margin is filled with what they have sent. The margins of earlier directions
// are in the slices of later ones, so that corners are filled too. Every exchange tells all
// neighbours, since messages use their places in turn.
#pragma once
#include "part.h"

// A field is arrays of 16 bytes for each site of one parity; `count` of them are exchanged.
struct margin_args {
    bytes16* field;
    rank_table* ranks;
    u64 direction;
    u64 first, count; // arrays
    u64 depth;        // slices next to the part
    u64 places;       // sites of one parity of the slices on both sides
};

// A place among the slices on both sides of a direction.
struct margin_site {
    bool upper;
    u32 slice, place;
};

template <int MU>
FUNCTION margin_site margin_site_of(const margin_args& a, u64 number)
{
    const u32 depth = static_cast<u32>(a.depth), row = static_cast<u32>(number / face_sites<MU>());
    return margin_site{row >= depth, row % depth, static_cast<u32>(number % face_sites<MU>())};
}

template <int MU>
FUNCTION void send_slices(const margin_args& a, u64 number)
{
    const margin_site m = margin_site_of<MU>(a, number);
    const u32 depth = static_cast<u32>(a.depth),
              at = m.upper ? extent_of<MU>() - TUNE_MARGIN - depth : TUNE_MARGIN;
    const u64 index = face_site<MU>(m.place, at + m.slice, 0).index;
    const face_memory<f64, 2> to =
        face_to<f64, 2, MU>(*a.ranks, m.upper, number_sent_now(*a.ranks));
    for (u64 k = 0; k < a.count; k++) {
        chunk<f64> v;
        v.bytes = a.field[(a.first + k) * SITES + index];
        to.store(k * depth + m.slice, m.place, v.item);
    }
}

template <int MU>
FUNCTION void receive_slices(const margin_args& a, u64 number)
{
    const margin_site m = margin_site_of<MU>(a, number);
    const u32 depth = static_cast<u32>(a.depth),
              at = m.upper ? extent_of<MU>() - TUNE_MARGIN : TUNE_MARGIN - depth;
    const u64 index = face_site<MU>(m.place, at + m.slice, 0).index;
    const face_memory<f64, 2> from =
        face_from<f64, 2, MU>(*a.ranks, m.upper, number_sent_before(*a.ranks));
    for (u64 k = 0; k < a.count; k++) {
        chunk<f64> v;
        from.load(k * depth + m.slice, m.place, v.item);
        a.field[(a.first + k) * SITES + index] = v.bytes;
    }
}

// Does the work of one place in the direction of the exchange.
template <bool SEND, int MU = 1>
FUNCTION void exchange_place(const margin_args& a, u64 number)
{
    if constexpr (MU <= TIME) {
        if constexpr (is_cut<MU>())
            if (a.direction == MU)
                return SEND ? send_slices<MU>(a, number) : receive_slices<MU>(a, number);
        exchange_place<SEND, MU + 1>(a, number);
    }
}

template <bool SEND>
FUNCTION void exchange_places(const margin_args& a)
{
    const u64 first =
        (static_cast<u64>(block_id()) * SIMT_THREADS + thread_id()) * TUNE_SITES_PER_THREAD;
    for (u64 k = first; k < first + TUNE_SITES_PER_THREAD && k < a.places; k++)
        exchange_place<SEND>(a, k);
}

// The two kernels of an exchange, name_send and name_receive.
#if TUNE_CUT
FUNCTION void send_margins(const margin_args& a)
{
    exchange_places<true>(a);
    block_sync(); // all threads have used the number
    if (thread_id() == 0 && count_block(*a.ranks, block_count())) set_flags(*a.ranks, ALL_FACES);
}
FUNCTION void receive_margins(const margin_args& a)
{
    wait_for_flags(*a.ranks, ALL_FACES);
    exchange_places<false>(a);
}

#define MARGIN_KERNELS(name)                       \
    KERNEL(name##_send, margin_args, no_shared)    \
    {                                              \
        (void)s;                                   \
        send_margins(a);                           \
    }                                              \
    KERNEL(name##_receive, margin_args, no_shared) \
    {                                              \
        (void)s;                                   \
        receive_margins(a);                        \
    }
#else
#define MARGIN_KERNELS(name)
#endif
