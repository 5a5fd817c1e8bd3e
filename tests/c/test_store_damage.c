// Stores that are damaged, or somebody else's, or none: rows and files are refused by a sentence.
#define _XOPEN_SOURCE 700
#include "store_fixture.h"

#include <errno.h>
#include <fcntl.h>

// ---- damaged rows -----------------------------------------------------------------------------
STORE_TEST(damaged_rows)
{
    static const char *const damage[] = {
        "UPDATE measurement SET samples = x'000000' WHERE id = 2",        // no whole float
        "UPDATE measurement SET samples = x'0000c07f' WHERE id = 2",      // NaN
        "UPDATE measurement SET base_samples = x'000080bf' WHERE id = 2", // -1
        "UPDATE measurement SET samples = 'text' WHERE id = 2",
        "UPDATE measurement SET variant = x'ff' WHERE id = 2",
        "UPDATE measurement SET variant = 'a' || char(0) || 'b' WHERE id = 2",
        "UPDATE measurement SET registers = 99999999999 WHERE id = 2",
        "UPDATE measurement SET bytes = -1.0 WHERE id = 2",
        "PRAGMA foreign_keys = OFF; UPDATE measurement SET device_id = 77 WHERE id = 2",
        "UPDATE measurement SET clocks = x'0000803f' WHERE id = 2", // one, for three samples
        "UPDATE measurement SET message = zeroblob(7000000) WHERE id = 2",
        "UPDATE measurement SET message = hex(zeroblob(10000)) WHERE id = 2",
        // Changes that only the checksum sees.
        "UPDATE measurement SET samples = x'0000803f0000803f0000803f' WHERE id = 2",
        "UPDATE measurement SET center = 1.0 WHERE id = 2",
        "UPDATE measurement SET registers = 33 WHERE id = 2",
        "UPDATE measurement SET status = 'lost' WHERE id = 2",
        "UPDATE measurement SET created = '2026-01-01T00:00:00Z' WHERE id = 2",
        "UPDATE measurement SET checksum = checksum + 1 WHERE id = 2",
        "INSERT INTO device SELECT 2, 'GPU-2', model, name, kind, arch, units, warp_size,"
        " max_threads, threads_per_unit, shared_bytes_per_block, shared_bytes_per_unit, l2_bytes,"
        " memory_bytes, clock_khz, memory_clock_khz, bus_bits, ecc FROM device;"
        "UPDATE measurement SET device_id = 2 WHERE id = 2",
    };
    for (size_t i = 0; i < COUNT_OF(damage); i++) {
        bool more;
        store_cursor *c;
        store_record r;
        unlink(path);
        make_store(3);
        sql_on(path, damage[i]);
        store *s = open_store(STORE_READ);
        if (!s || store_begin(s, &c)) return;
        CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
        CHECK_STATUS(store_next(c, &r, &more), CUBC_STORE_ERROR);
        CHECK(!more && strstr(cubc_error_message(), "row 2") && strstr(cubc_error_message(), path));
        CHECK_STATUS(store_next(c, &r, &more), CUBC_OK); // goes on after it
        CHECK(more && r.id == 3);
        store_end(c);
        store_close(s);
    }
}

// The rows that a row refers to are in its checksum as well.
STORE_TEST(damaged_tables)
{
    static const char *const damage[] = {
        "UPDATE device SET model = 'NVIDIA H201'",
        "UPDATE device SET arch = 'sm_91'",
        "UPDATE device SET ecc = 0",
        "UPDATE environment SET driver = '580.2'",
        "UPDATE benchmark SET axes = '[]'",
    };
    for (size_t i = 0; i < COUNT_OF(damage); i++) {
        cubc_status st;
        unlink(path);
        make_store(3);
        sql_on(path, damage[i]);
        store *s = open_store(STORE_READ);
        if (!s) return;
        CHECK(count_rows(s, &st) == 0 && st == CUBC_STORE_ERROR);
        CHECK(strstr(cubc_error_message(), "their checksum differs"));
        store_close(s);
    }
}

// ---- files that are not stores ----------------------------------------------------------------
static void write_file(const char *name, const void *bytes, size_t count)
{
    FILE *file = fopen(name, "wb");
    CHECK(file && fwrite(bytes, 1, count, file) == count);
    if (file) fclose(file);
}

static bool is_unchanged(const text *before)
{
    text after = {0};
    bool same = !file_read(path, &after) && after.length == before->length &&
                !memcmp(after.data, before->data, after.length);
    text_free(&after);
    return same;
}

STORE_TEST(not_stores)
{
    char below[600];
    CHECK(refuses(STORE_READ, CUBC_IO_ERROR, path)); // nothing there
    CHECK(access(path, F_OK) && errno == ENOENT);
    write_file(path, "", 0);
    CHECK(refuses(STORE_READ, CUBC_STORE_ERROR, "is empty"));
    static const char prose[2000] = "Dear diary, today I measured a reduction.";
    write_file(path, prose, sizeof prose);
    CHECK(refuses(STORE_READ, CUBC_STORE_ERROR, "not a cubc store"));
    CHECK(refuses(STORE_CREATE, CUBC_STORE_ERROR, "move it away"));
    text before = {0};
    CHECK(file_read(path, &before) == CUBC_OK && is_unchanged(&before) && before.length == 2000);
    text_free(&before);
    snprintf(below, sizeof below, "%s/below.db", path); // a file is no folder
    store *s;
    CHECK_STATUS(store_open(below, STORE_CREATE, &s), CUBC_IO_ERROR);
    snprintf(below, sizeof below, "%s/none/below.db", folder);
    CHECK_STATUS(store_open(below, STORE_CREATE, &s), CUBC_IO_ERROR);
    CHECK_STATUS(store_open(folder, STORE_CREATE, &s), CUBC_IO_ERROR);
    CHECK(strstr(cubc_error_message(), "is a folder"));
    CHECK_STATUS(store_open("", STORE_CREATE, &s), CUBC_INVALID_ARGUMENT);
    CHECK_STATUS(store_open(path, 7, &s), CUBC_INVALID_ARGUMENT);
    unlink(path);
    CHECK(mkfifo(path, 0600) == 0);
    CHECK(refuses(STORE_READ, CUBC_IO_ERROR, "not a regular file")); // and does not wait
}

STORE_TEST(other_databases)
{
    text before = {0};
    sql_on(path, "CREATE TABLE songs (title TEXT)");
    CHECK(file_read(path, &before) == CUBC_OK);
    CHECK(refuses(STORE_CREATE, CUBC_STORE_ERROR, "not a cubc store"));
    CHECK(refuses(STORE_READ, CUBC_STORE_ERROR, "not a cubc store"));
    CHECK(is_unchanged(&before));
    text_free(&before);
    unlink(path);
    sql_on(path, "PRAGMA application_id = 1; PRAGMA user_version = 1");
    CHECK(refuses(STORE_CREATE, CUBC_STORE_ERROR, "not a cubc store"));
    unlink(path);
    sql_on(path, "CREATE TABLE subbenches (algorithm TEXT, bench TEXT);"
                 "CREATE TABLE builds (ctk TEXT); CREATE TABLE runs (ctk TEXT)");
    CHECK(refuses(STORE_CREATE, CUBC_STORE_ERROR, "CCCL"));
    CHECK(refuses(STORE_READ, CUBC_STORE_ERROR, "format of its own"));
}

STORE_TEST(newer_version)
{
    text before = {0};
    make_store(1);
    sql_on(path, "PRAGMA user_version = 99");
    CHECK(file_read(path, &before) == CUBC_OK);
    CHECK(refuses(STORE_CREATE, CUBC_STORE_ERROR,
                  "was written by a newer cubc (store version 99, this one knows"));
    CHECK(refuses(STORE_READ, CUBC_STORE_ERROR, "upgrade cubc"));
    CHECK(is_unchanged(&before));
    text_free(&before);
}

STORE_TEST(names_that_sqlite_would_misread)
{
    static const char *const names[] = {":memory:", "file:x?mode=memory", "100%41.db", "a#b?c"};
    int here = open(".", O_RDONLY);
    CHECK(here >= 0 && chdir(folder) == 0);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        store *s = NULL;
        CHECK_STATUS(store_open(names[i], STORE_CREATE, &s), CUBC_OK);
        store_close(s);
        CHECK(access(names[i], F_OK) == 0);
    }
    CHECK(fchdir(here) == 0);
    close(here);
}

// A schema of somebody else's making: nothing of it is accepted, to be read or to be written to.
STORE_TEST(hostile_schema)
{
    static const char *const changes[] = {
        "CREATE TRIGGER t AFTER INSERT ON measurement BEGIN DELETE FROM measurement; END",
        "ALTER TABLE device RENAME TO d; CREATE VIEW device AS SELECT * FROM d",
        "ALTER TABLE measurement ADD COLUMN x GENERATED ALWAYS AS (hex(zeroblob(30000000)))",
        "ALTER TABLE measurement ADD COLUMN x DEFAULT 1",
        "CREATE TABLE other (id)",
        "CREATE INDEX i ON measurement (variant)",
        "CREATE VIRTUAL TABLE v USING rtree(id, a, b)",
        "DROP VIEW result; CREATE VIEW result AS SELECT 1",
        "DROP VIEW result",
        "PRAGMA foreign_keys = OFF; DROP TABLE environment",
        "PRAGMA foreign_keys = OFF; DROP TABLE device; CREATE TABLE device AS SELECT 1 AS id",
    };
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        text before = {0};
        unlink(path);
        make_store(1);
        sql_on(path, changes[i]);
        CHECK(file_read(path, &before) == CUBC_OK);
        CHECK(refuses(STORE_READ, CUBC_STORE_ERROR, "its schema is not that of a store"));
        CHECK(refuses(STORE_CREATE, CUBC_STORE_ERROR, "its schema is not that of a store"));
        CHECK(is_unchanged(&before));
        text_free(&before);
    }
}

// 300 changed places, one at a time: any answer but a crash, a hang or a leak.
STORE_TEST(fuzzed_files)
{
    text whole = {0};
    uint64_t state = 88172645463325252u;
    int opened = 0, refused = 0;
    make_store(20);
    CHECK_STATUS(file_read(path, &whole), CUBC_OK);
    for (int i = 0; i < 300; i++) {
        store *s;
        cubc_status st;
        state ^= state << 13, state ^= state >> 7, state ^= state << 17; // xorshift64
        // Half of the places in the file's header and schema, where damage does most.
        size_t place = (state >> 8) % (i % 2 ? whole.length : 4096);
        char kept = whole.data[place];
        whole.data[place] ^= (char)(1 + (state & 0xff) % 255);
        write_file(path, whole.data, whole.length);
        if (i % 3 == 0) CHECK(truncate(path, (off_t)(state % whole.length)) == 0);
        whole.data[place] = kept;
        st = store_open(path, i % 5 ? STORE_READ : STORE_CREATE, &s);
        opened += !st;
        refused += st != CUBC_OK;
        if (st) continue;
        int rows = count_rows(s, &st);
        CHECK(rows >= 0 && rows <= 20);
        bool added;
        store_row row = some_row("new");
        if (i % 5 == 0 && !store_device(s, &some_device, "1")) (void)store_add(s, &row, &added);
        store_close(s);
    }
    CHECK(opened > 50 && refused > 50); // both sides were seen
    text_free(&whole);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        {"damaged_rows", damaged_rows},
        {"damaged_tables", damaged_tables},
        {"not_stores", not_stores},
        {"other_databases", other_databases},
        {"newer_version", newer_version},
        {"names_that_sqlite_would_misread", names_that_sqlite_would_misread},
        {"hostile_schema", hostile_schema},
        {"fuzzed_files", fuzzed_files},
    };
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
