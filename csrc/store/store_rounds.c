// Rounds of recorded calls in a merge: see store_private.h.
//
// Each recording has a round of its own of a call, and the message of its rows is its name. No
// index of a store has messages, and trying round after round would take the square of the
// recordings. So a merge notes which round each recording has in a table of its connection's own,
// which is in memory and goes back with a transaction that fails.
#include "store/store_private.h"

#include <limits.h>

#define COLUMNS "benchmark_id, source_hash, ct, variant, rt, device_id, environment_id, message"
#define OF_CALL                                                                          \
    " WHERE benchmark_id = (SELECT id FROM benchmark WHERE name = ?1 AND axes = ?2)"     \
    " AND source_hash = ?3 AND ct = ?4 AND variant = ?5 AND rt = ?6 AND device_id = ?7 " \
    " AND environment_id = ?8"

static const char make_notes[] =
    "CREATE TEMP TABLE IF NOT EXISTS recording (" COLUMNS ", round, PRIMARY KEY (" COLUMNS "))"
    " WITHOUT ROWID";
static const char fill_notes[] =
    "DELETE FROM temp.recording;"
    "INSERT OR IGNORE INTO temp.recording SELECT " COLUMNS ", round FROM measurement"
    " WHERE status = 'recorded' AND message <> '' ORDER BY round";

static cubc_status prepare(store *to)
{
    store_rounds *r = &to->rounds;
    TRY(sql_execute(to->db, make_notes));
    if (!r->known) TRY(sql_execute(to->db, fill_notes));
    r->known = true;
    TRY(sql_prepare(to->db, "SELECT round FROM temp.recording" OF_CALL " AND message = ?10",
                    &r->find));
    TRY(sql_prepare(to->db,
                    "SELECT round FROM measurement" OF_CALL
                    " AND round >= ?9 ORDER BY round DESC LIMIT 1",
                    &r->last));
    return sql_prepare(to->db,
                       "INSERT INTO temp.recording SELECT id, ?3, ?4, ?5, ?6, ?7, ?8, ?10, ?9"
                       " FROM benchmark WHERE name = ?1 AND axes = ?2",
                       &r->note);
}

cubc_status store_begin_rounds(store *to)
{
    store_rounds *r = &to->rounds;
    int64_t written;
    TRY(sql_written(to->db, &written));
    if (written != r->written || sql_all_changed(to->db) != r->changed) r->known = false;
    r->written = written;
    return CUBC_OK;
}

void store_end_rounds(store *to, cubc_status st)
{
    store_rounds *r = &to->rounds;
    sql_discard(&r->find);
    sql_discard(&r->last);
    sql_discard(&r->note);
    if (st) r->known = false; // the notes went with the transaction
    r->changed = sql_all_changed(to->db);
}

// Steps a query on the call of a row; *round is that of the row that it has found, if any.
static cubc_status step(const store *to, sql_query *q, const store_record *record, bool named,
                        bool *found, int *round)
{
    int64_t value = 0;
    store_bind_key(to, q, &record->row);
    if (named) sql_bind_text(q, record->row.message);
    cubc_status st = sql_step(q, found);
    const bool good =
        st || !*found || (sql_read_integer(q, &value) && value >= 0 && value <= INT_MAX);
    sql_reset(q);
    if (!good)
        FAIL(CUBC_STORE_ERROR, "%s is damaged: a recorded call has no round; restore a copy",
             sql_path(to->db));
    if (!st && *found) *round = (int)value;
    return st;
}

// Adds a row under a round that is free: its own, or the one after all others.
static cubc_status add(store *to, store_record *record, bool *is_new)
{
    bool taken;
    TRY(store_put_row(to, ADD, record, is_new));
    if (*is_new) return CUBC_OK;
    TRY(step(to, &to->rounds.last, record, false, &taken, &record->row.round));
    if (record->row.round == INT_MAX) return CUBC_OK;
    record->row.round++;
    return store_put_row(to, ADD, record, is_new);
}

cubc_status store_put_recording(store *to, store_record *record, bool *is_new, bool *done)
{
    bool found;
    *is_new = false;
    *done = true;
    if (!to->rounds.note.statement) TRY(prepare(to));
    TRY(step(to, &to->rounds.find, record, true, &found, &record->row.round));
    if (found) return store_put_row(to, PUT_MORE_CALLS, record, &found);
    TRY(add(to, record, is_new));
    *done = *is_new;
    if (!*done) return CUBC_OK;
    return step(to, &to->rounds.note, record, true, &found, &record->row.round);
}
