// Merges of a store into another: what they leave, what they cost, and when they fail.
#define _XOPEN_SOURCE 700
#include "store_fixture.h"

// Rows of a merge are of other devices: whoever adds a row afterwards says again of which it is.
STORE_TEST(a_merge_leaves_no_device)
{
    char other[sizeof path + 8];
    int64_t merged, all;
    bool added;
    make_store(2);
    store_row row = some_row("ipt_9.tpb_256");
    store *from = open_store(STORE_READ), *to = NULL;
    snprintf(other, sizeof other, "%s.merged", path);
    CHECK_STATUS(store_open(other, STORE_CREATE, &to), CUBC_OK);
    if (!from || !to) return;
    device_info device = some_device;
    strcpy(device.uuid, "GPU-mine");
    CHECK_STATUS(store_device(to, &device, "0.1.0"), CUBC_OK);
    CHECK_STATUS(store_merge(to, to, false, &merged, &all),
                 CUBC_INVALID_ARGUMENT); // itself, a writer
    CHECK_STATUS(store_merge(to, from, false, &merged, &all), CUBC_OK);
    CHECK(merged == 2 && all == 2);
    CHECK_STATUS(store_add(to, &row, &added), CUBC_INVALID_ARGUMENT);
    CHECK_STATUS(store_device(to, &device, "0.1.0"), CUBC_OK);
    CHECK_STATUS(store_add(to, &row, &added), CUBC_OK);
    CHECK(added);
    store_close(from);
    store_close(to);
}

// The file of a merged store is moved without its log, which a reader keeps from being emptied.
STORE_TEST(a_merge_fails_while_rows_stay_in_the_log)
{
    store *from, *to;
    sql *reader;
    int64_t merged, all;
    char other[600];
    make_store(2);
    snprintf(other, sizeof other, "%s.merged", path);
    if (!(from = open_store(STORE_READ))) return;
    CHECK_STATUS(store_open_within(other, STORE_CREATE, 0.0, &to), CUBC_OK);
    CHECK_STATUS(sql_open(other, true, SQL_WAIT_S, NULL, 0, &reader), CUBC_OK);
    CHECK_STATUS(sql_execute(reader, "BEGIN; SELECT * FROM device"), CUBC_OK);
    CHECK_STATUS(store_merge(to, from, false, &merged, &all), CUBC_STORE_ERROR);
    CHECK(merged == 0 && all == 0 && strstr(cubc_error_message(), "is locked"));
    CHECK_STATUS(sql_execute(reader, "COMMIT"), CUBC_OK);
    sql_close(reader);
    CHECK_STATUS(store_merge(to, from, false, &merged, &all), CUBC_OK); // all are there
    CHECK(merged == 0 && all == 2);
    store_close(from);
    store_close(to);
}

static void write_recordings(const char *file, const char *name, int count)
{
    store *s;
    char message[64];
    CHECK_STATUS(store_open(file, STORE_CREATE, &s), CUBC_OK);
    CHECK_STATUS(store_device(s, &some_device, "0.1.0"), CUBC_OK);
    for (int k = 0; k < count; k++) {
        bool added;
        store_row row = some_row("v");
        snprintf(message, sizeof message, "recording %d of %s", k, name);
        row.status = "recorded";
        row.message = message;
        row.round = k;
        row.calls = 5.0;
        CHECK(!store_add(s, &row, &added) && added);
    }
    store_close(s);
}

static cubc_status merge_file(store *to, const char *file, int64_t *added, int64_t *all)
{
    store *from;
    *added = *all = 0;
    TRY(store_open(file, STORE_READ, &from));
    cubc_status st = store_merge(to, from, false, added, all);
    store_close(from);
    return st;
}

// Every try to add a row takes memory, so that the tries are counted by it: one a recording or two,
// and not one for each recording that is there.
STORE_TEST(merged_recordings_are_tried_once)
{
    enum { RECORDINGS = 200, TRIES = 20 * RECORDINGS };
    char files[2][600];
    int64_t added, all;
    store *to = open_store(STORE_CREATE);
    for (int k = 0; k < 2; k++) {
        snprintf(files[k], sizeof files[k], "%s.%d", path, k);
        write_recordings(files[k], k ? "one" : "another", RECORDINGS);
    }
    for (int k = 0; to && k < 4; k++) { // all of them twice
        mem_fail_at(TRIES);
        CHECK_STATUS(merge_file(to, files[k % 2], &added, &all), CUBC_OK);
        mem_fail_at(0);
        CHECK(added == (k < 2 ? RECORDINGS : 0) && all == RECORDINGS);
    }
    store_close(to);
    CHECK(rows_in_file() == 2 * RECORDINGS);
}

STORE_TEST(a_merge_without_memory_adds_nothing)
{
    char file[600], other[600];
    int64_t added = 0, all = 0;
    long nth = 0;
    cubc_status st;
    snprintf(file, sizeof file, "%s.from", path);
    snprintf(other, sizeof other, "%s.other", path);
    write_recordings(file, "one", 3);
    write_recordings(other, "another", 3);
    store *to = open_store(STORE_CREATE);
    if (!to || merge_file(to, other, &added, &all)) return;
    long before = mem_outstanding();
    do {
        mem_fail_at(++nth);
        st = merge_file(to, file, &added, &all);
        mem_fail_at(0);
        CHECK(st == CUBC_OK || (st == CUBC_NO_MEMORY && !added && !all));
    } while (st && nth < 1000);
    CHECK(nth > 5 && added == 3 && all == 3);
    CHECK(mem_outstanding() <= before + 2); // the device that is set
    store_close(to);
    CHECK(rows_in_file() == 6);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        {"a_merge_leaves_no_device", a_merge_leaves_no_device},
        {"a_merge_fails_while_rows_stay_in_the_log", a_merge_fails_while_rows_stay_in_the_log},
        {"merged_recordings_are_tried_once", merged_recordings_are_tried_once},
        {"a_merge_without_memory_adds_nothing", a_merge_without_memory_adds_nothing},
    };
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
