// Top-k: the k smallest or largest keys of n, with their indices or values.
//
// Up to TUNE_MOST keys are found in order (topk_pool.h). Of few items a cluster selects them in its
// shared memory, in one launch. Many items are filtered first. A sample tells an item, of a key and
// an index, such that k items or more, but not too many, come before it, unless with a chance below
// one in a million. One pass over all items keeps those, and a cluster selects from them. Behind
// the filter the radix selection (topk_radix.h) is queued. It finds the k keys if too few or too
// many items were kept, as for periodic data, and otherwise returns at once, so that nothing goes
// through the host.
//
// More keys, in no particular order, are found by radix selection, and so are those whose list does
// not fit the shared memory of a block (TUNE_LONG_LIST).
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:32:4 cpu=1024:16384:1024
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 128:1024:32 cpu=1:1:1
// %RANGE% TUNE_MIN_BLOCKS mb 1:6:1 cpu=1:1:1
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 0:4:1 cpu=3:7:1
// %RANGE% TUNE_LOAD ld 0:2:1 cpu=0:0:1
// %RANGE% TUNE_COPIES_LOG2 hc 0:5:1 cpu=0:3:1
// %GONE% lb 1
// %GONE% ns 50
//
// ipt, mb, ipv, ld   as in select.cu
// hc                 histograms that neighbouring lanes count in (log2)
//
// Workload:
//     TUNE_KEY, TUNE_KEY_KIND, TUNE_MANTISSA_BITS, TUNE_DESCENDING   see radix.h
//     TUNE_RADIX_BITS                bits of a digit; the last digit has the remaining bits. Not
//                                    tunable: the pass that selects a key, and so the order of
//                                    the result, depends on it
//     TUNE_VALUE, TUNE_VALUE_WIDTH   a value is that many unsigned words
//     TUNE_INDICES                   1: the values are the keys' indices
//     TUNE_OFFSET                    type that counts items: u32, or u64 if there are more
//     TUNE_FILTERS                   1: up to TUNE_MOST keys, so that there may be a filter
//     TUNE_LONG_LIST                 1: their list takes TUNE_LONG_BYTES of shared memory
//
// Traffic: keys in order cost one read of all keys. More are read by the count and by the first
// pass; later passes read fewer, the better the digits distinguish the keys. k keys and values are
// written.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#define TUNE_ORDER 0       // tiles are taken by number
#define TUNE_FIRST_DELAY 0 // blocks are all resident
#define TUNE_LOOK 1
#define TUNE_POLL_DELAY 50
#define IN_A_CLUSTER 1
// The host decides likewise (in_order). A single thread has the longer list in order no faster.
#define IN_ORDER     \
    (TUNE_FILTERS && \
     (!TUNE_LONG_LIST || (SIMT_SHARED_BYTES >= TUNE_LONG_BYTES && !SIMT_SINGLE_THREAD)))
#define POOL_MOST (IN_ORDER ? TUNE_MOST : 1)
#include "integer.h"
#include "lookback.h"
#include "radix.h"
#include "topk_pool.h"

typedef TUNE_OFFSET offset_t;

enum {
    VECTOR = 1 << TUNE_ITEMS_PER_VECTOR_LOG2,
    ROWS = ITEMS / VECTOR,
    ROW_ITEMS = SIMT_WARP * VECTOR,
    COPIES = 1 << TUNE_COPIES_LOG2,
    PASSES = ceil_div(KEY_BITS, TUNE_RADIX_BITS),
    // Items that a block keeps: those of a tile, so that they may stand side by side.
    FILTER_BYTES = sizeof(key_t) + sizeof(offset_t),
    FILTER_ROOM = TILE * FILTER_BYTES <= 96 * 1024 ? TILE : 96 * 1024 / FILTER_BYTES,
    EQUAL = 1 << 16 // weight of an equal item in a packed count; that of a selected one is 1
};
static_assert(TILE < EQUAL, "the counts of a tile fit half a word");

struct value_t {
    TUNE_VALUE word[TUNE_VALUE_WIDTH];
};

// State of the radix selection before a pass; zero before the first.
struct pass_state {
    u64 prefix;   // digits of the candidates' keys so far
    u64 selected; // items with lower digits
    u64 count;    // candidates
    u64 source;   // place of the candidates: 0 in the input; 1, 2 a buffer
};

struct filter_state {
    u64 key, index; // of the last item to keep
    u64 kept;       // items, or more than there is room for
};

struct topk_args {
    in_t in;
    key_t* out;
    const value_t* values_in;
    value_t* values_out;
    u64 n, k;
    u64 pass;          // of the radix selection, if a launch is a stage
    u64 message_words; // of a pass
    u64 room;          // items of a buffer
    // Zero before the radix selection.
    u64* bins;         // [pass][RADIX]: candidates by digit
    pass_state* state; // [pass]
    u64* next_tile;    // [stage]
    u64* done;         // [stage]: tiles
    u64* messages;     // [pass][message_words]
    key_t* keys_1;     // buffers: encoded keys and indices
    key_t* keys_2;
    offset_t* indices_1;
    offset_t* indices_2;
    key_t* kept; // encoded keys to select from in order; NULL: those of the input
    offset_t* kept_indices;
    listed* list;
    filter_state* filter; // NULL: no filter
    u64 room_kept;        // items that are kept at most
    u64 samples, rank;    // of the filter's threshold among them
    u64 cleared_words;    // from `bins` on, which the filter sets to zero
};

static_assert(sizeof(filter_state) == TUNE_FILTER_BYTES && sizeof(pass_state) == TUNE_PASS_BYTES,
              "the descriptor has made room for these");

// True if the radix selection has to find the items.
FUNCTION bool filter_failed(const topk_args& a)
{
    return !a.filter || a.filter->kept < a.k || a.filter->kept > a.room_kept;
}

FUNCTION void put_result(const topk_args& a, u64 place, key_t key, u64 index)
{
    a.out[place] = decode(key);
    if constexpr (TUNE_INDICES)
        a.values_out[place].word[0] = static_cast<TUNE_VALUE>(index);
    else
        a.values_out[place] = a.values_in[index];
}

#include "topk_radix.h"

// ---- the radix selection ------------------------------------------------------------------------
KERNEL(topk_count, topk_args, topk_shared) { count_first_digits(a, s); }

KERNEL(topk_radix, topk_args, topk_shared)
{
    if constexpr (!IN_ORDER)
        run_pass(a, s);
    else if (filter_failed(a))
        run_all_stages(a, s);
}

// ---- the filter ---------------------------------------------------------------------------------
// Finds the last item to keep. One key of each stretch of the input is in the sample.
FUNCTION void find_last(const topk_args& a, pool_shared& s)
{
    pool_part part = pool_share(a.samples, a.n);
    part.stretch = static_cast<u32>(a.n / a.samples); // there are fewer than 2^32 items
    const span mine =
        fill_pool(s, part, [&](u32 j) { return encode(key_item(a.in, part.index_of(j))); });
    const pool_place last = place_in_pool(s, part, mine, span{0, static_cast<code_t>(a.n - 1)},
                                          static_cast<u32>(a.rank));
    if (cluster_block() == 0 && thread_id() == 0) *a.filter = filter_state{last.key, last.index, 0};
}

// One cluster. Plans of single threads have no filter.
KERNEL(topk_sample, topk_args, pool_shared)
{
    if constexpr (IN_ORDER && !SIMT_SINGLE_THREAD) find_last(a, s);
}

struct filter_shared {
    u32 count;
    u64 first; // place of the block's items
    key_t key[FILTER_ROOM];
    offset_t index[FILTER_ROOM];
};

// Keeps the items of a tile up to the last one; false: there is no room. Called by all lanes of a
// warp.
template <bool WHOLE>
FUNCTION bool filter_tile(const topk_args& a, filter_shared& s, key_t last_key, u64 last_index,
                          u64 tile)
{
    const u64 begin = tile * TILE;
    const u32 items = WHOLE ? TILE : static_cast<u32>(a.n - begin);
    const bool ties = begin <= last_index; // items of the last key are kept up to that index
    if (!ties && last_key == 0) return true;
    const key_t most = static_cast<key_t>(last_key - !ties);
    const auto in = input_from(a.in, begin);
    key_t key[ROWS][VECTOR];
    UNROLL
    for (u32 r = 0; r < ROWS; r++) {
        const u32 at = (r * SIMT_THREADS + thread_id()) * VECTOR;
        if (WHOLE || at + VECTOR <= items) {
            load_keys<TUNE_LOAD>(in, at, key[r]);
        } else {
            UNROLL
            for (u32 j = 0; j < VECTOR; j++)
                if (at + j < items) key[r][j] = key_item(in, at + j);
        }
    }
    u32 hits = 0; // a bit an item
    UNROLL
    for (u32 r = 0; r < ROWS; r++) {
        UNROLL
        for (u32 j = 0; j < VECTOR; j++) {
            const bool there = WHOLE || (r * SIMT_THREADS + thread_id()) * VECTOR + j < items;
            key[r][j] = encode(key[r][j]);
            hits |= static_cast<u32>(there && key[r][j] <= most) << (r * VECTOR + j);
        }
    }
    if (!warp_ballot(FULL_WARP, hits != 0)) return true;
    UNROLL
    for (u32 r = 0; r < ROWS; r++) {
        UNROLL
        for (u32 j = 0; j < VECTOR; j++) {
            const u64 index = begin + (r * SIMT_THREADS + thread_id()) * VECTOR + j;
            if (key[r][j] == last_key && index > last_index) hits &= ~(1u << (r * VECTOR + j));
        }
    }
    const u32 count = count_set(hits), through = warp_scan(count, plus());
    const u32 all = warp_shuffle(through, SIMT_WARP - 1);
    u32 place = 0;
    if (lane_id() == 0) place = shared_add(&s.count, all);
    place = warp_shuffle(place, 0);
    const bool room = place + all <= FILTER_ROOM;
    place += through - count;
    UNROLL
    for (u32 r = 0; r < ROWS; r++) {
        UNROLL
        for (u32 j = 0; j < VECTOR; j++) {
            if (!(hits >> (r * VECTOR + j) & 1u)) continue;
            if (place < FILTER_ROOM) {
                s.key[place] = key[r][j];
                s.index[place] =
                    static_cast<offset_t>(begin + (r * SIMT_THREADS + thread_id()) * VECTOR + j);
            }
            place++;
        }
    }
    return room;
}

// Starts while the sample is looked at, and prefetches its first tile.
FUNCTION void filter_tiles(const topk_args& a, filter_shared& s)
{
    prefetch_this_tile<TILE>(a.in, static_cast<u64>(block_id()) * TILE, a.n);
    if (thread_id() == 0) s.count = 0;
    block_sync();
    wait_for_launch_before();
    const u64 thread = static_cast<u64>(block_id()) * SIMT_THREADS + thread_id();
    const u64 threads = static_cast<u64>(block_count()) * SIMT_THREADS;
    for (u64 w = thread; w < a.cleared_words; w += threads) a.bins[w] = 0;
    const key_t last_key = static_cast<key_t>(a.filter->key);
    const u64 last_index = a.filter->index;
    bool room = true;
    for (u64 tile = block_id(); room && tile * TILE < a.n; tile += block_count())
        room = (tile + 1) * TILE <= a.n ? filter_tile<true>(a, s, last_key, last_index, tile)
                                        : filter_tile<false>(a, s, last_key, last_index, tile);
    block_sync();
    const u32 count = s.count;
    if (thread_id() == 0 && count)
        s.first = atomic_add(&a.filter->kept, count > FILTER_ROOM ? a.room_kept + 1 : count);
    block_sync();
    for (u32 j = thread_id(); j < count && j < FILTER_ROOM; j += SIMT_THREADS)
        if (s.first + j < a.room_kept) {
            a.kept[s.first + j] = s.key[j];
            a.kept_indices[s.first + j] = s.index[j];
        }
}

KERNEL_AHEAD(topk_filter, topk_args, filter_shared)
{
    if constexpr (IN_ORDER && !SIMT_SINGLE_THREAD) filter_tiles(a, s);
}

// ---- in order -----------------------------------------------------------------------------------
// The k items in order, of the input or of those that are kept.
FUNCTION void select_in_order(const topk_args& a, pool_shared& s)
{
    pool_part part = pool_share(!a.kept ? a.n : filter_failed(a) ? a.k : a.filter->kept, a.n);
    if (a.kept) part.index = a.kept_indices + part.first;
    const span mine = fill_pool(s, part, [&](u32 j) {
        return a.kept ? a.kept[part.first + j] : encode(key_item(a.in, part.first + j));
    });
    select_from_pool(s, part, mine, span{0, static_cast<code_t>(a.n - 1)}, static_cast<u32>(a.k),
                     a.list, [&](u32 rank, key_t key, u64 index) {
                         if (index < a.n) put_result(a, rank, key, index);
                     });
}

// One cluster.
KERNEL(topk_select, topk_args, pool_shared)
{
    if constexpr (IN_ORDER) select_in_order(a, s);
}
