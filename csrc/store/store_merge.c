// The rows of one store into another: see store.h.
//
// Rows are read one by one as all rows are, checked and bounded, and added under the numbers that
// their device, environment and benchmark have in the other store. The table of devices, which is
// read first, has what a row does not hold of its device.
#define _POSIX_C_SOURCE 200809L
#include "store/store_private.h"

#include <limits.h>
#include <string.h>

typedef struct known_device {
    int64_t id;
    device_info info;
} known_device;

typedef struct devices {
    known_device *items;
    size_t count, room;
} devices;

static bool fits(char *out, size_t size, const char *value)
{
    size_t length = strlen(value);
    if (length >= size) return false;
    memcpy(out, value, length + 1);
    return true;
}

static bool read_name(sql_query *q, char *out, size_t size)
{
    const char *value;
    size_t length;
    return sql_read_text(q, &value, &length) && fits(out, size, value);
}

static bool read_int(sql_query *q, int *out)
{
    int64_t value;
    if (!sql_read_integer(q, &value) || value < INT_MIN || value > INT_MAX) return false;
    *out = (int)value;
    return true;
}

// A row of the table, column by column as store_schema.c has them.
static bool read_device(sql_query *q, int64_t *id, device_info *i)
{
    return sql_read_integer(q, id) && read_name(q, i->uuid, sizeof i->uuid) &&
           read_name(q, i->model, sizeof i->model) && read_name(q, i->name, sizeof i->name) &&
           read_name(q, i->kind, sizeof i->kind) && read_name(q, i->arch, sizeof i->arch) &&
           read_int(q, &i->sm_count) && read_int(q, &i->warp_size) &&
           read_int(q, &i->max_threads) && read_int(q, &i->threads_per_sm) &&
           sql_read_integer(q, &i->shared_bytes_per_block) &&
           sql_read_integer(q, &i->shared_bytes_per_sm) && sql_read_integer(q, &i->l2_bytes) &&
           sql_read_integer(q, &i->memory_bytes) && sql_read_integer(q, &i->clock_khz) &&
           sql_read_integer(q, &i->memory_clock_khz) && read_int(q, &i->bus_bits) &&
           read_int(q, &i->ecc);
}

static cubc_status take_devices(store *from, sql_query *q, devices *d)
{
    for (;;) {
        bool row;
        TRY(sql_step(q, &row));
        if (!row) return CUBC_OK;
        known_device *items = mem_grow(d->items, d->count, &d->room, sizeof *items);
        if (!items) return CUBC_NO_MEMORY;
        d->items = items;
        known_device *next = &items[d->count];
        *next = (known_device){0};
        if (!read_device(q, &next->id, &next->info))
            FAIL(CUBC_STORE_ERROR,
                 "%s is damaged: a device of it has no sound values; restore a copy, or merge "
                 "without it",
                 sql_path(from->db));
        if (d->count && next->id <= next[-1].id) // pages may repeat one without end
            FAIL(CUBC_STORE_ERROR,
                 "%s is damaged: its devices are out of order; restore a copy, or merge without it",
                 sql_path(from->db));
        d->count++;
    }
}

static cubc_status read_devices(store *from, devices *d)
{
    sql_query q;
    TRY(store_lock(from));
    cubc_status st = sql_start(from->db, ALL_DEVICES, &q);
    if (!st) {
        st = take_devices(from, &q, d);
        sql_finish(&q);
    }
    pthread_mutex_unlock(&from->mutex);
    return st;
}

static cubc_status set_about(store *to, store *from, const devices *d, const store_record *record)
{
    size_t k = 0;
    while (k < d->count && d->items[k].id != record->device_id) k++;
    if (k < d->count) {
        device_info info = d->items[k].info;
        if (fits(info.driver, sizeof info.driver, record->driver) &&
            fits(info.runtime, sizeof info.runtime, record->runtime) &&
            fits(info.compiler, sizeof info.compiler, record->compiler))
            return store_set_about(to, &info, record->version);
    }
    FAIL(CUBC_STORE_ERROR,
         "%s is damaged: row %lld is of no device or environment that it has; restore a copy, or "
         "merge without it",
         sql_path(from->db), (long long)record->id);
}

// Adds a row of a recording without a name, as older stores have them: under the first round that
// is free, unless one of those before it has the same values.
static cubc_status put_unnamed(store *to, store_record *record, bool *is_new, bool *done)
{
    for (;; record->row.round++) {
        bool found;
        *done = true;
        TRY(store_put_row(to, ADD, record, is_new));
        if (*is_new) return CUBC_OK;
        TRY(store_has_row(to, record, &found));
        *done = found;
        if (found || record->row.round == INT_MAX) return CUBC_OK;
    }
}

// Adds a row. Calls of another recording are a round of their own, as where two programs write one
// store; those of the same are there already, or some of them.
static cubc_status put_row(store *to, const store *from, store_record *record, bool *is_new)
{
    bool done;
    if (strcmp(record->row.status, "recorded")) return store_put_row(to, ADD, record, is_new);
    if (*record->row.message)
        TRY(store_put_recording(to, record, is_new, &done));
    else
        TRY(put_unnamed(to, record, is_new, &done));
    if (done) return CUBC_OK;
    FAIL(CUBC_STORE_ERROR, "row %lld of %s has round %d, the last that there is: delete the row",
         (long long)record->id, sql_path(from->db), record->row.round);
}

static cubc_status copy_rows(store *to, store *from, const devices *d, int64_t *added, int64_t *all)
{
    store_cursor *c;
    store_record record;
    int64_t device = 0, environment = 0;
    cubc_status st;
    TRY(store_begin(from, &c));
    for (;;) {
        bool more, is_new = false;
        GUARD(st, store_next(c, &record, &more), done);
        if (!more) break;
        if (!*all || record.device_id != device || record.environment_id != environment)
            GUARD(st, set_about(to, from, d, &record), done);
        device = record.device_id;
        environment = record.environment_id;
        GUARD(st, put_row(to, from, &record, &is_new), done);
        ++*all;
        *added += is_new;
    }
done:
    store_end(c);
    return st;
}

static cubc_status remove_rows(store *to)
{
    int64_t written;
    TRY(sql_written(to->db, &written));
    if (written != to->seen)
        FAIL(CUBC_STORE_ERROR,
             "%s is not replaced: another program wrote to it meanwhile; end that program and "
             "merge again, or give another name",
             sql_path(to->db));
    TRY(store_check_pages(to->db));
    return sql_execute(to->db, "DELETE FROM measurement");
}

static cubc_status replace_rows(store *to, store *from, const devices *d, bool replace,
                                int64_t *added, int64_t *all)
{
    if (replace) TRY(remove_rows(to));
    TRY(store_begin_rounds(to));
    return copy_rows(to, from, d, added, all);
}

static cubc_status merge_locked(store *to, store *from, bool replace, int64_t *added, int64_t *all)
{
    devices d = {0};
    cubc_status st;
    TRY(store_check_writable(to));
    GUARD(st, read_devices(from, &d), done);
    GUARD(st, sql_begin(to->db), done);
    st = sql_end(to->db, replace_rows(to, from, &d, replace, added, all));
    store_end_rounds(to, st);
    to->about = (store_record){0}; // of a device of `from`, which a failed transaction took along
    if (replace)
        sql_checkpoint(to->db); // others may have it open, and its log stays with it
    else if (!st)
        st = sql_empty_log(to->db); // who moves the file takes along what is in it alone
done:
    mem_free(d.items);
    return st;
}

cubc_status store_merge(store *to, store *from, bool replace, int64_t *added, int64_t *all)
{
    *added = *all = 0;
    // Two writers that are merged into each other would wait for each other's lock.
    if (from->writable)
        FAIL(CUBC_INVALID_ARGUMENT, "%s is open for writing: a store is merged from a reader",
             sql_path(from->db));
    TRY(store_lock(to));
    cubc_status st = merge_locked(to, from, replace, added, all);
    pthread_mutex_unlock(&to->mutex);
    if (st) *added = *all = 0;
    return st;
}
