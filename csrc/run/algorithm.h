// The definition of an algorithm: problems, plans, parameters of public calls, descriptors.
//
// An algorithm is one kernel file plus one descriptor (csrc/primitives/<name>.c). The descriptor
// says which operands and types there are, which variants make sense, what is launched and how many
// bytes must move; everything else is derived: macros, search spaces, benchmarks, store keys,
// temporary storage. Built-in primitives have no other way in.
//
// Life of a call: the caller fills a `problem`; its compile-time part selects an `instance` (a
// variant, chosen by policy, compiled and loaded); the descriptor turns problem and instance into a
// `plan` (launches and their arguments), which is queued on the stream.
#ifndef CUBC_ALGORITHM_H
#define CUBC_ALGORITHM_H

#include "compile/policy.h"
#include "compile/variant.h"
#include "cubc.h"
#include "device/device.h"
#include "run/operator.h"

#include <string.h>

enum {
    MAX_KERNELS = 6,
    MAX_CPU_UNUSED = 6,
    MAX_LAUNCHES = 32, // of one call: 2^31 tiles are merged in 31 rounds
    MAX_ARGS = 40,
    MAX_INPUTS = 12,
    MAX_OPERANDS = 8, // of all lazy inputs
    MAX_OUTPUTS = 8,
    MAX_LAZY = 2, // inputs of one call
    MAX_TEXTS = 40,
    MAX_FIELDS = 32,
    MAX_AXES = 5 // that operands of a lazy input need to be told apart along
};

typedef struct algorithm algorithm;

// ---- problems ---------------------------------------------------------------------------------
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

// ---- plans --------------------------------------------------------------------------------------
typedef struct instance instance; // a loaded variant: instance.h

typedef struct launch {
    host_step before; // taken before the launch, if there is one
    const device_kernel *kernel;
    launch_shape shape;
    // Bit k: argument k is an offset into the plan's messages or scratch and becomes an address.
    uint64_t message_args, scratch_args;
    size_t args_count;
    uint64_t args[MAX_ARGS];
} launch;

// Appends an argument. One that there is no room for is counted, and plan_place refuses the launch.
static inline void launch_add(launch *l, uint64_t value)
{
    if (l->args_count < MAX_ARGS) l->args[l->args_count] = value;
    l->args_count++;
}

typedef struct plan {
    size_t message_bytes; // temporary storage for messages between blocks (message.h)
    size_t scratch_bytes; // temporary storage with whatever was there, on 256 bytes
    size_t cleared_bytes; // of the scratch, from its start, that are zero before the first launch
    int launch_count;
    launch launches[MAX_LAUNCHES];
} plan;

// ---- public parameters --------------------------------------------------------------------------
// The meaning of a member of a public parameter struct (cubc.h), so that a binding can fill it in
// by name. Offsets are within the struct; 0 stands for none where a field may lack something.
typedef enum field_kind {
    FIELD_INPUT,   // const void *: an array
    FIELD_LAZY,    // the same, or a cubc_lazy; its type is at type_at, where no other input has its
                   // own
    FIELD_OUTPUT,  // void *: an array
    FIELD_CHANGED, // the same, of which what was there before is read, or a part of it stays
    FIELD_TEXT,    // const char *
    FIELD_INT,     // int
    FIELD_COUNT,   // uint64_t
    FIELD_REAL,    // double
    FIELD_TYPE,    // cubc_type
    FIELD_RANKS,   // cubc_ranks *
    FIELD_VALUE    // const void *: one value of the type at type_at, in host memory or, if row_at
                   // says so, in the device's
} field_kind;

typedef struct field {
    const char *name;
    field_kind kind;
    uint16_t at;
    uint16_t type_at;  // of an array: where the type of its items goes
    uint16_t count_at; // of an array: where the number of its items goes
    // The place of an int: of an array with an item a row the bytes of a row; of a value 1 if it is
    // in the device's memory, else 0.
    uint16_t row_at;
} field;

// Arrays that name the same member for their type or count must agree in it.
#define FIELD(params, name, kind) {#name, kind, offsetof(params, name), 0, 0, 0}
#define FIELD_ARRAY(params, name, kind, type, count) \
    {#name, kind, offsetof(params, name), offsetof(params, type), offsetof(params, count), 0}
#define FIELD_UNTYPED(params, name, kind, count) \
    {#name, kind, offsetof(params, name), 0, offsetof(params, count), 0}

// A descriptor's table of fields, for which there has to be room in a call.
#define FIELDS(table)                                                                           \
    .fields = (table),                                                                          \
    .field_count = COUNT_OF(table) + 0 * sizeof(struct {                                        \
                                         _Static_assert(COUNT_OF(table) <= MAX_FIELDS, #table); \
                                         char none;                                             \
                                     })

// ---- descriptors --------------------------------------------------------------------------------
typedef struct benchmark_axis {
    const int *values;
    int count;
} benchmark_axis;

typedef struct benchmark {
    const char *name;       // "reduce.sum"
    const cubc_type *types; // the T{ct} axis
    int type_count;
    // Values that a search is for, by the algorithm's run-time axes. Those of Elements are
    // exponents of two. None: the benchmark has no such axis.
    benchmark_axis axes[POLICY_AXES];
    // The parameters of its public call, but for types and sizes, with a BENCHMARK_ARRAY for each
    // array: a cubc_<name>_params of this algorithm, or of one whose calls come to it (routes.c).
    const void *call;
} benchmark;

struct algorithm {
    const char *name;                 // "reduce"
    const char *source;               // "reduce.cu"
    const char *kernels[MAX_KERNELS]; // entry points in launch order
    // False for kernels, after the first, that a problem does not have; NULL: it has all.
    bool (*has_kernel)(const problem *p, int k);
    // The entry points of the CPU's own variants, of one thread a block, where they are another
    // kernel (kernels/cpu). NULL: they are of `source`, as GPUs' variants on the CPU always are.
    const char *cpu_source, *cpu_kernels[MAX_KERNELS];
    // Macros of `define` that the CPU's own variants do not use: calls that differ in them alone
    // share a kernel.
    const char *cpu_unused[MAX_CPU_UNUSED];
    const char *axes[POLICY_AXES + 1]; // run-time axes that policies go by; none: Elements
    bool makes_structs; // policies of lazy structs go by the bytes that they are made of
    const benchmark *benchmarks;
    int benchmark_count;
    const field *fields; // of cubc_<name>_params; none where a binding has glue of its own
    int field_count;
    int keys; // 1 + the input whose keys' number and order make calls differ (run/keys.h); 0: none
    const char *keyed;   // the only benchmark whose calls have keys; NULL: all have them
    bool keys_fill_type; // a benchmark's keys are of the type's whole range, unlike a call's
    const void *details; // a table of the descriptor's own, for functions that several share

    // Makes a benchmark's problem: adds types and sizes to the parameters of its public call, and
    // goes that call's way. at: a value of each axis, 0 where the benchmark lacks the axis.
    cubc_status (*workload)(const benchmark *b, cubc_type type, const uint64_t *at, problem *out);
    // Completes a problem that routes.c has made: its benchmark, and what else its code depends on.
    // call: the reduction (primitives/reduction.h), or the parameters of the public call. NULL: the
    // algorithm's own call leads to it alone.
    void (*complete)(const void *call, problem *p);
    // Finds a call's value on each axis; NULL: there is one axis, the number of items.
    void (*axis_values)(const problem *p, uint64_t *values);
    // The compile-time workload as macros, in front of the source.
    void (*define)(const problem *p, text *out);
    // Returns why a variant makes no sense on this kind of device, or NULL, without compiling.
    const char *(*invalid)(const problem *p, const char *kind, const space *s, const variant *v);
    // out comes with all counts 0.
    cubc_status (*plan)(const problem *p, const instance *i, plan *out);
    // Steps of a call that other algorithms take one after the other: how many on a kind of device,
    // 0 where it has a plan of its own, and the problem of one, which may point into *out. NULL: it
    // always has its own.
    uint64_t (*step_count)(const problem *p, const char *kind);
    cubc_status (*step)(const problem *p, uint64_t k, problem *out);
    // Compulsory traffic in bytes.
    double (*traffic)(const problem *p);
    // Floating-point operations that the result takes; NULL, or 0: not counted.
    double (*flops)(const problem *p);
    // The items of a benchmark's input k: an expression of seed, of the index i, and of the
    // run-time axes by their names. NULL, or a result of NULL: as workload.c has it.
    const char *(*random)(const problem *p, int k);
};

#define ALGORITHM(name) extern const algorithm name##_algorithm;
#define WITHOUT_CALL ALGORITHM
#include "run/list.def"
#undef ALGORITHM
extern const algorithm *const algorithm_list[]; // ends with NULL
// A benchmark by its full name; unknown: CUBC_NOT_FOUND with the nearest.
cubc_status benchmark_find(const char *name, const algorithm **a, const benchmark **b);

// ---- problems from the public parameters --------------------------------------------------------
// Each in its descriptor's file, those of reductions and scans in routes.c; they check what a
// caller can get wrong.
#define ALGORITHM(name) \
    cubc_status name##_problem(const cubc_##name##_params *params, problem *out);
#include "run/list.def"
#undef ALGORITHM
// The same by the algorithm: params is a cubc_<name>_params.
cubc_status algorithm_problem(const algorithm *a, const void *params, problem *out);

// ---- variants -----------------------------------------------------------------------------------
// The text that is compiled for a variant: macros and kernel. workload_hash: SHA-256 of the part
// that all variants of this workload share.
cubc_status algorithm_source(const problem *p, const char *arch, const space *s, const variant *v,
                             text *out, char workload_hash[65]);
cubc_status algorithm_space(const algorithm *a, const char *arch, space *out);
// "base" or a label to a variant that is valid for the problem, and the space that it is of: on the
// cpu that of cuda for a label outside the cpu's own ranges.
cubc_status algorithm_variant(const problem *p, const char *arch, const char *label, space *s,
                              variant *v, char resolved[MAX_LABEL]);
// The entry points of a variant's kernels: MAX_KERNELS, ending with NULL if they are fewer.
const char *const *algorithm_kernels(const algorithm *a, const char *arch, unsigned threads);
// The rows of policies for a problem on an arch; release with policy_list_free. Overlaid ones that
// it cannot run are left out, and noted (run/notes.h).
cubc_status algorithm_policies(const problem *p, const char *arch, policy_list *out);
// Notes that a call passes an overlaid policy over, for the reason of the last error.
void algorithm_note_refusal(void);
// The names of an algorithm's run-time axes, up to POLICY_AXES; ends with NULL.
const char *const *algorithm_axes(const algorithm *a);
bool algorithm_has_elements(const algorithm *a); // the first axis is Elements

#endif
