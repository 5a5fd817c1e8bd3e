// The store's use of SQLite: a connection opened with care, statements, and errors in words.
//
// A connection is used by one thread at a time; its owner sees to that. Every message names the
// file and what its user can do. SQLite asks for interrupts while it computes and while it waits.
#ifndef CUBC_STORE_SQL_H
#define CUBC_STORE_SQL_H

#include "store/store_image.h"

typedef struct sql sql;
enum { SQL_MOST_BYTES = 8 << 20 }; // of a row
#define SQL_WAIT_S 10.0            // for another process's lock, unless sql_set_wait says another

// `statements` (which outlives the connection) are prepared when they are first used.
// Reading is of the file as it is now; writing creates the file. Until the file is trusted, a
// schema that takes long to be read ends as an error, and closing leaves its log as it is.
cubc_status sql_open(const char *path, bool write, double wait_s, const char *const *statements,
                     int count, sql **out);
// Reads an image, which becomes the connection's in any case; the path is for messages.
cubc_status sql_open_image(const char *path, store_image *image, const char *const *statements,
                           int count, sql **out);
void sql_trust(sql *s);
void sql_close(sql *s);
size_t sql_image_bytes(const sql *s); // bytes of the image; 0 when writing
void sql_checkpoint(sql *s);          // moves what the log holds into the file, as far as it can
cubc_status sql_empty_log(sql *s);    // all of it, or fails; nothing to do where there is no log
const char *sql_path(const sql *s);
bool sql_is_inherited(const sql *s); // by a forked child, which may only close it: nothing is done
bool sql_is_readonly(const sql *s);
bool sql_is_damaged(const sql *s);         // the last call on it failed for that reason
void sql_set_wait(sql *s, double seconds); // for another process's lock
// WAL where the file system can do it, else a rollback journal; see store_connect.c on durability.
cubc_status sql_set_journal(sql *s);
bool sql_has_log(const sql *s); // it is WAL

cubc_status sql_execute(sql *s, const char *script);
cubc_status sql_integer(sql *s, const char *query, int64_t *out); // first value; 0 if no row

// A transaction ends in COMMIT if st is CUBC_OK so far, and leaves the file as it was otherwise.
cubc_status sql_begin(sql *s);
cubc_status sql_end(sql *s, cubc_status st);
cubc_status sql_begin_exclusive(sql *s); // one that nobody else may write during
// A number that differs from what it was once another connection has written.
cubc_status sql_written(sql *s, int64_t *number);

// One run of a statement: start, one bind a parameter in order, step until no row, finish. Values
// are borrowed until finish. Binding fails at the first step; finish takes a query never started.
typedef struct sql_query {
    sql *s;
    void *statement;
    int next; // parameter to bind, then column to read
    int code;
} sql_query;
cubc_status sql_start(sql *s, int which, sql_query *q);
void sql_bind_text(sql_query *q, const char *value);
void sql_bind_null(sql_query *q);
void sql_bind_integer(sql_query *q, int64_t value);
void sql_bind_real(sql_query *q, double value); // NaN becomes NULL
void sql_bind_blob(sql_query *q, const void *data, size_t bytes);
cubc_status sql_step(sql_query *q, bool *row);
void sql_finish(sql_query *q);
// A statement that is not among those of the connection: prepared, run and reset any number of
// times, and discarded, which takes one never prepared.
cubc_status sql_prepare(sql *s, const char *text, sql_query *q);
void sql_reset(sql_query *q);
void sql_discard(sql_query *q);
bool sql_is_too_big(const sql *s);  // the last call on it failed for that reason
int sql_changed(const sql *s);      // rows, by the last statement
int sql_all_changed(const sql *s);  // by all statements so far, also by those that went back
int64_t sql_last_row(const sql *s); // the number of the row that was inserted last

int sql_columns(const sql_query *q); // of a row
// The columns of a row, in order; false if a value is not of the type asked for.
bool sql_read_text(sql_query *q, const char **value, size_t *length); // no NUL inside
bool sql_read_integer(sql_query *q, int64_t *value);
bool sql_read_null(sql_query *q); // stays at the column if it is none
bool sql_read_real(sql_query *q, double *value);
bool sql_read_blob(sql_query *q, const void **data, size_t *bytes);

#endif
