// Stable sort along a short axis of [outer][length][columns] items, in one pass.
//
// Neighbouring threads read and write neighbouring columns, so that both are contiguous; along the
// last axis, of one column, neighbouring items of the array. An axis that fits a thread's registers
// is sorted there by Batcher's network of odd-even merges ("Sorting networks and their
// applications", AFIPS 1968). A longer axis is turned in shared memory, so that a team of threads
// has consecutive rows of a column. Each thread sorts its own, and runs of threads are merged in
// pairs (block_merge.h). On the CPU it is cpu_axis_sort.cu.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:64:1
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:64
// %RANGE% TUNE_MIN_BLOCKS mb 1:8:1
//
// ipt   most items a thread
// mb    least blocks a multiprocessor, which limits the registers a thread
//
// Workload:
//     TUNE_KEY, TUNE_KEY_KIND, TUNE_MANTISSA_BITS, TUNE_DESCENDING   as in radix.h
//     TUNE_LENGTH    most items of the axis
//     TUNE_LAST      1: the axis is the last, of one column
//     TUNE_INDICES   1: the results are the items' indices along the axis, in place of the items
//     TUNE_OUT       type of the results
//
// Traffic: every item is read once, every result written once. Of narrow rows of a block a sector
// of 32 bytes is a part; other blocks find the rest in the L2 cache.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "block_merge.h"
#include "block_radix.h"
#include "integer.h"

typedef TUNE_KEY item_t;
typedef TUNE_OUT out_t;
typedef radix_code<TUNE_KEY_KIND, TUNE_MANTISSA_BITS, TUNE_DESCENDING, item_t> key_code;

enum {
    ALONE = TUNE_LENGTH <= TUNE_ITEMS_PER_THREAD, // a thread sorts a column
    TURNED = !ALONE || TUNE_LAST,                 // in shared memory
    ITEMS = ALONE ? TUNE_LENGTH : TUNE_ITEMS_PER_THREAD,
    ROOM = TURNED ? (ITEMS + 1) * SIMT_THREADS : 1 // a place more for each column
};

struct axis_sort_args {
    const item_t* in;
    out_t* out;
    u64 length, columns;
    u64 all;  // columns of all matrices
    u64 team; // threads that sort a column
    u64 wide; // columns of a block
};

struct axis_sort_shared {
    item_t key[ROOM];
    u16 index[TUNE_INDICES ? ROOM : 1];
};

// Encoded keys and their indices along the axis.
struct thread_items {
    item_t key[ITEMS];
    u32 index[ITEMS];
};

// ---- columns ------------------------------------------------------------------------------------
// Items that a thread reads and writes: `pitch` apart in the array. They are rows of one column,
// `step` apart; along the last axis each row has its own column, and only the first are here.
struct strided {
    u32 column, row, step; // of the first item; the column counts from the block's first
    u64 at, pitch;
    u32 count;
};

FUNCTION strided rows_of_column(const axis_sort_args& a, u32 wide)
{
    strided m{thread_id() % wide, thread_id() / wide, SIMT_THREADS / wide, 0, 0, 0};
    const u64 column = static_cast<u64>(block_id()) * wide + m.column;
    const u64 outer = column < a.columns ? 0 : column / a.columns; // a division takes long
    m.at = (outer * a.length + m.row) * a.columns + (column - outer * a.columns);
    m.pitch = m.step * a.columns;
    const u32 length = static_cast<u32>(a.length);
    if (column < a.all && m.row < m.step && m.row < length)
        m.count = ceil_div(length - m.row, m.step);
    return m;
}

FUNCTION strided neighbours_in_array(const axis_sort_args& a, u32 wide)
{
    const u32 length = static_cast<u32>(a.length);
    const u64 first = static_cast<u64>(block_id()) * wide, left = a.all - first;
    const u32 count = length * (left < wide ? static_cast<u32>(left) : wide);
    strided m{thread_id() / length, thread_id() % length, 0, 0, SIMT_THREADS, 0};
    m.at = first * length + thread_id();
    if (thread_id() < count)
        m.count = ceil_div(count - thread_id(), static_cast<u32>(SIMT_THREADS));
    return m;
}

FUNCTION strided strided_of(const axis_sort_args& a)
{
    const u32 wide = ALONE ? SIMT_THREADS : static_cast<u32>(a.wide);
    if constexpr (TUNE_LAST)
        return neighbours_in_array(a, wide);
    else
        return rows_of_column(a, wide);
}

// ---- a thread -----------------------------------------------------------------------------------
// No two items are equal by their indices, so that their order is that of a stable sort.
FUNCTION void order_two(thread_items& x, int i, int j)
{
    const item_t low = x.key[i], high = x.key[j];
    if constexpr (TUNE_INDICES) {
        const u32 of_low = x.index[i], of_high = x.index[j];
        const bool swap = high < low || (high == low && of_high < of_low);
        x.key[i] = swap ? high : low;
        x.key[j] = swap ? low : high;
        x.index[i] = swap ? of_high : of_low;
        x.index[j] = swap ? of_low : of_high;
    } else {
        x.key[i] = high < low ? high : low;
        x.key[j] = high < low ? low : high;
    }
}

// Puts items 2^APART places apart in order, and so on down to neighbours: a step of the merge of
// runs of 2^RUN items. The steps are templates so that all places are constants, of registers.
template <int RUN, int APART>
FUNCTION void merge_in_thread(thread_items& x)
{
    constexpr int apart = 1 << APART, from = APART < RUN ? apart : 0;
    UNROLL
    for (int i = from; i + apart < ITEMS; i++) {
        const bool pair =
            ((i - from) >> APART) % 2 == 0 && i >> (RUN + 1) == (i + apart) >> (RUN + 1);
        if (pair) order_two(x, i, i + apart);
    }
    if constexpr (APART > 0) merge_in_thread<RUN, APART - 1>(x);
}

template <int RUN = 0>
FUNCTION void sort_thread(thread_items& x)
{
    if constexpr (1 << RUN < ITEMS) {
        merge_in_thread<RUN, RUN>(x);
        sort_thread<RUN + 1>(x);
    }
}

// ---- a team -------------------------------------------------------------------------------------
// Place of a thread in the team that sorts a column; those of all columns are `pitch` apart.
struct member {
    u32 rank, team;
    u32 begin, pitch; // of the column in shared memory
    bool active;
};

FUNCTION member member_of(const axis_sort_args& a)
{
    const u32 team = ALONE ? 1 : static_cast<u32>(a.team), column = thread_id() / team;
    const u32 pitch = (team * ITEMS) | 1u; // columns begin in different banks
    return member{thread_id() % team, team, column * pitch, pitch, ALONE || column < a.wide};
}

// Places in shared memory of the items of strided_of, one after the other.
struct places {
    u32 at, row;
    FUNCTION_MEMBER void step(const strided& mine, const member& m, u32 length)
    {
        if constexpr (TUNE_LAST) {
            at += SIMT_THREADS + SIMT_THREADS / length * (m.pitch - length);
            row += SIMT_THREADS % length;
            if (row < length) return;
            row -= length;
            at += m.pitch - length;
        } else {
            at += mine.step;
        }
    }
};

FUNCTION void keep(const member& m, axis_sort_shared& s, const thread_items& x)
{
    UNROLL
    for (u32 i = 0; i < ITEMS; i++) {
        if (!m.active) continue;
        s.key[m.begin + m.rank * ITEMS + i] = x.key[i];
        if constexpr (TUNE_INDICES)
            s.index[m.begin + m.rank * ITEMS + i] = static_cast<u16>(x.index[i]);
    }
}

// Merges the run of `width` threads with the next one.
FUNCTION void merge_runs(const member& m, const axis_sort_shared& s, u32 width, thread_items& x)
{
    const u32 first = m.rank & ~(2 * width - 1);
    const u32 middle = first + width < m.team ? first + width : m.team;
    const u32 end = middle + width < m.team ? middle + width : m.team;
    u32 from[ITEMS];
    thread_merge(s.key + m.begin, first * ITEMS, middle * ITEMS, end * ITEMS,
                 (m.rank - first) * ITEMS, x.key, from, less{});
    if constexpr (TUNE_INDICES) {
        UNROLL
        for (int i = 0; i < ITEMS; i++) x.index[i] = s.index[m.begin + from[i]];
    }
}

// Takes the items of a block's columns from the arrangement of strided_of to that of teams, sorts,
// and takes them back. Places behind the axis have the greatest key, and stay behind all items.
FUNCTION void sort_by_teams(const axis_sort_args& a, axis_sort_shared& s, const strided& mine,
                            thread_items& x)
{
    const member m = member_of(a);
    const u32 length = static_cast<u32>(a.length);
    const places first = {mine.column * m.pitch + mine.row, mine.row};
    places p = first;
    UNROLL
    for (u32 i = 0; i < ITEMS; i++, p.step(mine, m, length))
        if (i < mine.count) s.key[p.at] = x.key[i];
    block_sync();
    UNROLL
    for (u32 i = 0; i < ITEMS; i++) {
        const u32 row = m.rank * ITEMS + i;
        const bool inside = m.active && row < length;
        x.key[i] = inside ? s.key[m.begin + row] : static_cast<item_t>(~0ull);
        x.index[i] = row;
    }
    sort_thread(x);
    block_sync();
    for (u32 width = 1; width < m.team; width *= 2) {
        keep(m, s, x);
        block_sync();
        if (m.active) merge_runs(m, s, width, x);
        block_sync();
    }
    keep(m, s, x);
    block_sync();
    p = first;
    UNROLL
    for (u32 i = 0; i < ITEMS; i++, p.step(mine, m, length)) {
        if (i >= mine.count) continue;
        x.key[i] = s.key[p.at];
        if constexpr (TUNE_INDICES) x.index[i] = s.index[p.at];
    }
}

KERNEL(axis_sort_columns, axis_sort_args, axis_sort_shared)
{
    const strided mine = strided_of(a);
    thread_items x;
    UNROLL
    for (u32 i = 0; i < ITEMS; i++) {
        x.key[i] = 0;
        if (i < mine.count) x.key[i] = a.in[mine.at + i * mine.pitch];
    }
    UNROLL
    for (u32 i = 0; i < ITEMS; i++) {
        x.key[i] = i < mine.count ? key_code::encode(x.key[i]) : static_cast<item_t>(~0ull);
        x.index[i] = i;
    }
    if constexpr (TURNED)
        sort_by_teams(a, s, mine, x);
    else
        sort_thread(x);
    UNROLL
    for (u32 i = 0; i < ITEMS; i++) {
        if (i >= mine.count) continue;
        if constexpr (TUNE_INDICES)
            a.out[mine.at + i * mine.pitch] = static_cast<out_t>(x.index[i]);
        else
            a.out[mine.at + i * mine.pitch] = key_code::decode(x.key[i]);
    }
    (void)s;
}
