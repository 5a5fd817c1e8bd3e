// Selection (stream compaction) in a single pass: the items for which a condition is true,
// contiguous and in order.
//
// A block takes a tile as in scan.cu: each of its warps has a contiguous part, and a row of that
// part is one vector a lane. Each lane flags its selected items; their counts are scanned in the
// warp, several rows to a word. Look-back (lookback.h) gives the number of items selected before
// the tile. The items are gathered in shared memory, the selected before the others, and stored
// coalesced. A tile is read before its count is published, and its place in memory is only written
// after that, so that the output may be the input.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:48:2 cpu=1024:16384:1024
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:32 cpu=1:1:1
// %RANGE% TUNE_MIN_BLOCKS mb 1:6:1 cpu=1:1:1
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 0:4:1 cpu=3:7:1
// %RANGE% TUNE_LOAD ld 0:2:1 cpu=0:0:1
// %RANGE% TUNE_AHEAD_MIB la 0:16:1 cpu=0:0:1
// %RANGE% TUNE_ORDER ord 0:2:1 cpu=0:0:1
// %RANGE% TUNE_POLL_DELAY ns 0:1000:50 cpu=0:0:1
// %RANGE% TUNE_FIRST_DELAY l2w 0:3000:50 cpu=0:0:1
// %GONE% lb 1
//
// ipt   items a thread
// mb    least blocks a multiprocessor, which limits the registers a thread; while a block waits for
//       the tiles before its own, others load
// ipv   items a vector load (log2)
// ld    caching of the loads, see load_bytes16
// la    mebibytes ahead of its tile that a block prefetches to the L2 cache; 0: none
// ord   way of communication between blocks, see message.h
// ns, l2w   see lookback.h
//
// Workload:
//     TUNE_T           type of the items
//     TUNE_INDICES     1: an item is its index, and no items are read
//     TUNE_M           type of the mask, if there is one: items whose mask is not 0 are selected
//     TUNE_PREDICATE   without a mask: an expression of x and of its index i, an i64;
//                      without either, an item is selected if it begins a run (same_run.h)
//     TUNE_REST        1: the other items are written to an array of their own
//     TUNE_CLASSES     number of output arrays; 2: items for which the predicate is 2 go to the
//                      second
//     TUNE_IN_PLACE    1: the output is the input
//     TUNE_COUNT       unsigned type that counts the items, for two classes
//
// Traffic: the items and the mask are read, the selected items (with TUNE_REST all) are written.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#define TUNE_LOOK 1
#include "block.h"
#include "input.h"
#include "integer.h"
#include "lookback.h"
#include "same_run.h"

typedef TUNE_T item_t;

#if defined(TUNE_M)
typedef TUNE_M mask_t;
enum { HAS_MASK = 1 };
#else
typedef u8 mask_t;
enum { HAS_MASK = 0 };
#endif

DEFINE_INPUT(TUNE_IN, in_t, item_t)
DEFINE_INPUT(TUNE_MASK, mask_in_t, mask_t)

enum {
    VECTOR = 1 << TUNE_ITEMS_PER_VECTOR_LOG2,
    ROWS = TUNE_ITEMS_PER_THREAD / VECTOR,
    ROW_ITEMS = SIMT_WARP * VECTOR,
    TILE = SIMT_THREADS * ROWS * VECTOR,
    // Packs the counts of as many rows as fit in a word, to scan them together.
    FIELD = ROW_ITEMS <= 255 ? 8 : 16,
    FIELDS = 32 / FIELD,
    CLASSES = TUNE_CLASSES,
    COUNTED = CLASSES * ROWS, // each row once for each class
    WORDS = ceil_div(COUNTED, FIELDS)
};

// Number of items of each class, before a tile or in it.
#if TUNE_CLASSES == 1
typedef u64 counts;
FUNCTION counts counts_of(u32 first, u32) { return first; }
FUNCTION u64 first_of(counts c) { return c; }
FUNCTION u64 second_of(counts) { return 0; }
#else
struct counts {
    TUNE_COUNT first, second;
};
FUNCTION counts operator+(counts a, counts b) { return {a.first + b.first, a.second + b.second}; }
FUNCTION counts counts_of(u32 first, u32 second) { return {first, second}; }
FUNCTION u64 first_of(counts c) { return c.first; }
FUNCTION u64 second_of(counts c) { return c.second; }
#endif

struct select_args {
    in_t in;
    mask_in_t mask;
    item_t* out;
    item_t* rest;
    u64* count;
    u64 n;
    u64* messages; // one per tile
    item_t* second;
};

struct select_shared {
    ticket tile_ticket;
    cluster_inbox<counts> inbox;
    u32 warp_count[CLASSES][SIMT_WARPS];
    counts prefix;         // items selected before the tile
    item_t item[TILE + 1]; // one extra for the branch-free stores of a single thread
};

// Returns the class of item i by its value and its predecessor's: 0 if it is not selected.
typedef in_expression<item_t> value_t;
#if TUNE_CLASSES > 1
FUNCTION u8 class_of(value_t x, value_t, i64 i) { return static_cast<u8>(TUNE_PREDICATE); }
#elif defined(TUNE_PREDICATE)
FUNCTION bool class_of(value_t x, value_t, i64 i) { return convert<bool>(TUNE_PREDICATE); }
#else
FUNCTION bool class_of(value_t x, value_t before, i64 i) { return i == 0 || !SAME_RUN(before, x); }
#endif

FUNCTION u32 is_of_class(u8 item_class, int k)
{
    return CLASSES == 1 ? item_class : item_class == k;
}

FUNCTION u32 row_field(const u32 (&words)[WORDS], int row)
{
    return words[row / FIELDS] >> (row % FIELDS * FIELD) & ((1u << FIELD) - 1u);
}

template <bool WHOLE>
FUNCTION void select_tile(const select_args& a, select_shared& s, ticket mine)
{
    const u64 tile = mine.rank;
    const u64 begin = tile * TILE; // first item of the tile
    const u64 first = begin + warp_id() * (static_cast<u64>(ROWS) * ROW_ITEMS) + lane_id() * VECTOR;
    item_t item[ROWS][VECTOR];
    u8 keep[ROWS][VECTOR];
    if constexpr (!TUNE_INDICES) prefetch_tile<TUNE_AHEAD_MIB, TILE>(a.in, begin, a.n);
    if constexpr (HAS_MASK) prefetch_tile<TUNE_AHEAD_MIB, TILE>(a.mask, begin, a.n);

    UNROLL
    for (int r = 0; r < ROWS; r++) {
        const u64 at = first + static_cast<u64>(r) * ROW_ITEMS;
        if (WHOLE || at + VECTOR <= a.n) {
            if constexpr (!TUNE_INDICES) load_input<TUNE_LOAD>(a.in, at, item[r]);
        } else
            for (int j = 0; j < VECTOR; j++) { // past the end: any items
                const u64 i = at + static_cast<u64>(j);
                if constexpr (!TUNE_INDICES)
                    if (a.n) item[r][j] = input_item(a.in, i < a.n ? i : a.n - 1);
            }
        if constexpr (TUNE_INDICES) {
            UNROLL
            for (int j = 0; j < VECTOR; j++) item[r][j] = convert<item_t>(at + static_cast<u64>(j));
        }
    }
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        const u64 at = first + static_cast<u64>(r) * ROW_ITEMS;
        if constexpr (HAS_MASK) {
            mask_t mask[VECTOR]{};
            if (WHOLE || at + VECTOR <= a.n)
                load_input<TUNE_LOAD>(a.mask, at, mask);
            else
                for (int j = 0; j < VECTOR; j++)
                    if (at + static_cast<u64>(j) < a.n)
                        mask[j] = input_item(a.mask, at + static_cast<u64>(j));
            UNROLL
            for (int j = 0; j < VECTOR; j++) keep[r][j] = convert<bool>(mask[j]);
        } else {
            item_t before = item[r][0];
#if !defined(TUNE_PREDICATE)
            before = warp_shuffle(item[r][VECTOR - 1], lane_id() - 1);
            if (r > 0) {
                const item_t last = warp_shuffle(item[r - 1][VECTOR - 1], SIMT_WARP - 1);
                if (lane_id() == 0) before = last;
            } else if (lane_id() == 0 && at > 0 && at < a.n)
                before = input_item(a.in, at - 1);
#endif
            UNROLL
            for (int j = 0; j < VECTOR; j++) {
                const u64 i = at + static_cast<u64>(j);
                if constexpr (CLASSES > 1)
                    keep[r][j] =
                        WHOLE || i < a.n ? class_of(item[r][j], before, static_cast<i64>(i)) : 0;
                else
                    keep[r][j] =
                        (WHOLE || i < a.n) && class_of(item[r][j], before, static_cast<i64>(i));
                before = item[r][j];
            }
        }
    }

    u32 lanes_before[WORDS]{}; // items selected by the lanes before this one, row by row
    u32 in_row[WORDS];         // items selected by all lanes
    UNROLL
    for (int q = 0; q < COUNTED; q++) {
        u32 count = 0;
        UNROLL
        for (int j = 0; j < VECTOR; j++) count += is_of_class(keep[q % ROWS][j], 1 + q / ROWS);
        lanes_before[q / FIELDS] += count << (q % FIELDS * FIELD);
    }
    u32 warp_total = 0, warp_second = 0;
    UNROLL
    for (int w = 0; w < WORDS; w++) {
        const u32 through = warp_scan(lanes_before[w], plus());
        lanes_before[w] = through - lanes_before[w];
        in_row[w] = warp_shuffle(through, SIMT_WARP - 1);
    }
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        warp_total += row_field(in_row, r);
        if constexpr (CLASSES > 1) warp_second += row_field(in_row, ROWS + r);
    }
    if (lane_id() == 0) {
        s.warp_count[0][warp_id()] = warp_total;
        if constexpr (CLASSES > 1) s.warp_count[CLASSES - 1][warp_id()] = warp_second;
    }
    cluster_ready();
    block_sync();

    const u32 lane_warp = lane_id() < SIMT_WARPS ? lane_id() : 0;
    const u32 warps_through = warp_scan(s.warp_count[0][lane_warp], plus());
    const u32 tile_count = warp_shuffle(warps_through, SIMT_WARPS - 1);
    u32 row_begin = warp_shuffle(warps_through, warp_id()) - warp_total;
    u32 second_count = 0, second_begin = 0;
    if constexpr (CLASSES > 1) {
        const u32 seconds_through = warp_scan(s.warp_count[CLASSES - 1][lane_warp], plus());
        second_count = warp_shuffle(seconds_through, SIMT_WARPS - 1);
        second_begin = warp_shuffle(seconds_through, warp_id()) - warp_second;
    }
    const counts tile_counts = counts_of(tile_count, second_count);
    // Publishing the count allows later tiles to write. In place they write to this tile's places,
    // whose items may not have arrived yet if only the mask was waited for; then the count is sent
    // after the barrier below.
    if (!TUNE_IN_PLACE && warp_id() == 0) send_total(a.messages, mine, tile_counts, s.inbox);
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        const u64 at = first + static_cast<u64>(r) * ROW_ITEMS;
        u32 selected = row_begin + row_field(lanes_before, r), second = 0;
        if constexpr (CLASSES > 1) second = second_begin + row_field(lanes_before, ROWS + r);
        UNROLL
        for (int j = 0; j < VECTOR; j++) {
            const u32 local = static_cast<u32>(at - begin) + static_cast<u32>(j);
            if constexpr (CLASSES > 1)
                s.item[keep[r][j] == 1   ? selected
                       : keep[r][j] == 2 ? tile_count + second
                                         : tile_count + second_count + local - selected - second] =
                    item[r][j];
            else if constexpr (TUNE_REST)
                s.item[keep[r][j] ? selected : tile_count + local - selected] = item[r][j];
            else if (SIMT_SINGLE_THREAD || keep[r][j]) // a single thread stores without a branch
                s.item[selected] = item[r][j];
            selected += is_of_class(keep[r][j], 1);
            if constexpr (CLASSES > 1) second += is_of_class(keep[r][j], 2);
        }
        row_begin += row_field(in_row, r);
        if constexpr (CLASSES > 1) second_begin += row_field(in_row, ROWS + r);
    }
    if (TUNE_IN_PLACE) {
        block_sync();
        if (warp_id() == 0) send_total(a.messages, mine, tile_counts, s.inbox);
    }
    if (warp_id() == 0) {
        counts prefix{};
        tile_prefix(a.messages, mine, tile_counts, plus(), prefix, true, s.inbox);
        if (lane_id() == 0) {
            s.prefix = prefix;
            if (tile + 1 == block_count()) {
                a.count[0] = first_of(prefix) + tile_count;
                if constexpr (CLASSES > 1) a.count[1] = second_of(prefix) + second_count;
            }
        }
    }
    block_sync();

    item_t* const out = a.out + first_of(s.prefix);
    for (u32 k = thread_id(); k < tile_count; k += SIMT_THREADS) out[k] = s.item[k];
    const u32 selected = tile_count + second_count;
    if constexpr (CLASSES > 1) {
        item_t* const second = a.second + second_of(s.prefix);
        for (u32 k = tile_count + thread_id(); k < selected; k += SIMT_THREADS)
            second[k - tile_count] = s.item[k];
    }
    if constexpr (TUNE_REST) {
        const u64 items = WHOLE || begin + TILE <= a.n ? TILE : a.n - begin;
        item_t* const rest = a.rest + (begin - first_of(s.prefix) - second_of(s.prefix));
        for (u32 k = selected + thread_id(); k < items; k += SIMT_THREADS)
            rest[k - selected] = s.item[k];
    }
}

KERNEL(select_tiles, select_args, select_shared)
{
    const ticket mine = open_tile(a.messages, s.tile_ticket, s.inbox);
    if ((mine.rank + 1ull) * TILE <= a.n)
        select_tile<true>(a, s, mine);
    else
        select_tile<false>(a, s, mine);
}
