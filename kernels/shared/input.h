// Input of a kernel: an array, or an expression of several arrays and scalars (a lazy input).
//
// A lazy input is evaluated where its items are loaded and costs no pass of its own. A kernel
// defines the type of an input once and is the same for both kinds:
//     DEFINE_INPUT(TUNE_IN, in_t, item_t)          in_t is a field of the kernel's arguments
//     load_input<CACHING>(a.in, at, item)          a vector, at a multiple of its items
//     input_item(a.in, i)                          one item
//     input_from(a.in, i)                          the input from item i on, for the two above
// A plain input is a pointer and compiles to pointer accesses. The descriptor defines the macros
// (problem_define_input) and passes the words (problem_place_input). For the prefix TUNE_IN:
//     TUNE_IN_LAZY          0: an array, without the other macros; 1: a lazy input
//     TUNE_IN_TYPE          type of the items
//     TUNE_IN_EXPRESSION    expression of the operands' names and of the index i, an i64
//     TUNE_IN_ARRAYS(X)     X(type, name, axes) for each operand that is an array
//     TUNE_IN_SCALARS(X)    the same for each operand that is one value, which has no axes
//     TUNE_IN_TABLES(X)     the same for each operand that the expression indexes, as in table[k]
//     TUNE_IN_RANK          number of axes of the index; the last one varies fastest
//     TUNE_IN_ROWS          1: the last axis is a multiple of every vector of at most 16 items
// An operand has the axes whose bits are set (bit 0 is the last axis) and is repeated along the
// others, as NumPy broadcasts.
#pragma once
#include "integer.h"
#include "memory.h"
#include "modulus.h"
#include "types.h"

// ---- an array -----------------------------------------------------------------------------------
template <int CACHING, int N, class T>
FUNCTION void load_input(const T* in, u64 at, T (&out)[N])
{
    load_items<CACHING>(in + at, out);
}
template <class T>
FUNCTION T input_item(const T* in, u64 i)
{
    return in[i];
}

// Do nothing: a lazy input is not prefetched (prefetch_tile of memory.h).
template <int AHEAD, int TILE, class In>
FUNCTION void prefetch_tile(const In&, u64, u64)
{
}
template <int TILE, class In>
FUNCTION void prefetch_this_tile(const In&, u64, u64)
{
}
template <class In>
FUNCTION void prefetch_items(const In&, u64, u64)
{
}

// Input from an item on; for an array a pointer.
template <class In>
struct input_part {
    const In& in;
    u64 begin;
};
template <class T>
FUNCTION const T* input_from(const T* in, u64 begin)
{
    return in + begin;
}
template <class In>
FUNCTION input_part<In> input_from(const In& in, u64 begin)
{
    return input_part<In>{in, begin};
}
template <int CACHING, class In, int N, class T>
FUNCTION void load_input(const input_part<In>& part, u64 at, T (&out)[N])
{
    load_input<CACHING>(part.in, part.begin + at, out);
}
template <class In>
FUNCTION auto input_item(const input_part<In>& part, u64 i)
{
    return input_item(part.in, part.begin + i);
}

// ---- place of an operand's item -----------------------------------------------------------------
// Extent of each axis but the first and ceil(2^64 / extent), from the last axis on.
template <int RANK>
struct input_axes {
    u64 word[RANK - 1][2];
    FUNCTION_MEMBER u64 extent(int d) const { return word[d][0]; }
    FUNCTION_MEMBER u64 reciprocal(int d) const { return word[d][1]; }
};
template <>
struct input_axes<1> { // empty, used as a base
    FUNCTION_MEMBER u64 extent(int) const { return 1; }
    FUNCTION_MEMBER u64 reciprocal(int) const { return 0; }
};

// Coordinates along the axes, the last axis first.
template <int RANK>
struct input_place {
    u64 along[RANK];
};

// Divides `index` by `extent`: returns the quotient and leaves the remainder in `index`. The
// estimate is at most one too high.
FUNCTION u64 divide_index(u64& index, u64 extent, u64 reciprocal)
{
    u64 quotient = multiply_high(index, reciprocal);
    u64 rest = index - quotient * extent;
    if (static_cast<i64>(rest) < 0) {
        quotient--;
        rest += extent;
    }
    index = rest;
    return quotient;
}

template <int RANK>
FUNCTION input_place<RANK> find_place(const input_axes<RANK>& axes, u64 i)
{
    input_place<RANK> place;
    UNROLL
    for (int d = 0; d < RANK - 1; d++) {
        const u64 outer = divide_index(i, axes.extent(d), axes.reciprocal(d));
        place.along[d] = i;
        i = outer;
    }
    place.along[RANK - 1] = i;
    return place;
}

template <int RANK>
FUNCTION void next_place(const input_axes<RANK>& axes, input_place<RANK>& place)
{
    place.along[0]++;
    UNROLL
    for (int d = 0; d < RANK - 1; d++) {
        const bool end = place.along[d] == axes.extent(d);
        place.along[d] = end ? 0 : place.along[d];
        place.along[d + 1] += end;
    }
}

// Returns the offset of a place in an operand. AXES: the axes that the operand has.
template <u32 AXES, int RANK>
FUNCTION u64 offset_at(const input_axes<RANK>& axes, const input_place<RANK>& place)
{
    u64 offset = 0;
    UNROLL
    for (int d = RANK - 1; d >= 0; d--)
        if (AXES >> d & 1u) offset = (d < RANK - 1 ? offset * axes.extent(d) : 0) + place.along[d];
    return offset;
}

template <u32 AXES, int RANK>
FUNCTION constexpr bool has_all_axes()
{
    return AXES == (1u << RANK) - 1u;
}

template <u32 AXES, int RANK, class T>
FUNCTION T operand_item(const T* array, u64 i, const input_axes<RANK>& axes,
                        const input_place<RANK>& place)
{
    if constexpr (has_all_axes<AXES, RANK>()) return array[i];
    return array[offset_at<AXES>(axes, place)];
}

// Loads the operand's items for indices at, at + 1, ...; `place` is that of the first.
template <int CACHING, u32 AXES, bool ROWS, int RANK, class T, int N>
FUNCTION void load_operand(const T* array, u64 at, const input_axes<RANK>& axes,
                           input_place<RANK> place, T (&out)[N])
{
    if constexpr (has_all_axes<AXES, RANK>())
        load_items<CACHING>(array + at, out);
    else if constexpr (ROWS && N <= 16 && (AXES & 1u)) // the vector stays in its row
        load_items<CACHING>(array + offset_at<AXES>(axes, place), out);
    else if (AXES == 0 || (ROWS && N <= 16) || place.along[0] + N <= axes.extent(0)) {
        const T* const from = array + offset_at<AXES>(axes, place);
        UNROLL
        for (int j = 0; j < N; j++) copy_item(out[j], from[AXES & 1u ? j : 0]);
    } else {
        UNROLL
        for (int j = 0; j < N; j++) {
            out[j] = array[offset_at<AXES>(axes, place)];
            next_place(axes, place);
        }
    }
}

// An operand that the expression indexes. An index beyond its ends names the nearest item, so that
// no expression reads other memory.
template <class T>
struct input_table {
    const T* items;
    u64 n;
#if defined(TUNE_CHECKED)
    u64* note; // how many indices are beyond the ends; the first of them; the item that has it
#endif
    FUNCTION_MEMBER in_expression<T> operator[](i64 k) const
    {
        const i64 last = static_cast<i64>(n) - 1;
        return items[k < 0 ? 0 : k < last ? k : last];
    }
};

#if defined(TUNE_CHECKED)
template <class T>
struct checked_table {
    const input_table<T> table;
    u64 item; // of the expression
    FUNCTION_MEMBER in_expression<T> operator[](i64 k) const
    {
        const bool beyond = k < 0 || k >= static_cast<i64>(table.n);
        if (beyond && atomic_add(table.note, u64(1)) == 0) {
            table.note[1] = static_cast<u64>(k);
            table.note[2] = item;
        }
        return table[k];
    }
};
#define INPUT_INDEXED(type, name, axes) , const checked_table<type> name
#define INPUT_TABLE_ITSELF(type, name, axes) \
    , checked_table<type> { in.name##_table, i }
#else
#define INPUT_INDEXED(type, name, axes) , const input_table<type> name
#define INPUT_TABLE_ITSELF(type, name, axes) , in.name##_table
#endif

template <class T>
struct scalar_bits {
    u64 word[ceil_div(sizeof(T), 8)];
};

template <class T>
FUNCTION T scalar_operand(const scalar_bits<T>& bits)
{
    union {
        scalar_bits<T> bits;
        T value;
    } words;
    words.bits = bits;
    return words.value;
}

// ---- an expression ------------------------------------------------------------------------------
#define INPUT_PARAMETER(type, name, axes) , const in_expression<type> name
#define INPUT_ARRAY(type, name, axes) const type* name##_array;
#define INPUT_TABLE(type, name, axes) input_table<type> name##_table;
#define INPUT_BITS(type, name, axes) scalar_bits<type> name##_bits;
#define INPUT_FIELD(type, name, axes) type name##_items[N];
#define INPUT_FETCH(type, name, axes) \
    load_operand<CACHING, axes, ROWS>(in.name##_array, at, in, place, raw.name##_items);
#define INPUT_FETCHED(type, name, axes) , raw.name##_items[j]
#define INPUT_ARRAY_ITEM(type, name, axes) , operand_item<axes>(in.name##_array, i, in, place)
#define INPUT_SCALAR(type, name, axes) , scalar_operand<type>(in.name##_bits)

// fetch_input and evaluate_input are the two halves of load_input, for kernels that fetch several
// vectors first.
#define INPUT_LAZY_1(prefix, in_t, item_t)                                                         \
    struct alignas(8) in_t : input_axes<prefix##_RANK> {                                           \
        prefix##_ARRAYS(INPUT_ARRAY) prefix##_TABLES(INPUT_TABLE) prefix##_SCALARS(INPUT_BITS)     \
    };                                                                                             \
    template <int N>                                                                               \
    struct in_t##_vector {                                                                         \
        prefix##_ARRAYS(INPUT_FIELD)                                                               \
    };                                                                                             \
    FUNCTION prefix##_TYPE in_t##_value(const i64 i prefix##_ARRAYS(                               \
        INPUT_PARAMETER) prefix##_TABLES(INPUT_INDEXED) prefix##_SCALARS(INPUT_PARAMETER))         \
    {                                                                                              \
        typedef prefix##_TYPE out_t; /* as an expression calls what it makes */                    \
        (void)i;                                                                                   \
        return convert<out_t>(prefix##_EXPRESSION);                                                \
    }                                                                                              \
    template <int CACHING, int N>                                                                  \
    FUNCTION void fetch_input(const in_t& in, u64 at, in_t##_vector<N>& raw)                       \
    {                                                                                              \
        constexpr bool ROWS = prefix##_ROWS;                                                       \
        const input_place<prefix##_RANK> place = find_place<prefix##_RANK>(in, at);                \
        prefix##_ARRAYS(INPUT_FETCH)(void) in, (void)raw, (void)place, (void)ROWS;                 \
    }                                                                                              \
    template <int N>                                                                               \
    FUNCTION void evaluate_input(const in_t& in, u64 at, const in_t##_vector<N>& raw,              \
                                 prefix##_TYPE(&out)[N])                                           \
    {                                                                                              \
        (void)in, (void)raw;                                                                       \
        UNROLL                                                                                     \
        for (int j = 0; j < N; j++) {                                                              \
            const u64 i = at + static_cast<u64>(j);                                                \
            out[j] = in_t##_value(static_cast<i64>(i) prefix##_ARRAYS(INPUT_FETCHED)               \
                                      prefix##_TABLES(INPUT_TABLE_ITSELF)                          \
                                          prefix##_SCALARS(INPUT_SCALAR));                         \
        }                                                                                          \
    }                                                                                              \
    template <int CACHING, int N>                                                                  \
    FUNCTION void load_input(const in_t& in, u64 at, prefix##_TYPE(&out)[N])                       \
    {                                                                                              \
        in_t##_vector<N> raw;                                                                      \
        fetch_input<CACHING>(in, at, raw);                                                         \
        evaluate_input(in, at, raw, out);                                                          \
    }                                                                                              \
    FUNCTION prefix##_TYPE input_item(const in_t& in, u64 i)                                       \
    {                                                                                              \
        const input_place<prefix##_RANK> place = find_place<prefix##_RANK>(in, i);                 \
        (void)place;                                                                               \
        return in_t##_value(static_cast<i64>(i) prefix##_ARRAYS(INPUT_ARRAY_ITEM) prefix##_TABLES( \
            INPUT_TABLE_ITSELF) prefix##_SCALARS(INPUT_SCALAR));                                   \
    }
#define INPUT_LAZY_0(prefix, in_t, item_t) typedef const item_t* in_t;
#define INPUT_PASTE(a, b) a##b
#define INPUT_DEFINED(lazy, prefix, in_t, item_t) \
    INPUT_PASTE(INPUT_LAZY_, lazy)(prefix, in_t, item_t)
#define DEFINE_INPUT(prefix, in_t, item_t) INPUT_DEFINED(prefix##_LAZY, prefix, in_t, item_t)
