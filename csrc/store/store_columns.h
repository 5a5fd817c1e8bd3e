// The columns of a store: each is one line here.
//
// The text of the tables, the statements that read and write rows, the binding to Python and the
// checksum of a row all follow from these lines. A new column is a line here, a member in store.h
// and a new version in store_schema.c, where the text of the version before becomes a literal.
#ifndef CUBC_STORE_COLUMNS_H
#define CUBC_STORE_COLUMNS_H

#include "store/store.h"

typedef enum store_kind {
    STORE_ID,     // int64_t, the number of a row of another table
    STORE_TEXT,   // const char *
    STORE_COUNT,  // int, not negative
    STORE_STATE,  // int64_t
    STORE_REAL,   // double, not negative and finite
    STORE_MEDIAN, // double, NULL where there are no samples
    STORE_SERIES, // store_series
} store_kind;

// X(table, kind, column, name, member, most): the table by its letter in statements (m measurement,
// b benchmark, d device, e environment), the column there, its name in Python, the member of
// store_record, and the most bytes that a text or a series may have.
#define STORE_BENCHMARK(X)                                         \
    X(b, STORE_TEXT, name, "benchmark", row.benchmark, STORE_NAME) \
    X(b, STORE_TEXT, axes, "axes", row.axes, STORE_AXES)

#define STORE_DEVICE(X)                                               \
    X(d, STORE_TEXT, uuid, "device_uuid", device_uuid, STORE_NAME)    \
    X(d, STORE_TEXT, model, "device_model", device_model, STORE_NAME) \
    X(d, STORE_TEXT, name, "device_name", device_name, STORE_NAME)    \
    X(d, STORE_TEXT, arch, "arch", arch, STORE_NAME)                  \
    X(d, STORE_STATE, units, "units", units, 0)                       \
    X(d, STORE_STATE, ecc, "ecc", ecc, 0)

#define STORE_ENVIRONMENT(X)                                     \
    X(e, STORE_TEXT, driver, "driver", driver, STORE_NAME)       \
    X(e, STORE_TEXT, runtime, "runtime", runtime, STORE_NAME)    \
    X(e, STORE_TEXT, compiler, "compiler", compiler, STORE_NAME) \
    X(e, STORE_TEXT, version, "version", version, STORE_NAME)

// The columns that tell measurements apart. A row is never changed in these.
#define STORE_KEY(X)                                                          \
    X(m, STORE_ID, device_id, "device_id", device_id, 0)                      \
    X(m, STORE_ID, environment_id, "environment_id", environment_id, 0)       \
    X(m, STORE_ID, benchmark_id, "benchmark_id", benchmark_id, 0)             \
    X(m, STORE_TEXT, source_hash, "source_hash", row.source_hash, STORE_NAME) \
    X(m, STORE_TEXT, ct, "ct", row.ct, STORE_LABEL)                           \
    X(m, STORE_TEXT, variant, "variant", row.variant, STORE_LABEL)            \
    X(m, STORE_TEXT, rt, "rt", row.rt, STORE_LABEL)                           \
    X(m, STORE_COUNT, round, "round", row.round, 0)

#define STORE_RESULT(X)                                                                    \
    X(m, STORE_TEXT, status, "status", row.status, STORE_NAME)                             \
    X(m, STORE_TEXT, message, "message", row.message, STORE_MESSAGE)                       \
    X(m, STORE_TEXT, created, "created", created, STORE_NAME)                              \
    X(m, STORE_SERIES, samples, "samples", row.samples, STORE_SERIES_BYTES)                \
    X(m, STORE_SERIES, base_samples, "base_samples", row.base_samples, STORE_SERIES_BYTES) \
    X(m, STORE_SERIES, clocks, "clocks", row.clocks, STORE_SERIES_BYTES)                   \
    X(m, STORE_SERIES, base_clocks, "base_clocks", row.base_clocks, STORE_SERIES_BYTES)    \
    X(m, STORE_MEDIAN, center, "center", center, 0)                                        \
    X(m, STORE_MEDIAN, base_center, "base_center", base_center, 0)                         \
    X(m, STORE_COUNT, given_up, "given_up", row.given_up, 0)                               \
    X(m, STORE_COUNT, checked, "checked", row.checked, 0)                                  \
    X(m, STORE_REAL, bytes, "bytes", row.bytes, 0)                                         \
    X(m, STORE_REAL, flops, "flops", row.flops, 0)                                         \
    X(m, STORE_REAL, hot, "hot", row.hot, 0)                                               \
    X(m, STORE_REAL, temperature, "temperature", row.temperature, 0)                       \
    X(m, STORE_REAL, power, "power", row.power, 0)                                         \
    X(m, STORE_COUNT, registers, "registers", row.registers, 0)                            \
    X(m, STORE_COUNT, local_bytes, "local_bytes", row.local_bytes, 0)                      \
    X(m, STORE_COUNT, shared_bytes, "shared_bytes", row.shared_bytes, 0)                   \
    X(m, STORE_COUNT, blocks_per_unit, "blocks_per_unit", row.blocks_per_unit, 0)

// In the order in which a row is read.
#define STORE_COLUMNS(X) \
    STORE_BENCHMARK(X) STORE_DEVICE(X) STORE_ENVIRONMENT(X) STORE_KEY(X) STORE_RESULT(X)

#define STORE_PLUS_ONE(...) +1
enum {
    STORE_NAME = 1024,  // bytes of a name
    STORE_LABEL = 4096, // of a variant, of a workload
    STORE_MESSAGE = 16384,
    STORE_AXES = 1 << 18,
    // Ranges in the table.
    STORE_DEVICE_AT = 0 STORE_BENCHMARK(STORE_PLUS_ONE),
    STORE_ENVIRONMENT_AT = STORE_DEVICE_AT STORE_DEVICE(STORE_PLUS_ONE),
    STORE_KEY_AT =
        STORE_ENVIRONMENT_AT STORE_ENVIRONMENT(STORE_PLUS_ONE), // of table m up to the end
    STORE_COLUMN_COUNT = 0 STORE_COLUMNS(STORE_PLUS_ONE)
};

typedef struct store_column {
    const char *name; // in Python
    store_kind kind;
    size_t offset; // in store_record
    size_t most;   // bytes
} store_column;
extern const store_column store_columns[STORE_COLUMN_COUNT];

#endif
