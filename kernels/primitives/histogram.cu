// Histogram: counts the items of each bin, or adds up their weights.
//
// Resident blocks stride over the tiles of the input. Each counts in its own shared memory and adds
// its counts to the output once, at its end (privatisation). Several copies of the counters stand
// side by side, and each lane has its copy: two lanes meet in a bank or a counter only if they
// share a copy, so that equal items cost little more than random ones. Bins that do not fit shared
// memory are counted in the output itself.
//
// One-byte items are counted by value, whatever the bins are; at the end the block finds the bins
// of these 256 counts. Other items ask a finder (bins.h); for the few items that it is unsure of,
// the exact edges are compared.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:32:4 cpu=1024:16384:1024
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 128:1024:64 cpu=1:1:1
// %RANGE% TUNE_MIN_BLOCKS mb 1:8:1 cpu=1:1:1
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 0:4:1 cpu=3:7:1
// %RANGE% TUNE_LOAD ld 0:2:1 cpu=0:0:1
// %RANGE% TUNE_COPIES_LOG2 pc 0:5:1 cpu=0:3:1
// %RANGE% TUNE_SHARED_LOG2 sb 12:17:1 cpu=12:17:1
// %RANGE% TUNE_COMBINE cmb 0:2:1 cpu=0:0:1
// %RANGE% TUNE_WAVES wav 1:4:1 cpu=1:4:1
//
// ipt   items that a thread loads before it counts them; pixels if there are channels
// mb    least blocks a multiprocessor, which limits the registers a thread
// ipv   items a vector load (log2)
// ld    caching of the loads, see load_bytes16
// pc    most copies of the counters (log2)
// sb    bytes of shared memory for counters (log2)
// cmb   combination before counts are added. 0: none; 1: runs of equal bins of a thread; 2: equal
//       bins of a warp
// wav   blocks, in multiples of those resident at once
//
// Workload, besides that of bins.h:
//     TUNE_W          type of the weights, if there are any
//     TUNE_SUM        type of the output: u32, u64, f32 or f64
//     TUNE_CHANNELS   items a pixel
//     TUNE_ACTIVE     number of its first channels that have a histogram each
//
// Traffic: n items (and weights) are read, the bins are written. Sums of floating-point weights may
// differ in the last digits from run to run, because blocks and lanes add in any order.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "bins.h"
#include "input.h"

typedef TUNE_SUM sum_t;

#if defined(TUNE_W)
typedef TUNE_W weight_t;
typedef sum_t count_t;
enum { WEIGHTED = 1 };
#else
typedef u8 weight_t;
typedef u32 count_t; // a block counts less than 2^32 items
enum { WEIGHTED = 0 };
#endif

enum { CHANNELS = TUNE_CHANNELS, ACTIVE = TUNE_ACTIVE };
enum {
    VECTOR = 1 << TUNE_ITEMS_PER_VECTOR_LOG2, // pixels a vector
    GROUP = VECTOR * CHANNELS,
    ROWS = TUNE_ITEMS_PER_THREAD / VECTOR,
    TILE = SIMT_THREADS * ROWS * VECTOR
};

// Counters are indexed by slot: the first slot of the channel plus the bin. In shared memory a
// channel has one slot after its last bin, which counts for that bin, and the last slot takes the
// items that are in no bin.
enum {
    BY_VALUE = sizeof(item_t) == 1,
    ROOM_LOG2 = TUNE_SHARED_LOG2 - (sizeof(count_t) == 8 ? 3 : 2), // for counters
    BINS_LOG2 = BY_VALUE ? 8 : TUNE_BINS_LOG2,
    IN_SHARED = BY_VALUE || (BINS_LOG2 < FAR && BINS_LOG2 <= ROOM_LOG2),
    MOST_COPIES_LOG2 = BINS_LOG2 <= ROOM_LOG2 ? ROOM_LOG2 - BINS_LOG2 : 0,
    COPIES_LOG2 = TUNE_COPIES_LOG2 < MOST_COPIES_LOG2 ? TUNE_COPIES_LOG2 : MOST_COPIES_LOG2,
    COPIES = 1 << COPIES_LOG2,
    SLOTS = BY_VALUE    ? ACTIVE * 256 + 1
            : IN_SHARED ? (1 << BINS_LOG2) + ACTIVE + 1
                        : 1
};
enum : u32 { NOWHERE = IN_SHARED ? SLOTS - 1u : 0xffffffffu };
enum {
    // Tables for the search of edges.
    TABLE = TUNE_CELLS && !BY_VALUE,
    EDGES_IN_SHARED = TABLE && BINS_LOG2 <= 11,
    EDGES = EDGES_IN_SHARED ? (1 << BINS_LOG2) + ACTIVE : 1
};

DEFINE_INPUT(TUNE_IN, in_t, item_t)
DEFINE_INPUT(TUNE_WEIGHTS, weights_t, weight_t)

struct histogram_args {
    in_t in;
    weights_t weights;
    sum_t* out; // all channels, one after the other
    const edge_t* edges;
    u64 n; // pixels
    level levels[ACTIVE];
};

struct histogram_shared {
    count_t count[SLOTS][COPIES];
    edge_t edge[EDGES];
    cell cells[ACTIVE][TABLE ? CELLS : 1];
};

struct bin_finder { // finder of a channel
    finder bins;
    u32 slot; // first slot of the channel
};

FUNCTION u64 bins_before(const histogram_args& a, int channel)
{
    u64 bins = 0;
    UNROLL
    for (int c = 0; c < ACTIVE; c++)
        if (c < channel) bins += a.levels[c].bins;
    return bins;
}

// ---- finding ------------------------------------------------------------------------------------
FUNCTION void set_finders(const histogram_args& a, histogram_shared& s, bin_finder (&find)[ACTIVE])
{
    if constexpr (EDGES_IN_SHARED) {
        const u64 edges = bins_before(a, ACTIVE) + ACTIVE;
        for (u64 i = thread_id(); i < edges; i += SIMT_THREADS) s.edge[i] = a.edges[i];
        block_sync();
    }
    UNROLL
    for (int c = 0; c < ACTIVE; c++) {
        find[c].bins.set(a.levels[c], (EDGES_IN_SHARED ? s.edge : a.edges) + bins_before(a, c) + c);
        find[c].slot = static_cast<u32>(bins_before(a, c)) + (IN_SHARED ? static_cast<u32>(c) : 0u);
        if constexpr (TABLE) find[c].bins.use_cells(s.cells[c]);
    }
}

// Returns the byte of an item that is counted by value. 255 of those of a bool mean true; their
// counts are added up at the end.
template <class T>
FUNCTION u8 byte_of(T item)
{
    return static_cast<u8>(item);
}
FUNCTION u8 byte_of(bool8 item) { return item.byte; }

FUNCTION u32 slot_of(const histogram_args& a, const bin_finder& f, int channel, u32 bin)
{
    if constexpr (IN_SHARED) return f.slot + bin;
    const u32 last = static_cast<u32>(a.levels[channel].bins) - 1u;
    return f.slot + (bin < last ? bin : last);
}

// Finds the slots of a vector's items; skips inactive channels.
FUNCTION void find_slots(const histogram_args& a, const bin_finder (&find)[ACTIVE],
                         const item_t (&group)[GROUP], u32 (&slot)[VECTOR * ACTIVE])
{
    u32 unsure = 0;
    UNROLL
    for (int j = 0; j < VECTOR * ACTIVE; j++) {
        const int c = j % ACTIVE;
        const item_t item = group[j / ACTIVE * CHANNELS + c];
        if constexpr (BY_VALUE)
            slot[j] = static_cast<u32>(c) * 256u + byte_of(item);
        else {
            u32 bin = 0;
            const bool inside = find[c].bins.find(item, bin, unsure);
            slot[j] = inside ? slot_of(a, find[c], c, bin) : NOWHERE;
        }
    }
    if (unsure == 0) return;
    UNROLL
    for (int j = 0; j < VECTOR * ACTIVE; j++) {
        const int c = j % ACTIVE;
        if (slot[j] != NOWHERE)
            slot[j] = slot_of(a, find[c], c, find[c].bins.exact(group[j / ACTIVE * CHANNELS + c]));
    }
}

// ---- counting -----------------------------------------------------------------------------------
FUNCTION void add(const histogram_args& a, histogram_shared& s, u32 slot, u32 copy, count_t count)
{
    if constexpr (IN_SHARED)
        shared_add(&s.count[slot][copy], count);
    else if (slot != NOWHERE)
        atomic_add(a.out + slot, static_cast<sum_t>(count));
}

// Returns the copy for a thread's j-th item: one per lane, or one for each of neighbouring items of
// a single thread.
FUNCTION u32 copy_of(int j)
{
    return (SIMT_SINGLE_THREAD ? static_cast<u32>(j) : lane_id()) % COPIES;
}

template <int N>
FUNCTION void add_slots(const histogram_args& a, histogram_shared& s, const u32 (&slot)[N])
{
    if constexpr (TUNE_COMBINE == 1) {
        u32 run = slot[0], length = 1;
        UNROLL
        for (int j = 1; j < N; j++) {
            if (slot[j] != run) {
                add(a, s, run, copy_of(0), static_cast<count_t>(length));
                length = 0;
            }
            run = slot[j];
            length++;
        }
        add(a, s, run, copy_of(0), static_cast<count_t>(length));
    } else if constexpr (TUNE_COMBINE == 2) {
        UNROLL
        for (int j = 0; j < N; j++) {
            const u32 same = warp_match(FULL_WARP, slot[j]);
            if (first_set(same) == lane_id())
                add(a, s, slot[j], copy_of(j), static_cast<count_t>(count_set(same)));
        }
    } else {
        UNROLL
        for (int j = 0; j < N; j++) add(a, s, slot[j], copy_of(j), count_t(1));
    }
}

// Loads a thread's vector of pixels, or of their weights. Items past the end are arbitrary.
template <bool WHOLE, class In, int N, class T>
FUNCTION void load_group(const histogram_args& a, const In& from, u64 pixel, T (&to)[N])
{
    constexpr u64 each = N / VECTOR;
    if (WHOLE || pixel + VECTOR <= a.n)
        load_input<TUNE_LOAD>(from, pixel * each, to);
    else
        for (u64 j = 0; j < N; j++)
            to[j] = pixel * each + j < a.n * each ? input_item(from, pixel * each + j) : T{};
}

template <bool WHOLE>
FUNCTION void count_group(const histogram_args& a, histogram_shared& s,
                          const bin_finder (&find)[ACTIVE], u64 pixel, const item_t (&group)[GROUP])
{
    u32 slot[VECTOR * ACTIVE];
    find_slots(a, find, group, slot);
    if constexpr (!WHOLE) {
        UNROLL
        for (int j = 0; j < VECTOR * ACTIVE; j++)
            if (pixel + static_cast<u64>(j / ACTIVE) >= a.n) slot[j] = NOWHERE;
    }
    if constexpr (WEIGHTED) {
        weight_t weight[VECTOR];
        load_group<WHOLE>(a, a.weights, pixel, weight);
        UNROLL
        for (int j = 0; j < VECTOR; j++)
            add(a, s, slot[j], copy_of(j), convert<count_t>(weight[j]));
    } else
        add_slots(a, s, slot);
}

// Returns the first pixel of this thread in a row of a tile.
FUNCTION u64 pixel_of(u64 tile, int row)
{
    return tile * TILE + (static_cast<u64>(row) * SIMT_THREADS + thread_id()) * VECTOR;
}

FUNCTION void count_tile(const histogram_args& a, histogram_shared& s,
                         const bin_finder (&find)[ACTIVE], u64 tile)
{
    item_t item[ROWS][GROUP];
    UNROLL
    for (int r = 0; r < ROWS; r++) load_group<true>(a, a.in, pixel_of(tile, r), item[r]);
    UNROLL
    for (int r = 0; r < ROWS; r++) count_group<true>(a, s, find, pixel_of(tile, r), item[r]);
}

// Counts the last tile, row by row, which keeps the code short.
FUNCTION void count_rest(const histogram_args& a, histogram_shared& s,
                         const bin_finder (&find)[ACTIVE], u64 tile)
{
    for (int r = 0; r < ROWS; r++) {
        item_t item[GROUP];
        load_group<false>(a, a.in, pixel_of(tile, r), item);
        count_group<false>(a, s, find, pixel_of(tile, r), item);
    }
}

// ---- the block's end ----------------------------------------------------------------------------
FUNCTION count_t count_of(const histogram_shared& s, u32 slot)
{
    count_t sum = 0;
    for (u32 c = 0; c < COPIES; c++) // lanes begin at different banks
        sum += s.count[slot][(c + thread_id()) % COPIES];
    return sum;
}

FUNCTION void add_to_output(const histogram_args& a, u64 first, u64 bins, u32 bin, count_t count)
{
    if (count != 0)
        atomic_add(a.out + first + (bin < bins ? bin : bins - 1), static_cast<sum_t>(count));
}

FUNCTION void add_values(const histogram_args& a, const histogram_shared& s,
                         const bin_finder (&find)[ACTIVE])
{
    UNROLL
    for (int c = 0; c < ACTIVE; c++)
        for (u32 v = thread_id(); v < 256; v += SIMT_THREADS) {
            const item_t item = convert<item_t>(v);
            u32 unsure = 0;
            u32 bin = 0;
            if (!find[c].bins.find(item, bin, unsure)) continue;
            if (unsure != 0) bin = find[c].bins.exact(item);
            add_to_output(a, bins_before(a, c), a.levels[c].bins, bin,
                          count_of(s, static_cast<u32>(c) * 256u + v));
        }
}

FUNCTION void add_bins(const histogram_args& a, const histogram_shared& s,
                       const bin_finder (&find)[ACTIVE])
{
    UNROLL
    for (int c = 0; c < ACTIVE; c++)
        for (u32 b = thread_id(); b <= a.levels[c].bins; b += SIMT_THREADS)
            add_to_output(a, bins_before(a, c), a.levels[c].bins, b, count_of(s, find[c].slot + b));
}

// ---- kernels ------------------------------------------------------------------------------------
struct clear_shared {
    u32 none;
};

KERNEL(histogram_clear, histogram_args, clear_shared)
{
    (void)s;
    const u64 bins = bins_before(a, ACTIVE),
              threads = static_cast<u64>(block_count()) * SIMT_THREADS;
    for (u64 b = static_cast<u64>(block_id()) * SIMT_THREADS + thread_id(); b < bins; b += threads)
        a.out[b] = 0;
}

// Starts while histogram_clear runs; only additions to the output wait for it. The first tile is on
// its way while the counters and the finders are set.
KERNEL_AHEAD(histogram_count, histogram_args, histogram_shared)
{
    bin_finder find[ACTIVE];
    prefetch_this_tile<TILE * CHANNELS>(a.in, static_cast<u64>(block_id()) * TILE * CHANNELS,
                                        a.n * CHANNELS);
    if constexpr (IN_SHARED)
        for (u32 k = thread_id(); k < SLOTS * COPIES; k += SIMT_THREADS)
            s.count[k / COPIES][k % COPIES] = 0;
    set_finders(a, s, find);
    block_sync();
    if constexpr (!IN_SHARED) wait_for_launch_before();
    for (u64 tile = block_id(); tile * TILE < a.n; tile += block_count()) {
        if ((tile + 1) * TILE <= a.n)
            count_tile(a, s, find, tile);
        else
            count_rest(a, s, find, tile);
    }
    block_sync();
    wait_for_launch_before();
    if constexpr (BY_VALUE)
        add_values(a, s, find);
    else if constexpr (IN_SHARED)
        add_bins(a, s, find);
}
