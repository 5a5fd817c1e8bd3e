// Reduction of neighbouring items by a single thread, the CPU's own way.
//
// With a commutative operator each place of a vector has an accumulator, which the compiler keeps
// in vector registers. TUNE_ITEMS_PER_VECTOR_LOG2 and TUNE_COMMUTATIVE are the workload's.
#pragma once
#include "input.h"
#include "single_thread_arg.h"

// Reduces items [begin, end) of an input; an index counts from item `origin`.
template <class In>
FUNCTION acc_t single_thread_reduce(const In& in, u64 begin, u64 end, u64 origin)
{
    enum {
        VECTOR = 1 << TUNE_ITEMS_PER_VECTOR_LOG2,
        MOST = SIMT_ACCUMULATOR_BYTES / static_cast<int>(sizeof(acc_t)),
        ACCUMULATORS = VECTOR < MOST ? VECTOR
                       : MOST > 1    ? MOST / 2 * 2
                                     : 1
    };
    acc_t sum = acc_identity();
    u64 i = begin;
    if (HAS_INDEX) {
        enum { BATCH = 64 };
        for (; i + BATCH <= end; i += BATCH) {
            item_t item[BATCH];
            for (u64 j = 0; j < BATCH; j++) item[j] = input_item(in, i + j);
            sum = accumulate_batch(sum, item, i - origin);
        }
    } else if (TUNE_COMMUTATIVE && end - begin >= 2 * VECTOR) {
        acc_t acc[ACCUMULATORS];
        for (int j = 0; j < ACCUMULATORS; j++) acc[j] = acc_identity();
        for (; i + VECTOR <= end; i += VECTOR)
            for (int j = 0; j < VECTOR; j++)
                acc[j % ACCUMULATORS] =
                    accumulate(acc[j % ACCUMULATORS], input_item(in, i + static_cast<u64>(j)),
                               i - origin + static_cast<u64>(j));
        for (int half = ACCUMULATORS / 2; half > 0; half /= 2)
            for (int j = 0; j < half; j++) acc[j] = combine()(acc[j], acc[j + half]);
        sum = acc[0];
    }
    for (; i < end; i++) sum = accumulate(sum, input_item(in, i), i - origin);
    return sum;
}
