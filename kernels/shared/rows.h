// Tile in rows (warp-striped vectors): a warp has a contiguous part of the tile, and a row of that
// part is one vector a lane.
//
// This makes loads wide and coalesced, and an item's neighbours are one shuffle away. `first` is
// the index of a thread's first item; its item in the next row comes SIMT_WARP * VECTOR items
// later. The input is an array or a lazy input (input.h).
#pragma once
#include "input.h"
#include "integer.h"
#include "same_run.h"
#include "warp.h"

// Loads a thread's items of all rows. Items past the end are arbitrary.
template <bool WHOLE, int CACHING, int ROWS, int VECTOR, class In, class T>
FUNCTION void load_rows(const In& in, u64 first, u64 n, T (&item)[ROWS][VECTOR])
{
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        const u64 at = first + static_cast<u64>(r) * (SIMT_WARP * VECTOR);
        if (WHOLE || at + VECTOR <= n)
            load_input<CACHING>(in, at, item[r]);
        else
            for (int j = 0; j < VECTOR; j++) {
                const u64 i = at + static_cast<u64>(j);
                item[r][j] = n ? input_item(in, i < n ? i : n - 1) : T{};
            }
    }
}

// Flags of a thread's items, a bit each: bools would take a register each.
template <int ROWS, int VECTOR>
struct row_flags {
    u32 word[ceil_div(ROWS * VECTOR, 32)];

    FUNCTION_MEMBER bool at(int r, int j) const
    {
        const int bit = r * VECTOR + j;
        return (word[bit / 32] >> bit % 32 & 1u) != 0;
    }
    // Sets flags in the order of the items, each once.
    FUNCTION_MEMBER void set(int r, int j, bool flag)
    {
        const int bit = r * VECTOR + j;
        const u32 before = bit % 32 ? word[bit / 32] : 0u;
        word[bit / 32] = before | static_cast<u32>(flag) << bit % 32;
    }
    template <int BEGIN, int COUNT>
    FUNCTION_MEMBER void set_rows(const bool (&flag)[COUNT][VECTOR])
    {
        UNROLL
        for (int r = 0; r < COUNT; r++) {
            UNROLL
            for (int j = 0; j < VECTOR; j++) set(BEGIN + r, j, flag[r][j]);
        }
    }
};

// Flags the items that begin a run (same_run.h): the first, those that differ from the one before,
// and all places past the end.
template <bool WHOLE, int ROWS, int VECTOR, class In, class T>
FUNCTION void find_heads(const In& in, u64 first, u64 n, const T (&item)[ROWS][VECTOR],
                         bool (&head)[ROWS][VECTOR])
{
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        const u64 at = first + static_cast<u64>(r) * (SIMT_WARP * VECTOR);
        T before = warp_shuffle(item[r][VECTOR - 1], lane_id() - 1);
        if (r > 0) {
            const T last = warp_shuffle(item[r - 1][VECTOR - 1], SIMT_WARP - 1);
            if (lane_id() == 0) before = last;
        } else if (lane_id() == 0 && at > 0 && at < n)
            before = input_item(in, at - 1);
        UNROLL
        for (int j = 0; j < VECTOR; j++) {
            head[r][j] = !SAME_RUN(before, item[r][j]);
            if (!WHOLE && at + static_cast<u64>(j) >= n) head[r][j] = true;
            before = item[r][j];
        }
    }
    if (first == 0) head[0][0] = true;
}

// Flags for each vector if the item after it begins a run. Places past the end count as beginnings.
//   Called by   all lanes of the warp
template <int ROWS, int VECTOR, class In, class T>
FUNCTION void heads_behind(const In& in, u64 first, u64 n, const T (&item)[ROWS][VECTOR],
                           const bool (&head)[ROWS][VECTOR], bool (&behind)[ROWS])
{
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        const u64 at = first + static_cast<u64>(r) * (SIMT_WARP * VECTOR) + VECTOR;
        behind[r] = warp_shuffle(static_cast<u32>(head[r][0]), lane_id() + 1);
        if (r + 1 < ROWS) {
            const u32 next = warp_shuffle(static_cast<u32>(head[r + 1 < ROWS ? r + 1 : r][0]), 0);
            if (lane_id() == SIMT_WARP - 1) behind[r] = next;
        } else if (lane_id() == SIMT_WARP - 1)
            behind[r] = at < n ? !SAME_RUN(item[r][VECTOR - 1], input_item(in, at)) : true;
    }
}

// Numbers of flagged items of each row, in the lanes before and in all lanes. The lanes' counts are
// packed, as many rows as fit in a word, and scanned together.
template <int ROWS, int VECTOR>
struct row_counts {
    enum {
        FIELD = SIMT_WARP * VECTOR <= 255 ? 8 : 16,
        FIELDS = 32 / FIELD,
        WORDS = ceil_div(ROWS, FIELDS)
    };
    u32 before[WORDS];
    u32 all[WORDS];

    FUNCTION_MEMBER static u32 field(const u32 (&words)[WORDS], int row)
    {
        return words[row / FIELDS] >> (row % FIELDS * FIELD) & ((1u << FIELD) - 1u);
    }
    FUNCTION_MEMBER u32 lanes_before(int row) const { return field(before, row); }
    FUNCTION_MEMBER u32 lanes(int row) const { return field(all, row); }
};

template <int ROWS, int VECTOR>
FUNCTION void count_rows(const bool (&flag)[ROWS][VECTOR], row_counts<ROWS, VECTOR>& c)
{
    typedef row_counts<ROWS, VECTOR> counts;
    UNROLL
    for (int w = 0; w < counts::WORDS; w++) c.before[w] = 0;
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        u32 count = 0;
        UNROLL
        for (int j = 0; j < VECTOR; j++) count += flag[r][j];
        c.before[r / counts::FIELDS] += count << (r % counts::FIELDS * counts::FIELD);
    }
    UNROLL
    for (int w = 0; w < counts::WORDS; w++) {
        const u32 through = warp_scan(c.before[w], plus());
        c.before[w] = through - c.before[w];
        c.all[w] = warp_shuffle(through, SIMT_WARP - 1);
    }
}
