// Rows of a store between a record and SQLite, column by column, and their checksum.
//
// Samples lie in the file as little-endian float32, whatever the host is. The checksum is of
// values, not of the file's bytes, so that a copy of a row in another file has the same.
#include "store/store_codec.h"

#include "base/stats.h"
#include "base/words.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define PLACE_GIVEN(name) offsetof(store_record, row.name)
#define PLACE_STORED(name) offsetof(store_record, name)
#define COLUMN(since, table, kind, from, column, name, most) \
    {#name, kind, since, PLACE_##from(name), most},
const store_column store_columns[STORE_COLUMN_COUNT] = {STORE_COLUMNS(COLUMN)};

static const void *member(const store_record *record, int column)
{
    return (const char *)record + store_columns[column].offset;
}

static void *member_of(store_record *record, int column)
{
    return (char *)record + store_columns[column].offset;
}

// ---- samples ----------------------------------------------------------------------------------
bool store_are_positive(store_series series)
{
    for (size_t i = 0; i < series.count; i++)
        if (!(series.values[i] > 0.0f && series.values[i] < INFINITY)) return false;
    return true;
}

bool store_have_clocks(const store_row *row)
{
    return (!row->clocks.count || row->clocks.count == row->samples.count) &&
           (!row->base_clocks.count || row->base_clocks.count == row->base_samples.count);
}

static cubc_status median(store_series samples, double *center)
{
    *center = NAN;
    return samples.count ? stats_median(samples.values, samples.count, center) : CUBC_OK;
}

cubc_status store_set_centers(store_record *record)
{
    TRY(median(record->row.samples, &record->center));
    return median(record->row.base_samples, &record->base_center);
}

static void encode(store_series series, uint8_t *to)
{
    for (size_t i = 0; i < series.count; i++) {
        uint32_t word;
        memcpy(&word, &series.values[i], sizeof word);
        words_store32(to + 4 * i, word, false);
    }
}

static void decode(const uint8_t *data, size_t count, float *to)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t word = words_load32(data + 4 * i, false);
        memcpy(&to[i], &word, sizeof word);
    }
}

// ---- checksum ---------------------------------------------------------------------------------
// Each step is one to one in both of its arguments: a single word that is other is always seen.
static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 32;
}

static uint64_t mix_text(uint64_t sum, const char *value)
{
    size_t length = strlen(value);
    return mix(mix(sum, length), hash64(value, length));
}

static uint64_t mix_real(uint64_t sum, double value)
{
    uint64_t word = UINT64_MAX; // of NaN, which SQLite keeps as NULL
    value += 0.0;               // and -0.0 as 0
    if (!isnan(value)) memcpy(&word, &value, sizeof word);
    return mix(sum, word);
}

static uint64_t mix_series(uint64_t sum, store_series series)
{
    sum = mix(sum, series.count);
    for (size_t i = 0; i < series.count; i++) {
        uint32_t word;
        memcpy(&word, &series.values[i], sizeof word);
        sum = mix(sum, word);
    }
    return sum;
}

uint64_t store_checksum(const store_record *record, int version)
{
    uint64_t sum = 0;
    for (int i = 0; i < STORE_COLUMN_COUNT; i++) {
        if (store_columns[i].since > version) continue;
        const void *value = member(record, i);
        switch (store_columns[i].kind) {
        case STORE_TEXT: sum = mix_text(sum, *(const char *const *)value); break;
        case STORE_COUNT: sum = mix(sum, (uint64_t)*(const int *)value); break;
        case STORE_ID:
        case STORE_STATE: sum = mix(sum, (uint64_t)*(const int64_t *)value); break;
        case STORE_REAL:
        case STORE_MEDIAN: sum = mix_real(sum, *(const double *)value); break;
        case STORE_SERIES: sum = mix_series(sum, *(const store_series *)value); break;
        }
    }
    return sum;
}

// ---- binding ----------------------------------------------------------------------------------
static size_t series_bytes(const store_record *record)
{
    size_t bytes = 0;
    for (int i = STORE_KEY_AT; i < STORE_COLUMN_COUNT; i++)
        if (store_columns[i].kind == STORE_SERIES)
            bytes += 4 * ((const store_series *)member(record, i))->count;
    return bytes;
}

static void bind_column(sql_query *q, const store_record *record, int column, uint8_t **to)
{
    const void *value = member(record, column);
    switch (store_columns[column].kind) {
    case STORE_TEXT: sql_bind_text(q, *(const char *const *)value); break;
    case STORE_COUNT: sql_bind_integer(q, *(const int *)value); break;
    case STORE_ID:
    case STORE_STATE: sql_bind_integer(q, *(const int64_t *)value); break;
    case STORE_REAL:
    case STORE_MEDIAN: sql_bind_real(q, *(const double *)value); break;
    case STORE_SERIES: {
        const store_series *series = value;
        encode(*series, *to);
        sql_bind_blob(q, *to, 4 * series->count);
        *to += 4 * series->count;
    }
    }
}

cubc_status store_bind(sql_query *q, const store_record *record, uint8_t **encoded)
{
    uint8_t *to = *encoded = mem_alloc(series_bytes(record), 1);
    if (!to) return CUBC_NO_MEMORY;
    for (int i = STORE_KEY_AT; i < STORE_COLUMN_COUNT; i++) bind_column(q, record, i, &to);
    return CUBC_OK;
}

// ---- reading ----------------------------------------------------------------------------------
static cubc_status read_text(sql_query *q, int column, store_buffers *b, const char **bad)
{
    const char *value;
    size_t length;
    if (!sql_read_text(q, &value, &length) || length > store_columns[column].most) {
        *bad = "a missing, malformed or too long text";
        return CUBC_OK;
    }
    text_append(&b->texts, value, length + 1);
    if (!b->texts.failed) return CUBC_OK;
    b->texts.failed = false; // the buffer may be used again
    return CUBC_NO_MEMORY;
}

static cubc_status read_series(sql_query *q, int column, store_buffers *b, store_series *out,
                               const char **bad)
{
    const void *data;
    size_t bytes;
    if (!sql_read_blob(q, &data, &bytes) || bytes % 4 || bytes > store_columns[column].most) {
        *bad = "samples of a malformed length";
        return CUBC_OK;
    }
    out->count = bytes / 4;
    if (!b->series || out->count > b->capacity - b->used) {
        float *grown = mem_realloc(b->series, b->used + out->count, sizeof *grown);
        if (!grown) return CUBC_NO_MEMORY;
        b->series = grown;
        b->capacity = b->used + out->count;
    }
    decode(data, out->count, b->series + b->used);
    if (!store_are_positive((store_series){b->series + b->used, out->count}))
        *bad = "samples that are not positive and finite";
    b->used += out->count;
    return CUBC_OK;
}

static bool read_count(sql_query *q, int *out)
{
    int64_t value;
    bool good = sql_read_integer(q, &value) && value >= 0 && value <= INT_MAX;
    if (good) *out = (int)value;
    return good;
}

static bool read_real(sql_query *q, double *out)
{
    return sql_read_real(q, out) && *out >= 0.0 && *out < INFINITY;
}

static bool read_median(sql_query *q, double *out)
{
    *out = NAN;
    return sql_read_null(q) || read_real(q, out);
}

static cubc_status read_column(sql_query *q, int column, store_buffers *b, void *to,
                               const char **bad)
{
    switch (store_columns[column].kind) {
    case STORE_TEXT: return read_text(q, column, b, bad);
    case STORE_SERIES: return read_series(q, column, b, to, bad);
    case STORE_COUNT:
        if (!read_count(q, to)) *bad = "a count out of range";
        break;
    case STORE_ID:
    case STORE_STATE:
        if (!sql_read_integer(q, to)) *bad = "no device, environment or benchmark";
        break;
    case STORE_REAL:
        if (!read_real(q, to)) *bad = "a number out of range";
        break;
    case STORE_MEDIAN:
        if (!read_median(q, to)) *bad = "a median out of range";
        break;
    }
    return CUBC_OK;
}

// Texts and series have moved as their buffers grew: their places are known at the end.
static void place(store_buffers *b, const size_t *at, int first, int end, store_record *record)
{
    for (int i = first; i < end; i++) {
        void *to = member_of(record, i);
        if (store_columns[i].kind == STORE_TEXT) *(const char **)to = b->texts.data + at[i];
        if (store_columns[i].kind == STORE_SERIES) ((store_series *)to)->values = b->series + at[i];
    }
}

cubc_status store_read_columns(sql_query *q, int first, int end, store_buffers *b,
                               store_record *record, const char **bad, size_t *bytes)
{
    size_t at[STORE_COLUMN_COUNT];
    b->texts.length = b->used = 0;
    *bad = NULL;
    *bytes = 0;
    for (int i = first; i < end && !*bad; i++) {
        size_t before = b->texts.length + 4 * b->used;
        at[i] = store_columns[i].kind == STORE_SERIES ? b->used : b->texts.length;
        TRY(read_column(q, i, b, member_of(record, i), bad));
        if (i >= STORE_KEY_AT) *bytes += b->texts.length + 4 * b->used - before;
    }
    if (!*bad) place(b, at, first, end, record);
    return CUBC_OK;
}

void store_free_buffers(store_buffers *b)
{
    text_free(&b->texts);
    mem_free(b->series);
    *b = (store_buffers){0};
}
