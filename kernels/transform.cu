// Element-wise map: out[i] = expression of the operands at i and of i itself.
//
// Every thread handles vectors of its block's tile; no thread needs another.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 1:16:1 cpu=1024:16384:1024
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:32 cpu=1:1:1
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 0:4:1 cpu=4:4:1
// %RANGE% TUNE_LOAD ld 0:2:1 cpu=0:0:1
//
// The workload's macros:
//     TUNE_O                type of the result
//     TUNE_WORDS            of the operands in the args, at least 1
//     TUNE_ARRAYS(X)        X(k, type, name) for each array operand; k is its first word there
//     TUNE_SCALARS(X)       the same for operands of one value
//     TUNE_EXPRESSION       of the operands' names and of i
// Traffic: every array read once, the result written once.
#include "memory.h"
#include "types.h"

typedef TUNE_O out_t;
enum { VECTOR = 1 << TUNE_ITEMS_PER_VECTOR_LOG2, LOADS = TUNE_ITEMS_PER_THREAD / VECTOR };

struct transform_args {
    out_t* out;
    u64 n;
    u64 operand[TUNE_WORDS]; // an array's address, or a scalar's bits
};
struct transform_shared {
    u64 none;
};

template <class T>
FUNCTION T scalar_operand(const u64* words)
{
    union {
        u64 word[(sizeof(T) + 7) / 8];
        T value;
    } bits;
    UNROLL
    for (u32 w = 0; w < (sizeof(T) + 7) / 8; w++) bits.word[w] = words[w];
    return bits.value;
}

#define OPERAND_PARAMETER(k, type, name) , const type name
FUNCTION out_t transform_item(const u64 i TUNE_ARRAYS(OPERAND_PARAMETER)
                                  TUNE_SCALARS(OPERAND_PARAMETER))
{
    (void)i;
    return convert<out_t>(TUNE_EXPRESSION);
}

#define DECLARE_ARRAY(k, type, name)                                              \
    const type* const name##_array = reinterpret_cast<const type*>(a.operand[k]); \
    type name##_items[LOADS][VECTOR];
#define DECLARE_SCALAR(k, type, name) const type name##_value = scalar_operand<type>(a.operand + k);
#define LOAD_VECTOR(k, type, name) load_items<TUNE_LOAD>(name##_array + first, name##_items[l]);
#define LOADED_ITEM(k, type, name) , name##_items[l][j]
#define ARRAY_ITEM(k, type, name) , name##_array[i]
#define SCALAR_ITEM(k, type, name) , name##_value

KERNEL(transform_tiles, transform_args, transform_shared)
{
    (void)s;
    const u64 tile =
        static_cast<u64>(block_id()) * (static_cast<u64>(SIMT_THREADS) * LOADS * VECTOR);
    TUNE_ARRAYS(DECLARE_ARRAY)
    TUNE_SCALARS(DECLARE_SCALAR)
    UNROLL
    for (int l = 0; l < LOADS; l++) {
        const u64 first = tile + (static_cast<u64>(l) * SIMT_THREADS + thread_id()) * VECTOR;
        if (first + VECTOR <= a.n) {
            TUNE_ARRAYS(LOAD_VECTOR)
        }
    }
    UNROLL
    for (int l = 0; l < LOADS; l++) {
        const u64 first = tile + (static_cast<u64>(l) * SIMT_THREADS + thread_id()) * VECTOR;
        if (first + VECTOR <= a.n) {
            out_t result[VECTOR];
            UNROLL
            for (int j = 0; j < VECTOR; j++)
                result[j] = transform_item(first + static_cast<u64>(j) TUNE_ARRAYS(LOADED_ITEM)
                                                       TUNE_SCALARS(SCALAR_ITEM));
            store_items(a.out + first, result);
        } else {
            for (u64 i = first; i < a.n; i++)
                a.out[i] = transform_item(i TUNE_ARRAYS(ARRAY_ITEM) TUNE_SCALARS(SCALAR_ITEM));
        }
    }
}
