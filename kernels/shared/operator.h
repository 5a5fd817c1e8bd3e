// Operator of a reduction or scan and its accumulator, from the workload's macros.
//     TUNE_T, TUNE_A, TUNE_O   types of the items, of the accumulator, of the result
//     TUNE_OPERATOR            an expression of a and b, both of type value_t; the result may be
//                              written as value_t{...}
//     TUNE_IDENTITY            the operator's identity; absent for a user's own operator
//     TUNE_OF_NONE             result for no items, if it is not the identity: the identity of a
//                              float sum is -0.0, which leaves -0.0 unchanged
//     TUNE_ARG                 1: the accumulator carries the index (argmin, argmax)
//     TUNE_INITIAL_IN_MEMORY   the initial value is in the device's memory, and not an argument
#pragma once
#include "modulus.h"
#include "types.h"

typedef TUNE_T item_t;
typedef TUNE_A value_t;
typedef TUNE_O out_t;

// Initial value as a kernel's argument: a value_t by static_cast. One in memory was written by a
// launch before.
#if defined(TUNE_INITIAL_IN_MEMORY)
struct initial_t {
    const value_t* place;
    FUNCTION_MEMBER operator value_t() const { return *place; }
};
// Conversion by which a bool is made.
template <class T>
FUNCTION T convert(const initial_t& init)
{
    return convert<T>(*init.place);
}
#else
typedef value_t initial_t;
#endif

#if defined(TUNE_ARG)
enum { HAS_INDEX = 1 };
// Accumulator of argmin and argmax. The better value wins, NaN before any number, and the lower
// index among equal values, as in NumPy.
struct acc_t {
    value_t value;
    i64 index;
};
FUNCTION bool better(value_t a, value_t b) { return (TUNE_OPERATOR) || (a != a && b == b); }
struct combine {
    FUNCTION_MEMBER acc_t operator()(acc_t x, acc_t y) const
    {
        if (x.index < 0) return y;
        if (y.index < 0) return x;
        const bool x_better = better(x.value, y.value), y_better = better(y.value, x.value);
        if (x_better != y_better) return x_better ? x : y;
        return x.index < y.index ? x : y;
    }
};
FUNCTION acc_t acc_identity() { return acc_t{value_t(0), -1}; }
// Adds an item to acc. Its index is larger than those of all items added before.
FUNCTION acc_t accumulate(acc_t acc, item_t item, u64 index)
{
    const value_t value = convert<value_t>(item);
    const bool take = acc.index < 0 || better(value, acc.value);
    return acc_t{take ? value : acc.value, take ? static_cast<i64>(index) : acc.index};
}
FUNCTION out_t acc_result(acc_t acc) { return convert<out_t>(acc.index); }

#else
enum { HAS_INDEX = 0 };
FUNCTION value_t apply_operator(in_expression<value_t> a, in_expression<value_t> b)
{
    return static_cast<value_t>(TUNE_OPERATOR);
}

#if defined(TUNE_IDENTITY)
typedef value_t acc_t;
struct combine {
    FUNCTION_MEMBER acc_t operator()(acc_t a, acc_t b) const { return apply_operator(a, b); }
};
FUNCTION acc_t acc_identity() { return static_cast<value_t>(TUNE_IDENTITY); }
FUNCTION acc_t accumulate(acc_t acc, item_t item, u64)
{
    return apply_operator(acc, convert<value_t>(item));
}
FUNCTION acc_t acc_of_value(value_t value) { return value; }
FUNCTION out_t acc_result(acc_t acc) { return convert<out_t>(acc); }
#if defined(TUNE_OF_NONE)
FUNCTION acc_t acc_of_segment(acc_t acc, bool empty) { return empty ? acc_t(TUNE_OF_NONE) : acc; }
#else
FUNCTION acc_t acc_of_segment(acc_t acc, bool) { return acc; }
#endif

#else
// Accumulator of an operator without identity: `filled` is 0 until the first item.
struct acc_t {
    value_t value;
    u32 filled;
};
struct combine {
    FUNCTION_MEMBER acc_t operator()(acc_t x, acc_t y) const
    {
        if (!x.filled) return y;
        if (!y.filled) return x;
        return acc_t{apply_operator(x.value, y.value), 1u};
    }
};
FUNCTION acc_t acc_identity() { return acc_t{value_t{}, 0u}; }
FUNCTION acc_t accumulate(acc_t acc, item_t item, u64)
{
    const value_t value = convert<value_t>(item);
    return acc_t{acc.filled ? apply_operator(acc.value, value) : value, 1u};
}
FUNCTION acc_t acc_of_value(value_t value) { return acc_t{value, 1u}; }
FUNCTION acc_t acc_of_segment(acc_t acc, bool) { return acc; }
FUNCTION out_t acc_result(acc_t acc) { return convert<out_t>(acc.value); }
#endif
#endif

// Writes the result of a reduction: the accumulator of all items behind the initial value of a
// kernel's arguments, if there is one, which argmin and argmax never have. empty: there were no
// items.
template <class Args>
FUNCTION void write_result(const Args& a, u64 at, acc_t acc, bool empty = false)
{
#if defined(TUNE_ARG)
    (void)empty;
#else
    if (a.has_init)
        acc = combine()(acc_of_value(static_cast<value_t>(a.init)), acc);
    else
        acc = acc_of_segment(acc, empty);
#endif
    a.out[at] = acc_result(acc);
}
