// The store itself, as its own files see it; store.h is what all others see.
#ifndef CUBC_STORE_PRIVATE_H
#define CUBC_STORE_PRIVATE_H

#include "store/store_codec.h"
#include "store/store_schema.h"

#include <pthread.h>

// Rounds that recordings have of calls, as long as nobody but merges has written.
typedef struct store_rounds {
    sql_query find, last, note; // of the merge that goes on
    int64_t written, changed;   // as the last merge ended
    bool known;
} store_rounds;

struct store {
    pthread_mutex_t mutex;
    sql *db;
    int version; // of the schema; the newest if writable
    bool writable;
    int64_t seen; // SQLite's number of what others have written, of a writer as it was opened
    // Columns of device and environment that rows to come have. The number of a device is 0 before
    // it is set and -1 where a store that is open for reading has none.
    store_record about;
    store_buffers about_buffers[2];
    store_rounds rounds;
    double checkpointed; // when
    int uncheckpointed;  // rows since then
};

// Takes the mutex for a call, which a forked child may not make, nor one within another.
cubc_status store_lock(store *s);
// Makes a store on a connection that stays the caller's.
void store_init(store *s, sql *db, int version, bool writable);
// A store on a connection, which becomes the store's in any case.
cubc_status store_make(sql *db, int version, bool writable, store **out);
// Reads a store from memory; the image becomes the store's in any case, the path is for messages.
cubc_status store_open_image(const char *path, store_image *image, store **out);
// Adds a row by the statement `which`, ADD or PUT_..., within an open transaction. Its number is
// `id`, or the next one if that is 0.
cubc_status store_put(store *s, int which, int64_t id, const store_record *record);
// Adds a row whose moment is known, of the store's device and environment, in an open transaction.
cubc_status store_put_row(store *s, int which, const store_record *record, bool *done);
// Tells if the row is there already, all of it, or as many calls of its recording.
cubc_status store_has_row(store *s, const store_record *record, bool *found);
// Binds the columns that tell rows apart, in the order of the statement FIND.
void store_bind_key(const store *s, sql_query *q, const store_row *row);
// Begins and ends the use of the next, inside the transaction of a merge and behind it.
cubc_status store_begin_rounds(store *to);
void store_end_rounds(store *to, cubc_status st);
// Adds a row of a recording that has a name, or takes its calls if they are more than those of the
// recording's row that is there. *done is false if there is no round left.
cubc_status store_put_recording(store *to, store_record *record, bool *is_new, bool *done);
// Fails unless the store is open for writing.
cubc_status store_check_writable(const store *s);
// Fails if pages of the file are damaged: tables that share some would lose those of others with
// their own.
cubc_status store_check_pages(sql *db);
// Makes a device and an environment those of the rows to come, in an open transaction.
cubc_status store_set_about(store *s, const device_info *info, const char *version);
// Makes an older store, which is open for writing, one of the newest version. Closes it.
cubc_status store_upgrade(sql *old, const char *path);

#endif
