// Top-k of every segment of an array: the k smallest or largest keys of each, in order, with their
// indices.
//
// A block keeps a pool of items in its shared memory (topk_pool.h). It reads the segment in tiles,
// once, and adds the items to the pool. When there is no room for another tile, it finds an item
// such that k items or a few more come up to it, drops the others, and from then on adds no item
// behind it. In the end it selects the k items from the pool, in order.
//
// Very short segments are left to a warp each, which counts for every key those before it. A block
// takes a group of them at once. Where there are fewer segments than blocks fit the device,
// segments are cut into parts, and a second launch selects from the k items of each part.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 2:16:2
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:64
// %RANGE% TUNE_MIN_BLOCKS mb 1:4:1
//
// ipt   items of a tile a thread
// mb    least blocks a multiprocessor, which limits the registers a thread
//
// Traffic: every item is read once, k keys and indices a segment are written.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#define TUNE_ORDER 0
#define IN_A_CLUSTER 0
#define POOL_HAS_INDICES 1
#include "segment_topk.h"
#include "topk_pool.h"

enum : u32 { FEW = TUNE_FEW }; // most items of a segment that a warp takes
static_assert(ITEMS <= 32, "a bit for each item of a thread");

struct segmented_topk_shared {
    union {
        pool_shared pool;
        key_t few[SIMT_WARPS][FEW];
    };
    offset_t index[POOL];
    u32 held;        // items in the pool
    pool_place last; // of the items to add
};

// Index of what is no item.
FUNCTION constexpr offset_t no_index() { return static_cast<offset_t>(~0ull); }

struct item_t {
    key_t key; // encoded
    offset_t index;
};

FUNCTION bool is_up_to(const item_t& item, pool_place last)
{
    return item.key < last.key || (item.key == last.key && item.index <= last.index);
}

// ---- the pool -----------------------------------------------------------------------------------
FUNCTION pool_part held_items(const segmented_topk_shared& s) { return {s.held, 0, 0, s.index}; }

// Returns the span of the thread's keys.
FUNCTION span my_span(const segmented_topk_shared& s, u32 held)
{
    span mine{MOST_CODE, 0};
    NO_UNROLL
    for (u32 j = thread_id(); j < held; j += SIMT_THREADS)
        mine = joined(mine, span{s.pool.key[j], s.pool.key[j]});
    return mine;
}

// Adds the lanes' items to the pool, `hits` having a bit for each of a lane's. Called by all lanes
// of a warp.
template <int N>
FUNCTION void add_to_pool(segmented_topk_shared& s, const item_t (&item)[N], u32 hits)
{
    const u32 count = count_set(hits), through = warp_scan(count, plus());
    const u32 all = warp_shuffle(through, SIMT_WARP - 1);
    if (!all) return;
    u32 place = 0;
    if (lane_id() == 0) place = shared_add(&s.held, all);
    place = warp_shuffle(place, 0) + through - count;
    UNROLL
    for (int j = 0; j < N; j++) {
        if (!(hits >> j & 1u)) continue;
        s.pool.key[place] = item[j].key;
        s.index[place] = item[j].index;
        place++;
    }
}

// Drops the items behind the k-th, but for a few. Called by all threads, between barriers.
FUNCTION void drop_items(segmented_topk_shared& s, u64 length, u32 k)
{
    const pool_part part = held_items(s);
    const span indices{0, static_cast<code_t>(length - 1)};
    const pool_place last = place_in_pool(s.pool, part, my_span(s, part.count), indices, k - 1);
    if (thread_id() == 0) {
        s.last = last;
        s.held = 0;
    }
    // An item moves to no place that has not been read.
    NO_UNROLL
    for (u32 first = 0; first < part.count; first += SIMT_THREADS) {
        const u32 j = first + thread_id();
        item_t item[1] = {{0, 0}};
        if (j < part.count) item[0] = item_t{s.pool.key[j], s.index[j]};
        block_sync();
        add_to_pool(s, item, j < part.count && is_up_to(item[0], last));
    }
    block_sync();
}

// Adds those of `count` items to the pool that may be among the k. load(j, item) gives an item, or
// returns false if there is none.
template <class Load>
FUNCTION void fill_pool_with(segmented_topk_shared& s, u64 length, u64 count, u32 k, Load load)
{
    const u32 room = POOL - (k + k / 4 + 1); // see place_in_pool
    const u32 step = room < TILE ? room : static_cast<u32>(TILE);
    if (thread_id() == 0) {
        s.held = 0;
        s.last = pool_place{static_cast<code_t>(MOST_CODE), static_cast<code_t>(MOST_CODE)};
    }
    NO_UNROLL
    for (u64 first = 0; first < count; first += step) {
        item_t item[ITEMS];
        u32 hits = 0;
        UNROLL
        for (int j = 0; j < ITEMS; j++) {
            const u32 at = static_cast<u32>(j) * SIMT_THREADS + thread_id();
            if (at < step && first + at < count && load(first + at, item[j])) hits |= 1u << j;
        }
        block_sync(); // all have added their items of the tile before
        const bool full = s.held + step > POOL;
        block_sync();
        if (full) drop_items(s, length, k);
        const pool_place last = s.last;
        UNROLL
        for (int j = 0; j < ITEMS; j++)
            if ((hits >> j & 1u) && !is_up_to(item[j], last)) hits &= ~(1u << j);
        add_to_pool(s, item, hits);
    }
    block_sync();
}

// Selects from the pool: put(rank, key, index) for each item, put_none(rank) for each place behind
// the last.
template <class Put, class PutNone>
FUNCTION void select_held(const segmented_topk_args& a, segmented_topk_shared& s, u64 length,
                          Put put, PutNone put_none)
{
    const pool_part part = held_items(s);
    const u32 k = static_cast<u32>(a.k), found = part.count < k ? part.count : k;
    listed* const list = reinterpret_cast<listed*>(a.list) + block_id();
    if (found > 0)
        select_from_pool(s.pool, part, my_span(s, part.count),
                         span{0, static_cast<code_t>(length - 1)}, found, list, put);
    for (u32 rank = found + thread_id(); rank < k; rank += SIMT_THREADS) put_none(rank);
    block_sync(); // before the pool's memory is used again
}

// ---- segments -----------------------------------------------------------------------------------
// Selects from a segment, or a part of one.
FUNCTION void select_part(const segmented_topk_args& a, segmented_topk_shared& s, u64 unit)
{
    const u64 segment = unit / a.parts;
    const stretch mine = part_of_segment(a, segment, unit % a.parts);
    const auto in = input_from(a.in, mine.begin);
    fill_pool_with(s, mine.at + mine.count, mine.count, static_cast<u32>(a.k),
                   [&](u64 j, item_t& item) {
                       item.key = encode(key_item(in, j));
                       item.index = static_cast<offset_t>(mine.at + j);
                       return true;
                   });
    select_held(
        a, s, mine.at + mine.count,
        [&](u32 rank, key_t key, u64 index) {
            if (a.parts == 1) {
                put_result(a, segment, rank, key, index);
            } else {
                a.part_keys[unit * a.k + rank] = key;
                a.part_indices[unit * a.k + rank] = static_cast<offset_t>(index);
            }
        },
        [&](u32 rank) {
            if (a.parts == 1)
                put_nothing(a, segment, rank);
            else
                a.part_indices[unit * a.k + rank] = no_index();
        });
}

// Selects from a segment of up to FEW items. Called by all lanes of a warp.
FUNCTION void select_few(const segmented_topk_args& a, key_t (&key)[FEW], u64 segment)
{
    enum : u32 { EACH = FEW / SIMT_WARP };
    const stretch mine = part_of_segment(a, segment, 0);
    const u32 count = static_cast<u32>(mine.count);
    const auto in = input_from(a.in, mine.begin);
    NO_UNROLL
    for (u32 j = lane_id(); j < count; j += SIMT_WARP)
        key[j] = encode(key_item(in, static_cast<u64>(j)));
    warp_sync(FULL_WARP);
    key_t own[EACH];
    u32 rank[EACH];
    UNROLL
    for (u32 i = 0; i < EACH; i++) {
        own[i] = key[i * SIMT_WARP + lane_id()];
        rank[i] = 0;
    }
    NO_UNROLL
    for (u32 j = 0; j < count; j++) {
        const key_t other = key[j];
        UNROLL
        for (u32 i = 0; i < EACH; i++)
            rank[i] += other < own[i] || (other == own[i] && j < i * SIMT_WARP + lane_id());
    }
    UNROLL
    for (u32 i = 0; i < EACH; i++) {
        const u32 at = i * SIMT_WARP + lane_id();
        if (at < count && rank[i] < a.k) put_result(a, segment, rank[i], own[i], at);
    }
    for (u64 rank = count + lane_id(); rank < a.k; rank += SIMT_WARP) put_nothing(a, segment, rank);
    warp_sync(FULL_WARP);
}

KERNEL(segmented_topk_parts, segmented_topk_args, segmented_topk_shared)
{
    const u64 units = a.set.count * a.parts;
    NO_UNROLL
    for (u64 first = block_id() * a.group; first < units; first += block_count() * a.group) {
        const u64 end = smaller(first + a.group, units);
        const bool in_warps = a.group > 1; // then segments have one part
        NO_UNROLL
        for (u64 unit = first + warp_id(); in_warps && unit < end; unit += SIMT_WARPS)
            if (part_of_segment(a, unit, 0).count <= FEW) select_few(a, s.few[warp_id()], unit);
        block_sync();
        NO_UNROLL
        for (u64 unit = first; unit < end; unit++)
            if (!in_warps || part_of_segment(a, unit, 0).count > FEW) select_part(a, s, unit);
    }
}

// Selects from the items of each segment's parts.
KERNEL(segmented_topk_join, segmented_topk_args, segmented_topk_shared)
{
    const u64 each = a.parts * a.k;
    NO_UNROLL
    for (u64 segment = block_id(); segment < a.set.count; segment += block_count()) {
        const stretch last = part_of_segment(a, segment, a.parts - 1);
        const key_t* const keys = a.part_keys + segment * each;
        const offset_t* const indices = a.part_indices + segment * each;
        fill_pool_with(s, last.at + last.count, each, static_cast<u32>(a.k),
                       [&](u64 j, item_t& item) {
                           item = item_t{keys[j], indices[j]};
                           return item.index != no_index();
                       });
        select_held(
            a, s, last.at + last.count,
            [&](u32 rank, key_t key, u64 index) { put_result(a, segment, rank, key, index); },
            [&](u32 rank) { put_nothing(a, segment, rank); });
    }
}
