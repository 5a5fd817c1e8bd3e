// Top-k of every segment of an array: the k smallest or largest keys of each, in order or in none,
// with their indices.
//
// A block selects the k items from a pool in its shared memory (topk_pool.h), which a segment's
// items fit. Of a longer segment it reads tiles, once, and adds the items to the pool. When there
// is no room for another tile, it finds an item such that k items or a few more come up to it,
// drops the others, and from then on adds no item behind it.
//
// Where segments are short, each is left to a warp (topk_few.h, topk_row.h), and blocks take only
// those that are longer. Where there are few of them, each is a block's (topk_runs.h up to 128
// items, topk_row.h, and topk_bits.h in no order). Few rows that are longer are each a cluster's,
// of up to sixteen blocks that have all shared memory of a multiprocessor each, which the row fits.
// Where there are fewer segments than blocks fit the device, others are cut into parts, and a
// second launch selects from the k items of each part.
//
// Where the result may stand in any order, only the items of the k-th key's range are put in order
// (topk_few.h, topk_row.h). Results from pools are in order all the same: a cluster's would not be
// found sooner, and a pool of tiles is filled in an order that differs from call to call. So are
// those of up to two items a lane, which are in registers.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 2:16:2
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:64
// %RANGE% TUNE_MIN_BLOCKS mb 1:8:1
//
// ipt   items of a tile a thread; two tiles fit the pool
// mb    least blocks a multiprocessor, which limits the registers a thread
//
// Traffic: every item is read once, k keys and indices a segment are written.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#define TUNE_ORDER 0
#define IN_A_CLUSTER (TUNE_CLUSTERED && SIMT_SHARED_BYTES >= TUNE_POOL_BYTES)
#include "cluster.h"
#define POOL_HAS_INDICES !CLUSTERS
// The host counts likewise (least_blocks).
#define POOL_KEYS ((SIMT_SHARED_BYTES - TUNE_BYTES_BESIDE) / sizeof(held_t))
#define POOL_RANGE_BITS (sizeof(held_t) > 4 ? 10 : 11)
#include "segment_topk.h"
#include "topk_bits.h"
#include "topk_few.h"
#include "topk_pool.h"
#include "topk_row.h"
#include "topk_runs.h"

enum : u32 {
    FEW = TUNE_FEW, // items of a segment that a warp takes in registers
    WARP_ROW = TUNE_ROW > TUNE_WARP_ROW ? TUNE_FEW : TUNE_ROW, // those that it takes at all
    HAS_WARP_ROWS = WARP_ROW > FEW,
    // Those of a row that a block takes, for which the device may have too little memory.
    ROW = TUNE_ROW > 4096 && sizeof(key_t) > 4 && SMALL ? 4096u : static_cast<u32>(TUNE_ROW),
    HAS_ROWS = ROW > FEW,
    HAS_LONGER_ROWS = !TUNE_EQUAL_SIZE || ROW < TUNE_ROW,
    // Rows of up to 128 items are merged from sorted runs. Of longer ones a block halves the range
    // of the keys, if their order is free and a thread has two of them at most.
    HAS_ROWS_IN_RUNS = ROW <= 4 * SIMT_WARP,
    HAS_ROWS_BY_BITS = TUNE_UNORDERED && ROW <= 1024 && ROW <= 2 * SIMT_THREADS,
    // A kernel that no call launches is compiled empty.
    HAS_ROWS_ALONE = HAS_ROWS && !HAS_WARP_ROWS,
    HAS_PARTS = !HAS_ROWS,
    // Segments of one size are all for a warp.
    HAS_NO_LONGER = HAS_WARP_ROWS && TUNE_EQUAL_SIZE
};
static_assert(ITEMS <= 32, "a bit for each item of a thread");

// Items of a pool that has their indices as well: beside it, or in a cluster's block behind the
// items in it.
enum : u32 {
    LEAST_OF_POOL = CLUSTERS ? POOL / (1 + ceil_div(sizeof(offset_t), sizeof(held_t))) : POOL,
    INDEXED = LEAST_OF_POOL < TUNE_POOL ? LEAST_OF_POOL : TUNE_POOL
};

struct block_shared {
    pool_shared pool;
    offset_t beside[CLUSTERS ? 1 : INDEXED];
    FUNCTION_MEMBER offset_t* index()
    {
        if constexpr (CLUSTERS) return reinterpret_cast<offset_t*>(pool.ranged.key + INDEXED);
        return beside;
    }
};

struct warps_shared {
    few_item few[SIMT_WARPS][SIMT_WARP];
    row_shared<WARP_ROW, warp_team> row[HAS_WARP_ROWS ? SIMT_WARPS : 1];
};

struct segmented_topk_shared {
    union {
        warps_shared warps; // before there is a pool
        block_shared block;
    };
    u32 held;        // items in the pool
    pool_place last; // of the items to add
    u32 longer;      // not 0: a segment is left to the block
};

// Index of what is no item.
FUNCTION constexpr offset_t no_index() { return static_cast<offset_t>(~0ull); }

FUNCTION bool is_up_to(key_t key, offset_t index, pool_place last)
{
    return index != no_index() && (key < last.key || (key == last.key && index <= last.index));
}

// ---- the pool -----------------------------------------------------------------------------------
FUNCTION pool_part held_items(segmented_topk_shared& s, u64 length)
{
    return {s.held, 0, 0, s.block.index(), bits_left_out(length)};
}

FUNCTION pool_place no_last()
{
    return pool_place{static_cast<code_t>(MOST_CODE), static_cast<code_t>(MOST_CODE)};
}

// Returns the span of the thread's keys.
FUNCTION span my_span(const segmented_topk_shared& s, u32 held)
{
    span mine{MOST_CODE, 0};
    each_key(s.block.pool, held, [&](u32, held_t key) { mine = joined(mine, span{key, key}); });
    return mine;
}

// Adds the lanes' items to the pool, `hits` having a bit for each of a lane's: by add(place, j) to
// a place. Called by all lanes of a warp.
template <class Add>
FUNCTION void add_to_pool(segmented_topk_shared& s, u32 hits, Add add)
{
    if (!warp_ballot(FULL_WARP, hits != 0)) return;
    const u32 count = count_set(hits), through = warp_scan(count, plus());
    u32 place = 0;
    if (lane_id() == SIMT_WARP - 1) place = shared_add(&s.held, through);
    place = warp_shuffle(place, SIMT_WARP - 1) + through - count;
    UNROLL
    for (u32 j = 0; j < ITEMS; j++)
        if (hits >> j & 1u) add(place++, j);
}

// Drops the items behind the k-th, but for a few. Called by all threads, between barriers. It is
// not inlined, which leaves registers for the keys of two tiles.
SLOW_FUNCTION void drop_items(segmented_topk_shared& s, u64 length, u32 k)
{
    const pool_part part = held_items(s, length);
    const span indices{0, static_cast<code_t>(length - 1)};
    const pool_place last =
        place_in_pool(s.block.pool, part, my_span(s, part.count), indices, k - 1);
    if (thread_id() == 0) {
        s.last = last;
        s.held = 0;
    }
    // An item moves to no place that has not been read.
    NO_UNROLL
    for (u32 first = thread_id(); first - thread_id() < part.count; first += TILE) {
        held_t key[ITEMS];
        offset_t index[ITEMS];
        u32 hits = 0;
        UNROLL
        for (u32 j = 0; j < ITEMS; j++) {
            if (first + j * SIMT_THREADS >= part.count) continue;
            key[j] = s.block.pool.ranged.key[first + j * SIMT_THREADS];
            index[j] = s.block.index()[first + j * SIMT_THREADS];
            if (is_up_to(key_of(key[j]), index[j], last)) hits |= 1u << j;
        }
        block_sync();
        add_to_pool(s, hits, [&](u32 place, u32 j) {
            s.block.pool.ranged.key[place] = key[j];
            s.block.index()[place] = index[j];
        });
    }
    block_sync();
}

// Adds those of `count` items to the pool that may be among the k, none of which lies behind
// `last_of_all`. load(j) is a key, encoded if ENCODED, and index_of(j) its index in the segment, of
// `length` items; one of no item is no_index(). The keys of the next tile are loaded ahead.
template <bool ENCODED, class Load, class IndexOf>
FUNCTION void fill_pool_with(segmented_topk_shared& s, u64 length, u64 count, u32 k,
                             pool_place last_of_all, Load load, IndexOf index_of)
{
    const u32 room = INDEXED - (k + k / 4 + 1); // see place_in_pool
    const u32 step = room < TILE ? room : static_cast<u32>(TILE), left_out = bits_left_out(length);
    key_t next[ITEMS];
    const auto load_tile = [&](u64 first) {
        const u32 items = first < count ? static_cast<u32>(smaller(step, count - first)) : 0;
        UNROLL
        for (u32 j = 0; j < ITEMS; j++)
            if (j * SIMT_THREADS + thread_id() < items)
                next[j] = load(first + j * SIMT_THREADS + thread_id());
        return items;
    };
    if (thread_id() == 0) {
        s.held = 0;
        s.last = last_of_all;
    }
    u32 items = load_tile(0);
    NO_UNROLL
    for (u64 first = 0; first < count; first += step) {
        key_t key[ITEMS];
        UNROLL
        for (u32 j = 0; j < ITEMS; j++) key[j] = ENCODED ? next[j] : encode(next[j]);
        const u32 here = items;
        items = load_tile(first + step);
        block_sync(); // all have added their items of the tile before
        const bool full = s.held + step > INDEXED;
        block_sync();
        if (full) drop_items(s, length, k);
        const pool_place last = s.last;
        u32 hits = 0;
        UNROLL
        for (u32 j = 0; j < ITEMS; j++)
            if (j * SIMT_THREADS + thread_id() < here && key[j] <= last.key) hits |= 1u << j;
        const auto index_at = [&](u32 j) {
            return index_of(first + j * SIMT_THREADS + thread_id());
        };
        UNROLL
        for (u32 j = 0; j < ITEMS; j++)
            if ((hits >> j & 1u) && !is_up_to(key[j], index_at(j), last)) hits &= ~(1u << j);
        add_to_pool(s, hits, [&](u32 place, u32 j) {
            const offset_t index = index_at(j);
            s.block.pool.ranged.key[place] = held_from(key[j], index, left_out);
            s.block.index()[place] = index;
        });
    }
    block_sync();
}

// Selects from the pool: put(rank, key, index) for each item, put_none(rank) for each place behind
// the last. `mine` is the span of the thread's keys.
template <class Put, class PutNone>
FUNCTION void select_held(const segmented_topk_args& a, segmented_topk_shared& s,
                          const pool_part& part, span mine, u64 length, Put put, PutNone put_none)
{
    const u32 k = static_cast<u32>(a.k), found = part.count < k ? part.count : k;
    listed* const list = reinterpret_cast<listed*>(a.list) + block_id();
    if (found > 0)
        select_from_pool(s.block.pool, part, mine, span{0, static_cast<code_t>(length - 1)}, found,
                         list, put);
    for (u32 rank = found + thread_id(); rank < k; rank += SIMT_THREADS) put_none(rank);
    block_sync(); // before the pool's memory is used again
}

// ---- segments -----------------------------------------------------------------------------------
// Selects from a segment that is no row, or a part of one.
FUNCTION void select_part(const segmented_topk_args& a, segmented_topk_shared& s, u64 unit)
{
    const bool whole = a.parts == 1;
    const u64 segment = whole ? unit : unit / a.parts;
    const stretch mine = part_of_segment(a, segment, whole ? 0 : unit % a.parts);
    const auto in = input_from(a.in, mine.begin);
    const u64 length = mine.at + mine.count;
    pool_part part{static_cast<u32>(mine.count), mine.at, 0, nullptr, bits_left_out(length)};
    span keys;
    if (mine.count <= POOL) {
        keys = fill_pool(s.block.pool, part,
                         [&](u32 j) { return encode(key_item(in, static_cast<u64>(j))); });
    } else {
        fill_pool_with<false>(
            s, length, mine.count, static_cast<u32>(a.k), no_last(),
            [&](u64 j) { return key_item(in, j); },
            [&](u64 j) { return static_cast<offset_t>(mine.at + j); });
        part = held_items(s, length);
        keys = my_span(s, part.count);
    }
    select_held(
        a, s, part, keys, length,
        [&](u32 rank, key_t key, u64 index) {
            if (whole) {
                put_result(a, segment, rank, key, index);
            } else {
                a.part_keys[unit * a.k + rank] = key;
                a.part_indices[unit * a.k + rank] = static_cast<offset_t>(index);
            }
        },
        [&](u32 rank) {
            if (whole)
                put_nothing(a, segment, rank);
            else
                a.part_indices[unit * a.k + rank] = no_index();
        });
}

// Selects from a segment if it is short; returns false if it is left to the block. Called by all
// lanes of a warp.
FUNCTION bool select_by_warp(const segmented_topk_args& a, segmented_topk_shared& s, u64 segment)
{
    const stretch mine = part_of_segment(a, segment, 0);
    if (mine.count > WARP_ROW) return false;
    const u32 items = static_cast<u32>(mine.count);
    few_item(&few)[SIMT_WARP] = s.warps.few[warp_id()];
    bool done = false;
    if (items <= SIMT_WARP)
        done = select_few<1>(a, few, segment, mine.begin, items);
    else if (items <= FEW)
        done = select_few<2>(a, few, segment, mine.begin, items);
    if constexpr (HAS_WARP_ROWS) {
        if (items > FEW && items <= 4 * SIMT_WARP)
            done = select_few<4>(a, few, segment, mine.begin, items);
        else if (items > 4 * SIMT_WARP && items <= 8 * SIMT_WARP)
            done = select_few<8>(a, few, segment, mine.begin, items);
        if (!done) {
            select_row(warp_team(), a, s.warps.row[warp_id()], segment, mine.begin, items);
            return true;
        }
    }
    for (u32 rank = items + lane_id(); rank < a.k; rank += SIMT_WARP) put_nothing(a, segment, rank);
    return true;
}

KERNEL(segmented_topk_parts, segmented_topk_args, segmented_topk_shared)
{
    if constexpr (HAS_ROWS_ALONE) return;
    const u64 units = a.set.count * a.parts;
    const bool by_warps = a.group > 1; // then segments have one part
    if (by_warps) {
        if (thread_id() == 0) s.longer = 0;
        block_sync();
        bool all = true;
        NO_UNROLL
        for (u64 unit = block_id() * a.group + warp_id(); unit < units;
             unit += block_count() * a.group)
            all = select_by_warp(a, s, unit) && all;
        if (lane_id() == 0 && !all) shared_or(&s.longer, 1u);
        block_sync();
    }
    if constexpr (HAS_NO_LONGER) return;
    const u64 left = by_warps && !s.longer ? 0 : units;
    NO_UNROLL
    for (u64 first = block_id() * a.group; first < left; first += block_count() * a.group) {
        const u64 end = smaller(first + a.group, units);
        NO_UNROLL
        for (u64 unit = first; unit < end; unit++)
            if (!by_warps || part_of_segment(a, unit, 0).count > WARP_ROW) select_part(a, s, unit);
    }
}

// ---- rows ---------------------------------------------------------------------------------------
typedef chosen<HAS_ROWS_BY_BITS, bits_shared<ROW>, row_shared<ROW, block_team>>::type counted_row;
typedef chosen<HAS_ROWS_IN_RUNS, runs_shared<ROW>, counted_row>::type row_of_block;

// A small struct lets more blocks reside on a multiprocessor.
struct rows_shared {
    union {
        row_of_block row;
        chosen<HAS_LONGER_ROWS, segmented_topk_shared, no_shared>::type longer;
    };
};

// Select from a row, each with its storage. Called by all threads of a block. They are templates,
// so that only the one that is called is compiled.
template <u32 ITEMS>
FUNCTION void select_by_block(const segmented_topk_args& a, runs_shared<ITEMS>& s, u64 segment,
                              const stretch& row)
{
    select_by_runs(a, s, segment, row.begin, static_cast<u32>(row.count));
}
template <u32 ITEMS>
FUNCTION void select_by_block(const segmented_topk_args& a, bits_shared<ITEMS>& s, u64 segment,
                              const stretch& row)
{
    select_by_bits(a, s, segment, row.begin, static_cast<u32>(row.count));
}
template <u32 ITEMS>
FUNCTION void select_by_block(const segmented_topk_args& a, row_shared<ITEMS, block_team>& s,
                              u64 segment, const stretch& row)
{
    select_row(block_team{s.team}, a, s, segment, row.begin, static_cast<u32>(row.count));
}

// Selects from a segment that is no row. It is not inlined, so that rows have short code.
SLOW_FUNCTION void select_longer(const segmented_topk_args& a, segmented_topk_shared& s,
                                 u64 segment)
{
    select_part(a, s, segment);
}
FUNCTION void select_longer(const segmented_topk_args&, no_shared&, u64) {}

// Selects from each segment by a block.
KERNEL(segmented_topk_rows, segmented_topk_args, rows_shared)
{
    if constexpr (!HAS_ROWS) return;
    NO_UNROLL
    for (u64 segment = block_id(); segment < a.set.count; segment += block_count()) {
        const stretch mine = whole_segment(a, segment);
        if (HAS_LONGER_ROWS && mine.count > ROW)
            select_longer(a, s.longer, segment);
        else
            select_by_block(a, s.row, segment, mine);
    }
}

// ---- clusters -----------------------------------------------------------------------------------
// Selects from each segment, which are of one size, by a cluster.
KERNEL(segmented_topk_clusters, segmented_topk_args, pool_shared)
{
    if constexpr (!CLUSTERS) return;
    const u64 segment = block_id() / cluster_blocks();
    const stretch whole = whole_segment(a, segment);
    const auto in = input_from(a.in, whole.begin);
    const pool_part part = pool_share(whole.count, whole.count);
    const span mine =
        fill_pool(s, part, [&](u32 j) { return encode(key_item(in, part.first + j)); });
    select_from_pool(s, part, mine, span{0, static_cast<code_t>(whole.count - 1)},
                     static_cast<u32>(a.k), reinterpret_cast<listed*>(a.list) + segment,
                     [&](u32 rank, key_t key, u64 index) {
                         if (index < whole.count) put_result(a, segment, rank, key, index);
                     });
}

// ---- parts --------------------------------------------------------------------------------------
struct later_place {
    FUNCTION_MEMBER pool_place operator()(pool_place a, pool_place b) const
    {
        return a.key < b.key || (a.key == b.key && a.index < b.index) ? b : a;
    }
};

// Returns an item that k items or more of the parts come up to, to lane 0: the last of those that
// are each part's share of the k. Called by all lanes of a warp.
FUNCTION pool_place last_of_shares(const key_t* keys, const offset_t* indices, u64 parts, u64 k)
{
    const u64 share = ceil_div(k, parts);
    pool_place last{0, 0};
    NO_UNROLL
    for (u64 p = lane_id(); p < parts; p += SIMT_WARP) {
        const u64 at = p * k + share - 1;
        const bool none = indices[at] == no_index();
        last = later_place()(last, none ? no_last() : pool_place{keys[at], indices[at]});
    }
    return warp_reduce(last, later_place());
}

// Selects from the items of each segment's parts.
KERNEL(segmented_topk_join, segmented_topk_args, segmented_topk_shared)
{
    if constexpr (!HAS_PARTS) return;
    const u64 each = a.parts * a.k;
    NO_UNROLL
    for (u64 segment = block_id(); segment < a.set.count; segment += block_count()) {
        const stretch last = part_of_segment(a, segment, a.parts - 1);
        const u64 length = last.at + last.count;
        const key_t* const keys = a.part_keys + segment * each;
        const offset_t* const indices = a.part_indices + segment * each;
        fill_pool_with<true>(
            s, length, each, static_cast<u32>(a.k), last_of_shares(keys, indices, a.parts, a.k),
            [&](u64 j) { return keys[j]; }, [&](u64 j) { return indices[j]; });
        const pool_part part = held_items(s, length);
        select_held(
            a, s, part, my_span(s, part.count), length,
            [&](u32 rank, key_t key, u64 index) { put_result(a, segment, rank, key, index); },
            [&](u32 rank) { put_nothing(a, segment, rank); });
    }
}
