// Rows of a store as they are read back, each checked: see store.h.
//
// A cursor keeps only the place it has reached and takes one row a step, copied. The number of the
// next row is looked up apart from its values, so that a row whose values cannot be read is known.
#include "store/store_private.h"

#include <stdio.h>

typedef struct place {
    int64_t last_id;
    int64_t found; // rows whose number was
    size_t taken;  // bytes of all rows so far
} place;

struct store_cursor {
    store *s;
    place at;
    bool all; // from the first row on
    bool finished;
    store_buffers buffers;
};

cubc_status store_begin_at(store *s, int64_t id, store_cursor **out)
{
    store_cursor *c = *out = mem_zalloc(1, sizeof *c);
    if (!c) return CUBC_NO_MEMORY;
    const bool all = id == INT64_MIN;
    *c = (store_cursor){.s = s, .at.last_id = all ? id : id - 1, .all = all};
    return CUBC_OK;
}

cubc_status store_begin(store *s, store_cursor **out)
{
    return store_begin_at(s, INT64_MIN, out);
}

void store_end(store_cursor *c)
{
    if (!c) return;
    store_free_buffers(&c->buffers);
    mem_free(c);
}

#define BAD_ROW(c, what) return bad_row((c), __LINE__, (what))
static cubc_status bad_row(const store_cursor *c, int line, const char *what)
{
    return error_set(__FILE__, line, CUBC_STORE_ERROR,
                     "%s is damaged: row %lld of its measurements has %s; restore a copy, or go on "
                     "without that row",
                     sql_path(c->s->db), (long long)c->at.last_id, what);
}

// Rows of an honest file share no bytes of it, so that they are no longer than it is together.
static cubc_status count_bytes(store_cursor *c, size_t bytes)
{
    size_t most = sql_image_bytes(c->s->db);
    c->at.taken += bytes;
    if (!most || c->at.taken <= most) return CUBC_OK;
    c->finished = true;
    BAD_ROW(c, "bytes of other rows: all rows so far are longer than the file");
}

static cubc_status read_row(store_cursor *c, sql_query *q, store_record *record)
{
    const char *bad;
    int64_t checksum = 0;
    size_t bytes;
    bool summed = !sql_read_null(q); // from version 3 on
    if (summed && !sql_read_integer(q, &checksum)) BAD_ROW(c, "no checksum");
    TRY(store_read_columns(q, 0, STORE_COLUMN_COUNT, &c->buffers, record, &bad, &bytes));
    if (bad) BAD_ROW(c, bad);
    TRY(count_bytes(c, bytes));
    if (!store_have_clocks(&record->row)) BAD_ROW(c, "clocks that are not one a sample");
    if (summed && (uint64_t)checksum != store_checksum(record, c->s->version))
        BAD_ROW(c, "values that are not those that were stored: their checksum differs");
    return store_set_centers(record); // medians in the file are not trusted
}

// Rows of the table or of its index, whichever has more, up to a bound: pages that refer to one
// page many times have more rows than anybody can count. A plain count(*) would have no bound, and
// SQLite would not ask for interrupts during it.
static cubc_status count_rows(sql *db, int64_t most, int64_t *there)
{
    static const char *const ways[] = {"NOT INDEXED", "INDEXED BY sqlite_autoindex_measurement_1"};
    char query[160];
    *there = 0;
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        int64_t rows;
        snprintf(query, sizeof query,
                 "SELECT count(*) FROM (SELECT 1 FROM measurement %s LIMIT %lld)", ways[i],
                 (long long)most);
        TRY(sql_integer(db, query, &rows));
        if (rows > *there) *there = rows;
    }
    return CUBC_OK;
}

// A damaged page can hide rows from the search for the next number, or say that it has fewer: the
// table and its index are counted. Only an image stays the same meanwhile.
static cubc_status check_count(store_cursor *c)
{
    int64_t there;
    if (!c->all || !sql_image_bytes(c->s->db)) return CUBC_OK;
    cubc_status st = count_rows(c->s->db, c->at.found + 1, &there);
    if (st) c->finished = sql_is_damaged(c->s->db);
    if (st || there == c->at.found) return st;
    const bool more = there > c->at.found;
    FAIL(CUBC_STORE_ERROR,
         "%s is damaged: it has %s%lld measurements, of which %lld are found; restore a copy, or "
         "go on with those",
         sql_path(c->s->db), more ? "more than " : "", (long long)(more ? c->at.found : there),
         (long long)c->at.found);
}

static cubc_status find_next(store_cursor *c, bool *row)
{
    sql_query q;
    int64_t id = c->at.last_id;
    TRY(sql_start(c->s->db, NEXT_ID, &q));
    sql_bind_integer(&q, c->at.last_id);
    cubc_status st = sql_step(&q, row);
    if (st) c->finished = sql_is_damaged(c->s->db); // a damaged page stays in the way for ever
    bool numbered = !*row || (sql_read_integer(&q, &id) && id > c->at.last_id);
    sql_finish(&q);
    if (st) return st;
    c->finished = !*row || !numbered;
    c->at.last_id = id;
    if (!*row) return check_count(c);
    c->at.found++;
    if (numbered) return CUBC_OK;
    FAIL(CUBC_STORE_ERROR, "%s is damaged (rows out of order): move it away, or restore a copy",
         sql_path(c->s->db));
}

static cubc_status take_row(store_cursor *c, sql_query *q, store_record *record)
{
    bool row;
    TRY(sql_start(c->s->db, ROW + c->s->version - 1, q));
    sql_bind_integer(q, c->at.last_id);
    cubc_status st = sql_step(q, &row);
    if (st && sql_is_too_big(c->s->db)) BAD_ROW(c, "a value that is too large");
    if (st && sql_is_damaged(c->s->db)) BAD_ROW(c, "values that cannot be read");
    if (st) return st;
    if (!row) BAD_ROW(c, "no values any more");
    record->id = c->at.last_id;
    return read_row(c, q, record);
}

static cubc_status next_locked(store_cursor *c, store_record *record, bool *more)
{
    bool row;
    sql_query q = {0};
    const place before = c->at;
    TRY(find_next(c, &row));
    if (!row) return CUBC_OK;
    cubc_status st = take_row(c, &q, record);
    sql_finish(&q);
    // The same row when asked again.
    if (st == CUBC_NO_MEMORY || st == CUBC_INTERRUPTED) c->at = before;
    *more = !st;
    return st;
}

cubc_status store_next(store_cursor *c, store_record *record, bool *more)
{
    *more = false;
    if (c->finished) return CUBC_OK;
    TRY(store_lock(c->s));
    cubc_status st = next_locked(c, record, more);
    pthread_mutex_unlock(&c->s->mutex);
    return st;
}
