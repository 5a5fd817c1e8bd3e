// Items to places that their indices name: numpy.put, and the same with an operator.
//
// The output is [outer][length][columns] items, the values [outer][count][columns] (places.h).
// Where several values have one place, those of an assignment leave one of them there; with an
// operator all are combined with what was there, in any order. A thread reads its indices and its
// values before it writes, so that its loads overlap.
//
// The first kernel copies the items that stay. It is left out where the output is the input.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 1:16:1 cpu=1024:16384:1024
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:32 cpu=1:1:1
//
// Workload:
//     TUNE_T, TUNE_A, TUNE_OPERATOR   items and operator (operator.h)
//     TUNE_IN_..., TUNE_VALUES_...    indices and values, which may be lazy (input.h)
//     TUNE_FLAT    1: outer and columns are 1
//     TUNE_ALONG   1: an index for each value
//     TUNE_UPDATE  0: values replace the items; 1: they are combined, and no two have one place;
//                  2: several may have one; 3: the same, and the operator is a sum that the device
//                  adds
//
// Traffic: items that stay are copied; indices and values are read, and what they name is written.
#include "atomic_update.h"
#include "operator.h"
#include "places.h"

typedef TUNE_INDEX index_t;
DEFINE_INPUT(TUNE_IN, in_t, index_t)
DEFINE_INPUT(TUNE_VALUES, values_t, item_t)
enum { ITEMS = TUNE_ITEMS_PER_THREAD, TOGETHER = ITEMS < 32 ? ITEMS : 1 }; // loads in flight
enum { REPLACE, COMBINE, ATOMIC, ATOMIC_SUM };

struct scatter_copy_args {
    const item_t* in;
    item_t* out;
    u64 n;
};
struct scatter_args {
    in_t indices;
    values_t values;
    item_t* out;
    u64 n; // values
    axis_places at;
};

FUNCTION item_t combined(item_t item, item_t value)
{
    return convert<item_t>(apply_operator(convert<value_t>(item), convert<value_t>(value)));
}

template <class T> // of which only the way that is taken has to compile
FUNCTION void place_value(T* to, T value)
{
    if constexpr (TUNE_UPDATE == REPLACE)
        *to = value;
    else if constexpr (TUNE_UPDATE == COMBINE)
        *to = combined(*to, value);
    else if constexpr (TUNE_UPDATE == ATOMIC_SUM)
        atomic_sum(to, value);
    else
        atomic_update(to, [value](T item) { return combined(item, value); });
}

KERNEL(scatter_copy, scatter_copy_args, no_shared)
{
    (void)s;
    const u64 tile = static_cast<u64>(block_id()) * (static_cast<u64>(SIMT_THREADS) * ITEMS);
    for (int first = 0; first < ITEMS; first += TOGETHER) {
        item_t item[TOGETHER];
        UNROLL
        for (int l = 0; l < TOGETHER; l++) {
            const u64 k = tile + static_cast<u64>(first + l) * SIMT_THREADS + thread_id();
            if (k < a.n) item[l] = a.in[k];
        }
        UNROLL
        for (int l = 0; l < TOGETHER; l++) {
            const u64 k = tile + static_cast<u64>(first + l) * SIMT_THREADS + thread_id();
            if (k < a.n) a.out[k] = item[l];
        }
    }
}

KERNEL(scatter_values, scatter_args, no_shared)
{
    (void)s;
    const u64 tile = static_cast<u64>(block_id()) * (static_cast<u64>(SIMT_THREADS) * ITEMS);
    for (int first = 0; first < ITEMS; first += TOGETHER) {
        u64 place[TOGETHER];
        item_t value[TOGETHER];
        UNROLL
        for (int l = 0; l < TOGETHER; l++) {
            const u64 k = tile + static_cast<u64>(first + l) * SIMT_THREADS + thread_id();
            if (k < a.n) place[l] = place_of<TUNE_FLAT, TUNE_ALONG>(a.indices, a.at, k);
        }
        UNROLL
        for (int l = 0; l < TOGETHER; l++) {
            const u64 k = tile + static_cast<u64>(first + l) * SIMT_THREADS + thread_id();
            if (k < a.n) value[l] = input_item(a.values, k);
        }
        UNROLL
        for (int l = 0; l < TOGETHER; l++) {
            const u64 k = tile + static_cast<u64>(first + l) * SIMT_THREADS + thread_id();
            if (k < a.n) place_value(a.out + place[l], value[l]);
        }
    }
}
