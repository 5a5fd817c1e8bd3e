// The tables of a store and the opening of a file as one: see store_schema.h.
//
// A file says in its header whose it is (application_id) and of which version (user_version). Both
// are looked at before anything is written, so that a file given by mistake stays as it was. Then
// its schema has to be, statement by statement, that of its version: a schema of somebody else's
// making could compute as it is read (generated columns, views, virtual tables), or make SQLite
// look through a whole table for each row (no index).
#define _XOPEN_SOURCE 700 // realpath
#include "store/store_schema.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { APPLICATION_ID = 0x63756263 }; // "cubc", in the file's header

// ---- schema -----------------------------------------------------------------------------------
// A released schema is never edited. `center` and the view `result` are for people with an SQL
// shell. A device is unique with its units and ECC: the same silicon with ECC switched, or with
// fewer cores to run on, times differently.
static const char device_table[] =
    "CREATE TABLE device ("
    "  id INTEGER PRIMARY KEY,"
    "  uuid TEXT NOT NULL, model TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,"
    "  arch TEXT NOT NULL, units INTEGER NOT NULL, warp_size INTEGER NOT NULL,"
    "  max_threads INTEGER NOT NULL, threads_per_unit INTEGER NOT NULL,"
    "  shared_bytes_per_block INTEGER NOT NULL, shared_bytes_per_unit INTEGER NOT NULL,"
    "  l2_bytes INTEGER NOT NULL, memory_bytes INTEGER NOT NULL, clock_khz INTEGER NOT NULL,"
    "  memory_clock_khz INTEGER NOT NULL, bus_bits INTEGER NOT NULL, ecc INTEGER NOT NULL,"
    "  UNIQUE (uuid, units, ecc))";
static const char environment_table[] =
    "CREATE TABLE environment ("
    "  id INTEGER PRIMARY KEY,"
    "  driver TEXT NOT NULL, runtime TEXT NOT NULL, compiler TEXT NOT NULL, version TEXT NOT NULL,"
    "  UNIQUE (driver, runtime, compiler, version))";
static const char benchmark_table[] =
    "CREATE TABLE benchmark ("
    "  id INTEGER PRIMARY KEY, name TEXT NOT NULL, axes TEXT NOT NULL, UNIQUE (name, axes))";

static const char measurement_1[] =
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
    "  UNIQUE (benchmark_id, source_hash, ct, variant, rt, device_id, environment_id))";
static const char result_1[] =
    "CREATE VIEW result AS SELECT m.id, d.model, b.name AS benchmark, m.ct, m.rt, m.variant,"
    "  m.status, m.center, m.base_center, m.base_center / m.center AS speedup, m.created"
    "  FROM measurement m JOIN device d ON d.id = m.device_id"
    "  JOIN benchmark b ON b.id = m.benchmark_id";

static const char measurement_2[] =
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
    "  UNIQUE (benchmark_id, source_hash, ct, variant, rt, device_id, environment_id, round))";
static const char result_2[] =
    "CREATE VIEW result AS SELECT m.id, d.model, b.name AS benchmark, m.ct, m.rt, m.variant,"
    "  m.round, m.status, m.center, m.base_center, m.base_center / m.center AS speedup, m.created"
    "  FROM measurement m JOIN device d ON d.id = m.device_id"
    "  JOIN benchmark b ON b.id = m.benchmark_id";

// IN_v_s(there, missing): the first if version v has the columns that came with version s, else the
// second.
#define IN_1_1(there, missing) there
#define IN_1_2(there, missing) missing
#define IN_1_3(there, missing) missing
#define IN_1_4(there, missing) missing
#define IN_1_5(there, missing) missing
#define IN_2_1(there, missing) there
#define IN_2_2(there, missing) there
#define IN_2_3(there, missing) missing
#define IN_2_4(there, missing) missing
#define IN_2_5(there, missing) missing
#define IN_3_1(there, missing) there
#define IN_3_2(there, missing) there
#define IN_3_3(there, missing) there
#define IN_3_4(there, missing) missing
#define IN_3_5(there, missing) missing
#define IN_4_1(there, missing) there
#define IN_4_2(there, missing) there
#define IN_4_3(there, missing) there
#define IN_4_4(there, missing) there
#define IN_4_5(there, missing) missing
#define IN_5_1(there, missing) there
#define IN_5_2(there, missing) there
#define IN_5_3(there, missing) there
#define IN_5_4(there, missing) there
#define IN_5_5(there, missing) there

#define TYPE_STORE_ID "INTEGER NOT NULL"
#define TYPE_STORE_TEXT "TEXT NOT NULL"
#define TYPE_STORE_COUNT "INTEGER NOT NULL"
#define TYPE_STORE_REAL "REAL NOT NULL"
#define TYPE_STORE_MEDIAN "REAL"
#define TYPE_STORE_SERIES "BLOB NOT NULL" // little-endian float32
#define DECLARE_3(since, table, kind, from, column, name, most) \
    IN_3_##since(" " #column " " TYPE_##kind ",", "")
#define DECLARE_4(since, table, kind, from, column, name, most) \
    IN_4_##since(" " #column " " TYPE_##kind ",", "")
#define DECLARE_5(since, table, kind, from, column, name, most) \
    IN_5_##since(" " #column " " TYPE_##kind ",", "")
#define OF_KEY                                                                          \
    "SELECT id FROM measurement WHERE"                                                  \
    " benchmark_id = (SELECT id FROM benchmark WHERE name = ?1 AND axes = ?2)"          \
    " AND source_hash = ?3 AND ct = ?4 AND variant = ?5 AND rt = ?6 AND device_id = ?7" \
    " AND environment_id = ?8 AND round = ?9"
#define KEY "(benchmark_id, source_hash, ct, variant, rt, device_id, environment_id, round)"
#define MEASUREMENT(version)                                                                \
    "CREATE TABLE measurement ( id INTEGER PRIMARY KEY," STORE_KEY(DECLARE_##version)       \
        STORE_RESULT(                                                                       \
            DECLARE_##version) " checksum INTEGER NOT NULL, UNIQUE " KEY ","                \
                               " FOREIGN KEY (device_id) REFERENCES device (id),"           \
                               " FOREIGN KEY (environment_id) REFERENCES environment (id)," \
                               " FOREIGN KEY (benchmark_id) REFERENCES benchmark (id))"
static const char measurement_3[] = MEASUREMENT(3);
static const char measurement_4[] = MEASUREMENT(4);
static const char measurement_5[] = MEASUREMENT(5);

typedef struct entry { // of sqlite_master
    const char *type, *name, *table, *text;
} entry;
#define TABLE(name, text) \
    {"table", name, name, text}, {"index", "sqlite_autoindex_" name "_1", name, ""}
enum { ENTRIES = 9 };
#define SCHEMA(version)                                 \
    {                                                   \
        TABLE("device", device_table),                  \
        TABLE("environment", environment_table),        \
        TABLE("benchmark", benchmark_table),            \
        TABLE("measurement", measurement_##version),    \
        {"view", "result", "result", result_##version}, \
    }
#define result_3 result_2
#define result_4 result_2
#define result_5 result_2
static const entry schemas[STORE_VERSION][ENTRIES] = {SCHEMA(1), SCHEMA(2), SCHEMA(3), SCHEMA(4),
                                                      SCHEMA(5)};

// ---- statements -------------------------------------------------------------------------------
#define FIELD(since, table, kind, from, column, name, most) ", " #table "." #column
#define NAME(since, table, kind, from, column, name, most) ", " #column
#define MARK(since, table, kind, from, column, name, most) ", ?"
#define RENEW(since, table, kind, from, column, name, most) ", " #column " = excluded." #column
// Columns that a version does not have yet are empty or 0.
#define MISSING_STORE_ID
#define MISSING_STORE_STATE
#define MISSING_STORE_MEDIAN "NULL"
#define MISSING_STORE_TEXT "''"
#define MISSING_STORE_COUNT "0"
#define MISSING_STORE_REAL "0.0"
#define MISSING_STORE_SERIES "x''"
#define FIELD_1(since, table, kind, from, column, name, most) \
    ", " IN_1_##since(#table "." #column, MISSING_##kind)
#define FIELD_2(since, table, kind, from, column, name, most) \
    ", " IN_2_##since(#table "." #column, MISSING_##kind)
#define FIELD_3(since, table, kind, from, column, name, most) \
    ", " IN_3_##since(#table "." #column, MISSING_##kind)
#define FIELD_4(since, table, kind, from, column, name, most) \
    ", " IN_4_##since(#table "." #column, MISSING_##kind)
#define FIELD_5(since, table, kind, from, column, name, most) \
    ", " IN_5_##since(#table "." #column, MISSING_##kind)
// Outer joins: a row whose device is gone is reported, not passed over.
#define ROW_OF(version, checksum)                                              \
    "SELECT " checksum STORE_COLUMNS(                                          \
        FIELD_##version) " FROM measurement m"                                 \
                         " LEFT JOIN benchmark b ON b.id = m.benchmark_id"     \
                         " LEFT JOIN device d ON d.id = m.device_id"           \
                         " LEFT JOIN environment e ON e.id = m.environment_id" \
                         " WHERE m.id = ?1"

// A compile error of the machine, by what its message has: OF_MACHINE of cubc/tuner/_status.py.
#define OF_MACHINE                                                \
    "status = 'compile_error' AND ("                              \
    "instr(message, 'the compiler was killed by signal') > 0 OR " \
    "instr(message, 'o space left on device') > 0 OR "            \
    "instr(message, 'annot allocate memory') > 0)"

// Adds a row, or renews the one of its key where a condition holds.
#define PUT_WHERE(condition)                                                               \
    "INSERT INTO measurement (id, checksum" STORE_KEY(NAME)                                \
        STORE_RESULT(NAME) ") VALUES (?, ?" STORE_KEY(MARK)                                \
            STORE_RESULT(MARK) ") ON CONFLICT " KEY                                        \
                               " DO UPDATE SET checksum = excluded.checksum" STORE_RESULT( \
                                   RENEW) " WHERE " condition

#define OF_RECORDING                                       \
    "status = 'recorded' AND excluded.status = 'recorded'" \
    " AND message <> '' AND message = excluded.message"

static const char *const statements[STATEMENTS] = {
    [MASTER] = "SELECT type, name, tbl_name, ifnull(sql, '') FROM sqlite_master",
    [ADD_DEVICE] =
        "INSERT INTO device (uuid, units, ecc, model, name, kind, arch, warp_size, max_threads,"
        " threads_per_unit, shared_bytes_per_block, shared_bytes_per_unit, l2_bytes, memory_bytes,"
        " clock_khz, memory_clock_khz, bus_bits)"
        " VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17)"
        " ON CONFLICT (uuid, units, ecc) DO NOTHING",
    [FIND_DEVICE] =
        "SELECT d.id" STORE_DEVICE(FIELD) " FROM device d"
                                          " WHERE d.uuid = ?1 AND d.units = ?2 AND d.ecc = ?3",
    [ADD_ENVIRONMENT] =
        "INSERT INTO environment (driver, runtime, compiler, version) VALUES (?1, ?2, ?3, ?4)"
        " ON CONFLICT (driver, runtime, compiler, version) DO NOTHING",
    [FIND_ENVIRONMENT] = "SELECT e.id" STORE_ENVIRONMENT(
        FIELD) " FROM environment e"
               " WHERE e.driver = ?1 AND e.runtime = ?2 AND e.compiler = ?3"
               " AND e.version = ?4",
    [ADD_BENCHMARK] =
        "INSERT INTO benchmark (name, axes) VALUES (?1, ?2) ON CONFLICT (name, axes) DO NOTHING",
    [FIND_BENCHMARK] = "SELECT id FROM benchmark WHERE name = ?1 AND axes = ?2",
    // A variant that was not worth a measurement may be measured after all, and one that is wrong
    // or faults now and then is so for good: the order of weight() in cubc/tuner/_status.py.
    [ADD] = PUT_WHERE("(status IN ('lost', 'pruned') OR " OF_MACHINE
                      ") AND excluded.status NOT IN ('lost', 'pruned')"
                      " OR variant <> 'base' AND status <> 'wrong' AND (excluded.status = 'wrong'"
                      " OR excluded.status = 'fault' AND status <> 'fault')"),
    // A message is that of one recording.
    [PUT_CALLS] = PUT_WHERE(OF_RECORDING),
    [PUT_MORE_CALLS] = PUT_WHERE(OF_RECORDING " AND calls < excluded.calls"),
    [FIND] = OF_KEY,
    [FIND_SAME] = OF_KEY " AND (checksum = ?10 OR message <> '' AND message = ?11)",
    [NEXT_ID] = "SELECT id FROM measurement WHERE id > ?1 ORDER BY id LIMIT 1",
    [ALL_DEVICES] = "SELECT * FROM device ORDER BY id",
    [ALL_ENVIRONMENTS] = "SELECT * FROM environment ORDER BY id",
    [ALL_BENCHMARKS] = "SELECT * FROM benchmark ORDER BY id",
    [PUT_DEVICE] = "INSERT INTO device VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [PUT_ENVIRONMENT] = "INSERT INTO environment VALUES (?,?,?,?,?)",
    [PUT_BENCHMARK] = "INSERT INTO benchmark VALUES (?,?,?)",
    [ROW] = ROW_OF(1, "NULL"),
    [ROW + 1] = ROW_OF(2, "NULL"),
    [ROW + 2] = ROW_OF(3, "m.checksum"),
    [ROW + 3] = ROW_OF(4, "m.checksum"),
    [ROW + 4] = ROW_OF(5, "m.checksum"),
};

// ---- identity ---------------------------------------------------------------------------------
static bool read_entry(sql_query *q, entry *out)
{
    const char **const parts[] = {&out->type, &out->name, &out->table, &out->text};
    size_t length;
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (!sql_read_text(q, parts[i], &length)) return false;
    return true;
}

// Bit of an entry of ours that is the same; 0 if there is none.
static unsigned known_entry(const entry *schema, const entry *found)
{
    for (int i = 0; i < ENTRIES; i++)
        if (!strcmp(schema[i].type, found->type) && !strcmp(schema[i].name, found->name) &&
            !strcmp(schema[i].table, found->table) && !strcmp(schema[i].text, found->text))
            return 1u << i;
    return 0;
}

static cubc_status check_entries(sql *db, sql_query *q, const entry *schema)
{
    bool row;
    unsigned seen = 0, bit = 1;
    for (;;) {
        entry found;
        TRY(sql_step(q, &row));
        if (!row || !bit) break;
        bit = read_entry(q, &found) ? known_entry(schema, &found) : 0;
        if (bit & seen) bit = 0;
        seen |= bit;
    }
    if (bit && seen == (1u << ENTRIES) - 1) return CUBC_OK;
    FAIL(CUBC_STORE_ERROR,
         "%s is damaged, or was not made by cubc: its schema is not that of a store; restore a "
         "copy, or give another file",
         sql_path(db));
}

static cubc_status check_schema(sql *db, int version)
{
    sql_query q;
    TRY(sql_start(db, MASTER, &q));
    cubc_status st = check_entries(db, &q, schemas[version - 1]);
    sql_finish(&q);
    return st;
}

static cubc_status refuse_foreign(sql *db)
{
    int64_t cccl;
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

cubc_status schema_identify(sql *db, int *version)
{
    int64_t application, user_version, tables;
    TRY(sql_integer(db, "PRAGMA application_id", &application));
    TRY(sql_integer(db, "PRAGMA user_version", &user_version));
    *version = 0;
    if (application == APPLICATION_ID && user_version > STORE_VERSION)
        FAIL(CUBC_STORE_ERROR,
             "%s was written by a newer cubc (store version %lld, this one knows %d): upgrade cubc",
             sql_path(db), (long long)user_version, (int)STORE_VERSION);
    if (application == APPLICATION_ID && user_version > 0) {
        *version = (int)user_version;
        return check_schema(db, *version);
    }
    TRY(sql_integer(db, "SELECT count(*) FROM sqlite_master", &tables));
    return application == 0 && user_version == 0 && tables == 0 ? CUBC_OK : refuse_foreign(db);
}

// ---- opening ----------------------------------------------------------------------------------
// Who writes to a store makes its log beside it: a file that is there does not suffice.
static cubc_status check_folder(const char *path)
{
    text folder = {0};
    char full[PATH_MAX];
    const char *file = realpath(path, full) ? full : path; // not the folder of a link to it
    const char *slash = strrchr(file, '/');
    text_append(&folder, file, slash ? (size_t)(slash - file) + 1 : 0);
    text_puts(&folder, ".");
    cubc_status st = text_done(&folder);
    if (!st && faccessat(AT_FDCWD, folder.data, W_OK, AT_EACCESS))
        st = error_set(__FILE__, __LINE__, CUBC_IO_ERROR,
                       "cannot write store %s: %s; its folder must be there, be yours to write in, "
                       "and lie on a file system that is writable",
                       path, strerror(errno));
    text_free(&folder);
    return st;
}

static cubc_status check_path(const char *path, bool write)
{
    struct stat info;
    if (!*path)
        FAIL(CUBC_INVALID_ARGUMENT, "the path of the store is empty: give the name of a file");
    if (stat(path, &info)) {
        if (write && errno == ENOENT) return check_folder(path);
        if (errno == ENOENT) FAIL(CUBC_IO_ERROR, "there is no store %s; a search writes one", path);
        FAIL(CUBC_IO_ERROR, "cannot open store %s: %s", path, strerror(errno));
    }
    if (S_ISDIR(info.st_mode)) FAIL(CUBC_IO_ERROR, "%s is a folder, not a store", path);
    if (!S_ISREG(info.st_mode)) FAIL(CUBC_IO_ERROR, "%s is not a regular file", path);
    return write ? check_folder(path) : CUBC_OK;
}

static cubc_status create(sql *db, int *version)
{
    TRY(schema_identify(db, version)); // again, now that nobody else can be at it
    if (*version) return CUBC_OK;      // somebody was
    *version = STORE_VERSION;
    return schema_write(db, STORE_VERSION);
}

cubc_status schema_write(sql *db, int version)
{
    char stamp[96];
    const entry *schema = schemas[version - 1];
    for (int i = 0; i < ENTRIES; i++)
        if (*schema[i].text) TRY(sql_execute(db, schema[i].text));
    snprintf(stamp, sizeof stamp, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             (int)APPLICATION_ID, version);
    return sql_execute(db, stamp);
}

static cubc_status prepare_writer(sql *db, int *version)
{
    TRY(sql_execute(db, "BEGIN")); // one moment
    TRY(sql_end(db, schema_identify(db, version)));
    if (sql_is_readonly(db))
        FAIL(CUBC_STORE_ERROR, "%s is read-only: open it for reading, or copy it", sql_path(db));
    sql_trust(db);
    if (*version && *version < STORE_VERSION) return CUBC_OK;
    TRY(sql_set_journal(db));
    if (*version == STORE_VERSION) return CUBC_OK;
    TRY(sql_begin(db));
    TRY(sql_end(db, create(db, version)));
    sql_checkpoint(db); // so that the file alone is a store
    return CUBC_OK;
}

static cubc_status prepare_reader(sql *db, int *version)
{
    TRY(schema_identify(db, version));
    if (*version == 0)
        FAIL(CUBC_STORE_ERROR,
             "%s is empty: it is not a store yet; \"cubc search\" fills one, or give another file",
             sql_path(db));
    sql_trust(db);
    return CUBC_OK;
}

cubc_status schema_open(const char *path, bool write, double wait_s, sql **out, int *version)
{
    cubc_status st;
    sql *db = NULL;
    *out = NULL;
    TRY(check_path(path, write));
    TRY(sql_open(path, write, wait_s, statements, STATEMENTS, &db));
    GUARD(st, write ? prepare_writer(db, version) : prepare_reader(db, version), failed);
    *out = db;
    return CUBC_OK;
failed:
    sql_close(db);
    return st;
}

cubc_status schema_open_image(const char *path, store_image *image, sql **out, int *version)
{
    sql *db = NULL;
    *out = NULL;
    TRY(sql_open_image(path, image, statements, STATEMENTS, &db));
    cubc_status st = prepare_reader(db, version);
    if (st)
        sql_close(db);
    else
        *out = db;
    return st;
}
