// Deterministic order of operations, for results that do not depend on the variant, the device or
// timing.
//
// Floating-point operators are not associative, so that the order of operations decides the last
// bits. Here the index of an item alone determines it. A row is one vector of items for each of 32
// lanes, a part is several rows, and a tile is PARTS parts; their sizes follow from the item type.
// Threads only share this work: a block of any number of warps, or a single thread on the CPU that
// stands for all 32 lanes, does the same operations on the same operands. The workload defines
// SIMT_ROUNDED, which disables the contraction of a product and a sum to an FMA.
#pragma once
#include "integer.h"
#include "warp.h"

enum {
    LANES = 32 / SIMT_WARP, // lanes that a thread stands for
    PARTS = 8               // parts a tile
};

// Returns the items a lane in a row: those of a 16-byte access.
FUNCTION constexpr int row_vector(int item_bytes) { return item_bytes < 16 ? 16 / item_bytes : 1; }
// Returns the rows of a part: as many as fit a thread's registers.
FUNCTION constexpr int part_rows(int item_bytes)
{
    return item_bytes <= 16 ? 8 : item_bytes <= 32 ? 4 : 2;
}

// Combines the values of the first `count` lanes, neighbours first: ((0 1)(2 3))((4 5)(6 7)) ... A
// lane without a neighbour waits for the next round.
//   Called by   all lanes of the warp
//   Result      in the first lane
template <class V, class Op>
FUNCTION V lanes_reduce(V (&lane)[LANES], u32 count, Op op)
{
    if constexpr (LANES == 1)
        return warp_reduce_first(lane[0], op, count);
    else {
        for (u32 d = 1; d < count; d *= 2)
            for (u32 l = 0; l + d < count; l += 2 * d) lane[l] = op(lane[l], lane[l + d]);
        return lane[0];
    }
}

// Inclusive prefix scan of the lanes' values, in place, in the order of Kogge and Stone (1973).
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
