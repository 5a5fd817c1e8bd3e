// Deterministic reduction (deterministic.h) of an array, or of every segment of one.
//
// The items of a tile are distributed to lanes. If the operator is commutative, each place in a row
// has an accumulator that goes down the rows of a part; otherwise a row is combined before the
// next. Then the places of a vector, the lanes and the parts are combined in order. A segment is
// cut into tiles from its own beginning, so that its result does not depend on where it lies and is
// that of an array of its own. The tiles' totals are reduced like items, tile by tile.
//
// The first kernel is for segments: a warp takes as many segments as it has lanes. A lane reduces a
// short segment alone, with the operations of the whole warp. The warp reduces a segment of up to a
// tile. Each tile of a longer segment is left to a block of the second kernel, and the third kernel
// reduces the totals. A whole array starts with the second kernel.
//
// Rounding: with rows of 32 v items and parts of r rows an operand goes through at most d = r + v +
// 11 operations in a tile, and as many in a tile of totals. So the error of a sum, to first order,
// is at most (2 d + t) u sum|x|, where u is the unit roundoff and t + 1 the number of tiles of
// totals. For float32 d is 23, and t is 0 up to 2^26 items. (N. J. Higham, "The Accuracy of
// Floating Point Summation", SIAM J. Sci. Comput. 14, 1993, bounds any order by its longest path.)
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:128:4 cpu=4:4:1
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:32 cpu=1:1:1
// %RANGE% TUNE_LOAD ld 0:2:1 cpu=0:0:1
// %RANGE% TUNE_WAVES wav 1:64:1 cpu=1:16:1
//
// ipt   items a thread has in flight, rounded to whole rows
// ld    caching of the loads, see load_bytes16
// wav   blocks, in multiples of those resident at once
//
// Traffic: the items and the offsets are read, one item a segment is written.
#include "deterministic.h"
#include "input.h"
#include "integer.h"
#include "operator.h"
#include "segments.h"

DEFINE_INPUT(TUNE_IN, in_t, item_t)

enum {
    VECTOR = row_vector(sizeof(item_t)),
    TILE = PARTS * part_rows(sizeof(item_t)) * 32 * VECTOR,
    SHORT_LANES = 8,
    SHORT = SHORT_LANES * VECTOR // items that a lane reduces alone
};

static_assert(sizeof(acc_t) == TUNE_ACC_BYTES && TILE == TUNE_TILE, "the descriptor makes room");

// Segment of more than a tile; its totals have `tiles` slots from `first` on.
struct long_segment {
    u64 segment, first, tiles;
};

struct deterministic_reduce_args {
    in_t in;
    out_t* out;
    segments set;
    u64 capacity; // number of slots
    u64* counts;  // long segments and slots taken; 0 at first
    u64* owners;  // 1 + the long segment of each slot, or 0; NULL for an array
    long_segment* longs;
    acc_t* totals; // one per slot
    initial_t init;
    u64 has_init;
};

struct deterministic_reduce_shared {
    acc_t part[PARTS];
};

// Input of a reduction: the array, or the totals.
struct items {
    typedef item_t type;
    enum { LOADS_AT_ONCE = TUNE_ITEMS_PER_THREAD / VECTOR };
    const in_t& in;
    template <int N>
    FUNCTION_MEMBER void load(u64 at, type (&out)[N]) const
    {
        // A single thread that stands for all lanes reads so much at once that vectors do not
        // matter.
        if (!TUNE_SEGMENTS || LANES > 1 || at % N == 0)
            load_input<TUNE_LOAD>(in, at, out);
        else { // the segment is not aligned
            UNROLL
            for (int j = 0; j < N; j++) out[j] = input_item(in, at + static_cast<u64>(j));
        }
    }
    FUNCTION_MEMBER type item(u64 i) const { return input_item(in, i); }
    FUNCTION_MEMBER acc_t add(acc_t acc, type item) const { return accumulate(acc, item, 0); }
};
struct totals {
    typedef acc_t type;
    enum { LOADS_AT_ONCE = 1 };
    const acc_t* total;
    template <int N>
    FUNCTION_MEMBER void load(u64 at, type (&out)[N]) const
    {
        UNROLL
        for (int j = 0; j < N; j++) out[j] = total[at + static_cast<u64>(j)];
    }
    FUNCTION_MEMBER type item(u64 i) const { return total[i]; }
    FUNCTION_MEMBER acc_t add(acc_t acc, type item) const { return combine()(acc, item); }
};

// ---- a part, by a warp --------------------------------------------------------------------------
// Combines the accumulators of the first `count` places of a row; the result is in the first lane.
template <int V, int N>
FUNCTION acc_t row_total(const acc_t (&acc)[N], u32 count)
{
    acc_t lane[LANES];
    UNROLL
    for (int l = 0; l < LANES; l++) {
        const u32 place = (lane_id() + static_cast<u32>(l)) * V;
        lane[l] = acc[l * V];
        UNROLL
        for (int v = 1; v < V; v++)
            if (place + static_cast<u32>(v) < count) lane[l] = combine()(lane[l], acc[l * V + v]);
    }
    return lanes_reduce(lane, ceil_div(count, V), combine());
}

template <int N>
FUNCTION void clear(acc_t (&acc)[N])
{
    UNROLL
    for (int j = 0; j < N; j++) acc[j] = acc_identity();
}

// Reduces items [first, end), at least one and at most a part; the result is in the first lane.
template <class In>
FUNCTION acc_t part_total(const In& in, u64 first, u64 end)
{
    typedef typename In::type T;
    constexpr int V = row_vector(sizeof(T)), ROWS = part_rows(sizeof(T)), N = LANES * V;
    constexpr int MOST = In::LOADS_AT_ONCE < ROWS ? In::LOADS_AT_ONCE : ROWS;
    constexpr int LOADS = MOST >= 8 ? 8 : MOST >= 4 ? 4 : MOST >= 2 ? 2 : 1;
    constexpr u64 ROW = 32 * V;
    acc_t acc[N], sum = acc_identity();
    const u32 places = end - first < ROW ? static_cast<u32>(end - first) : static_cast<u32>(ROW);
    clear(acc);
    for (int r = 0; r < ROWS && first < end; r += LOADS, first += LOADS * ROW) {
        T item[LOADS][N];
        UNROLL
        for (int l = 0; l < LOADS; l++) {
            const u64 at = first + static_cast<u64>(l) * ROW + lane_id() * N;
            if (at + N <= end) in.load(at, item[l]);
        }
        UNROLL
        for (int l = 0; l < LOADS; l++) {
            const u64 row = first + static_cast<u64>(l) * ROW, at = row + lane_id() * N;
            if (at + N <= end) {
                UNROLL
                for (int j = 0; j < N; j++) acc[j] = in.add(acc[j], item[l][j]);
            } else {
                UNROLL
                for (int j = 0; j < N; j++)
                    if (at + static_cast<u64>(j) < end)
                        acc[j] = in.add(acc[j], in.item(at + static_cast<u64>(j)));
            }
            if constexpr (!TUNE_COMMUTATIVE) {
                if (row >= end) continue;
                const u64 left = end - row;
                const acc_t total = row_total<V>(acc, left < ROW ? static_cast<u32>(left) : ROW);
                sum = r + l > 0 ? combine()(sum, total) : total;
                clear(acc);
            }
        }
    }
    return TUNE_COMMUTATIVE ? row_total<V>(acc, places) : sum;
}

// ---- a tile -------------------------------------------------------------------------------------
template <class In>
FUNCTION constexpr u64 part_items()
{
    return static_cast<u64>(part_rows(sizeof(typename In::type))) * 32 *
           row_vector(sizeof(typename In::type));
}

FUNCTION u64 part_end(u64 first, u64 items, u64 end)
{
    return end - first < items ? end : first + items;
}

// Reduces a tile with the block; the result is in thread 0. The storage may be used again after the
// next block_sync.
template <class In>
FUNCTION acc_t tile_total(const In& in, u64 first, u64 end, deterministic_reduce_shared& s)
{
    constexpr u64 PART = part_items<In>();
    for (u32 p = warp_id(); p < PARTS; p += SIMT_WARPS) {
        const u64 begin = first + p * PART;
        if (begin < end) {
            const acc_t total = part_total(in, begin, part_end(begin, PART, end));
            if (lane_id() == 0) s.part[p] = total;
        }
    }
    block_sync();
    acc_t sum = acc_identity();
    if (thread_id() == 0 && first < end) {
        sum = s.part[0];
        for (u32 p = 1; p < PARTS && first + p * PART < end; p++) sum = combine()(sum, s.part[p]);
    }
    return sum;
}

// Reduces a tile with a warp; the result is in the first lane.
template <class In>
FUNCTION acc_t tile_total(const In& in, u64 first, u64 end)
{
    constexpr u64 PART = part_items<In>();
    acc_t sum = part_total(in, first, part_end(first, PART, end));
    for (u64 begin = first + PART; begin < end; begin += PART)
        sum = combine()(sum, part_total(in, begin, part_end(begin, PART, end)));
    return sum;
}

// Reduces up to SHORT items with one lane, in the same order.
FUNCTION acc_t short_total(const items& in, u64 first, u64 end)
{
    acc_t lane[SHORT_LANES];
    const u32 count = static_cast<u32>(end - first);
    UNROLL
    for (u32 l = 0; l < SHORT_LANES; l++) {
        UNROLL
        for (u32 v = 0; v < VECTOR; v++) {
            if (l * VECTOR + v >= count) continue;
            const acc_t one = in.add(acc_identity(), in.item(first + l * VECTOR + v));
            lane[l] = v > 0 ? combine()(lane[l], one) : one;
        }
    }
    UNROLL
    for (u32 d = 1; d < SHORT_LANES; d *= 2) {
        UNROLL
        for (u32 l = 0; l + d < SHORT_LANES; l += 2 * d)
            if ((l + d) * VECTOR < count) lane[l] = combine()(lane[l], lane[l + d]);
    }
    return count ? lane[0] : acc_identity();
}

// ---- segments -----------------------------------------------------------------------------------
// Takes slots for the tiles of a segment; called by a warp. There may be too few slots if segments
// overlap, which is an error of the caller.
FUNCTION void leave_tiles(const deterministic_reduce_args& a, u64 segment, u64 tiles)
{
    u64 number = 0, first = 0;
    if (lane_id() == 0) {
        number = atomic_add(a.counts, 1);
        first = atomic_add(a.counts + 1, tiles);
        if (number < a.capacity) a.longs[number] = long_segment{segment, first, tiles};
    }
    number = warp_shuffle(number, 0);
    first = warp_shuffle(first, 0);
    for (u64 slot = first + lane_id(); slot < first + tiles; slot += SIMT_WARP)
        if (slot < a.capacity && number < a.capacity) a.owners[slot] = number + 1;
}

FUNCTION u64 segment_items(const deterministic_reduce_args& a, u64 segment, u64& begin)
{
    begin = segment_begin(a.set, segment);
    const u64 end = segment_end(a.set, segment);
    return end > begin ? end - begin : 0;
}

KERNEL(deterministic_reduce_segments, deterministic_reduce_args, deterministic_reduce_shared)
{
    (void)s;
    const u64 share = ceil_div(ceil_div(a.set.count, block_count()), SIMT_THREADS) * SIMT_THREADS;
    const u64 last = smaller(a.set.count, (block_id() + 1ull) * share);
    for (u64 first = block_id() * share + warp_id() * SIMT_WARP; first < last;
         first += SIMT_THREADS) {
        u64 begin, count = 0;
        if (first + lane_id() < last) {
            count = segment_items(a, first + lane_id(), begin);
            if (count <= SHORT)
                write_result(a, first + lane_id(), short_total(items{a.in}, begin, begin + count),
                             count == 0);
        }
        u32 others = warp_ballot(FULL_WARP, count > SHORT);
        for (; others; others &= others - 1) {
            const u64 segment = first + first_set(others);
            const u64 length = segment_items(a, segment, begin);
            if (length > TILE) {
                leave_tiles(a, segment, ceil_div(length, TILE));
                continue;
            }
            const acc_t sum = tile_total(items{a.in}, begin, begin + length);
            if (lane_id() == 0) write_result(a, segment, sum);
        }
    }
}

// ---- tiles --------------------------------------------------------------------------------------
KERNEL(deterministic_reduce_tiles, deterministic_reduce_args, deterministic_reduce_shared)
{
    const u64 slots = TUNE_SEGMENTS ? smaller(a.counts[1], a.capacity) : a.capacity;
    for (u64 slot = block_id(); slot < slots; slot += block_count()) {
        u64 begin = 0, end = a.set.items, tile = slot;
        if constexpr (TUNE_SEGMENTS) {
            const u64 owner = a.owners[slot];
            if (owner == 0) continue; // same for all threads of the block
            const long_segment l = a.longs[owner - 1];
            const u64 count = segment_items(a, l.segment, begin);
            end = begin + count;
            tile = slot - l.first;
        }
        const u64 first = begin + tile * TILE;
        const acc_t sum = tile_total(items{a.in}, first, part_end(first, TILE, end), s);
        if (thread_id() == 0) {
            if (!TUNE_SEGMENTS && a.capacity == 1)
                write_result(a, 0, sum);
            else
                a.totals[slot] = sum;
        }
        block_sync();
    }
}

// ---- totals -------------------------------------------------------------------------------------
KERNEL(deterministic_reduce_totals, deterministic_reduce_args, deterministic_reduce_shared)
{
    constexpr u64 TOTALS = PARTS * part_items<totals>();
    const u64 count = TUNE_SEGMENTS ? smaller(a.counts[0], a.capacity) : 1;
    for (u64 number = block_id(); number < count; number += block_count()) {
        long_segment l{0, 0, a.capacity};
        if constexpr (TUNE_SEGMENTS) l = a.longs[number];
        if (l.first + l.tiles > a.capacity) continue; // same for all threads of the block
        acc_t sum = acc_identity();
        for (u64 t = 0; t < l.tiles; t += TOTALS) {
            const u64 first = l.first + t, end = l.first + l.tiles;
            const acc_t total =
                tile_total(totals{a.totals}, first, part_end(first, TOTALS, end), s);
            sum = t > 0 ? combine()(sum, total) : total;
            block_sync();
        }
        if (thread_id() == 0) write_result(a, l.segment, sum);
    }
}
