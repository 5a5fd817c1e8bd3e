// The store of measurements: one SQLite file, safe for several processes at once.
//
// A row is keyed by what makes two timings comparable: the physical device (by UUID), the versions
// of driver, runtime and compiler, the hash of the kernel source with its compile-time workload,
// the benchmark, the variant and the run-time workload; and by the round, since what did best is
// measured again. Raw samples are kept in measured order, the base's samples taken alongside with
// them. Rows are only ever added: a row that is already there is left alone, and a kill at any
// moment loses nothing that store_add returned for.
//
// Trust. A store may come from anybody, damaged or made to harm. One rule for all reading: the core
// copies the file and the committed frames of its log into memory and hands SQLite that copy only
// (store_image.h). A reader therefore writes nothing, plays no journal back and needs no right but
// to read. A file is a store if every statement of its schema is one of ours, letter by letter
// (store_schema.c); this is looked at in the copy, after the log was applied. Every value is
// bounded and checked, and a row has a checksum over all that was stored of it. A writer opens the
// file itself, after the same look at its schema; SQLite then finishes what a killed writer left
// half done, unless the journal names another file to delete: then it is refused. A corrupt,
// foreign, locked, read-only or newer file gives CUBC_STORE_ERROR with what to do next.
#ifndef CUBC_STORE_H
#define CUBC_STORE_H

#include "device/device.h"

typedef struct store store;

// float32, in measured order.
typedef struct store_series {
    const float *values;
    size_t count;
} store_series;
enum { STORE_SERIES_BYTES = 1 << 20 }; // at most

typedef struct store_row {
    const char *benchmark;     // "reduce.sum"
    const char *axes;          // declared axes, as JSON: [["Elements{io}[pow2]", [16, 20, 24, 28]]]
    const char *source_hash;   // of the flattened kernel source with its compile-time workload
    const char *ct;            // compile-time workload "T{ct}=F32"
    const char *variant;       // "base", "ipt_19.tpb_512"
    const char *rt;            // run-time workload "Elements{io}[pow2]=28"
    int round;                 // 0: of the search; from 1: measured again
    const char *status;        // "ok", "lost", "pruned", "compile_error", "fault", "timeout",
                               // "wrong" or "resources", see cubc/tuner/_status.py
    const char *message;       // for a failure; else ""
    store_series samples;      // seconds
    store_series base_samples; // of the base, sampled alongside; empty for the base itself
    store_series clocks, base_clocks; // hertz, one a sample; empty if unknown
    int given_up;                     // 1: sampling ended early, since it could not win any more
    int checked;                      // launches whose output was verified; 0 if unknown
    double bytes, flops;              // that the work must move and do; 0 if unknown
    double hot;                       // mean of runs that follow each other; 0 if not measured
    double temperature, power;        // degrees Celsius and watts while it ran; 0 if unknown
    int registers, local_bytes, shared_bytes, blocks_per_unit;
} store_row;

typedef struct store_record { // a row as read back; strings live until the next step
    store_row row;
    int64_t id;
    double center, base_center; // medians in seconds; NaN where there are no samples
    int64_t device_id, environment_id, benchmark_id;
    int64_t units, ecc; // of the device
    const char *device_uuid, *device_model, *device_name, *arch;
    const char *driver, *runtime, *compiler, *version;
    const char *created; // ISO 8601, UTC
} store_record;

enum { STORE_READ = 1, STORE_CREATE = 2 };
cubc_status store_open(const char *path, int mode, store **out);
void store_close(store *s);
// The time that a call waits for another process's lock before it fails; 10 s unless said.
void store_set_wait(store *s, double seconds);
// The device (and environment) that rows added from here on were measured on.
// One GPU with ECC switched, or one cpu with fewer units, counts as another device.
cubc_status store_device(store *s, const device_info *info, const char *version);
// Adds one row, durable on return; a message that is too long is cut. A row of the same key is left
// as it was, unless it says only that the variant was not worth a measurement ("lost", "pruned")
// and this one measures it; *added says which.
cubc_status store_add(store *s, const store_row *row, bool *added);
// Tells if a row with this key, for the current device and environment, is there.
cubc_status store_has(store *s, const store_row *key, bool *found);

// Iteration over all rows, in order of id: begin, then next until *more is false, then end (before
// the store is closed). A store that is open for reading is as it was when it was opened. A row
// that is damaged, or whose checksum is not that of its values, is CUBC_STORE_ERROR naming its id;
// next then goes on after it.
typedef struct store_cursor store_cursor;
cubc_status store_begin(store *s, store_cursor **out);
cubc_status store_next(store_cursor *c, store_record *record, bool *more);
void store_end(store_cursor *c);

#endif
