// Collectives of a block: keys ranked by a digit, and sorted by their bits.
//
// Keys travel as unsigned numbers of the same order. Each warp counts the digits of its items; a
// thread adds up a bin or several over the warps, and counts become where a warp's first item of
// each digit goes. From there each warp ranks its items: lanes with the same digit find each other
// by ballots or with the match instruction, which keeps their order. (warp_radix_number ranks by
// the atomics of the count, in no order.)
#pragma once
#include "block_exchange.h"
#include "types.h"

// ---- keys ---------------------------------------------------------------------------------------
enum radix_kind { RADIX_UNSIGNED = 0, RADIX_SIGNED = 1, RADIX_FLOATING = 2, RADIX_BOOL = 3 };

// Floats order as sign and magnitude. NaN with a sign would come first: they wrap around to the
// end.
template <int KIND, int MANTISSA_BITS, bool DESCENDING, class K>
struct radix_code {
    enum : u64 {
        SIGN_BIT = 8 * sizeof(K) - 1,
        SIGN = 1ull << SIGN_BIT,
        FLIPPED = (KIND == RADIX_SIGNED ? SIGN : 0) ^ (DESCENDING ? ~0ull : 0),
        NEGATIVE_NANS = KIND == RADIX_FLOATING ? (1ull << MANTISSA_BITS) - 1 : 0
    };
    // Without a branch, which floats of either sign would make a gamble.
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

struct cut { // where a digit is in a key
    u32 shift, mask;
};

template <class K>
FUNCTION u32 digit_of(K key, cut c)
{
    return static_cast<u32>(key >> c.shift) & c.mask;
}

// ---- ranks --------------------------------------------------------------------------------------
template <int BITS>
FUNCTION constexpr int radix_bins() // that a thread looks after
{
    return ((1 << BITS) + SIMT_THREADS - 1) / SIMT_THREADS;
}
template <int BITS>
FUNCTION u32 radix_bin(int j)
{
    return thread_id() * radix_bins<BITS>() + static_cast<u32>(j);
}

// A number for each of the thread's items, below 2^16: two share a register.
template <int N>
struct packed_places {
    u32 two[(N + 1) / 2];
    FUNCTION_MEMBER u32 at(int i) const { return i % 2 ? two[i / 2] >> 16 : two[i / 2] & 0xffffu; }
    FUNCTION_MEMBER void set(int i, u32 v) // in the order of the items
    {
        two[i / 2] = i % 2 ? two[i / 2] | v << 16 : v;
    }
    FUNCTION_MEMBER void add(int i, u32 v) { two[i / 2] += i % 2 ? v << 16 : v; }
};

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

// How many items of the warp have each digit.
//   Called by   all lanes of a warp
//   Result      counts[warp_id()] after the next block_sync
template <int BITS, class K, int N>
FUNCTION void warp_radix_count(const K (&key)[N], cut c, u32 (&counts)[SIMT_WARPS][1 << BITS])
{
    u32(&count)[1 << BITS] = counts[warp_id()];
    warp_radix_clear<BITS>(count);
    UNROLL
    for (int i = 0; i < N; i++) shared_add(&count[digit_of(key[i], c)], 1);
}

// The same, and as its place a number that no other item of the warp with the same digit has, in no
// order.
template <int BITS, class K, int N>
FUNCTION void warp_radix_number(const K (&key)[N], cut c, u32 (&counts)[SIMT_WARPS][1 << BITS],
                                packed_places<N>& place)
{
    u32(&count)[1 << BITS] = counts[warp_id()];
    warp_radix_clear<BITS>(count);
    UNROLL
    for (int i = 0; i < N; i++) place.set(i, shared_add(&count[digit_of(key[i], c)], 1));
}

// Where each item goes, in order, from where the first of each digit goes. Items are warp-striped.
// MATCH: how lanes with the same digit are found. 0: a ballot a bit; 1: the match instruction.
// sorted: where the keys go at once, or null.
//   Called by   all lanes of a warp, after block_radix_begin and a block_sync
//   Result      place in each lane; sorted after the next block_sync; begins[warp_id()] is used up
template <int BITS, int MATCH, class K, int N>
FUNCTION void warp_radix_rank(const K (&key)[N], cut c, u32 (&begins)[SIMT_WARPS][1 << BITS],
                              packed_places<N>& place, K* sorted)
{
    u32* begin = begins[warp_id()];
    const u32 below = (1u << lane_id()) - 1u;
    UNROLL
    for (int i = 0; i < N; i++) {
        const u32 digit = digit_of(key[i], c);
        const u32 same = MATCH ? warp_match(FULL_WARP, digit) : warp_match_bits<BITS>(digit);
        const u32 at = begin[digit] + count_set(same & below);
        place.set(i, at);
        if (sorted) sorted[at] = key[i];
        warp_sync(FULL_WARP);
        if ((same & ~below) == below + 1u) begin[digit] = at + 1u; // the highest of them
        warp_sync(FULL_WARP);
    }
}

// How many items of the tile are in each of the thread's bins.
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

// Where the thread's bins begin in the sorted tile. The warps' counts become their beginnings.
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

// Numbers of warp_radix_number become places in the sorted tile.
//   Called by   any thread, after block_radix_begin and a block_sync
//   Result      in the calling thread
template <int BITS, class K, int N>
FUNCTION void block_radix_place(const K (&key)[N], cut c,
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

// The place of each item in the tile sorted stably by a digit of at most BITS bits. Keys are
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
    warp_radix_rank<BITS, 0>(key, c, s.count, packed, static_cast<K*>(nullptr));
    UNROLL
    for (int i = 0; i < N; i++) place[i] = packed.at(i);
}
