// The store's use of SQLite: see store_sql.h.
//
// Durability. In WAL mode with synchronous=NORMAL a commit is a write to the log, which the
// operating system holds by the time COMMIT returns: killing the process, however rudely, loses
// nothing. Only a power cut can take the last rows, and never the file's integrity; a measurement
// is not worth a disk flush each. WAL needs memory shared by all its users, which a network file
// system does not give: there it is the rollback journal, with synchronous=FULL.
//
// Trust. A file from somebody else is data: its triggers and views are switched off, its schema
// cannot call functions, the lengths of its values are bounded, its pages are checked as they are
// read.
#define _POSIX_C_SOURCE 200809L
#include "store_sql.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#ifdef __linux__
#include <sys/vfs.h>
#endif

#if SQLITE_VERSION_NUMBER < 3031000
#error "cubc needs SQLite 3.31 or newer (for SQLITE_DBCONFIG_TRUSTED_SCHEMA)"
#endif

enum { MAX_VALUE_BYTES = 64 << 20 }; // of a text or blob
static const double default_wait_s = 10.0;

struct sql {
    sqlite3 *db;
    sqlite3_stmt *rollback;
    sqlite3_stmt **prepared; // count of them
    const char *const *statements;
    int count;
    char *path;
    double wait_s, waiting_since;
    bool interrupted;
};

// ---- errors -----------------------------------------------------------------------------------
// SQLite has a code for a full disk only: a quota, a limit of the file's size and a broken device
// look the same, and what the system said is forgotten by the time a statement returns.
static bool is_write_refused(int code)
{
    return code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMSIZE;
}

// Says what SQLite's last error means to the store's user.
static cubc_status explain(const sql *s, int line)
{
    int code = sqlite3_extended_errcode(s->db), errnum = sqlite3_system_errno(s->db);
    const char *path = s->path, *detail = sqlite3_errmsg(s->db);
#define EXPLAIN(...) return error_set(__FILE__, line, __VA_ARGS__)
    if (is_write_refused(code))
        EXPLAIN(CUBC_STORE_ERROR,
                "%s: a write was refused: the disk or your quota is full, or the disk fails; what "
                "was stored before is safe: make room and go on",
                path);
    switch (code & 0xff) {
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
            path, errnum ? strerror(errnum) : detail);
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_IOERR:
        EXPLAIN(CUBC_IO_ERROR, "cannot read or write %s: %s", path,
                errnum ? strerror(errnum) : detail);
    case SQLITE_TOOBIG:
        EXPLAIN(CUBC_INVALID_ARGUMENT, "the row is too large for %s: at most %d MiB a value", path,
                MAX_VALUE_BYTES >> 20);
    default: // our statements are constant: if one fails, the file's tables are not ours
        EXPLAIN(CUBC_STORE_ERROR, "%s is damaged (%s): move it away, or restore a copy", path,
                detail);
    }
#undef EXPLAIN
}
#define SQL_FAIL(s) return explain((s), __LINE__)

// Called by SQLite while another process holds the lock it needs; 0 gives up.
static int busy(void *context, int tries)
{
    sql *s = context;
    if (tries == 0) s->waiting_since = now_seconds();
    s->interrupted = interrupt_pending();
    if (s->interrupted || now_seconds() - s->waiting_since >= s->wait_s) return 0;
    nanosleep(&(struct timespec){0, (tries < 20 ? 1 + tries : 20) * 1000000L}, NULL);
    return 1;
}

// ---- scripts and transactions -----------------------------------------------------------------
cubc_status sql_execute(sql *s, const char *script)
{
    if (sqlite3_exec(s->db, script, NULL, NULL, NULL)) SQL_FAIL(s);
    return CUBC_OK;
}

cubc_status sql_integer(sql *s, const char *query, int64_t *out)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(s->db, query, -1, &statement, NULL)) SQL_FAIL(s);
    int code = sqlite3_step(statement);
    *out = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    cubc_status st = code == SQLITE_ROW || code == SQLITE_DONE ? CUBC_OK : explain(s, __LINE__);
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

cubc_status sql_end(sql *s, cubc_status st)
{
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

int sql_changed(const sql *s)
{
    return sqlite3_changes(s->db);
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
    *value = sqlite3_column_int64(q->statement, column);
    return sqlite3_column_type(q->statement, column) == SQLITE_INTEGER;
}

bool sql_read_real(sql_query *q, double *value)
{
    int column = q->next++;
    *value = sqlite3_column_double(q->statement, column);
    return sqlite3_column_type(q->statement, column) == SQLITE_FLOAT;
}

bool sql_read_blob(sql_query *q, const void **data, size_t *bytes)
{
    int column = q->next++;
    if (sqlite3_column_type(q->statement, column) != SQLITE_BLOB) return false;
    *data = sqlite3_column_blob(q->statement, column);
    *bytes = (size_t)sqlite3_column_bytes(q->statement, column);
    return *data || *bytes == 0;
}

// ---- opening ----------------------------------------------------------------------------------
// SQLite takes names like ":memory:" and "file:..." for more than files; a URI of ours does not.
static cubc_status make_uri(const char *path, const char *parameters, text *out)
{
    text_puts(out, path[0] == '/' ? "file://" : "file:./");
    for (const char *p = path; *p; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                     (*p >= '0' && *p <= '9') || strchr("/._-", *p);
        if (plain)
            text_append(out, p, 1);
        else
            text_printf(out, "%%%02X", (unsigned char)*p);
    }
    text_puts(out, parameters);
    return text_done(out);
}

static cubc_status harden(sql *s)
{
    static const struct {
        int option, value;
    } options[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_ENABLE_FKEY, 1},
    };
    for (size_t i = 0; i < COUNT_OF(options); i++)
        if (sqlite3_db_config(s->db, options[i].option, options[i].value, NULL))
            FAIL(CUBC_STORE_ERROR, "this SQLite (%s) is too old for cubc: 3.31 or newer is needed",
                 sqlite3_libversion());
    sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
    sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_busy_handler(s->db, busy, s);
    return sql_execute(s, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0");
}

static void disconnect(sql *s)
{
    for (int i = 0; s->prepared && i < s->count; i++) {
        sqlite3_finalize(s->prepared[i]);
        s->prepared[i] = NULL;
    }
    sqlite3_finalize(s->rollback);
    sqlite3_close(s->db);
    s->rollback = NULL;
    s->db = NULL;
}

static cubc_status connect_with(sql *s, int flags, const char *parameters)
{
    text uri = {0};
    int64_t tables;
    disconnect(s);
    cubc_status st = make_uri(s->path, parameters, &uri);
    if (st) {
        text_free(&uri);
        return st;
    }
    // No mutexes of SQLite's own: our owner has one.
    int code =
        sqlite3_open_v2(uri.data, &s->db, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    text_free(&uri);
    if (!s->db) FAIL(CUBC_NO_MEMORY, "out of host memory while opening %s", s->path);
    if (code) SQL_FAIL(s);
    TRY(harden(s));
    TRY(sql_integer(s, "SELECT count(*) FROM sqlite_master", &tables)); // reads for the first time
    if (sqlite3_prepare_v2(s->db, "ROLLBACK", -1, &s->rollback, NULL)) SQL_FAIL(s);
    return CUBC_OK;
}

// Whether the log beside a store holds rows that are not in the store's file yet.
static cubc_status has_pending_log(const sql *s, bool *pending)
{
    text path = {0};
    struct stat info;
    text_printf(&path, "%s-wal", s->path);
    cubc_status st = text_done(&path);
    *pending = !st && stat(path.data, &info) == 0 && info.st_size > 0;
    text_free(&path);
    return st;
}

// A reader, too, must make the files of shared memory beside a store in WAL mode, and finish what a
// killed writer left half done. Where it may not, a store at rest is read as a file that does not
// change.
static cubc_status connect_reader(sql *s)
{
    bool pending;
    cubc_status st = connect_with(s, SQLITE_OPEN_READONLY, "");
    if (!st || !s->db) return st;
    int code = sqlite3_extended_errcode(s->db);
    if (code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY) {
        TRY(connect_with(s, SQLITE_OPEN_READWRITE, ""));
        return sql_execute(s, "PRAGMA query_only = ON");
    }
    if ((code & 0xff) != SQLITE_CANTOPEN && (code & 0xff) != SQLITE_READONLY) return st;
    TRY(has_pending_log(s, &pending));
    if (pending)
        FAIL(CUBC_STORE_ERROR,
             "%s has rows in %s-wal that cannot be read where nothing may be written: copy both to "
             "a folder of yours",
             s->path, s->path);
    return connect_with(s, SQLITE_OPEN_READONLY, "?immutable=1");
}

cubc_status sql_open(const char *path, bool write, const char *const *statements, int count,
                     sql **out)
{
    cubc_status st = CUBC_NO_MEMORY;
    *out = NULL;
    if (!sqlite3_threadsafe())
        FAIL(CUBC_STORE_ERROR, "this SQLite was built without support for threads");
    sql *s = mem_zalloc(1, sizeof *s);
    if (!s) return CUBC_NO_MEMORY;
    *s = (sql){.statements = statements, .count = count, .wait_s = default_wait_s};
    if (!(s->path = mem_strdup(path))) goto failed;
    if (!(s->prepared = mem_zalloc((size_t)count, sizeof *s->prepared))) goto failed;
    st =
        write ? connect_with(s, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "") : connect_reader(s);
    if (st) goto failed;
    *out = s;
    return CUBC_OK;
failed:
    sql_close(s);
    return st;
}

void sql_close(sql *s)
{
    if (!s) return;
    disconnect(s);
    mem_free(s->prepared);
    mem_free(s->path);
    mem_free(s);
}

bool sql_is_readonly(const sql *s)
{
    return sqlite3_db_readonly(s->db, "main") == 1;
}

const char *sql_path(const sql *s)
{
    return s->path;
}

bool sql_is_damaged(const sql *s)
{
    int code = sqlite3_errcode(s->db) & 0xff;
    return code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR;
}

void sql_set_wait(sql *s, double seconds)
{
    s->wait_s = seconds;
}

static bool is_on_network(const char *path)
{
#ifdef __linux__
    static const uint32_t network[] = {
        0x6969,     0x517b,     0xff534d42, 0xfe534d42, 0x5346414f, // NFS, SMB, CIFS, SMB2, AFS
        0x01021997, 0x00c36400, 0x0bd00bd0, 0x47504653, 0x19830326, // 9P Ceph Lustre GPFS BeeGFS
    };
    struct statfs info;
    if (statfs(path, &info)) return false;
    for (size_t i = 0; i < COUNT_OF(network); i++)
        if ((uint32_t)info.f_type == network[i]) return true;
#else
    (void)path; // SQLite itself finds out where it has no shared memory
#endif
    return false;
}

// The mode that results may not be the one wished for, which is no error: the store works in both.
cubc_status sql_set_journal(sql *s)
{
    bool network = is_on_network(s->path);
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(s->db,
                           network ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL",
                           -1, &statement, NULL))
        SQL_FAIL(s);
    int code = sqlite3_step(statement);
    const char *mode = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    bool wal = mode && strcmp(mode, "wal") == 0;
    sqlite3_finalize(statement);
    return sql_execute(s, wal ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
}
