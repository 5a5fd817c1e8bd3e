// The store of measurements: see store.h. Devices, and rows on their way in; store_open.c opens a
// store, store_read.c has the rows' way out, store_columns.h the columns, store_schema.c the
// tables, store_connect.c SQLite with all that concerns durability and trust.
//
// A store holds one connection and one mutex: any thread may use it, one at a time. SQLite's waits
// run handlers of signals, whose calls of the same store are refused.
#define _POSIX_C_SOURCE 200809L
#include "store/store_private.h"

#include <math.h>
#include <string.h>
#include <time.h>

// Rows lie in the log beside the file until they are moved into it, which waits for the disk: after
// this number of rows, or if the last time is longer ago than checkpoint_s.
enum { CHECKPOINT_ROWS = 100 };
static const double checkpoint_s = 1.0;

// ---- the store --------------------------------------------------------------------------------
void store_init(store *s, sql *db, int version, bool writable)
{
    *s = (store){.db = db, .version = version, .writable = writable};
    lock_make_checking(&s->mutex);
}

cubc_status store_make(sql *db, int version, bool writable, store **out)
{
    store *s = mem_zalloc(1, sizeof *s);
    if (!s) {
        sql_close(db);
        return CUBC_NO_MEMORY;
    }
    store_init(s, db, version, writable);
    cubc_status st = writable ? sql_written(db, &s->seen) : CUBC_OK;
    if (st)
        store_close(s);
    else
        *out = s;
    return st;
}

void store_close(store *s)
{
    if (!s) return;
    sql_close(s->db);
    for (int i = 0; i < 2; i++) store_free_buffers(&s->about_buffers[i]);
    pthread_mutex_destroy(&s->mutex);
    mem_free(s);
}

cubc_status store_lock(store *s)
{
    if (sql_is_inherited(s->db))
        FAIL(CUBC_INVALID_ARGUMENT,
             "%s was opened before this process was forked, and SQLite's connections are of one "
             "process: close it before the fork and open it after, or start the process with spawn",
             sql_path(s->db));
    return lock_or_interrupted(
        &s->mutex, "a call of a store was made from within another, as by a signal handler");
}

cubc_status store_set_wait(store *s, double seconds)
{
    TRY(store_lock(s));
    sql_set_wait(s->db, seconds);
    pthread_mutex_unlock(&s->mutex);
    return CUBC_OK;
}

// ---- device and environment -------------------------------------------------------------------
static cubc_status add_device(store *s, const device_info *info)
{
    const char *texts[] = {info->model, info->name, info->kind, info->arch};
    const int64_t integers[] = {
        info->warp_size,           info->max_threads,
        info->threads_per_sm,      info->shared_bytes_per_block,
        info->shared_bytes_per_sm, info->l2_bytes,
        info->memory_bytes,        info->clock_khz,
        info->memory_clock_khz,    info->bus_bits,
    };
    sql_query q;
    bool row;
    TRY(sql_start(s->db, ADD_DEVICE, &q));
    sql_bind_text(&q, info->uuid);
    sql_bind_integer(&q, info->sm_count);
    sql_bind_integer(&q, info->ecc);
    for (size_t i = 0; i < COUNT_OF(texts); i++) sql_bind_text(&q, texts[i]);
    for (size_t i = 0; i < COUNT_OF(integers); i++) sql_bind_integer(&q, integers[i]);
    cubc_status st = sql_step(&q, &row);
    sql_finish(&q);
    return st;
}

// Takes the number of a row of another table, and those columns of it that a record has; the number
// is -1 if there is none.
static cubc_status take_found(sql_query *q, int first, int end, store_buffers *buffers,
                              store_record *record, int64_t *id)
{
    bool row;
    size_t bytes;
    const char *bad = NULL;
    *id = -1;
    cubc_status st = sql_step(q, &row);
    if (row && !sql_read_integer(q, id)) bad = "no number";
    if (row && !bad) st = store_read_columns(q, first, end, buffers, record, &bad, &bytes);
    sql_finish(q);
    if (st || !bad) return st;
    FAIL(CUBC_STORE_ERROR, "%s is damaged: a device or an environment of it has %s; restore a copy",
         sql_path(q->s), bad);
}

static cubc_status find_device(store *s, const device_info *info, store_buffers *buffers,
                               store_record *about)
{
    sql_query q;
    TRY(sql_start(s->db, FIND_DEVICE, &q));
    sql_bind_text(&q, info->uuid);
    sql_bind_integer(&q, info->sm_count);
    sql_bind_integer(&q, info->ecc);
    return take_found(&q, STORE_DEVICE_AT, STORE_ENVIRONMENT_AT, buffers, about, &about->device_id);
}

static cubc_status start_environment(store *s, int which, const device_info *info,
                                     const char *version, sql_query *q)
{
    TRY(sql_start(s->db, which, q));
    sql_bind_text(q, info->driver);
    sql_bind_text(q, info->runtime);
    sql_bind_text(q, info->compiler);
    sql_bind_text(q, version);
    return CUBC_OK;
}

static cubc_status add_environment(store *s, const device_info *info, const char *version)
{
    sql_query q;
    bool row;
    TRY(start_environment(s, ADD_ENVIRONMENT, info, version, &q));
    cubc_status st = sql_step(&q, &row);
    sql_finish(&q);
    return st;
}

static cubc_status find_environment(store *s, const device_info *info, const char *version,
                                    store_buffers *buffers, store_record *about)
{
    sql_query q;
    TRY(start_environment(s, FIND_ENVIRONMENT, info, version, &q));
    return take_found(&q, STORE_ENVIRONMENT_AT, STORE_KEY_AT, buffers, about,
                      &about->environment_id);
}

cubc_status store_set_about(store *s, const device_info *info, const char *version)
{
    if (s->writable) {
        TRY(add_device(s, info));
        TRY(add_environment(s, info, version));
    }
    store_record about = {0};
    store_buffers buffers[2] = {0};
    cubc_status st;
    GUARD(st, find_device(s, info, &buffers[0], &about), failed);
    GUARD(st, find_environment(s, info, version, &buffers[1], &about), failed);
    for (int i = 0; i < 2; i++) {
        store_free_buffers(&s->about_buffers[i]);
        s->about_buffers[i] = buffers[i];
    }
    s->about = about;
    return CUBC_OK;
failed:
    for (int i = 0; i < 2; i++) store_free_buffers(&buffers[i]);
    return st;
}

static cubc_status device_locked(store *s, const device_info *info, const char *version)
{
    if (!s->writable) return store_set_about(s, info, version);
    TRY(sql_begin(s->db));
    cubc_status st = sql_end(s->db, store_set_about(s, info, version));
    if (st) s->about = (store_record){0}; // its numbers went with the transaction
    return st;
}

cubc_status store_device(store *s, const device_info *info, const char *version)
{
    if (!version) FAIL(CUBC_INVALID_ARGUMENT, "the version of cubc is missing");
    TRY(store_lock(s));
    cubc_status st = device_locked(s, info, version);
    pthread_mutex_unlock(&s->mutex);
    return st;
}

// ---- rows -------------------------------------------------------------------------------------
static cubc_status check_key(const store_row *row)
{
    const char *const texts[] = {row->benchmark, row->axes,    row->source_hash,
                                 row->ct,        row->variant, row->rt};
    static const char *const names[] = {"benchmark", "axes", "source_hash", "ct", "variant", "rt"};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (!texts[i]) FAIL(CUBC_INVALID_ARGUMENT, "a row of the store needs a %s", names[i]);
    return CUBC_OK;
}

static cubc_status check_device(const store *s)
{
    if (s->about.device_id) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT, "%s: the device is not set: call store_device first",
         sql_path(s->db));
}

static bool are_good_series(const store_row *row)
{
    const store_series *const all[] = {&row->samples, &row->base_samples, &row->clocks,
                                       &row->base_clocks};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (!store_are_positive(*all[i])) return false;
    return store_have_clocks(row);
}

// The columns that a caller gives, with which a row begins.
static cubc_status check_column(const store_row *row, const store_column *column)
{
    const void *value = (const char *)row + column->offset;
    size_t bytes = 0;
    bool good = true;
    if (column->kind == STORE_TEXT) bytes = strlen(*(const char *const *)value);
    if (column->kind == STORE_SERIES) bytes = 4 * ((const store_series *)value)->count;
    if (column->kind == STORE_COUNT) good = *(const int *)value >= 0;
    if (column->kind == STORE_REAL)
        good = *(const double *)value >= 0.0 && *(const double *)value < INFINITY;
    if (!good)
        FAIL(CUBC_INVALID_ARGUMENT, "%s of %.80s %.80s is negative or not finite", column->name,
             row->benchmark, row->variant);
    if (bytes > column->most && column->most)
        FAIL(CUBC_INVALID_ARGUMENT, "%s of %.80s %.80s has %zu bytes, a store takes %zu",
             column->name, row->benchmark, row->variant, bytes, column->most);
    return CUBC_OK;
}

static cubc_status check_row(const store_row *row)
{
    TRY(check_key(row));
    if (!row->status || !row->message)
        FAIL(CUBC_INVALID_ARGUMENT, "a row of the store needs a status and a message");
    for (int i = 0; i < STORE_COLUMN_COUNT; i++)
        if (store_columns[i].offset < sizeof *row) TRY(check_column(row, &store_columns[i]));
    if (are_good_series(row)) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT,
         "%s %s: samples and clocks must be positive and finite, and clocks one a sample",
         row->benchmark, row->variant);
}

void store_bind_key(const store *s, sql_query *q, const store_row *row)
{
    sql_bind_text(q, row->benchmark);
    sql_bind_text(q, row->axes);
    sql_bind_text(q, row->source_hash);
    sql_bind_text(q, row->ct);
    sql_bind_text(q, row->variant);
    sql_bind_text(q, row->rt);
    sql_bind_integer(q, s->about.device_id);
    sql_bind_integer(q, s->about.environment_id);
    sql_bind_integer(q, row->round);
}

cubc_status store_put(store *s, int which, int64_t id, const store_record *record)
{
    sql_query q;
    bool any;
    uint8_t *encoded = NULL;
    TRY(sql_start(s->db, which, &q));
    if (id)
        sql_bind_integer(&q, id);
    else
        sql_bind_null(&q);
    sql_bind_integer(&q, (int64_t)store_checksum(record, STORE_VERSION));
    cubc_status st = store_bind(&q, record, &encoded);
    if (!st) st = sql_step(&q, &any);
    sql_finish(&q);
    mem_free(encoded);
    return st;
}

static cubc_status start_benchmark(store *s, int which, const store_row *row, sql_query *q)
{
    TRY(sql_start(s->db, which, q));
    sql_bind_text(q, row->benchmark);
    sql_bind_text(q, row->axes);
    return CUBC_OK;
}

// Adds the benchmark of a row, unless it is there, and sets the row's number of it.
static cubc_status set_benchmark(store *s, store_record *record)
{
    sql_query q;
    bool any;
    store_buffers none = {0};
    TRY(start_benchmark(s, ADD_BENCHMARK, &record->row, &q));
    cubc_status st = sql_step(&q, &any);
    sql_finish(&q);
    if (st) return st;
    TRY(start_benchmark(s, FIND_BENCHMARK, &record->row, &q));
    return take_found(&q, 0, 0, &none, record, &record->benchmark_id);
}

// A record with the store's device and environment.
static store_record with_about(const store *s, const store_record *record)
{
    store_record whole = s->about;
    whole.row = record->row;
    whole.center = record->center;
    whole.base_center = record->base_center;
    whole.created = record->created;
    return whole;
}

cubc_status store_put_row(store *s, int which, const store_record *record, bool *done)
{
    store_record whole = with_about(s, record);
    TRY(set_benchmark(s, &whole));
    TRY(store_put(s, which, 0, &whole));
    *done = sql_changed(s->db) > 0;
    return CUBC_OK;
}

cubc_status store_has_row(store *s, const store_record *record, bool *found)
{
    sql_query q;
    store_record whole = with_about(s, record);
    TRY(set_benchmark(s, &whole));
    TRY(sql_start(s->db, FIND_SAME, &q));
    store_bind_key(s, &q, &whole.row);
    sql_bind_integer(&q, (int64_t)store_checksum(&whole, STORE_VERSION));
    sql_bind_text(&q, whole.row.message);
    cubc_status st = sql_step(&q, found);
    sql_finish(&q);
    return st;
}

static void checkpoint(store *s, int rows)
{
    s->uncheckpointed += rows;
    if (s->uncheckpointed < CHECKPOINT_ROWS && now_seconds() - s->checkpointed < checkpoint_s)
        return;
    sql_checkpoint(s->db);
    s->uncheckpointed = 0;
    s->checkpointed = now_seconds();
}

cubc_status store_check_writable(const store *s)
{
    if (!s->writable) FAIL(CUBC_STORE_ERROR, "%s is open for reading only", sql_path(s->db));
    return CUBC_OK;
}

static cubc_status put_locked(store *s, int which, const store_record *record, bool *done)
{
    TRY(store_check_writable(s));
    TRY(check_device(s));
    TRY(sql_begin(s->db));
    cubc_status st = sql_end(s->db, store_put_row(s, which, record, done));
    if (st) *done = false;
    if (!st) checkpoint(s, 1);
    return st;
}

// A row as it is stored, its message cut; `created` becomes the present moment.
static cubc_status complete(store_record *record, char cut[STORE_MESSAGE + 1], char created[32])
{
    time_t now = time(NULL);
    struct tm utc;
    if (record->row.message) {
        copy_cut(record->row.message, cut, STORE_MESSAGE + 1);
        record->row.message = cut;
    }
    if (!record->row.metrics) record->row.metrics = "";
    if (!record->row.base_metrics) record->row.base_metrics = "";
    TRY(check_row(&record->row));
    TRY(store_set_centers(record));
    if (!gmtime_r(&now, &utc) || !strftime(created, 32, "%Y-%m-%dT%H:%M:%SZ", &utc))
        FAIL(CUBC_INTERNAL, "this machine's clock has no date");
    record->created = created;
    return CUBC_OK;
}

static cubc_status put(store *s, int which, const store_row *row, bool *done)
{
    char message[STORE_MESSAGE + 1], created[32];
    store_record record = {.row = *row};
    *done = false;
    TRY(complete(&record, message, created));
    TRY(store_lock(s));
    cubc_status st = put_locked(s, which, &record, done);
    pthread_mutex_unlock(&s->mutex);
    return st;
}

cubc_status store_add(store *s, const store_row *row, bool *added)
{
    return put(s, ADD, row, added);
}

cubc_status store_put_calls(store *s, const store_row *row, bool *is_put)
{
    return put(s, PUT_CALLS, row, is_put);
}

static cubc_status find_locked(store *s, const store_row *key, int64_t *id, bool *found)
{
    sql_query q;
    TRY(check_device(s));
    if (s->version == 1)
        FAIL(CUBC_STORE_ERROR, "%s is of store version 1, whose rows have no rounds: read them all",
             sql_path(s->db));
    TRY(sql_start(s->db, FIND, &q));
    store_bind_key(s, &q, key);
    cubc_status st = sql_step(&q, found);
    bool numbered = !*found || sql_read_integer(&q, id);
    sql_finish(&q);
    if (st || numbered) return st;
    FAIL(CUBC_STORE_ERROR, "%s is damaged: a row has no number; restore a copy", sql_path(s->db));
}

cubc_status store_find(store *s, const store_row *key, int64_t *id, bool *found)
{
    *found = false;
    TRY(check_key(key));
    TRY(store_lock(s));
    cubc_status st = find_locked(s, key, id, found);
    pthread_mutex_unlock(&s->mutex);
    return st;
}

// Adds a row that comes after another one of the same transaction, or first.
static cubc_status add_next(store *s, const store_record *before, store_record *record, int64_t *id)
{
    bool found = true;
    if (before && !strcmp(before->row.benchmark, record->row.benchmark) &&
        !strcmp(before->row.axes, record->row.axes))
        record->benchmark_id = before->benchmark_id;
    else
        TRY(set_benchmark(s, record));
    int64_t last = sql_last_row(s->db);
    TRY(store_put(s, ADD, 0, record));
    *id = sql_last_row(s->db);
    if (*id == last) TRY(find_locked(s, &record->row, id, &found)); // it was there
    if (!found) FAIL(CUBC_INTERNAL, "a row that was added to %s is not there", sql_path(s->db));
    return CUBC_OK;
}

static cubc_status add_each(store *s, const store_row *rows, const device_info *const *devices,
                            const char *version, int count, int64_t *ids)
{
    char message[STORE_MESSAGE + 1], created[32];
    store_record record = {0};
    for (int i = 0; i < count; i++) {
        store_record before = record;
        record = (store_record){.row = rows[i]};
        if (devices && (i == 0 || devices[i] != devices[i - 1]))
            TRY(store_set_about(s, devices[i], version));
        TRY(check_device(s));
        TRY(complete(&record, message, created));
        record = with_about(s, &record);
        TRY(add_next(s, i > 0 ? &before : NULL, &record, &ids[i]));
    }
    return CUBC_OK;
}

static cubc_status add_all_locked(store *s, const store_row *rows,
                                  const device_info *const *devices, const char *version, int count,
                                  int64_t *ids)
{
    TRY(store_check_writable(s));
    TRY(sql_begin(s->db));
    cubc_status st = sql_end(s->db, add_each(s, rows, devices, version, count, ids));
    if (st && devices) s->about = (store_record){0}; // its device may be gone with the transaction
    if (!st) checkpoint(s, count);
    return st;
}

cubc_status store_add_all(store *s, const store_row *rows, const device_info *const *devices,
                          const char *version, int count, int64_t *ids)
{
    TRY(store_lock(s));
    cubc_status st = add_all_locked(s, rows, devices, version, count, ids);
    pthread_mutex_unlock(&s->mutex);
    return st;
}

bool store_has_log(const store *s)
{
    return sql_has_log(s->db); // as it was opened
}
