// Rows of a store between a record and SQLite, column by column, and their checksum.
#ifndef CUBC_STORE_CODEC_H
#define CUBC_STORE_CODEC_H

#include "store/store.h"
#include "store/store_sql.h"

// Room for the texts and series of a record.
typedef struct store_buffers {
    text texts; // each with its NUL
    float *series;
    size_t used, capacity; // floats
} store_buffers;

// Samples and clocks are positive and finite.
bool store_are_positive(store_series series);
// The clocks of a row are one a sample, or there are none.
bool store_have_clocks(const store_row *row);
// Sets the medians of the record's samples; NaN of none.
cubc_status store_set_centers(store_record *record);
// The checksum of all columns that a version has, the referred ones among them.
uint64_t store_checksum(const store_record *record, int version);
// Binds the columns of a measurement. `encoded` is needed until the query is finished; the caller
// frees it.
cubc_status store_bind(sql_query *q, const store_record *record, uint8_t **encoded);
// Reads some columns of the row that a query is at, into buffers that lose what they had. *bad says
// what is wrong with one, or NULL; *bytes are those of a measurement's own texts and series.
cubc_status store_read_columns(sql_query *q, int first, int end, store_buffers *buffers,
                               store_record *record, const char **bad, size_t *bytes);
void store_free_buffers(store_buffers *buffers);

#endif
