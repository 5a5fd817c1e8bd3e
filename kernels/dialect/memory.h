// Loads and stores of several consecutive items a thread, with the widest accesses of the device.
//
// TUNE_ALIGNED is 1 if all arrays of the launch begin on a 16-byte boundary. Other arrays are a
// separate compile-time workload, so that the code has no branch on it.
#pragma once
#include "simt.h"

template <class T, int N>
union pack {
    T item[N];
    bytes16 chunk[(N * sizeof(T) + 15) / 16];
    u64 two_words;
    u32 word;
    u16 half;
};

// Assigns from to `to`. CPU compilers vectorise copies of numbers, but not of classes, so that a
// class of one byte is copied as a u8.
template <class T>
FUNCTION void copy_item(T& to, const T& from)
{
    if constexpr (SIMT_VECTOR_BYTES == 0 && sizeof(T) == 1)
        reinterpret_cast<u8&>(to) = reinterpret_cast<const u8&>(from);
    else
        to = from;
}

// Loads out[j] = p[j] for j in [0, N); p is a multiple of N items from the array's start.
template <int CACHING, int N, class T>
FUNCTION void load_items(const T* p, T (&out)[N])
{
    constexpr int bytes = N * static_cast<int>(sizeof(T));
    if constexpr (TUNE_ALIGNED && SIMT_VECTOR_BYTES == 16 && bytes % 16 == 0) {
        pack<T, N> v;
        UNROLL
        for (int c = 0; c < bytes / 16; c++)
            v.chunk[c] = load_bytes16<CACHING>(reinterpret_cast<const bytes16*>(p) + c);
        UNROLL
        for (int j = 0; j < N; j++) out[j] = v.item[j];
    } else if constexpr (TUNE_ALIGNED && SIMT_VECTOR_BYTES == 16 && N > 1 &&
                         (bytes == 8 || bytes == 4 || bytes == 2)) {
        pack<T, N> v;
        if constexpr (bytes == 8)
            v.two_words = *reinterpret_cast<const u64*>(p);
        else if constexpr (bytes == 4)
            v.word = *reinterpret_cast<const u32*>(p);
        else
            v.half = *reinterpret_cast<const u16*>(p);
        UNROLL
        for (int j = 0; j < N; j++) out[j] = v.item[j];
    } else {
        UNROLL
        for (int j = 0; j < N; j++) copy_item(out[j], p[j]);
    }
}

// Stores p[j] = in[j] for j in [0, N); p as for load_items.
template <int N, class T>
FUNCTION void store_items(T* p, const T (&in)[N])
{
    constexpr int bytes = N * static_cast<int>(sizeof(T));
    if constexpr (TUNE_ALIGNED && SIMT_VECTOR_BYTES == 16 && N > 1 &&
                  (bytes % 16 == 0 || bytes == 8 || bytes == 4 || bytes == 2)) {
        pack<T, N> v;
        UNROLL
        for (int j = 0; j < N; j++) v.item[j] = in[j];
        if constexpr (bytes % 16 == 0) {
            UNROLL
            for (int c = 0; c < bytes / 16; c++) reinterpret_cast<bytes16*>(p)[c] = v.chunk[c];
        } else if constexpr (bytes == 8)
            *reinterpret_cast<u64*>(p) = v.two_words;
        else if constexpr (bytes == 4)
            *reinterpret_cast<u32*>(p) = v.word;
        else
            *reinterpret_cast<u16*>(p) = v.half;
    } else {
        UNROLL
        for (int j = 0; j < N; j++) copy_item(p[j], in[j]);
    }
}

// Prefetches to the L2 cache the part of the array that lies AHEAD mebibytes after the tile of TILE
// items at `begin`. Blocks that find their tiles there take less and more equal time, which matters
// if each waits for those before it. AHEAD 0 prefetches nothing.
template <int AHEAD, int TILE, class T>
FUNCTION void prefetch_tile(const T* p, u64 begin, u64 n)
{
    enum { LINE = sizeof(T) < 128 ? 128 / sizeof(T) : 1 };
    if (AHEAD == 0) return;
    begin += (static_cast<u64>(AHEAD) << 20) / sizeof(T);
    for (u32 i = thread_id() * LINE; i < TILE; i += SIMT_THREADS * LINE)
        if (begin + i < n) prefetch_l2(p + begin + i);
}
