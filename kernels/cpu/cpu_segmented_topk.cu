// Top-k of every segment of an array on the CPU: a single thread goes through a segment once, and
// keeps the items that may be among the k. Whenever its room is full it drops all but the lowest k,
// and from then on takes no key that is not below their last one. In the end it sorts the k, unless
// they may stand in any order.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4096:65536:4096
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 1:1:1
//
// ipt   least items a thread
//
// Traffic: every item is read once, k keys and indices a segment are written.
#include "segment_topk.h"

struct segmented_topk_shared {
    u32 nothing;
};

enum : u64 {
    MOST_HELD = TUNE_HELD,
    LEAST_HELD = 256,
    AT_ONCE = 64 // keys that are compared with the last one before any of them is looked at
};

// An encoded key and its index, in their order: one number where that has room for both.
template <bool ONE_NUMBER>
struct ranked {
    u64 code;
    static ranked of(key_t key, u64 index) { return {static_cast<u64>(key) << 32 | index}; }
    FUNCTION_MEMBER key_t key() const { return static_cast<key_t>(code >> 32); }
    FUNCTION_MEMBER u64 index() const { return code & 0xffffffffu; }
    FUNCTION_MEMBER bool operator<(const ranked& b) const { return code < b.code; }
};
template <>
struct ranked<false> {
    u64 high, low;
    static ranked of(key_t key, u64 index) { return {static_cast<u64>(key), index}; }
    FUNCTION_MEMBER key_t key() const { return static_cast<key_t>(high); }
    FUNCTION_MEMBER u64 index() const { return low; }
    FUNCTION_MEMBER bool operator<(const ranked& b) const
    {
        return high < b.high || (high == b.high && low < b.low);
    }
};
typedef ranked<(sizeof(key_t) <= 4 && sizeof(offset_t) <= 4)> entry;
static_assert(MOST_HELD * sizeof(entry) <= TUNE_HELD_BYTES,
              "the descriptor has made room for these");

FUNCTION void exchange(entry& a, entry& b)
{
    const entry was = a;
    a = b;
    b = was;
}

// Moves the k lowest of `count` entries, which are all different, to the front, the last of them to
// place k - 1. The pivots are drawn at random, so that no order of the input is slow.
FUNCTION void keep_lowest(entry* held, u64 count, u64 k)
{
    u64 first = 0, end = count, random = 1;
    while (end - first > 1) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        exchange(held[first], held[first + (random >> 33) % (end - first)]);
        const entry pivot = held[first];
        u64 below = first; // the last place of an entry below the pivot
        for (u64 j = first + 1; j < end; j++) {
            const entry other = held[j];
            const bool lower = other < pivot;
            below += lower;
            held[j] = lower ? held[below] : other;
            held[below] = lower ? other : held[below];
        }
        exchange(held[first], held[below]);
        if (below == k - 1) return;
        if (below > k - 1)
            end = below;
        else
            first = below + 1;
    }
}

// Moves the entry at the root of a heap, whose root is its last entry, to its place.
FUNCTION void sink(entry* held, u64 at, u64 count)
{
    const entry moved = held[at];
    for (u64 child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && held[child] < held[child + 1]) child++;
        if (!(moved < held[child])) break;
        held[at] = held[child];
        at = child;
    }
    held[at] = moved;
}

FUNCTION void sort_entries(entry* held, u64 count)
{
    for (u64 at = count / 2; at-- > 0;) sink(held, at, count);
    for (u64 left = count; left > 1;) {
        exchange(held[0], held[--left]);
        sink(held, 0, left);
    }
}

FUNCTION void select_segment(const segmented_topk_args& a, entry* held, u64 segment)
{
    const stretch mine = part_of_segment(a, segment, 0);
    const auto in = input_from(a.in, mine.begin);
    const u64 room = larger(2 * a.k, LEAST_HELD);
    u64 count = 0;
    bool full = false; // k items up to `last` are held
    key_t last = 0;
    for (u64 first = 0; first < mine.count; first += AT_ONCE) {
        const u64 end = smaller(first + AT_ONCE, mine.count);
        bool some = !full;
        for (u64 j = first; j < end; j++) some |= encode(key_item(in, j)) < last;
        for (u64 j = first; some && j < end; j++) {
            const key_t key = encode(key_item(in, j));
            if (full && key >= last) continue; // of equal keys the first ones stay
            held[count++] = entry::of(key, j);
            if (count < room) continue;
            keep_lowest(held, count, a.k);
            count = a.k;
            full = true;
            last = held[count - 1].key();
        }
    }
    if (count > a.k) {
        keep_lowest(held, count, a.k);
        count = a.k;
    }
    if constexpr (!TUNE_UNORDERED) sort_entries(held, count);
    for (u64 rank = 0; rank < count; rank++)
        put_result(a, segment, rank, held[rank].key(), held[rank].index());
    for (u64 rank = count; rank < a.k; rank++) put_nothing(a, segment, rank);
}

KERNEL(segmented_topk_parts, segmented_topk_args, segmented_topk_shared)
{
    (void)s;
    entry* const held = reinterpret_cast<entry*>(a.list) + block_id() * MOST_HELD;
    const u64 first = block_id() * a.group, end = smaller(first + a.group, a.set.count);
    for (u64 segment = first; segment < end; segment++) select_segment(a, held, segment);
}
