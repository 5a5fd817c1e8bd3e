// Repeats of items: run-length decoding, and numpy.repeat with an array of counts.
//
// ends[k] is the end of item k's repeats in the output: the inclusive sum of the counts. A block
// takes a tile of the output, however many items it includes. One warp searches for the item at the
// tile's beginning, 32 places at a time. Then each item that begins in the tile marks its first
// place in shared memory with its number. The item of a place is the largest mark up to there, by a
// maximum scan in rows (rows.h), so that each lane stores a vector of neighbouring results. Items
// with count 0 leave no mark; there may be many, but fewer than 2^32 in a tile. Places after the
// last item's repeats are filled with the last item. (The scan of marks replaces the search per
// thread in the load-balancing search of Baxter's moderngpu, 2013.)
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:32:4 cpu=1024:16384:1024
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:32 cpu=1:1:1
// %RANGE% TUNE_MIN_BLOCKS mb 1:6:1 cpu=1:1:1
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 0:4:1 cpu=3:7:1
//
// ipt   outputs a thread
// mb    least blocks a multiprocessor, which limits the registers a thread
// ipv   outputs a vector (log2)
//
// Workload:
//     TUNE_T   type of the items; only its size matters
//
// Traffic: ends and items are read, the output is written.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "block.h"
#include "memory.h"
#include "types.h"

struct words16 { // item of 16 bytes
    u64 word[2];
};
typedef TUNE_T item_t;

enum {
    VECTOR = 1 << TUNE_ITEMS_PER_VECTOR_LOG2,
    ROWS = TUNE_ITEMS_PER_THREAD / VECTOR,
    ROW_ITEMS = SIMT_WARP * VECTOR,
    TILE = SIMT_THREADS * ROWS * VECTOR
};

struct repeat_args {
    const item_t* in;
    const i64* ends;
    item_t* out;
    u64 n;     // items
    u64 total; // outputs
};

struct repeat_shared {
    u64 begin_item;
    u32 warp[SIMT_WARPS];
    alignas(16) u32 mark[TILE]; // 1 + the item that begins here, counted from begin_item; or 0
};

struct larger {
    FUNCTION_MEMBER u32 operator()(u32 a, u32 b) const { return a > b ? a : b; }
};

// Returns the first item whose repeats end after `place`, or n. The lanes of a warp search
// together.
FUNCTION u64 find_item(const i64* ends, u64 n, u64 place)
{
    u64 low = 0, high = n; // the result is in [low, high]
    while (low < high) {
        const u64 step = (high - low + SIMT_WARP) / (SIMT_WARP + 1); // at least 1
        const u64 at = low + (lane_id() + 1) * step - 1;
        const bool behind = at >= high || static_cast<u64>(ends[at]) > place;
        const u32 votes = warp_ballot(FULL_WARP, behind);
        const u32 before = votes ? first_set(votes) : SIMT_WARP; // lanes before the result
        const u64 from = low + before * step;
        if (votes && from + step - 1 < high) high = from + step - 1;
        low = from;
    }
    return low;
}

KERNEL(repeat_tiles, repeat_args, repeat_shared)
{
    const u64 begin = static_cast<u64>(block_id()) * TILE;
    const u64 end = begin + TILE < a.total ? begin + TILE : a.total;
    const u32 local = warp_id() * static_cast<u32>(ROWS * ROW_ITEMS) + lane_id() * VECTOR;

    if (warp_id() == 0) {
        const u64 item = find_item(a.ends, a.n, begin);
        if (lane_id() == 0) s.begin_item = item;
    }
    for (u32 k = thread_id(); k < TILE; k += SIMT_THREADS) s.mark[k] = 0;
    block_sync();

    // Marks chunks of items, until one begins after the tile.
    const u64 begin_item = s.begin_item;
    for (u64 k = begin_item + thread_id(); k < a.n; k += SIMT_THREADS) {
        const u64 from = k > 0 ? static_cast<u64>(a.ends[k - 1]) : 0;
        if (from >= end) break;
        const u64 to = static_cast<u64>(a.ends[k]);
        if (to > from)
            s.mark[from > begin ? from - begin : 0] = static_cast<u32>(k - begin_item) + 1u;
    }
    block_sync();

    u32 mark[ROWS][VECTOR]; // then prefix maxima within the vector
    u32 before[ROWS];       // maximum of the warp's preceding lanes and rows
    u32 carry = 0;
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        load_items<0>(s.mark + local + r * ROW_ITEMS, mark[r]);
        UNROLL
        for (int j = 1; j < VECTOR; j++) mark[r][j] = larger()(mark[r][j - 1], mark[r][j]);
        const u32 through = warp_scan(mark[r][VECTOR - 1], larger());
        const u32 left = warp_shuffle(through, lane_id() - 1);
        before[r] = lane_id() > 0 ? larger()(carry, left) : carry;
        carry = larger()(carry, warp_shuffle(through, SIMT_WARP - 1));
    }
    if (lane_id() == 0) s.warp[warp_id()] = carry;
    block_sync();

    u32 warps = warp_scan(s.warp[lane_id() < SIMT_WARPS ? lane_id() : 0], larger());
    warps = warp_shuffle(warps, warp_id() - 1);
    if (warp_id() == 0) warps = 0;
    const item_t* const in = a.in + begin_item - 1; // marks count from 1
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        const u64 at = begin + local + static_cast<u64>(r) * ROW_ITEMS;
        const u32 base = larger()(warps, before[r]);
        item_t result[VECTOR];
        if (at + VECTOR <= a.total) {
            UNROLL
            for (int j = 0; j < VECTOR; j++) result[j] = in[larger()(base, mark[r][j])];
            store_items(a.out + at, result);
        } else
            for (int j = 0; j < VECTOR; j++)
                if (at + static_cast<u64>(j) < a.total)
                    a.out[at + static_cast<u64>(j)] = in[larger()(base, mark[r][j])];
    }
}
