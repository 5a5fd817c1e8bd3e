// Collectives of a block: ranks of keys by a digit, the step of a radix sort.
//
// Keys are coded as unsigned numbers that have the same order. Each warp counts the digits of its
// items. Each thread adds up the counts of one or more bins over the warps, and a prefix sum turns
// the counts into the place of each warp's first item of each digit. From there each warp ranks its
// items, stably: lanes with the same digit find each other by ballots. (warp_radix_number ranks by
// the atomics that count, which is not stable.)
#pragma once
#include "block_exchange.h"
#include "types.h"

// ---- keys ---------------------------------------------------------------------------------------
enum radix_kind { RADIX_UNSIGNED = 0, RADIX_SIGNED = 1, RADIX_FLOATING = 2, RADIX_BOOL = 3 };

// Order-preserving code of a key. Floats are sign and magnitude. NaN with a sign bit would come
// first, so that the code wraps it around to the end, unless MANTISSA_BITS is 0.
template <int KIND, int MANTISSA_BITS, bool DESCENDING, class K>
struct radix_code {
    enum : u64 {
        SIGN_BIT = 8 * sizeof(K) - 1,
        SIGN = 1ull << SIGN_BIT,
        FLIPPED = (KIND == RADIX_SIGNED ? SIGN : 0) ^ (DESCENDING ? ~0ull : 0),
        NEGATIVE_NANS = KIND == RADIX_FLOATING ? (1ull << MANTISSA_BITS) - 1 : 0
    };
    // Avoids a branch, which would be mispredicted for keys of random sign.
    FUNCTION_MEMBER static K ones_if(K sign) { return static_cast<K>(0 - sign); }
    FUNCTION_MEMBER static K encode(K raw)
    {
        K key = raw;
        if (KIND == RADIX_BOOL) key = raw != 0;
        if (KIND == RADIX_FLOATING)
            key = static_cast<K>((key ^ (ones_if(key >> SIGN_BIT) | SIGN)) - NEGATIVE_NANS);
        return static_cast<K>(key ^ FLIPPED);
    }
    FUNCTION_MEMBER static K decode(K coded)
    {
        K key = static_cast<K>(coded ^ FLIPPED);
        if (KIND == RADIX_FLOATING) {
            key = static_cast<K>(key + NEGATIVE_NANS);
            key = static_cast<K>(~key ^ (ones_if(key >> SIGN_BIT) & static_cast<K>(~SIGN)));
        }
        return key;
    }
};

// Returns the number of bits up to the highest that is set.
FUNCTION u32 bit_length(u64 v)
{
    const u32 high = static_cast<u32>(v >> 32), low = static_cast<u32>(v);
    return high ? 33u + last_set(high) : low ? 1u + last_set(low) : 0u;
}

struct cut { // bits of a key that make up a digit
    u32 shift, mask;
};

template <class K>
FUNCTION u32 digit_of(K key, cut c)
{
    return static_cast<u32>(key >> c.shift) & c.mask;
}

// ---- ranks --------------------------------------------------------------------------------------
template <int BITS>
FUNCTION constexpr int radix_bins() // bins a thread
{
    return ((1 << BITS) + SIMT_THREADS - 1) / SIMT_THREADS;
}
template <int BITS>
FUNCTION u32 radix_bin(int j)
{
    return thread_id() * radix_bins<BITS>() + static_cast<u32>(j);
}

// Numbers below 2^16, one for each of the thread's items, two in a register.
template <int N>
struct packed_places {
    u32 two[(N + 1) / 2];
    FUNCTION_MEMBER u32 at(int i) const { return i % 2 ? two[i / 2] >> 16 : two[i / 2] & 0xffffu; }
    FUNCTION_MEMBER void set(int i, u32 v) // for i = 0, 1, 2, ... in turn
    {
        two[i / 2] = i % 2 ? two[i / 2] | v << 16 : v;
    }
    FUNCTION_MEMBER void add(int i, u32 v) { two[i / 2] += i % 2 ? v << 16 : v; }
};

// Sets a warp's digit counts to zero.
//   Called by   all lanes of a warp
//   Result      count is zero in each lane
template <int BITS>
FUNCTION void warp_radix_clear(u32 (&count)[1 << BITS])
{
    UNROLL
    for (u32 b = 0; b < 1 << BITS; b += SIMT_WARP)
        if (b + lane_id() < 1 << BITS) count[b + lane_id()] = 0;
    warp_sync(FULL_WARP);
}

// Counts the warp's items of each digit.
//   Called by   all lanes of a warp
//   Result      counts[warp_id()] after the next block_sync
template <int BITS, class K, int N, class C>
FUNCTION void warp_radix_count(const K (&key)[N], const C& c, u32 (&counts)[SIMT_WARPS][1 << BITS])
{
    u32(&count)[1 << BITS] = counts[warp_id()];
    warp_radix_clear<BITS>(count);
    UNROLL
    for (int i = 0; i < N; i++) shared_add(&count[digit_of(key[i], c)], 1);
}

// Counts the warp's items of each digit, and gives each item a number that is unique among the
// warp's items of that digit. The numbers follow no order.
template <int BITS, class K, int N, class C>
FUNCTION void warp_radix_number(const K (&key)[N], const C& c, u32 (&counts)[SIMT_WARPS][1 << BITS],
                                packed_places<N>& place)
{
    u32(&count)[1 << BITS] = counts[warp_id()];
    warp_radix_clear<BITS>(count);
    UNROLL
    for (int i = 0; i < N; i++) place.set(i, shared_add(&count[digit_of(key[i], c)], 1));
}

// Gives each item its place in the sorted tile, stably, from the place of the first item of each
// digit. Items are warp-striped. sorted: array that the keys are stored in right away, or null.
//   Called by   all lanes of a warp, after block_radix_begin and a block_sync
//   Result      place in each lane; sorted after the next block_sync; begins[warp_id()] is used up
template <int BITS, class K, int N, class C>
FUNCTION void warp_radix_rank(const K (&key)[N], const C& c, u32 (&begins)[SIMT_WARPS][1 << BITS],
                              packed_places<N>& place, K* sorted)
{
    u32* begin = begins[warp_id()];
    const u32 below = (1u << lane_id()) - 1u;
    UNROLL
    for (int i = 0; i < N; i++) {
        const u32 digit = digit_of(key[i], c);
        const u32 same = warp_match_bits<BITS>(digit);
        const u32 at = begin[digit] + count_set(same & below);
        place.set(i, at);
        if (sorted) sorted[at] = key[i];
        warp_sync(FULL_WARP);
        if ((same & ~below) == below + 1u) begin[digit] = at + 1u; // highest lane
        warp_sync(FULL_WARP);
    }
}

// Adds up the tile's items in each of the thread's bins.
//   Called by   all threads of the block, after warp_radix_count and a block_sync
//   Result      in each thread
template <int BITS>
FUNCTION void block_radix_count(const u32 (&counts)[SIMT_WARPS][1 << BITS],
                                u32 (&count)[radix_bins<BITS>()])
{
    UNROLL
    for (int j = 0; j < radix_bins<BITS>(); j++) {
        count[j] = 0;
        if (radix_bin<BITS>(j) < 1 << BITS) {
            UNROLL
            for (int w = 0; w < SIMT_WARPS; w++) count[j] += counts[w][radix_bin<BITS>(j)];
        }
    }
}

// Gives the beginning of each of the thread's bins in the sorted tile. Replaces the warps' counts
// with the place of each warp's first item.
//   Called by   all threads of the block, with what block_radix_count gave
//   Result      in each thread; counts after the next block_sync
//   Storage     may be used again after the next block_sync
template <int BITS>
FUNCTION void block_radix_begin(u32 (&counts)[SIMT_WARPS][1 << BITS], block_sum_storage<u32>& sum,
                                const u32 (&count)[radix_bins<BITS>()],
                                u32 (&begin)[radix_bins<BITS>()])
{
    u32 all = 0;
    UNROLL
    for (int j = 0; j < radix_bins<BITS>(); j++) {
        begin[j] = all;
        all += count[j];
    }
    const u32 before = block_exclusive_sum(all, sum);
    UNROLL
    for (int j = 0; j < radix_bins<BITS>(); j++) {
        begin[j] += before;
        u32 next = begin[j];
        if (radix_bin<BITS>(j) < 1 << BITS) {
            UNROLL
            for (int w = 0; w < SIMT_WARPS; w++) {
                const u32 here = counts[w][radix_bin<BITS>(j)];
                counts[w][radix_bin<BITS>(j)] = next;
                next += here;
            }
        }
    }
}

// Turns the numbers of warp_radix_number into places in the sorted tile.
//   Called by   any thread, after block_radix_begin and a block_sync
//   Result      in the calling thread
template <int BITS, class K, int N, class C>
FUNCTION void block_radix_place(const K (&key)[N], const C& c,
                                const u32 (&counts)[SIMT_WARPS][1 << BITS], packed_places<N>& place)
{
    const u32* begin = counts[warp_id()];
    UNROLL
    for (int i = 0; i < N; i++) place.add(i, begin[digit_of(key[i], c)]);
}

template <int BITS>
struct block_radix_storage {
    u32 count[SIMT_WARPS][1 << BITS];
    block_sum_storage<u32> sum;
};

// Gives the place of each item in the tile sorted stably by a digit of at most BITS bits. Keys are
// unsigned and warp-striped.
//   Called by   all threads of the block
//   Result      in each thread
//   Storage     may be used again after the next block_sync
template <int BITS, class K, int N>
FUNCTION void block_radix_rank(const K (&key)[N], cut c, u32 (&place)[N],
                               block_radix_storage<BITS>& s)
{
    u32 count[radix_bins<BITS>()], begin[radix_bins<BITS>()];
    packed_places<N> packed;
    warp_radix_count<BITS>(key, c, s.count);
    block_sync();
    block_radix_count<BITS>(s.count, count);
    block_radix_begin<BITS>(s.count, s.sum, count, begin);
    block_sync();
    warp_radix_rank<BITS>(key, c, s.count, packed, static_cast<K*>(nullptr));
    UNROLL
    for (int i = 0; i < N; i++) place[i] = packed.at(i);
}
