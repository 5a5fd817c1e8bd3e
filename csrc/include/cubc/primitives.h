// Device-wide primitives: a part of cubc.h.
//
// A primitive is called in two phases, as in CUB: cubc_<name>_temp_bytes returns the size of the
// temporary storage, 0 in case of an error, and cubc_<name> runs. With temp = NULL the device's
// pool provides the storage. Pointers are to memory of the device (cubc_alloc, cudaMalloc, or host
// memory on "cpu").
#ifndef CUBC_PRIMITIVES_H
#define CUBC_PRIMITIVES_H

#include "cubc/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)
// cffi: begin
// An operand of an expression, by name. Where the expression indexes it, as in table[k], it needs a
// shape; an index beyond its ends names the nearest item.
typedef struct cubc_operand {
    const char *name;
    cubc_type type;
    const void *data; // items on the device, or one value in host memory if scalar is set
    int scalar;
    int ndim;
    const ptrdiff_t *shape; // NULL: that of the result
} cubc_operand;

// An input that is not in memory: item i is an expression of the operands' names and of i, an
// int64_t, which the call evaluates as it reads the item. The input's pointer is then the address
// of a cubc_lazy, and its type CUBC_LAZY. Calls that take no lazy input refuse it.
typedef struct cubc_lazy {
    const char *expression;
    cubc_type type;               // of the items
    const cubc_operand *operands; // at most 8
    int operand_count;
    int ndim; // as in cubc_transform_params
    const ptrdiff_t *shape;
} cubc_lazy;

// A reduction of n items to one: out[0] = init op in[0] op in[1] op ... op in[n-1].
typedef struct cubc_reduce_params {
    const void *in;
    void *out;
    uint64_t n;
    cubc_type type;     // of the items
    cubc_type acc_type; // of the operator's operands and value
    cubc_type out_type; // of the result; I64 for argmin and argmax
    const char *op;     // "sum" "prod" "min" "max" "any" "all" "argmin" "argmax", or a C expression
                        // of a and b
    int commutative;    // not 0: operands of an expression may be reordered (built-in ones are)
    const void *init;   // one value of acc_type, or NULL for none
    int init_in_memory; // not 0: init is in the device's memory, and read by the launch, for any
                        // and all a BOOL; 0: in the host's, and read by the call
    int deterministic;  // not 0: the same bits in every run, with every policy and on every device,
                        // but those of a NaN; products and sums of an expression are rounded each.
                        // 0: floats have the same bits in every run on one device with one policy
} cubc_reduce_params;

// A prefix scan: out[i] = init op in[0] op ... op in[i] (inclusive) or ... op in[i-1] (exclusive).
// With keys the scan begins anew, with init if given, at each item whose key differs from the one
// before it; NaN differs from all keys. With segments it begins anew at each segment, and behind
// the last. out may be in; no other arrays may overlap.
typedef struct cubc_scan_params {
    const void *in;
    void *out;
    uint64_t n;
    cubc_type type;
    cubc_type acc_type;
    cubc_type out_type;
    const char *op; // "sum" "prod" "min" "max" "any" "all", or a C expression of a and b
    int inclusive;
    const void *init;   // one value of acc_type; an exclusive expression needs it
    int init_in_memory; // as for cubc_reduce
    const void *keys;   // n items; NULL: none
    cubc_type key_type;
    uint64_t segments;     // 0 without offsets: none
    const void *offsets;   // segments + 1 of them, in the device's memory, rising, or a cubc_lazy;
                           // NULL: every segment has n / segments items
    cubc_type offset_type; // I32 or I64
    int deterministic; // as for cubc_reduce; 0: floats may differ in the last digits in each run
    const char *equal; // of keys: a C expression, whether key b continues the run of the key a
                       // before it; NULL: a == b
} cubc_scan_params;

// A reduction along one axis of an array of [outer][length][columns] items, in C order:
// out[o][c] = init op in[o][0][c] op ... op in[o][length-1][c]. An index is along the axis.
typedef struct cubc_axis_reduce_params {
    const void *in;
    void *out; // [outer][columns]; must not overlap in
    uint64_t outer;
    uint64_t length;
    uint64_t columns; // 1 for the last axis
    cubc_type type;
    cubc_type acc_type;
    cubc_type out_type;
    const char *op; // this and the following members as for cubc_reduce
    int commutative;
    const void *init;
    int init_in_memory;
    int deterministic;
} cubc_axis_reduce_params;

// A prefix scan along one axis of an array of [outer][length][columns] items, in C order:
// out[o][i][c] = init op in[o][0][c] op ... op in[o][i][c], or up to in[o][i-1][c] if it is
// exclusive. out may be in; no other arrays may overlap. Floats may differ in the last digits in
// each run.
typedef struct cubc_axis_scan_params {
    const void *in; // n items, or a cubc_lazy
    void *out;      // n items
    uint64_t n;
    uint64_t length;  // of the axis
    uint64_t columns; // items behind the axis; 1 for the last one
    cubc_type type;
    cubc_type acc_type;
    cubc_type out_type;
    const char *op; // this and the following members as for cubc_scan
    int inclusive;
    const void *init;
    int init_in_memory;
} cubc_axis_scan_params;

// A stable sort along one short axis of an array of [outer][length][columns] items, in C order: of
// keys, or of their indices along the axis. The order is that of cubc_sort. out may be in; else the
// two must not overlap.
enum { CUBC_AXIS_SORT_LONGEST = 2048 }; // most items of the axis
typedef struct cubc_axis_sort_params {
    const void *in; // n keys
    void *out;      // n keys, or n indices, I64
    uint64_t n;
    uint64_t length;  // of the axis; at most CUBC_AXIS_SORT_LONGEST
    uint64_t columns; // items behind the axis; 1 for the last one
    cubc_type type;   // of the keys
    int descending;
    int indices; // not 0: out has indices
} cubc_axis_sort_params;

// Segment of each item: out[i] is the number of offsets up to i. This is the number of the segment
// of item i, from 1 on; 0 before the first segment, and segments + 1 behind the last.
typedef struct cubc_segment_ids_params {
    const void *offsets;   // segments + 1 of them, rising, or a cubc_lazy
    cubc_type offset_type; // I32 or I64
    uint64_t segments;
    void *out;          // n items
    cubc_type out_type; // I32 or I64
    uint64_t n;
} cubc_segment_ids_params;

// A reduction of each segment of an array: out[s] = init op in[offsets[s]] op ... op
// in[offsets[s+1]-1]. An empty segment gives init, else the operator's identity: for min and max an
// infinity or an extreme integer, for argmin and argmax -1. Offsets that fall or lie outside of the
// array are no error, but the results of their segments are undefined.
typedef struct cubc_segmented_reduce_params {
    const void *in;
    void *out; // one item for each segment; must not overlap in
    uint64_t n;
    uint64_t segments;
    const void *offsets;   // segments + 1 of them, in the device's memory, rising, or a cubc_lazy;
                           // with ends: the beginnings, one a segment; NULL: every segment has
                           // n / segments items
    cubc_type offset_type; // I32 or I64
    const void *ends;      // one a segment, in memory as offsets are. Segments may then lie in any
                           // order, overlap and have gaps between them; one that ends before its
                           // beginning is empty. Not for operators whose order matters. NULL: none
    cubc_type end_type;    // I32 or I64
    cubc_type type;
    cubc_type acc_type;
    cubc_type out_type;
    const char *op;     // as for cubc_reduce; an index counts from the segment's beginning
    int commutative;    // as for cubc_reduce
    const void *init;   // one value of acc_type, or NULL for none; with offsets an expression needs
                        // it
    int init_in_memory; // as for cubc_reduce
    int deterministic;  // as for cubc_reduce, which gives the same bits for each segment
} cubc_segmented_reduce_params;

// A stable sort of each segment of an array by itself: of keys, and of values with them if
// value_bytes is not 0. The order is that of cubc_sort. Items before the first segment are sorted
// as a segment more, and so are those behind the last. keys_out may be keys_in and values_out
// values_in; no other arrays may overlap. Offsets that fall or lie outside of the array are no
// error, but the result is undefined then. Long segments of one size are sorted one after the
// other, as by cubc_sort.
typedef struct cubc_segmented_sort_params {
    const void *keys_in;
    void *keys_out;
    const void *values_in; // NULL: the indices 0 to n-1 of the whole array
    void *values_out;
    uint64_t n;
    uint64_t segments;
    const void *offsets;   // segments + 1 of them, in the device's memory, rising, or a cubc_lazy;
                           // NULL: every segment has n / segments items
    cubc_type offset_type; // I32 or I64
    cubc_type type;        // of the keys
    int value_bytes;       // of one value: 1, 2, 4, 8, 16; 0: there are none
    int relative;          // not 0: indices count from the first item of their segment; not with
                           // offsets
    int descending;
} cubc_segmented_sort_params;

// A selection of the items that fulfil a condition, in order. out may be in; no other arrays may
// overlap.
typedef struct cubc_select_params {
    const void *in; // NULL: the items are their indices, I64
    void *out;      // room for n items
    void *rest;     // room for n items: those that are not selected, in order; may be NULL
    void *second;   // room for n items: those whose predicate is 2, in order, while out has those
                    // whose predicate is 1. May be NULL; needs a predicate and the rest
    int64_t *count; // numbers of items in out and, if given, in second; in the device's memory
    uint64_t n;
    cubc_type type;
    const void *mask; // n items; those that are not 0 select
    cubc_type mask_type;
    const char *predicate; // or a C expression of the item x and its index i, an int64_t
    // Without both each item is selected that differs from the one before it, as every NaN does.
    const char *equal; // then: as in cubc_scan_params, of items
} cubc_select_params;

// Index of the first item that fulfils a condition; -1 if there is none.
typedef struct cubc_find_params {
    const void *in;
    int64_t *out; // one index, in the device's memory
    uint64_t n;
    cubc_type type;
    const char *predicate; // a C expression of the item x and its index i, an int64_t
} cubc_find_params;

// An element-wise map: out[i] is an expression of the operands' names and of the index i, an
// int64_t. Operands are broadcast by NumPy's rules to ndim and shape, whose product is n.
typedef struct cubc_transform_params {
    void *out;
    cubc_type out_type;
    uint64_t n;
    const char *expression;
    const cubc_operand *operands; // at most 8
    int operand_count;
    int ndim; // 0: one dimension of n items
    const ptrdiff_t *shape;
    void *const *parts; // NULL; or arrays of n items, at most 8, for the members of out_type, which
                        // is a struct then, and out is NULL
} cubc_transform_params;

// A stable sort of n keys, and of values with them if value_bytes is not 0. Keys sort by the bits
// [begin_bit, end_bit). By all bits, floats have NaN above all numbers, and -0 below 0. Some bits
// of floats are those of codes in their order: all bits are inverted if the sign is set, and else
// the sign alone, so that a NaN is beyond the infinity of its sign. keys_out may be keys_in and
// values_out values_in; no other arrays may overlap.
typedef struct cubc_sort_params {
    const void *keys_in;
    void *keys_out;
    const void *values_in; // NULL: the indices 0 to n-1, as argsort wants them
    void *values_out;
    uint64_t n;
    cubc_type type;  // of the keys
    int value_bytes; // of one value: 1, 2, 4, 8, 16; 0: there are none
    int descending;
    int begin_bit, end_bit; // end_bit 0: behind the highest
    // Room for n keys and, if there are any, for n values, apart from all others: what they hold is
    // lost, and the temporary storage need not be as large. With keys_out = keys_in (and values) a
    // sort needs little memory beside these pairs, as with CUB's DoubleBuffer; the result is in
    // keys_out in any case. NULL: there is none.
    void *keys_spare;
    void *values_spare;
} cubc_sort_params;

// Runs of equal consecutive keys; NaN differs from all keys. The members that are given choose the
// results:
//   - op: key and reduced values of each run;
//   - values without op: first key and first value of each run;
//   - offsets: offset and length of each run of two or more items;
//   - none of these: key and length of each run.
// keys_out may be keys, and out may be values, if items have the same size. No other arrays may
// overlap.
typedef struct cubc_runs_params {
    const void *keys;
    const void *values;
    void *keys_out;   // room for n keys
    int64_t *offsets; // room for n / 2
    void *out;        // room for as many: reduced or first values, or lengths
    int64_t *count;   // how many are written; in the device's memory
    uint64_t n;
    cubc_type type;       // of the keys
    cubc_type value_type; // of values that are reduced
    cubc_type acc_type;   // in which the operator is evaluated
    cubc_type out_type;   // of reduced values; of lengths: I64 or I32
    int value_bytes;      // of one value that is kept: 1, 2, 4, 8, 16
    const char *op;       // "sum" "prod" "min" "max" "any" "all", or a C expression of a and b
    int deterministic;    // of op: as in cubc_scan_params
    const char *equal;    // as in cubc_scan_params
} cubc_runs_params;

// Repetition of items: item k is written to out[ends[k-1]] to out[ends[k] - 1]. With the inclusive
// sums of the lengths of runs as ends this decodes runs. Items of out behind the last end are the
// last item; items that do not fit in out are left out. No arrays may overlap.
typedef struct cubc_repeat_params {
    const void *in;
    const int64_t *ends; // n, ascending
    void *out;           // total items
    uint64_t n;
    uint64_t total;
    int item_bytes; // 1, 2, 4, 8, 16
} cubc_repeat_params;

// Items by their indices, as numpy.take along an axis: the input is [outer][length][columns] items
// and the output [outer][count][columns]. There is an index along the axis for each of count, or
// with `along` for each item of the output, as in numpy.take_along_axis. No index reaches beyond
// the input. An index outside of [0, length) counts from the end if it is negative, and is then
// brought to the nearest (mode 0); wraps around (mode 1); is brought to the nearest (mode 2). The
// output lies apart from the inputs.
typedef struct cubc_take_params {
    const void *in;      // n items
    const void *indices; // index_count integers, or a cubc_lazy
    void *out;           // total items
    uint64_t n;
    uint64_t index_count;
    uint64_t total;
    uint64_t length;  // of the axis
    uint64_t columns; // items behind the axis; 1 for the last one
    cubc_type type;
    cubc_type index_type;
    int along;
    int mode;
} cubc_take_params;

// Values to places that indices name, as numpy.put along an axis: the items are
// [outer][length][columns] and the values [outer][count][columns]. There is an index along the axis
// for each of count, or with `along` for each value. Indices and mode are as those of
// cubc_take_params. Without an operator a value replaces the item, one of those that have one
// place; with one it becomes op(item, value), for all values in any order, so that op has to be
// commutative too. With `distinct` no two values have one place. Otherwise an operator is for items
// of 1 to 8 bytes that are real numbers or bool, and the sum for complex ones. out may be in; no
// others may overlap. A GPU combines items of one byte together with the byte that makes two of
// them, which it leaves as it is: at an odd end of the array that is the byte before or behind it.
typedef struct cubc_scatter_params {
    const void *in;      // n items
    const void *indices; // index_count integers, or a cubc_lazy
    const void *values;  // total of them, or a cubc_lazy; of the items' type
    void *out;           // n items
    uint64_t n;
    uint64_t index_count;
    uint64_t total;
    uint64_t length;  // of the axis
    uint64_t columns; // items behind the axis; 1 for the last one
    cubc_type type;
    cubc_type index_type;
    cubc_type value_type;
    const char *op; // NULL; or "sum" "prod" "min" "max" "any" "all", or a C expression of a and b
    int along;
    int distinct;
    int mode;
} cubc_scatter_params;

// Histograms: number of items in each bin, or sum of their weights. An item that is in no bin, as
// NaN, is not counted. If items are the channels of pixels, one pixel after the other, each of the
// first `active` channels has a histogram.
typedef struct cubc_level { // the bins of a channel
    uint64_t bins;
    double lower, upper; // of even bins: the last one holds `upper` itself
} cubc_level;

typedef struct cubc_histogram_params {
    const void *in;
    void *out;           // an item for each bin, those of one channel after the other
    const void *weights; // n of them, of one channel; NULL: items are counted
    const void *edges;   // bins + 1 of each channel, none below the one before it, and the last bin
                         // holds its upper edge; NULL: bins are even
    uint64_t n;          // items
    uint64_t edge_count; // of all channels
    cubc_type type;
    cubc_type out_type; // I32, I64, U32, U64, F32 or F64; of floating weights F32 or F64
    cubc_type weight_type;
    cubc_type edge_type;  // items are compared in it: I64, U64, F32 or F64; of even bins F32 or F64
    cubc_type step_type;  // F32 or F64: even edges are i * ((upper - lower) / bins) + lower in it,
                          // as numpy.linspace has them, and then converted to edge_type
    int is_index;         // an item is the number of its bin; there are no edges
    int channels;         // items of a pixel, at most 4; 0: 1
    int active;           // of the channels; 0: all
    cubc_level levels[4]; // of the active channels
} cubc_histogram_params;

// A stable sort by a comparison of n keys, and of values with them if value_bytes is not 0.
// keys_out may be keys_in and values_out values_in; otherwise no two arrays may overlap.
typedef struct cubc_merge_sort_params {
    const void *keys_in;
    void *keys_out;
    const void *values_in;
    void *values_out;
    uint64_t n;
    cubc_type type;   // of the keys
    int value_bytes;  // of one value: 1, 2, 4, 8, 16; 0: there are none
    const char *less; // a C expression, whether key a goes before key b; NULL: a < b, NaN last
} cubc_merge_sort_params;

// A merge of two sorted arrays. Keys of a come before equal ones of b. No output may overlap
// another array.
typedef struct cubc_merge_params {
    const void *a, *b;
    void *out;            // room for a_n + b_n keys
    const void *a_values; // that go with the keys, if value_bytes is not 0
    const void *b_values;
    void *values_out;
    uint64_t a_n, b_n;
    cubc_type type;   // of the keys
    int value_bytes;  // of one value: 1, 2, 4, 8, 16; 0: there are none
    const char *less; // as for merge_sort
} cubc_merge_params;

// Binary search: for each value the first index in a sorted array at which it keeps the order, or
// with `right` the last one. Items and values are compared in a type that holds both, NumPy's
// result_type. out may be values if these have 8 bytes; it overlaps no other array.
typedef struct cubc_searchsorted_params {
    const void *in;
    const void *values;
    int64_t *out; // values_n of them
    uint64_t n, values_n;
    cubc_type type, values_type;
    int right;        // not 0: behind those that are equal
    const char *less; // as for merge_sort
} cubc_searchsorted_params;

// The k largest of n keys, or the k smallest, with their values or indices. Keys compare as in
// cubc_sort; of equal keys those of the lowest indices are taken. Up to cubc_topk_in_order()
// results are in order, as cubc_sort would put them. The order of more is unspecified, but the same
// in each call. No arrays may overlap.
typedef struct cubc_topk_params {
    const void *keys_in;
    void *keys_out;        // k keys
    const void *values_in; // n values; NULL: the indices, I64
    void *values_out;      // k values
    uint64_t n, k;         // k at most n
    cubc_type type;        // of the keys
    int value_bytes;       // of one value: 1, 2, 4, 8, 16; of an index 8
    int largest;
} cubc_topk_params;

// The k smallest or largest keys of each segment, with their indices, which count from the
// segment's first item. They are in order, as cubc_sort would put them, or in an unspecified order,
// which is the same in each call; of equal keys those of the lowest indices are taken, and come
// first in order. Behind the last item of a shorter segment keys are 0 and indices -1.
// No output may overlap another array. Offsets that fall or lie outside of the array are no error,
// but the result is undefined then.
typedef struct cubc_segmented_topk_params {
    const void *in;
    void *keys_out;    // segments * k
    void *indices_out; // I64, segments * k
    uint64_t n;
    uint64_t segments;
    uint64_t k;            // at most 2048; without offsets at most the items of a segment
    const void *offsets;   // as for cubc_segmented_sort
    cubc_type offset_type; // I32 or I64
    cubc_type type;        // of the keys
    int largest;
    int unordered; // not 0: those of a segment may stand in any order, which takes less time
} cubc_segmented_topk_params;

// Many copies of memory in one launch: copy k is of ends[k] - ends[k-1] bytes, from in + from[k] to
// out + to[k]. No destination may overlap another one or a source.
typedef struct cubc_copy_batch_params {
    const void *in; // n items; NULL, with out: from and to are addresses of the device
    void *out;
    uint64_t n;
    cubc_type type;
    const int64_t *from, *to; // count of each, in the device's memory
    const int64_t *ends;      // inclusive sums of the copies' bytes
    uint64_t count;
    uint64_t bytes; // of all copies: the last end
} cubc_copy_batch_params;

// Transposition of one or more matrices, one after the other in memory: n is a multiple of rows *
// columns. out must not overlap in.
typedef struct cubc_transpose_params {
    const void *in; // in C order
    void *out;
    uint64_t n;
    uint64_t rows, columns; // of each matrix of the input
    cubc_type type;
} cubc_transpose_params;

// Gives the default types of a reduction of items of `type`: acc_type and out_type of cubc_reduce,
// cubc_axis_reduce, cubc_segmented_reduce, and cubc_runs with an operator. They are NumPy's. Sums
// and products of integers and bool have 64 bits, an index is I64, any and all are BOOL, and all
// others have the type of the items. F16 and BF16 are accumulated in F32.
cubc_status cubc_reduce_types(const char *op, cubc_type type, cubc_type *acc_type,
                              cubc_type *out_type);
// Gives the default types of cubc_scan. Integers keep their type; sums and products of BOOL are
// I64.
cubc_status cubc_scan_types(const char *op, cubc_type type, cubc_type *acc_type,
                            cubc_type *out_type);

cubc_status cubc_histogram_temp_bytes(cubc_device *device, const cubc_histogram_params *params,
                                      size_t *bytes);
cubc_status cubc_histogram(cubc_device *device, const cubc_histogram_params *params, void *temp,
                           size_t temp_bytes, cubc_stream stream);

cubc_status cubc_find_temp_bytes(cubc_device *device, const cubc_find_params *params,
                                 size_t *bytes);
cubc_status cubc_find(cubc_device *device, const cubc_find_params *params, void *temp,
                      size_t temp_bytes, cubc_stream stream);
cubc_status cubc_reduce_temp_bytes(cubc_device *device, const cubc_reduce_params *params,
                                   size_t *bytes);
cubc_status cubc_reduce(cubc_device *device, const cubc_reduce_params *params, void *temp,
                        size_t temp_bytes, cubc_stream stream);
cubc_status cubc_axis_reduce_temp_bytes(cubc_device *device, const cubc_axis_reduce_params *params,
                                        size_t *bytes);
cubc_status cubc_axis_reduce(cubc_device *device, const cubc_axis_reduce_params *params, void *temp,
                             size_t temp_bytes, cubc_stream stream);
cubc_status cubc_scan_temp_bytes(cubc_device *device, const cubc_scan_params *params,
                                 size_t *bytes);
cubc_status cubc_scan(cubc_device *device, const cubc_scan_params *params, void *temp,
                      size_t temp_bytes, cubc_stream stream);
cubc_status cubc_axis_scan_temp_bytes(cubc_device *device, const cubc_axis_scan_params *params,
                                      size_t *bytes);
cubc_status cubc_axis_scan(cubc_device *device, const cubc_axis_scan_params *params, void *temp,
                           size_t temp_bytes, cubc_stream stream);
cubc_status cubc_axis_sort_temp_bytes(cubc_device *device, const cubc_axis_sort_params *params,
                                      size_t *bytes);
cubc_status cubc_axis_sort(cubc_device *device, const cubc_axis_sort_params *params, void *temp,
                           size_t temp_bytes, cubc_stream stream);
cubc_status cubc_segment_ids_temp_bytes(cubc_device *device, const cubc_segment_ids_params *params,
                                        size_t *bytes);
cubc_status cubc_segment_ids(cubc_device *device, const cubc_segment_ids_params *params, void *temp,
                             size_t temp_bytes, cubc_stream stream);
cubc_status cubc_segmented_reduce_temp_bytes(cubc_device *device,
                                             const cubc_segmented_reduce_params *params,
                                             size_t *bytes);
cubc_status cubc_segmented_reduce(cubc_device *device, const cubc_segmented_reduce_params *params,
                                  void *temp, size_t temp_bytes, cubc_stream stream);
cubc_status cubc_segmented_sort_temp_bytes(cubc_device *device,
                                           const cubc_segmented_sort_params *params, size_t *bytes);
cubc_status cubc_segmented_sort(cubc_device *device, const cubc_segmented_sort_params *params,
                                void *temp, size_t temp_bytes, cubc_stream stream);
cubc_status cubc_select_temp_bytes(cubc_device *device, const cubc_select_params *params,
                                   size_t *bytes);
cubc_status cubc_select(cubc_device *device, const cubc_select_params *params, void *temp,
                        size_t temp_bytes, cubc_stream stream);
cubc_status cubc_transform_temp_bytes(cubc_device *device, const cubc_transform_params *params,
                                      size_t *bytes);
cubc_status cubc_transform(cubc_device *device, const cubc_transform_params *params, void *temp,
                           size_t temp_bytes, cubc_stream stream);
cubc_status cubc_sort_temp_bytes(cubc_device *device, const cubc_sort_params *params,
                                 size_t *bytes);
cubc_status cubc_sort(cubc_device *device, const cubc_sort_params *params, void *temp,
                      size_t temp_bytes, cubc_stream stream);
cubc_status cubc_runs_temp_bytes(cubc_device *device, const cubc_runs_params *params,
                                 size_t *bytes);
cubc_status cubc_runs(cubc_device *device, const cubc_runs_params *params, void *temp,
                      size_t temp_bytes, cubc_stream stream);
cubc_status cubc_repeat_temp_bytes(cubc_device *device, const cubc_repeat_params *params,
                                   size_t *bytes);
cubc_status cubc_repeat(cubc_device *device, const cubc_repeat_params *params, void *temp,
                        size_t temp_bytes, cubc_stream stream);

cubc_status cubc_take_temp_bytes(cubc_device *device, const cubc_take_params *params,
                                 size_t *bytes);
cubc_status cubc_take(cubc_device *device, const cubc_take_params *params, void *temp,
                      size_t temp_bytes, cubc_stream stream);
cubc_status cubc_scatter_temp_bytes(cubc_device *device, const cubc_scatter_params *params,
                                    size_t *bytes);
cubc_status cubc_scatter(cubc_device *device, const cubc_scatter_params *params, void *temp,
                         size_t temp_bytes, cubc_stream stream);

cubc_status cubc_merge_sort_temp_bytes(cubc_device *device, const cubc_merge_sort_params *params,
                                       size_t *bytes);
cubc_status cubc_merge_sort(cubc_device *device, const cubc_merge_sort_params *params, void *temp,
                            size_t temp_bytes, cubc_stream stream);
cubc_status cubc_merge_temp_bytes(cubc_device *device, const cubc_merge_params *params,
                                  size_t *bytes);
cubc_status cubc_merge(cubc_device *device, const cubc_merge_params *params, void *temp,
                       size_t temp_bytes, cubc_stream stream);
cubc_status cubc_searchsorted_temp_bytes(cubc_device *device,
                                         const cubc_searchsorted_params *params, size_t *bytes);
cubc_status cubc_searchsorted(cubc_device *device, const cubc_searchsorted_params *params,
                              void *temp, size_t temp_bytes, cubc_stream stream);

cubc_status cubc_topk_temp_bytes(cubc_device *device, const cubc_topk_params *params,
                                 size_t *bytes);
cubc_status cubc_topk(cubc_device *device, const cubc_topk_params *params, void *temp,
                      size_t temp_bytes, cubc_stream stream);
uint64_t cubc_topk_in_order(const cubc_device *device); // 2048, or 7936 on an H100; of NULL 0

cubc_status cubc_segmented_topk_temp_bytes(cubc_device *device,
                                           const cubc_segmented_topk_params *params, size_t *bytes);
cubc_status cubc_segmented_topk(cubc_device *device, const cubc_segmented_topk_params *params,
                                void *temp, size_t temp_bytes, cubc_stream stream);

cubc_status cubc_copy_batch_temp_bytes(cubc_device *device, const cubc_copy_batch_params *params,
                                       size_t *bytes);
cubc_status cubc_copy_batch(cubc_device *device, const cubc_copy_batch_params *params, void *temp,
                            size_t temp_bytes, cubc_stream stream);
cubc_status cubc_transpose_temp_bytes(cubc_device *device, const cubc_transpose_params *params,
                                      size_t *bytes);
cubc_status cubc_transpose(cubc_device *device, const cubc_transpose_params *params, void *temp,
                           size_t temp_bytes, cubc_stream stream);
// cffi: end
#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
