// Policies: which variant an architecture runs for a compile-time workload.
//
// policies.def holds the shipped rows; rows taken from a store are overlaid and win. Lookup goes
// from the particular to the general: overlaid before shipped; the nearest architecture at or below
// the device's; rows for so many items, "reduce.tiny" or "reduce.sum.middle", before those for
// more; the exact benchmark before the algorithm's wildcard; the exact type before its size before
// "B*", the sizes that are not 1, 2, 4 or 8, before any. So every workload has a policy, and a more
// particular row is only ever a refinement.
#ifndef CUBC_POLICY_H
#define CUBC_POLICY_H

#include "base/base.h"

// The greatest part of a call's time: the steps of a few blocks, which may be one cluster, up to
// 2^16 items; its steps, up to 2^20; what others have left to be written in the caches, up to 2^25;
// its bytes. Tiny ones take the shipped rows of small ones where they have none. (Sorts of up to
// 2^22 items are benchmarks of their own.)
typedef enum policy_size { POLICY_ANY_SIZE, POLICY_TINY, POLICY_SMALL, POLICY_MIDDLE } policy_size;

policy_size policy_size_of(uint64_t items);
// The end of the names of its rows: "tiny"; "" of those for any number.
const char *policy_size_name(policy_size size);

typedef struct policy_key {
    const char *arch;      // "sm_90", "cpu"
    const char *algorithm; // "reduce"
    const char *benchmark; // "reduce.sum"
    const char *type;      // "F32"
    size_t type_size;      // 4
    policy_size size;      // POLICY_ANY_SIZE where rows for a size do not count
    // Rows that it refuses are left out, unless it refuses all; NULL: it refuses none.
    bool (*accepts)(const void *context, const char *label);
    const void *context;
} policy_key;

// The architecture with a number, among those that have shipped rows, from 0 on in the table's
// order; NULL if there are not so many.
const char *policy_arch(size_t number);
// The label of the shipped row (the base), borrowed for the life of the process.
cubc_status policy_base(const policy_key *key, const char **label);
// The same with overlaid rows first; copied because an overlay may be dropped at any time.
cubc_status policy_find(const policy_key *key, char *label, size_t size);
// Overlays a row for calls of one benchmark, type and size, and of no other size. The label must
// have been checked (variant_parse).
cubc_status policy_overlay(const char *arch, const char *benchmark, const char *type,
                           policy_size size, const char *label);
void policy_clear(void);
// Grows with every overlay and clear: compiled policies of an older generation are stale.
unsigned policy_generation(void);
void policy_renew(void); // begins a generation without a change, so that all are looked up again

#endif
