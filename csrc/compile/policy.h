// Policies: the variant that calls of a compile-time workload run on an architecture.
//
// A call has a value on each run-time axis of its algorithm (elements, length of segments, bins,
// ...); a row holds for a range of each. policies.def holds the shipped rows. Lookup goes from the
// particular to the general: the nearest architecture at or below the device's, but not one whose
// blocks have more shared memory; the exact benchmark before one whose name is the first words of
// its name, such as the algorithm's; the narrower ranges before the wider; the exact type before
// its size before "B*", the sizes that are not 1, 2, 4 or 8, before any. Every workload has a row
// for all calls, so a more particular row is only ever a refinement.
//
// Rows that a search found are overlaid. Such a row was measured at one point, beside the shipped
// row that holds there. It holds for calls of the same shipped row up to two octaves away on each
// axis; where several hold, the nearest wins.
#ifndef CUBC_POLICY_H
#define CUBC_POLICY_H

#include "compile/variant.h"

enum { POLICY_AXES = 6 };

typedef struct policy_range {
    uint64_t from, to; // both belong to it
} policy_range;

typedef struct policy {
    char label[MAX_LABEL];
    policy_range ranges[POLICY_AXES];
    bool overlaid;
    int arch;                          // number of its architecture
    uint64_t axis_values[POLICY_AXES]; // of an overlaid row: where it was measured
    int beside; // the shipped row that it was measured beside; -1: it is for any call
} policy;

// The rows of one compile-time workload on one architecture, in the order of preference: overlaid
// ones first.
typedef struct policy_list {
    policy *rows;
    int count;
} policy_list;

typedef struct policy_key {
    const char *arch;        // "sm_90", "cpu"
    const char *algorithm;   // "reduce"
    const char *benchmark;   // "reduce.sum"
    const char *type;        // "F32"
    size_t type_size;        // 4
    const char *const *axes; // names of the run-time axes, up to POLICY_AXES, ends with NULL
    // False of a variant that the call cannot run. Shipped rows of such variants come last, and
    // overlaid ones do not count. NULL: it can run all.
    bool (*accepts)(const void *context, const char *label);
    // Called with an overlaid row for `axis_values` that it cannot run; or NULL. Both functions are
    // called with the policies' lock held.
    void (*refused)(const void *context, const char *label);
    const uint64_t *axis_values;
    const void *context;
} policy_key;

// The architecture with a number, counted from 0, of those that have shipped rows; NULL past the
// last.
const char *policy_arch(size_t number);
// Lists the rows for a key; release with policy_list_free. Fails if there is none for all calls.
cubc_status policy_list_make(const policy_key *key, policy_list *out);
void policy_list_free(policy_list *l);
// The row that a call runs, which has a value on each axis. NULL: no call in particular, for
// which only rows without ranges count. base: overlaid rows do not count.
int policy_choose(const policy_list *l, const uint64_t *values, bool base);
// Orders the shipped rows of the nearest architecture by the octaves from a call's values to their
// ranges, the nearest first, and returns how many there are. `order` has room for a number of each
// row.
int policy_by_distance(const policy_list *l, const uint64_t *values, int *order);
// Appends the ranges of a row, "Elements=0:65536"; nothing for one that holds for all calls.
void policy_range_text(const policy *row, const char *const *axes, text *out);
// Overlays a row. It replaces one of the same key and values; for any call, values NULL, it
// replaces all of the same key. The label must have been checked (variant_parse).
cubc_status policy_overlay(const char *arch, const char *benchmark, const char *type,
                           const uint64_t *values, const char *label);
void policy_clear(void);
// Grows with every overlay and clear: lists of an older generation are stale.
unsigned policy_generation(void);
void policy_renew(void); // begins a generation without a change, so that all are looked up again

#endif
