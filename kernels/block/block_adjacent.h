// Collectives of a block over neighbouring items: shift, rotate, differences, heads and tails of
// runs. Items are blocked.
#pragma once
#include "block.h"

template <class T>
struct block_adjacent_storage {
    T item[SIMT_THREADS];
};

// Returns the value of the thread `distance` after the calling one (before it, if negative), or
// `outside` if there is no such thread.
//   Called by   all threads of the block, with the same distance
//   Result      in each thread
//   Storage     may be used again after the next block_sync
template <class T>
FUNCTION T block_shift(T value, i32 distance, T outside, block_adjacent_storage<T>& s)
{
    const u32 from = thread_id() + static_cast<u32>(distance); // wraps below 0
    s.item[thread_id()] = value;
    block_sync();
    return from < SIMT_THREADS ? s.item[from] : outside;
}

// Returns the value of the thread `distance` after the calling one; the first follows the last.
//   Called by   all threads of the block, with the same distance of at most SIMT_THREADS
//   Result      in each thread
//   Storage     may be used again after the next block_sync
template <class T>
FUNCTION T block_rotate(T value, i32 distance, block_adjacent_storage<T>& s)
{
    const u32 from = thread_id() + SIMT_THREADS + static_cast<u32>(distance);
    s.item[thread_id()] = value;
    block_sync();
    return s.item[from % SIMT_THREADS];
}

// Computes out[j] = op(item[j], its predecessor); `first` precedes the tile's first item.
//   Called by   all threads of the block
//   Result      in each thread; out may not be item
//   Storage     may be used again after the next block_sync
template <class T, int N, class R, class Op>
FUNCTION void block_subtract_left(const T (&item)[N], R (&out)[N], Op op, T first,
                                  block_adjacent_storage<T>& s)
{
    const T before = block_shift(item[N - 1], -1, first, s);
    out[0] = op(item[0], before);
    UNROLL
    for (int j = 1; j < N; j++) out[j] = op(item[j], item[j - 1]);
}

// Computes out[j] = op(item[j], its successor); `last` follows the tile's last item.
//   Called by   all threads of the block
//   Result      in each thread; out may not be item
//   Storage     may be used again after the next block_sync
template <class T, int N, class R, class Op>
FUNCTION void block_subtract_right(const T (&item)[N], R (&out)[N], Op op, T last,
                                   block_adjacent_storage<T>& s)
{
    const T after = block_shift(item[0], 1, last, s);
    UNROLL
    for (int j = 0; j + 1 < N; j++) out[j] = op(item[j], item[j + 1]);
    out[N - 1] = op(item[N - 1], after);
}

struct minus {
    template <class V>
    FUNCTION_MEMBER V operator()(V a, V b) const
    {
        return a - b;
    }
};
struct differs {
    template <class V>
    FUNCTION_MEMBER bool operator()(V a, V b) const
    {
        return !(a == b);
    }
};

// Flags the items that begin a run: the tile's first, and each for which op(item, predecessor) is
// true.
//   Called by   all threads of the block
//   Result      in each thread
//   Storage     may be used again after the next block_sync
template <class T, int N, class Op>
FUNCTION void block_heads(const T (&item)[N], bool (&head)[N], Op op, block_adjacent_storage<T>& s)
{
    block_subtract_left(item, head, op, item[0], s);
    if (thread_id() == 0) head[0] = true;
}

// Flags the items that end a run: the tile's last, and each for which op(item, successor) is true.
//   Called by   all threads of the block
//   Result      in each thread
//   Storage     may be used again after the next block_sync
template <class T, int N, class Op>
FUNCTION void block_tails(const T (&item)[N], bool (&tail)[N], Op op, block_adjacent_storage<T>& s)
{
    block_subtract_right(item, tail, op, item[N - 1], s);
    if (thread_id() == SIMT_THREADS - 1) tail[N - 1] = true;
}
