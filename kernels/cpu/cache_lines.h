// Write-combining buffers of a single thread that writes an array out of order (the CPU). Items for
// neighbouring places are collected until they fill a cache line, which is then stored past the
// cache. Storing item by item would make the CPU read each line first.
#pragma once
#include "types.h"

enum { LINE_BYTES = 64 };

template <class T>
struct line { // a cache line of items that go to a bin next
    static_assert(sizeof(T) <= 16 && LINE_BYTES % sizeof(T) == 0, "it is stored 16 bytes at once");
    enum { ITEMS = LINE_BYTES / sizeof(T), LAST = ITEMS - 1 };
    alignas(LINE_BYTES) T item[ITEMS];
};

// Array of `count` items that lines are stored to. Item i has place (i + phase) % ITEMS in its
// line. Nothing is stored past the end, even if the input has changed since it was counted.
template <class T>
struct lined {
    T* out;
    u64 count;
    u32 phase;
};

template <class T>
FUNCTION lined<T> in_lines(T* out, u64 count)
{
    const u64 place = reinterpret_cast<u64>(out) / sizeof(T);
    return lined<T>{out, count, static_cast<u32>(place % line<T>::ITEMS)};
}

template <class T>
FUNCTION u32 place_in_line(lined<T> to, u64 i)
{
    return (static_cast<u32>(i) + to.phase) % line<T>::ITEMS;
}

// Stores the items of a line up to item `last`, of a bin that begins at `begin`.
template <class T>
FUNCTION void store_part(lined<T> to, const line<T>& from, u64 begin, u64 last)
{
    const u32 place = place_in_line(to, last);
    for (u64 i = last - begin > place ? last - place : begin; i <= last; i++)
        to.out[i] = from.item[place_in_line(to, i)];
}

// Stores 16 bytes with a non-temporal store. Other threads see it after a device_fence.
FUNCTION void store_past_caches(void* to, const void* from)
{
    typedef long long two_words __attribute__((vector_size(16), may_alias));
    const two_words words = *static_cast<const two_words*>(from);
#if defined(__x86_64__)
    asm volatile("movntdq %1, %0" : "=m"(*static_cast<two_words*>(to)) : "x"(words));
#else
    *static_cast<two_words*>(to) = words;
#endif
}

template <class T>
FUNCTION void store_line(T* out, const line<T>& from)
{
    enum { PART = 16 / sizeof(T) };
    if (reinterpret_cast<u64>(out) % 16 == 0) {
        for (u32 i = 0; i < line<T>::ITEMS; i += PART) store_past_caches(out + i, from.item + i);
    } else { // array that is not aligned to its items' size
        for (u32 i = 0; i < line<T>::ITEMS; i++) out[i] = from.item[i];
    }
}

// Stores a line that is full up to item i, of a bin that begins at `begin`. It is not inlined, so
// that the loop that fills lines is short and keeps its variables in registers.
template <class T>
SLOW_FUNCTION void store_full(lined<T> to, const line<T>& from, u64 begin, u64 i)
{
    if (i >= to.count) return;
    if (i - begin >= line<T>::LAST)
        store_line(to.out + i - line<T>::LAST, from);
    else
        store_part(to, from, begin, i);
}

template <class T, class Place>
FUNCTION void put_in_line(const lined<T>& to, line<T>& through, const Place& begin, u64 i, T item)
{
    const u32 place = place_in_line(to, i);
    through.item[place] = item;
    if (place == line<T>::LAST) store_full(to, through, begin, i);
}

template <class T>
FUNCTION void store_rest(lined<T> to, const line<T>& from, u64 begin, u64 end)
{
    if (end > begin && end <= to.count && place_in_line(to, end) > 0)
        store_part(to, from, begin, end - 1);
}
