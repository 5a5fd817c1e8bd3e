// Prefix scan in a single pass over the items, with decoupled look-back.
//
// A block takes a tile: each of its warps has a contiguous part, and a row of that part is one
// vector a lane. So loads and stores are wide and coalesced without an exchange through shared
// memory. Each lane scans its vector, the warp scans the vectors' totals row by row (the rows are
// independent), and the block scans its warps' totals. The prefix of the tile comes from the tiles
// before it (lookback.h).
//
// Until it arrives the tile waits, and a multiprocessor can only work on as many tiles as it has
// room for. So rows may be parked in shared memory, which is as large as the registers.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:128:4 cpu=1024:16384:1024
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:32 cpu=1:1:1
// %RANGE% TUNE_MIN_BLOCKS mb 1:6:1 cpu=1:1:1
// %RANGE% TUNE_PARKED_ROWS pk 0:16:1 cpu=0:0:1
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 0:4:1 cpu=3:7:1
// %RANGE% TUNE_LOAD ld 0:2:1 cpu=0:0:1
// %RANGE% TUNE_AHEAD_MIB la 0:16:1 cpu=0:0:1
// %RANGE% TUNE_ORDER ord 0:2:1 cpu=0:0:1
// %RANGE% TUNE_LOOK lb 1:4:1 cpu=1:1:1
// %RANGE% TUNE_POLL_DELAY ns 0:1000:50 cpu=0:0:1
// %RANGE% TUNE_FIRST_DELAY l2w 0:3000:50 cpu=0:0:1
//
// ipt   items a thread
// mb    least blocks a multiprocessor, which limits the registers a thread; while a block waits for
//       the tiles before its own, others load
// pk    rows of a tile that wait in shared memory; the others, at least one, wait in registers
// ipv   items a vector load (log2)
// ld    caching of the loads, see load_bytes16
// la    mebibytes ahead of its tile that a block prefetches to the L2 cache; 0: none
// ord   way of communication between blocks, see message.h
// lb    tiles that a lane looks back at in one round
// ns    nanoseconds between two polls: a thousand blocks that poll without pause slow the messages
// l2w   nanoseconds before the first poll if there are many tiles
//
// Workload, beside that of operator.h:
//     TUNE_INCLUSIVE   1: a result includes its own item
//     TUNE_IN_PLACE    1: the output is also an input
//     TUNE_K           type of the keys, if there are any: the scan restarts, with the initial
//                      value if there is one, at each item whose key differs from the one before
//     TUNE_EQUAL_SIZE, TUNE_OFFSETS
//                      as in segments.h, if there are segments: the scan restarts with each of
//                      them,
//                      and after the last
//
// Segments of middling length are scanned by teams (scan_segments.h), before the tiles.
//
// A scan by key or of segments combines pairs: a value, and a flag that is set if a run begins in
// the combined items. A tile in which one begins tells its total at once as the prefix of the tiles
// behind it.
//
// Traffic: n items (and keys or offsets) are read, n are written. Floating-point sums may differ in
// the last digits from run to run, because the number of totals that a look-back adds up depends on
// timing.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "block.h"
#include "input.h"
#include "lookback.h"
#include "operator.h"
#include "rows.h"

DEFINE_INPUT(TUNE_IN, in_t, item_t)

enum {
    VECTOR = 1 << TUNE_ITEMS_PER_VECTOR_LOG2,
    ROWS = TUNE_ITEMS_PER_THREAD / VECTOR,
    ROW_ITEMS = SIMT_WARP * VECTOR,
    PARKED = TUNE_PARKED_ROWS,
    KEPT = ROWS - PARKED
};
static_assert(KEPT > 0, "the descriptor knows of no such variant");

enum { TILE = SIMT_THREADS * ROWS * VECTOR };
#include "scan_runs.h"

struct scan_args {
    in_t in;
    runs_t runs;
    out_t* out;
    u64 n;
    u64* messages; // one per tile
    initial_t init;
    u64 has_init;
    u64 longest; // items of a segment that a team scans; 0: there are no teams
};

// A tile reads the items before it, up to WINDOW, at once with its own: where the run across the
// tile's beginning begins among these, the tile waits for no other. By keys a warp reads them. All
// warps do so in segments, of few tiles: the longest chain of those is what takes time. In place
// other tiles write the items.
#if defined(TUNE_K)
enum { WINDOW_WARPS = TUNE_IN_PLACE ? 0 : 1, WINDOW_TILES = 0x7fffffff };
#elif defined(TUNE_EQUAL_SIZE)
enum { WINDOW_WARPS = TUNE_IN_PLACE ? 0 : SIMT_WARPS, WINDOW_TILES = MANY_TILES };
#else
enum { WINDOW_WARPS = 0, WINDOW_TILES = 0 };
#endif
enum { WINDOW = WINDOW_WARPS * ROW_ITEMS };

struct scan_shared {
    alignas(16) value_t parked[PARKED ? PARKED : 1][PARKED ? SIMT_THREADS : 1][VECTOR];
    ticket tile_ticket;
    cluster_inbox<sum_t> inbox;
    sum_t warp_total[SIMT_WARPS];
    sum_t warps_through[SIMT_WARPS]; // totals of all warps up to this one
    sum_t prefix;                    // everything before the tile
    u32 has_prefix;                  // 0 for the first tile if there is no initial value
    runs_shared runs;
    sum_t window[WINDOW ? WINDOW_WARPS : 1]; // totals of the warps' parts of the window
    u32 left;                                // 1: there is a segment for the tiles
};

// State of a thread's rows until the prefix of the tile arrives. The combinations `parked`, `kept`
// and `before` restart at the runs' beginnings, which are kept as bits beside them.
struct thread_rows {
    value_t kept[KEPT][VECTOR];   // last rows: prefixes within the vector
    value_t before[ROWS];         // warp's items before the vector; unset for the warp's first
    row_flags<ROWS, 1> begun;     // a run begins among these
    row_flags<ROWS, VECTOR> head; // a run begins here
    sum_t all;                    // all items of the warp
};

// Rows that are loaded at once, from row BEGIN on: as many as fit in the free registers.
template <int BEGIN>
FUNCTION constexpr int rows_at_once()
{
    return BEGIN < PARKED && PARKED - BEGIN < KEPT ? PARKED - BEGIN : KEPT;
}

// Combines the vectors of a row over the lanes, and with the rows before it.
FUNCTION void scan_lanes(int r, value_t vector, bool any, thread_rows& rows)
{
    const u32 lanes = IN_RUNS ? warp_ballot(FULL_WARP, any) : 0u; // in which a run begins
    const value_t through = IN_RUNS ? warp_segmented_scan(vector, lanes, apply_value())
                                    : warp_scan(vector, apply_value());
    const sum_t row = sum_of(warp_shuffle(through, SIMT_WARP - 1), lanes != 0);
    sum_t before =
        sum_of(warp_shuffle(through, lane_id() - 1), (lanes & ((1u << lane_id()) - 1u)) != 0);
    if (r > 0) {
        before = lane_id() > 0 ? apply()(rows.all, before) : rows.all;
        rows.all = apply()(rows.all, row);
    } else {
        rows.all = row;
    }
    rows.before[r] = value_of(before);
    rows.begun.set(r, 0, restarts(before));
}

// Scans rows BEGIN to BEGIN + COUNT, whose items are loaded.
template <int BEGIN, int COUNT>
FUNCTION void scan_loaded(const scan_args& a, const item_t (&raw)[COUNT][VECTOR],
                          const bool (&head)[COUNT][VECTOR], thread_rows& rows,
                          value_t (&item)[COUNT][VECTOR])
{
    UNROLL
    for (int r = 0; r < COUNT; r++) {
        UNROLL
        for (int j = 0; j < VECTOR; j++) {
            item[r][j] = convert<value_t>(raw[r][j]);
            if (IN_RUNS && head[r][j] && a.has_init)
                item[r][j] = apply_operator(static_cast<value_t>(a.init), item[r][j]);
        }
    }
    UNROLL
    for (int r = 0; r < COUNT; r++) {
        bool any = IN_RUNS && head[r][0];
        UNROLL
        for (int j = 1; j < VECTOR; j++) {
            if (!IN_RUNS || !head[r][j]) item[r][j] = apply_operator(item[r][j - 1], item[r][j]);
            any = any || (IN_RUNS && head[r][j]);
        }
        scan_lanes(BEGIN + r, item[r][VECTOR - 1], any, rows);
    }
}

template <bool WHOLE, int BEGIN, int COUNT>
FUNCTION void load_part(const scan_args& a, u64 first, item_t (&raw)[COUNT][VECTOR])
{
    load_rows<WHOLE, TUNE_LOAD>(a.in, first + static_cast<u64>(BEGIN) * ROW_ITEMS, a.n,
                                raw); // past the end: any items
}

// Scans the rows from BEGIN on, of which the first are loaded. They are parked, or kept if they are
// the last.
template <bool WHOLE, int BEGIN, int COUNT>
FUNCTION void scan_rows(const scan_args& a, scan_shared& s, u64 tile, u64 first,
                        const item_t (&raw)[COUNT][VECTOR], thread_rows& rows)
{
    bool head[COUNT][VECTOR];
    if constexpr (IN_RUNS) {
        find_heads_of_runs<WHOLE>(a.runs, s.runs, tile, first + static_cast<u64>(BEGIN) * ROW_ITEMS,
                                  a.n, head);
        rows.head.template set_rows<BEGIN>(head);
    }
    if constexpr (BEGIN < PARKED) {
        value_t item[COUNT][VECTOR];
        scan_loaded<BEGIN>(a, raw, head, rows, item);
        UNROLL
        for (int r = 0; r < COUNT; r++) store_items(s.parked[BEGIN + r][thread_id()], item[r]);
        item_t next[rows_at_once<BEGIN + COUNT>()][VECTOR];
        load_part<WHOLE, BEGIN + COUNT>(a, first, next);
        scan_rows<WHOLE, BEGIN + COUNT>(a, s, tile, first, next, rows);
    } else {
        scan_loaded<BEGIN>(a, raw, head, rows, rows.kept);
    }
}

FUNCTION void take_row(const scan_shared& s, const thread_rows& rows, int r,
                       value_t (&item)[VECTOR])
{
    if (r < PARKED)
        load_items<0>(s.parked[r][thread_id()], item);
    else {
        UNROLL
        for (int j = 0; j < VECTOR; j++) item[j] = rows.kept[r - PARKED][j];
    }
}

// Sums the window before the tile at `tile`, which begins again at the run's beginning. Called by
// the first WINDOW_WARPS warps, after open_runs.
FUNCTION void sum_window(const scan_args& a, scan_shared& s, u64 tile,
                         const item_t (&raw)[1][VECTOR])
{
    bool head[1][VECTOR];
    const u64 first = tile - WINDOW + thread_id() * VECTOR;
    find_last_head(a.runs, s.runs, tile, first, a.n, head);
    value_t sum{};
    bool any = false;
    UNROLL
    for (int j = 0; j < VECTOR; j++) {
        value_t value = convert<value_t>(raw[0][j]);
        if (head[0][j] && a.has_init) value = apply_operator(static_cast<value_t>(a.init), value);
        sum = j > 0 && !head[0][j] ? apply_operator(sum, value) : value;
        any = any || head[0][j];
    }
    const u32 lanes = warp_ballot(FULL_WARP, any);
    sum = warp_segmented_scan(sum, lanes, apply_value());
    if (lane_id() == SIMT_WARP - 1) s.window[warp_id()] = sum_of(sum, lanes != 0);
}

template <bool WHOLE>
FUNCTION void scan_tile(const scan_args& a, scan_shared& s, ticket mine)
{
    const u64 tile = mine.rank;
    const u64 first =
        tile * TILE + warp_id() * (static_cast<u64>(ROWS) * ROW_ITEMS) + lane_id() * VECTOR;
    thread_rows rows;
    item_t window[1][VECTOR];
    const bool has_window = WINDOW && tile > 0 && block_count() < WINDOW_TILES && !in_one_cluster();
    const bool reads_window =
        has_window && (WINDOW_WARPS == SIMT_WARPS || warp_id() < WINDOW_WARPS);
    if (reads_window)
        load_rows<true, TUNE_LOAD>(a.in, tile * TILE - WINDOW + thread_id() * VECTOR, a.n, window);
    prefetch_tile<TUNE_AHEAD_MIB, TILE>(a.in, tile * TILE, a.n);
    item_t raw[rows_at_once<0>()][VECTOR]; // come while the runs are searched
    load_part<WHOLE, 0>(a, first, raw);
    if constexpr (IN_RUNS) {
        prefetch_tile<TUNE_AHEAD_MIB, TILE>(a.runs, tile * TILE, a.n);
        open_runs(a.runs, s.runs, tile * TILE);
        if (reads_window) sum_window(a, s, tile * TILE, window);
    }
    scan_rows<WHOLE, 0>(a, s, tile * TILE, first, raw, rows);
    if (lane_id() == 0) s.warp_total[warp_id()] = rows.all;
    cluster_ready();
    block_sync();

    if (warp_id() == 0) {
        sum_t total = s.warp_total[lane_id() < SIMT_WARPS ? lane_id() : 0];
        total = warp_scan(total, apply());
        if (lane_id() < SIMT_WARPS) s.warps_through[lane_id()] = total;
        total = warp_shuffle(total, SIMT_WARPS - 1);
        sum_t prefix = sum_of(static_cast<value_t>(a.init), false);
        bool has_prefix = !IN_RUNS && a.has_init != 0;
        const sum_t window = s.window[lane_id() < WINDOW_WARPS ? lane_id() : 0]; // if there is one
        if (has_window && warp_ballot(FULL_WARP, restarts(window))) {
            prefix = WINDOW_WARPS > 1 ? warp_shuffle(warp_scan(window, apply()), WINDOW_WARPS - 1)
                                      : window;
            has_prefix = true;
            send_total(a.messages, mine, apply()(prefix, total), s.inbox, true);
            if (lane_id() == 0) close_tile<IN_RUNS>(a.messages, mine);
        } else {
            const bool complete = restarts(total);
            send_total(a.messages, mine, total, s.inbox, complete);
            has_prefix = tile_prefix<IN_RUNS>(a.messages, mine, total, apply(), prefix, has_prefix,
                                              s.inbox, complete);
        }
        if (lane_id() == 0) {
            s.prefix = prefix;
            s.has_prefix = has_prefix;
        }
    }
    block_sync();

    // Prefix of this warp, then of each of the lane's vectors.
    sum_t warp_prefix = s.prefix;
    bool has_prefix = s.has_prefix != 0;
    if (warp_id() > 0) {
        const sum_t warps = s.warps_through[warp_id() - 1];
        warp_prefix = has_prefix ? apply()(warp_prefix, warps) : warps;
        has_prefix = true;
    }
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        value_t item[VECTOR];
        take_row(s, rows, r, item);
        sum_t prefix = warp_prefix;
        bool has = has_prefix;
        if (r > 0 || lane_id() > 0) {
            const sum_t before = sum_of(rows.before[r], IN_RUNS && rows.begun.at(r, 0));
            prefix = has ? apply()(prefix, before) : before;
            has = true;
        }
        out_t result[VECTOR];
        bool begun = false; // a run begins in the vector, up to the item
        if constexpr (TUNE_INCLUSIVE) {
            UNROLL
            for (int j = 0; j < VECTOR; j++) {
                begun = begun || (IN_RUNS && rows.head.at(r, j));
                result[j] = convert<out_t>(has && !begun ? apply_operator(value_of(prefix), item[j])
                                                         : item[j]);
            }
        } else {
            result[0] = convert<out_t>(value_of(prefix));
            UNROLL
            for (int j = 1; j < VECTOR; j++) {
                begun = begun || (IN_RUNS && rows.head.at(r, j - 1));
                result[j] = convert<out_t>(begun ? item[j - 1]
                                                 : apply_operator(value_of(prefix), item[j - 1]));
            }
            UNROLL
            for (int j = 0; j < VECTOR; j++)
                if (IN_RUNS && rows.head.at(r, j))
                    result[j] = convert<out_t>(static_cast<value_t>(a.init));
        }
        const u64 at = first + static_cast<u64>(r) * ROW_ITEMS;
        if (WHOLE || at + VECTOR <= a.n)
            store_items(a.out + at, result);
        else
            for (int j = 0; j < VECTOR; j++)
                if (at + static_cast<u64>(j) < a.n) a.out[at + static_cast<u64>(j)] = result[j];
    }
}

#include "scan_segments.h"

KERNEL(scan_tiles, scan_args, scan_shared)
{
    if (!left_to_tiles(a, s)) return;
    const ticket mine = open_tile(a.messages, s.tile_ticket, s.inbox);
    if ((mine.rank + 1ull) * TILE <= a.n)
        scan_tile<true>(a, s, mine);
    else
        scan_tile<false>(a, s, mine);
}

// A single thread takes tiles alone.
KERNEL(scan_segments, scan_args, scan_segments_shared)
{
    if constexpr (!SIMT_SINGLE_THREAD) scan_segments_of(a, s);
}
