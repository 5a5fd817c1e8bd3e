// Merge sort of up to a tile by a single thread: sorts short runs in registers, then merges runs
// back and forth between a buffer in the cache and the output.
#pragma once
#include "single_thread_merge.h"

enum { FIRST_RUN = 8 }; // items sorted in registers

struct tile_buffer { // buffer that merges alternate with
    item_t key[TILE];
    value_t value[PAIRS ? TILE : 1];
};

// Sorts FIRST_RUN items in registers, or fewer at the end.
FUNCTION void sort_first_run(range in, target out)
{
    const u32 count = static_cast<u32>(in.count);
    item_t key[FIRST_RUN];
    u32 index[FIRST_RUN];
    value_t value[FIRST_RUN];
    for (u32 i = 0; i < FIRST_RUN; i++) {
        index[i] = i;
        if (i < count) key[i] = in.key[i];
        if constexpr (PAIRS)
            if (i < count) value[i] = in.value[i];
    }
    if (count == FIRST_RUN)
        thread_sort_pairs(key, index, 0, order());
    else
        thread_sort_pairs(key, index, bits_behind(count), order());
    for (u32 i = 0; i < count; i++) {
        out.key[i] = key[i];
        if constexpr (PAIRS) out.value[i] = value[index[i]];
    }
}

FUNCTION void single_thread_sort(range in, target out, tile_buffer& s)
{
    const u64 n = in.count;
    const target spare = {s.key, s.value};
    bool to_out = true; // chosen so that the last merge writes the output
    for (u64 run = FIRST_RUN; run < n; run *= 2) to_out = !to_out;
    for (u64 i = 0; i < n; i += FIRST_RUN)
        sort_first_run(part_of(in, i, n - i < FIRST_RUN ? n - i : FIRST_RUN),
                       behind(to_out ? out : spare, i));
    for (u64 run = FIRST_RUN; run < n; run *= 2) {
        const target from = to_out ? out : spare, to = to_out ? spare : out;
        const range sorted = {from.key, from.value, n};
        for (u64 i = 0; i < n; i += 2 * run) {
            const u64 first = n - i < run ? n - i : run;
            const u64 second = n - i - first < run ? n - i - first : run;
            single_thread_merge(part_of(sorted, i, first), part_of(sorted, i + first, second),
                                behind(to, i));
        }
        to_out = !to_out;
    }
}
