// Rows of a store as they are read back, each checked: see store.h.
//
// A cursor keeps only the id it has reached and takes one row a step, copied, so that a half-read
// store never keeps another process from writing.
#include "store_inner.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>

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
    offsetof(store_record, row.round),        offsetof(store_record, row.given_up),
    offsetof(store_record, row.registers),    offsetof(store_record, row.local_bytes),
    offsetof(store_record, row.shared_bytes), offsetof(store_record, row.blocks_per_unit),
};

static const size_t real_members[] = {
    offsetof(store_record, row.bytes), offsetof(store_record, row.flops),
    offsetof(store_record, row.hot_s), offsetof(store_record, row.temperature),
    offsetof(store_record, row.power),
};

struct store_cursor {
    store *s;
    int64_t last_id;
    bool finished;
    text texts;    // of the current record, each with its NUL
    float *series; // of the current record: samples, base's samples, clocks, base's clocks
    size_t capacity;
};

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
    mem_free(c->series);
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
    for (size_t i = 0; i < COUNT_OF(real_members); i++) {
        double *value = (double *)(void *)((char *)record + real_members[i]);
        if (!sql_read_real(q, value) || !(*value >= 0.0 && *value < INFINITY))
            BAD_ROW(c, "a number out of range");
    }
    if (!sql_read_integer(q, &record->device_id) || !sql_read_integer(q, &record->environment_id) ||
        !sql_read_integer(q, &record->units) || !sql_read_integer(q, &record->ecc))
        BAD_ROW(c, "no device or environment");
    return CUBC_OK;
}

static cubc_status reserve(store_cursor *c, size_t count)
{
    if (c->series && count <= c->capacity) return CUBC_OK;
    float *grown = mem_realloc(c->series, count, sizeof *grown);
    if (!grown) return CUBC_NO_MEMORY;
    c->series = grown;
    c->capacity = count;
    return CUBC_OK;
}

static cubc_status read_series(store_cursor *c, sql_query *q, store_record *record)
{
    const void *data[4];
    size_t counts[4], total = 0;
    store_row *row = &record->row;
    for (int i = 0; i < 4; i++) {
        if (!sql_read_blob(q, &data[i], &counts[i]) || counts[i] % 4)
            BAD_ROW(c, "samples of a malformed length");
        total += counts[i] /= 4;
    }
    if ((counts[2] && counts[2] != counts[0]) || (counts[3] && counts[3] != counts[1]))
        BAD_ROW(c, "clocks that are not one a sample");
    TRY(reserve(c, total));
    float *to = c->series;
    for (int i = 0; i < 4; to += counts[i++]) store_decode(data[i], counts[i], to);
    if (!store_are_positive(c->series, total))
        BAD_ROW(c, "samples that are not positive and finite");
    row->samples = c->series;
    row->sample_count = counts[0];
    row->base_samples = row->samples + counts[0];
    row->base_count = counts[1];
    row->clocks = counts[2] ? row->base_samples + counts[1] : NULL;
    row->base_clocks = counts[3] ? row->base_samples + counts[1] + counts[2] : NULL;
    TRY(store_center(row->samples, row->sample_count, &record->center));
    return store_center(row->base_samples, row->base_count, &record->base_center);
}

static cubc_status read_row(store_cursor *c, sql_query *q, store_record *record)
{
    TRY(read_texts(c, q, record));
    TRY(read_numbers(c, q, record));
    return read_series(c, q, record);
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
