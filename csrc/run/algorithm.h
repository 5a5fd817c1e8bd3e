// The definition of an algorithm: parameters of public calls, descriptors.
//
// An algorithm is one kernel file plus one descriptor (csrc/primitives/<name>.c). The descriptor
// says which operands and types there are, which variants make sense, what is launched and how many
// bytes must move; everything else is derived: macros, search spaces, benchmarks, store keys,
// temporary storage. Built-in primitives have no other way in.
//
// Life of a call: the caller fills a `problem` (problem.h); its compile-time part selects an
// `instance` (a variant, chosen by policy, compiled and loaded: instance.h); the descriptor turns
// problem and instance into a `plan` (launches and their arguments: plan.h), which is queued on the
// stream.
#ifndef CUBC_ALGORITHM_H
#define CUBC_ALGORITHM_H

#include "run/plan.h"
#include "run/problem.h"

enum { MAX_KERNELS = 6, MAX_CPU_UNUSED = 6, MAX_FIELDS = 32 };

// ---- public parameters --------------------------------------------------------------------------
// The meaning of a member of a public parameter struct (cubc.h), so that a binding can fill it in
// by name. Offsets are within the struct; 0 stands for none where a field may lack something.
typedef enum field_kind {
    FIELD_INPUT,   // const void *: an array
    FIELD_LAZY,    // the same, or a cubc_lazy: then the type at type_at, which is no other input's,
                   // is CUBC_LAZY
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
    bool makes_structs; // policies of lazy structs go by the bytes that they are made of,
                        // where the operator is commutative
    bool keeps_sums; // a thread has a sum for each of its items: policies go by the wider of both
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
    // Puts the outputs of a benchmark in an order that all variants' have, in which they are
    // compared. NULL: they are in one.
    cubc_status (*arrange)(cubc_device *device, const problem *p);
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
