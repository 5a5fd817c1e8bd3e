// Stores of an earlier version are upgraded with all their rows; what version 2 added is kept.
#define _XOPEN_SOURCE 700
#include "store_fixture.h"

#include <math.h>

// The tables as version 1 had them, with one measurement.
static const char version_1[] =
    "CREATE TABLE device (id INTEGER PRIMARY KEY, uuid TEXT NOT NULL, model TEXT NOT NULL,"
    " name TEXT NOT NULL, kind TEXT NOT NULL, arch TEXT NOT NULL, units INTEGER NOT NULL,"
    " warp_size INTEGER NOT NULL, max_threads INTEGER NOT NULL, threads_per_unit INTEGER NOT NULL,"
    " shared_bytes_per_block INTEGER NOT NULL, shared_bytes_per_unit INTEGER NOT NULL,"
    " l2_bytes INTEGER NOT NULL, memory_bytes INTEGER NOT NULL, clock_khz INTEGER NOT NULL,"
    " memory_clock_khz INTEGER NOT NULL, bus_bits INTEGER NOT NULL, ecc INTEGER NOT NULL,"
    " UNIQUE (uuid, units, ecc));"
    "CREATE TABLE environment (id INTEGER PRIMARY KEY, driver TEXT NOT NULL,"
    " runtime TEXT NOT NULL, compiler TEXT NOT NULL, version TEXT NOT NULL,"
    " UNIQUE (driver, runtime, compiler, version));"
    "CREATE TABLE benchmark (id INTEGER PRIMARY KEY, name TEXT NOT NULL, axes TEXT NOT NULL,"
    " UNIQUE (name, axes));"
    "CREATE TABLE measurement (id INTEGER PRIMARY KEY,"
    " device_id INTEGER NOT NULL REFERENCES device(id),"
    " environment_id INTEGER NOT NULL REFERENCES environment(id),"
    " benchmark_id INTEGER NOT NULL REFERENCES benchmark(id),"
    " source_hash TEXT NOT NULL, ct TEXT NOT NULL, variant TEXT NOT NULL, rt TEXT NOT NULL,"
    " status TEXT NOT NULL, message TEXT NOT NULL, created TEXT NOT NULL,"
    " samples BLOB NOT NULL, base_samples BLOB NOT NULL, center REAL, base_center REAL,"
    " bytes REAL NOT NULL, registers INTEGER NOT NULL, local_bytes INTEGER NOT NULL,"
    " shared_bytes INTEGER NOT NULL, blocks_per_unit INTEGER NOT NULL,"
    " UNIQUE (benchmark_id, source_hash, ct, variant, rt, device_id, environment_id));"
    "CREATE VIEW result AS SELECT m.id, d.model, b.name AS benchmark, m.ct, m.rt, m.variant,"
    " m.status, m.center, m.base_center, m.base_center / m.center AS speedup, m.created"
    " FROM measurement m JOIN device d ON d.id = m.device_id"
    " JOIN benchmark b ON b.id = m.benchmark_id;"
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
    if (more) CHECK(r->row.sample_count == 2 && r->row.samples[1] == 2.0f);
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
    CHECK(r.row.round == 0 && r.row.given_up == 0 && r.row.clocks == NULL && r.row.power == 0);
    CHECK(r.row.registers == 32 && r.row.blocks_per_unit == 4 && r.row.bytes == 1024);
}

STORE_TEST(upgraded_when_written)
{
    check_upgraded(STORE_CREATE);
    store *s = open_with_device();
    if (!s) return;
    CHECK(!add_row(s, "ipt_1.tpb_256")); // known as before
    CHECK(add_row(s, "ipt_2.tpb_256"));
    store_close(s);
    CHECK(rows_in_file() == 2);
}

STORE_TEST(upgraded_when_read)
{
    check_upgraded(STORE_READ);
    CHECK(rows_in_file() == 1);
}

// Half of an upgrade is none: the file stays one of version 1.
STORE_TEST(upgrade_that_fails)
{
    store_record r;
    sql_on(path, version_1);
    sql_on(path, "CREATE TABLE measurement_1 (id INTEGER)"); // stands in the way
    CHECK(refuses(STORE_CREATE, CUBC_STORE_ERROR, "measurement_1"));
    CHECK(refuses(STORE_READ, CUBC_STORE_ERROR, "older cubc and cannot be upgraded"));
    sql_on(path, "DROP TABLE measurement_1");
    CHECK(read_one(STORE_READ, &r));
}

STORE_TEST(rounds)
{
    static const float clocks[] = {1.9e9f, 1.8e9f, 1.7e9f}, base_clocks[] = {1.6e9f, 1.5e9f};
    store_cursor *c = NULL;
    store_record r;
    bool added, more = false, found = true;
    store_row row = some_row("ipt_1.tpb_256");
    store *s = open_with_device();
    if (!s) return;
    CHECK(add_row(s, row.variant));
    row.round = 1;
    CHECK_STATUS(store_has(s, &row, &found), CUBC_OK);
    CHECK(!found);
    row.clocks = clocks;
    row.base_clocks = base_clocks;
    row.given_up = 1;
    row.flops = 2;
    row.hot_s = 3;
    row.temperature = 40;
    row.power = 500;
    CHECK_STATUS(store_add(s, &row, &added), CUBC_OK);
    CHECK(added);
    CHECK_STATUS(store_begin(s, &c), CUBC_OK);
    CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
    CHECK(more && r.row.round == 0 && !r.row.clocks && !r.row.base_clocks);
    CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
    if (CHECK(more && r.row.round == 1 && r.row.clocks && r.row.base_clocks)) {
        CHECK(!memcmp(r.row.clocks, clocks, sizeof clocks));
        CHECK(!memcmp(r.row.base_clocks, base_clocks, sizeof base_clocks));
        CHECK(!memcmp(r.row.base_samples, some_base, sizeof some_base));
        CHECK(r.row.given_up == 1 && r.row.flops == 2 && r.row.hot_s == 3);
        CHECK(r.row.temperature == 40 && r.row.power == 500);
    }
    store_end(c);
    store_close(s);
    sql_on(path, "UPDATE measurement SET clocks = x'0000803f' WHERE round = 1");
    CHECK(rows_in_file() == 1); // clocks have to be as many as samples
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        {"upgraded_when_written", upgraded_when_written},
        {"upgraded_when_read", upgraded_when_read},
        {"upgrade_that_fails", upgrade_that_fails},
        {"rounds", rounds},
    };
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
