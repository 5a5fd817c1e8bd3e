// Runs of values become items, M a thread and as many windows as it takes.
#include "block_run_length.h"

__global__ void __launch_bounds__(SIMT_THREADS)
    decode(const T *values, const unsigned *lengths, T *items, unsigned *withins, unsigned *count)
{
    __shared__ block_run_storage<T, N> s;
    T value[N], item[M];
    unsigned length[N], within[M];
    for (int j = 0; j < N; j++) {
        value[j] = values[blocked_index<N>(j)];
        length[j] = lengths[blocked_index<N>(j)];
    }
    const unsigned total = block_run_begin(value, length, s);
    for (unsigned from = 0; from < total; from += SIMT_THREADS * M) {
        block_run_decode(s, from, item, within);
        for (int j = 0; j < M; j++) {
            const unsigned i = from + blocked_index<M>(j);
            if (i >= total) break;
            items[i] = item[j];
            withins[i] = within[j];
        }
    }
    if (threadIdx.x == 0) *count = total;
}
