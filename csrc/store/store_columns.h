// The columns of a store: each is one line here.
//
// The members of a row, the text of the tables, the statements that read and write rows, the
// binding to Python and the checksum of a row all follow from these lines. A new column is a line
// at the end of STORE_RESULT, with the version of the schema that has it first, and that version in
// store_schema.c.
#ifndef CUBC_STORE_COLUMNS_H
#define CUBC_STORE_COLUMNS_H

#include "device/device.h"

typedef struct store_series { // float32, in measured order
    const float *values;
    size_t count;
} store_series;

typedef enum store_kind {
    STORE_ID,     // the number of a row of another table
    STORE_TEXT,   //
    STORE_COUNT,  // not negative
    STORE_STATE,  //
    STORE_REAL,   // not negative and finite
    STORE_MEDIAN, // NULL where there are no samples
    STORE_SERIES, // each positive and finite
} store_kind;
#define STORE_TYPE_STORE_ID int64_t
#define STORE_TYPE_STORE_TEXT const char *
#define STORE_TYPE_STORE_COUNT int
#define STORE_TYPE_STORE_STATE int64_t
#define STORE_TYPE_STORE_REAL double
#define STORE_TYPE_STORE_MEDIAN double
#define STORE_TYPE_STORE_SERIES store_series

// X(since, table, kind, from, column, name, most): the version of the schema that has it first; the
// table by its letter in statements (m measurement, b benchmark, d device, e environment); whether
// a caller has GIVEN it, in store_row, or it was STORED with the row, in store_record; the column
// in the table; the member and the name in Python; the most bytes of a text or a series.
#define STORE_BENCHMARK(X)                                                   \
    X(1, b, STORE_TEXT, GIVEN, name, benchmark, STORE_NAME) /* reduce.sum */ \
    /* as JSON: [["Elements{io}[pow2]", [16, 20, 24, 28]]] */                \
    X(1, b, STORE_TEXT, GIVEN, axes, axes, STORE_AXES)

#define STORE_DEVICE(X)                                          \
    X(1, d, STORE_TEXT, STORED, uuid, device_uuid, STORE_NAME)   \
    X(1, d, STORE_TEXT, STORED, model, device_model, STORE_NAME) \
    X(1, d, STORE_TEXT, STORED, name, device_name, STORE_NAME)   \
    X(1, d, STORE_TEXT, STORED, arch, arch, STORE_NAME)          \
    X(1, d, STORE_STATE, STORED, units, sm_count, 0)             \
    X(1, d, STORE_STATE, STORED, ecc, ecc, 0)

#define STORE_ENVIRONMENT(X)                                    \
    X(1, e, STORE_TEXT, STORED, driver, driver, STORE_NAME)     \
    X(1, e, STORE_TEXT, STORED, runtime, runtime, STORE_NAME)   \
    X(1, e, STORE_TEXT, STORED, compiler, compiler, STORE_NAME) \
    X(1, e, STORE_TEXT, STORED, version, version, STORE_NAME)

// The columns that tell measurements apart. A row is never changed in these.
#define STORE_KEY(X)                                                                      \
    X(1, m, STORE_ID, STORED, device_id, device_id, 0)                                    \
    X(1, m, STORE_ID, STORED, environment_id, environment_id, 0)                          \
    X(1, m, STORE_ID, STORED, benchmark_id, benchmark_id, 0)                              \
    /* of the flattened kernel source with its compile-time workload */                   \
    X(1, m, STORE_TEXT, GIVEN, source_hash, source_hash, STORE_NAME)                      \
    X(1, m, STORE_TEXT, GIVEN, ct, ct, STORE_LABEL)           /* T{ct}=F32 */             \
    X(1, m, STORE_TEXT, GIVEN, variant, variant, STORE_LABEL) /* base, ipt_19.tpb_512 */  \
    X(1, m, STORE_TEXT, GIVEN, rt, rt, STORE_LABEL)           /* Elements{io}[pow2]=28 */ \
    X(2, m, STORE_COUNT, GIVEN, round, round, 0) /* 0: of the search; from 1: measured again */

#define STORE_RESULT(X)                                                                            \
    X(1, m, STORE_TEXT, GIVEN, status, status, STORE_NAME)      /* of cubc/tuner/_status.py */     \
    X(1, m, STORE_TEXT, GIVEN, message, message, STORE_MESSAGE) /* of a failure; else empty */     \
    X(1, m, STORE_TEXT, STORED, created, created, STORE_NAME)   /* ISO 8601, UTC */                \
    X(1, m, STORE_SERIES, GIVEN, samples, samples, STORE_SERIES_BYTES) /* seconds */               \
    /* of the base, sampled alongside; empty for the base itself */                                \
    X(1, m, STORE_SERIES, GIVEN, base_samples, base_samples, STORE_SERIES_BYTES)                   \
    /* hertz, one a sample; empty if unknown */                                                    \
    X(2, m, STORE_SERIES, GIVEN, clocks, clocks, STORE_SERIES_BYTES)                               \
    X(2, m, STORE_SERIES, GIVEN, base_clocks, base_clocks, STORE_SERIES_BYTES)                     \
    /* medians in seconds; NaN where there are no samples */                                       \
    X(1, m, STORE_MEDIAN, STORED, center, center, 0)                                               \
    X(1, m, STORE_MEDIAN, STORED, base_center, base_center, 0)                                     \
    X(2, m, STORE_COUNT, GIVEN, given_up, given_up, 0) /* 1: it could not win any more */          \
    X(3, m, STORE_COUNT, GIVEN, checked, checked, 0)   /* launches whose output was verified */    \
    X(1, m, STORE_REAL, GIVEN, bytes, bytes, 0)        /* that the work must move; 0 if unknown */ \
    X(2, m, STORE_REAL, GIVEN, flops, flops, 0)        /* that the work must do; 0 if unknown */   \
    X(2, m, STORE_REAL, GIVEN, hot, hot, 0)            /* mean seconds of runs in a row; or 0 */   \
    X(2, m, STORE_REAL, GIVEN, temperature, temperature, 0) /* degrees Celsius; 0 if unknown */    \
    X(2, m, STORE_REAL, GIVEN, power, power, 0)             /* watts while it ran; 0 if unknown */ \
    X(1, m, STORE_COUNT, GIVEN, registers, registers, 0)                                           \
    X(1, m, STORE_COUNT, GIVEN, local_bytes, local_bytes, 0)                                       \
    X(1, m, STORE_COUNT, GIVEN, shared_bytes, shared_bytes, 0)                                     \
    X(1, m, STORE_COUNT, GIVEN, blocks_per_unit, blocks_per_sm, 0)                                 \
    X(4, m, STORE_REAL, GIVEN, calls, calls, 0) /* that a recorded program made; else 0 */         \
    /* hot and power of the base in the same round; 0 if unknown */                                \
    X(5, m, STORE_REAL, GIVEN, base_hot, base_hot, 0)                                              \
    X(5, m, STORE_REAL, GIVEN, base_power, base_power, 0)                                          \
    /* that a user's benchmark measured: error=0.5,bytes=4096; of the base in the same round */    \
    X(5, m, STORE_TEXT, GIVEN, metrics, metrics, STORE_LABEL)                                      \
    X(5, m, STORE_TEXT, GIVEN, base_metrics, base_metrics, STORE_LABEL)

// All columns, in the order in which a row is read.
#define STORE_COLUMNS(X) \
    STORE_BENCHMARK(X) STORE_DEVICE(X) STORE_ENVIRONMENT(X) STORE_KEY(X) STORE_RESULT(X)

#define STORE_PLUS_ONE(...) +1
enum {
    STORE_VERSION = 5,  // of the schema: the newest
    STORE_NAME = 1024,  // bytes of a name
    STORE_LABEL = 4096, // of a variant, of a workload
    STORE_MESSAGE = 16384,
    STORE_AXES = 1 << 18,
    STORE_SERIES_BYTES = 1 << 20,
    // Ranges in the table.
    STORE_DEVICE_AT = 0 STORE_BENCHMARK(STORE_PLUS_ONE),
    STORE_ENVIRONMENT_AT = STORE_DEVICE_AT STORE_DEVICE(STORE_PLUS_ONE),
    STORE_KEY_AT =
        STORE_ENVIRONMENT_AT STORE_ENVIRONMENT(STORE_PLUS_ONE), // of table m up to the end
    STORE_COLUMN_COUNT = 0 STORE_COLUMNS(STORE_PLUS_ONE)
};

// The members of store_row and of store_record.
#define STORE_MEMBER_GIVEN_GIVEN(kind, name) STORE_TYPE_##kind name;
#define STORE_MEMBER_GIVEN_STORED(kind, name)
#define STORE_MEMBER_STORED_STORED(kind, name) STORE_TYPE_##kind name;
#define STORE_MEMBER_STORED_GIVEN(kind, name)
#define STORE_MEMBER_GIVEN(since, table, kind, from, column, name, most) \
    STORE_MEMBER_GIVEN_##from(kind, name)
#define STORE_MEMBER_STORED(since, table, kind, from, column, name, most) \
    STORE_MEMBER_STORED_##from(kind, name)

typedef struct store_column {
    const char *name; // in Python
    store_kind kind;
    int since;     // version of the schema
    size_t offset; // in store_record
    size_t most;   // bytes
} store_column;
extern const store_column store_columns[STORE_COLUMN_COUNT];

#endif
