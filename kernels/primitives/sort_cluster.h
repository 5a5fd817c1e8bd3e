// All passes of a sort in one launch, by the blocks of a cluster, whose shared memory holds all
// items.
//
// Each block has an equal share of the places. In a pass it sends the counts of its digits to the
// others, sorts its share by the digit while they travel, learns from all counts where its items of
// each digit belong, and sends each item there. The runs of items with the same digit are
// neighbours there as well. An item may arrive while a block still sorts, so there are three
// arrays: one that is sorted, one sorted by the digit, one for what arrives.
//     TUNE_FEW_BYTES     most memory for the items of a block that sorts alone
//     TUNE_MOST_SHARE    most items of a block of a cluster
#pragma once
#include "cluster_send.h"
#include "sort_share.h"

enum {
    // Messages are words of 4 bytes at least.
    IN_CLUSTERS = CLUSTERS && KEY_BITS >= 32,
    CLUSTER_MOST = IN_CLUSTERS ? CLUSTER_BLOCKS : 1,
    COUNTS_A_WORD = 4,
    COUNT_WORDS = RADIX / COUNTS_A_WORD,
    STAGED = 2, // the array of items that are sorted by the digit
    // The items of a block that sorts alone take TUNE_FEW_BYTES of memory at most.
    ROW_BYTES = 2 * SIMT_THREADS * static_cast<int>(sizeof(item_t) + (APART ? 4 : 0)),
    FEW_ALONE = TUNE_FEW_BYTES < ROW_BYTES ? 1 : TUNE_FEW_BYTES / ROW_BYTES,
    FEW_ITEMS = IN_CLUSTERS || ITEMS < FEW_ALONE ? ITEMS : FEW_ALONE
};

union count_words {
    u16 count[RADIX];
    u64 word[COUNT_WORDS];
};

struct cluster_shared {
    share_shared<FEW_ITEMS * SIMT_THREADS, IN_CLUSTERS ? 3 : 2> share;
    count_words counts[2][CLUSTER_MOST]; // of every block, in even and odd passes
    offset_t base[RADIX];
    block_sum_storage<u32> sum;
    u64 counts_arrived[2], items_arrived;
};

// The cluster's blocks, and the share of each.
struct cluster_part {
    u32 blocks, size; // of all blocks but the last
    u32 inverse;      // 2^32 / size, rounded up: (place * inverse) >> 32 is the block of a place
};
// Place and size multiply to less than 2^32, so that the rounding changes no quotient.
static_assert(!IN_CLUSTERS || FEW_ITEMS * SIMT_THREADS <= TUNE_MOST_SHARE,
              "variants are not checked");

// Sends the block's counts to the other blocks.
FUNCTION void send_counts_to_blocks(cluster_shared& s, const cluster_part& p, u32 d,
                                    const u32 (&count)[BINS])
{
    count_words& mine = s.counts[d % 2][block_id()];
    UNROLL
    for (int j = 0; j < BINS; j++)
        if (my_bin(j) < RADIX) mine.count[my_bin(j)] = static_cast<u16>(count[j]);
    if (thread_id() == 0)
        counter_expect(s.counts_arrived[d % 2],
                       (p.blocks - 1) * static_cast<u32>(sizeof(count_words)));
    if (d == 0) cluster_begun();
    block_sync();
    for (u32 i = thread_id(); i < COUNT_WORDS * (p.blocks - 1); i += SIMT_THREADS) {
        const u32 k = i / COUNT_WORDS, to = k + (k >= block_id());
        cluster_send(mine.word[i % COUNT_WORDS], to, mine.word[i % COUNT_WORDS],
                     s.counts_arrived[d % 2]);
    }
}

// Finds the place of each bin among all items, minus the beginning of the bin in the share. Returns
// false if all items are in one bin.
FUNCTION bool find_bases_in_cluster(cluster_shared& s, const block_share& mine,
                                    const cluster_part& p, u32 d, const u32 (&begin)[BINS])
{
    u32 total[BINS], before[BINS], sum = 0;
    counter_wait(s.counts_arrived[d % 2], d / 2);
    UNROLL
    for (int j = 0; j < BINS; j++) {
        total[j] = before[j] = 0;
        if (my_bin(j) < RADIX) {
            UNROLL
            for (u32 b = 0; b < CLUSTER_MOST; b++)
                if (b < p.blocks) {
                    const u32 there = s.counts[d % 2][b].count[my_bin(j)];
                    total[j] += there;
                    before[j] += b < block_id() ? there : 0;
                }
        }
        if (total[j] == mine.all) s.share.constant = d + 1;
        sum += total[j];
    }
    sum = block_exclusive_sum(sum, s.sum);
    UNROLL
    for (int j = 0; j < BINS; j++) {
        if (my_bin(j) < RADIX) s.base[my_bin(j)] = sum + before[j] - begin[j];
        sum += total[j];
    }
    block_sync();
    return s.share.constant != d + 1;
}

// Calls f(item, index, place among all) for each of the block's items, which are sorted by a digit.
template <class F>
FUNCTION void for_placed(const cluster_shared& s, const block_share& mine, cut c, F f)
{
    NO_UNROLL
    for (u32 begin = thread_id(); begin < mine.count; begin += ROWS_AT_ONCE * SIMT_THREADS) {
        item_t item[ROWS_AT_ONCE];
        u32 index[ROWS_AT_ONCE], place[ROWS_AT_ONCE];
        UNROLL
        for (u32 i = 0; i < ROWS_AT_ONCE; i++) {
            const u32 at = begin + i * SIMT_THREADS < mine.count ? begin + i * SIMT_THREADS : 0;
            item[i] = s.share.item[STAGED][at];
            index[i] = index_at(s.share.index[STAGED], item[i], at);
            place[i] = static_cast<u32>(s.base[digit_in(mine, item[i], c)]) + at;
        }
        UNROLL
        for (u32 i = 0; i < ROWS_AT_ONCE; i++)
            if (begin + i * SIMT_THREADS < mine.count) f(item[i], index[i], place[i]);
    }
}

template <class T>
FUNCTION void send_word(T& place, u32 block, T value, u64& counter)
{
    if constexpr (sizeof(T) >= 4) cluster_send(place, block, value, counter); // else never called
}

// Sorts the items in the first array of all blocks. Returns the array where they end; its items are
// the block's share of the places. -1: they are in the output already.
FUNCTION int sort_in_cluster(const sort_args& a, cluster_shared& s, const block_share& mine,
                             const cluster_part& p)
{
    u32 from = 0, moves = 0;
    for (u32 d = 0; d < mine.digits; d++) {
        const cut c = cut_of(mine, d);
        u32 count[BINS], begin[BINS];
        count_by_digit(s.share, mine, c, from, count);
        send_counts_to_blocks(s, p, d, count);
        sort_by_digit(s.share, mine, c, from, STAGED, count, begin);
        if (!find_bases_in_cluster(s, mine, p, d, begin)) continue;
        if (d + 1 == mine.digits && !(PAIRS && TUNE_IN_PLACE)) {
            for_placed(s, mine, c, [&](item_t item, u32 index, u32 place) {
                a.out[place] = decode(key_of(item));
                if constexpr (PAIRS) a.values_out[place] = value_at(a, index);
            });
            return -1;
        }
        if (thread_id() == 0)
            counter_expect(s.items_arrived,
                           mine.count * static_cast<u32>(sizeof(item_t) + (APART ? 4 : 0)));
        const u32 to = 1 - from;
        for_placed(s, mine, c, [&](item_t item, u32 index, u32 place) {
            const u32 block = static_cast<u32>(static_cast<u64>(place) * p.inverse >> 32);
            const u32 at = place - block * p.size;
            send_word(s.share.item[to][at], block, item, s.items_arrived);
            if constexpr (APART) send_word(s.share.index[to][at], block, index, s.items_arrived);
        });
        counter_wait(s.items_arrived, moves++);
        from = to;
    }
    return static_cast<int>(from);
}

// Writes the block's share of the sorted items.
FUNCTION void write_share(const sort_args& a, const cluster_shared& s, const block_share& mine,
                          u32 from, bool alone)
{
    for (u32 i = thread_id(); i < mine.count; i += SIMT_THREADS)
        a.out[mine.first + i] = decode(key_of(s.share.item[from][i]));
    if constexpr (PAIRS) {
        value_t value[FEW_ITEMS]; // all are read before any is written, possibly in their place
        UNROLL
        for (int j = 0; j < FEW_ITEMS; j++) {
            const u32 i = striped_index(j);
            if (i < mine.count)
                value[j] = value_at(a, index_at(s.share.index[from], s.share.item[from][i], i));
        }
        if (alone)
            block_sync();
        else
            cluster_sync();
        UNROLL
        for (int j = 0; j < FEW_ITEMS; j++)
            if (striped_index(j) < mine.count)
                a.values_out[mine.first + striped_index(j)] = value[j];
    }
}
