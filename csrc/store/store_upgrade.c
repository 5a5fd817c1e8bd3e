// Stores of an earlier version become stores of the newest: see store_private.h.
//
// Reading an older store needs no upgrade; writing to one does. Its rows are read with the SELECT
// of its version into a new store beside it, checked and bounded like all that is read. Then its
// tables are dropped and written anew from there. All this is one transaction that nobody else may
// write during, so that the file is the old store or the new one at any moment. The file stays the
// same one: SQLite knows the log beside a store by its name, and would take it for another file's.
#define _XOPEN_SOURCE 700
#include "store/store_private.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- copying ----------------------------------------------------------------------------------
// A row of texts and integers, column by column.
static cubc_status copy_row(sql_query *from, store *to, int put)
{
    sql_query q;
    bool any;
    TRY(sql_start(to->db, put, &q));
    for (int k = sql_columns(from); k > 0; k--) {
        const char *value;
        int64_t number;
        size_t length;
        if (sql_read_integer(from, &number)) {
            sql_bind_integer(&q, number);
            continue;
        }
        from->next--;
        if (!sql_read_text(from, &value, &length)) value = NULL; // then the new table refuses it
        sql_bind_text(&q, value);
    }
    cubc_status st = sql_step(&q, &any);
    sql_finish(&q);
    return st;
}

static cubc_status copy_table(sql *old, int all, store *to, int put)
{
    sql_query q;
    bool row = true;
    cubc_status st;
    TRY(sql_start(old, all, &q));
    while (!(st = sql_step(&q, &row)) && row && !(st = copy_row(&q, to, put))) continue;
    sql_finish(&q);
    return st;
}

static cubc_status copy_measurements(store *from, store *to)
{
    store_cursor *c;
    store_record record;
    cubc_status st;
    bool more;
    TRY(store_begin(from, &c));
    while (!(st = store_next(c, &record, &more)) && more &&
           !(st = store_put(to, ADD, record.id, &record)))
        continue;
    store_end(c);
    return st;
}

static cubc_status copy_all(sql *old, int version, store *to)
{
    store from;
    store_init(&from, old, version, false);
    TRY(copy_table(old, ALL_DEVICES, to, PUT_DEVICE));
    TRY(copy_table(old, ALL_ENVIRONMENTS, to, PUT_ENVIRONMENT));
    TRY(copy_table(old, ALL_BENCHMARKS, to, PUT_BENCHMARK));
    return copy_measurements(&from, to);
}

// A file of the newest version.
static cubc_status open_newest(const char *name, bool write, store **out)
{
    int version;
    sql *db;
    TRY(schema_open(name, write, SQL_WAIT_S, &db, &version));
    return store_make(db, version, write, out);
}

static cubc_status write_new(sql *old, int version, const char *name)
{
    store *to;
    TRY(open_newest(name, true, &to));
    cubc_status st = sql_begin(to->db);
    if (!st) st = sql_end(to->db, copy_all(old, version, to));
    store_close(to);
    return st;
}

// ---- files ------------------------------------------------------------------------------------
#define REFUSED(what, path) FAIL(CUBC_IO_ERROR, "cannot %s %s: %s", (what), (path), strerror(errno))

static cubc_status make_name(const char *full, text *name)
{
    text_printf(name, "%s.XXXXXX", full);
    TRY(text_done(name));
    int file = mkstemp(name->data);
    if (file < 0) {
        name->length = 0;
        REFUSED("write beside", full);
    }
    close(file);
    return CUBC_OK;
}

static void remove_files(const text *name)
{
    static const char *const ends[] = {"-wal", "-shm", "-journal", ""};
    char file[PATH_MAX];
    for (size_t i = 0; name->length && i < COUNT_OF(ends); i++) {
        snprintf(file, sizeof file, "%s%s", name->data, ends[i]);
        unlink(file);
    }
}

// All rows as a store in memory; its file is gone again.
static cubc_status copy_out(sql *old, int version, const char *path, store **out)
{
    char full[PATH_MAX];
    text name = {0};
    cubc_status st;
    if (!realpath(path, full)) REFUSED("find", path);
    GUARD(st, make_name(full, &name), done);
    GUARD(st, write_new(old, version, name.data), done);
    st = open_newest(name.data, false, out);
done:
    if (!sql_is_inherited(old)) remove_files(&name); // else they are its parent's
    text_free(&name);
    return st;
}

static cubc_status copy_back(store *from, sql *old)
{
    store to;
    store_init(&to, old, STORE_VERSION, true);
    TRY(sql_execute(old, "DROP VIEW result; DROP TABLE measurement; DROP TABLE benchmark;"
                         "DROP TABLE environment; DROP TABLE device"));
    TRY(schema_write(old, STORE_VERSION));
    return copy_all(from->db, STORE_VERSION, &to);
}

cubc_status store_check_pages(sql *db)
{
    int64_t damaged;
    TRY(sql_integer(db, "SELECT count(*) FROM pragma_quick_check(1) WHERE quick_check <> 'ok'",
                    &damaged));
    if (damaged)
        FAIL(CUBC_STORE_ERROR, "%s has damaged pages: move it away, or restore a copy",
             sql_path(db));
    return CUBC_OK;
}

static cubc_status replace(sql *old, int version, const char *path)
{
    store *copy = NULL;
    TRY(store_check_pages(old));
    cubc_status st = copy_out(old, version, path, &copy);
    if (!st) st = copy_back(copy, old);
    store_close(copy);
    return st;
}

static cubc_status upgrade_locked(sql *old, const char *path)
{
    int version;
    TRY(sql_begin_exclusive(old));
    cubc_status st = schema_identify(old, &version); // somebody else may have been at it
    if (!st && version < STORE_VERSION) st = replace(old, version, path);
    return sql_end(old, st);
}

cubc_status store_upgrade(sql *old, const char *path)
{
    cubc_status st = upgrade_locked(old, path);
    sql_close(old);
    if (!st || st == CUBC_INTERRUPTED || st == CUBC_NO_MEMORY) return st;
    FAIL(CUBC_STORE_ERROR,
         "%s was written by an older cubc and cannot be upgraded to store version %d where it is "
         "(%.300s); it is as it was and can be read: search into another file, with it as warm=",
         path, (int)STORE_VERSION, cubc_error_message());
}
