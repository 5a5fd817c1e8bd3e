// Prefix scan along an axis that is not the last, of [outer][rows][columns] items, on the CPU: by
// single threads, each of which has one row of accumulators for the columns of its tile.
//
// A column of several tiles has its prefix from those above. Where that is not there yet, a thread
// adds up its tile first, tells that, waits, and reads the tile again, from the cache.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 256:4096:256
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 1:1:1
// %GONE% mb 1
// %GONE% ipv 0
// %GONE% rb 14
// %GONE% ld 0
// %GONE% ord 0
// %GONE% lb 1
// %GONE% ns 0
//
// ipt   most columns of a tile
//
// Workload: as of axis_scan.cu, but for TUNE_WHOLE_CHUNKS and TUNE_FEW_COLUMNS.
//
// Traffic: all items are read once, or twice where a prefix was late, all are written; a message of
// 8 bytes for each 4 of a value is sent and read for each column of a tile.
#define TUNE_ORDER 0
#include "input.h"
#include "operator.h"

DEFINE_INPUT(TUNE_IN, in_t, item_t)

#include "axis_scan_tile.h"

enum { WIDEST = TUNE_ITEMS_PER_THREAD, CHUNK = 32 }; // columns; of these in registers

struct axis_scan_shared {
    value_t sum[WIDEST];
    value_t through[WIDEST]; // inclusive prefixes of the tile
    ticket tile_ticket;
};

// Rows [begin, end) of columns from `column` on.
struct area {
    u64 outer, column, columns, begin, end;
};

FUNCTION u64 item_of_row(const axis_scan_args& a, const area& of, u64 row)
{
    return (of.outer * a.rows + row) * a.columns + of.column;
}

// Combines N accumulators with items. ALONE: there is nothing before these.
template <bool ALONE, bool STORE, int N>
FUNCTION void scan_items(const axis_scan_args& a, value_t* acc, u64 at)
{
    item_t item[N];
    out_t result[N];
    load_input<0>(a.in, at, item);
    for (int j = 0; j < N; j++) {
        const value_t value = convert<value_t>(item[j]), before = acc[j];
        acc[j] = ALONE ? value : apply_operator(before, value);
        if (STORE) result[j] = convert<out_t>(TUNE_INCLUSIVE ? acc[j] : before);
    }
    if (STORE) store_items(a.out + at, result);
}

template <bool ALONE, bool STORE>
FUNCTION void scan_row(const axis_scan_args& a, value_t* acc, u64 at, u64 columns)
{
    u64 j = 0;
    for (; j + CHUNK <= columns; j += CHUNK) scan_items<ALONE, STORE, CHUNK>(a, acc + j, at + j);
    for (; j < columns; j++) scan_items<ALONE, STORE, 1>(a, acc + j, at + j);
}

template <bool STORE>
FUNCTION void scan_area(const axis_scan_args& a, value_t* acc, const area& of, bool has_prefix)
{
    u64 row = of.begin;
    if (!has_prefix && row < of.end)
        scan_row<true, STORE>(a, acc, item_of_row(a, of, row++), of.columns);
    for (; row < of.end; row++) scan_row<false, STORE>(a, acc, item_of_row(a, of, row), of.columns);
}

FUNCTION void send_sums(const axis_scan_args& a, const area& of, const tile& t, const value_t* sums,
                        message_status status)
{
    if (t.band + 1 == t.bands) return;
    for (u64 j = 0; j < of.columns; j++)
        message_send(a.messages, message_of(a, t, t.band, of.outer, of.column + j), sums[j],
                     message_tag(t.mine, status));
}

// True if the tile above has all its prefixes, which are the accumulators then.
FUNCTION bool take_prefixes(const axis_scan_args& a, const area& of, const tile& t, value_t* acc)
{
    for (u64 j = 0; j < of.columns; j++)
        if (message_poll(a.messages, message_of(a, t, t.band - 1, of.outer, of.column + j), t.mine,
                         acc[j]) != MESSAGE_COMPLETE)
            return false;
    return true;
}

FUNCTION value_t prefix_of_column(const axis_scan_args& a, const area& of, const tile& t,
                                  u64 column)
{
    value_t prefix{}, total;
    for (u64 band = t.band; band-- > 0;) {
        message_status status;
        do {
            status = message_poll(a.messages, message_of(a, t, band, of.outer, of.column + column),
                                  t.mine, total);
            if (status == MESSAGE_NONE) spin_pause();
        } while (status == MESSAGE_NONE);
        prefix = band + 1 == t.band ? total : apply_operator(total, prefix);
        if (status == MESSAGE_COMPLETE) break;
    }
    return prefix;
}

FUNCTION void scan_columns(const axis_scan_args& a, axis_scan_shared& s, const tile& t,
                           const area& of)
{
    bool has_prefix = a.has_init != 0, told = false;
    for (u64 j = 0; has_prefix && j < of.columns; j++) s.sum[j] = static_cast<value_t>(a.init);
    if (t.band > 0) {
        if (!take_prefixes(a, of, t, s.sum)) {
            scan_area<false>(a, s.sum, of, false);
            send_sums(a, of, t, s.sum, MESSAGE_PARTIAL);
            for (u64 j = 0; j < of.columns; j++) {
                const value_t total = s.sum[j];
                s.sum[j] = prefix_of_column(a, of, t, j);
                s.through[j] = apply_operator(s.sum[j], total);
            }
            send_sums(a, of, t, s.through, MESSAGE_COMPLETE);
            told = true;
        }
        has_prefix = true;
    }
    scan_area<true>(a, s.sum, of, has_prefix);
    if (!told) send_sums(a, of, t, s.sum, MESSAGE_COMPLETE);
}

KERNEL(axis_scan_tiles, axis_scan_args, axis_scan_shared)
{
    const tile t = take_tile(a, s.tile_ticket, 1, a.high);
    const u64 begin = t.band * a.high, last = t.outer + a.deep;
    area of{0, t.strip, a.columns - t.strip, begin, begin + a.high};
    if (of.columns > a.wide) of.columns = a.wide;
    if (of.end > a.rows) of.end = a.rows;
    for (of.outer = t.outer; of.outer < last && of.outer < a.outer; of.outer++)
        scan_columns(a, s, t, of);
    end_tile(a, t);
}
