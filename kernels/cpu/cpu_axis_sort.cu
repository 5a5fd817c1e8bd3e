// Stable sort along a short axis that is not the last, of [outer][length][columns] items, on the
// CPU, by single threads.
//
// A very short axis is sorted by Batcher's network ("Sorting networks and their applications",
// AFIPS 1968), each step of which puts two rows of neighbouring columns in order, in vectors. Of a
// longer one neighbouring columns are turned into the cache, sorted there by radix (sort_cached.h),
// and written back.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 2048:32768:2048
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 1:1:1
//
// ipt   most items that one thread has in the cache
//
// Workload: as of axis_sort.cu, and
//     TUNE_LONGEST        most items of the axis
//     TUNE_NETWORK_ROWS   most items of an axis that a network sorts
//     TUNE_STRIP          columns that it sorts at once
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

enum { STRIP = TUNE_STRIP, NETWORK_ROWS = TUNE_NETWORK_ROWS };
static_assert(NETWORK_ROWS < 256, "rows are numbered in any key_t");

struct strip_rows {
    alignas(64) key_t key[NETWORK_ROWS][STRIP];
    alignas(64) key_t index[PAIRS ? NETWORK_ROWS : 1][STRIP];
};

struct turned_columns {
    key_t key[TILE], spare[TUNE_LONGEST]; // spare memory of a column
    value_t index[PAIRS ? TILE : 1], spare_index[TUNE_LONGEST];
};

union axis_sort_shared {
    strip_rows rows;
    turned_columns columns;
};

struct area { // columns of one matrix
    u64 at;   // the first item
    u64 columns;
};

FUNCTION area area_at(const axis_sort_args& a, u64 column, u64 end)
{
    const u64 outer = column / a.columns, across = column - outer * a.columns;
    const u64 left = a.columns - across;
    return area{outer * a.length * a.columns + across, left < end - column ? left : end - column};
}

// ---- networks -----------------------------------------------------------------------------------
FUNCTION key_t ones_if(bool is) { return static_cast<key_t>(is ? ~0ull : 0); }

// Puts two rows in order. No two items are equal by their indices, so that their order is that of a
// stable sort. Compilers vectorise masks, not conditions of several comparisons.
FUNCTION void order_rows(strip_rows& s, u64 i, u64 j)
{
    key_t *const low = s.key[i], *const high = s.key[j];
    for (u32 c = 0; c < STRIP; c++) {
        const key_t a = low[c], b = high[c];
        if constexpr (PAIRS) {
            const key_t of_a = s.index[i][c], of_b = s.index[j][c];
            const key_t later = ones_if(b == a) & ones_if(of_b < of_a);
            const key_t swap = ones_if(b < a) | later;
            const key_t key = (a ^ b) & swap, index = (of_a ^ of_b) & swap;
            low[c] = a ^ key;
            high[c] = b ^ key;
            s.index[i][c] = of_a ^ index;
            s.index[j][c] = of_b ^ index;
        } else {
            low[c] = b < a ? b : a;
            high[c] = b < a ? a : b;
        }
    }
}

// Runs of `run` rows are merged in pairs: rows `apart` places apart are put in order.
FUNCTION void sort_rows(strip_rows& s, u64 length)
{
    for (u64 run = 1; run < length; run *= 2)
        for (u64 apart = run; apart > 0; apart /= 2)
            for (u64 from = apart < run ? apart : 0; from + apart < length; from += 2 * apart)
                for (u64 i = from; i < from + apart && i + apart < length; i++)
                    if (i / (2 * run) == (i + apart) / (2 * run)) order_rows(s, i, i + apart);
}

FUNCTION void read_rows(const axis_sort_args& a, strip_rows& s, area of, u64 first)
{
    for (u64 row = 0; row < a.length; row++)
        for (u64 c = 0; c < of.columns; c++)
            s.key[row][first + c] = key_code::encode(a.in[of.at + row * a.columns + c]);
}

FUNCTION void write_rows(const axis_sort_args& a, const strip_rows& s, area of, u64 first)
{
    for (u64 row = 0; row < a.length; row++)
        for (u64 c = 0; c < of.columns; c++) {
            out_t& to = a.out[of.at + row * a.columns + c];
            if constexpr (PAIRS)
                to = static_cast<out_t>(s.index[row][first + c]);
            else
                to = key_code::decode(s.key[row][first + c]);
        }
}

// Sorts columns [begin, end), at most STRIP, of any matrices.
FUNCTION void sort_strip(const axis_sort_args& a, strip_rows& s, u64 begin, u64 end)
{
    area of;
    for (u64 column = begin; column < end; column += of.columns) {
        of = area_at(a, column, end);
        read_rows(a, s, of, column - begin);
    }
    for (u64 row = 0; row < a.length; row++)
        for (u64 c = 0; c < STRIP; c++) {
            if (c >= end - begin) s.key[row][c] = 0;
            if constexpr (PAIRS) s.index[row][c] = static_cast<key_t>(row);
        }
    sort_rows(s, a.length);
    for (u64 column = begin; column < end; column += of.columns) {
        of = area_at(a, column, end);
        write_rows(a, s, of, column - begin);
    }
}

// ---- columns ------------------------------------------------------------------------------------
// Half of evenly spread floats have one exponent.
enum { EXPONENT_BITS = TUNE_KEY_KIND == RADIX_FLOATING ? 4 : 0 };

FUNCTION void read_columns(const axis_sort_args& a, turned_columns& s, area of)
{
    for (u64 row = 0; row < a.length; row++)
        for (u64 c = 0; c < of.columns; c++) {
            s.key[c * a.length + row] = key_code::encode(a.in[of.at + row * a.columns + c]);
            if constexpr (PAIRS) s.index[c * a.length + row] = static_cast<value_t>(row);
        }
}

FUNCTION void sort_column(const axis_sort_args& a, turned_columns& s, u64 first)
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

FUNCTION void write_columns(const axis_sort_args& a, const turned_columns& s, area of)
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

FUNCTION void sort_columns(const axis_sort_args& a, turned_columns& s, u64 begin, u64 end)
{
    area of;
    for (u64 column = begin; column < end; column += of.columns) {
        of = area_at(a, column, end);
        read_columns(a, s, of);
        for (u64 c = 0; c < of.columns; c++) sort_column(a, s, c * a.length);
        write_columns(a, s, of);
    }
}

KERNEL(axis_sort_columns, axis_sort_args, axis_sort_shared)
{
    const u64 begin = block_id() * a.wide, end = begin + a.wide < a.all ? begin + a.wide : a.all;
    if (a.length > NETWORK_ROWS) return sort_columns(a, s.columns, begin, end);
    for (u64 column = begin; column < end; column += STRIP)
        sort_strip(a, s.rows, column, column + STRIP < end ? column + STRIP : end);
}
