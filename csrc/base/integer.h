// Arithmetic of sizes and counts, for formulas: the names have no prefix, so that these stay short.
#ifndef CUBC_INTEGER_H
#define CUBC_INTEGER_H

#include <stdint.h>

// Quotient, rounded up. Does not wrap, as (a + b - 1) / b may.
static inline uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

// The next multiple of a unit. The caller knows that it fits.
static inline uint64_t round_up(uint64_t a, uint64_t unit)
{
    return ceil_div(a, unit) * unit;
}

static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif
