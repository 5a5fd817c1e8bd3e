// Shared by the files of the store: the store itself, and rows between a record and SQLite.
#ifndef CUBC_STORE_INNER_H
#define CUBC_STORE_INNER_H

#include "store/store_columns.h"
#include "store/store_schema.h"

#include <pthread.h>

// Room for the texts and series of a record.
typedef struct store_buffers {
    text texts; // each with its NUL
    float *series;
    size_t used, capacity; // floats
} store_buffers;

struct store {
    pthread_mutex_t mutex;
    sql *db;
    int version; // of the schema; the newest if writable
    bool writable;
    // For the rows to come, their columns of device and environment. The number of a device is 0
    // before it is set and -1 where a store that is open for reading has none.
    store_record about;
    store_buffers about_buffers[2];
    double checkpointed; // when
    int uncheckpointed;  // rows since then
};

// Reads a store from memory; the image becomes the store's in any case, the path is for messages.
cubc_status store_open_image(const char *path, store_image *image, store **out);
// Adds a row of all columns, with that number if it is not 0, in a transaction that is open.
cubc_status store_put(store *s, int64_t id, const store_record *record);
// Makes an older store, which is open for writing, one of the newest version. Closes it.
cubc_status store_upgrade(sql *old, const char *path);

// Samples and clocks are positive and finite.
bool store_are_positive(store_series series);
// Sets the medians of the record's samples; NaN of none.
cubc_status store_set_centers(store_record *record);
// The checksum of all columns, the referred ones among them.
uint64_t store_checksum(const store_record *record);
// Binds the columns of a measurement. `encoded` is needed until the query is finished; the caller
// frees it.
cubc_status store_bind(sql_query *q, const store_record *record, uint8_t **encoded);
// Reads some columns of the row that a query is at, into buffers that lose what they had. *bad says
// what is wrong with one, or NULL; *bytes are those of a measurement's own texts and series.
cubc_status store_read_columns(sql_query *q, int first, int end, store_buffers *buffers,
                               store_record *record, const char **bad, size_t *bytes);
void store_free_buffers(store_buffers *buffers);

#endif
