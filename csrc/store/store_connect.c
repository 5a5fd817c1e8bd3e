// Connections of SQLite to a store: see store_sql.h.
//
// Durability. In WAL mode with synchronous=NORMAL a commit is a write to the log, which the
// operating system holds by the time COMMIT returns: killing the process, however rudely, loses
// nothing. Only a power cut can take the last rows, and never the file's integrity; a measurement
// is not worth a disk flush each. WAL needs memory shared by all its users, which a network file
// system does not give: there it is the rollback journal, with synchronous=FULL.
//
// Trust. A file from somebody else is data. A reader's connection sees a copy in memory
// (store_image.h). On any connection triggers and views are switched off, the schema cannot call
// functions, lengths are bounded, pages are checked as they are read, SQLite asks for interrupts as
// it computes, and a schema that takes longer than ours to be read is not ours.
#include "store/store_sql_private.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#if SQLITE_VERSION_NUMBER < 3032000
#error "cubc needs SQLite 3.32 or newer (for sqlite3_create_filename)"
#endif

static const double look_s = 50e-3; // between two looks at interrupts, which wait for the GIL
enum {
    STEPS = 5000,  // of SQLite's machine between two calls of progress(): about a millisecond
    PATIENCE = 20, // such calls until a schema is given up; ours takes less than one
};

bool sql_is_inherited(const sql *s)
{
    return s->forks != fork_count();
}

// Called by SQLite while another process holds the lock it needs; 0 gives up. A handler of a signal
// may fork: the child leaves the call to its parent.
static int busy(void *context, int tries)
{
    sql *s = context;
    if (tries == 0) s->waiting_since = now_seconds();
    s->interrupted = interrupt_pending();
    if (s->interrupted || sql_is_inherited(s) || now_seconds() - s->waiting_since >= s->wait_s)
        return 0;
    nap(tries < 20 ? 1e-3 * (1 + tries) : 0.02);
    return 1;
}

// Called by SQLite as it computes; other than 0 ends the statement.
static int progress(void *context)
{
    sql *s = context;
    double now = now_seconds();
    if (now - s->looked > look_s) {
        s->looked = now;
        s->interrupted = interrupt_pending();
    }
    return s->interrupted || sql_is_inherited(s) || (s->patience > 0 && --s->patience == 0);
}

// ---- opening ----------------------------------------------------------------------------------
static cubc_status make_uri(const char *path, text *out)
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
    return text_done(out);
}

static cubc_status harden(sql *s)
{
    static const struct {
        int option, value;
    } options[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_ENABLE_FKEY, 1},    {SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1},
    };
    static const struct {
        int what, most;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, SQL_MOST_BYTES},
        {SQLITE_LIMIT_SQL_LENGTH, 8192},
        {SQLITE_LIMIT_COLUMN, 100},
        {SQLITE_LIMIT_ATTACHED, 0},
    };
    for (size_t i = 0; i < COUNT_OF(options); i++)
        if (sqlite3_db_config(s->db, options[i].option, options[i].value, NULL))
            FAIL(CUBC_STORE_ERROR, "this SQLite (%s) is too old for cubc: 3.32 or newer is needed",
                 sqlite3_libversion());
    for (size_t i = 0; i < COUNT_OF(limits); i++)
        sqlite3_limit(s->db, limits[i].what, limits[i].most);
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_busy_handler(s->db, busy, s);
    sqlite3_progress_handler(s->db, STEPS, progress, s);
    s->patience = PATIENCE;
    return sql_execute(s, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;"
                          "PRAGMA temp_store = MEMORY");
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

void sql_trust(sql *s)
{
    s->patience = 0;
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
}

static cubc_status connect(sql *s, const char *name, int flags, const char *file_system)
{
    int64_t tables;
    // No mutexes of SQLite's own: our owner has one. No cache that another user of SQLite in this
    // process may have asked for: it would take all images for one file.
    flags |= SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    int code = sqlite3_open_v2(name, &s->db, flags, file_system);
    if (!s->db) FAIL(CUBC_NO_MEMORY, "out of host memory while opening %s", s->path);
    if (code) SQL_FAIL(s);
    TRY(harden(s));
    TRY(sql_integer(s, "SELECT count(*) FROM sqlite_master", &tables)); // reads for the first time
    if (sqlite3_prepare_v2(s->db, "ROLLBACK", -1, &s->rollback, NULL)) SQL_FAIL(s);
    return CUBC_OK;
}

// ---- writers and forks --------------------------------------------------------------------------
// SQLite takes a forked child to have the locks of its parent's connections, which it has not. It
// would write without any.
FORK_SAFE_MUTEX(writers_lock);
static sql *writers; // a list that is whole whenever another thread forks

static cubc_status refuse_inherited(const char *path)
{
    struct stat info;
    bool found = false;
    if (stat(path, &info)) return CUBC_OK;
    pthread_mutex_lock(&writers_lock);
    for (const sql *w = writers; w; w = w->next_writer)
        found |= sql_is_inherited(w) && w->device == info.st_dev && w->inode == info.st_ino;
    pthread_mutex_unlock(&writers_lock);
    if (found)
        FAIL(CUBC_INVALID_ARGUMENT,
             "%s was open for writing when this process was forked, and SQLite's locks do not hold "
             "for it here: close it before the fork, or start the process with spawn",
             path);
    return CUBC_OK;
}

static void locate(sql *s)
{
    struct stat info;
    if (stat(s->path, &info)) return; // it is not there yet, or was removed, as its next use says
    s->device = info.st_dev;
    s->inode = info.st_ino;
}

static void add_writer(sql *s)
{
    pthread_mutex_lock(&writers_lock);
    s->next_writer = writers;
    __atomic_store_n(&writers, s, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&writers_lock);
}

static void remove_writer(sql *s)
{
    sql **link = &writers;
    pthread_mutex_lock(&writers_lock);
    while (*link && *link != s) link = &(*link)->next_writer;
    if (*link) __atomic_store_n(link, s->next_writer, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&writers_lock);
}

// ---- making and closing -------------------------------------------------------------------------
// SQLite takes names like ":memory:" and "file:..." for more than files; a URI of ours does not.
static cubc_status connect_writer(sql *s)
{
    text uri = {0};
    TRY(refuse_inherited(s->path));
    TRY(image_check_journal(s->path)); // the first read plays it back
    cubc_status st = make_uri(s->path, &uri);
    locate(s);
    add_writer(s); // first: a handler of a signal may fork as the file is opened
    if (!st)
        st = connect(s, uri.data, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                     NULL);
    text_free(&uri);
    locate(s); // what it has made
    return st;
}

static cubc_status connect_image(sql *s)
{
    const char *file_system;
    TRY(image_file_system(&s->image, &file_system));
    return connect(s, "store", SQLITE_OPEN_READONLY, file_system);
}

static cubc_status make(const char *path, const char *const *statements, int count, sql **out)
{
    *out = NULL;
    if (!sqlite3_threadsafe())
        FAIL(CUBC_STORE_ERROR, "this SQLite was built without support for threads");
    sql *s = mem_zalloc(1, sizeof *s);
    if (!s) return CUBC_NO_MEMORY;
    *s = (sql){
        .statements = statements, .count = count, .wait_s = SQL_WAIT_S, .forks = fork_count()};
    s->path = mem_strdup(path);
    s->prepared = mem_zalloc((size_t)count + 1, sizeof *s->prepared);
    if (s->path && s->prepared) {
        *out = s;
        return CUBC_OK;
    }
    sql_close(s);
    return CUBC_NO_MEMORY;
}

cubc_status sql_open(const char *path, bool write, double wait_s, const char *const *statements,
                     int count, sql **out)
{
    cubc_status st;
    sql *s;
    *out = NULL;
    TRY(make(path, statements, count, &s));
    s->wait_s = wait_s;
    if (write) {
        GUARD(st, connect_writer(s), failed);
    } else {
        GUARD(st, image_read(path, s->wait_s, &s->image), failed);
        GUARD(st, connect_image(s), failed);
    }
    *out = s;
    return CUBC_OK;
failed:
    sql_close(s);
    return st;
}

cubc_status sql_open_image(const char *path, store_image *image, const char *const *statements,
                           int count, sql **out)
{
    sql *s;
    *out = NULL;
    cubc_status st = make(path, statements, count, &s);
    if (st) {
        image_free(image);
        return st;
    }
    s->image = *image;
    *image = (store_image){0};
    st = connect_image(s);
    if (st)
        sql_close(s);
    else
        *out = s;
    return st;
}

void sql_close(sql *s)
{
    if (!s || sql_is_inherited(s)) return; // it is its parent's: not even its log is to be touched
    remove_writer(s);
    disconnect(s);
    image_free(&s->image);
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

size_t sql_image_bytes(const sql *s)
{
    return s->image.size;
}

void sql_checkpoint(sql *s)
{
    sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

void sql_set_wait(sql *s, double seconds)
{
    s->wait_s = seconds;
}

static bool is_on_network(const char *path)
{
    static const uint32_t network[] = {
        0x6969,     0x517b,     0xff534d42, 0xfe534d42, 0x5346414f, // NFS, SMB, CIFS, SMB2, AFS
        0x01021997, 0x00c36400, 0x0bd00bd0, 0x47504653, 0x19830326, // 9P Ceph Lustre GPFS BeeGFS
        0x65735546, 0x01161970, 0x7461636f, // FUSE (sshfs, s3fs, ...) GFS2 OCFS2
    };
    struct statfs info;
    if (statfs(path, &info)) return false;
    for (size_t i = 0; i < COUNT_OF(network); i++)
        if ((uint32_t)info.f_type == network[i]) return true;
    return false;
}

static cubc_status set_mode(sql *s, const char *pragma, const char *wished, bool *got, int *code)
{
    sqlite3_stmt *statement;
    s->interrupted = false;
    if (sqlite3_prepare_v2(s->db, pragma, -1, &statement, NULL)) SQL_FAIL(s);
    *code = sqlite3_step(statement);
    const char *mode = *code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    *got = mode && strcmp(mode, wished) == 0;
    if (sqlite3_finalize(statement) && s->interrupted) SQL_FAIL(s);
    return CUBC_OK;
}

// SQLite does not call busy() where two processes set the mode of a new file at the same time,
// since each might wait for the other.
static cubc_status set_log(sql *s, bool *got)
{
    const double until = now_seconds() + s->wait_s;
    for (int code = SQLITE_BUSY;;) {
        TRY(set_mode(s, "PRAGMA journal_mode = WAL", "wal", got, &code));
        if (code != SQLITE_BUSY || now_seconds() >= until || sql_is_inherited(s)) return CUBC_OK;
        TRY(image_check_interrupt(s->path));
        nap(0.002);
    }
}

// The mode that results may not be the one wished for, which is no error: the store works in both.
cubc_status sql_set_journal(sql *s)
{
    bool wal = false;
    if (is_on_network(s->path))
        TRY(sql_execute(s, "PRAGMA journal_mode = DELETE"));
    else
        TRY(set_log(s, &wal));
    s->has_log = wal;
    return sql_execute(s, wal ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
}

bool sql_has_log(const sql *s)
{
    return s->has_log;
}
