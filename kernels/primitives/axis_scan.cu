// Prefix scan along an axis that is not the last, of [outer][rows][columns] items, in one pass.
//
// Neighbouring threads take neighbouring columns, so that loads and stores are contiguous, and each
// thread has ROWS consecutive rows of its columns in registers. A block's threads are laid out as
// `wide` column strips, `high` times ROWS rows and `deep` outer slices. A thread scans its rows,
// the `high` threads of a column scan their totals through shared memory, and the tile's prefix
// comes from the tiles above it by decoupled look-back (Merrill and Garland, "Single-pass Parallel
// Prefix Scan with Decoupled Look-back", NVR-2016-002), a message for each strip: the `high`
// threads of a strip, at most 32, look at as many times TUNE_LOOK tiles at once. lookback.h is for
// tiles in a line, each of which has one prefix, that one warp looks for; here a tile has as many
// prefixes as strips, and a strip's threads are no warp, so that they meet in shared memory.
//
// A thread takes whole rows if they are of a few columns: its items are contiguous, and go through
// 16-byte accesses, where a load of neighbouring threads would have a piece of a row from each.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:64:4
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:32
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 0:4:1
// %RANGE% TUNE_ROW_BYTES_LOG2 rb 5:14:1
// %RANGE% TUNE_LOAD ld 0:2:1
// %RANGE% TUNE_LOOK lb 1:4:1
// %RANGE% TUNE_POLL_DELAY ns 0:1000:50
// %GONE% mb 1
// %GONE% ord 1
//
// ipt   items a thread
// ipv   items a vector load (log2), if rows begin on multiples of 16 bytes
// rb    bytes of a row that a block reads at once (log2), if rows are so long
// ld    caching of the loads, see load_bytes16
// lb    tiles that a thread looks back at in one round
// ns    nanoseconds between two polls
//
// Workload, beside that of operator.h:
//     TUNE_INCLUSIVE      1: a result includes its own item
//     TUNE_WHOLE_CHUNKS   1: rows have a multiple of 16 bytes
//     TUNE_FEW_COLUMNS    the columns, if a thread takes whole rows, which are aligned then; else 0
//
// Traffic: all items are read once, all are written; a message of 8 bytes for each 4 of a strip's
// values is sent and read for each strip of a tile. Floating-point sums may differ in the last
// digits from run to run where a column has several tiles, as scan.cu's do.
#define TUNE_ORDER 1 // a block takes the tile of its index: message.h
#include "block.h"
#include "input.h"
#include "operator.h"

DEFINE_INPUT(TUNE_IN, in_t, item_t)

#include "axis_scan_tile.h"

// The least number of rows, a power of two, whose items and results are chunks of 16 bytes.
FUNCTION constexpr int rows_of_chunks(int columns, int bytes)
{
    int rows = 1;
    while (rows * columns * bytes % 16) rows *= 2;
    return rows;
}

enum {
    STRIP = TUNE_FEW_COLUMNS    ? TUNE_FEW_COLUMNS
            : TUNE_WHOLE_CHUNKS ? 1 << TUNE_ITEMS_PER_VECTOR_LOG2
                                : 1,
    MOST_ROWS = TUNE_ITEMS_PER_THREAD / STRIP > 1 ? TUNE_ITEMS_PER_THREAD / STRIP : 1,
    UNIT = rows_of_chunks(STRIP, sizeof(item_t) < sizeof(out_t) ? sizeof(item_t) : sizeof(out_t)),
    ROWS = TUNE_FEW_COLUMNS && MOST_ROWS > UNIT ? MOST_ROWS - MOST_ROWS % UNIT : MOST_ROWS,
    MOST_LOOKING = 32
};

// Values of a strip's columns in one row, or the combination of several rows. A message is a strip.
struct alignas(STRIP * sizeof(value_t) % 16 == 0 ? 16 : alignof(value_t)) strip_t {
    value_t column[STRIP];
};

FUNCTION strip_t combine_strips(const strip_t& above, const strip_t& below)
{
    strip_t both;
    UNROLL
    for (int j = 0; j < STRIP; j++)
        both.column[j] = apply_operator(above.column[j], below.column[j]);
    return both;
}

struct look_vote {
    u32 waiting, open; // 1: a strip waits for a message; a strip has no prefix yet
};

struct axis_scan_shared {
    strip_t sum[SIMT_THREADS];
    u8 known[SIMT_THREADS], complete[SIMT_THREADS];
    ticket tile_ticket;
    look_vote vote[2]; // of this round and of the next
};

// Place of a thread in its block, and of its first item in the array.
struct thread_place {
    u32 wide, high;    // of the layout
    u32 down, looking; // the threads of a strip that look back are the first ones
    u64 outer, strip, row;
    int rows;    // of the thread that are in the array
    bool active; // false: the thread has no strip, and only takes part in barriers
};

FUNCTION thread_place place_of(const axis_scan_args& a, const tile& t)
{
    thread_place p;
    p.wide = static_cast<u32>(a.wide);
    p.high = static_cast<u32>(a.high);
    p.down = thread_id() / p.wide % p.high;
    p.looking = p.high < MOST_LOOKING ? p.high : MOST_LOOKING;
    p.outer = t.outer + thread_id() / (p.wide * p.high);
    p.strip = t.strip + thread_id() % p.wide;
    p.row = (t.band * a.high + p.down) * ROWS;
    p.rows = p.row + ROWS <= a.rows ? ROWS : p.row < a.rows ? static_cast<int>(a.rows - p.row) : 0;
    p.active = thread_id() < a.wide * a.high * a.deep && p.outer < a.outer && p.strip < t.strips;
    if (!p.active) p.outer = p.strip = 0; // reads what is there, and stores nothing
    return p;
}

FUNCTION u64 item_at(const axis_scan_args& a, const thread_place& p, u64 row)
{
    return (p.outer * a.rows + row) * a.columns + p.strip * STRIP;
}

// Total of consecutive tiles of a strip, from the nearest one up.
struct tiles_above {
    strip_t sum;
    bool known, complete; // all needed tiles have answered; one was complete
};

FUNCTION void join(tiles_above& near, const tiles_above& far)
{
    if (near.complete || !near.known) return;
    near.known = far.known;
    near.complete = far.complete;
    if (far.known) near.sum = combine_strips(far.sum, near.sum);
}

// Polls the thread's tiles before `from` that have not answered. Places above the first tile, which
// is complete, count as complete and are never used.
FUNCTION void look_up_again(const axis_scan_args& a, const thread_place& p, const tile& t, u64 from,
                            tiles_above (&seen)[TUNE_LOOK])
{
    UNROLL
    for (int q = 0; q < TUNE_LOOK; q++) {
        const u64 back = p.down * static_cast<u64>(TUNE_LOOK) + static_cast<u64>(q) + 1;
        message_status status = MESSAGE_COMPLETE;
        if (seen[q].known) continue;
        if (p.active && p.down < p.looking && back <= from)
            status = message_poll(a.messages, message_of(a, t, from - back, p.outer, p.strip),
                                  t.mine, seen[q].sum);
        seen[q].known = status != MESSAGE_NONE;
        seen[q].complete = status == MESSAGE_COMPLETE;
    }
}

// Joins the stretches of a strip's threads, the first of which gets all.
FUNCTION void join_strip(axis_scan_shared& s, const thread_place& p, tiles_above& all)
{
    for (u32 d = 1; d < p.looking; d *= 2) {
        s.sum[thread_id()] = all.sum;
        s.known[thread_id()] = all.known;
        s.complete[thread_id()] = all.complete;
        block_sync();
        if (p.active && p.down % (2 * d) == 0 && p.down + d < p.looking) {
            const u32 at = thread_id() + d * p.wide;
            join(all, tiles_above{s.sum[at], s.known[at] != 0, s.complete[at] != 0});
        }
        block_sync();
    }
}

// Returns the combination of all tiles above a tile that is not the first, in a strip's first
// thread. All threads call it.
FUNCTION strip_t look_up(const axis_scan_args& a, axis_scan_shared& s, const thread_place& p,
                         const tile& t)
{
    bool done = !p.active || p.down > 0, answered = false, have = false;
    strip_t prefix{};
    tiles_above seen[TUNE_LOOK]{};
    u64 from = t.band;
    for (u32 round = 0;; round++) {
        look_up_again(a, p, t, from, seen);
        tiles_above all = seen[0];
        UNROLL
        for (int q = 1; q < TUNE_LOOK; q++) join(all, seen[q]);
        join_strip(s, p, all);
        block_sync(); // all have read the vote of the round before
        if (!done && !answered && all.known) {
            prefix = have ? combine_strips(all.sum, prefix) : all.sum;
            answered = true;
            done = all.complete;
        }
        if (!done && !answered) s.vote[round % 2].waiting = 1;
        if (!done) s.vote[round % 2].open = 1;
        if (thread_id() == 0) s.vote[(round + 1) % 2] = {0, 0};
        block_sync();
        if (!s.vote[round % 2].open) return prefix;
        if (s.vote[round % 2].waiting) {
            spin_pause_for(TUNE_POLL_DELAY);
            continue;
        }
        const u64 tiles = p.looking * static_cast<u64>(TUNE_LOOK);
        from -= tiles < from ? tiles : from;
        have = true;
        answered = false;
        UNROLL
        for (int q = 0; q < TUNE_LOOK; q++) seen[q].known = seen[q].complete = false;
    }
}

template <bool WHOLE>
FUNCTION void load_rows(const axis_scan_args& a, const thread_place& p, item_t (&item)[ROWS][STRIP])
{
    const u64 first = item_at(a, p, p.row);
    if (TUNE_FEW_COLUMNS && (WHOLE || p.rows == ROWS)) {
        item_t all[ROWS * STRIP];
        load_input<TUNE_LOAD>(a.in, first, all);
        UNROLL
        for (int k = 0; k < ROWS * STRIP; k++) item[k / STRIP][k % STRIP] = all[k];
        return;
    }
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        if (WHOLE || r < p.rows)
            load_input<TUNE_LOAD>(a.in, first + static_cast<u64>(r) * a.columns, item[r]);
    }
}

template <bool WHOLE>
FUNCTION void store_rows(const axis_scan_args& a, const thread_place& p,
                         const out_t (&result)[ROWS][STRIP])
{
    u32 later = 0; // else the addresses of the loads stay in registers until here
    unknown_value(later);
    out_t* const out = a.out + item_at(a, p, p.row) + later;
    if (TUNE_FEW_COLUMNS && (WHOLE || p.rows == ROWS)) {
        out_t all[ROWS * STRIP];
        UNROLL
        for (int k = 0; k < ROWS * STRIP; k++) all[k] = result[k / STRIP][k % STRIP];
        store_items(out, all);
        return;
    }
    UNROLL
    for (int r = 0; r < ROWS; r++)
        if (WHOLE || r < p.rows) store_items(out + static_cast<u64>(r) * a.columns, result[r]);
}

// Scans the thread's rows, and gives the total of the rows above them in the tile, and that through
// them. Rows past the end add nothing; a thread without rows has any values, of which no result is
// made.
template <bool WHOLE>
FUNCTION void scan_thread(const axis_scan_args& a, axis_scan_shared& s, const thread_place& p,
                          strip_t (&sum)[ROWS], strip_t& above, strip_t& through)
{
    item_t item[ROWS][STRIP]{};
    load_rows<WHOLE>(a, p, item);
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        UNROLL
        for (int j = 0; j < STRIP; j++) sum[r].column[j] = convert<value_t>(item[r][j]);
        if (r > 0) {
            const bool inside = WHOLE || r < p.rows;
            sum[r] = inside ? combine_strips(sum[r - 1], sum[r]) : sum[r - 1];
        }
    }
    through = sum[ROWS - 1];
    for (u32 d = 1; d < p.high; d *= 2) {
        s.sum[thread_id()] = through;
        block_sync();
        if (p.down >= d) through = combine_strips(s.sum[thread_id() - d * p.wide], through);
        block_sync();
    }
    s.sum[thread_id()] = through;
    block_sync();
    above = s.sum[p.down > 0 ? thread_id() - p.wide : thread_id()];
    block_sync();
}

// Tells the tile's total, which the lowest thread of a strip has.
FUNCTION void send_strip_total(const axis_scan_args& a, const thread_place& p, const tile& t,
                               const strip_t& total, message_status status)
{
    if (p.active && p.down + 1 == p.high && t.band + 1 < t.bands)
        message_send(a.messages, message_of(a, t, t.band, p.outer, p.strip), total,
                     message_tag(t.mine, status));
}

template <bool WHOLE>
FUNCTION void scan_tile(const axis_scan_args& a, axis_scan_shared& s, const tile& t)
{
    const thread_place p = place_of(a, t);
    strip_t sum[ROWS], above, through, prefix;
    scan_thread<WHOLE>(a, s, p, sum, above, through);
    bool has_prefix = a.has_init != 0;
    UNROLL
    for (int j = 0; j < STRIP; j++) prefix.column[j] = static_cast<value_t>(a.init);
    if (t.band > 0) {
        send_strip_total(a, p, t, through, MESSAGE_PARTIAL);
        prefix = look_up(a, s, p, t);
        if (p.down == 0) s.sum[thread_id()] = prefix;
        block_sync();
        prefix = s.sum[thread_id() - p.down * p.wide];
        has_prefix = true;
    }
    if (t.bands > 1) {
        if (has_prefix) through = combine_strips(prefix, through);
        send_strip_total(a, p, t, through, MESSAGE_COMPLETE);
        if (thread_id() == 0) end_tile(a, t);
    }
    if (!p.active) return;
    if (p.down > 0) {
        prefix = has_prefix ? combine_strips(prefix, above) : above;
        has_prefix = true;
    }
    out_t result[ROWS][STRIP];
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        strip_t all = prefix;
        if constexpr (TUNE_INCLUSIVE)
            all = has_prefix ? combine_strips(prefix, sum[r]) : sum[r];
        else if (r > 0)
            all = combine_strips(prefix, sum[r > 0 ? r - 1 : 0]);
        UNROLL
        for (int j = 0; j < STRIP; j++) result[r][j] = convert<out_t>(all.column[j]);
    }
    store_rows<WHOLE>(a, p, result);
}

KERNEL(axis_scan_tiles, axis_scan_args, axis_scan_shared)
{
    const tile t = take_tile(a, s.tile_ticket, STRIP, a.high * ROWS);
    if (thread_id() == 0) s.vote[0] = {0, 0};
    if ((t.band + 1) * a.high * ROWS <= a.rows)
        scan_tile<true>(a, s, t);
    else
        scan_tile<false>(a, s, t);
}
