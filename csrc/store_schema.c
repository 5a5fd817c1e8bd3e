// The tables of a store and the opening of a file as one: see store_schema.h.
//
// A file says in its header whose it is (application_id) and of which version (user_version). Both
// are looked at before anything is written, so that a file given by mistake stays as it was.
#define _POSIX_C_SOURCE 200809L
#include "store_schema.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// ---- schema -----------------------------------------------------------------------------------
// Migration i takes a store of version i to i + 1; what has been released is never edited.
// `center` and the view `result` are for people with an SQL shell; the core reads neither.
// A device is unique with its units and ECC: the same silicon with ECC switched, or with fewer
// cores to run on, times differently.
static const char *const migrations[] = {
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
    "  status TEXT NOT NULL, message TEXT NOT NULL, created TEXT NOT NULL," // UTC
    "  samples BLOB NOT NULL, base_samples BLOB NOT NULL," // little-endian float32, seconds
    "  center REAL, base_center REAL,"                     // their medians
    "  bytes REAL NOT NULL, registers INTEGER NOT NULL, local_bytes INTEGER NOT NULL,"
    "  shared_bytes INTEGER NOT NULL, blocks_per_unit INTEGER NOT NULL,"
    "  UNIQUE (benchmark_id, source_hash, ct, variant, rt, device_id, environment_id));"
    "CREATE VIEW result AS SELECT m.id, d.model, b.name AS benchmark, m.ct, m.rt, m.variant,"
    "  m.status, m.center, m.base_center, m.base_center / m.center AS speedup, m.created"
    "  FROM measurement m JOIN device d ON d.id = m.device_id"
    "  JOIN benchmark b ON b.id = m.benchmark_id;",
    // A round is part of the key, which SQLite cannot alter: the rows move to a new table.
    "DROP VIEW IF EXISTS result;"
    "ALTER TABLE measurement RENAME TO measurement_1;"
    "CREATE TABLE measurement ("
    "  id INTEGER PRIMARY KEY,"
    "  device_id INTEGER NOT NULL REFERENCES device(id),"
    "  environment_id INTEGER NOT NULL REFERENCES environment(id),"
    "  benchmark_id INTEGER NOT NULL REFERENCES benchmark(id),"
    "  source_hash TEXT NOT NULL, ct TEXT NOT NULL, variant TEXT NOT NULL, rt TEXT NOT NULL,"
    "  round INTEGER NOT NULL,"
    "  status TEXT NOT NULL, message TEXT NOT NULL, created TEXT NOT NULL,"
    "  samples BLOB NOT NULL, base_samples BLOB NOT NULL,"
    "  clocks BLOB NOT NULL, base_clocks BLOB NOT NULL," // little-endian float32, hertz
    "  center REAL, base_center REAL, given_up INTEGER NOT NULL,"
    "  bytes REAL NOT NULL, flops REAL NOT NULL, hot REAL NOT NULL,"
    "  temperature REAL NOT NULL, power REAL NOT NULL,"
    "  registers INTEGER NOT NULL, local_bytes INTEGER NOT NULL,"
    "  shared_bytes INTEGER NOT NULL, blocks_per_unit INTEGER NOT NULL,"
    "  UNIQUE (benchmark_id, source_hash, ct, variant, rt, device_id, environment_id, round));"
    "INSERT INTO measurement SELECT id, device_id, environment_id, benchmark_id, source_hash, ct,"
    "  variant, rt, 0, status, message, created, samples, base_samples, x'', x'', center,"
    "  base_center, 0, bytes, 0, 0, 0, 0, registers, local_bytes, shared_bytes, blocks_per_unit"
    "  FROM measurement_1;"
    "DROP TABLE measurement_1;"
    "CREATE VIEW result AS SELECT m.id, d.model, b.name AS benchmark, m.ct, m.rt, m.variant,"
    "  m.round, m.status, m.center, m.base_center, m.base_center / m.center AS speedup, m.created"
    "  FROM measurement m JOIN device d ON d.id = m.device_id"
    "  JOIN benchmark b ON b.id = m.benchmark_id;",
};
enum {
    APPLICATION_ID = 0x63756263, // "cubc", in the file's header
    STORE_VERSION = COUNT_OF(migrations),
};

static const char *const statements[STATEMENTS] = {
    [ADD_DEVICE] =
        "INSERT INTO device (uuid, units, ecc, model, name, kind, arch, warp_size, max_threads,"
        " threads_per_unit, shared_bytes_per_block, shared_bytes_per_unit, l2_bytes, memory_bytes,"
        " clock_khz, memory_clock_khz, bus_bits)"
        " VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17)"
        " ON CONFLICT (uuid, units, ecc) DO NOTHING",
    [FIND_DEVICE] = "SELECT id FROM device WHERE uuid = ?1 AND units = ?2 AND ecc = ?3",
    [ADD_ENVIRONMENT] =
        "INSERT INTO environment (driver, runtime, compiler, version) VALUES (?1, ?2, ?3, ?4)"
        " ON CONFLICT (driver, runtime, compiler, version) DO NOTHING",
    [FIND_ENVIRONMENT] = "SELECT id FROM environment WHERE driver = ?1 AND runtime = ?2"
                         " AND compiler = ?3 AND version = ?4",
    [ADD_BENCHMARK] =
        "INSERT INTO benchmark (name, axes) VALUES (?1, ?2) ON CONFLICT (name, axes) DO NOTHING",
    [ADD] = "INSERT INTO measurement (benchmark_id, source_hash, ct, variant, rt, device_id,"
            " environment_id, round, status, message, samples, base_samples, clocks, base_clocks,"
            " center, base_center, given_up, bytes, flops, hot, temperature, power, registers,"
            " local_bytes, shared_bytes, blocks_per_unit, created)"
            " VALUES ((SELECT id FROM benchmark WHERE name = ?1 AND axes = ?2), ?3,?4,?5,?6,?7,?8,"
            " ?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22,?23,?24,?25,?26,?27,"
            " strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))"
            // That a variant was not worth a measurement may be measured after all.
            " ON CONFLICT (benchmark_id, source_hash, ct, variant, rt, device_id, environment_id,"
            " round) DO UPDATE SET"
            " status=excluded.status, message=excluded.message, samples=excluded.samples,"
            " base_samples=excluded.base_samples, clocks=excluded.clocks,"
            " base_clocks=excluded.base_clocks, center=excluded.center,"
            " base_center=excluded.base_center, given_up=excluded.given_up,"
            " bytes=excluded.bytes, flops=excluded.flops, hot=excluded.hot,"
            " temperature=excluded.temperature, power=excluded.power,"
            " registers=excluded.registers, local_bytes=excluded.local_bytes,"
            " shared_bytes=excluded.shared_bytes,"
            " blocks_per_unit=excluded.blocks_per_unit, created=excluded.created"
            " WHERE status IN ('lost', 'pruned')"
            " AND excluded.status NOT IN ('lost', 'pruned')",
    [HAS] = "SELECT 1 FROM measurement WHERE"
            " benchmark_id = (SELECT id FROM benchmark WHERE name = ?1 AND axes = ?2)"
            " AND source_hash = ?3 AND ct = ?4 AND variant = ?5 AND rt = ?6 AND device_id = ?7"
            " AND environment_id = ?8 AND round = ?9",
    // Outer joins: a row whose device is gone is reported, not passed over.
    [NEXT] =
        "SELECT m.id, b.name, b.axes, m.source_hash, m.ct, m.variant, m.rt, m.status, m.message,"
        " m.created, d.uuid, d.model, d.name, d.arch, e.driver, e.runtime, e.compiler, e.version,"
        " m.round, m.given_up, m.registers, m.local_bytes, m.shared_bytes, m.blocks_per_unit,"
        " m.bytes, m.flops, m.hot, m.temperature, m.power, m.device_id, m.environment_id,"
        " d.units, d.ecc,"
        " m.samples, m.base_samples, m.clocks, m.base_clocks"
        " FROM measurement m LEFT JOIN benchmark b ON b.id = m.benchmark_id"
        " LEFT JOIN device d ON d.id = m.device_id"
        " LEFT JOIN environment e ON e.id = m.environment_id"
        " WHERE m.id > ?1 ORDER BY m.id LIMIT 1",
};

// ---- opening ----------------------------------------------------------------------------------
static cubc_status check_path(const char *path, bool write)
{
    struct stat info;
    if (!*path) FAIL(CUBC_INVALID_ARGUMENT, "the path of the store is empty");
    if (stat(path, &info)) {
        if (write && errno == ENOENT) return CUBC_OK;
        if (errno == ENOENT) FAIL(CUBC_IO_ERROR, "there is no store %s; a search writes one", path);
        FAIL(CUBC_IO_ERROR, "cannot open store %s: %s", path, strerror(errno));
    }
    if (S_ISDIR(info.st_mode)) FAIL(CUBC_IO_ERROR, "%s is a folder, not a store", path);
    if (!S_ISREG(info.st_mode)) FAIL(CUBC_IO_ERROR, "%s is not a regular file", path);
    return CUBC_OK;
}

// What the file is: *version of a store of ours, 0 for a file with nothing in it yet.
static cubc_status identify(sql *db, int64_t *version)
{
    int64_t application, tables, cccl;
    TRY(sql_integer(db, "PRAGMA application_id", &application));
    TRY(sql_integer(db, "PRAGMA user_version", version));
    if (application == APPLICATION_ID && *version > STORE_VERSION)
        FAIL(CUBC_STORE_ERROR,
             "%s was written by a newer cubc (store version %lld, this one knows %d): upgrade cubc",
             sql_path(db), (long long)*version, (int)STORE_VERSION);
    if (application == APPLICATION_ID && *version > 0) return CUBC_OK;
    TRY(sql_integer(db, "SELECT count(*) FROM sqlite_master", &tables));
    if (application == 0 && *version == 0 && tables == 0) return CUBC_OK;
    TRY(sql_integer(db,
                    "SELECT count(*) FROM sqlite_master WHERE type = 'table'"
                    " AND name IN ('subbenches', 'builds', 'runs')",
                    &cccl));
    if (cccl == 3)
        FAIL(CUBC_STORE_ERROR,
             "%s is a database of CCCL's benchmark scripts (cccl_meta_bench.db); cubc keeps its "
             "measurements in a format of its own: give it another file",
             sql_path(db));
    FAIL(CUBC_STORE_ERROR,
         "%s is an SQLite database but not a cubc store; it is left as it is: give another file",
         sql_path(db));
}

static cubc_status migrate(sql *db)
{
    int64_t version;
    char stamp[96];
    TRY(identify(db, &version)); // again, now that nobody else can be at it
    for (; version < STORE_VERSION; version++) TRY(sql_execute(db, migrations[version]));
    snprintf(stamp, sizeof stamp, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             (int)APPLICATION_ID, (int)STORE_VERSION);
    return sql_execute(db, stamp);
}

static cubc_status prepare_writer(sql *db)
{
    int64_t version;
    TRY(identify(db, &version)); // before anything is written: a foreign file stays as it is
    if (sql_is_readonly(db))
        FAIL(CUBC_STORE_ERROR, "%s is read-only: open it for reading, or copy it", sql_path(db));
    TRY(sql_set_journal(db));
    if (version == STORE_VERSION) return CUBC_OK;
    TRY(sql_begin(db));
    return sql_end(db, migrate(db));
}

static cubc_status prepare_reader(sql *db, bool *old)
{
    int64_t version;
    TRY(identify(db, &version));
    if (version == 0)
        FAIL(CUBC_STORE_ERROR,
             "%s is empty: it is not a store yet; \"cubc search\" fills one, or give another file",
             sql_path(db));
    *old = version < STORE_VERSION;
    return CUBC_OK;
}

// A store of an earlier version is brought up to date, which takes the right to write.
static cubc_status upgrade(const char *path)
{
    sql *db;
    cubc_status st = sql_open(path, true, statements, STATEMENTS, &db);
    if (!st) {
        st = prepare_writer(db);
        sql_close(db);
    }
    if (!st) return CUBC_OK;
    FAIL(CUBC_STORE_ERROR,
         "%s was written by an older cubc and cannot be upgraded to store version %d where it is "
         "(%.200s): copy it to where you may write",
         path, (int)STORE_VERSION, cubc_error_message());
}

static cubc_status check_tables(sql *db) // preparing the widest statement looks at all of them
{
    sql_query q;
    cubc_status st = sql_start(db, NEXT, &q);
    sql_finish(&q);
    return st;
}

static cubc_status open_prepared(const char *path, bool write, bool *old, sql **out)
{
    cubc_status st;
    sql *db = NULL;
    *out = NULL;
    *old = false;
    TRY(sql_open(path, write, statements, STATEMENTS, &db));
    GUARD(st, write ? prepare_writer(db) : prepare_reader(db, old), failed);
    if (!*old) GUARD(st, check_tables(db), failed);
    *out = db;
    return CUBC_OK;
failed:
    sql_close(db);
    return st;
}

cubc_status schema_open(const char *path, bool write, sql **out)
{
    bool old;
    *out = NULL;
    TRY(check_path(path, write));
    TRY(open_prepared(path, write, &old, out));
    if (!old) return CUBC_OK;
    sql_close(*out);
    *out = NULL;
    TRY(upgrade(path));
    return open_prepared(path, write, &old, out);
}
