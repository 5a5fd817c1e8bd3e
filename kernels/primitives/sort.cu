// Stable LSD radix sort of keys, or of keys with values: one pass over the items a digit, the
// lowest digit first.
//
// One kernel counts the digits of all passes in a single read and turns the counts into the
// beginning of each digit value. Then each pass is one kernel, which reads and writes the items
// once. A block counts the digits of its tile and publishes the counts, ranks its keys by the digit
// (radix.h) into shared memory, finds the counts of the tiles before it by decoupled look-back,
// separately for each digit value, and writes the sorted tile in contiguous runs (Adinets and
// Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", arXiv 2206.01784).
// Items that fit one tile are sorted by one block in one launch. On the CPU single threads sort, by
// another algorithm: cpu_sort.cu.
//
// The first pass encodes the keys and the last one decodes them. Without values the first pass need
// not be stable, because equal keys are indistinguishable: it ranks them in the order of atomics.
// Passes alternate between the output and spare memory.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:32:1
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 128:1024:32
// %RANGE% TUNE_MIN_BLOCKS mb 1:4:1
// %RANGE% TUNE_RADIX_BITS rb 4:8:1
// %RANGE% TUNE_MATCH mat 0:1:1
// %RANGE% TUNE_LOOK lb 1:8:1
// %RANGE% TUNE_COPIES_LOG2 hc 0:5:1
// %RANGE% TUNE_AHEAD_MIB la 0:16:1
// %RANGE% TUNE_ORDER ord 0:1:1
//
// ipt   items a thread in the tile of a pass
// mb    least blocks a multiprocessor, which limits the registers a thread
// rb    most bits of a digit: the passes divide the key's bits evenly
// mat   search for lanes with the same digit. 0: a ballot a bit; 1: the match instruction
// lb    tiles that a look-back reads at once
// hc    histograms that the lanes of a warp count in (log2), which avoids bank conflicts
// la    mebibytes ahead of its tile that a block prefetches to the L2 cache; 0: none
// ord   source of a block's rank, see message.h
//
// Traffic: n keys are read for the counts, n items are read and written by each pass.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "sort_look.h"
#include "sort_rank.h"

enum {
    WHOLE_DIGITS = (KEY_BITS + TUNE_RADIX_BITS - 1) / TUNE_RADIX_BITS,
    DIGITS = TUNE_IN_PLACE ? (WHOLE_DIGITS + 1) / 2 * 2 : WHOLE_DIGITS, // at most
    COPIES = 1 << TUNE_COPIES_LOG2
};

FUNCTION cut cut_of(const sort_args& a, u32 digit)
{
    const u32 width = static_cast<u32>(a.digit_bits), end = static_cast<u32>(a.end_bit);
    const u32 low = static_cast<u32>(a.begin_bit) + digit * width;
    if (low >= end) return cut{0, 0}; // an empty digit, for an even number of passes
    return cut{low, (1u << (end - low < width ? end - low : width)) - 1u};
}

// ---- counting -----------------------------------------------------------------------------------
enum {
    COUNT_VECTOR = 16 / sizeof(key_t),
    COUNT_LOADS = 4,
    COUNT_TILE = SIMT_THREADS * COUNT_VECTOR * COUNT_LOADS
};

struct count_shared {
    u32 count[DIGITS][RADIX * COPIES];
    block_sum_storage<u64> sum;
    u32 last; // 1: this is the last block to arrive
};

// Counts the digits of a key. ALL: keys have DIGITS digits, which saves a branch for each.
template <bool ALL>
FUNCTION void count_key(count_shared& s, key_t raw, const cut (&cuts)[DIGITS], u32 digits)
{
    const key_t key = encode(raw);
    u32* const copy = s.count[0] + lane_id() % COPIES;
    UNROLL
    for (u32 d = 0; d < DIGITS; d++)
        if (ALL || d < digits)
            shared_add(copy + digit_of(key, cuts[d]) * COPIES + d * RADIX * COPIES, 1);
}

template <bool ALL>
FUNCTION void count_tile(const sort_args& a, count_shared& s, u64 tile, const cut (&cuts)[DIGITS],
                         u32 digits)
{
    const u64 begin = tile * COUNT_TILE;
    if (begin + COUNT_TILE > a.n) {
        for (u64 i = begin + thread_id(); i < a.n; i += SIMT_THREADS)
            count_key<false>(s, key_item(first_of(a), i), cuts, digits);
        return;
    }
    key_t key[COUNT_LOADS][COUNT_VECTOR];
    UNROLL
    for (int l = 0; l < COUNT_LOADS; l++)
        load_keys<0>(first_of(a),
                     begin + (static_cast<u64>(l) * SIMT_THREADS + thread_id()) * COUNT_VECTOR,
                     key[l]);
    UNROLL
    for (int l = 0; l < COUNT_LOADS; l++) {
        UNROLL
        for (int j = 0; j < COUNT_VECTOR; j++) count_key<ALL>(s, key[l][j], cuts, digits);
    }
}

// Turns the counts into the beginnings of the bins.
FUNCTION void scan_bins(const sort_args& a, count_shared& s)
{
    for (u64 d = 0; d < a.digits; d++) {
        u64* bins = a.bins + d * RADIX + thread_id() * BINS;
        u64 count[BINS], sum = 0;
        UNROLL
        for (u32 j = 0; j < BINS; j++) {
            count[j] = thread_id() * BINS + j < RADIX ? load_relaxed(bins + j) : 0;
            sum += count[j];
        }
        sum = block_exclusive_sum(sum, s.sum);
        UNROLL
        for (u32 j = 0; j < BINS; j++) {
            if (thread_id() * BINS + j < RADIX) bins[j] = sum;
            sum += count[j];
        }
        block_sync();
    }
}

KERNEL(sort_count, sort_args, count_shared)
{
    const u32 digits = static_cast<u32>(a.digits);
    cut cuts[DIGITS];
    UNROLL
    for (u32 d = 0; d < DIGITS; d++) cuts[d] = cut_of(a, d);
    for (u32 d = 0; d < digits; d++)
        for (u32 b = thread_id(); b < RADIX * COPIES; b += SIMT_THREADS) s.count[d][b] = 0;
    block_sync();
    for (u64 tile = block_id(); tile * COUNT_TILE < a.n; tile += block_count()) {
        if (digits == DIGITS)
            count_tile<true>(a, s, tile, cuts, digits);
        else
            count_tile<false>(a, s, tile, cuts, digits);
    }
    block_sync();
    for (u32 d = 0; d < digits; d++)
        for (u32 b = thread_id(); b < RADIX; b += SIMT_THREADS) {
            u32 count = 0;
            for (u32 c = 0; c < COPIES; c++) count += s.count[d][b * COPIES + c];
            if (count) atomic_add(a.bins + d * RADIX + b, count);
        }
    device_fence();
    block_sync();
    ticket mine{};
    if (thread_id() == 0) {
        mine = take_ticket_in_order(a.messages);
        s.last = mine.rank + 1 == block_count();
    }
    block_sync();
    if (s.last) {
        device_fence();
        scan_bins(a, s);
        if (thread_id() == 0) close_tickets(a.messages, mine);
    }
}

// ---- one pass -----------------------------------------------------------------------------------
enum {
    // Values reuse the keys' shared memory, or this much of it, in as few rounds as possible.
    VALUES_AT_ONCE = 40960 / sizeof(value_t),
    VALUE_ROOM = !PAIRS                  ? 1
                 : VALUES_AT_ONCE < TILE ? VALUES_AT_ONCE
                                         : TILE,
    ROUNDS = (TILE + VALUE_ROOM - 1) / VALUE_ROOM
};

union tile_shared { // used in turn
    key_t key[TILE];
    u16 index[PAIRS ? TILE : 1];
    value_t value[VALUE_ROOM];
};

struct pass_shared {
    tile_shared tile;
    u32 count[WARPS][RADIX]; // first counts, then the place of each warp's next item
    offset_t base[RADIX];    // place in the output minus place in the sorted tile, for each bin
    block_sum_storage<u32> sum;
    ticket tile_ticket;
};

FUNCTION void send_counts(const sort_args& a, u64 tile, const u32 (&count)[BINS])
{
    const message_status status = tile == 0 ? MESSAGE_COMPLETE : MESSAGE_PARTIAL;
    UNROLL
    for (int j = 0; j < BINS; j++)
        if (my_bin(j) < RADIX)
            store_relaxed(row_of(a, tile) + my_bin(j), counter_of(count[j], status));
}

FUNCTION void find_bases(const sort_args& a, pass_shared& s, ticket mine, const u32 (&count)[BINS],
                         const u32 (&begin)[BINS])
{
    UNROLL
    for (int j = 0; j < BINS; j++) {
        const u32 bin = my_bin(j);
        if (bin >= RADIX) continue;
        const offset_t first = static_cast<offset_t>(a.bins[a.digit * RADIX + bin]);
        offset_t before = 0;
        if (mine.rank > 0) {
            before = look_back(a, mine.rank, bin);
            store_relaxed(row_of(a, mine.rank) + bin,
                          counter_of(before + count[j], MESSAGE_COMPLETE));
        }
        s.base[bin] = first + before - begin[j];
    }
    if (mine.rank + 1 == block_count() && thread_id() == 0) close_tickets(a.messages, mine);
}

// Loads and encodes a tile's keys. Places past the end get the highest code.
template <bool WHOLE>
FUNCTION void load_keys(const sort_args& a, u64 first, u32 count, bool coded, key_t (&key)[ITEMS])
{
    const key_t* const in = a.in + first;
    if (TUNE_IN_LAZY && !coded) {
        UNROLL
        for (int i = 0; i < ITEMS; i++)
            key[i] =
                WHOLE || item_index(i) < count ? key_item(first_of(a), first + item_index(i)) : 0;
    } else {
        UNROLL
        for (int i = 0; i < ITEMS; i++)
            key[i] = WHOLE || item_index(i) < count ? in[item_index(i)] : 0;
    }
    if (!coded) {
        UNROLL
        for (int i = 0; i < ITEMS; i++) key[i] = encode(key[i]);
    }
    UNROLL
    for (int i = 0; i < ITEMS; i++)
        if (!WHOLE && item_index(i) >= count) key[i] = static_cast<key_t>(~0ull);
}

// Writes the sorted tile's keys to their bins, and keeps their digits for the values. A batch is
// loaded before it is stored, because the compiler cannot exclude that stores alias the loads.
template <bool WHOLE, bool LAST>
FUNCTION void write_keys(const sort_args& a, const pass_shared& s, u32 count, cut c, digits& digit)
{
    enum { BATCH = 16 };
    UNROLL
    for (int begin = 0; begin < ITEMS; begin += BATCH) {
        key_t key[BATCH];
        offset_t to[BATCH];
        UNROLL
        for (int j = 0; j < BATCH && begin + j < ITEMS; j++)
            key[j] = s.tile.key[striped_index(begin + j)];
        UNROLL
        for (int j = 0; j < BATCH && begin + j < ITEMS; j++) {
            const u32 bin = digit_of(key[j], c);
            if constexpr (PAIRS) digit.set(begin + j, bin);
            to[j] = s.base[bin] + striped_index(begin + j);
        }
        UNROLL
        for (int j = 0; j < BATCH && begin + j < ITEMS; j++)
            if (WHOLE || striped_index(begin + j) < count)
                a.out[to[j]] = LAST ? decode(key[j]) : key[j];
    }
}

template <bool WHOLE>
FUNCTION void write_values(const sort_args& a, pass_shared& s, u64 first, u32 count,
                           const packed_places<ITEMS>& place, const digits& digit)
{
    value_t* const out = a.values_out;
    UNROLL
    for (int r = 0; r < ROUNDS; r++) {
        const u32 low = static_cast<u32>(r) * VALUE_ROOM;
        block_sync();
        UNROLL
        for (int i = 0; i < ITEMS; i++)
            if ((WHOLE || item_index(i) < count) && (ROUNDS == 1 || place.at(i) - low < VALUE_ROOM))
                s.tile.value[place.at(i) - low] = value_at(a, first + item_index(i));
        block_sync();
        UNROLL
        for (int i = 0; i < ITEMS; i++) {
            const u32 at = striped_index(i);
            if ((WHOLE || at < count) && (ROUNDS == 1 || at - low < VALUE_ROOM))
                out[static_cast<offset_t>(s.base[digit.at(i)] + at)] = s.tile.value[at - low];
        }
    }
}

// Returns true if the pass must be stable. Keys with the same digit may change places in the first
// pass, if all bits are sorted by: keys equal in all bits are indistinguishable.
FUNCTION bool order_matters(const sort_args& a)
{
    return a.digit > 0 || a.begin_bit > 0 || a.end_bit < KEY_BITS;
}

template <bool WHOLE, bool IN_ORDER>
FUNCTION void sort_tile(const sort_args& a, pass_shared& s, ticket mine, u64 first, u32 count)
{
    cut c = cut_of(a, static_cast<u32>(a.digit));
    key_t key[ITEMS];
    packed_places<ITEMS> place;
    digits digit;
    u32 bin_count[BINS], bin_begin[BINS];
    load_keys<WHOLE>(a, first, count, a.digit > 0, key);
    if constexpr (IN_ORDER)
        count_in_warp(key, c, s.count);
    else
        number_in_warp(key, c, s.count, place);
    block_sync();
    tile_counts(s.count, bin_count);
    send_counts(a, mine.rank, bin_count);
    tile_begins(s.count, s.sum, bin_count, bin_begin);
    block_sync();
    unknown_value(c.shift); // recomputes the digits later: registers are too few to keep them
    if constexpr (IN_ORDER)
        rank_in_tile(key, c, s.count, place, s.tile.key);
    else {
        place_in_tile(key, c, s.count, place);
        UNROLL
        for (int i = 0; i < ITEMS; i++) s.tile.key[place.at(i)] = key[i];
    }
    find_bases(a, s, mine, bin_count, bin_begin);
    block_sync();
    if (a.digit + 1 == a.digits)
        write_keys<WHOLE, true>(a, s, count, c, digit);
    else
        write_keys<WHOLE, false>(a, s, count, c, digit);
    if constexpr (PAIRS) write_values<WHOLE>(a, s, first, count, place, digit);
}

KERNEL(sort_pass, sort_args, pass_shared)
{
    const ticket mine = take_block_ticket(a.messages, s.tile_ticket);
    const u64 first = static_cast<u64>(mine.rank) * TILE;
    const u32 count = a.n - first < TILE ? static_cast<u32>(a.n - first) : TILE;
    if constexpr (!TUNE_IN_LAZY) prefetch_tile<TUNE_AHEAD_MIB, TILE>(a.in, first, a.n);
    if constexpr (PAIRS && !TUNE_INDICES)
        prefetch_tile<TUNE_AHEAD_MIB, TILE>(a.values_in, first, a.n);
    if (count < TILE)
        sort_tile<false, true>(a, s, mine, first, count);
    else if (PAIRS || order_matters(a))
        sort_tile<true, true>(a, s, mine, first, count);
    else
        sort_tile<true, false>(a, s, mine, first, count);
}

// ---- all passes in one block --------------------------------------------------------------------
struct block_shared {
    tile_shared tile;
    u32 count[WARPS][RADIX];
    block_sum_storage<u32> sum;
};

KERNEL(sort_block, sort_args, block_shared)
{
    const u32 count = static_cast<u32>(a.n);
    key_t key[ITEMS];
    packed_places<ITEMS> place;
    u32 index[ITEMS], bin_count[BINS], bin_begin[BINS];
    load_keys<false>(a, 0, count, false, key);
    UNROLL
    for (int i = 0; i < ITEMS; i++) index[i] = item_index(i);
    for (u32 d = 0; d < a.digits; d++) {
        const cut c = cut_of(a, d);
        block_sync();
        count_in_warp(key, c, s.count);
        block_sync();
        tile_counts(s.count, bin_count);
        tile_begins(s.count, s.sum, bin_count, bin_begin);
        block_sync();
        rank_in_tile(key, c, s.count, place, s.tile.key);
        block_sync();
        UNROLL
        for (int i = 0; i < ITEMS; i++) key[i] = s.tile.key[item_index(i)];
        if constexpr (PAIRS) {
            block_sync();
            UNROLL
            for (int i = 0; i < ITEMS; i++) s.tile.index[place.at(i)] = static_cast<u16>(index[i]);
            block_sync();
            UNROLL
            for (int i = 0; i < ITEMS; i++) index[i] = s.tile.index[item_index(i)];
        }
    }
    UNROLL
    for (int i = 0; i < ITEMS; i++)
        if (item_index(i) < count) a.out[item_index(i)] = decode(key[i]);
    if constexpr (PAIRS) {
        value_t value[ITEMS]; // all are read before any is written, possibly in their place
        UNROLL
        for (int i = 0; i < ITEMS; i++)
            if (item_index(i) < count) value[i] = value_at(a, index[i]);
        block_sync();
        UNROLL
        for (int i = 0; i < ITEMS; i++)
            if (item_index(i) < count) a.values_out[item_index(i)] = value[i];
    }
}
