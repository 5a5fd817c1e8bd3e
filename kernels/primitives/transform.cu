// Element-wise map: evaluates a lazy input (input.h) and writes the results to memory.
//
// Every thread processes vectors of its block's tile, without exchanging data.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 1:16:1 cpu=1024:16384:1024
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:32 cpu=1:1:1
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 0:4:1 cpu=4:4:1
// %RANGE% TUNE_LOAD ld 0:2:1 cpu=0:0:1
//
// The workload's macros: TUNE_O, type of the result, and those of the input. Where the result is a
// struct whose members go to arrays of their own, TUNE_PARTS(X) is X(type, name) for each member.
// TUNE_CHECKED is there where the result is of no interest: the input's tables note indices beyond
// their ends (csrc/run/index_check.c).
// Traffic: every array is read once, the result is written once.
#include "input.h"

#define COUNT_TABLE(type, name, axes) +1

typedef TUNE_O out_t;
DEFINE_INPUT(TUNE_IN, in_t, out_t)
enum { VECTOR = 1 << TUNE_ITEMS_PER_VECTOR_LOG2, LOADS = TUNE_ITEMS_PER_THREAD / VECTOR };
enum { TILE = SIMT_THREADS * LOADS * VECTOR, TABLES = 0 TUNE_IN_TABLES(COUNT_TABLE) };
enum { FIT_REGISTERS = TUNE_ITEMS_PER_THREAD <= 16 }; // a cpu's thread has more items

#if defined(TUNE_PARTS)
#define PART_ARRAY(type, name) type* name;
#define PART_VECTOR(type, name)                                    \
    {                                                              \
        type part[VECTOR];                                         \
        UNROLL                                                     \
        for (int j = 0; j < VECTOR; j++) part[j] = result[j].name; \
        store_items(to.name + first, part);                        \
    }
#define PART_ITEM(type, name) to.name[i] = result.name;
struct outputs {
    TUNE_PARTS(PART_ARRAY)
};
FUNCTION void store_vector(const outputs& to, u64 first, const out_t (&result)[VECTOR]){
    TUNE_PARTS(PART_VECTOR)} FUNCTION void store_item(const outputs& to, u64 i, const out_t& result)
{
    TUNE_PARTS(PART_ITEM)
}
#elif defined(TUNE_CHECKED)
typedef u64* outputs;
#define store_vector(to, first, result) (void)result
#define store_item(to, i, result) (void)(result)
#else
typedef out_t* outputs;
#define store_vector(to, first, result) store_items(to + first, result)
#define store_item(to, i, result) to[i] = result
#endif

struct transform_args {
    outputs out;
    u64 n;
    in_t in;
};

// Evaluates all results of a whole tile before it stores the first. Evaluation loads the items of
// tables, and a compiler moves no load before a store, so that one vector's loads would wait for
// the results of another.
FUNCTION void finish_tile(const transform_args& a, u64 tile,
                          const in_t_vector<VECTOR> (&raw)[LOADS])
{
    out_t result[LOADS][VECTOR];
    UNROLL
    for (int l = 0; l < LOADS; l++) {
        const u64 first = tile + (static_cast<u64>(l) * SIMT_THREADS + thread_id()) * VECTOR;
        evaluate_input(a.in, first, raw[l], result[l]);
    }
    UNROLL
    for (int l = 0; l < LOADS; l++) {
        const u64 first = tile + (static_cast<u64>(l) * SIMT_THREADS + thread_id()) * VECTOR;
        store_vector(a.out, first, result[l]);
    }
}

KERNEL(transform_tiles, transform_args, no_shared)
{
    (void)s;
    const u64 tile =
        static_cast<u64>(block_id()) * (static_cast<u64>(SIMT_THREADS) * LOADS * VECTOR);
    in_t_vector<VECTOR> raw[LOADS];
    UNROLL
    for (int l = 0; l < LOADS; l++) {
        const u64 first = tile + (static_cast<u64>(l) * SIMT_THREADS + thread_id()) * VECTOR;
        if (first + VECTOR <= a.n) fetch_input<TUNE_LOAD>(a.in, first, raw[l]);
    }
    if (TABLES && LOADS > 1 && FIT_REGISTERS && tile + TILE <= a.n) {
        finish_tile(a, tile, raw);
        return;
    }
    UNROLL
    for (int l = 0; l < LOADS; l++) {
        const u64 first = tile + (static_cast<u64>(l) * SIMT_THREADS + thread_id()) * VECTOR;
        if (first + VECTOR <= a.n) {
            out_t result[VECTOR];
            evaluate_input(a.in, first, raw[l], result);
            store_vector(a.out, first, result);
        } else {
            for (u64 i = first; i < a.n; i++) store_item(a.out, i, input_item(a.in, i));
        }
    }
}
