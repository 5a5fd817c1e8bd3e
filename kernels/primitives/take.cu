// Items by their indices: numpy.take, and numpy.take_along_axis.
//
// The input is [outer][length][columns] items, the output [outer][count][columns] (places.h). A
// thread reads its indices, then the items, then writes them, so that its loads overlap.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 1:16:1 cpu=1024:16384:1024
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:32 cpu=1:1:1
//
// Workload:
//     TUNE_T       type of the items; only its size matters
//     TUNE_IN_...  the indices, which may be lazy (input.h)
//     TUNE_FLAT    1: outer and columns are 1
//     TUNE_ALONG   1: an index for each item of the output
//
// Traffic: indices and the items that they name are read, the output is written.
#include "places.h"
#include "types.h"

typedef TUNE_T item_t;
typedef TUNE_INDEX index_t;
DEFINE_INPUT(TUNE_IN, in_t, index_t)
enum { ITEMS = TUNE_ITEMS_PER_THREAD, TOGETHER = ITEMS < 32 ? ITEMS : 1 }; // loads in flight

struct take_args {
    const item_t* in;
    in_t indices;
    item_t* out;
    u64 n; // items of the output
    axis_places at;
};

KERNEL(take_items, take_args, no_shared)
{
    (void)s;
    const u64 tile = static_cast<u64>(block_id()) * (static_cast<u64>(SIMT_THREADS) * ITEMS);
    for (int first = 0; first < ITEMS; first += TOGETHER) {
        u64 place[TOGETHER];
        item_t item[TOGETHER];
        UNROLL
        for (int l = 0; l < TOGETHER; l++) {
            const u64 k = tile + static_cast<u64>(first + l) * SIMT_THREADS + thread_id();
            if (k < a.n) place[l] = place_of<TUNE_FLAT, TUNE_ALONG>(a.indices, a.at, k);
        }
        UNROLL
        for (int l = 0; l < TOGETHER; l++) {
            const u64 k = tile + static_cast<u64>(first + l) * SIMT_THREADS + thread_id();
            if (k < a.n) item[l] = a.in[place[l]];
        }
        UNROLL
        for (int l = 0; l < TOGETHER; l++) {
            const u64 k = tile + static_cast<u64>(first + l) * SIMT_THREADS + thread_id();
            if (k < a.n) a.out[k] = item[l];
        }
    }
}
