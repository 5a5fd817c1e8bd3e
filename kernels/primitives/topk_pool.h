// Selection of the lowest keys, in order, of a number that fits the shared memory of a cluster's
// blocks.
//
// Each block keeps the keys of its part of the pool. The span of all keys, or what is left of it,
// is cut into RANGES ranges of one width, and the blocks count their keys in each and add the
// counts up through one another's shared memory. The keys below the range of the k-th are put on a
// list; that range is the next span, until few keys lie in it. If it is a single key, which too
// many have, their indices are cut into ranges instead. On the list the items of a range stand side
// by side. Warps order 32 neighbours each, and an item's rank is that among its neighbours and
// those of its range that other warps have ordered.
//
// A key of 1 or 2 bytes, which many items share, has the first bits of its item's index behind it,
// so that one round is mostly enough for these too.
//
// The ranges follow the span, not the bits of the keys: two rounds are mostly enough whatever the
// type is. The instructions of a warp decide how long it takes, not the bytes: the fewer the
// better.
//     TUNE_POOL, TUNE_SMALL_POOL   keys of a block; small are those of more than 4 bytes where a
//                                  block has less than TUNE_POOL_BYTES of shared memory
//     TUNE_MOST, TUNE_CROWD        most keys to select; most of a range that is not cut further
//     TUNE_LISTED_BYTES            room for a list
#pragma once
#include "block.h"
#include "cluster.h"
#include "integer.h"
#include "radix.h"
#include "warp_order.h"

// A kernel that keeps the indices of its pool beside it, and so has less room, defines this as 1.
// Its pool is of two tiles.
#ifndef POOL_HAS_INDICES
#define POOL_HAS_INDICES 0
#endif

// One that selects nothing on some devices has a shorter list there.
#ifndef POOL_MOST
#define POOL_MOST TUNE_MOST
#endif

// One whose blocks keep more keys defines how many, and into how many ranges, log2, a span of these
// is cut.
#ifndef POOL_KEYS
#define POOL_KEYS (sizeof(held_t) > 4 && SMALL ? TUNE_SMALL_POOL : TUNE_POOL)
#define POOL_RANGE_BITS 11
#endif

template <bool WIDE>
struct pool_codes {
    typedef u32 type;
};
template <>
struct pool_codes<true> {
    typedef u64 type;
};
// Keys and indices, as numbers.
typedef pool_codes<(sizeof(key_t) > 4 || sizeof(TUNE_OFFSET) > 4)>::type code_t;
enum : u64 { MOST_CODE = static_cast<code_t>(~0ull) };

// A key as the pool holds it.
typedef pool_codes<(sizeof(key_t) > 4)>::type held_t;
enum : u32 { SHORT = sizeof(key_t) <= 2, INDEX_BITS = 16 }; // of the index behind a short key
// Returns how many bits of the items' indices are left out there.
FUNCTION u32 bits_left_out(u64 items)
{
    const u32 bits = items ? bit_length(items - 1) : 0;
    return bits > INDEX_BITS ? bits - INDEX_BITS : 0;
}
FUNCTION held_t held_from(key_t key, u64 index, u32 left_out)
{
    if constexpr (!SHORT) return key;
    return static_cast<held_t>(key) << INDEX_BITS | static_cast<held_t>(index >> left_out);
}
FUNCTION key_t key_of(code_t held) { return static_cast<key_t>(SHORT ? held >> INDEX_BITS : held); }

enum : u32 {
    // Keys of a block; the host chooses likewise by the device's shared memory.
    SMALL = SIMT_SHARED_BYTES < TUNE_POOL_BYTES,
    KEYS_ALONE = POOL_KEYS,
    WITH_INDICES = SMALL                ? 3072
                   : sizeof(code_t) > 4 ? TUNE_SMALL_POOL
                                        : TUNE_POOL,
    MOST = POOL_MOST,   // most keys to select
    CROWD = TUNE_CROWD, // a range of no more is not cut any further
    LIST = MOST + CROWD,
    SHORT_LIST = 2048, // keys of a list that each block of a cluster puts in order
    TWO_TILES = 2 * TILE > MOST + MOST / 2 ? 2 * TILE : MOST + MOST / 2,
    POOL = !POOL_HAS_INDICES          ? KEYS_ALONE
           : TWO_TILES < WITH_INDICES ? TWO_TILES
                                      : WITH_INDICES,
    RANGE_BITS = !POOL_HAS_INDICES ? POOL_RANGE_BITS
                 : POOL < 2048     ? 7
                 : POOL < 4096     ? 8
                 : POOL < 8192     ? 9
                                   : 10,
    RANGES = 1 << RANGE_BITS // into which a span is cut
};

struct listed { // items, their places being those of their ranges
    code_t key[LIST], index[LIST];
    u32 range[LIST]; // its first place, and above 16 bits its items
};
static_assert(sizeof(listed) <= TUNE_LISTED_BYTES, "the descriptor has made room for a list");

struct span {
    code_t low, high; // both belong to it
};

struct ranged_keys {
    held_t key[POOL];
    u32 bins[RANGES];       // keys of this block by range
    u32 before[RANGES + 1]; // keys of all blocks in the ranges before
    u32 placed[RANGES]; // keys of a range that the blocks before have, and those put on the list
};

struct pool_shared {
    union {
        ranged_keys ranged;
        listed list; // at the end
    };
    span of_block[CLUSTER_BLOCKS], of_warp[SIMT_WARPS];
    u32 sum_of_warp[SIMT_WARPS];
    u32 range; // the range of the key that is looked for
};

// Keys of this block: `count` of them in shared memory.
struct pool_part {
    u32 count;
    u64 first;                // number of the first
    u32 stretch;              // of a sample: items of the input to each; otherwise 0
    const TUNE_OFFSET* index; // NULL: indices are consecutive, or those of a sample
    u32 left_out;             // see bits_left_out
    // Index of an item; that of a sample is anywhere in its stretch.
    FUNCTION_MEMBER code_t index_of(u32 j) const
    {
        if (index) return index[j];
        if (!stretch) return static_cast<code_t>(first + j);
        const u32 number = static_cast<u32>(first) + j;
        return number * stretch +
               static_cast<u32>(static_cast<u64>(number * 0x9e3779b1u) * stretch >> 32);
    }
};

// Returns the span of the indices of items whose key is `held` in the pool, of all indices.
FUNCTION span indices_behind(const pool_part& part, code_t held, span indices)
{
    if constexpr (!SHORT) return indices;
    const u64 bits = held & ((1u << INDEX_BITS) - 1u);
    const u64 last = ((bits + 1) << part.left_out) - 1;
    return span{static_cast<code_t>(bits << part.left_out),
                last < indices.high ? static_cast<code_t>(last) : indices.high};
}

// Returns the calling block's share of `count` items, which are some of `n`.
FUNCTION pool_part pool_share(u64 count, u64 n)
{
    const u32 items = static_cast<u32>(count);
    const u32 share = ceil_div(items, cluster_blocks());
    const u32 first = cluster_block() * share;
    const u32 left = first < items ? items - first : 0, mine = left < share ? left : share;
    return pool_part{mine < POOL ? mine : static_cast<u32>(POOL), first, 0, nullptr,
                     bits_left_out(n)};
}

FUNCTION span joined(span a, span b)
{
    return span{a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}
struct join_spans {
    FUNCTION_MEMBER span operator()(span a, span b) const { return joined(a, b); }
};

// Returns the span of the lanes' spans, to all lanes.
SLOW_FUNCTION span warp_span(span mine) { return warp_shuffle(warp_reduce(mine, join_spans()), 0); }

// Returns the span of all blocks' keys from those of each thread.
FUNCTION span pool_span(pool_shared& s, span mine)
{
    const span none{MOST_CODE, 0};
    mine = warp_span(mine);
    if (lane_id() == 0) s.of_warp[warp_id()] = mine;
    block_sync();
    cluster_ready();
    const u32 blocks = cluster_blocks();
    if (warp_id() == 0) {
        const span all = warp_span(lane_id() < SIMT_WARPS ? s.of_warp[lane_id()] : none);
        if (lane_id() < blocks) {
            cluster_store(&s.of_block[cluster_block()].low, lane_id(), all.low);
            cluster_store(&s.of_block[cluster_block()].high, lane_id(), all.high);
        }
    }
    cluster_sync();
    return blocks == 1 ? s.of_block[0]
                       : warp_span(lane_id() < blocks ? s.of_block[lane_id()] : none);
}

// Calls take(j, key) for the thread's keys, whose loads are under way together.
template <class Take>
FUNCTION void each_key(const pool_shared& s, u32 count, Take take)
{
    enum : u32 { AT_ONCE = 4 };
    NO_UNROLL
    for (u32 first = thread_id(); first < count; first += AT_ONCE * SIMT_THREADS) {
        held_t key[AT_ONCE];
        UNROLL
        for (u32 j = 0; j < AT_ONCE; j++)
            if (first + j * SIMT_THREADS < count) key[j] = s.ranged.key[first + j * SIMT_THREADS];
        UNROLL
        for (u32 j = 0; j < AT_ONCE; j++)
            if (first + j * SIMT_THREADS < count) take(first + j * SIMT_THREADS, key[j]);
    }
}

// A span cut into ranges, and where the key of a rank lies.
struct cutting {
    span over;
    u32 shift;    // a range's width, log2
    bool indices; // of the items whose key is `key`; otherwise keys
    code_t key;
    u32 range;       // that of the key that is looked for
    u32 below, here; // items in the ranges before it, and in it

    // Finds the range of the block's key number j.
    FUNCTION_MEMBER bool find(const pool_part& part, u32 j, held_t of, u32& range_of) const
    {
        code_t code = of;
        if (indices) {
            if (code != key) return false;
            code = part.index_of(j);
        }
        code = static_cast<code_t>(code - over.low); // large of what lies below
        range_of = static_cast<u32>(code >> shift);
        return code <= static_cast<code_t>(over.high - over.low);
    }
    FUNCTION_MEMBER code_t low() const
    {
        return static_cast<code_t>(over.low + (static_cast<code_t>(range) << shift));
    }
    FUNCTION_MEMBER span inside() const
    {
        const code_t width = static_cast<code_t>((1ull << shift) - 1);
        const code_t left = static_cast<code_t>(over.high - low());
        return span{low(), left < width ? over.high : static_cast<code_t>(low() + width)};
    }
};

FUNCTION u32 width_for(span over)
{
    const u32 bits = bit_length(static_cast<u64>(over.high - over.low));
    return bits > RANGE_BITS ? bits - RANGE_BITS : 0;
}

// Returns the sum of the values of all threads before the calling one.
FUNCTION u32 sum_before(pool_shared& s, u32 value)
{
    const u32 through = warp_scan(value, plus());
    if (lane_id() == SIMT_WARP - 1) s.sum_of_warp[warp_id()] = through;
    block_sync();
    const u32 warps = warp_scan(lane_id() < SIMT_WARPS ? s.sum_of_warp[lane_id()] : 0, plus());
    const u32 before = warp_shuffle(warps, warp_id() - 1);
    return through - value + (warp_id() ? before : 0);
}

// Gives each block of a cluster the sum of all blocks' counts of each range, and how many of them
// the blocks before it have. Each block does so for its share of the ranges, a thread for a range.
FUNCTION void share_counts(pool_shared& s)
{
    enum : u32 { AT_ONCE = 8 };
    const u32 blocks = cluster_blocks(), share = ceil_div(RANGES, blocks);
    const u32 begin = cluster_block() * share,
              end = begin + share < RANGES ? begin + share : RANGES;
    NO_UNROLL
    for (u32 range = begin + thread_id(); range < end; range += SIMT_THREADS) {
        u32 all = 0;
        NO_UNROLL
        for (u32 first = 0; first < blocks; first += AT_ONCE) {
            u32 count[AT_ONCE];
            UNROLL
            for (u32 j = 0; j < AT_ONCE; j++)
                if (first + j < blocks) count[j] = cluster_load(&s.ranged.bins[range], first + j);
            UNROLL
            for (u32 j = 0; j < AT_ONCE; j++) {
                if (first + j >= blocks) continue;
                cluster_store(&s.ranged.placed[range], first + j, all);
                all += count[j];
            }
        }
        NO_UNROLL
        for (u32 block = 0; block < blocks; block++)
            cluster_store(&s.ranged.before[range], block, all);
    }
}

// Counts the ranges of a span and finds that of the item of a rank.
FUNCTION cutting cut_span(pool_shared& s, const pool_part& part, span over, bool indices,
                          code_t key, u32 rank)
{
    enum { EACH = ceil_div(RANGES, SIMT_THREADS) };
    cutting r{over, width_for(over), indices, key, 0, 0, 0};
    NO_UNROLL
    for (u32 b = thread_id(); b < RANGES; b += SIMT_THREADS)
        s.ranged.bins[b] = s.ranged.placed[b] = 0;
    if (thread_id() == 0) s.range = RANGES - 1;
    block_sync();
    each_key(s, part.count, [&](u32 j, held_t of) {
        u32 range;
        if (r.find(part, j, of, range)) shared_add(&s.ranged.bins[range], 1u);
    });
    cluster_sync();
    const u32* counts = s.ranged.bins;
    if (cluster_blocks() > 1) {
        share_counts(s);
        cluster_sync();
        counts = s.ranged.before;
    }
    u32 mine = 0;
    const u32 first = thread_id() * EACH;
    NO_UNROLL
    for (u32 b = first; b < first + EACH && b < RANGES; b++) mine += counts[b];
    u32 before = sum_before(s, mine);
    NO_UNROLL
    for (u32 b = first; b < first + EACH && b < RANGES; b++) {
        const u32 count = counts[b];
        s.ranged.before[b] = before;
        if (before <= rank && rank < before + count) s.range = b;
        before += count;
        if (b + 1 == RANGES) s.ranged.before[RANGES] = before;
    }
    block_sync();
    r.range = s.range;
    r.below = s.ranged.before[r.range];
    r.here = s.ranged.before[r.range + 1] - r.below;
    return r;
}

// Puts the items of the ranges below `end` on the list, from place `from` on.
FUNCTION void list_items(pool_shared& s, const pool_part& part, const cutting& r, u32 end, u32 from,
                         listed* list)
{
    NO_UNROLL
    for (u32 j = thread_id(); j < part.count; j += SIMT_THREADS) {
        u32 range;
        if (!r.find(part, j, s.ranged.key[j], range) || range >= end) continue;
        const u32 first = from + s.ranged.before[range],
                  items = s.ranged.before[range + 1] - s.ranged.before[range];
        const u32 place = first + shared_add(&s.ranged.placed[range], 1u);
        if (place >= LIST) continue; // the input is being changed
        store_relaxed(&list->key[place], static_cast<code_t>(s.ranged.key[j]));
        store_relaxed(&list->index[place], part.index_of(j));
        store_relaxed(&list->range[place], first | items << 16);
    }
}

// Fills the block's part by load(j), an encoded key, and returns the span of the thread's keys. The
// first that a kernel calls which runs in clusters; pool_span comes next.
template <class Load>
FUNCTION span fill_pool(pool_shared& s, const pool_part& part, Load load)
{
    enum : u32 { AT_ONCE = 4 };
    if (cluster_blocks() > 1) cluster_begin();
    span mine{MOST_CODE, 0};
    NO_UNROLL
    for (u32 first = thread_id(); first < part.count; first += AT_ONCE * SIMT_THREADS) {
        key_t key[AT_ONCE];
        UNROLL
        for (u32 j = 0; j < AT_ONCE; j++)
            if (first + j * SIMT_THREADS < part.count) key[j] = load(first + j * SIMT_THREADS);
        UNROLL
        for (u32 j = 0; j < AT_ONCE; j++) {
            const u32 at = first + j * SIMT_THREADS;
            if (at >= part.count) continue;
            const held_t held = held_from(key[j], SHORT ? part.index_of(at) : 0, part.left_out);
            s.ranged.key[at] = held;
            mine = joined(mine, span{held, held});
        }
    }
    return mine;
}

struct pool_place {
    code_t key, index;
};

// Returns the place of the rank-th item of the pool, counted from 0, or of one a little behind it.
// `indices` is the span of the indices.
FUNCTION pool_place place_in_pool(pool_shared& s, const pool_part& part, span mine, span indices,
                                  u32 rank)
{
    span over = pool_span(s, mine);
    bool by_index = false;
    code_t key = 0;
    u32 below = 0;
    NO_UNROLL
    for (;;) {
        const cutting r = cut_span(s, part, over, by_index, key, rank - below);
        const bool done = r.here <= 1 + rank / 4;
        over = r.inside();
        if (by_index && (done || r.shift == 0)) return pool_place{key_of(key), over.high};
        if (done)
            return pool_place{key_of(over.high), indices_behind(part, over.high, indices).high};
        below += r.below;
        if (!by_index && r.shift == 0) {
            by_index = true;
            key = over.low;
            over = indices_behind(part, key, indices);
        }
        cluster_sync();
    }
}

// Returns how many items of [begin, end) of a list, which are in order, come before one.
FUNCTION u32 items_before(const listed& list, u32 begin, u32 end,
                          const keyed_item<code_t, code_t>& item)
{
    u32 low = begin;
    NO_UNROLL
    while (low < end) {
        const u32 middle = (low + end) / 2;
        if (goes_first({list.key[middle], list.index[middle]}, item))
            low = middle + 1;
        else
            end = middle;
    }
    return low - begin;
}

// Orders neighbours on the list, and copies it to shared memory. The blocks of a cluster share out
// a long list; a short one is in order sooner if each of them does all of it.
FUNCTION void order_neighbours(listed& to, listed* list, u32 count)
{
    const bool share = MOST > SHORT_LIST && cluster_blocks() > 1;
    const u32 first = share ? cluster_block() * SIMT_THREADS : 0;
    const u32 step = (share ? cluster_blocks() : 1) * SIMT_THREADS;
    NO_UNROLL
    for (u32 i = first + thread_id(); i - lane_id() < count; i += step) {
        keyed_item<code_t, code_t> item[1] = {
            {static_cast<code_t>(MOST_CODE), static_cast<code_t>(MOST_CODE)}};
        if (i < count) item[0] = {load_relaxed(&list->key[i]), load_relaxed(&list->index[i])};
        warp_order(item);
        if (i >= count) continue;
        if (share) {
            store_relaxed(&list->key[i], item[0].key);
            store_relaxed(&list->index[i], item[0].index);
        } else {
            to.key[i] = item[0].key;
            to.index[i] = item[0].index;
        }
    }
    if (share) cluster_sync();
    NO_UNROLL
    for (u32 i = thread_id(); i < count; i += SIMT_THREADS) {
        to.range[i] = load_relaxed(&list->range[i]);
        if (!share) continue;
        to.key[i] = load_relaxed(&list->key[i]);
        to.index[i] = load_relaxed(&list->index[i]);
    }
}

// Writes the first k of a list of `count` items by put(rank, key, index).
template <class Put>
FUNCTION void put_listed(const listed& list, u32 count, u32 k, Put put)
{
    NO_UNROLL
    for (u32 i = (warp_id() * cluster_blocks() + cluster_block()) * SIMT_WARP + lane_id();
         i < count; i += cluster_blocks() * SIMT_THREADS) {
        const keyed_item<code_t, code_t> item{list.key[i], list.index[i]};
        const u32 first = list.range[i] & 0xffffu, begin = i - lane_id();
        u32 end = first + (list.range[i] >> 16);
        if (end > count) end = count; // the input is being changed
        u32 rank = first > begin ? i : first + lane_id();
        NO_UNROLL
        for (u32 from = first - first % SIMT_WARP; from < end; from += SIMT_WARP)
            if (from != begin)
                rank += items_before(list, from > first ? from : first,
                                     from + SIMT_WARP < end ? from + SIMT_WARP : end, item);
        if (rank < k) put(rank, key_of(item.key), item.index);
    }
}

// Lists the lowest k items of the pool, those of equal keys by their indices, and a few more;
// writes each of the k by put(rank, key, index). `indices` is the span of the indices.
template <class Put>
FUNCTION void select_from_pool(pool_shared& s, const pool_part& part, span mine, span indices,
                               u32 k, listed* list, Put put)
{
    span over = pool_span(s, mine);
    bool by_index = false;
    code_t key = 0;
    u32 below = 0;
    NO_UNROLL
    for (bool done = false; !done;) {
        const cutting r = cut_span(s, part, over, by_index, key, k - 1 - below);
        done = r.here <= CROWD || (by_index && r.shift == 0);
        list_items(s, part, r, r.range + done, below, list);
        below += r.below + (done ? r.here : 0);
        over = r.inside();
        if (!done && r.shift == 0) {
            by_index = true;
            key = r.low();
            over = indices_behind(part, key, indices);
        }
        cluster_sync();
    }
    const u32 count = below < LIST ? below : static_cast<u32>(LIST);
    order_neighbours(s.list, list, count);
    block_sync();
    put_listed(s.list, count, k, put);
}
