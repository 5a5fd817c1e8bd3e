// Binary search of many values in a sorted array.
//
// A search is a chain of dependent loads, so that a thread interleaves several: all values take the
// same number of steps. The upper levels of the search tree are the same for all values. A block
// copies them to shared memory first, level by level, where lanes at the same level seldom meet in
// a bank. Below a leaf of that tree the search continues in the array.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 1:16:1 cpu=8:64:8
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:64 cpu=1:1:1
// %RANGE% TUNE_MIN_BLOCKS mb 1:8:1 cpu=1:1:1
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 0:4:1 cpu=0:3:1
// %RANGE% TUNE_TREE_LEVELS lev 0:13:1 cpu=0:13:1
// %GONE% ld 0
//
// ipt   values that a thread searches at once
// mb    least blocks a multiprocessor, which limits the registers a thread
// ipv   values a vector load (log2)
// lev   most levels of the tree in shared memory
//
// Workload, besides that of order.h, whose item type is the type of the comparison:
//     TUNE_SORTED, TUNE_SOUGHT   types of the array and of the values
//     TUNE_OFFSET                type that counts items of the array: u32, or u64 if there are more
//     TUNE_RIGHT                 0: before the items that are equal to a value, 1: after them
//
// Traffic: the values and the probed items of the array are read, the indices are written.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "integer.h"
#include "memory.h"
#include "order.h"

typedef TUNE_SORTED sorted_t;
typedef TUNE_SOUGHT sought_t;
typedef TUNE_OFFSET offset_t;

enum {
    ITEMS = TUNE_ITEMS_PER_THREAD,
    VECTOR = 1 << TUNE_ITEMS_PER_VECTOR_LOG2,
    ROWS = ITEMS / VECTOR, // of a tile
    ROW = SIMT_THREADS * VECTOR
};

struct search_args {
    const sorted_t* in;
    const sought_t* values;
    i64* out;
    u64 n, count; // items, values
    u64 levels;   // levels of the tree in shared memory; 2^levels is at most n
};

struct search_shared {
    item_t tree[1 << TUNE_TREE_LEVELS]; // node i has the children 2 i and 2 i + 1; the root is 1
};

// Returns true if a value's place is after the item.
FUNCTION bool is_behind(item_t item, item_t value)
{
    if constexpr (TUNE_RIGHT)
        return !goes_before(value, item);
    else
        return goes_before(item, value);
}

FUNCTION item_t item_at(const search_args& a, u64 i) { return convert<item_t>(a.in[i]); }

// Returns the beginning of leaf k of the tree in the array: n k / 2^levels.
FUNCTION u64 leaf_begin(const search_args& a, u64 k)
{
    const u64 rest = a.n & ((1ull << a.levels) - 1);
    return (a.n >> a.levels) * k + (rest * k >> a.levels);
}

FUNCTION void load_tree(const search_args& a, search_shared& s)
{
    const u32 leaves = 1u << a.levels;
    for (u32 node = 1 + thread_id(); node < leaves; node += SIMT_THREADS) {
        u32 below = 2 * node + 1; // the leaf at whose beginning the node divides
        while (below < leaves) below *= 2;
        s.tree[node] = item_at(a, leaf_begin(a, below - leaves) - 1);
    }
    block_sync();
}

template <int N>
FUNCTION void search(const search_args& a, const search_shared& s, const item_t (&value)[N],
                     offset_t (&found)[N])
{
    const u32 leaves = 1u << a.levels;
    u32 node[N];
    UNROLL
    for (int i = 0; i < N; i++) node[i] = 1;
    for (u32 level = 0; level < a.levels; level++) {
        UNROLL
        for (int i = 0; i < N; i++) node[i] = 2 * node[i] + is_behind(s.tree[node[i]], value[i]);
    }
    UNROLL
    for (int i = 0; i < N; i++) found[i] = static_cast<offset_t>(leaf_begin(a, node[i] - leaves));
    // Lengths of leaves differ by at most one, and the last leaf is the longest.
    offset_t length = static_cast<offset_t>((a.n + leaves - 1) >> a.levels);
    while (length > 1) {
        const offset_t half = length / 2;
        UNROLL
        for (int i = 0; i < N; i++)
            if (is_behind(item_at(a, found[i] + half - 1), value[i])) found[i] += half;
        length -= half;
    }
    if (length == 1) {
        UNROLL
        for (int i = 0; i < N; i++) found[i] += is_behind(item_at(a, found[i]), value[i]);
    }
}

// Searches the values of N rows from row `begin` on. WHOLE: all of them are before value `end`.
template <int N, bool WHOLE>
FUNCTION void search_rows(const search_args& a, const search_shared& s, u64 begin, u64 end)
{
    const u64 first = begin * ROW + thread_id() * VECTOR;
    item_t value[N * VECTOR];
    offset_t found[N * VECTOR];
    UNROLL
    for (int r = 0; r < N; r++) {
        const u64 at = first + static_cast<u64>(r) * ROW;
        sought_t row[VECTOR];
        if (WHOLE || at + VECTOR <= end)
            load_items<0>(a.values + at, row);
        else
            for (int j = 0; j < VECTOR; j++) { // past the end: any value
                const u64 i = at + static_cast<u64>(j);
                row[j] = a.values[i < end ? i : end - 1];
            }
        UNROLL
        for (int j = 0; j < VECTOR; j++) value[r * VECTOR + j] = convert<item_t>(row[j]);
    }
    search(a, s, value, found);
    UNROLL
    for (int r = 0; r < N; r++) {
        const u64 at = first + static_cast<u64>(r) * ROW;
        i64 row[VECTOR];
        UNROLL
        for (int j = 0; j < VECTOR; j++) row[j] = static_cast<i64>(found[r * VECTOR + j]);
        if (WHOLE || at + VECTOR <= end)
            store_items(a.out + at, row);
        else
            for (int j = 0; j < VECTOR; j++)
                if (at + static_cast<u64>(j) < end) a.out[at + static_cast<u64>(j)] = row[j];
    }
}

// Searches contiguous rows a block: sorted values share its cache. A row by itself, where there are
// few values, costs a thread no more searches than it has values.
KERNEL(searchsorted_tiles, search_args, search_shared)
{
    const u64 rows = ceil_div(a.count, ROW);
    const u64 more = rows % block_count(), each = rows / block_count(), block = block_id();
    const u64 begin = each * block + (block < more ? block : more);
    const u64 end = begin + each + (block < more);
    const u64 end_value = end * ROW < a.count ? end * ROW : a.count;
    load_tree(a, s);
    u64 row = begin;
    for (; (row + ROWS) * ROW <= end_value; row += ROWS)
        search_rows<ROWS, true>(a, s, row, end_value);
    if (end - row > 1)
        search_rows<ROWS, false>(a, s, row, end_value);
    else if (end > row)
        search_rows<1, false>(a, s, row, end_value);
}
