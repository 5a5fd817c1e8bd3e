// Problems: a problem is everything about one call. Then the common part of the descriptors: checks
// of a call, the macros of its compile-time workload, its variants and its launches.
//
// problem_operator.c has the operators, problem_arrays.c the arrays, problem_lazy.c the inputs that
// may be lazy, problem_define.c the macros, problem.c the variants and the launches. `what` names
// an array in messages.
#ifndef CUBC_PROBLEM_H
#define CUBC_PROBLEM_H

#include "base/size.h"
#include "compile/policy.h"
#include "compile/variant.h"
#include "cubc.h"
#include "run/operator.h"

#include <string.h>

enum {
    MAX_INPUTS = 12,
    MAX_OPERANDS = 8, // of all lazy inputs
    MAX_OUTPUTS = 8,
    MAX_LAZY = 3, // inputs of one call
    MAX_TEXTS = 40,
    MAX_AXES = 5 // that operands of a lazy input need to be told apart along
};

typedef struct algorithm algorithm; // algorithm.h
typedef struct instance instance;   // instance.h
typedef struct launch launch;       // plan.h

// ---- what a call is -----------------------------------------------------------------------------
// An array that a problem reads or writes, or a scalar that it takes. Its address and its length
// are the run-time part; the rest belongs to the compile-time workload.
typedef struct operand {
    const char *name; // in an expression, or by which its descriptor finds it, borrowed; else NULL
    void *data;       // an input's is only read
    uint64_t n;       // items
    uint8_t type;     // cubc_type
    uint8_t width;    // values of the type in an item: 2 of U64 are 16 opaque bytes; 0: 1
    uint8_t lazy;     // 1 + which of the problem's lazy inputs this is; 0: it is in memory
    uint8_t axes;     // of an operand of a lazy input: those it has, bit 0 the last; see input.h
    bool scalar;      // one value in host memory
    bool table;       // the expression indexes it, as in table[k]
    bool sorted;      // of a benchmark's input: its items are in order
} operand;

// An input that is an expression of operands, evaluated where a kernel reads it.
typedef struct lazy_input {
    const char *expression;     // borrowed
    uint8_t first, count;       // of the problem's operands
    uint8_t rank;               // axes of its index: 1 where no operand is broadcast
    bool rows;                  // the last axis is a multiple of every vector
    bool bounds;                // it is offsets of segments, which choose no policy
    uint64_t extents[MAX_AXES]; // the last axis first; the run-time part
} lazy_input;

static inline size_t operand_item_bytes(const operand *o)
{
    return cubc_type_size((cubc_type)o->type) * (o->width ? o->width : 1);
}

// Everything about one call. The compile-time workload comes first: two problems that agree in it
// run the same compiled code.
typedef struct problem {
    const algorithm *algorithm;
    const operator_info *op; // NULL: `expression` is the operator
    const char *expression;
    operand inputs[MAX_INPUTS], outputs[MAX_OUTPUTS];
    uint8_t input_count, output_count;
    operand operands[MAX_OPERANDS]; // of the lazy inputs
    lazy_input lazy[MAX_LAZY];
    uint8_t operand_count, lazy_count;
    uint8_t type, acc_type; // cubc_type: of the items, and what the operator works in
    bool commutative, inclusive, descending;
    bool wide;           // counts of items need 64 bits
    bool aligned;        // all arrays of more than one item start on 16 bytes
    bool in_place;       // an output is an input: no read-only loads
    bool init_in_memory; // the initial value is in the device's memory
    bool checked;        // of transform: its tables note indices beyond them, and that is all
    // Further properties that the code depends on: the algorithm's own struct, and texts, borrowed,
    // each kind of which has its place; NULL: none of that kind.
    unsigned char traits[96];
    const char *texts[MAX_TEXTS];
    uint8_t text_count; // up to the last kind
    char benchmark[40]; // the benchmark that stands for this problem: "reduce.sum"

    // Run-time workload.
    uint64_t n;      // items that the algorithm goes through
    type_value init; // of acc_type; its address where it is in the device's memory
    bool has_init;
    uint8_t begin_bit, end_bit; // of the keys of a sort
    unsigned char numbers[152]; // further arguments of its kernels: the algorithm's own struct
} problem;

// Structs of an algorithm's own in a problem. PROBLEM_TRAITS(scan_traits) and
// PROBLEM_NUMBERS(scan_numbers) in the algorithm's file define
//     scan_traits scan_traits_of(const problem *p);
//     void scan_traits_set(problem *p, scan_traits value);
// and the same for the other. Traits are compared as bytes: their members are ints and enums alone,
// which leaves no padding between them. PROBLEM_STRUCT places a struct behind others.
#define PROBLEM_TRAITS(type) PROBLEM_STRUCT(type, traits, 0)
#define PROBLEM_NUMBERS(type) PROBLEM_STRUCT(type, numbers, 0)
#define PROBLEM_STRUCT(type, bytes, at)                                 \
    MAY_BE_UNUSED static inline type type##_of(const problem *p)        \
    {                                                                   \
        type value;                                                     \
        memcpy(&value, p->bytes + (at), sizeof value);                  \
        return value;                                                   \
    }                                                                   \
    MAY_BE_UNUSED static inline void type##_set(problem *p, type value) \
    {                                                                   \
        memcpy(p->bytes + (at), &value, sizeof value);                  \
    }                                                                   \
    _Static_assert((at) + sizeof(type) <= sizeof((problem *)0)->bytes,  \
                   "a problem has room for " #type)

// ---- operators ---------------------------------------------------------------------------------
// Resolves the operator of a reduction or scan into op or expression, and takes in init. The types
// of the items, of the accumulator and of the result, the last output so far, are there already.
cubc_status problem_operator(problem *p, const char *family, const char *op, const void *init);
// Takes in an initial value that is in the device's memory, after the operator and the outputs. It
// has the type that the caller gives for the accumulator, which must be that of the operator.
cubc_status problem_init_in_memory(problem *p, const char *family, cubc_type type,
                                   const void *init);
// The operator in the name of a benchmark.
const char *problem_operator_name(const problem *p);
// An expression of a and b that says which consecutive keys are equal (kernels/shared/same_run.h);
// NULL: ==. The problem has no other texts.
cubc_status problem_take_equal(problem *p, const char *equal);

// ---- arrays ------------------------------------------------------------------------------------
// Adds an array: it exists, is aligned to its type and not too long.
cubc_status problem_input(problem *p, const char *what, const void *data, uint64_t n,
                          cubc_type type);
cubc_status problem_output(problem *p, const char *what, void *data, uint64_t n, cubc_type type);
// The same of an input that may also be lazy: data is a cubc_lazy if the type is CUBC_LAZY. The
// type of its items is that of p->inputs afterwards.
cubc_status problem_lazy_input(problem *p, const char *what, const void *data, uint64_t n,
                               cubc_type type);
// The type of what problem_lazy_input will add.
cubc_type problem_input_type(const void *data, cubc_type type);
// The same of the offsets of segments, of which there is one more than these: I32 or I64.
cubc_status problem_offsets(problem *p, const char *what, const void *data, uint64_t segments,
                            cubc_type type);
// The same of the ends of segments, or of beginnings beside them, one for each.
cubc_status problem_ends(problem *p, const char *what, const void *data, uint64_t segments,
                         cubc_type type);
// The same of values that keys take along, rows of 1, 2, 4, 8 or 16 bytes. Their output is the
// second one.
cubc_status problem_value_input(problem *p, const char *what, const void *data, uint64_t n,
                                int bytes);
// Checks that n items make so many segments of one size, which have no offsets.
cubc_status problem_equal_segments(const char *algorithm, uint64_t n, uint64_t segments);
cubc_status problem_value_output(problem *p, void *data, uint64_t n, int bytes);
// The values that a sort takes along or, where `in` is NULL, the indices of its n keys, from 0 to
// most - 1. `bytes` of 0: neither.
cubc_status problem_sort_values(problem *p, const char *what, const void *in, void *out, uint64_t n,
                                int bytes, uint64_t most);
// Finds the type that moves items of 1, 2, 4, 8 or 16 bytes unseen; false: they are of other sizes.
bool problem_opaque(int bytes, cubc_type *type, uint8_t *width);
// Checks an array, and puts it where it belongs: an operand of a lazy input is none of p's inputs.
cubc_status problem_array(problem *p, operand *to, const char *what, const void *data, uint64_t n,
                          cubc_type type);
// Refuses structs and complex numbers.
cubc_status problem_check_real(const char *what, cubc_type type);
// Refuses more items than any memory has room for.
cubc_status problem_check_size(const char *what, uint64_t n, cubc_type type);
// Checks all arrays that were added: an output lies apart from every other array, or it is an input
// with items of the same size: any of them, or one of as many items.
typedef enum in_place { ANY_INPUT, INPUT_OF_SAME_NUMBER } in_place;
cubc_status problem_check_overlap(problem *p, in_place allowed);
// True if two arrays have bytes in common.
bool problem_overlap(const operand *a, const operand *b);
// Fails with CUBC_INVALID_ARGUMENT unless a call's arrays lie apart from its workspace.
cubc_status problem_check_apart(const problem *p, const void *memory, size_t bytes);
// The bytes that are read for input k: those of its operands if it is lazy.
double problem_input_bytes(const problem *p, int k);
// The bytes of all arrays: the traffic of a kernel that reads or writes each once.
double problem_array_bytes(const problem *p);

// ---- macros ------------------------------------------------------------------------------------
// Defines TUNE_T, TUNE_A, TUNE_O, the operator and TUNE_ALIGNED.
void problem_define(const problem *p, text *out);
// Defines the macros of input k for kernels/shared/input.h, with a prefix such as "TUNE_IN". k is
// -1 for an input that a call lacks, here and in problem_place_input: the kernel has a NULL
// pointer.
void problem_define_input(const problem *p, int k, const char *prefix, text *out);
// Defines the macros of input k, the offsets, for kernels/shared/segments.h; k is -1 if segments
// have one size.
void problem_define_offsets(const problem *p, int k, text *out);
// The same of input k, the ends; there are none if p has no such input.
void problem_define_ends(const problem *p, int k, text *out);
// Defines for kernels/shared/radix.h the properties of the keys.
void problem_define_keys(const problem *p, text *out);
// Defines TUNE_VALUE and TUNE_VALUE_WIDTH, of the values that keys take along.
void problem_define_values(const problem *p, text *out);
// Defines TUNE_EQUAL if problem_take_equal was given an expression.
void problem_define_equal(const problem *p, text *out);
void problem_define_expression(text *out, const char *name, const char *expression);
// Has each product and each sum rounded by itself: see device_source_rounds.
void problem_define_rounding(text *out);
// TUNE_LOAD 0 where an output is an input: memory that the kernel itself writes must not be read
// through the read-only path.
void problem_define_plain_loads(const problem *p, text *out);
// The size of a struct of the kernels that has a value and then an integer of `word` bytes.
int problem_pair_bytes(cubc_type value, int word);
// sizeof(acc_t) of kernels/shared/operator.h; the kernels assert that the two agree.
int problem_acc_bytes(const problem *p);

// ---- variants ----------------------------------------------------------------------------------
// The limits that hold for any kernel with ipt, tpb and ipv; item_bytes is what a thread keeps of
// an item in registers.
const char *problem_invalid(const problem *p, const char *kind, const space *s, const variant *v,
                            int item_bytes);
// The same of a kernel whose threads take as many columns as a vector has items, with an
// accumulator each in shared memory.
const char *problem_invalid_columns(const problem *p, const char *kind, const space *s,
                                    const variant *v);
// The type that policies go by: the problem's, or a wider one that a lazy input reads or that sums
// of a scan have. A thread's loads are then no wider, and its registers no more, than those of the
// benchmark that the policy was found with.
cubc_type problem_policy_type(const problem *p);
// A call's value on each of the axes; 0 beyond.
void problem_axis_values(const problem *p, uint64_t values[POLICY_AXES]);
// Items of a tile of kernels/grid/deterministic.h, by their bytes.
uint64_t problem_deterministic_tile(uint64_t bytes);

// ---- launches ----------------------------------------------------------------------------------
// Replaces argument `at`, the pointer of input k if that is plain, by what stands for the input. Of
// several inputs the one that comes last in the arguments is placed first.
cubc_status problem_place_input(const problem *p, int k, launch *l, int at);
// The same of an input that most calls lack: the arguments from `at` on make room for it.
cubc_status problem_insert_input(const problem *p, int k, launch *l, int at);
// Appends init and has_init, the last arguments of a kernel that begins with a value.
void problem_append_init(const problem *p, launch *l);
// Fails with CUBC_INVALID_ARGUMENT if a launch would need more than 2^31 blocks for p's items.
cubc_status problem_check_blocks(const problem *p, uint64_t blocks);
// The cluster that a launch of `blocks` blocks is to be (kernels/grid/cluster.h); 0 where the
// variant does not ask for one, the device has none, or the blocks are too many for it.
unsigned problem_cluster(const instance *i, uint64_t blocks);
// The most blocks of a kernel that can be one cluster and send to one another's shared memory
// (kernels/grid/cluster_send.h); 1 where the variant asks for none, or there are none.
unsigned problem_cluster_most(const instance *i, int kernel);

// ---- benchmarks --------------------------------------------------------------------------------
// The types that benchmarks range over.
extern const cubc_type problem_all_types[]; // the real numbers, 12 of them
enum { PROBLEM_ALL_TYPES = 12 };
extern const int problem_elements[4]; // 2^16, 2^20, 2^24, 2^28
// A benchmark of all types and these numbers of elements: its name, then further members.
#define AXIS(values) {values, COUNT_OF(values)}
#define BENCHMARK_OF(...)               \
    {.types = problem_all_types,        \
     .type_count = PROBLEM_ALL_TYPES,   \
     .axes[0] = AXIS(problem_elements), \
     .name = __VA_ARGS__}
// The place of an array in the parameters of a benchmark's call: no two of them overlap, and none
// has memory yet.
#define BENCHMARK_ARRAY(k) ((void *)((uintptr_t)((k) + 1) << 58))
// Steps of a problem on a kind of device: algorithm.h. 0: it runs by itself.
uint64_t problem_steps(const problem *p, const char *kind);
// The benchmark that stands for the problem: family, such as "reduce.", and name.
void problem_set_benchmark(problem *p, const char *family, const char *name);
// Keys of all bits, for a descriptor's `random`. A float from a random number would have few
// exponents.
const char *problem_random_bits(const problem *p, int k);
// The same of offsets, by the axis SegmentSize: lengths are drawn from 1 to about twice that.
extern const char problem_random_offsets[];

#endif
