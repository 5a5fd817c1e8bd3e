// Deterministic prefix scan (deterministic.h), in a single pass over the items.
//
// Tiles are laid out as in scan.cu: a warp has a part of a tile, and a row of the part is one
// vector a lane. Vectors are scanned from their beginning, then their totals over the lanes, the
// rows and the parts in turn. The prefix of the tile is combined in a fixed order too
// (deterministic_look.h). Tiles have the same size for all variants, so that a warp may have
// several parts, and a single thread on the CPU has all of them.
//
// Rounding: with v items a vector, r rows a part and s stretches of 1024 tiles before the last an
// operand goes through at most d = v + r + 36 + 2 s operations: v + r + 10 in its tile, 14 in
// totals of other tiles, 2 a stretch, and 12 in the tile of the result. So the error of a sum, to
// first order, is at most d u sum|x| over the items up to its own, with u the unit roundoff
// (Higham's bound, see deterministic_reduce.cu).
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:256:64 cpu=1:1:1
// %RANGE% TUNE_LOAD ld 0:2:1 cpu=0:0:1
// %GONE% mb 1
// %GONE% ord 1 cpu=0
//
// tpb   threads a block; PARTS is a multiple of its warps
// ld    caching of the loads, see load_bytes16
//
// Workload: as in scan.cu, and
//     TUNE_REDUCE_RUNS   1: reduction by key: writes the last prefix of each run, and its key
//                        (deterministic_runs.h)
//
// Traffic: n items (and keys) are read; n items, or a key and a result for each run, are written.
#define TUNE_ORDER 1 // a block takes the tile of its index: message.h
#include "deterministic_look.h"
#include "operator.h"
#include "rows.h"

DEFINE_INPUT(TUNE_IN, in_t, item_t)

enum {
    LARGER = sizeof(item_t) > sizeof(value_t) ? sizeof(item_t) : sizeof(value_t),
    ITEM_BYTES = LARGER > 4 ? LARGER : 4, // a thread keeps as many sums as items
    LANE_ITEMS = row_vector(ITEM_BYTES),  // items a lane in a row
    PART_ROWS = part_rows(ITEM_BYTES),
    MY_PARTS = PARTS / SIMT_WARPS, // parts a warp
    ROWS = MY_PARTS * PART_ROWS,   // rows a thread
    VECTOR = LANES * LANE_ITEMS,   // items a thread in a row
    TILE = PARTS * PART_ROWS * 32 * LANE_ITEMS
};
static_assert(MY_PARTS * SIMT_WARPS == PARTS && TILE == TUNE_TILE, "tiles are of one size");

#if TUNE_REDUCE_RUNS
#include "deterministic_runs.h"
#else
#include "scan_runs.h"
typedef out_t* results_t;
struct run_items {
    bool head[ROWS][VECTOR];
};
#endif

struct deterministic_scan_args {
    in_t in;
    runs_t runs;
    results_t out;
    u64 n;
    u64* messages;
    initial_t init;
    u64 has_init;
};

struct deterministic_scan_shared {
    ticket tile_ticket;
    sum_t part[PARTS]; // totals
    sum_t prefix;      // combination of everything before the tile
    u32 has_prefix;
    runs_shared runs;
};

// Scans a row: leaves each vector's prefixes in place, sets before[] to the combination of the
// lanes before, and returns the row's total.
FUNCTION sum_t scan_row(sum_t (&item)[VECTOR], sum_t (&before)[LANES])
{
    sum_t lane[LANES];
    UNROLL
    for (int v = 1; v < LANE_ITEMS; v++) {
        UNROLL
        for (int l = 0; l < LANES; l++)
            item[l * LANE_ITEMS + v] =
                apply()(item[l * LANE_ITEMS + v - 1], item[l * LANE_ITEMS + v]);
    }
    UNROLL
    for (int l = 0; l < LANES; l++) lane[l] = item[l * LANE_ITEMS + LANE_ITEMS - 1];
    lanes_scan(lane, apply());
    before[0] = warp_shuffle(lane[0], lane_id() - 1);
    UNROLL
    for (int l = 1; l < LANES; l++) before[l] = lane[l - 1];
    return warp_shuffle(lane[LANES - 1], SIMT_WARP - 1);
}

// Returns the prefix of lane l of a row; `prefix` is that of the row.
FUNCTION perhaps<sum_t> lane_prefix(perhaps<sum_t> prefix, const sum_t (&before)[LANES], int l)
{
    if (l == 0 && lane_id() == 0) return prefix;
    return join(prefix, perhaps<sum_t>{before[l], true}, apply());
}

#if TUNE_REDUCE_RUNS
// Writes the runs of row r, whose first item is item `at`.
template <bool WHOLE>
FUNCTION void finish_row(const deterministic_scan_args& a, u64 at, const sum_t (&item)[VECTOR],
                         const sum_t (&before)[LANES], const run_items& runs, int r,
                         perhaps<sum_t> prefix)
{
    UNROLL
    for (int j = 0; j < VECTOR; j++) {
        const perhaps<sum_t> mine = lane_prefix(prefix, before, j / LANE_ITEMS);
        const sum_t through = join(mine, perhaps<sum_t>{item[j], true}, apply()).value;
        write_run(a.out, at + static_cast<u64>(j), a.n, runs, r, j, through);
    }
}
#else
template <bool WHOLE>
FUNCTION void finish_row(const deterministic_scan_args& a, u64 at, const sum_t (&item)[VECTOR],
                         const sum_t (&before)[LANES], const run_items& runs, int r,
                         perhaps<sum_t> prefix)
{
    out_t result[VECTOR];
    UNROLL
    for (int l = 0; l < LANES; l++) {
        const perhaps<sum_t> mine = lane_prefix(prefix, before, l);
        UNROLL
        for (int v = 0; v < LANE_ITEMS; v++) {
            const int j = l * LANE_ITEMS + v;
            if constexpr (TUNE_INCLUSIVE)
                result[j] =
                    convert<out_t>(value_of(mine.is ? apply()(mine.value, item[j]) : item[j]));
            else if (IN_RUNS && runs.head[r][j])
                result[j] = convert<out_t>(static_cast<value_t>(a.init));
            else // an exclusive scan always has an initial value
                result[j] = convert<out_t>(
                    value_of(v > 0 ? apply()(mine.value, item[j - (v > 0)]) : mine.value));
        }
    }
    if (WHOLE || at + VECTOR <= a.n)
        store_items(a.out + at, result);
    else
        for (int j = 0; j < VECTOR; j++)
            if (at + static_cast<u64>(j) < a.n) a.out[at + static_cast<u64>(j)] = result[j];
}
#endif

template <bool WHOLE>
FUNCTION void scan_tile(const deterministic_scan_args& a, deterministic_scan_shared& s, ticket mine)
{
    const u64 tile = mine.rank * static_cast<u64>(TILE);
    const u64 first =
        tile + warp_id() * (static_cast<u64>(ROWS) * 32 * LANE_ITEMS) + lane_id() * VECTOR;
    sum_t item[ROWS][VECTOR];  // then prefixes within the vector
    sum_t before[ROWS][LANES]; // preceding lanes of the row
    sum_t carry[ROWS];         // rows of the part up to this one
    run_items runs;

    item_t raw[ROWS][VECTOR];
    load_rows<WHOLE, TUNE_LOAD>(a.in, first, a.n, raw); // past the end: any items
#if TUNE_REDUCE_RUNS
    find_runs<WHOLE>(a.runs, first, a.n, runs);
#else
    if constexpr (IN_RUNS) {
        open_runs(a.runs, s.runs, tile);
        find_heads_of_runs<WHOLE>(a.runs, s.runs, tile, first, a.n, runs.head);
    }
#endif
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        UNROLL
        for (int j = 0; j < VECTOR; j++) {
            value_t value = convert<value_t>(raw[r][j]);
            if (IN_RUNS && runs.head[r][j] && a.has_init)
                value = apply_operator(static_cast<value_t>(a.init), value);
            item[r][j] = sum_of(value, IN_RUNS && runs.head[r][j]);
        }
        carry[r] = scan_row(item[r], before[r]);
        if (r % PART_ROWS > 0) carry[r] = apply()(carry[r > 0 ? r - 1 : 0], carry[r]);
        if (r % PART_ROWS == PART_ROWS - 1 && lane_id() == 0)
            s.part[warp_id() * MY_PARTS + r / PART_ROWS] = carry[r];
    }
    block_sync();

    if (warp_id() == 0) {
        sum_t total = s.part[0];
        for (int p = 1; p < PARTS; p++) total = apply()(total, s.part[p]);
        const perhaps<sum_t> begin{sum_of(static_cast<value_t>(a.init), false),
                                   !IN_RUNS && a.has_init != 0};
        const perhaps<sum_t> prefix = deterministic_prefix(a.messages, mine, total, apply(), begin);
        if (lane_id() == 0) {
            s.prefix = prefix.value;
            s.has_prefix = prefix.is;
        }
    }
    block_sync();

    perhaps<sum_t> prefix{s.prefix, s.has_prefix != 0};
    for (u32 p = 0; p < warp_id() * MY_PARTS; p++)
        prefix = join(prefix, perhaps<sum_t>{s.part[p], true}, apply());
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        perhaps<sum_t> row = prefix;
        if (r % PART_ROWS > 0)
            row = join(prefix, perhaps<sum_t>{carry[r > 0 ? r - 1 : 0], true}, apply());
        finish_row<WHOLE>(a, first + static_cast<u64>(r) * (32 * LANE_ITEMS), item[r], before[r],
                          runs, r, row);
        if (r % PART_ROWS == PART_ROWS - 1)
            prefix = join(prefix, perhaps<sum_t>{carry[r], true}, apply());
    }
}

KERNEL(deterministic_scan_tiles, deterministic_scan_args, deterministic_scan_shared)
{
#if TUNE_REDUCE_RUNS
    if (a.n == 0 && thread_id() == 0) *a.out.count = 0;
#endif
    const ticket mine = take_block_ticket(a.messages, s.tile_ticket);
    if ((mine.rank + 1ull) * TILE <= a.n)
        scan_tile<true>(a, s, mine);
    else
        scan_tile<false>(a, s, mine);
}
