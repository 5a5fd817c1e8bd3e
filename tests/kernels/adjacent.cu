// Neighbours: shifts, rotations, differences to both sides, ends of runs.
#include "block_adjacent.h"

__global__ void __launch_bounds__(SIMT_THREADS)
    neighbours(const int *x, int by, int *shifted, int *rotated, int *left, int *right, bool *heads,
               bool *tails)
{
    __shared__ block_adjacent_storage<int> s[6];
    const unsigned first = threadIdx.x * N;
    int item[N], l[N], r[N];
    bool head[N], tail[N];
    for (int j = 0; j < N; j++) item[j] = x[first + j];
    shifted[threadIdx.x] = block_shift(item[0], by, -1, s[0]);
    rotated[threadIdx.x] = block_rotate(item[0], by, s[1]);
    block_subtract_left(item, l, minus(), 1000, s[2]);
    block_subtract_right(item, r, minus(), 2000, s[3]);
    block_heads(item, head, differs(), s[4]);
    block_tails(item, tail, differs(), s[5]);
    for (int j = 0; j < N; j++) {
        left[first + j] = l[j];
        right[first + j] = r[j];
        heads[first + j] = head[j];
        tails[first + j] = tail[j];
    }
}
