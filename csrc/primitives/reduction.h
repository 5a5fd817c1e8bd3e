// A reduction of any public call: routes.c chooses its descriptor, which builds on this.
#ifndef CUBC_REDUCTION_H
#define CUBC_REDUCTION_H

#include "run/instance.h"
#include "run/problem.h"

typedef enum reduction_shape {
    REDUCTION_WHOLE,    // all items to one
    REDUCTION_SEGMENTS, // each row, or the items between two offsets, to one
    REDUCTION_COLUMNS   // along an axis that is not the last
} reduction_shape;

typedef struct reduction {
    const char *call, *input, *output; // the public call and its arrays, as messages name them
    reduction_shape shape;
    uint64_t n;
    uint64_t outer, columns; // as in cubc_axis_reduce_params; segments are the outer ones
    const void *in;
    void *out;           // [outer][columns]
    const void *offsets; // of segments; NULL: all have as many items
    const void *ends;    // of segments that lie anywhere; NULL: each ends where the next begins
    cubc_type type, acc_type, out_type, offset_type, end_type;
    const char *op;
    const void *init;
    bool init_in_memory; // of the device
    bool commutative;
    bool deterministic; // the caller wants it, and the order of the operands shows
} reduction;

// The common part of a reduction's problem: arrays, operator, and all checks of them. The
// descriptor's `complete` adds the rest.
cubc_status reduction_operands(const reduction *r, const algorithm *a, problem *out);

enum {
    WARP_LANES = 32,
    TEAM_IS_BLOCK = 6 // log2 of a team that is a block: beyond a warp's 5
};

// Lanes (log2) of a team that reduces a row or segment of `vectors` vectors, of which a lane loads
// `loads` at once: as few as hold it in their registers, but more where there are too few segments
// for the device's threads; at most a warp.
uint64_t reduction_team_log2(uint64_t vectors, uint64_t loads, uint64_t segments, uint64_t threads);

// Several reductions in one pass, as cubc.reduce makes them of a list of operators and cubc.var of
// a sum and squares: each item becomes a struct, of which a thread has far fewer in its registers
// than it loads items. They have benchmarks and policies of their own.
bool reduction_is_several(const problem *p);
// Their benchmark computes a sum, the smallest item, and the largest one with its index.
// The operators use & and |, because && and || would be branches.
#define REDUCTION_FIRST                                                \
    "((a.most > b.most) | ((a.most != a.most) & (b.most == b.most)) |" \
    "(((a.most == b.most) | ((a.most != a.most) & (b.most != b.most))) & (a.at < b.at)))"
#define REDUCTION_SEVERAL                                                                    \
    "value_t{a.total + b.total, "                                                            \
    "(a.least < b.least) | ((a.least != a.least) & (b.least == "                             \
    "b.least)) ? a.least : b.least, " REDUCTION_FIRST " ? a.most : b.most, " REDUCTION_FIRST \
    " ? a.at : b.at}"
// The input of that benchmark, of an operand named x.
cubc_status reduction_several_input(const cubc_operand *x, cubc_lazy *out);

// The parameters of a benchmark's call, a row's: name is reduce, axis_reduce or segmented_reduce.
#define REDUCTION_CALL(name, ...)                                        \
    .call = &(const cubc_##name##_params)                                \
    {                                                                    \
        .in = BENCHMARK_ARRAY(0), .out = BENCHMARK_ARRAY(1), __VA_ARGS__ \
    }
// The arrays of a reduction of segments with offsets.
#define REDUCTION_CALL_SEGMENTED(...)                                                        \
    REDUCTION_CALL(segmented_reduce, .offsets = BENCHMARK_ARRAY(2), .offset_type = CUBC_I64, \
                   __VA_ARGS__)

#endif
