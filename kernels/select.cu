// Selection in a single pass: the items that a condition holds for, close together and in order.
//
// A block takes a tile, as scan does: a warp of it a contiguous part, a row of that part one vector
// a lane. Each lane knows which of its items are selected; their counts are scanned in the warp,
// several rows to a word. Look-back (lookback.h) says how many were selected before the tile. The
// items meet in shared memory, the selected before the others, and leave in runs that are as wide
// as the warp. A tile is read before its count is known to others, and nothing is written to where
// a tile lies before its count is, so the output may be the input.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:32:2 cpu=1024:16384:1024
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:32 cpu=1:1:1
// %RANGE% TUNE_MIN_BLOCKS mb 1:6:1 cpu=1:1:1
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 0:4:1 cpu=3:7:1
// %RANGE% TUNE_LOAD ld 0:2:1 cpu=0:0:1
// %RANGE% TUNE_ORDER ord 0:1:1 cpu=0:0:1
// %RANGE% TUNE_LOOK lb 1:4:1 cpu=1:1:1
// %RANGE% TUNE_POLL_DELAY ns 0:1000:50 cpu=0:0:1
// %RANGE% TUNE_FIRST_DELAY l2w 0:1500:50 cpu=0:0:1
//
// ipt   items a thread
// mb    blocks that the registers of a multiprocessor are shared out to, at least: while a block
//       waits for the tiles before its own, others load
// ipv   items a vector
// ld    caching of the loads, see load_bytes16
// ord   where a block's rank comes from, see message.h
// lb, ns, l2w   see lookback.h
//
// Workload:
//     TUNE_T           type of the items
//     TUNE_INDICES     1: an item is its index, and no items are read
//     TUNE_M           type of the mask, if there is one: what is not 0 is selected
//     TUNE_PREDICATE   else an expression of x and i, if there is one
//                      else an item is selected that differs from the one before it
//     TUNE_REST        1: the others are written too, to an array of their own
//     TUNE_CLASSES     1; 2: a predicate of 2 selects the item for a second array, of 1 for the
//     first TUNE_COUNT       with two classes, the unsigned type that holds their counts
//
// Traffic: the items and the mask read, what is selected written (all of it with TUNE_REST).
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "block.h"
#include "lookback.h"
#include "memory.h"
#include "types.h"

typedef TUNE_T item_t;

#if defined(TUNE_M)
typedef TUNE_M mask_t;
enum { HAS_MASK = 1 };
#else
typedef u8 mask_t;
enum { HAS_MASK = 0 };
#endif

enum {
    VECTOR = 1 << TUNE_ITEMS_PER_VECTOR_LOG2,
    ROWS = TUNE_ITEMS_PER_THREAD / VECTOR,
    ROW_ITEMS = SIMT_WARP * VECTOR,
    TILE = SIMT_THREADS * ROWS * VECTOR,
    // Counts of a row's lanes are scanned together, as many rows as fit a word.
    FIELD = ROW_ITEMS <= 255 ? 8 : 16,
    FIELDS = 32 / FIELD,
    WORDS = (ROWS + FIELDS - 1) / FIELDS,
    CLASSES = TUNE_CLASSES
};

// How many items of each class there are before a tile, or in it.
#if TUNE_CLASSES == 1
typedef u64 counts;
FUNCTION u64 count_of(counts c, int) { return c; }
FUNCTION counts counts_of(const u32 (&c)[1]) { return c[0]; }
#else
struct counts {
    TUNE_COUNT of[CLASSES];
};
FUNCTION counts operator+(counts a, counts b) { return {a.of[0] + b.of[0], a.of[1] + b.of[1]}; }
FUNCTION u64 count_of(counts c, int k) { return c.of[k]; }
FUNCTION counts counts_of(const u32 (&c)[2]) { return {c[0], c[1]}; }
#endif

struct select_args {
    const item_t* in;
    const mask_t* mask;
    item_t* out;
    item_t* rest;
    u64* count;
    u64 n;
    u64* messages; // one a tile
    item_t* second;
};

struct select_shared {
    ticket tile_ticket;
    u32 warp_count[CLASSES][SIMT_WARPS];
    counts prefix;         // selected before the tile
    item_t item[TILE + 1]; // one more, for what a single thread stores in vain
};

// Whether item i, whose predecessor is known, is selected by its value; with classes, for which.
#if TUNE_CLASSES > 1
FUNCTION u8 class_of(item_t x, item_t, u64 i) { return static_cast<u8>(TUNE_PREDICATE); }
#elif defined(TUNE_PREDICATE)
FUNCTION bool class_of(item_t x, item_t, u64 i) { return convert<bool>(TUNE_PREDICATE); }
#else
FUNCTION bool class_of(item_t x, item_t before, u64 i) { return i == 0 || !(x == before); }
#endif

// Whether an item is of class k + 1.
FUNCTION u32 counts_in(u8 item_class, int k)
{
    return CLASSES == 1 ? item_class : item_class == k + 1;
}

FUNCTION u32 row_field(const u32 (&words)[WORDS], int row)
{
    return words[row / FIELDS] >> (row % FIELDS * FIELD) & ((1u << FIELD) - 1u);
}

template <bool WHOLE>
FUNCTION void select_tile(const select_args& a, select_shared& s, ticket mine)
{
    const u64 tile = mine.rank;
    const u64 begin = tile * TILE; // of the tile
    const u64 first = begin + warp_id() * (static_cast<u64>(ROWS) * ROW_ITEMS) + lane_id() * VECTOR;
    item_t item[ROWS][VECTOR];
    u8 keep[ROWS][VECTOR];

    UNROLL
    for (int r = 0; r < ROWS; r++) {
        const u64 at = first + static_cast<u64>(r) * ROW_ITEMS;
        if (WHOLE || at + VECTOR <= a.n) {
            if constexpr (!TUNE_INDICES) load_items<TUNE_LOAD>(a.in + at, item[r]);
        } else
            for (int j = 0; j < VECTOR; j++) { // past the end any item will do
                const u64 i = at + static_cast<u64>(j);
                if constexpr (!TUNE_INDICES)
                    if (a.n) item[r][j] = a.in[i < a.n ? i : a.n - 1];
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
                load_items<TUNE_LOAD>(a.mask + at, mask);
            else
                for (int j = 0; j < VECTOR; j++)
                    if (at + static_cast<u64>(j) < a.n) mask[j] = a.mask[at + static_cast<u64>(j)];
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
                before = a.in[at - 1];
#endif
            UNROLL
            for (int j = 0; j < VECTOR; j++) {
                const u64 i = at + static_cast<u64>(j);
                if constexpr (CLASSES > 1)
                    keep[r][j] = WHOLE || i < a.n ? class_of(item[r][j], before, i) : 0;
                else
                    keep[r][j] = (WHOLE || i < a.n) && class_of(item[r][j], before, i);
                before = item[r][j];
            }
        }
    }

    u32 lanes_before[CLASSES][WORDS]{}; // selected by the lanes before this one, row by row
    u32 in_row[CLASSES][WORDS];         // by all lanes
    u32 warp_total[CLASSES]{}, tile_count[CLASSES], begin_of[CLASSES]; // of the row
    UNROLL
    for (int c = 0; c < CLASSES; c++) {
        UNROLL
        for (int r = 0; r < ROWS; r++) {
            u32 count = 0;
            UNROLL
            for (int j = 0; j < VECTOR; j++) count += counts_in(keep[r][j], c);
            lanes_before[c][r / FIELDS] += count << (r % FIELDS * FIELD);
        }
        UNROLL
        for (int w = 0; w < WORDS; w++) {
            const u32 through = warp_scan(lanes_before[c][w], plus());
            lanes_before[c][w] = through - lanes_before[c][w];
            in_row[c][w] = warp_shuffle(through, SIMT_WARP - 1);
        }
        UNROLL
        for (int r = 0; r < ROWS; r++) warp_total[c] += row_field(in_row[c], r);
        if (lane_id() == 0) s.warp_count[c][warp_id()] = warp_total[c];
    }
    block_sync();

    UNROLL
    for (int c = 0; c < CLASSES; c++) {
        const u32 warps_through =
            warp_scan(s.warp_count[c][lane_id() < SIMT_WARPS ? lane_id() : 0], plus());
        tile_count[c] = warp_shuffle(warps_through, SIMT_WARPS - 1);
        begin_of[c] = warp_shuffle(warps_through, warp_id()) - warp_total[c];
    }
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        const u64 at = first + static_cast<u64>(r) * ROW_ITEMS;
        u32 selected[CLASSES];
        UNROLL
        for (int c = 0; c < CLASSES; c++) selected[c] = begin_of[c] + row_field(lanes_before[c], r);
        UNROLL
        for (int j = 0; j < VECTOR; j++) {
            const u32 local = static_cast<u32>(at - begin) + static_cast<u32>(j);
            const u8 k = keep[r][j];
            if constexpr (CLASSES > 1)
                s.item[k == 1   ? selected[0]
                       : k == 2 ? tile_count[0] + selected[1]
                                : tile_count[0] + tile_count[1] + local - selected[0] -
                                      selected[1]] = item[r][j];
            else if constexpr (TUNE_REST)
                s.item[k ? selected[0] : tile_count[0] + local - selected[0]] = item[r][j];
            else if (SIMT_THREADS == 1 || k) // a single thread stores without a branch
                s.item[selected[0]] = item[r][j];
            UNROLL
            for (int c = 0; c < CLASSES; c++) selected[c] += counts_in(k, c);
        }
        UNROLL
        for (int c = 0; c < CLASSES; c++) begin_of[c] += row_field(in_row[c], r);
    }
    if (warp_id() == 0) {
        const counts total = counts_of(tile_count);
        counts prefix{};
        tile_prefix(a.messages, mine, total, plus(), prefix, true);
        if (lane_id() == 0) {
            s.prefix = prefix;
            UNROLL
            for (int c = 0; c < CLASSES; c++)
                if (tile + 1 == block_count()) a.count[c] = count_of(prefix, c) + tile_count[c];
        }
    }
    block_sync();

    const u64 items = WHOLE || begin + TILE <= a.n ? TILE : a.n - begin;
    u32 written = 0;    // of the tile
    u64 others = begin; // before the tile, of the classes that are not yet written
    UNROLL
    for (int c = 0; c < CLASSES; c++) {
        const u64 before = count_of(s.prefix, c);
        item_t* const out = (c == 0 ? a.out : a.second) + before;
        for (u32 k = thread_id(); k < tile_count[c]; k += SIMT_THREADS)
            out[k] = s.item[written + k];
        written += tile_count[c];
        others -= before;
    }
    if constexpr (TUNE_REST)
        for (u32 k = written + thread_id(); k < items; k += SIMT_THREADS)
            a.rest[others + k - written] = s.item[k];
}

KERNEL(select_tiles, select_args, select_shared)
{
    ticket mine{};
    if constexpr (RANK_IS_INDEX) {
        mine = take_ticket(a.messages); // only warp 0 uses the epoch, and once it has its items
    } else {
        if (thread_id() == 0) s.tile_ticket = take_ticket(a.messages);
        block_sync();
        mine = s.tile_ticket;
    }
    if ((mine.rank + 1ull) * TILE <= a.n)
        select_tile<true>(a, s, mine);
    else
        select_tile<false>(a, s, mine);
}
