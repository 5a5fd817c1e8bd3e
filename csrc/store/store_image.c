// Stores in memory: see store_image.h. Here a file and its log are read; store_log.c puts them
// together, store_memory.c shows the result to SQLite.
//
// The order of reading makes it one moment: the log's header, the file, the log, and its header
// again. Writers move committed pages from the log into the file while we read, but each of them is
// in the log still, unless the log was begun anew, which changes its header: then all is read
// again. The file is opened through SQLite's own functions: closing a descriptor of ours would
// release the locks that a connection of this process holds on it.
#define _POSIX_C_SOURCE 200809L
#include "store/store_image.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PIECE = 1 << 20, // bytes between two looks at interrupts
    TRIES = 100,     // readings of a file whose log is begun anew all the time
};
static const uint64_t most_bytes = UINT64_C(4) << 30; // of a file, of a log
static const uint8_t journal_magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};

typedef struct source {
    sqlite3_vfs *vfs;
    const char *path; // as it was given
    char *full;       // with links followed, as SQLite names the files beside it
    const char *name; // `full` as SQLite wants it
    char *log, *journal;
    sqlite3_file *file;
    bool is_open;
} source;

// ---- the files beside a store -----------------------------------------------------------------
// Opens a plain file; *file is -1 where there is none.
static cubc_status open_beside(const char *path, int *file, size_t *size)
{
    struct stat info;
    *size = 0;
    *file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (*file < 0 && errno != ENOENT)
        FAIL(CUBC_IO_ERROR, "cannot read %s: %s", path, strerror(errno));
    if (*file >= 0 && (fstat(*file, &info) || !S_ISREG(info.st_mode))) {
        close(*file);
        *file = -1;
    }
    if (*file >= 0) *size = (size_t)info.st_size;
    return CUBC_OK;
}

static cubc_status check_size(const char *path, uint64_t size)
{
    if (size > most_bytes)
        FAIL(CUBC_STORE_ERROR, "%s is larger than %d GiB, the most that is read of a store", path,
             (int)(most_bytes >> 30));
    return CUBC_OK;
}

// Up to `size` bytes; *got says how many there were.
static cubc_status read_beside(const char *path, int file, uint8_t *to, size_t size, size_t *got)
{
    for (*got = 0; *got < size;) {
        size_t left = size - *got;
        ssize_t n = read(file, to + *got, left < PIECE ? left : PIECE);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) FAIL(CUBC_IO_ERROR, "cannot read %s: %s", path, strerror(errno));
        if (n == 0) break;
        *got += (size_t)n;
        TRY(image_check_interrupt(path));
    }
    return CUBC_OK;
}

// The first bytes of the log; zeros if there is none.
static cubc_status read_log_header(const source *s, uint8_t header[IMAGE_LOG_HEADER])
{
    int file;
    size_t size, got;
    memset(header, 0, IMAGE_LOG_HEADER);
    TRY(open_beside(s->log, &file, &size));
    if (file < 0) return CUBC_OK;
    cubc_status st = read_beside(s->log, file, header, IMAGE_LOG_HEADER, &got);
    close(file);
    if (got < IMAGE_LOG_HEADER) memset(header, 0, IMAGE_LOG_HEADER);
    return st;
}

static cubc_status read_log(const source *s, uint8_t **log, size_t *got)
{
    int file;
    size_t size;
    cubc_status st;
    *log = NULL;
    *got = 0;
    TRY(open_beside(s->log, &file, &size));
    if (file < 0) return CUBC_OK;
    GUARD(st, check_size(s->log, size), done);
    st = CUBC_NO_MEMORY;
    if (!(*log = mem_alloc(size, 1))) goto done;
    st = read_beside(s->log, file, *log, size, got);
done:
    close(file);
    return st;
}

// True if a journal holds pages that a killed writer would want back, or cannot be read. Its first
// byte is 0 once its transaction is done.
static bool is_hot(const char *journal)
{
    int file;
    size_t size;
    uint8_t first = 0;
    if (open_beside(journal, &file, &size)) {
        error_clear(); // whoever wants to play it back will say so
        return true;
    }
    if (file < 0) return false;
    bool hot = read(file, &first, 1) == 1 && first;
    close(file);
    return hot;
}

// ---- the file ---------------------------------------------------------------------------------
static cubc_status refuse_file(const source *s, int code)
{
    int cause = errno;
    if (code == SQLITE_NOMEM) FAIL(CUBC_NO_MEMORY, "out of host memory while reading %s", s->path);
    FAIL(CUBC_IO_ERROR, "cannot read store %s: %s", s->path,
         cause ? strerror(cause) : sqlite3_errstr(code));
}

static char *joined(const char *path, const char *end)
{
    text t = {0};
    text_puts(&t, path);
    text_puts(&t, end);
    if (!text_done(&t)) return t.data;
    text_free(&t);
    return NULL;
}

static cubc_status find_names(source *s, const char *path)
{
    *s = (source){.vfs = sqlite3_vfs_find(NULL), .path = path};
    if (!s->vfs) FAIL(CUBC_STORE_ERROR, "this SQLite has no file system");
    if (!(s->full = mem_zalloc((size_t)s->vfs->mxPathname + 1, 1))) return CUBC_NO_MEMORY;
    int code = s->vfs->xFullPathname(s->vfs, s->path, s->vfs->mxPathname + 1, s->full);
    if (code != SQLITE_OK && code != SQLITE_OK_SYMLINK)
        FAIL(CUBC_IO_ERROR, "cannot open store %s: its path is too long, or its links lead nowhere",
             s->path);
    if (!(s->log = joined(s->full, "-wal"))) return CUBC_NO_MEMORY;
    if (!(s->journal = joined(s->full, "-journal"))) return CUBC_NO_MEMORY;
    return CUBC_OK;
}

static cubc_status open_file(source *s)
{
    int code;
    if (!(s->name = sqlite3_create_filename(s->full, s->journal, s->log, 0, NULL)))
        FAIL(CUBC_NO_MEMORY, "out of host memory while opening %s", s->path);
    if (!(s->file = mem_zalloc(1, (size_t)s->vfs->szOsFile))) return CUBC_NO_MEMORY;
    errno = 0;
    code =
        s->vfs->xOpen(s->vfs, s->name, s->file, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, NULL);
    s->is_open = s->file->pMethods != NULL;
    return code ? refuse_file(s, code) : CUBC_OK;
}

static void close_source(source *s)
{
    if (s->is_open) {
        s->file->pMethods->xUnlock(s->file, SQLITE_LOCK_NONE);
        s->file->pMethods->xClose(s->file);
    }
    mem_free(s->file);
    if (s->name) sqlite3_free_filename(s->name);
    mem_free(s->full);
    mem_free(s->log);
    mem_free(s->journal);
}

// The lock that keeps a writer without a log from changing the file, and one with a log from
// removing it.
static cubc_status lock_file(source *s, double wait_s)
{
    double since = now_seconds();
    int code;
    while ((code = s->file->pMethods->xLock(s->file, SQLITE_LOCK_SHARED)) == SQLITE_BUSY) {
        TRY(image_check_interrupt(s->path));
        if (now_seconds() - since >= wait_s)
            FAIL(CUBC_STORE_ERROR,
                 "%s is locked by another process: waited %.3g s; end that process, or read a copy",
                 s->path, wait_s);
        nap(0.01);
    }
    return code ? refuse_file(s, code) : CUBC_OK;
}

// The journal of a transaction over several files, which a store has no part in, ends with the name
// of another journal; SQLite deletes that file, whatever it is, after playing this one back.
static cubc_status check_journal_of(const source *s)
{
    int file;
    size_t size;
    uint8_t end[8] = {0};
    TRY(open_beside(s->journal, &file, &size));
    if (file < 0) return CUBC_OK;
    bool whole =
        size < sizeof end || file_read_at(file, size - sizeof end, end, sizeof end) == sizeof end;
    close(file);
    if (whole && memcmp(end, journal_magic, sizeof end) != 0) return CUBC_OK;
    FAIL(CUBC_STORE_ERROR,
         "%s-journal names another file to delete, which no journal of a store does: move it away",
         s->path);
}

static cubc_status check_hot(source *s)
{
    int writing = 0;
    if (!is_hot(s->journal)) return CUBC_OK;
    s->file->pMethods->xCheckReservedLock(s->file, &writing);
    if (writing)
        return CUBC_OK; // its file is as it was before, and stays so while we hold the lock
    if (!is_hot(s->journal)) return CUBC_OK; // a writer has ended in between
    TRY(check_journal_of(s));
    FAIL(CUBC_STORE_ERROR,
         "%s was left half written: %s-journal waits to be played back, which reading does not do; "
         "if both are yours, a search that writes to the store does it; if not, move the journal "
         "away",
         s->path, s->path);
}

static cubc_status size_of(const source *s, sqlite3_int64 *size)
{
    const int code = s->file->pMethods->xFileSize(s->file, size);
    return code ? refuse_file(s, code) : check_size(s->path, (uint64_t)*size);
}

static cubc_status read_pieces(const source *s, uint8_t *to, sqlite3_int64 size)
{
    for (sqlite3_int64 at = 0; at < size; at += PIECE) {
        const sqlite3_int64 left = size - at;
        TRY(image_check_interrupt(s->path));
        errno = 0;
        const int code =
            s->file->pMethods->xRead(s->file, to + at, (int)(left < PIECE ? left : PIECE), at);
        if (code && code != SQLITE_IOERR_SHORT_READ) return refuse_file(s, code);
    }
    return CUBC_OK;
}

static cubc_status read_file(source *s, store_image *out)
{
    sqlite3_int64 size = 0;
    TRY(size_of(s, &size));
    if (size < IMAGE_HEADER)
        FAIL(CUBC_STORE_ERROR,
             size ? "%s is not a cubc store: it is too short; give another file"
                  : "%s is empty: it is not a store yet; \"cubc search\" fills "
                    "one, or give another file",
             s->path);
    uint8_t *bytes = mem_realloc(out->bytes, (size_t)size, 1);
    if (!bytes) return CUBC_NO_MEMORY;
    out->bytes = bytes;
    out->size = (size_t)size;
    return read_pieces(s, bytes, size);
}

// *again: the log was begun anew meanwhile.
static cubc_status read_once(source *s, store_image *out, bool *again)
{
    uint8_t before[IMAGE_LOG_HEADER], after[IMAGE_LOG_HEADER], *log = NULL;
    size_t size;
    cubc_status st;
    *again = false;
    TRY(read_log_header(s, before));
    TRY(read_file(s, out));
    GUARD(st, read_log(s, &log, &size), done);
    GUARD(st, read_log_header(s, after), done);
    *again = memcmp(before, after, IMAGE_LOG_HEADER) != 0 ||
             (size >= IMAGE_LOG_HEADER && memcmp(log, before, IMAGE_LOG_HEADER) != 0);
    if (!*again) st = image_apply_log(s->path, log, size, out);
done:
    mem_free(log);
    return st;
}

static cubc_status read_locked(source *s, double wait_s, store_image *out)
{
    bool again = true;
    TRY(open_file(s));
    TRY(lock_file(s, wait_s));
    TRY(check_hot(s));
    for (int k = 0; again && k < TRIES; k++) TRY(read_once(s, out, &again));
    if (again)
        FAIL(CUBC_STORE_ERROR, "%s changes too fast to be read: end its writers, or read a copy",
             s->path);
    return CUBC_OK;
}

cubc_status image_read(const char *path, double wait_s, store_image *out)
{
    source s;
    *out = (store_image){0};
    cubc_status st = find_names(&s, path);
    if (!st) st = read_locked(&s, wait_s, out);
    close_source(&s);
    if (st) image_free(out);
    return st;
}

static cubc_status read_begin(source *s, size_t most, store_image *out)
{
    sqlite3_int64 size;
    TRY(open_file(s));
    TRY(size_of(s, &size));
    out->size = (size_t)size < most ? (size_t)size : most;
    if (!(out->bytes = mem_alloc(out->size + 1, 1))) return CUBC_NO_MEMORY;
    return read_pieces(s, out->bytes, (sqlite3_int64)out->size);
}

cubc_status image_read_begin(const char *path, size_t most, store_image *out)
{
    source s;
    *out = (store_image){0};
    cubc_status st = find_names(&s, path);
    if (!st) st = read_begin(&s, most, out);
    close_source(&s);
    if (st) image_free(out);
    return st;
}

void image_free(store_image *image)
{
    mem_free(image->bytes);
    *image = (store_image){0};
}

// SQLite would wait at a pipe for somebody to write to it.
static cubc_status check_plain(const char *path)
{
    struct stat info;
    if (lstat(path, &info) || S_ISREG(info.st_mode)) return CUBC_OK;
    FAIL(CUBC_STORE_ERROR, "%s is no plain file, as one beside a store is: move it away", path);
}

cubc_status image_check_journal(const char *path)
{
    source s;
    cubc_status st = find_names(&s, path);
    if (!st) st = check_plain(s.journal);
    if (!st) st = check_plain(s.log);
    if (!st) st = check_journal_of(&s);
    close_source(&s);
    return st;
}
