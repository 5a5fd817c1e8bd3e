// Arguments of the top-k of every segment of an array, on GPUs and on the CPU.
//
// Workload:
//     TUNE_KEY, TUNE_KEY_KIND, TUNE_MANTISSA_BITS, TUNE_DESCENDING   see radix.h
//     TUNE_OFFSET                        type that counts a segment's items
//     TUNE_EQUAL_SIZE, TUNE_OFFSETS      see segments.h
//     TUNE_ROW, TUNE_WARP_ROW, TUNE_FEW  most items of a row, of one that a warp takes, and of one
//                                        that it takes in registers
//     TUNE_ROW_MOST                      most keys to select from a row
//     TUNE_CLUSTERED                     1: clusters may take the segments, few and of one size
//     TUNE_UNORDERED                     1: a segment's keys may stand in any order
//     TUNE_HELD, TUNE_HELD_BYTES         items that a block of the CPU keeps, and room for them
#pragma once
#include "radix.h"
#include "segments.h"

typedef TUNE_OFFSET offset_t;

struct segmented_topk_args {
    in_t in;
    segments set;
    key_t* out;   // k of each segment
    i64* indices; // of these, from the segment's first item on; -1 behind the last
    u64 k;
    u64 parts; // into which a segment is cut
    u64 group; // segments that a block takes at once, a warp each; 1: by the whole block
    u64* list; // temporary storage of each block, or of each cluster
    // The k items of each part, their keys encoded.
    key_t* part_keys;
    offset_t* part_indices;
};

// Items of the input: a segment, or a part of one. `at` is its place in the segment.
struct stretch {
    u64 begin, at, count;
};

FUNCTION stretch whole_segment(const segmented_topk_args& a, u64 segment)
{
    if constexpr (TUNE_EQUAL_SIZE) return stretch{segment * a.set.size, 0, a.set.size};
    const u64 begin = segment_begin(a.set, segment);
    return stretch{begin, 0, larger(segment_end(a.set, segment), begin) - begin};
}

FUNCTION stretch part_of_segment(const segmented_topk_args& a, u64 segment, u64 part)
{
    const stretch whole = whole_segment(a, segment);
    if (a.parts == 1) return whole; // without a division
    const u64 begin = whole.begin, length = whole.count;
    // By hand: with ceil_div registers of segmented_topk_join spill.
    const u64 share = length / a.parts + (length % a.parts != 0);
    const u64 at = smaller(part * share, length);
    return stretch{begin + at, at, smaller(share, length - at)};
}

FUNCTION void put_result(const segmented_topk_args& a, u64 segment, u64 rank, key_t key, u64 index)
{
    a.out[segment * a.k + rank] = decode(key);
    a.indices[segment * a.k + rank] = static_cast<i64>(index);
}

// Fills a place behind the segment's last item.
FUNCTION void put_nothing(const segmented_topk_args& a, u64 segment, u64 rank)
{
    a.out[segment * a.k + rank] = 0;
    a.indices[segment * a.k + rank] = -1;
}
