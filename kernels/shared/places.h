// Places that indices along an axis name: of what take reads and of what scatter writes.
//
// An array is [outer][length][columns] items, and what is moved [outer][count][columns]. An index
// counts along `length`. There is one for each of count, or one for each item that is moved. No
// index reaches beyond the array, whatever its value is.
#pragma once
#include "input.h"

enum : u64 { FROM_END, WRAP, CLIP }; // what becomes of an index that is not in [0, length)

struct axis_places {
    u64 length, columns, count;
    u64 mode;
};

FUNCTION u64 divide(u64 a, u64 b)
{
    return (a | b) >> 32 ? a / b : static_cast<u32>(a) / static_cast<u32>(b);
}

FUNCTION u64 in_range(i64 index, u64 length, u64 mode)
{
    const i64 most = static_cast<i64>(length);
    if (mode == WRAP && (index < 0 || index >= most)) index %= most;
    if (mode != CLIP && index < 0) index += most;
    return static_cast<u64>(index < 0 ? 0 : index < most ? index : most - 1);
}

FUNCTION u64 in_range(u64 index, u64 length, u64 mode)
{
    if (mode == WRAP && index >= length) index %= length;
    return index < length ? index : length - 1;
}

template <class I>
FUNCTION u64 in_range(I index, u64 length, u64 mode)
{
    return in_range(static_cast<i64>(index), length, mode);
}

// The place in the array of the k-th item that is moved. FLAT: outer and columns are 1. ALONG: an
// index for each item.
template <bool FLAT, bool ALONG, class In>
FUNCTION u64 place_of(const In& indices, const axis_places& at, u64 k)
{
    if (FLAT) return in_range(input_item(indices, k), at.length, at.mode);
    const u64 row = divide(k, at.columns), matrix = divide(row, at.count);
    const u64 column = k - row * at.columns;
    const auto index = input_item(indices, ALONG ? k : row - matrix * at.count);
    return (matrix * at.length + in_range(index, at.length, at.mode)) * at.columns + column;
}
