// Items by their indices: numpy.take, and numpy.take_along_axis.
//
// The input is [outer][length][columns] items, the output [outer][count][columns]. An index counts
// along `length`. There is one for each of count, or with TUNE_ALONG one for each item of the
// output. A thread reads its indices, then the items, then writes them, so that its loads overlap.
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
#include "input.h"
#include "types.h"

typedef TUNE_T item_t;
typedef TUNE_INDEX index_t;
DEFINE_INPUT(TUNE_IN, in_t, index_t)
enum { ITEMS = TUNE_ITEMS_PER_THREAD, TOGETHER = ITEMS < 32 ? ITEMS : 1 }; // loads in flight
enum : u64 { FROM_END, WRAP, CLIP }; // what becomes of an index that is not in [0, length)

struct take_args {
    const item_t* in;
    in_t indices;
    item_t* out;
    u64 n; // items of the output
    u64 length, columns, count;
    u64 mode;
};
struct take_shared {
    u64 none;
};

FUNCTION u64 divide(u64 a, u64 b)
{
    return (a | b) >> 32 ? a / b : static_cast<u32>(a) / static_cast<u32>(b);
}

// No index reaches beyond the input, whatever the mode is.
FUNCTION u64 wrapped(i64 index, u64 length, u64 mode)
{
    const i64 most = static_cast<i64>(length);
    if (mode == WRAP && (index < 0 || index >= most)) index %= most;
    if (mode != CLIP && index < 0) index += most;
    return static_cast<u64>(index < 0 ? 0 : index < most ? index : most - 1);
}

// The place in the input of the k-th item of the output.
FUNCTION u64 place_of(const take_args& a, u64 k)
{
    if (TUNE_FLAT) return wrapped(static_cast<i64>(input_item(a.indices, k)), a.length, a.mode);
    const u64 row = divide(k, a.columns), matrix = divide(row, a.count);
    const u64 column = k - row * a.columns;
    const i64 index =
        static_cast<i64>(input_item(a.indices, TUNE_ALONG ? k : row - matrix * a.count));
    return (matrix * a.length + wrapped(index, a.length, a.mode)) * a.columns + column;
}

KERNEL(take_items, take_args, take_shared)
{
    (void)s;
    const u64 tile = static_cast<u64>(block_id()) * (static_cast<u64>(SIMT_THREADS) * ITEMS);
    for (int first = 0; first < ITEMS; first += TOGETHER) {
        u64 place[TOGETHER];
        item_t item[TOGETHER];
        UNROLL
        for (int l = 0; l < TOGETHER; l++) {
            const u64 k = tile + static_cast<u64>(first + l) * SIMT_THREADS + thread_id();
            if (k < a.n) place[l] = place_of(a, k);
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
