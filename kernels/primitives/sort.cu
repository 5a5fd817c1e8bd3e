// Stable sort of keys, or of keys with values, by the digits of their codes.
//
// The way depends on the number of items, and on what the keys are, which the device finds out: all
// launches are queued, and those that are not needed end at once.
//
// Few items: one launch, whose blocks hold all items in their shared memory (sort_cluster.h).
//
// Passes: one pass over the items a digit, the lowest digit first. sort_clear clears counters.
// sort_count counts the digits of all passes in a single read and turns the counts into the
// beginning of each digit value (sort_count.h). Then each pass is one kernel, which reads and
// writes the items once. A block counts the digits of its tile and publishes the counts, ranks its
// keys by the digit (sort_rank.h) into shared memory, finds the counts of the tiles before it by
// decoupled look-back, separately for each digit value (sort_look.h), and writes the sorted tile in
// contiguous runs (sort_tile.h; Adinets and Merrill, "Onesweep: A Faster Least Significant Digit
// Radix Sort for GPUs", arXiv 2206.01784). A digit that all keys share has no pass (sort_route.h).
//
// Bins: where a block can sort a 256th of the items alone, sort_split moves the items to bins that
// hold them in order (sort_splitter.h), in the same way as a pass, and sort_bin sorts each of them
// in one block. If the keys crowd in some bins, there are passes.
//
// On the CPU single threads sort, by another algorithm: cpu_sort.cu.
//
// The first pass encodes the keys and the last one decodes them. Without values the first pass need
// not be stable, because equal keys are indistinguishable: it ranks them in the order of atomics.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:32:1
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 128:1024:32
// %RANGE% TUNE_MIN_BLOCKS mb 1:4:1
// %RANGE% TUNE_LOOK lb 1:8:1
// %RANGE% TUNE_COPIES_LOG2 hc 0:5:1
// %RANGE% TUNE_AHEAD_MIB la 0:16:1
// %RANGE% TUNE_ORDER ord 0:2:1
// %RANGE% TUNE_SHARE_ITEMS shr 1:32:1
// %RANGE% TUNE_BIN_ITEMS bin 0:64:1
// %GONE% mat 0
// %GONE% rb 8
//
// ipt   items a thread in the tile of a pass; of few items, the most
// mb    least blocks a multiprocessor, which limits the registers a thread
// lb    tiles that a look-back reads at once
// hc    histograms that the lanes of a warp count in (log2), which avoids bank conflicts
// la    mebibytes ahead of its tile that a block prefetches to the L2 cache; 0: none
// ord   source of a block's rank, see message.h. 2: few items are sorted by a cluster
// shr   least items a thread of a cluster's blocks: fewer items have fewer blocks
// bin   most items a thread of the block that sorts a bin; 0: no bins
//
// Traffic: n keys are read for the counts, n items are read and written by each pass; in bins,
// there are two of them.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#define TUNE_RADIX_BITS 8 // of a digit
#include "integer.h"
#include "sort_cluster.h"
#include "sort_count.h"
#include "sort_tile.h"

// ---- clearing -----------------------------------------------------------------------------------
// Clears the bins and what follows them up to the rows that the arguments name.
KERNEL(sort_clear, sort_args, no_shared)
{
    (void)s;
    const bytes16 zero{};
    bytes16* const from = reinterpret_cast<bytes16*>(a.bins);
    const u64 chunks = static_cast<u64>(reinterpret_cast<bytes16*>(a.rows) - from);
    for (u64 i = block_id() * SIMT_THREADS + thread_id(); i < chunks;
         i += static_cast<u64>(block_count()) * SIMT_THREADS)
        from[i] = zero;
}

// ---- counting -----------------------------------------------------------------------------------
// Counts while sort_clear clears.
KERNEL_AHEAD(sort_count, sort_args, count_shared)
{
    if (thread_id() == 0) s.shared_digits = s.crowded = 0;
    const u32 digits = static_cast<u32>(a.digits);
    cut cuts[DIGITS];
    UNROLL
    for (u32 d = 0; d < DIGITS; d++) cuts[d] = cut_of(a, d);
    const bool splits = COUNTS_SPLIT && a.block_items > 0;
    for (u32 d = 0; d < digits + splits; d++)
        for (u32 b = thread_id(); b < RADIX * COPIES; b += SIMT_THREADS) s.count[d][b] = 0;
    splitter split{};
    if (splits) split = find_splitter(a, s.range);
    block_sync();
    for (u64 tile = block_id(); tile * COUNT_TILE < a.n; tile += block_count()) {
        if (digits == DIGITS)
            count_tile<true>(a, s, tile, cuts, digits, splits, split);
        else
            count_tile<false>(a, s, tile, cuts, digits, splits, split);
    }
    block_sync();
    wait_for_launch_before();
    for (u32 d = 0; d < digits + splits; d++)
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
        if (warp_id() == 0) find_routes(a, s);
        if (thread_id() == 0) {
            if (splits) {
                range_of_sample(a)[0] = split.low;
                range_of_sample(a)[1] = split.high;
                range_of_sample(a)[2] = split.by_code;
            }
            close_tickets(a.messages, mine);
        }
    }
}

// ---- one pass -----------------------------------------------------------------------------------
// Passes that are not needed end at once. Where keys may be split, sort_count has ended when the
// first pass lets the others begin, so that these know it before they wait.
KERNEL_BETWEEN(sort_pass, sort_args, pass_shared)
{
    const bool knows = SPLITS && a.digit > 0;
    if (SPLITS && !knows) wait_for_launch_before();
    let_next_launch_begin();
    if (!SPLITS) wait_for_launch_before();
    const u32 route = my_route(a);
    if (route & ROUTE_SPLIT) return;
    if (knows) wait_for_launch_before();
    if (!(route & ROUTE_PASS)) return; // all threads, before they take a ticket
    const ticket mine = take_block_ticket(a.messages, s.tile_ticket);
    const u64 first = static_cast<u64>(mine.rank) * TILE;
    const u32 count = a.n - first < TILE ? static_cast<u32>(a.n - first) : TILE;
    if constexpr (!TUNE_IN_LAZY)
        prefetch_tile<TUNE_AHEAD_MIB, TILE>(keys_from(a, route), first, a.n);
    if constexpr (PAIRS && !TUNE_INDICES)
        prefetch_tile<TUNE_AHEAD_MIB, TILE>(values_from(a, route), first, a.n);
    const u32 d = static_cast<u32>(a.digit);
    if (count < TILE)
        sort_tile<false, true>(a, s, mine, first, count, route, cut_of(a, d), d);
    else if (PAIRS || order_matters(a, route))
        sort_tile<true, true>(a, s, mine, first, count, route, cut_of(a, d), d);
    else
        sort_tile<true, false>(a, s, mine, first, count, route, cut_of(a, d), d);
}

// ---- splitting ----------------------------------------------------------------------------------
FUNCTION auto split_of(const sort_args& a)
{
    if constexpr (SPLIT_FLOATS) {
        const u64* const range = range_of_sample(a);
        return splitter_of(static_cast<key_t>(range[0]), static_cast<key_t>(range[1]),
                           range[2] != 0);
    } else
        return cut_of(a, split_number(a));
}

// Moves the items to bins, in spare memory.
KERNEL(sort_split, sort_args, pass_shared)
{
    if (!SPLITS || !is_split(a)) return; // all threads, before they take a ticket
    const ticket mine = take_block_ticket(a.messages, s.tile_ticket);
    const u64 first = static_cast<u64>(mine.rank) * TILE;
    const u32 count = a.n - first < TILE ? static_cast<u32>(a.n - first) : TILE;
    const u32 route = ROUTE_PASS | ROUTE_FIRST | ROUTE_TO_SPARE;
    const auto split = split_of(a);
    if (count < TILE)
        sort_tile<false, true>(a, s, mine, first, count, route, split, split_number(a));
    else
        sort_tile<true, PAIRS>(a, s, mine, first, count, route, split, split_number(a));
}

typedef share_shared<(TUNE_BIN_ITEMS ? TUNE_BIN_ITEMS : 1) * SIMT_THREADS, 2> bin_shared;

// Sorts a bin, from spare memory to the output.
KERNEL(sort_bin, sort_args, bin_shared)
{
    if (!SPLITS || !is_split(a)) return;
    const u64* const bin = a.bins + split_number(a) * RADIX + block_id();
    const u32 first = static_cast<u32>(bin[0]);
    const u32 end = static_cast<u32>(block_id() + 1 < RADIX ? bin[1] : a.n);
    if (first == end) return;
    const block_share mine = share_of(first, end - first);
    key_t low, high;
    load_share(s, mine, low, high, [&](u32 i) { return a.spare[i]; });
    const u32 at = sort_range(s, mine, low, high);
    for (u32 i = thread_id(); i < mine.count; i += SIMT_THREADS) {
        const item_t item = s.item[at][i];
        a.out[first + i] = decode(key_of(item));
        if constexpr (PAIRS)
            a.values_out[first + i] = a.values_spare[index_at(s.index[at], item, i)];
    }
}

// ---- all passes in one launch -------------------------------------------------------------------
// Sorts all items: one block, or one cluster.
KERNEL(sort_few, sort_args, cluster_shared)
{
    const bool alone = !IN_CLUSTERS || block_count() == 1;
    cluster_part p{block_count(), static_cast<u32>(a.block_items), 0};
    p.inverse = 0xffffffffu / p.size + 1;
    const u32 first = alone ? 0 : block_id() * p.size, left = static_cast<u32>(a.n) - first;
    block_share mine = share_of(first, left < p.size ? left : p.size);
    mine.rows = ceil_div(p.size, SIMT_THREADS);
    mine.all = static_cast<u32>(a.n);
    mine.digits = static_cast<u32>(a.digits);
    mine.begin_bit = static_cast<u32>(a.begin_bit);
    mine.end_bit = static_cast<u32>(a.end_bit);
    mine.digit_bits = static_cast<u32>(a.digit_bits);
    if (!alone) {
        if (thread_id() == 0) {
            s.share.constant = 0;
            counter_open(s.counts_arrived[0]);
            counter_open(s.counts_arrived[1]);
            counter_open(s.items_arrived);
        }
        cluster_begin();
    }
    key_t low, high;
    load_share(s.share, mine, low, high, [&](u32 i) { return encode(key_item(first_of(a), i)); });
    if constexpr (PAIRS && !TUNE_INDICES) {
        enum { LINE = sizeof(value_t) < 128 ? 128 / sizeof(value_t) : 1 };
        for (u32 i = thread_id() * LINE; i < mine.count; i += SIMT_THREADS * LINE)
            prefetch_item(a.values_in + mine.first + i);
    }
    if constexpr (IN_CLUSTERS) {
        if (!alone) {
            const int at = sort_in_cluster(a, s, mine, p);
            if (at >= 0) write_share(a, s, mine, static_cast<u32>(at), false);
            return;
        }
    }
    write_share(a, s, mine, sort_alone(s.share, mine), true);
}
