// Merge of two sorted ranges by a single thread, from both ends at once.
#pragma once
#include "merge_path.h"

FUNCTION void put(target out, u64 to, range in, u64 from)
{
    out.key[to] = in.key[from];
    if constexpr (PAIRS) out.value[to] = in.value[from];
}

// Returns one of two addresses without a branch, which would often be mispredicted.
template <class T>
FUNCTION const T* choose(bool second, const T* a, const T* b)
{
    const u64 first = reinterpret_cast<u64>(a), other = first ^ reinterpret_cast<u64>(b);
    return reinterpret_cast<const T*>(first ^ (other & (0ull - second)));
}

// Remaining parts of two ranges that items leave at both ends.
struct ends {
    u64 i, j; // items that have left at the fronts
    u64 x, y; // ends of the parts that remain
};

// Writes one item at the front and one at the back. The two chains of loads and comparisons are
// independent of each other.
FUNCTION void merge_step(range a, range b, target out, ends& e)
{
    const bool second = goes_before(b.key[e.j], a.key[e.i]);
    const bool first = goes_before(b.key[e.y - 1], a.key[e.x - 1]);
    const u64 front = e.i + e.j, back = e.x + e.y - 1;
    out.key[front] = *choose(second, a.key + e.i, b.key + e.j);
    out.key[back] = *choose(!first, a.key + e.x - 1, b.key + e.y - 1);
    if constexpr (PAIRS) {
        out.value[front] = *choose(second, a.value + e.i, b.value + e.j);
        out.value[back] = *choose(!first, a.value + e.x - 1, b.value + e.y - 1);
    }
    e.i += !second;
    e.j += second;
    e.x -= first;
    e.y -= !first;
}

// Merges two ranges. Steps do not check for the end of a range as long as
// neither can be used up: for half of the shorter range at a time, or for all of ranges of equal
// length. Ranges that are in order already are only copied.
FUNCTION void single_thread_merge(range a, range b, target out)
{
    ends e = {0, 0, a.count, b.count};
    const bool mixed = a.count && b.count && goes_before(b.key[0], a.key[a.count - 1]);
    if (mixed && a.count == b.count) {
        for (u64 step = 0; step < a.count; step++) merge_step(a, b, out, e);
        return;
    }
    while (mixed) {
        const u64 least = e.x - e.i < e.y - e.j ? e.x - e.i : e.y - e.j;
        if (least < 2) break;
        for (u64 step = 0; step < least / 2; step++) merge_step(a, b, out, e);
    }
    while (mixed && e.i < e.x && e.j < e.y) {
        const bool second = goes_before(b.key[e.j], a.key[e.i]);
        put(out, e.i + e.j, second ? b : a, second ? e.j : e.i);
        e.i += !second;
        e.j += second;
    }
    for (; e.i < e.x; e.i++) put(out, e.i + e.j, a, e.i);
    for (; e.j < e.y; e.j++) put(out, e.i + e.j, b, e.j);
}

// Writes items [first, first + TILE) of the merged ranges, or those up to their end.
FUNCTION void merge_tile(range a, range b, u64 first, target out, u64 (&crossing)[2])
{
    const u64 left = a.count + b.count - first;
    const parts p = block_parts(a, b, first, left < TILE ? left : TILE, crossing);
    single_thread_merge(p.a, p.b, behind(out, first));
}
