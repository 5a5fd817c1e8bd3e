// The store of measurements: see store.h. Rows, checked on their way in and out; store_schema.c has
// the tables, store_sql.c SQLite with all that concerns durability and trust.
//
// A store holds one connection and one mutex: any thread may use it, one at a time. A cursor keeps
// only the id it has reached and takes one row a step, copied, so that a half-read store never
// keeps another process from writing.
#include "store.h"

#include "stats.h"
#include "store_schema.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

// The members of a record that NEXT gives after the id, in its order.
static const size_t text_members[] = {
    offsetof(store_record, row.benchmark),
    offsetof(store_record, row.axes),
    offsetof(store_record, row.source_hash),
    offsetof(store_record, row.ct),
    offsetof(store_record, row.variant),
    offsetof(store_record, row.rt),
    offsetof(store_record, row.status),
    offsetof(store_record, row.message),
    offsetof(store_record, created),
    offsetof(store_record, device_uuid),
    offsetof(store_record, device_model),
    offsetof(store_record, device_name),
    offsetof(store_record, arch),
    offsetof(store_record, driver),
    offsetof(store_record, runtime),
    offsetof(store_record, compiler),
    offsetof(store_record, version),
};
static const size_t int_members[] = {
    offsetof(store_record, row.registers),
    offsetof(store_record, row.local_bytes),
    offsetof(store_record, row.shared_bytes),
    offsetof(store_record, row.blocks_per_unit),
};

struct store {
    pthread_mutex_t mutex;
    sql *db;
    bool writable;
    int64_t device_id, environment_id; // 0: not set; -1: this store (open for reading) has none
};

struct store_cursor {
    store *s;
    int64_t last_id;
    bool finished;
    text texts;     // of the current record, each with its NUL
    float *samples; // of the current record, its base's behind them
    size_t capacity;
};

// ---- the store --------------------------------------------------------------------------------
cubc_status store_open(const char *path, int mode, store **out)
{
    *out = NULL;
    if (mode != STORE_READ && mode != STORE_CREATE)
        FAIL(CUBC_INVALID_ARGUMENT, "store mode %d is neither STORE_READ nor STORE_CREATE", mode);
    store *s = mem_zalloc(1, sizeof *s);
    if (!s) return CUBC_NO_MEMORY;
    s->writable = mode == STORE_CREATE;
    cubc_status st = schema_open(path, s->writable, &s->db);
    if (st) {
        mem_free(s);
        return st;
    }
    pthread_mutex_init(&s->mutex, NULL);
    *out = s;
    return CUBC_OK;
}

void store_close(store *s)
{
    if (!s) return;
    sql_close(s->db);
    pthread_mutex_destroy(&s->mutex);
    mem_free(s);
}

void store_set_wait(store *s, double seconds)
{
    pthread_mutex_lock(&s->mutex);
    sql_set_wait(s->db, seconds);
    pthread_mutex_unlock(&s->mutex);
}

// ---- device and environment -------------------------------------------------------------------
static cubc_status add_device(store *s, const device_info *info)
{
    const char *texts[] = {info->model, info->name, info->kind, info->arch};
    const int64_t integers[] = {
        info->warp_size,
        info->max_threads,
        info->threads_per_unit,
        info->shared_bytes_per_block,
        info->shared_bytes_per_unit,
        info->l2_bytes,
        info->memory_bytes,
        info->clock_khz,
        info->memory_clock_khz,
        info->bus_bits,
    };
    sql_query q;
    bool row;
    TRY(sql_start(s->db, ADD_DEVICE, &q));
    sql_bind_text(&q, info->uuid);
    sql_bind_integer(&q, info->units);
    sql_bind_integer(&q, info->ecc);
    for (size_t i = 0; i < COUNT_OF(texts); i++) sql_bind_text(&q, texts[i]);
    for (size_t i = 0; i < COUNT_OF(integers); i++) sql_bind_integer(&q, integers[i]);
    cubc_status st = sql_step(&q, &row);
    sql_finish(&q);
    return st;
}

static cubc_status find_id(sql_query *q, int64_t *id)
{
    bool row;
    *id = -1;
    cubc_status st = sql_step(q, &row);
    if (row && !sql_read_integer(q, id)) *id = -1;
    sql_finish(q);
    return st;
}

static cubc_status find_device(store *s, const device_info *info, int64_t *id)
{
    sql_query q;
    TRY(sql_start(s->db, FIND_DEVICE, &q));
    sql_bind_text(&q, info->uuid);
    sql_bind_integer(&q, info->units);
    sql_bind_integer(&q, info->ecc);
    return find_id(&q, id);
}

static cubc_status use_environment(store *s, int which, const device_info *info,
                                   const char *version, int64_t *id)
{
    sql_query q;
    TRY(sql_start(s->db, which, &q));
    sql_bind_text(&q, info->driver);
    sql_bind_text(&q, info->runtime);
    sql_bind_text(&q, info->compiler);
    sql_bind_text(&q, version);
    return find_id(&q, id);
}

static cubc_status find_or_add(store *s, const device_info *info, const char *version,
                               int64_t *device, int64_t *environment)
{
    if (s->writable) {
        TRY(add_device(s, info));
        TRY(use_environment(s, ADD_ENVIRONMENT, info, version, environment));
    }
    TRY(find_device(s, info, device));
    return use_environment(s, FIND_ENVIRONMENT, info, version, environment);
}

static cubc_status device_locked(store *s, const device_info *info, const char *version)
{
    int64_t device, environment;
    if (s->writable) {
        TRY(sql_begin(s->db));
        TRY(sql_end(s->db, find_or_add(s, info, version, &device, &environment)));
    } else {
        TRY(find_or_add(s, info, version, &device, &environment));
    }
    s->device_id = device;
    s->environment_id = environment;
    return CUBC_OK;
}

cubc_status store_device(store *s, const device_info *info, const char *version)
{
    if (!version) FAIL(CUBC_INVALID_ARGUMENT, "the version of cubc is missing");
    pthread_mutex_lock(&s->mutex);
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
    if (s->device_id) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT, "%s: the device is not set: call store_device first",
         sql_path(s->db));
}

static bool are_timings(const float *samples, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(samples[i] > 0.0f && samples[i] < INFINITY)) return false;
    return true;
}

static cubc_status check_row(const store_row *row)
{
    TRY(check_key(row));
    if (!row->status || !row->message)
        FAIL(CUBC_INVALID_ARGUMENT, "a row of the store needs a status and a message");
    if (!are_timings(row->samples, row->sample_count) ||
        !are_timings(row->base_samples, row->base_count))
        FAIL(CUBC_INVALID_ARGUMENT, "%s %s: samples must be positive and finite", row->benchmark,
             row->variant);
    if (!(row->bytes >= 0.0 && row->bytes < INFINITY) || row->registers < 0 ||
        row->local_bytes < 0 || row->shared_bytes < 0 || row->blocks_per_unit < 0)
        FAIL(CUBC_INVALID_ARGUMENT, "%s %s: sizes and counts must not be negative", row->benchmark,
             row->variant);
    return CUBC_OK;
}

static void bind_key(const store *s, sql_query *q, const store_row *row)
{
    sql_bind_text(q, row->benchmark);
    sql_bind_text(q, row->axes);
    sql_bind_text(q, row->source_hash);
    sql_bind_text(q, row->ct);
    sql_bind_text(q, row->variant);
    sql_bind_text(q, row->rt);
    sql_bind_integer(q, s->device_id);
    sql_bind_integer(q, s->environment_id);
}

typedef struct blob { // samples as they lie in the file
    uint8_t *data;
    size_t bytes;
    double center;
} blob;

static cubc_status center_of(const float *samples, size_t count, double *center)
{
    *center = NAN;
    return count ? stats_median(samples, count, center) : CUBC_OK;
}

static cubc_status encode(const float *samples, size_t count, blob *out)
{
    TRY(center_of(samples, count, &out->center));
    if (!(out->data = mem_alloc(count, sizeof *samples))) return CUBC_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, &samples[i], sizeof word);
        for (int b = 0; b < 4; b++) out->data[out->bytes++] = (uint8_t)(word >> 8 * b);
    }
    return CUBC_OK;
}

static void decode(const uint8_t *data, size_t count, float *samples)
{
    for (size_t i = 0; i < count; i++, data += 4) {
        uint32_t word = (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 |
                        (uint32_t)data[3] << 24;
        memcpy(&samples[i], &word, sizeof word);
    }
}

static cubc_status insert(store *s, const store_row *row, const blob *own, const blob *base,
                          bool *added)
{
    sql_query q;
    bool any;
    TRY(sql_start(s->db, ADD_BENCHMARK, &q));
    sql_bind_text(&q, row->benchmark);
    sql_bind_text(&q, row->axes);
    cubc_status st = sql_step(&q, &any);
    sql_finish(&q);
    if (st) return st;
    TRY(sql_start(s->db, ADD, &q));
    bind_key(s, &q, row);
    sql_bind_text(&q, row->status);
    sql_bind_text(&q, row->message);
    sql_bind_blob(&q, own->data, own->bytes);
    sql_bind_blob(&q, base->data, base->bytes);
    sql_bind_real(&q, own->center);
    sql_bind_real(&q, base->center);
    sql_bind_real(&q, row->bytes);
    sql_bind_integer(&q, row->registers);
    sql_bind_integer(&q, row->local_bytes);
    sql_bind_integer(&q, row->shared_bytes);
    sql_bind_integer(&q, row->blocks_per_unit);
    st = sql_step(&q, &any);
    *added = !st && sql_changed(s->db) > 0;
    sql_finish(&q);
    return st;
}

static cubc_status add_locked(store *s, const store_row *row, const blob *own, const blob *base,
                              bool *added)
{
    if (!s->writable) FAIL(CUBC_STORE_ERROR, "%s is open for reading only", sql_path(s->db));
    TRY(check_device(s));
    TRY(sql_begin(s->db));
    cubc_status st = sql_end(s->db, insert(s, row, own, base, added));
    if (st) *added = false;
    return st;
}

cubc_status store_add(store *s, const store_row *row, bool *added)
{
    cubc_status st;
    blob own = {0}, base = {0};
    *added = false;
    TRY(check_row(row));
    GUARD(st, encode(row->samples, row->sample_count, &own), done);
    GUARD(st, encode(row->base_samples, row->base_count, &base), done);
    pthread_mutex_lock(&s->mutex);
    st = add_locked(s, row, &own, &base, added);
    pthread_mutex_unlock(&s->mutex);
done:
    mem_free(own.data);
    mem_free(base.data);
    return st;
}

static cubc_status has_locked(store *s, const store_row *key, bool *found)
{
    sql_query q;
    TRY(check_device(s));
    TRY(sql_start(s->db, HAS, &q));
    bind_key(s, &q, key);
    cubc_status st = sql_step(&q, found);
    sql_finish(&q);
    return st;
}

cubc_status store_has(store *s, const store_row *key, bool *found)
{
    *found = false;
    TRY(check_key(key));
    pthread_mutex_lock(&s->mutex);
    cubc_status st = has_locked(s, key, found);
    pthread_mutex_unlock(&s->mutex);
    return st;
}

// ---- iteration --------------------------------------------------------------------------------
cubc_status store_begin(store *s, store_cursor **out)
{
    store_cursor *c = *out = mem_zalloc(1, sizeof *c);
    if (!c) return CUBC_NO_MEMORY;
    *c = (store_cursor){.s = s, .last_id = INT64_MIN};
    return CUBC_OK;
}

void store_end(store_cursor *c)
{
    if (!c) return;
    text_free(&c->texts);
    mem_free(c->samples);
    mem_free(c);
}

#define BAD_ROW(c, ...) return bad_row((c), __LINE__, __VA_ARGS__)
static cubc_status bad_row(const store_cursor *c, int line, const char *what)
{
    return error_set(__FILE__, line, CUBC_STORE_ERROR,
                     "%s is damaged: row %lld of its measurements has %s; restore a copy, or go on "
                     "without that row",
                     sql_path(c->s->db), (long long)c->last_id, what);
}

static cubc_status read_texts(store_cursor *c, sql_query *q, store_record *record)
{
    size_t begin[COUNT_OF(text_members)];
    c->texts.length = 0;
    for (size_t i = 0; i < COUNT_OF(text_members); i++) {
        const char *value;
        size_t length;
        if (!sql_read_text(q, &value, &length)) BAD_ROW(c, "a missing or malformed text");
        begin[i] = c->texts.length;
        text_append(&c->texts, value, length + 1);
    }
    if (c->texts.failed) {
        c->texts.failed = false; // the cursor may be asked again
        return CUBC_NO_MEMORY;
    }
    for (size_t i = 0; i < COUNT_OF(text_members); i++)
        *(const char **)((char *)record + text_members[i]) = c->texts.data + begin[i];
    return CUBC_OK;
}

static cubc_status read_numbers(store_cursor *c, sql_query *q, store_record *record)
{
    for (size_t i = 0; i < COUNT_OF(int_members); i++) {
        int64_t value;
        if (!sql_read_integer(q, &value) || value < 0 || value > INT_MAX)
            BAD_ROW(c, "a count out of range");
        *(int *)((char *)record + int_members[i]) = (int)value;
    }
    double *bytes = &record->row.bytes;
    if (!sql_read_real(q, bytes) || !(*bytes >= 0.0 && *bytes < INFINITY))
        BAD_ROW(c, "a number of bytes out of range");
    if (!sql_read_integer(q, &record->device_id) || !sql_read_integer(q, &record->environment_id))
        BAD_ROW(c, "no device or environment");
    return CUBC_OK;
}

static cubc_status read_samples(store_cursor *c, sql_query *q, store_record *record)
{
    const void *own, *base;
    size_t own_bytes, base_bytes;
    if (!sql_read_blob(q, &own, &own_bytes) || !sql_read_blob(q, &base, &base_bytes) ||
        own_bytes % 4 || base_bytes % 4)
        BAD_ROW(c, "samples of a malformed length");
    size_t count = own_bytes / 4, base_count = base_bytes / 4;
    if (!c->samples || count + base_count > c->capacity) {
        float *grown = mem_realloc(c->samples, count + base_count, sizeof *grown);
        if (!grown) return CUBC_NO_MEMORY;
        c->samples = grown;
        c->capacity = count + base_count;
    }
    store_row *row = &record->row;
    row->samples = c->samples;
    row->base_samples = c->samples + count;
    row->sample_count = count;
    row->base_count = base_count;
    decode(own, count, c->samples);
    decode(base, base_count, c->samples + count);
    if (!are_timings(c->samples, count + base_count))
        BAD_ROW(c, "samples that are not positive and finite");
    TRY(center_of(row->samples, count, &record->center));
    return center_of(row->base_samples, base_count, &record->base_center);
}

static cubc_status read_row(store_cursor *c, sql_query *q, store_record *record)
{
    TRY(read_texts(c, q, record));
    TRY(read_numbers(c, q, record));
    return read_samples(c, q, record);
}

static cubc_status next_locked(store_cursor *c, sql_query *q, store_record *record, bool *more)
{
    bool row;
    int64_t previous = c->last_id;
    TRY(sql_start(c->s->db, NEXT, q));
    sql_bind_integer(q, previous);
    cubc_status st = sql_step(q, &row);
    if (st) c->finished = sql_is_damaged(c->s->db); // a damaged page stays in the way for ever
    if (st) return st;
    c->finished = !row;
    if (!row) return CUBC_OK;
    if (!sql_read_integer(q, &record->id) || record->id <= previous) {
        c->finished = true;
        FAIL(CUBC_STORE_ERROR, "%s is damaged (rows out of order): move it away, or restore a copy",
             sql_path(c->s->db));
    }
    c->last_id = record->id;
    st = read_row(c, q, record);
    if (st == CUBC_NO_MEMORY) c->last_id = previous; // the same row when asked again
    *more = !st;
    return st;
}

cubc_status store_next(store_cursor *c, store_record *record, bool *more)
{
    sql_query q = {0};
    *more = false;
    if (c->finished) return CUBC_OK;
    pthread_mutex_lock(&c->s->mutex);
    cubc_status st = next_locked(c, &q, record, more);
    sql_finish(&q);
    pthread_mutex_unlock(&c->s->mutex);
    return st;
}
