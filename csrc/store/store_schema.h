// The tables of a store, the statements on them, and the opening of a file as a store.
#ifndef CUBC_STORE_SCHEMA_H
#define CUBC_STORE_SCHEMA_H

#include "store/store_columns.h"
#include "store/store_sql.h"

// Statements by number, for sql_start. Their parameters are bound in the order of the text in
// store_schema.c.
enum {
    MASTER, // type, name, table and text of every statement of the schema
    ADD_DEVICE,
    FIND_DEVICE, // number, then the columns of STORE_DEVICE
    ADD_ENVIRONMENT,
    FIND_ENVIRONMENT,
    ADD_BENCHMARK,
    FIND_BENCHMARK,
    ADD,
    PUT_CALLS,
    PUT_MORE_CALLS, // the same, of the same recording and if they are more
    FIND,           // number of the row of a key
    FIND_SAME,      // the same, if it has this checksum or is of this recording
    NEXT_ID,
    ALL_DEVICES, // tables that an upgrade copies as they are
    ALL_ENVIRONMENTS,
    ALL_BENCHMARKS,
    PUT_DEVICE,
    PUT_ENVIRONMENT,
    PUT_BENCHMARK,
    ROW, // checksum, then STORE_COLUMNS, of a store of version 1; then of version 2, ...
    STATEMENTS = ROW + STORE_VERSION
};

// Opens a store; when writing makes it. Refuses, untouched, what is not a store, is newer, or may
// not be written to. An older version is open as it is: only its rows are to be read.
cubc_status schema_open(const char *path, bool write, double wait_s, sql **out, int *version);
// The same of an image, which becomes the connection's in any case.
cubc_status schema_open_image(const char *path, store_image *image, sql **out, int *version);
// Makes the tables of a version in an empty database.
cubc_status schema_write(sql *db, int version);
// Version of an older store that is open for writing, looked at again inside its transaction.
cubc_status schema_identify(sql *db, int *version);

#endif
