// The store of measurements: one SQLite file, safe for several processes at once.
//
// A row is keyed by what makes two timings comparable: the physical device (by UUID), the versions
// of driver, runtime and compiler, the hash of the kernel source with its compile-time workload,
// the benchmark, the variant and the run-time workload; and by the round, since what did best is
// measured again. Raw samples are kept in measured order, the base's samples taken alongside with
// them. Rows are only ever added: a row that is already there is left alone, and a kill at any
// moment loses nothing that store_add returned for.
//
// Files are not trusted: a corrupt, foreign, locked, read-only or newer file gives
// CUBC_STORE_ERROR with what to do next.
#ifndef CUBC_STORE_H
#define CUBC_STORE_H

#include "device.h"

typedef struct store store;

typedef struct store_row {
    const char *benchmark;   // "reduce.sum"
    const char *axes;        // declared axes, as JSON: [["Elements{io}[pow2]", [16, 20, 24, 28]]]
    const char *source_hash; // of the flattened kernel source with its compile-time workload
    const char *ct;          // compile-time workload "T{ct}=F32"
    const char *variant;     // "base", "ipt_19.tpb_512"
    const char *rt;          // run-time workload "Elements{io}[pow2]=28"
    int round;               // 0: of the search; from 1: measured again
    const char *status;      // "ok", "lost", "pruned", "compile_error", "fault", "timeout",
                             // "wrong" or "resources", see cubc/tuner/status.py
    const char *message;     // for a failure; else ""
    const float *samples;    // seconds, in measured order
    size_t sample_count;
    const float *base_samples; // of the base, sampled alongside; empty for the base itself
    size_t base_count;
    const float *clocks; // hertz, one a sample; NULL if unknown
    const float *base_clocks;
    int given_up;              // 1: sampling ended early, since it could not win any more
    double bytes, flops;       // that the work must move and do; 0 if unknown
    double hot_s;              // mean of runs that follow each other; 0 if not measured
    double temperature, power; // degrees Celsius and watts while it ran; 0 if unknown
    int registers, local_bytes, shared_bytes, blocks_per_unit;
} store_row;

typedef struct store_record { // a row as read back; strings live until the next step
    int64_t id;
    store_row row;
    double center, base_center; // medians in seconds; NaN where there are no samples
    int64_t device_id, environment_id;
    int64_t units, ecc; // of the device
    const char *device_uuid, *device_model, *device_name, *arch;
    const char *driver, *runtime, *compiler, *version;
    const char *created; // ISO 8601, UTC
} store_record;

enum { STORE_READ = 1, STORE_CREATE = 2 };
cubc_status store_open(const char *path, int mode, store **out);
void store_close(store *s);
// How long a call waits for another process's lock before it fails; 10 s unless said.
void store_set_wait(store *s, double seconds);
// The device (and environment) that rows added from here on were measured on.
// One GPU with ECC switched, or one cpu with fewer units, counts as another device.
cubc_status store_device(store *s, const device_info *info, const char *version);
// Adds one row, durable on return. A row of the same key is left as it was, unless it says only
// that the variant was not worth a measurement ("lost", "pruned") and this one measures it; *added
// says which.
cubc_status store_add(store *s, const store_row *row, bool *added);
// Whether a row with this key, for the current device and environment, is there.
cubc_status store_has(store *s, const store_row *key, bool *found);

// Iteration over all rows, in order of id: begin, then next until *more is false, then end (before
// the store is closed). A damaged row is CUBC_STORE_ERROR naming its id; next then goes on after
// it.
typedef struct store_cursor store_cursor;
cubc_status store_begin(store *s, store_cursor **out);
cubc_status store_next(store_cursor *c, store_record *record, bool *more);
void store_end(store_cursor *c);

#endif
