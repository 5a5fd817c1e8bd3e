// Operands in a fixed order: for results that must not depend on the variant, the device or timing.
//
// An operator of floats does not associate, so which items meet first decides the last bits. Here
// that is laid down by the index of an item alone. A row is a vector of items for each of 32 lanes,
// a part some rows, a tile PARTS parts; their sizes follow from the type of the items. Threads only
// share out this work: a block of any number of warps, or on the cpu a thread that stands for all
// 32 lanes, does the same operations on the same operands. The workload says SIMT_ROUNDED, so that
// no compiler makes one step of a product and a sum.
#pragma once
#include "warp.h"

enum {
    LANES = 32 / SIMT_WARP, // that a thread stands for
    PARTS = 8               // of a tile
};

// Items of a lane in a row: those of a 16-byte access.
FUNCTION constexpr int row_vector(int item_bytes) { return item_bytes < 16 ? 16 / item_bytes : 1; }
// Rows of a part: what a thread can hold of each in registers.
FUNCTION constexpr int part_rows(int item_bytes)
{
    return item_bytes <= 16 ? 8 : item_bytes <= 32 ? 4 : 2;
}

// The first `count` lanes' values combined, neighbours first: ((0 1)(2 3))((4 5)(6 7)) ... A lane
// that has no neighbour waits for the next round.
//   Called by   all lanes of the warp
//   Result      in the first lane
template <class V, class Op>
FUNCTION V lanes_reduce(V (&lane)[LANES], u32 count, Op op)
{
    if constexpr (LANES == 1)
        return warp_reduce(lane[0], op, count);
    else {
        for (u32 d = 1; d < count; d *= 2)
            for (u32 l = 0; l + d < count; l += 2 * d) lane[l] = op(lane[l], lane[l + d]);
        return lane[0];
    }
}

// Inclusive prefix of the lanes' values, in place, in the order of Kogge and Stone (1973).
//   Called by   all lanes of the warp
//   Result      in each lane
template <class V, class Op>
FUNCTION void lanes_scan(V (&lane)[LANES], Op op)
{
    if constexpr (LANES == 1)
        lane[0] = warp_scan(lane[0], op);
    else
        for (u32 d = 1; d < LANES; d *= 2) {
            V before[LANES];
            for (u32 l = 0; l < LANES; l++) before[l] = lane[l];
            for (u32 l = d; l < LANES; l++) lane[l] = op(before[l - d], before[l]);
        }
}
