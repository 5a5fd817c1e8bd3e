// The common part of the descriptors of take and scatter, whose indices name places along an axis
// of items in memory.
#ifndef CUBC_INDEXED_H
#define CUBC_INDEXED_H

#include "run/problem.h"

// The members of the public parameters that both have.
typedef struct indexed_call {
    const char *function;
    uint64_t n, length, columns, index_count; // items: rows of `columns` behind each other
    uint64_t total;                           // items that indices name
    int along, mode;
    cubc_type type; // of the items
} indexed_call;
#define INDEXED_CALL(name, params)                        \
    ((indexed_call){.function = (name),                   \
                    .n = (params)->n,                     \
                    .length = (params)->length,           \
                    .columns = (params)->columns,         \
                    .index_count = (params)->index_count, \
                    .total = (params)->total,             \
                    .along = (params)->along,             \
                    .mode = (params)->mode,               \
                    .type = (params)->type})

typedef struct indexed_numbers {
    uint64_t total, length, columns;
    uint64_t count; // indices along the axis
    uint64_t mode;
} indexed_numbers;
PROBLEM_NUMBERS(indexed_numbers);

// Fails unless the numbers of a call go together.
cubc_status indexed_shape(const indexed_call *c, indexed_numbers *out);
// True if the items of a call are one row of single ones.
static inline bool indexed_is_flat(const indexed_call *c)
{
    return c->columns == 1 && c->n == c->length;
}
// The type that moves items of a type unseen: few have code of their own.
cubc_type indexed_moved_as(cubc_type type);
// Finds the type of indices; fails if they are no integers.
cubc_status indexed_type(const char *function, const void *indices, cubc_type given,
                         cubc_type *out);

#endif
