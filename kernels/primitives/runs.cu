// Runs of equal consecutive keys, in a single pass: reduction by key, run lengths, runs of more
// than one item, or the first value of each run.
//
// A block takes a tile in rows (rows.h) and flags the items at which results are written: those
// that begin a run, or (TUNE_RUNS 2) those where single items and longer runs meet. Flags are
// counted as in select.cu, which gives each flagged item its rank. The result of a run is known at
// the head of the next run, and one item past the end is a head that closes the last run. So only
// the first flagged item of a tile depends on the tiles before: on the number of flags there, and
// on the combination of the items since the last flag (or only its index). Look-back (lookback.h)
// provides both, while everything else waits in shared memory, from where it is stored coalesced.
//
// Sums are a segmented scan: a warp adds vectors as far back as a ballot of the flagged lanes
// tells. (S. Sengupta, M. Harris, Y. Zhang and J. D. Owens, "Scan Primitives for GPU Computing",
// 2007, introduced segmented scans on GPUs. The pairs of count and sum are those of CUB's
// reduce-by-key.)
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:32:2 cpu=1024:16384:1024
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
// The parameters are those of select.cu.
//
// Workload:
//     TUNE_RUNS    0: reduction of each run's values with the operator of operator.h
//                  1: the lengths of the runs
//                  2: beginnings and lengths of the runs of more than one item
//                  3: the value at the head of each run
//     TUNE_K       type of the keys
//     TUNE_T       type of the values (0, 3)
//     TUNE_O       type of the results
//     TUNE_COUNT   an unsigned type that counts the items and one more
//
// Traffic: keys and values are read, a key and a result for each run are written.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#define TUNE_LOOK 1
#include "input.h"
#include "lookback.h"
#include "rows.h"
#include "types.h"

enum {
    REDUCTIONS = TUNE_RUNS == 0,
    LENGTHS = TUNE_RUNS == 1,
    LONG_RUNS = TUNE_RUNS == 2,
    FIRST_VALUES = TUNE_RUNS == 3,
    HAS_VALUES = REDUCTIONS || FIRST_VALUES,
    CLOSES = REDUCTIONS || LENGTHS, // the item past the end is flagged
    VECTOR = 1 << TUNE_ITEMS_PER_VECTOR_LOG2,
    ROWS = TUNE_ITEMS_PER_THREAD / VECTOR,
    ROW_ITEMS = SIMT_WARP * VECTOR,
    TILE = SIMT_THREADS * ROWS * VECTOR
};
static_assert(TILE <= 65536, "an item's place in the tile is 16 bits");

typedef TUNE_K run_key;
typedef TUNE_COUNT count_t;

// value_t: combination of the items from a flagged one on, by apply_operator.
// staged_t: entry of a flagged item in shared memory, made from the combination of the items before
// it, its own value and its place in the tile.
#if TUNE_RUNS == 0
#include "operator.h"
typedef value_t staged_t;
FUNCTION value_t value_of(item_t item) { return convert<value_t>(item); }
FUNCTION value_t value_at(u64) { return value_t{}; }
FUNCTION staged_t staged_of(value_t sum, item_t, u32) { return sum; }
#else
struct words16 { // value of 16 bytes
    u64 word[2];
};
typedef TUNE_T item_t;
typedef TUNE_O out_t;
typedef count_t value_t; // index of the flagged item, which other items do not change
FUNCTION value_t apply_operator(value_t a, value_t) { return a; }
FUNCTION value_t value_of(item_t) { return 0; }
FUNCTION value_t value_at(u64 index) { return static_cast<value_t>(index); }
#if TUNE_RUNS == 3
typedef item_t staged_t;
FUNCTION staged_t staged_of(value_t, item_t item, u32) { return item; }
#else
typedef u16 staged_t;
FUNCTION staged_t staged_of(value_t, item_t, u32 place) { return static_cast<u16>(place); }
#endif
#endif

DEFINE_INPUT(TUNE_KEYS, keys_t, run_key)
DEFINE_INPUT(TUNE_IN, values_t, item_t)

struct runs_args {
    keys_t keys;
    values_t values;
    run_key* keys_out;
    out_t* out;
    i64* offsets;
    u64* count;
    u64 n;
    u64* messages; // one per tile
};

// Partial result of a stretch of items.
struct tally {
    value_t carry; // items from the last flagged one on, or all if none is flagged
    count_t count; // flagged items
};
struct join {
    FUNCTION_MEMBER tally operator()(tally x, tally y) const
    {
        return tally{y.count ? y.carry : apply_operator(x.carry, y.carry), x.count + y.count};
    }
};

struct runs_shared {
    ticket tile_ticket;
    cluster_inbox<tally> inbox;
    tally warp[SIMT_WARPS];
    tally before; // all tiles before this one
    u32 begins;   // 1: the tile's first item is flagged
    // One extra entry for the branch-free stores of a single thread.
    staged_t staged[TILE + 1];
    run_key key[LONG_RUNS ? 1 : TILE + 1];
};

// Turns heads of runs into flags of the items where single items and longer runs meet. An item is
// in a longer run if it equals the one before it or the one after it.
template <bool WHOLE>
FUNCTION void find_edges(const keys_t& in, u64 first, u64 n, const run_key (&key)[ROWS][VECTOR],
                         bool (&head)[ROWS][VECTOR])
{
    bool behind[ROWS];
    heads_behind(in, first, n, key, head, behind);
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        UNROLL
        for (int j = 0; j < VECTOR; j++) {
            const u64 i = first + static_cast<u64>(r) * ROW_ITEMS + static_cast<u64>(j);
            const bool next = j + 1 < VECTOR ? head[r][j + 1 < VECTOR ? j + 1 : j] : behind[r];
            head[r][j] = (WHOLE || i < n) && head[r][j] != next;
        }
    }
}

// Flags the items at which results are written.
template <bool WHOLE>
FUNCTION void find_flagged(const runs_args& a, u64 first, const run_key (&key)[ROWS][VECTOR],
                           bool (&flag)[ROWS][VECTOR])
{
    find_heads<WHOLE>(a.keys, first, a.n, key, flag);
    if constexpr (LONG_RUNS)
        find_edges<WHOLE>(a.keys, first, a.n, key, flag);
    else if constexpr (!WHOLE) {
        UNROLL
        for (int r = 0; r < ROWS; r++) {
            UNROLL
            for (int j = 0; j < VECTOR; j++) {
                const u64 i = first + static_cast<u64>(r) * ROW_ITEMS + static_cast<u64>(j);
                if (i >= a.n + CLOSES) flag[r][j] = false;
            }
        }
    }
}

// Sums of a thread's values since the last flag, vector by vector.
struct row_sums {
    value_t before[ROWS];  // preceding lanes of the row
    value_t through[ROWS]; // warp up to the row's end
    u32 flagged[ROWS];     // mask of the row's lanes that have a flag
};

FUNCTION void sum_rows(const value_t (&value)[ROWS][VECTOR], const bool (&flag)[ROWS][VECTOR],
                       row_sums& c)
{
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        value_t sum = value[r][0];
        bool any = flag[r][0];
        UNROLL
        for (int j = 1; j < VECTOR; j++) {
            sum = flag[r][j] ? value[r][j] : apply_operator(sum, value[r][j]);
            any = any || flag[r][j];
        }
        c.flagged[r] = warp_ballot(FULL_WARP, any);
        const u32 up_to_here = c.flagged[r] & (FULL_WARP >> (SIMT_WARP - 1 - lane_id()));
        const u32 reach = lane_id() - (up_to_here ? last_set(up_to_here) : 0u);
        UNROLL
        for (u32 d = 1; d < SIMT_WARP; d *= 2) {
            const value_t other = warp_shuffle(sum, lane_id() - d);
            if (d <= reach) sum = apply_operator(other, sum);
        }
        c.before[r] = warp_shuffle(sum, lane_id() - 1);
        c.through[r] = warp_shuffle(sum, SIMT_WARP - 1);
        if (r > 0 && !c.flagged[r])
            c.through[r] = apply_operator(c.through[r > 0 ? r - 1 : 0], c.through[r]);
    }
}

// Sum that may still be empty.
struct running_sum {
    value_t value;
    bool some;

    FUNCTION_MEMBER void take(value_t next, bool afresh)
    {
        value = some && !afresh ? apply_operator(value, next) : next;
        some = true;
    }
};

// Returns the place in the tile of a warp's last flagged item, if there is one.
FUNCTION u32 last_flagged(u32 local, const bool (&flag)[ROWS][VECTOR],
                          const row_counts<ROWS, VECTOR>& counts)
{
    u32 last = 0;
    bool found = false; // the same in all lanes
    UNROLL
    for (int r = ROWS - 1; r >= 0; r--) {
        if (found || counts.lanes(r) == 0) continue;
        bool any = false;
        UNROLL
        for (int j = 0; j < VECTOR; j++) {
            if (flag[r][j]) last = local + static_cast<u32>(r * ROW_ITEMS + j);
            any = any || flag[r][j];
        }
        last = warp_shuffle(last, last_set(warp_ballot(FULL_WARP, any)));
        found = true;
    }
    return last;
}

// Writes the result of the k-th flagged item of the tile, the number-th of all: that of the run
// that it ends, or for TUNE_RUNS 3 and the offsets of TUNE_RUNS 2 that of the run that it begins.
FUNCTION void write_result(const runs_args& a, const runs_shared& s, u64 begin, u32 k, u64 number)
{
#if TUNE_RUNS == 0
    (void)begin;
    value_t sum = s.staged[k];
    if (k == 0) sum = s.begins ? s.before.carry : apply_operator(s.before.carry, sum);
    if (number > 0) a.out[number - 1] = convert<out_t>(sum);
#elif TUNE_RUNS == 3
    (void)begin;
    a.out[number] = s.staged[k];
#else
    const u64 at = begin + s.staged[k];
    const u64 from = k == 0 ? s.before.carry : begin + s.staged[k > 0 ? k - 1 : 0];
    if constexpr (LENGTHS) {
        if (number > 0) a.out[number - 1] = convert<out_t>(at - from);
    } else if (number % 2 == 0)
        a.offsets[number / 2] = static_cast<i64>(at);
    else
        a.out[number / 2] = convert<out_t>(at - from + 1);
#endif
}

template <bool WHOLE>
FUNCTION void runs_tile(const runs_args& a, runs_shared& s, ticket mine)
{
    const u64 begin = static_cast<u64>(mine.rank) * TILE;
    const u32 local = warp_id() * static_cast<u32>(ROWS * ROW_ITEMS) + lane_id() * VECTOR;
    const u64 first = begin + local;
    run_key key[ROWS][VECTOR];
    item_t item[ROWS][VECTOR];
    bool flag[ROWS][VECTOR];

    prefetch_tile<TUNE_AHEAD_MIB, TILE>(a.keys, begin, a.n);
    if constexpr (HAS_VALUES) prefetch_tile<TUNE_AHEAD_MIB, TILE>(a.values, begin, a.n);
    load_rows<WHOLE, TUNE_LOAD>(a.keys, first, a.n, key);
    if constexpr (HAS_VALUES) load_rows<WHOLE, TUNE_LOAD>(a.values, first, a.n, item);
    find_flagged<WHOLE>(a, first, key, flag);
    row_counts<ROWS, VECTOR> counts;
    count_rows(flag, counts);
    u32 warp_count = 0;
    UNROLL
    for (int r = 0; r < ROWS; r++) warp_count += counts.lanes(r);

    value_t value[ROWS][VECTOR];
    row_sums sums;
    tally of_warp{};
    of_warp.count = warp_count;
    if constexpr (REDUCTIONS) {
        UNROLL
        for (int r = 0; r < ROWS; r++) {
            UNROLL
            for (int j = 0; j < VECTOR; j++) value[r][j] = value_of(item[r][j]);
        }
        if constexpr (!SIMT_SINGLE_THREAD) { // a single thread adds in the loop below
            sum_rows(value, flag, sums);
            of_warp.carry = sums.through[ROWS - 1];
        }
    } else if constexpr (!FIRST_VALUES)
        of_warp.carry = value_at(begin + last_flagged(local, flag, counts));
    if (lane_id() == 0) s.warp[warp_id()] = of_warp;
    if (thread_id() == 0) s.begins = flag[0][0];
    cluster_ready();
    block_sync();

    const tally warps = warp_scan(s.warp[lane_id() < SIMT_WARPS ? lane_id() : 0], join());
    tally total = warp_shuffle(warps, SIMT_WARPS - 1);
    const tally warps_before = warp_shuffle(warps, warp_id() - 1);
    const u32 warp_begin = warp_id() > 0 ? static_cast<u32>(warps_before.count) : 0u;
    u32 row_begin = warp_begin;
    running_sum sum{};
    const bool late = SIMT_SINGLE_THREAD || TUNE_IN_PLACE; // no sum yet, or as in select.cu
    if (!late && warp_id() == 0) send_total(a.messages, mine, total, s.inbox);
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        u32 place = row_begin + counts.lanes_before(r);
        if constexpr (REDUCTIONS &&
                      !SIMT_SINGLE_THREAD) { // sum of the tile's items before the vector
            sum = running_sum{};
            if (warp_id() > 0) sum.take(warps_before.carry, true);
            if (r > 0) sum.take(sums.through[r > 0 ? r - 1 : 0], row_begin > warp_begin);
            if (lane_id() > 0)
                sum.take(sums.before[r], (sums.flagged[r] & ((1u << lane_id()) - 1u)) != 0);
        }
        UNROLL
        for (int j = 0; j < VECTOR; j++) {
            if (SIMT_SINGLE_THREAD || flag[r][j]) { // a single thread stores without a branch
                if constexpr (!LONG_RUNS) s.key[place] = key[r][j];
                const u32 in_tile = local + static_cast<u32>(r * ROW_ITEMS + j);
                s.staged[place] = staged_of(sum.value, item[r][j], in_tile);
            }
            if constexpr (REDUCTIONS) sum.take(value[r][j], flag[r][j]);
            place += flag[r][j];
        }
        row_begin += counts.lanes(r);
    }
    if constexpr (REDUCTIONS && SIMT_SINGLE_THREAD) total.carry = sum.value;
    const bool last = mine.rank + 1 == block_count();
    if (TUNE_IN_PLACE) block_sync();
    if (warp_id() == 0) {
        tally before{};
        if (late) send_total(a.messages, mine, total, s.inbox);
        tile_prefix(a.messages, mine, total, join(), before, false, s.inbox);
        if (lane_id() == 0) {
            s.before = before;
            const u64 flagged = static_cast<u64>(before.count) + total.count;
            if (last) *a.count = LONG_RUNS ? flagged / 2 : flagged - CLOSES;
        }
    }
    block_sync();

    const u64 number = s.before.count;
    const u32 count = static_cast<u32>(total.count);
    if constexpr (!LONG_RUNS) { // the item past the end has no key
        const u32 keys = count - (CLOSES && last);
        for (u32 k = thread_id(); k < keys; k += SIMT_THREADS) a.keys_out[number + k] = s.key[k];
    }
    for (u32 k = thread_id(); k < count; k += SIMT_THREADS)
        write_result(a, s, begin, k, number + k);
}

KERNEL(runs_tiles, runs_args, runs_shared)
{
    const ticket mine = open_tile(a.messages, s.tile_ticket, s.inbox);
    if ((mine.rank + 1ull) * TILE <= a.n)
        runs_tile<true>(a, s, mine);
    else
        runs_tile<false>(a, s, mine);
}
