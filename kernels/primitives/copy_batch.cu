// Batch of memory copies of any sizes in one launch.
//
// The concatenated bytes of all copies are cut into equal tiles, one per block. A block finds the
// copies of its tile by a binary search in their ends. A tile within one copy is copied in the
// widest words that the alignment of source and destination allows. In any other tile a thread
// takes 16 bytes at a time, finds their copy among those of the tile, and goes on from copy to
// copy. So all blocks have the same amount of work, whether copies are gigabytes or single bytes.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 1:8:1 cpu=1024:16384:1024
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:64 cpu=1:1:1
//
// ipt   16-byte pieces a thread in a tile
//
// Traffic: every byte is read and written once, three numbers a copy are read.
#define TUNE_EQUAL_SIZE 0
#define TUNE_OFFSETS i64
#include "memory.h"
#include "segments.h"

enum { ITEMS = TUNE_ITEMS_PER_THREAD, PIECE = 16, TILE = ITEMS * SIMT_THREADS * PIECE };

struct copy_batch_args {
    const u8* in; // bases of the offsets `from` and `to`
    u8* out;
    const u64* from;
    const u64* to;
    const i64* ends; // end of each copy among the concatenated bytes
    u64 count;
    u64 bytes; // sum of all copies
};

struct copy_batch_shared {
    u64 copy[2]; // first and last copy of the tile
};

FUNCTION u64 address_of(const void* p) { return reinterpret_cast<u64>(p); }

// ---- a copy -------------------------------------------------------------------------------------
// Copies `count` words with all threads of the block, in batches of independent loads.
template <class Word>
FUNCTION void copy_words(u8* out, const u8* in, u32 count)
{
    enum { BATCH = SIMT_SINGLE_THREAD ? 1 : ITEMS };
    Word* const to = reinterpret_cast<Word*>(out);
    const Word* const from = reinterpret_cast<const Word*>(in);
    for (u32 first = thread_id(); first < count; first += BATCH * SIMT_THREADS) {
        Word word[BATCH];
        UNROLL
        for (u32 j = 0; j < BATCH; j++)
            if (first + j * SIMT_THREADS < count) word[j] = from[first + j * SIMT_THREADS];
        UNROLL
        for (u32 j = 0; j < BATCH; j++)
            if (first + j * SIMT_THREADS < count) to[first + j * SIMT_THREADS] = word[j];
    }
}

// Copies the bytes up to the first aligned word, the words, and the remaining bytes.
template <class Word>
FUNCTION void copy_as(u8* out, const u8* in, u32 bytes)
{
    const u32 most = static_cast<u32>((0 - address_of(out)) % sizeof(Word));
    const u32 head = most < bytes ? most : bytes;
    const u32 words = (bytes - head) / static_cast<u32>(sizeof(Word));
    const u32 behind = head + words * static_cast<u32>(sizeof(Word));
    copy_words<u8>(out, in, head);
    copy_words<Word>(out + head, in + head, words);
    copy_words<u8>(out + behind, in + behind, bytes - behind);
}

FUNCTION void copy_together(u8* out, const u8* in, u32 bytes)
{
    const u64 apart = address_of(out) ^ address_of(in);
    if (apart % 16 == 0)
        copy_as<bytes16>(out, in, bytes);
    else if (apart % 4 == 0)
        copy_as<u32>(out, in, bytes);
    else
        copy_words<u8>(out, in, bytes);
}

// Copies at most PIECE bytes with one thread.
template <class Word>
FUNCTION void copy_piece_as(u8* out, const u8* in, u32 bytes)
{
    for (u32 i = 0; i * sizeof(Word) < bytes; i++)
        reinterpret_cast<Word*>(out)[i] = reinterpret_cast<const Word*>(in)[i];
}

FUNCTION void copy_piece(u8* out, const u8* in, u32 bytes)
{
    const u64 all = address_of(out) | address_of(in) | bytes;
    if (all % 8 == 0)
        copy_piece_as<u64>(out, in, bytes);
    else if (all % 4 == 0)
        copy_piece_as<u32>(out, in, bytes);
    else
        copy_piece_as<u8>(out, in, bytes);
}

// ---- a tile -------------------------------------------------------------------------------------
// Source and destination of a part of copy k; `begin` counts among the concatenated bytes.
struct part {
    u8* out;
    const u8* in;
};

FUNCTION part part_of(const copy_batch_args& a, const segments& g, u64 k, u64 begin)
{
    const u64 before = k > 0 ? segment_begin(g, k - 1) : 0;
    return part{a.out + a.to[k] + (begin - before), a.in + a.from[k] + (begin - before)};
}

FUNCTION void copy_pieces(const copy_batch_args& a, const segments& g, u64 begin, u64 end,
                          const u64 (&copy)[2])
{
    const u64 step = SIMT_SINGLE_THREAD ? TILE : PIECE;
    for (u64 at = begin + thread_id() * step; at < end; at += SIMT_THREADS * step) {
        const u64 stop = smaller(at + step, end);
        u64 from = at;
        for (u64 k = offsets_up_to(g, at, copy[0], copy[1]); k <= copy[1] && from < stop; k++) {
            const u64 next = smaller(segment_begin(g, k), stop);
            if (next <= from) continue;
            const part p = part_of(a, g, k, from);
            if constexpr (SIMT_SINGLE_THREAD)
                copy_together(p.out, p.in, static_cast<u32>(next - from));
            else
                copy_piece(p.out, p.in, static_cast<u32>(next - from));
            from = next;
        }
    }
}

KERNEL(copy_batch_tiles, copy_batch_args, copy_batch_shared)
{
    const segments g = {a.ends, 0, a.count - 1, a.bytes};
    const u64 begin = block_id() * static_cast<u64>(TILE), end = smaller(begin + TILE, a.bytes);
    for (u32 side = warp_id(); side < 2; side += SIMT_WARPS) {
        const u64 copy = offsets_below(g, side ? end : begin + 1);
        if (lane_id() == 0) s.copy[side] = smaller(copy, a.count - 1);
    }
    block_sync();
    if (s.copy[0] == s.copy[1]) {
        const part p = part_of(a, g, s.copy[0], begin);
        copy_together(p.out, p.in, static_cast<u32>(end - begin));
    } else
        copy_pieces(a, g, begin, end, s.copy);
}
