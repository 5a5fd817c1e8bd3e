// Collectives of a warp.
//
// All SIMT_WARP lanes of the warp call one of these together. None needs shared storage or a
// barrier. Op is an associative functor. Operands keep the order of the lanes, so that Op need not
// be commutative.
#pragma once
#include "thread.h"

template <class V>
union warp_words {
    V value;
    u32 word[(sizeof(V) + 3) / 4];
};

// Returns the value of another lane: of lane `at`, or of that whose number differs in bits `at`.
template <bool IN_BITS, class V>
FUNCTION V warp_move(V value, u32 at)
{
    constexpr int words = static_cast<int>((sizeof(V) + 3) / 4);
    warp_words<V> in, out;
    in.word[words - 1] = 0; // a value need not fill its last word
    in.value = value;
    UNROLL
    for (int w = 0; w < words; w++) {
        if constexpr (IN_BITS)
            out.word[w] = warp_exchange_word(FULL_WARP, in.word[w], at);
        else
            out.word[w] = warp_shuffle_word(FULL_WARP, in.word[w], at % SIMT_WARP);
    }
    return out.value;
}

// Returns the value that `lane` holds.
//   Called by   all lanes; `lane` counts modulo SIMT_WARP
//   Result      in each lane
template <class V>
FUNCTION V warp_shuffle(V value, u32 lane)
{
    return warp_move<false>(value, lane);
}

// Returns the value of the lane whose number differs in the bits of `bits`.
//   Called by   all lanes, with the same bits
//   Result      in each lane
template <class V>
FUNCTION V warp_exchange(V value, u32 bits)
{
    return warp_move<true>(value, bits);
}

// Combines the values of the first COUNT lanes, in order. The results of other lanes than the first
// have no meaning: in each exchange the higher lane combines in the wrong order.
//   Called by   all lanes
//   Result      in lane 0
template <u32 COUNT = SIMT_WARP, class V, class Op>
FUNCTION V warp_reduce(V value, Op op)
{
    constexpr bool WHOLE = (COUNT & (COUNT - 1)) == 0;
    UNROLL
    for (u32 d = 1; d < COUNT; d *= 2) {
        const V other = warp_exchange(value, d);
        if (WHOLE || (lane_id() | d) < COUNT) value = op(value, other);
    }
    return value;
}

// Combines the values of the first `count` lanes, a number that is known when the kernel runs.
//   Called by   all lanes
//   Result      in lane 0
template <class V, class Op>
FUNCTION V warp_reduce_first(V value, Op op, u32 count)
{
    UNROLL
    for (u32 d = 1; d < SIMT_WARP; d *= 2) {
        const V other = warp_exchange(value, d);
        if ((lane_id() | d) < count) value = op(value, other);
    }
    return value;
}

// Inclusive prefix scan: combines the values of lanes 0 to the calling one.
//   Called by   all lanes
//   Result      in each lane
template <class V, class Op>
FUNCTION V warp_scan(V value, Op op)
{
    UNROLL
    for (u32 d = 1; d < SIMT_WARP; d *= 2) {
        const V other = warp_shuffle(value, lane_id() - d);
        if (lane_id() >= d) value = op(other, value);
    }
    return value;
}

// Exclusive prefix scan: combines `init` and the values of the lanes before the calling one.
//   Called by   all lanes
//   Result      in each lane
template <class V, class Op>
FUNCTION V warp_exclusive_scan(V value, V init, Op op)
{
    const V before = warp_shuffle(warp_scan(value, op), lane_id() - 1);
    return lane_id() == 0 ? init : op(init, before);
}

// Inclusive prefix scan of segments: the scan restarts at each lane of the mask `begins`.
//   Called by   all lanes
//   Result      in each lane
template <class V, class Op>
FUNCTION V warp_segmented_scan(V value, u32 begins, Op op)
{
    const u32 through = begins & (0xffffffffu >> (31u - lane_id()));
    const u32 first = through ? last_set(through) : 0;
    UNROLL
    for (u32 d = 1; d < SIMT_WARP; d *= 2) {
        const V other = warp_shuffle(value, lane_id() - d);
        if (lane_id() >= first + d) value = op(other, value);
    }
    return value;
}

// Returns the mask of lanes whose values agree in the BITS lowest bits.
//   Called by   all lanes
//   Result      in each lane; includes its own bit
template <int BITS>
FUNCTION u32 warp_match_bits(u32 value)
{
    if constexpr (BITS == 0)
        return FULL_WARP;
    else if constexpr (BITS == 1)
        return warp_ballot_same<1u>(FULL_WARP, value);
    else
        return and_of_three(warp_match_bits<BITS - 2>(value),
                            warp_ballot_same<1u << (BITS - 2)>(FULL_WARP, value),
                            warp_ballot_same<1u << (BITS - 1)>(FULL_WARP, value));
}
