// Shared by store_sql.c (statements) and store_connect.c (opening).
#ifndef CUBC_STORE_SQL_PRIVATE_H
#define CUBC_STORE_SQL_PRIVATE_H

#include "store/store_image.h"
#include "store/store_sql.h"

#include <sys/types.h>

struct sqlite3;
struct sqlite3_stmt;

struct sql {
    struct sqlite3 *db;
    struct sqlite3_stmt *rollback;
    struct sqlite3_stmt **prepared; // count of them
    const char *const *statements;
    int count;
    char *path;
    double wait_s, waiting_since;
    bool interrupted; // the last statement
    bool has_log;     // of a writer: it is in WAL mode
    int patience;     // looks at interrupts until a file is given up that is not known yet; 0: none
    store_image image; // of a reader
    double looked;     // when it was asked for interrupts
    unsigned forks;    // fork_count() when it was opened
    dev_t device;      // of a writer's file, and its number there
    ino_t inode;
    sql *next_writer;
};

// Sets the last error by SQLite's, in words for the store's user.
cubc_status sql_explain(const sql *s, const char *file, int line);
#define SQL_FAIL(s) return sql_explain((s), __FILE__, __LINE__)

#endif
