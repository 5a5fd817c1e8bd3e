// The store of measurements: see store.h. Opening, devices, and rows on their way in; store_read.c
// has their way out, store_schema.c the tables, store_sql.c SQLite with all that concerns
// durability and trust.
//
// A store holds one connection and one mutex: any thread may use it, one at a time.
#include "store_inner.h"

#include <math.h>

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

static bool are_good_series(const store_row *row)
{
    return store_are_positive(row->samples, row->sample_count) &&
           store_are_positive(row->base_samples, row->base_count) &&
           store_are_positive(row->clocks, row->clocks ? row->sample_count : 0) &&
           store_are_positive(row->base_clocks, row->base_clocks ? row->base_count : 0);
}

static bool are_good_numbers(const store_row *row)
{
    const int counts[] = {row->round,       row->given_up,     row->registers,
                          row->local_bytes, row->shared_bytes, row->blocks_per_unit};
    const double numbers[] = {row->bytes, row->flops, row->hot_s, row->temperature, row->power};
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        if (counts[i] < 0) return false;
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (!(numbers[i] >= 0.0 && numbers[i] < INFINITY)) return false;
    return true;
}

static cubc_status check_row(const store_row *row)
{
    TRY(check_key(row));
    if (!row->status || !row->message)
        FAIL(CUBC_INVALID_ARGUMENT, "a row of the store needs a status and a message");
    if (!are_good_series(row))
        FAIL(CUBC_INVALID_ARGUMENT, "%s %s: samples and clocks must be positive and finite",
             row->benchmark, row->variant);
    if (!are_good_numbers(row))
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
    sql_bind_integer(q, row->round);
}

// The series of a row as they lie in the file.
typedef struct encoded {
    uint8_t *bytes;    // samples, base's samples, clocks, base's clocks
    size_t sizes[4];   // of these, in bytes
    double centers[2]; // of the samples and of base's
} encoded;

static cubc_status encode(const store_row *row, encoded *out)
{
    const float *const series[] = {row->samples, row->base_samples, row->clocks, row->base_clocks};
    const size_t counts[] = {row->sample_count, row->base_count,
                             row->clocks ? row->sample_count : 0,
                             row->base_clocks ? row->base_count : 0};
    size_t total = 0;
    for (int i = 0; i < 2; i++) TRY(store_center(series[i], counts[i], &out->centers[i]));
    for (int i = 0; i < 4; i++) total += out->sizes[i] = 4 * counts[i];
    uint8_t *to = out->bytes = mem_alloc(total, 1);
    if (!to) return CUBC_NO_MEMORY;
    for (int i = 0; i < 4; to += out->sizes[i++]) store_encode(series[i], counts[i], to);
    return CUBC_OK;
}

static void bind_fields(sql_query *q, const store_row *row, const encoded *e)
{
    const uint8_t *series = e->bytes;
    const double numbers[] = {row->bytes, row->flops, row->hot_s, row->temperature, row->power};
    const int counts[] = {row->registers, row->local_bytes, row->shared_bytes,
                          row->blocks_per_unit};
    sql_bind_text(q, row->status);
    sql_bind_text(q, row->message);
    for (int i = 0; i < 4; series += e->sizes[i++]) sql_bind_blob(q, series, e->sizes[i]);
    for (int i = 0; i < 2; i++) sql_bind_real(q, e->centers[i]);
    sql_bind_integer(q, row->given_up);
    for (size_t i = 0; i < COUNT_OF(numbers); i++) sql_bind_real(q, numbers[i]);
    for (size_t i = 0; i < COUNT_OF(counts); i++) sql_bind_integer(q, counts[i]);
}

static cubc_status insert(store *s, const store_row *row, const encoded *e, bool *added)
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
    bind_fields(&q, row, e);
    st = sql_step(&q, &any);
    *added = !st && sql_changed(s->db) > 0;
    sql_finish(&q);
    return st;
}

static cubc_status add_locked(store *s, const store_row *row, const encoded *e, bool *added)
{
    if (!s->writable) FAIL(CUBC_STORE_ERROR, "%s is open for reading only", sql_path(s->db));
    TRY(check_device(s));
    TRY(sql_begin(s->db));
    cubc_status st = sql_end(s->db, insert(s, row, e, added));
    if (st) *added = false;
    return st;
}

cubc_status store_add(store *s, const store_row *row, bool *added)
{
    encoded e = {0};
    *added = false;
    TRY(check_row(row));
    cubc_status st = encode(row, &e);
    if (!st) {
        pthread_mutex_lock(&s->mutex);
        st = add_locked(s, row, &e, added);
        pthread_mutex_unlock(&s->mutex);
    }
    mem_free(e.bytes);
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
