// Ends of runs in a tile in rows (rows.h): flags of the items that follow a thread's vectors.
#pragma once
#include "rows.h"

// Flags for each vector if the item after it begins a run. Places past the end count as beginnings.
//   Called by   all lanes of the warp
template <int ROWS, int VECTOR, class In, class T>
FUNCTION void heads_behind(const In& in, u64 first, u64 n, const T (&item)[ROWS][VECTOR],
                           const bool (&head)[ROWS][VECTOR], bool (&behind)[ROWS])
{
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        const u64 at = first + static_cast<u64>(r) * (SIMT_WARP * VECTOR) + VECTOR;
        behind[r] = warp_shuffle(static_cast<u32>(head[r][0]), lane_id() + 1);
        if (r + 1 < ROWS) {
            const u32 next = warp_shuffle(static_cast<u32>(head[r + 1 < ROWS ? r + 1 : r][0]), 0);
            if (lane_id() == SIMT_WARP - 1) behind[r] = next;
        } else if (lane_id() == SIMT_WARP - 1)
            behind[r] = at < n ? !(input_item(in, at) == item[r][VECTOR - 1]) : true;
    }
}
