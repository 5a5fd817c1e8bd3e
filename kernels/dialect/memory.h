// Loads and stores of several consecutive items a thread, with the widest accesses of the device.
//
// TUNE_ALIGNED is 1 if all arrays of the launch begin on a 16-byte boundary. Other arrays are a
// separate compile-time workload, so that the code has no branch on it: there a thread loads the
// aligned chunks of 16 bytes that its items overlap, and shifts them.
#pragma once
#include "integer.h"
#include "simt.h"

template <class T, int N>
union pack {
    T item[N];
    bytes16 chunk[ceil_div(N * sizeof(T), 16)];
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

// Loads the first bytes of a chunk, fewer than 16, and none behind them, where the array may end.
// Their number is a multiple of ALIGNMENT.
template <int ALIGNMENT>
FUNCTION bytes16 load_first_bytes(const u8* chunk, u32 bytes)
{
    u64 two_words = 0;
    u32 word = 0, rest = 0; // each behind the larger ones before it
    if (ALIGNMENT <= 8 && bytes & 8u) two_words = *reinterpret_cast<const u64*>(chunk);
    if (ALIGNMENT <= 4 && bytes & 4u) word = *reinterpret_cast<const u32*>(chunk + (bytes & 8u));
    if (ALIGNMENT <= 2 && bytes & 2u) rest = *reinterpret_cast<const u16*>(chunk + (bytes & 12u));
    if (ALIGNMENT == 1 && bytes & 1u) rest |= chunk[bytes & 14u] << (bytes & 2u) * 8;
    const u32 first = bytes & 4u ? word : rest, second = bytes & 4u ? rest : 0;
    bytes16 v{};
    v.word[0] = bytes & 8u ? static_cast<u32>(two_words) : first;
    v.word[1] = bytes & 8u ? static_cast<u32>(two_words >> 32) : second;
    v.word[2] = bytes & 8u ? first : 0;
    v.word[3] = bytes & 8u ? second : 0;
    return v;
}

// Loads chunks from an address that is a multiple of ALIGNMENT bytes only. The bytes before it,
// from a multiple of 16 on, are read as well.
template <int CACHING, int ALIGNMENT, int CHUNKS>
FUNCTION void load_shifted(const void* p, bytes16 (&out)[CHUNKS])
{
    enum { NEAR = CACHING ? 1 : 0 }; // neighbours share chunks, so that the L1 cache is of use
    const u32 shift = static_cast<u32>(reinterpret_cast<u64>(p) % 16u);
    const u8* const from = static_cast<const u8*>(p) - shift;
    bytes16 chunk[CHUNKS + 1];
    u32 word[4 * CHUNKS + 4];
    UNROLL
    for (int c = 0; c < CHUNKS; c++) chunk[c] = load_bytes16<NEAR>(from + 16 * c);
    chunk[CHUNKS] = load_first_bytes<ALIGNMENT>(from + 16 * CHUNKS, shift);
    UNROLL
    for (int w = 0; w < 4 * CHUNKS + 4; w++) word[w] = chunk[w / 4].word[w % 4];
    UNROLL
    for (int w = 0; w < 4 * CHUNKS + 2; w++) word[w] = shift & 8u ? word[w + 2] : word[w];
    if constexpr (ALIGNMENT <= 4) {
        UNROLL
        for (int w = 0; w < 4 * CHUNKS + 1; w++) word[w] = shift & 4u ? word[w + 1] : word[w];
    }
    UNROLL
    for (int w = 0; w < 4 * CHUNKS; w++) {
        const u64 two_words = static_cast<u64>(word[w + 1]) << 32 | word[w];
        out[w / 4].word[w % 4] =
            ALIGNMENT < 4 ? static_cast<u32>(two_words >> (shift & 3u) * 8) : word[w];
    }
}

// Loads out[j] = p[j] for j in [0, N); p is a multiple of N items from the array's start.
template <int CACHING, int N, class T>
FUNCTION void load_items(const T* p, T (&out)[N])
{
    constexpr int bytes = N * static_cast<int>(sizeof(T));
    if constexpr (SIMT_VECTOR_BYTES == 16 && bytes % 16 == 0) {
        pack<T, N> v;
        if constexpr (TUNE_ALIGNED || alignof(T) == 16) {
            UNROLL
            for (int c = 0; c < bytes / 16; c++)
                v.chunk[c] = load_bytes16<CACHING>(reinterpret_cast<const bytes16*>(p) + c);
        } else
            load_shifted<CACHING, alignof(T)>(p, v.chunk);
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
    constexpr int width = bytes % 16 == 0 ? 16 : bytes;
    if constexpr (SIMT_VECTOR_BYTES == 16 && N > 1 &&
                  (width == 16 || width == 8 || width == 4 || width == 2)) {
        if (TUNE_ALIGNED || reinterpret_cast<u64>(p) % width == 0) {
            pack<T, N> v;
            UNROLL
            for (int j = 0; j < N; j++) v.item[j] = in[j];
            if constexpr (width == 16) {
                UNROLL
                for (int c = 0; c < bytes / 16; c++) reinterpret_cast<bytes16*>(p)[c] = v.chunk[c];
            } else if constexpr (width == 8)
                *reinterpret_cast<u64*>(p) = v.two_words;
            else if constexpr (width == 4)
                *reinterpret_cast<u32*>(p) = v.word;
            else
                *reinterpret_cast<u16*>(p) = v.half;
            return;
        }
    }
    UNROLL
    for (int j = 0; j < N; j++) copy_item(p[j], in[j]);
}

// Prefetches to the L2 cache the line of an item whose index is a multiple of 32.
template <class T>
FUNCTION void prefetch_item(const T* p)
{
    enum { IN_WORDS = TUNE_ALIGNED && (sizeof(T) & (sizeof(T) - 1)) == 0 };
    const u8* at = reinterpret_cast<const u8*>(p);
    // A GPU faults where it prefetches from an address that is no multiple of 4.
    if (!IN_WORDS) at -= reinterpret_cast<u64>(at) % 4u;
    prefetch_l2(at);
}

// Prefetches the tile of TILE items at `begin` to the L2 cache.
template <int TILE, class T>
FUNCTION void prefetch_this_tile(const T* p, u64 begin, u64 n)
{
    enum { LINE = sizeof(T) < 128 ? 128 / sizeof(T) : 1 };
    for (u32 i = thread_id() * LINE; i < TILE; i += SIMT_THREADS * LINE)
        if (begin + i < n) prefetch_item(p + begin + i);
}

// Prefetches the first of items [begin, end) to the L2 cache: 128 bytes a thread.
template <class T>
FUNCTION void prefetch_items(const T* p, u64 begin, u64 end)
{
    enum { LINE = sizeof(T) < 128 ? 128 / sizeof(T) : 1 };
    const u64 i = begin / LINE * LINE + thread_id() * LINE;
    if (i < end) prefetch_item(p + i);
}

// Prefetches to the L2 cache the part of the array that lies AHEAD mebibytes after the tile of TILE
// items at `begin`. Blocks that find their tiles there take less and more equal time, which matters
// if each waits for those before it. AHEAD 0 prefetches nothing.
template <int AHEAD, int TILE, class T>
FUNCTION void prefetch_tile(const T* p, u64 begin, u64 n)
{
    if (AHEAD != 0)
        prefetch_this_tile<TILE>(p, begin + (static_cast<u64>(AHEAD) << 20) / sizeof(T), n);
}
