// Stores of an earlier version are read as they are, and upgraded with all their rows when they are
// written to; what version 2 added is kept.
#define _XOPEN_SOURCE 700
#include "store_fixture.h"

#include <dirent.h>
#include <math.h>
#include <sys/wait.h>

// The schema of version 1, letter by letter, with one measurement.
static const char version_1[] =
    "CREATE TABLE device ("
    "  id INTEGER PRIMARY KEY,"
    "  uuid TEXT NOT NULL, model TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,"
    "  arch TEXT NOT NULL, units INTEGER NOT NULL, warp_size INTEGER NOT NULL,"
    "  max_threads INTEGER NOT NULL, threads_per_unit INTEGER NOT NULL,"
    "  shared_bytes_per_block INTEGER NOT NULL, shared_bytes_per_unit INTEGER NOT NULL,"
    "  l2_bytes INTEGER NOT NULL, memory_bytes INTEGER NOT NULL, clock_khz INTEGER NOT NULL,"
    "  memory_clock_khz INTEGER NOT NULL, bus_bits INTEGER NOT NULL, ecc INTEGER NOT NULL,"
    "  UNIQUE (uuid, units, ecc));"
    "CREATE TABLE environment ("
    "  id INTEGER PRIMARY KEY,"
    "  driver TEXT NOT NULL, runtime TEXT NOT NULL, compiler TEXT NOT NULL, version TEXT NOT NULL,"
    "  UNIQUE (driver, runtime, compiler, version));"
    "CREATE TABLE benchmark ("
    "  id INTEGER PRIMARY KEY, name TEXT NOT NULL, axes TEXT NOT NULL, UNIQUE (name, axes));"
    "CREATE TABLE measurement ("
    "  id INTEGER PRIMARY KEY,"
    "  device_id INTEGER NOT NULL REFERENCES device(id),"
    "  environment_id INTEGER NOT NULL REFERENCES environment(id),"
    "  benchmark_id INTEGER NOT NULL REFERENCES benchmark(id),"
    "  source_hash TEXT NOT NULL, ct TEXT NOT NULL, variant TEXT NOT NULL, rt TEXT NOT NULL,"
    "  status TEXT NOT NULL, message TEXT NOT NULL, created TEXT NOT NULL,"
    "  samples BLOB NOT NULL, base_samples BLOB NOT NULL,"
    "  center REAL, base_center REAL,"
    "  bytes REAL NOT NULL, registers INTEGER NOT NULL, local_bytes INTEGER NOT NULL,"
    "  shared_bytes INTEGER NOT NULL, blocks_per_unit INTEGER NOT NULL,"
    "  UNIQUE (benchmark_id, source_hash, ct, variant, rt, device_id, environment_id));"
    "CREATE VIEW result AS SELECT m.id, d.model, b.name AS benchmark, m.ct, m.rt, m.variant,"
    "  m.status, m.center, m.base_center, m.base_center / m.center AS speedup, m.created"
    "  FROM measurement m JOIN device d ON d.id = m.device_id"
    "  JOIN benchmark b ON b.id = m.benchmark_id;"
    "INSERT INTO device VALUES (1, 'GPU-1', 'NVIDIA H200', 'cuda:0', 'cuda', 'sm_90', 132, 32, "
    "1024,"
    " 2048, 0, 0, 0, 0, 0, 0, 0, 1);"
    "INSERT INTO environment VALUES (1, '580.1', '13.0', 'NVRTC 13.0', '0.1.0');"
    "INSERT INTO benchmark VALUES (1, 'reduce.sum', '[[\"Elements{io}[pow2]\", [16, 28]]]');"
    "INSERT INTO measurement VALUES (7, 1, 1, 1, '0123abcd', 'T{ct}=F32', 'ipt_1.tpb_256',"
    " 'Elements{io}[pow2]=28', 'ok', '', '2026-11-20T10:00:00Z', x'0000803f00000040', x'', 1.5,"
    " NULL, 1024.0, 32, 8, 1024, 4);"
    "PRAGMA application_id = 1668637283; PRAGMA user_version = 1";

// The only row; its texts and series are gone.
static bool read_one(int mode, store_record *r)
{
    store_cursor *c = NULL;
    bool more = false;
    store *s = open_store(mode);
    if (s && !store_begin(s, &c)) CHECK_STATUS(store_next(c, r, &more), CUBC_OK);
    if (more) CHECK(r->row.samples.count == 2 && r->row.samples.values[1] == 2.0f);
    store_end(c);
    store_close(s);
    return more;
}

static void check_upgraded(int mode)
{
    store_record r;
    sql_on(path, version_1);
    if (!CHECK(read_one(mode, &r))) return;
    CHECK(r.id == 7 && r.center == 1.5 && isnan(r.base_center));
    CHECK(r.row.round == 0 && r.row.given_up == 0 && r.row.clocks.count == 0 && r.row.power == 0);
    CHECK(r.row.registers == 32 && r.row.blocks_per_sm == 4 && r.row.bytes == 1024);
}

static int files_in_folder(void)
{
    int count = 0;
    DIR *entries = opendir(folder);
    for (struct dirent *e; entries && (e = readdir(entries));) count += e->d_name[0] != '.';
    if (entries) closedir(entries);
    return count;
}

STORE_TEST(upgraded_when_written)
{
    check_upgraded(STORE_CREATE);
    store *s = open_with_device();
    if (!s) return;
    CHECK(!add_row(s, "ipt_1.tpb_256")); // known as before
    CHECK(add_row(s, "ipt_2.tpb_256"));
    store_close(s);
    CHECK(rows_in_file() == 2 && files_in_folder() == 1);
}

// Whoever only reads changes nothing.
STORE_TEST(read_as_it_is)
{
    text before = {0}, after = {0};
    sql_on(path, version_1);
    CHECK_STATUS(file_read(path, &before), CUBC_OK);
    unlink(path);
    check_upgraded(STORE_READ);
    CHECK_STATUS(file_read(path, &after), CUBC_OK);
    CHECK(before.length == after.length && !memcmp(before.data, after.data, after.length));
    CHECK(files_in_folder() == 1);
    text_free(&before);
    text_free(&after);
}

// Rows that only the log has are upgraded, and the log does not stay behind.
STORE_TEST(upgraded_with_its_log)
{
    sql *db;
    sql_on(path, version_1);
    sql_on(path, "PRAGMA journal_mode = WAL");
    CHECK_STATUS(sql_open(path, true, SQL_WAIT_S, NULL, 0, &db),
                 CUBC_OK); // not trusted: leaves the log
    CHECK_STATUS(sql_execute(db, "UPDATE measurement SET variant = 'ipt_1.tpb_128'"), CUBC_OK);
    sql_close(db);
    CHECK(files_in_folder() > 1);
    store *s = open_with_device();
    if (!s) return;
    CHECK(!add_row(s, "ipt_1.tpb_128") && add_row(s, "ipt_1.tpb_256"));
    store_close(s);
    CHECK(rows_in_file() == 2 && files_in_folder() == 1);
}

// An upgrade that would lose a row is none: the file stays as it was, and can be read.
STORE_TEST(upgrade_that_fails)
{
    text before = {0}, after = {0};
    store_record r;
    sql_on(path, version_1);
    sql_on(path, "INSERT INTO measurement SELECT 9, 1, 1, 1, '', '', '', '', 'ok', '', '', x'00',"
                 " x'', NULL, NULL, 0, 0, 0, 0, 0");
    CHECK_STATUS(file_read(path, &before), CUBC_OK);
    CHECK(refuses(STORE_CREATE, CUBC_STORE_ERROR, "cannot be upgraded"));
    CHECK(strstr(cubc_error_message(), "row 9") && files_in_folder() == 1);
    CHECK_STATUS(file_read(path, &after), CUBC_OK);
    CHECK(before.length == after.length && !memcmp(before.data, after.data, after.length));
    CHECK(read_one(STORE_READ, &r));
    text_free(&before);
    text_free(&after);
}

// Pages that two tables share are not dropped with one of them.
STORE_TEST(damaged_pages_are_not_upgraded)
{
    sql *db;
    int64_t device = 0, environment = 0;
    text file = {0};
    sql_on(path, version_1);
    CHECK_STATUS(sql_open(path, false, SQL_WAIT_S, NULL, 0, &db), CUBC_OK);
    sql_integer(db, "SELECT rootpage FROM sqlite_master WHERE name = 'device'", &device);
    sql_integer(db, "SELECT rootpage FROM sqlite_master WHERE name = 'environment'", &environment);
    sql_close(db);
    CHECK_STATUS(file_read(path, &file), CUBC_OK);
    if (CHECK(device && environment && file.length > 4096u * (size_t)environment)) {
        // The device's row becomes one whose length goes on in the environment's page.
        char *row = file.data + 4096 * device - 4;
        memcpy(row, (char[]){0, 0, 0, (char)environment}, 4);
        file.data[4096 * (device - 1) + 5] = 0x7f;
    }
    FILE *out = fopen(path, "wb");
    CHECK(out && fwrite(file.data, 1, file.length, out) == file.length && !fclose(out));
    text_free(&file);
    CHECK(refuses(STORE_CREATE, CUBC_STORE_ERROR, "cannot be upgraded"));
}

// Several processes find an old store at once, and all their rows are in the new one.
STORE_TEST(upgraded_by_several)
{
    enum { WRITERS = 4 };
    sql_on(path, version_1);
    for (int w = 0; w < WRITERS; w++) {
        char variant[32];
        if (fork()) continue;
        snprintf(variant, sizeof variant, "ipt_%d", w + 10);
        store *s = open_with_device();
        bool added = s && add_row(s, variant);
        store_close(s);
        _exit(!added);
    }
    for (int w = 0, status = 1; w < WRITERS; w++)
        CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(rows_in_file() == 1 + WRITERS && files_in_folder() == 1);
}

STORE_TEST(rounds)
{
    static const float clocks[] = {1.9e9f, 1.8e9f, 1.7e9f}, base_clocks[] = {1.6e9f, 1.5e9f};
    store_cursor *c = NULL;
    store_record r;
    bool added, more = false, found = true;
    int64_t id;
    store_row row = some_row("ipt_1.tpb_256");
    store *s = open_with_device();
    if (!s) return;
    CHECK(add_row(s, row.variant));
    row.round = 1;
    CHECK_STATUS(store_find(s, &row, &id, &found), CUBC_OK);
    CHECK(!found);
    row.clocks = (store_series){clocks, 3};
    row.base_clocks = (store_series){base_clocks, 2};
    row.given_up = 1;
    row.flops = 2;
    row.hot = 3;
    row.temperature = 40;
    row.power = 500;
    CHECK_STATUS(store_add(s, &row, &added), CUBC_OK);
    CHECK(added);
    CHECK_STATUS(store_begin(s, &c), CUBC_OK);
    CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
    CHECK(more && r.row.round == 0 && !r.row.clocks.count && !r.row.base_clocks.count);
    CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
    if (CHECK(more && r.row.round == 1 && r.row.clocks.count && r.row.base_clocks.count)) {
        CHECK(!memcmp(r.row.clocks.values, clocks, sizeof clocks));
        CHECK(!memcmp(r.row.base_clocks.values, base_clocks, sizeof base_clocks));
        CHECK(!memcmp(r.row.base_samples.values, some_base, sizeof some_base));
        CHECK(r.row.given_up == 1 && r.row.flops == 2 && r.row.hot == 3);
        CHECK(r.row.temperature == 40 && r.row.power == 500);
    }
    store_end(c);
    store_close(s);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        {"upgraded_when_written", upgraded_when_written},
        {"read_as_it_is", read_as_it_is},
        {"upgraded_with_its_log", upgraded_with_its_log},
        {"upgrade_that_fails", upgrade_that_fails},
        {"damaged_pages_are_not_upgraded", damaged_pages_are_not_upgraded},
        {"upgraded_by_several", upgraded_by_several},
        {"rounds", rounds},
    };
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
