// Collectives of a block: radix sort of a tile of keys, or of keys with values.
//
// One pass a digit, the lowest digit first, makes the sort stable. Keys are numbers of 8 to 64
// bits, f16 and bf16 of types.h included. NaN comes last, and -0.0 before 0.0.
#pragma once
#include "block_radix.h"

// Kind of a key type and size of its mantissa, as radix_code needs them.
template <class T>
struct radix_traits {
    enum {
        KIND = static_cast<T>(0.5f) != static_cast<T>(0) ? RADIX_FLOATING
               : static_cast<T>(-1) < static_cast<T>(0)  ? RADIX_SIGNED
                                                         : RADIX_UNSIGNED,
        MANTISSA_BITS = sizeof(T) == 4 ? 23 : 52
    };
};
template <>
struct radix_traits<f16> {
    enum { KIND = RADIX_FLOATING, MANTISSA_BITS = 10 };
};
template <>
struct radix_traits<bf16> {
    enum { KIND = RADIX_FLOATING, MANTISSA_BITS = 7 };
};

template <int BYTES>
struct radix_word;
template <>
struct radix_word<1> {
    typedef u8 type;
};
template <>
struct radix_word<2> {
    typedef u16 type;
};
template <>
struct radix_word<4> {
    typedef u32 type;
};
template <>
struct radix_word<8> {
    typedef u64 type;
};

template <class T>
union radix_bits {
    T value;
    typename radix_word<sizeof(T)>::type word;
};

struct no_value {
};
template <class V>
struct has_values {
    static constexpr bool value = true;
};
template <>
struct has_values<no_value> {
    static constexpr bool value = false;
};

template <class T, int N, class V = no_value, int BITS = 8>
union block_sort_storage {
    block_radix_storage<BITS> rank;
    block_exchange_storage<typename radix_word<sizeof(T)>::type, N> key;
    block_exchange_storage<V, N> value;
};

// Moves the tile's items to the given places; they are warp-striped then, after the last pass
// blocked.
template <class T, int N>
FUNCTION void block_sort_move(T (&item)[N], const u32 (&place)[N], bool last,
                              block_exchange_storage<T, N>& s)
{
    block_sync();
    UNROLL
    for (int j = 0; j < N; j++) s.item[exchange_place<N>(place[j])] = item[j];
    block_sync();
    UNROLL
    for (int j = 0; j < N; j++)
        item[j] = s.item[exchange_place<N>(last ? blocked_index<N>(j) : warp_striped_index<N>(j))];
}

template <bool DESCENDING, class T, int N, class V, int BITS>
FUNCTION void block_sort_any(T (&key)[N], V (&value)[N], u32 begin_bit, u32 end_bit,
                             block_sort_storage<T, N, V, BITS>& s)
{
    typedef typename radix_word<sizeof(T)>::type word;
    typedef radix_traits<T> traits;
    typedef radix_code<traits::KIND, traits::MANTISSA_BITS, DESCENDING, word> code;
    word coded[N];
    u32 place[N];
    radix_bits<T> bits;
    UNROLL
    for (int j = 0; j < N; j++) {
        bits.value = key[j];
        coded[j] = code::encode(bits.word);
        place[j] = blocked_index<N>(j);
    }
    block_sort_move(coded, place, begin_bit >= end_bit, s.key);
    if constexpr (has_values<V>::value)
        block_sort_move(value, place, begin_bit >= end_bit, s.value);
    for (u32 low = begin_bit; low < end_bit; low += BITS) {
        const u32 width = end_bit - low < BITS ? end_bit - low : BITS;
        const bool last = low + BITS >= end_bit;
        block_sync();
        block_radix_rank<BITS>(coded, cut{low, (1u << width) - 1u}, place, s.rank);
        block_sort_move(coded, place, last, s.key);
        if constexpr (has_values<V>::value) block_sort_move(value, place, last, s.value);
    }
    UNROLL
    for (int j = 0; j < N; j++) {
        bits.word = code::decode(coded[j]);
        key[j] = bits.value;
    }
}

// Sorts the tile by bits begin_bit to end_bit - 1 of the keys' code, which for unsigned keys is the
// key itself. Items are blocked before and after. Values move with their keys; a storage without
// values omits the third type.
//   Called by   all threads of the block, with the same bits
//   Result      in each thread, in place
//   Storage     may be used again after the next block_sync
template <class T, int N, int BITS>
FUNCTION void block_sort(T (&key)[N], block_sort_storage<T, N, no_value, BITS>& s,
                         u32 begin_bit = 0, u32 end_bit = 8 * sizeof(T))
{
    no_value none[N];
    block_sort_any<false>(key, none, begin_bit, end_bit, s);
}
template <class T, int N, int BITS>
FUNCTION void block_sort_descending(T (&key)[N], block_sort_storage<T, N, no_value, BITS>& s,
                                    u32 begin_bit = 0, u32 end_bit = 8 * sizeof(T))
{
    no_value none[N];
    block_sort_any<true>(key, none, begin_bit, end_bit, s);
}
template <class T, int N, class V, int BITS>
FUNCTION void block_sort_pairs(T (&key)[N], V (&value)[N], block_sort_storage<T, N, V, BITS>& s,
                               u32 begin_bit = 0, u32 end_bit = 8 * sizeof(T))
{
    block_sort_any<false>(key, value, begin_bit, end_bit, s);
}
template <class T, int N, class V, int BITS>
FUNCTION void block_sort_pairs_descending(T (&key)[N], V (&value)[N],
                                          block_sort_storage<T, N, V, BITS>& s, u32 begin_bit = 0,
                                          u32 end_bit = 8 * sizeof(T))
{
    block_sort_any<true>(key, value, begin_bit, end_bit, s);
}
