// The tables of a store, the statements on them, and the opening of a file as a store.
#ifndef CUBC_STORE_SCHEMA_H
#define CUBC_STORE_SCHEMA_H

#include "store_sql.h"

// Statements by number, for sql_start. Their parameters are bound in the order of the text in
// store_schema.c.
enum {
    ADD_DEVICE,
    FIND_DEVICE,
    ADD_ENVIRONMENT,
    FIND_ENVIRONMENT,
    ADD_BENCHMARK,
    ADD,
    HAS,
    NEXT,
    STATEMENTS
};

// Opens a store, makes or migrates it when writing. Refuses, untouched, what is not a store, is
// newer, or may not be written to.
cubc_status schema_open(const char *path, bool write, sql **out);

#endif
