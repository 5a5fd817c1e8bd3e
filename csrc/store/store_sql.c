// The store's use of SQLite: statements, transactions and errors in words; see store_sql.h.
#define _POSIX_C_SOURCE 200809L
#include "store/store_sql_private.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

// ---- errors -----------------------------------------------------------------------------------
// SQLite has a code for a full disk only: a quota, a limit of the file's size and a broken device
// look the same, and what the system said is forgotten by the time a statement returns.
static bool is_write_refused(int code)
{
    return code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMSIZE;
}

cubc_status sql_explain(const sql *s, const char *file, int line)
{
    int code = sqlite3_extended_errcode(s->db), errnum = sqlite3_system_errno(s->db);
    const char *path = s->path, *detail = sqlite3_errmsg(s->db);
    TRY(fork_refuse(s->forks, "a call of a store"));
#define EXPLAIN(...) return error_set(file, line, __VA_ARGS__)
    if (is_write_refused(code))
        EXPLAIN(CUBC_STORE_ERROR,
                "%s: a write was refused: the disk or your quota is full, or the disk fails; what "
                "was stored before is safe: make room and go on",
                path);
    switch (code & 0xff) {
    case SQLITE_INTERRUPT:
        if (s->interrupted) EXPLAIN(CUBC_INTERRUPTED, "interrupted while using %s", path);
        EXPLAIN(CUBC_STORE_ERROR, "%s is not a cubc store: it has a schema without end", path);
    case SQLITE_NOMEM: EXPLAIN(CUBC_NO_MEMORY, "out of host memory while using %s", path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        if (s->interrupted) EXPLAIN(CUBC_INTERRUPTED, "interrupted while waiting for %s", path);
        EXPLAIN(CUBC_STORE_ERROR,
                "%s is locked by another process: waited %.3g s; end that process, or use a store "
                "of your own",
                path, s->wait_s);
    case SQLITE_FULL:
        EXPLAIN(CUBC_STORE_ERROR,
                "%s: the disk is full; what was stored before is safe: free some space and go on",
                path);
    case SQLITE_NOTADB:
        EXPLAIN(CUBC_STORE_ERROR,
                "%s is not a cubc store (no SQLite file, or a damaged one): move it away, or "
                "restore a copy",
                path);
    case SQLITE_READONLY:
        EXPLAIN(CUBC_STORE_ERROR,
                "%s is read-only (the file or its folder): %s; copy it to a folder of yours, or "
                "make both writable",
                path, detail);
    case SQLITE_CANTOPEN:
        EXPLAIN(
            CUBC_IO_ERROR,
            "cannot open store %s: %s; its folder must be there and its file system writable, and "
            "both must be yours to open",
            path,
            errnum == ENOENT ? "it is not there, and no file can be made there"
            : errnum         ? strerror(errnum)
                             : detail);
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_IOERR:
        EXPLAIN(CUBC_IO_ERROR, "cannot read or write %s: %s", path,
                errnum ? strerror(errnum) : detail);
    case SQLITE_TOOBIG:
        EXPLAIN(CUBC_STORE_ERROR, "%s is damaged (a value of more than %d MiB): restore a copy",
                path, SQL_MOST_BYTES >> 20);
    default: // our statements are constant: if one fails, the file's tables are not ours
        EXPLAIN(CUBC_STORE_ERROR, "%s is damaged (%s): move it away, or restore a copy", path,
                detail);
    }
#undef EXPLAIN
}

// ---- scripts and transactions -----------------------------------------------------------------
cubc_status sql_execute(sql *s, const char *script)
{
    s->interrupted = false;
    if (sqlite3_exec(s->db, script, NULL, NULL, NULL)) SQL_FAIL(s);
    return CUBC_OK;
}

cubc_status sql_integer(sql *s, const char *query, int64_t *out)
{
    sqlite3_stmt *statement;
    s->interrupted = false;
    if (sqlite3_prepare_v2(s->db, query, -1, &statement, NULL)) SQL_FAIL(s);
    int code = sqlite3_step(statement);
    *out = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    cubc_status st =
        code == SQLITE_ROW || code == SQLITE_DONE ? CUBC_OK : sql_explain(s, __FILE__, __LINE__);
    sqlite3_finalize(statement);
    return st;
}

// A file without its name can be written for hours, and goes with its last user.
static cubc_status check_name(const sql *s)
{
    int moved = 0;
    sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (moved)
        FAIL(CUBC_STORE_ERROR,
             "%s was removed or replaced while it was open: what comes now would be lost; put it "
             "back and begin again, or give another file",
             s->path);
    return CUBC_OK;
}

// IMMEDIATE: a transaction that starts by reading could not wait for its turn to write.
cubc_status sql_begin(sql *s)
{
    TRY(check_name(s));
    return sql_execute(s, "BEGIN IMMEDIATE");
}

cubc_status sql_begin_exclusive(sql *s)
{
    TRY(check_name(s));
    return sql_execute(s, "BEGIN EXCLUSIVE");
}

cubc_status sql_written(sql *s, int64_t *number)
{
    return sql_integer(s, "PRAGMA data_version", number);
}

// TRUNCATE waits for those who read or write; an error of the disk is the checkpoint's alone, since
// the rows are in the log by then.
cubc_status sql_empty_log(sql *s)
{
    s->interrupted = false;
    if (sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL)) SQL_FAIL(s);
    return CUBC_OK;
}

cubc_status sql_end(sql *s, cubc_status st)
{
    TRY(fork_refuse(s->forks, "a call of a store"));
    if (!st) st = sql_execute(s, "COMMIT");
    if (!sqlite3_get_autocommit(s->db)) { // after some failures SQLite has rolled back by itself
        sqlite3_step(s->rollback);        // prepared beforehand: works without memory
        sqlite3_reset(s->rollback);
    }
    return st;
}

// ---- statements -------------------------------------------------------------------------------
cubc_status sql_start(sql *s, int which, sql_query *q)
{
    sqlite3_stmt **prepared = &s->prepared[which];
    *q = (sql_query){.s = s, .next = 1};
    s->interrupted = false;
    if (!*prepared && sqlite3_prepare_v3(s->db, s->statements[which], -1, SQLITE_PREPARE_PERSISTENT,
                                         prepared, NULL))
        SQL_FAIL(s);
    q->statement = *prepared;
    return CUBC_OK;
}

static void keep_code(sql_query *q, int code) // of the first failure; the error is SQLite's last
{
    if (!q->code) q->code = code;
}

void sql_bind_text(sql_query *q, const char *value)
{
    if (!q->code)
        keep_code(q, sqlite3_bind_text(q->statement, q->next++, value, -1, SQLITE_STATIC));
}

void sql_bind_null(sql_query *q)
{
    if (!q->code) keep_code(q, sqlite3_bind_null(q->statement, q->next++));
}

void sql_bind_integer(sql_query *q, int64_t value)
{
    if (!q->code) keep_code(q, sqlite3_bind_int64(q->statement, q->next++, value));
}

void sql_bind_real(sql_query *q, double value)
{
    if (!q->code) keep_code(q, sqlite3_bind_double(q->statement, q->next++, value));
}

void sql_bind_blob(sql_query *q, const void *data, size_t bytes)
{
    if (q->code) return;
    keep_code(q, bytes ? sqlite3_bind_blob64(q->statement, q->next++, data, bytes, SQLITE_STATIC)
                       : sqlite3_bind_zeroblob(q->statement, q->next++, 0));
}

cubc_status sql_step(sql_query *q, bool *row)
{
    if (!q->code) {
        int code = sqlite3_step(q->statement);
        q->next = 0;
        *row = code == SQLITE_ROW;
        if (code == SQLITE_ROW || code == SQLITE_DONE) return CUBC_OK;
    }
    *row = false;
    SQL_FAIL(q->s);
}

void sql_finish(sql_query *q)
{
    if (!q->statement) return;
    sqlite3_reset(q->statement); // gives back what was locked
    sqlite3_clear_bindings(q->statement);
    q->statement = NULL;
}

cubc_status sql_prepare(sql *s, const char *text, sql_query *q)
{
    sqlite3_stmt *statement;
    *q = (sql_query){.s = s, .next = 1};
    s->interrupted = false;
    if (sqlite3_prepare_v2(s->db, text, -1, &statement, NULL)) SQL_FAIL(s);
    q->statement = statement;
    return CUBC_OK;
}

void sql_reset(sql_query *q)
{
    sqlite3_reset(q->statement);
    sqlite3_clear_bindings(q->statement);
    q->next = 1;
    q->code = 0;
    q->s->interrupted = false;
}

void sql_discard(sql_query *q)
{
    sqlite3_finalize(q->statement);
    q->statement = NULL;
}

bool sql_is_too_big(const sql *s)
{
    return (sqlite3_errcode(s->db) & 0xff) == SQLITE_TOOBIG;
}

int sql_changed(const sql *s)
{
    return sqlite3_changes(s->db);
}

int sql_all_changed(const sql *s)
{
    return sqlite3_total_changes(s->db);
}

int64_t sql_last_row(const sql *s)
{
    return sqlite3_last_insert_rowid(s->db);
}

int sql_columns(const sql_query *q)
{
    return sqlite3_column_count(q->statement);
}

bool sql_read_text(sql_query *q, const char **value, size_t *length)
{
    int column = q->next++;
    if (sqlite3_column_type(q->statement, column) != SQLITE_TEXT) return false;
    *value = (const char *)sqlite3_column_text(q->statement, column);
    *length = (size_t)sqlite3_column_bytes(q->statement, column);
    return *value && strlen(*value) == *length;
}

bool sql_read_integer(sql_query *q, int64_t *value)
{
    int column = q->next++;
    bool is_integer = sqlite3_column_type(q->statement, column) == SQLITE_INTEGER;
    *value = sqlite3_column_int64(q->statement, column);
    return is_integer;
}

bool sql_read_null(sql_query *q)
{
    if (sqlite3_column_type(q->statement, q->next) != SQLITE_NULL) return false;
    q->next++;
    return true;
}

bool sql_read_real(sql_query *q, double *value)
{
    int column = q->next++;
    bool is_real = sqlite3_column_type(q->statement, column) == SQLITE_FLOAT;
    *value = sqlite3_column_double(q->statement, column);
    return is_real;
}

bool sql_read_blob(sql_query *q, const void **data, size_t *bytes)
{
    int column = q->next++;
    if (sqlite3_column_type(q->statement, column) != SQLITE_BLOB) return false;
    *data = sqlite3_column_blob(q->statement, column);
    *bytes = (size_t)sqlite3_column_bytes(q->statement, column);
    return *data || *bytes == 0;
}
