// Random numbers by themselves: see test_gauge_update.py.
#include "su2.h"

__global__ void words(const unsigned *counters, unsigned long long key, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    random_words c;
    for (int k = 0; k < 4; k++) c.word[k] = counters[4 * i + k];
    c = philox(c, key);
    for (int k = 0; k < 4; k++) out[4 * i + k] = c.word[k];
}

__global__ void normals(unsigned long long seed, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    random_stream stream = random_stream_of(seed, i, 0, 0);
    double drawn[2];
    draw_normal(stream, drawn);
    out[2 * i] = drawn[0];
    out[2 * i + 1] = drawn[1];
}

__global__ void elements(unsigned long long seed, double alpha, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    random_stream stream = random_stream_of(seed, i, 0, 0);
    quaternion<double> a = draw_su2(alpha, stream);
    out[4 * i] = a.scalar;
    for (int k = 0; k < 3; k++) out[4 * i + 1 + k] = a.vector[k];
}

__global__ void turns(const double *part, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) turn(part[i], out[2 * i], out[2 * i + 1]);
}
