// CUB's side of benchmarks/cub.py: its calls behind one C function, on the arrays that cubc gets.
//
// cub.py times CUB and cubc in one process, in turns, on the same memory and stream. The Makefile
// compiles this file once for each type of items, with -DCUB_ITEM=int32_t and so on, and once
// without, which makes the functions that cub.py calls; CUB is the toolkit's or the one in CCCL.
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>

enum { MOST_ARRAYS = 4, MOST_AXES = 2 };

// One call with everything bound, in the form that cubc's own measurement takes a reference in.
struct cub_call {
    const char *algorithm;
    int type;
    const void *in[MOST_ARRAYS];
    void *out[MOST_ARRAYS];
    long long n, axes[MOST_AXES]; // items; bins, the length of segments, k, by the algorithm
    void *temp;
    size_t temp_bytes; // written while temp is NULL, as in CUB
};

enum { UNSUPPORTED = -1 }; // beside cudaError_t's own values

// Queues CUB's work on items of type T, or writes c.temp_bytes.
template <class T> int run_items(cub_call &c, cudaStream_t stream);

#ifdef CUB_ITEM

#include <cub/cub.cuh>
#if __has_include(<cub/device/device_segmented_scan.cuh>)
#include <cub/device/device_segmented_scan.cuh>
#define HAS_SEGMENTED_SCAN
#endif
#if __has_include(<cub/device/device_batched_topk.cuh>)
#include <cub/device/device_batched_topk.cuh>
#define HAS_BATCHED_TOPK
#endif
#include <limits>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <type_traits>
#include <vector>

namespace
{
template <class T> struct is_negative {
    __device__ bool operator()(T x) const
    {
        return x < T(0);
    }
};

// The order of merge_sort without a comparison: any number before NaN.
struct smaller_first {
    template <class T> __device__ bool operator()(T a, T b) const
    {
        return !(a >= b) && a == a;
    }
};

template <class T> struct triad {
    __device__ T operator()(T x, T y) const
    {
        return x + T(3) * y;
    }
};

// The offsets of cubc's benchmarks may end behind the items; its kernels cut them off.
template <class I> struct within {
    I n;

    __host__ __device__ I operator()(I at) const
    {
        return at < n ? at : n;
    }
};

// The type in which CUB takes the ends of a histogram: those of integers would overflow in the
// items' own.
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

// All integers, or floats from 0 to 1, in c.axes[0] bins.
template <class T> int run_histogram(bool even, cub_call &c, cudaStream_t stream)
{
    using limits = std::numeric_limits<T>;
    using level = typename histogram_level<T>::type;
    const T *in = static_cast<const T *>(c.in[0]);
    int *out = static_cast<int *>(c.out[0]), bins = static_cast<int>(c.axes[0]);
    double lower = limits::is_integer ? double(limits::lowest()) : 0;
    double upper = limits::is_integer ? double(limits::max()) : 1;
    if (!even)
        return cub::DeviceHistogram::HistogramRange(c.temp, c.temp_bytes, in, out, bins + 1,
                                                    range_levels<T>(bins, lower, upper - lower),
                                                    c.n, stream);
    return cub::DeviceHistogram::HistogramEven(c.temp, c.temp_bytes, in, out, bins + 1,
                                               level(lower), level(upper), c.n, stream);
}

// The k largest in no order, without their indices: cubc's are in order and have them.
template <class T> int run_topk(cub_call &c, cudaStream_t stream)
{
#if CUB_VERSION >= 300400
    namespace exec = cuda::execution;
    auto any = exec::require(exec::determinism::not_guaranteed, exec::output_ordering::unsorted);
    auto where = cuda::std::execution::env{cuda::stream_ref{stream}, any};
    return cub::DeviceTopK::MaxKeys(c.temp, c.temp_bytes, static_cast<const T *>(c.in[0]),
                                    static_cast<T *>(c.out[0]), c.n, c.axes[0], where);
#else
    return UNSUPPORTED;
#endif
}

// The same of rows, with the indices of what is selected. CUB wants to know the longest row when it
// is compiled, and chooses by it.
template <class T> struct row_of {
    T *array;
    int64_t items;

    __host__ __device__ T *operator()(int64_t row) const
    {
        return array + row * items;
    }
};
struct indices_of_row {
    __host__ __device__ auto operator()(int64_t) const
    {
        return thrust::make_counting_iterator(int32_t(0));
    }
};
template <int MOST, class T> int run_rows_up_to(cub_call &c, cudaStream_t stream)
{
#ifdef HAS_BATCHED_TOPK
    namespace exec = cuda::execution;
    auto any = exec::require(exec::determinism::not_guaranteed, exec::tie_break::unspecified,
                             exec::output_ordering::unsorted);
    auto where = cuda::std::execution::env{cuda::stream_ref{stream}, any};
    const int64_t items = c.n < c.axes[0] ? c.n : c.axes[0],
                  k = items < c.axes[1] ? items : c.axes[1];
    auto number = thrust::make_counting_iterator(int64_t(0));
    auto keys = static_cast<const T *>(c.in[0]);
    return cub::DeviceBatchedTopK::MaxPairs(
        c.temp, c.temp_bytes, thrust::make_transform_iterator(number, row_of<const T>{keys, items}),
        thrust::make_transform_iterator(number, row_of<T>{static_cast<T *>(c.out[0]), k}),
        thrust::make_transform_iterator(number, indices_of_row{}),
        thrust::make_transform_iterator(number,
                                        row_of<int32_t>{static_cast<int32_t *>(c.out[1]), k}),
        cuda::args::immediate{items, cuda::args::bounds<1, MOST>()},
        cuda::args::immediate{k, cuda::args::bounds<1, (MOST < 2048 ? MOST : 2048)>()}, c.n / items,
        where);
#else
    return UNSUPPORTED;
#endif
}
template <class T> int run_rows(cub_call &c, cudaStream_t stream)
{
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, int64_t>) {
        if (c.axes[0] <= 64) return run_rows_up_to<64, T>(c, stream);
        if (c.axes[0] <= 256) return run_rows_up_to<256, T>(c, stream);
        if (c.axes[0] <= 1024) return run_rows_up_to<1024, T>(c, stream);
        if (c.axes[0] <= 2048) return run_rows_up_to<2048, T>(c, stream);
        if (c.axes[0] <= 8192) return run_rows_up_to<8192, T>(c, stream);
        if (c.axes[0] <= 131072) return run_rows_up_to<131072, T>(c, stream);
    }
    return UNSUPPORTED;
}

// A value for every four of the n sorted items, as csrc/primitives/searchsorted.c has it.
template <class T> int run_search(cub_call &c, cudaStream_t stream)
{
#if CUB_VERSION >= 300400
    const T *values = static_cast<const T *>(c.in[0]), *sorted = static_cast<const T *>(c.in[1]);
    auto where = cuda::std::execution::env{cuda::stream_ref{stream}};
    return cub::DeviceFind::LowerBound(c.temp, c.temp_bytes, sorted, c.n, values,
                                       c.n < 4 ? 1 : c.n / 4, static_cast<int64_t *>(c.out[0]),
                                       smaller_first(), where);
#else
    return UNSUPPORTED;
#endif
}

template <class T> int run_transform(cub_call &c, cudaStream_t stream)
{
#if CUB_VERSION >= 300200
    const T *x = static_cast<const T *>(c.in[0]), *y = static_cast<const T *>(c.in[1]);
    c.temp_bytes = 1;
    if (!c.temp) return 0;
    return cub::DeviceTransform::Transform(cuda::std::tuple{x, y}, static_cast<T *>(c.out[0]), c.n,
                                           triad<T>(), stream);
#else
    return UNSUPPORTED;
#endif
}

template <class T> struct triad_at {
    const T *x, *y;
    T *out;

    __device__ void operator()(int64_t at) const
    {
        out[at] = x[at] + T(3) * y[at];
    }
};

template <class T> struct sum_and_difference {
    __device__ cuda::std::tuple<T, T> operator()(T x, T y) const
    {
        return {x + y, x - y};
    }
};

// A struct whose members are sorted by in turns.
template <class T> struct two_keys {
    int32_t major;
    T minor;
};
template <class T> struct members {
    __host__ __device__ cuda::std::tuple<int32_t &, T &> operator()(two_keys<T> &of) const
    {
        return {of.major, of.minor};
    }
};

// The calls of cub_calls.py.
template <class T> int run_call(const char *algorithm, cub_call &c, cudaStream_t stream)
{
    const T *x = static_cast<const T *>(c.in[0]), *y = static_cast<const T *>(c.in[1]);
    T *out = static_cast<T *>(c.out[0]), *second = static_cast<T *>(c.out[1]);
    auto is = [algorithm](const char *name) { return std::strcmp(algorithm, name) == 0; };
    if (is("adjacent_difference"))
        return cub::DeviceAdjacentDifference::SubtractLeftCopy(c.temp, c.temp_bytes, x, out, c.n,
                                                               cuda::std::minus<>(), stream);
    if (is("unique_by_key"))
        return cub::DeviceSelect::UniqueByKey(c.temp, c.temp_bytes, x, y, out, second,
                                              static_cast<int64_t *>(c.out[2]), c.n, stream);
    if (is("sort.bits"))
        return cub::DeviceRadixSort::SortKeys(c.temp, c.temp_bytes, x, out, c.n,
                                              static_cast<int>(c.axes[0]),
                                              static_cast<int>(c.axes[1]), stream);
    if (is("sort.members")) {
        using keys = two_keys<T>;
        return cub::DeviceRadixSort::SortKeys(
            c.temp, c.temp_bytes, static_cast<const keys *>(c.in[0]), static_cast<keys *>(c.out[0]),
            c.n, members<T>{}, stream);
    }
    if (is("segmented_reduce.ends"))
        return cub::DeviceSegmentedReduce::Sum(c.temp, c.temp_bytes, x, out, c.axes[0],
                                               static_cast<const int64_t *>(c.in[1]),
                                               static_cast<const int64_t *>(c.in[2]), stream);
    c.temp_bytes = 1;
    if (is("for_each"))
        return c.temp ? cub::DeviceFor::Bulk(c.n, triad_at<T>{x, y, out}, stream) : cudaSuccess;
    if (is("transform.several"))
        return c.temp ? cub::DeviceTransform::Transform(cuda::std::make_tuple(x, y),
                                                        thrust::make_zip_iterator(out, second), c.n,
                                                        sum_and_difference<T>{}, stream)
                      : cudaSuccess;
    return UNSUPPORTED;
}

// Segments of one size, and those that offsets cut out.
template <class T> int run_segments(const char *algorithm, cub_call &c, cudaStream_t stream)
{
    const T *in = static_cast<const T *>(c.in[0]);
    T *out = static_cast<T *>(c.out[0]);
    const bool pairs = !std::strcmp(algorithm, "segmented_sort.pairs");
    const void *offsets = c.in[pairs ? 2 : 1];
    const int64_t length = c.n < c.axes[0] ? c.n : c.axes[0], count = c.n / length;
#if CUB_VERSION >= 300200
    if (!std::strcmp(algorithm, "row_reduce.sum"))
        return cub::DeviceSegmentedReduce::Sum(c.temp, c.temp_bytes, in, out, count,
                                               static_cast<int>(length), stream);
#endif
    auto begin = thrust::make_transform_iterator(static_cast<const int64_t *>(offsets),
                                                 within<int64_t>{c.n});
    if (!std::strcmp(algorithm, "segmented_reduce.sum"))
        return cub::DeviceSegmentedReduce::Sum(c.temp, c.temp_bytes, in, out, count, begin,
                                               begin + 1, stream);
    if (!std::strcmp(algorithm, "segmented_sort.keys"))
        return cub::DeviceSegmentedSort::StableSortKeys(c.temp, c.temp_bytes, in, out, c.n, count,
                                                        begin, begin + 1, stream);
    if (pairs)
        return cub::DeviceSegmentedSort::StableSortPairs(
            c.temp, c.temp_bytes, in, out, static_cast<const uint32_t *>(c.in[1]),
            static_cast<uint32_t *>(c.out[1]), c.n, count, begin, begin + 1, stream);
#ifdef HAS_SEGMENTED_SCAN
    if (!std::strcmp(algorithm, "scan.segmented"))
        return cub::DeviceSegmentedScan::InclusiveSegmentedSum(c.temp, c.temp_bytes, in, out, begin,
                                                               begin + 1, count, stream);
#endif
    return UNSUPPORTED;
}

// Copies of so many bytes each; the last may be shorter.
// The classes of select.three_way: bits of integers, signs and sizes of floats.
template <class T> struct is_of_class {
    int wanted;

    __device__ bool operator()(T x) const
    {
        if constexpr (std::numeric_limits<T>::is_integer)
            return (static_cast<unsigned>(x) & 3) == static_cast<unsigned>(wanted);
        return wanted == 1 ? x < T(0) : x > T(2);
    }
};

struct is_above_1 {
    template <class T> __device__ bool operator()(T x) const
    {
        return x > T(1);
    }
};

// A place for one item that CUB returns beside what cubc returns.
template <class T> T *spare_item()
{
    static T *item = nullptr;
    if (!item && cudaMalloc(&item, sizeof(T))) return nullptr;
    return item;
}

// Two sorted halves; values of 4 bytes go along.
template <class T> int run_merge(bool pairs, cub_call &c, cudaStream_t stream)
{
    const T *a = static_cast<const T *>(c.in[0]), *b = static_cast<const T *>(c.in[1]);
    T *out = static_cast<T *>(c.out[0]);
    const int64_t a_n = c.n / 2, b_n = c.n - a_n;
    if (!pairs)
        return cub::DeviceMerge::MergeKeys(c.temp, c.temp_bytes, a, a_n, b, b_n, out,
                                           smaller_first(), stream);
    auto values_a = static_cast<const uint32_t *>(c.in[2]);
    auto values_b = static_cast<const uint32_t *>(c.in[3]);
    return cub::DeviceMerge::MergePairs(c.temp, c.temp_bytes, a, values_a, a_n, b, values_b, b_n,
                                        out, static_cast<uint32_t *>(c.out[1]), smaller_first(),
                                        stream);
}

// Value of an item in the type of its sum by key: int64_t of any integer, as cubc's and NumPy's.
template <class T> struct widened {
    using type = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
    __host__ __device__ type operator()(T x) const
    {
        return x;
    }
};

// Runs of equal keys: their sums, prefix sums within them, and those of two items or more.
template <class T> int run_runs(const char *algorithm, cub_call &c, cudaStream_t stream)
{
    const T *first = static_cast<const T *>(c.in[0]), *second = static_cast<const T *>(c.in[1]);
    T *out = static_cast<T *>(c.out[0]);
    const int n = static_cast<int>(c.n);
    if (!std::strcmp(algorithm, "scan.by_key"))
        return cub::DeviceScan::InclusiveSumByKey(c.temp, c.temp_bytes, second, first, out, n,
                                                  cuda::std::equal_to<>(), stream);
    if (!std::strcmp(algorithm, "runs.reduce"))
        return cub::DeviceReduce::ReduceByKey(
            c.temp, c.temp_bytes, first, out, thrust::make_transform_iterator(second, widened<T>()),
            static_cast<typename widened<T>::type *>(c.out[1]), static_cast<int64_t *>(c.out[2]),
            cuda::std::plus<>(), n, stream);
    if (!std::strcmp(algorithm, "runs.nontrivial"))
        return cub::DeviceRunLengthEncode::NonTrivialRuns(
            c.temp, c.temp_bytes, first, static_cast<int64_t *>(c.out[0]),
            static_cast<int64_t *>(c.out[1]), static_cast<int64_t *>(c.out[2]), n, stream);
    return UNSUPPORTED;
}

// Items that are chosen: by flags, into three classes, the place of the first, and of the least.
template <class T> int run_choices(const char *algorithm, cub_call &c, cudaStream_t stream)
{
    const T *in = static_cast<const T *>(c.in[0]);
    T *out = static_cast<T *>(c.out[0]);
    if (!std::strcmp(algorithm, "select.flagged"))
        return cub::DeviceSelect::Flagged(c.temp, c.temp_bytes, in,
                                          static_cast<const uint8_t *>(c.in[1]), out,
                                          static_cast<int64_t *>(c.out[1]), c.n, stream);
    if (!std::strcmp(algorithm, "select.three_way"))
        return cub::DevicePartition::If(c.temp, c.temp_bytes, in, out, static_cast<T *>(c.out[3]),
                                        static_cast<T *>(c.out[2]),
                                        static_cast<int64_t *>(c.out[1]), static_cast<int>(c.n),
                                        is_of_class<T>{1}, is_of_class<T>{2}, stream);
#if CUB_VERSION >= 300400
    if (!std::strcmp(algorithm, "find.if"))
        return cub::DeviceFind::FindIf(c.temp, c.temp_bytes, in, static_cast<int64_t *>(c.out[0]),
                                       is_above_1(), c.n, stream);
    if (!std::strcmp(algorithm, "reduce.argmin"))
        return cub::DeviceReduce::ArgMin(c.temp, c.temp_bytes, in, spare_item<T>(),
                                         static_cast<int64_t *>(c.out[0]), c.n, cuda::std::less<>(),
                                         cuda::stream_ref{stream});
#endif
    return UNSUPPORTED;
}

template <class B> struct place_of {
    B *array;

    __host__ __device__ void *operator()(int64_t at) const
    {
        return array + at;
    }
};
template <class I> struct copied_bytes {
    const I *from, *ends;
    I bytes;

    __host__ __device__ I operator()(I i) const
    {
        return (ends[i] < bytes ? ends[i] : bytes) - from[i];
    }
};
template <class T> int run_copies(cub_call &c, cudaStream_t stream)
{
    const int64_t bytes = c.n * static_cast<int64_t>(sizeof(T));
    auto from = static_cast<const int64_t *>(c.in[0]), to = static_cast<const int64_t *>(c.in[1]);
    auto ends = static_cast<const int64_t *>(c.in[2]);
    char *in = static_cast<char *>(const_cast<void *>(c.in[3])),
         *out = static_cast<char *>(c.out[0]);
    return cub::DeviceMemcpy::Batched(
        c.temp, c.temp_bytes, thrust::make_transform_iterator(from, place_of<char>{in}),
        thrust::make_transform_iterator(to, place_of<char>{out}),
        thrust::make_transform_iterator(thrust::make_counting_iterator(int64_t(0)),
                                        copied_bytes<int64_t>{from, ends, bytes}),
        (bytes + c.axes[0] - 1) / c.axes[0], stream);
}
} // namespace

template <class T> int run_items(cub_call &c, cudaStream_t stream)
{
    const char *algorithm = c.algorithm;
    const T *in = static_cast<const T *>(c.in[0]);
    T *out = static_cast<T *>(c.out[0]);
    const int bits = static_cast<int>(sizeof(T)) * 8;
    auto is = [algorithm](const char *name) { return std::strcmp(algorithm, name) == 0; };
    auto begins = [algorithm](const char *name) {
        return std::strncmp(algorithm, name, std::strlen(name)) == 0;
    };
    if constexpr (!std::is_same_v<T, int8_t>)
        if (begins("histogram.")) return run_histogram<T>(begins("histogram.even"), c, stream);
    if constexpr (!std::is_same_v<T, uint8_t>) {
        auto values_in = static_cast<const uint32_t *>(c.in[1]);
        auto values_out = static_cast<uint32_t *>(c.out[1]);
        if (is("reduce.sum"))
            return cub::DeviceReduce::Sum(c.temp, c.temp_bytes, in, out, c.n, stream);
        if (is("reduce.max"))
            return cub::DeviceReduce::Max(c.temp, c.temp_bytes, in, out, c.n, stream);
        if (is("scan.exclusive.sum"))
            return cub::DeviceScan::ExclusiveSum(c.temp, c.temp_bytes, in, out, c.n, stream);
        if (is("select.if"))
            return cub::DeviceSelect::If(c.temp, c.temp_bytes, in, out,
                                         static_cast<int64_t *>(c.out[1]), c.n, is_negative<T>(),
                                         stream);
        if (is("select.unique"))
            return cub::DeviceSelect::Unique(c.temp, c.temp_bytes, in, out,
                                             static_cast<int64_t *>(c.out[1]), c.n, stream);
        if (is("runs.encode"))
            return cub::DeviceRunLengthEncode::Encode(
                c.temp, c.temp_bytes, in, out, static_cast<int64_t *>(c.out[1]),
                static_cast<int64_t *>(c.out[2]), static_cast<int>(c.n), stream);
        if (is("sort.keys"))
            return cub::DeviceRadixSort::SortKeys(c.temp, c.temp_bytes, in, out, c.n, 0, bits,
                                                  stream);
        if (is("sort.pairs"))
            return cub::DeviceRadixSort::SortPairs(c.temp, c.temp_bytes, in, out, values_in,
                                                   values_out, c.n, 0, bits, stream);
        if (is("merge_sort.keys"))
            return cub::DeviceMergeSort::SortKeysCopy(c.temp, c.temp_bytes, in, out, c.n,
                                                      smaller_first(), stream);
        if (is("merge_sort.pairs"))
            return cub::DeviceMergeSort::SortPairsCopy(c.temp, c.temp_bytes, in, values_in, out,
                                                       values_out, c.n, smaller_first(), stream);
        if (is("topk.pairs")) return run_topk<T>(c, stream);
        if (is("segmented_topk.rows")) return run_rows<T>(c, stream);
        if (is("searchsorted.lower")) return run_search<T>(c, stream);
        if (is("transform.triad")) return run_transform<T>(c, stream);
        if constexpr (std::is_same_v<T, int32_t>)
            if (is("copy_batch.buffers")) return run_copies<T>(c, stream);
        if (is("merge.keys") || is("merge.pairs"))
            return run_merge<T>(is("merge.pairs"), c, stream);
        int status = run_call<T>(algorithm, c, stream);
        if (status == UNSUPPORTED) status = run_runs<T>(algorithm, c, stream);
        if (status == UNSUPPORTED) status = run_choices<T>(algorithm, c, stream);
        return status == UNSUPPORTED ? run_segments<T>(algorithm, c, stream) : status;
    }
    return UNSUPPORTED;
}

template int run_items<CUB_ITEM>(cub_call &, cudaStream_t);

#else

#include <cub/version.cuh>

extern template int run_items<int8_t>(cub_call &, cudaStream_t);
extern template int run_items<int32_t>(cub_call &, cudaStream_t);
extern template int run_items<int64_t>(cub_call &, cudaStream_t);
extern template int run_items<uint8_t>(cub_call &, cudaStream_t);
extern template int run_items<float>(cub_call &, cudaStream_t);
extern template int run_items<double>(cub_call &, cudaStream_t);

namespace
{
enum type_code { I8 = 1, I32 = 3, I64 = 4, U8 = 5, F32 = 11, F64 = 12 }; // cubc_type in cubc.h

// Bounds of a reduction and of a scan of few items: blocks read their items, and add them with
// nobody adding the sums, or write them. The items are a multiple of what a block takes.
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

// "copy", "launch", "add" and "write".
template <class T> int run_bound(cub_call &c, cudaStream_t stream)
{
    const T *in = static_cast<const T *>(c.in[0]);
    T *out = static_cast<T *>(c.out[0]);
    const unsigned blocks = floor_blocks<T>(c.n);
    c.temp_bytes = 1;
    if (!c.temp) return 0;
    switch (c.algorithm[0]) {
    case 'c': return cudaMemcpyAsync(out, in, c.n * sizeof(T), cudaMemcpyDeviceToDevice, stream);
    case 'l': do_nothing<<<1, 32, 0, stream>>>(); break;
    case 'a': add_in_blocks<<<blocks, FLOOR_THREADS, 0, stream>>>(in, out); break;
    case 'w': write_in_blocks<<<blocks, FLOOR_THREADS, 0, stream>>>(in, out); break;
    }
    return cudaGetLastError();
}

bool is_bound(const char *algorithm)
{
    for (const char *name : {"copy", "launch", "add", "write"})
        if (!std::strcmp(algorithm, name)) return true;
    return false;
}
} // namespace

extern "C" int cub_version()
{
    return CUB_VERSION;
}

// CUB's two phases: with temp NULL it writes temp_bytes, else it queues the work on the stream.
// Returns 0, a cudaError_t, or -1 for a workload it does not have.
extern "C" int cub_queue(void *context, void *on)
{
    cub_call &c = *static_cast<cub_call *>(context);
    cudaStream_t stream = static_cast<cudaStream_t>(on);
    if (is_bound(c.algorithm))
        return c.type == F32   ? run_bound<float>(c, stream)
               : c.type == F64 ? run_bound<double>(c, stream)
                               : UNSUPPORTED;
    switch (c.type) {
    case I8: return run_items<int8_t>(c, stream);
    case I32: return run_items<int32_t>(c, stream);
    case I64: return run_items<int64_t>(c, stream);
    case U8: return run_items<uint8_t>(c, stream);
    case F32: return run_items<float>(c, stream);
    case F64: return run_items<double>(c, stream);
    default: return UNSUPPORTED;
    }
}

#endif
