// Stable sort along a short axis that is not the last, of [outer][length][columns] items, on the
// CPU: each single thread turns neighbouring columns into the cache, sorts them there by radix
// (sort_cached.h), and writes them back.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 2048:32768:2048
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 1:1:1
//
// ipt   most items that one thread has in the cache
//
// Workload: as of axis_sort.cu, and
//     TUNE_LONGEST   most items of the axis
//
// Traffic: every item is read once, every result written once.
#include "block_radix.h"

typedef TUNE_KEY key_t;
typedef TUNE_OUT out_t;
typedef u32 offset_t;
typedef u16 value_t; // an index along the axis
typedef radix_code<TUNE_KEY_KIND, TUNE_MANTISSA_BITS, TUNE_DESCENDING, key_t> key_code;
enum { PAIRS = TUNE_INDICES, TILE = TUNE_ITEMS_PER_THREAD };
FUNCTION key_t decode(key_t coded) { return key_code::decode(coded); }
#include "sort_cached.h"

struct axis_sort_args { // as in axis_sort.cu
    const key_t* in;
    out_t* out;
    u64 length, columns;
    u64 all;
    u64 team; // unused
    u64 wide;
};

struct axis_sort_shared {
    key_t key[TILE], spare[TUNE_LONGEST]; // spare memory of a column
    value_t index[PAIRS ? TILE : 1], spare_index[TUNE_LONGEST];
};

// Half of evenly spread floats have one exponent.
enum { EXPONENT_BITS = TUNE_KEY_KIND == RADIX_FLOATING ? 4 : 0 };

struct area { // columns of one matrix
    u64 at;   // the first item
    u64 columns;
};

FUNCTION void read_columns(const axis_sort_args& a, axis_sort_shared& s, area of)
{
    for (u64 row = 0; row < a.length; row++)
        for (u64 c = 0; c < of.columns; c++) {
            s.key[c * a.length + row] = key_code::encode(a.in[of.at + row * a.columns + c]);
            if constexpr (PAIRS) s.index[c * a.length + row] = static_cast<value_t>(row);
        }
}

FUNCTION void sort_column(const axis_sort_args& a, axis_sort_shared& s, u64 first)
{
    const key_bits all = {0, 8 * sizeof(key_t)};
    const items x = behind(items{s.key, s.index}, first);
    const items spare = {s.spare, s.spare_index};
    if (a.length <= FEW_ITEMS) {
        insert_items(sorted_bits(all), x, a.length, ~0ull);
        return;
    }
    const items sorted = sort_in_cache(all, range_of(all, x.key, a.length), x, spare, a.length,
                                       enough_bits(a.length) + EXPONENT_BITS);
    for (u64 i = 0; sorted.key != x.key && i < a.length; i++) move_item(x, i, sorted, i);
}

FUNCTION void write_columns(const axis_sort_args& a, const axis_sort_shared& s, area of)
{
    for (u64 row = 0; row < a.length; row++)
        for (u64 c = 0; c < of.columns; c++) {
            out_t& to = a.out[of.at + row * a.columns + c];
            if constexpr (PAIRS)
                to = static_cast<out_t>(s.index[c * a.length + row]);
            else
                to = key_code::decode(s.key[c * a.length + row]);
        }
}

KERNEL(axis_sort_columns, axis_sort_args, axis_sort_shared)
{
    u64 column = block_id() * a.wide, end = column + a.wide;
    if (end > a.all) end = a.all;
    while (column < end) {
        const u64 outer = column / a.columns, across = column - outer * a.columns;
        const u64 left = a.columns - across;
        const area of = {outer * a.length * a.columns + across,
                         left < end - column ? left : end - column};
        read_columns(a, s, of);
        for (u64 c = 0; c < of.columns; c++) sort_column(a, s, c * a.length);
        write_columns(a, s, of);
        column += of.columns;
    }
}
