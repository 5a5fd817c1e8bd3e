// The CUB side of the side-by-side benchmarks: CUB of the toolkit that compiles this file.
//
// As a shared library it offers cub_run, so that a script times CUB and cubc in one process,
// interleaved, on the same memory and stream. As a program it times CUB alone and prints one JSON
// line a workload. Both build from this one file:
//     nvcc -O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC -o libcub_reference.so <this>
//     nvcc -O3 -std=c++17 -arch=native -o cub_reference <this>
//
// A sample is taken exactly as csrc/measure/timing.h takes it: flush the L2, hold the stream,
// record, call, record, release. The stream is held while the call is queued, so that an algorithm
// of several kernels does not pay for the host's launches, which would flatter an algorithm of one.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cub/cub.cuh>
#include <limits>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <type_traits>
#include <vector>

namespace
{
enum type_code { I8 = 1, I32 = 3, I64 = 4, U8 = 5, F32 = 11, F64 = 12 }; // cubc_type in cubc.h
enum { UNSUPPORTED = -1 }; // beside cudaError_t's own values

struct problem {
    const void *in;
    void *out, *temp;
    size_t *temp_bytes; // written while temp is NULL, as in CUB
    int64_t n;
    cudaStream_t stream;
};

template <class T> struct is_negative {
    __device__ bool operator()(T x) const
    {
        return x < T(0);
    }
};

// What merge_sort goes by unless told otherwise: any number before NaN.
struct smaller_first {
    template <class T> __device__ bool operator()(T a, T b) const
    {
        return !(a >= b) && a == a;
    }
};

// Where CUB leaves the number of selected items; nobody reads it here.
int64_t *selected()
{
    static int64_t *count = nullptr;
    if (!count) cudaMalloc(&count, sizeof *count);
    return count;
}

// The values of pairs, made when CUB is asked for its temporary storage; nobody reads them here.
struct pair_values {
    uint32_t *in, *out;
    int64_t n;
};
const pair_values &values_of(int64_t n)
{
    static pair_values v = {nullptr, nullptr, 0};
    if (v.n < n) {
        cudaFree(v.in);
        cudaFree(v.out);
        cudaMalloc(&v.in, n * sizeof *v.in);
        cudaMalloc(&v.out, n * sizeof *v.out);
        v.n = n;
    }
    return v;
}

// The lengths of runs, as wide as cubc's; nobody reads them here.
int64_t *lengths_of(int64_t n)
{
    static int64_t *lengths = nullptr, room = 0;
    if (room < n) {
        cudaFree(lengths);
        cudaMalloc(&lengths, n * sizeof *lengths);
        room = n;
    }
    return lengths;
}

// What CUB takes the ends of a histogram in: those of integers would overflow in the items' own
// type.
template <class T> struct histogram_level {
    using type = T;
};
template <> struct histogram_level<uint8_t> {
    using type = int;
};
template <> struct histogram_level<int32_t> {
    using type = int64_t;
};
template <> struct histogram_level<int64_t> {
    using type = double;
};

// Edges that divide the range unevenly, made once; the last is the highest item.
template <class T> T *range_levels(int bins, double lower, double width)
{
    static T *levels = nullptr;
    if (levels) return levels;
    std::vector<T> host;
    for (int i = 0; i < bins; i++)
        host.push_back(T(lower + width * (i + i * 0.618 - int(i * 0.618)) / (bins + 1)));
    host.push_back(std::numeric_limits<T>::is_integer ? std::numeric_limits<T>::max() : T(1));
    if (cudaMalloc(&levels, host.size() * sizeof(T))) return nullptr;
    cudaMemcpy(levels, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    return levels;
}

// "histogram.even.256": all integers, or floats from 0 to 1.
template <class T> int run_histogram(const char *algorithm, const problem &p)
{
    using limits = std::numeric_limits<T>;
    using level = typename histogram_level<T>::type;
    const T *in = static_cast<const T *>(p.in);
    int *out = static_cast<int *>(p.out), bins = std::atoi(std::strrchr(algorithm, '.') + 1);
    double lower = limits::is_integer ? double(limits::lowest()) : 0;
    double upper = limits::is_integer ? double(limits::max()) : 1;
    if (std::strncmp(algorithm, "histogram.range", 15) == 0)
        return cub::DeviceHistogram::HistogramRange(p.temp, *p.temp_bytes, in, out, bins + 1,
                                                    range_levels<T>(bins, lower, upper - lower),
                                                    p.n, p.stream);
    return cub::DeviceHistogram::HistogramEven(p.temp, *p.temp_bytes, in, out, bins + 1,
                                               level(lower), level(upper), p.n, p.stream);
}

// Where segments begin whose lengths are 1 to about twice the mean, a power of two; computed, so
// that CUB is spared reading them.
struct segment_offset {
    int64_t n, mean;

    __host__ __device__ int64_t operator()(int64_t i) const
    {
        uint64_t z = uint64_t(i) * 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        int64_t at = i * mean + (i ? int64_t(z >> 16) & (mean - 1) : 0);
        return at < n ? at : n;
    }
};

template <class T> int segmented_sum(const problem &p, const T *in, T *out, int64_t mean)
{
    auto begin = thrust::make_transform_iterator(thrust::make_counting_iterator(int64_t(0)),
                                                 segment_offset{p.n, mean});
    int64_t count = p.n > mean ? p.n / mean : 1;
    return cub::DeviceSegmentedReduce::Sum(p.temp, *p.temp_bytes, in, out, count, begin, begin + 1,
                                           p.stream);
}

template <class T> int segmented_sort(const problem &p, const T *in, T *out, int64_t mean)
{
    auto begin = thrust::make_transform_iterator(thrust::make_counting_iterator(int64_t(0)),
                                                 segment_offset{p.n, mean});
    int64_t count = p.n > mean ? p.n / mean : 1;
    return cub::DeviceSegmentedSort::StableSortKeys(p.temp, *p.temp_bytes, in, out, p.n, count,
                                                    begin, begin + 1, p.stream);
}

// What a reduction and a scan of few items hardly go below: blocks read their items, and add them
// with nobody adding the sums, or write them. Of a multiple of what a block takes.
enum { FLOOR_THREADS = 256, FLOOR_VECTORS = 4 };
template <class T> struct alignas(16) floor_vector {
    T item[sizeof(T) < 16 ? 16 / sizeof(T) : 1];
};
template <class T> unsigned floor_blocks(long long n)
{
    return static_cast<unsigned>(n * sizeof(T) / sizeof(floor_vector<T>) / FLOOR_THREADS /
                                 FLOOR_VECTORS);
}
template <class T>
__device__ void floor_load(const T *in, floor_vector<T> (&mine)[FLOOR_VECTORS], unsigned first)
{
#pragma unroll
    for (int k = 0; k < FLOOR_VECTORS; k++)
        mine[k] = reinterpret_cast<const floor_vector<T> *>(in)[first + k * FLOOR_THREADS];
}
template <class T>
__global__ void __launch_bounds__(FLOOR_THREADS) add_in_blocks(const T *in, T *out)
{
    __shared__ T warps[FLOOR_THREADS / 32];
    floor_vector<T> mine[FLOOR_VECTORS];
    floor_load(in, mine, blockIdx.x * FLOOR_THREADS * FLOOR_VECTORS + threadIdx.x);
    T sum = 0;
#pragma unroll
    for (int k = 0; k < FLOOR_VECTORS; k++)
        for (T item : mine[k].item) sum += item;
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    sum = threadIdx.x < FLOOR_THREADS / 32 ? warps[threadIdx.x] : T(0);
    for (int d = FLOOR_THREADS / 64; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
template <class T>
__global__ void __launch_bounds__(FLOOR_THREADS) write_in_blocks(const T *in, T *out)
{
    floor_vector<T> mine[FLOOR_VECTORS];
    const unsigned first = blockIdx.x * FLOOR_THREADS * FLOOR_VECTORS + threadIdx.x;
    floor_load(in, mine, first);
#pragma unroll
    for (int k = 0; k < FLOOR_VECTORS; k++)
        reinterpret_cast<floor_vector<T> *>(out)[first + k * FLOOR_THREADS] = mine[k];
}
__global__ void do_nothing()
{
}

template <class T> int run_typed(const char *algorithm, const problem &p)
{
    const T *in = static_cast<const T *>(p.in);
    T *out = static_cast<T *>(p.out);
    auto is = [algorithm](const char *name) { return std::strcmp(algorithm, name) == 0; };
    if (is("copy")) { // the ceiling of whatever reads and writes
        if (p.temp)
            return cudaMemcpyAsync(out, in, p.n * sizeof(T), cudaMemcpyDeviceToDevice, p.stream);
        *p.temp_bytes = 1;
        return 0;
    }
    if (is("launch") || is("add") || is("write")) {
        *p.temp_bytes = 1;
        if (!p.temp) return 0;
        const unsigned blocks = floor_blocks<T>(p.n);
        if (is("launch")) do_nothing<<<1, 32, 0, p.stream>>>();
        if (is("add")) add_in_blocks<<<blocks, FLOOR_THREADS, 0, p.stream>>>(in, out);
        if (is("write")) write_in_blocks<<<blocks, FLOOR_THREADS, 0, p.stream>>>(in, out);
        return cudaGetLastError();
    }
    if (is("reduce.sum")) {
        return cub::DeviceReduce::Sum(p.temp, *p.temp_bytes, in, out, p.n, p.stream);
    }
    if (is("reduce.max")) {
        return cub::DeviceReduce::Max(p.temp, *p.temp_bytes, in, out, p.n, p.stream);
    }
    if (is("reduce.min")) {
        return cub::DeviceReduce::Min(p.temp, *p.temp_bytes, in, out, p.n, p.stream);
    }
    if (is("segmented_reduce.sum.8")) return segmented_sum(p, in, out, 8);
    if (is("segmented_reduce.sum.256")) return segmented_sum(p, in, out, 256);
    if (is("segmented_reduce.sum.65536")) return segmented_sum(p, in, out, 65536);
    if (is("segmented_sort.keys.8")) return segmented_sort(p, in, out, 8);
    if (is("segmented_sort.keys.256")) return segmented_sort(p, in, out, 256);
    if (is("segmented_sort.keys.65536")) return segmented_sort(p, in, out, 65536);
    if (is("scan.exclusive.sum")) {
        return cub::DeviceScan::ExclusiveSum(p.temp, *p.temp_bytes, in, out, p.n, p.stream);
    }
    if (is("select.if")) {
        return cub::DeviceSelect::If(p.temp, *p.temp_bytes, in, out, selected(), p.n,
                                     is_negative<T>(), p.stream);
    }
    if (is("select.unique")) {
        return cub::DeviceSelect::Unique(p.temp, *p.temp_bytes, in, out, selected(), p.n, p.stream);
    }
    if (is("runs.encode")) {
        return cub::DeviceRunLengthEncode::Encode(p.temp, *p.temp_bytes, in, out, lengths_of(p.n),
                                                  selected(), static_cast<int>(p.n), p.stream);
    }
    if (is("sort.keys")) {
        return cub::DeviceRadixSort::SortKeys(p.temp, *p.temp_bytes, in, out, p.n, 0,
                                              int(sizeof(T)) * 8, p.stream);
    }
    if (is("sort.pairs")) {
        const pair_values &v = values_of(p.n);
        return cub::DeviceRadixSort::SortPairs(p.temp, *p.temp_bytes, in, out, v.in, v.out, p.n, 0,
                                               int(sizeof(T)) * 8, p.stream);
    }
    if constexpr (!std::is_same_v<T, int8_t>)
        if (std::strncmp(algorithm, "histogram.", 10) == 0) return run_histogram<T>(algorithm, p);
    if (is("merge_sort.keys")) {
        return cub::DeviceMergeSort::SortKeysCopy(p.temp, *p.temp_bytes, in, out, p.n,
                                                  smaller_first(), p.stream);
    }
    if (is("merge_sort.pairs")) {
        const pair_values &v = values_of(p.n);
        return cub::DeviceMergeSort::SortPairsCopy(p.temp, *p.temp_bytes, in, v.in, out, v.out, p.n,
                                                   smaller_first(), p.stream);
    }
    return UNSUPPORTED;
}
} // namespace

extern "C" int cub_version()
{
    return CUB_VERSION;
}

// CUB's two phases: with temp NULL it writes the bytes needed to *temp_bytes, else it queues the
// work on the stream. Returns 0, a cudaError_t, or -1 for a workload it does not have.
extern "C" int cub_run(const char *algorithm, int type, const void *in, void *out, long long n,
                       void *temp, size_t *temp_bytes, void *stream)
{
    problem p = {in, out, temp, temp_bytes, n, static_cast<cudaStream_t>(stream)};
    switch (type) {
    case I8: return run_typed<int8_t>(algorithm, p);
    case I32: return run_typed<int32_t>(algorithm, p);
    case I64: return run_typed<int64_t>(algorithm, p);
    case U8: return run_histogram<uint8_t>(algorithm, p);
    case F32: return run_typed<float>(algorithm, p);
    case F64: return run_typed<double>(algorithm, p);
    default: return UNSUPPORTED;
    }
}

// One call with everything bound, in the form that cubc's own measurement takes a reference in.
struct cub_call {
    const char *algorithm;
    int type;
    const void *in;
    void *out;
    long long n;
    void *temp;
    size_t temp_bytes;
};
extern "C" int cub_queue(void *context, void *stream)
{
    cub_call *c = static_cast<cub_call *>(context);
    return cub_run(c->algorithm, c->type, c->in, c->out, c->n, c->temp, &c->temp_bytes, stream);
}

// ---- the program --------------------------------------------------------------------------------
namespace
{
#define CHECK(call)                                                                          \
    do {                                                                                     \
        int status_ = (call);                                                                \
        if (status_) {                                                                       \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                          \
                         status_ < 0 ? "no such workload"                                    \
                                     : cudaGetErrorName(static_cast<cudaError_t>(status_))); \
            std::exit(1);                                                                    \
        }                                                                                    \
    } while (0)

constexpr int samples = 60;
constexpr int warmup = 3;

// Keeps its stream from going on until the host writes *gate, or for ten seconds, so that a host
// that blocks before the release does not block forever.
__global__ void hold(const volatile int *gate)
{
    uint64_t start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (!*gate && now - start < 10000000000u);
}

__device__ uint64_t scrambled(uint64_t i) // splitmix64
{
    uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// Integers over their whole range, floats in [0, 1).
template <class T> __global__ void fill(T *out, int64_t n)
{
    int64_t stride = int64_t(gridDim.x) * blockDim.x;
    for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
        uint64_t bits = scrambled(i);
        out[i] = T(0.5) != T(0) ? T((bits >> 40) * (1.0 / (1 << 24))) : T(bits);
    }
}

struct stopwatch {
    cudaStream_t stream;
    cudaEvent_t start, stop;
    void *l2;
    int l2_bytes;
    volatile int *gate;

    stopwatch()
    {
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&stop));
        CHECK(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0));
        CHECK(cudaMalloc(&l2, l2_bytes));
        void *mapped;
        CHECK(cudaHostAlloc(&mapped, sizeof *gate, cudaHostAllocMapped));
        gate = static_cast<volatile int *>(mapped);
    }
    stopwatch(const stopwatch &) = delete;
    ~stopwatch()
    {
        cudaFreeHost(const_cast<int *>(gate));
        cudaFree(l2);
        cudaEventDestroy(stop);
        cudaEventDestroy(start);
        cudaStreamDestroy(stream);
    }

    template <class F> double cold_seconds(F call)
    {
        CHECK(cudaMemsetAsync(l2, 0, l2_bytes, stream));
        *gate = 0;
        hold<<<1, 1, 0, stream>>>(gate);
        CHECK(cudaEventRecord(start, stream));
        call();
        CHECK(cudaEventRecord(stop, stream));
        *gate = 1;
        CHECK(cudaStreamSynchronize(stream));
        float milliseconds;
        CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
        return milliseconds * 1e-3;
    }
};

template <class T>
void measure(stopwatch &watch, const char *algorithm, type_code type, const char *name, int log2n)
{
    int64_t n = int64_t(1) << log2n;
    T *in, *out;
    void *temp;
    size_t temp_bytes = 0;
    CHECK(cudaMalloc(&in, n * sizeof(T)));
    CHECK(cudaMalloc(&out, n * sizeof(T)));
    fill<<<1024, 256>>>(in, n);
    CHECK(cub_run(algorithm, type, in, out, n, nullptr, &temp_bytes, watch.stream));
    CHECK(cudaMalloc(&temp, temp_bytes));
    CHECK(cudaDeviceSynchronize());

    auto call = [&] {
        CHECK(cub_run(algorithm, type, in, out, n, temp, &temp_bytes, watch.stream));
    };
    for (int i = 0; i < warmup; i++) call(); // loads the kernels, which a held stream would block
    CHECK(cudaStreamSynchronize(watch.stream));
    std::vector<double> seconds;
    for (int i = 0; i < samples; i++) seconds.push_back(watch.cold_seconds(call));
    std::sort(seconds.begin(), seconds.end());
    double median = (seconds[(samples - 1) / 2] + seconds[samples / 2]) / 2;
    double bytes = double(n) * sizeof(T) * (std::strncmp(algorithm, "scan", 4) ? 1 : 2);
    std::printf("{\"library\": \"CUB\", \"version\": %d, \"algorithm\": \"%s\", \"type\": \"%s\", "
                "\"log2n\": %d, \"samples\": %d, \"median_us\": %.2f, \"gb_per_s\": %.1f}\n",
                CUB_VERSION, algorithm, name, log2n, samples, median * 1e6, bytes / median * 1e-9);
    std::fflush(stdout);
    CHECK(cudaFree(temp));
    CHECK(cudaFree(out));
    CHECK(cudaFree(in));
}
} // namespace

int main()
{
    stopwatch watch;
    for (const char *algorithm : {"reduce.sum", "reduce.max", "scan.exclusive.sum"}) {
        for (int log2n : {16, 20, 24, 28}) {
            measure<int32_t>(watch, algorithm, I32, "I32", log2n);
            measure<int64_t>(watch, algorithm, I64, "I64", log2n);
            measure<float>(watch, algorithm, F32, "F32", log2n);
            measure<double>(watch, algorithm, F64, "F64", log2n);
        }
    }
    return 0;
}
