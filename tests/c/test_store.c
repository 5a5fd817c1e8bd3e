// The store: rows in and out, files that are not stores, locks, full disks, missing memory.
// Several processes at once and kills are in test_store_processes.c.
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include "store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/syscall.h>

// ---- rows -------------------------------------------------------------------------------------
STORE_TEST(round_trip)
{
    bool more, added;
    store_cursor *c;
    store_record r;
    store *s = open_with_device();
    if (!s) return;
    store_row failed = some_row("ipt_19.tpb_512");
    failed.status = "compile_error";
    failed.message = "error: \"x\" is undefined\nü";
    failed.sample_count = failed.base_count = 0;
    failed.samples = failed.base_samples = NULL;
    CHECK(add_row(s, "ipt_16.tpb_256"));
    CHECK_STATUS(store_add(s, &failed, &added), CUBC_OK);
    CHECK(added);
    store_close(s);

    if (!(s = open_store(STORE_READ))) return;
    CHECK_STATUS(store_begin(s, &c), CUBC_OK);
    CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
    CHECK(more && r.id == 1 && r.row.sample_count == 3 && r.row.base_count == 2);
    CHECK(!memcmp(r.row.samples, some_samples, sizeof some_samples)); // in measured order
    CHECK(!memcmp(r.row.base_samples, some_base, sizeof some_base));
    CHECK(r.center == (double)2e-5f && fabs(r.base_center - 5e-5) < 1e-11);
    CHECK(!strcmp(r.row.benchmark, "reduce.sum") && !strcmp(r.row.variant, "ipt_16.tpb_256"));
    CHECK(!strcmp(r.row.axes, "[[\"Elements{io}[pow2]\", [16, 28]]]"));
    CHECK(!strcmp(r.row.source_hash, "0123abcd") && !strcmp(r.row.ct, "T{ct}=F32"));
    CHECK(!strcmp(r.row.rt, "Elements{io}[pow2]=28") && !strcmp(r.row.status, "ok"));
    CHECK(!strcmp(r.row.message, "") && r.row.bytes == 1073741824.0 && r.row.registers == 32);
    CHECK(r.row.local_bytes == 8 && r.row.shared_bytes == 1024 && r.row.blocks_per_unit == 4);
    CHECK(!strcmp(r.device_uuid, "GPU-1") && !strcmp(r.device_model, "NVIDIA H200"));
    CHECK(!strcmp(r.device_name, "cuda:0") && !strcmp(r.arch, "sm_90"));
    CHECK(!strcmp(r.driver, "580.1") && !strcmp(r.runtime, "13.0"));
    CHECK(!strcmp(r.compiler, "NVRTC 13.0") && !strcmp(r.version, "0.1.0"));
    CHECK(r.device_id == 1 && r.environment_id == 1);
    CHECK(strlen(r.created) == 20 && r.created[10] == 'T' && r.created[19] == 'Z');
    CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
    CHECK(more && r.id == 2 && !strcmp(r.row.message, failed.message));
    CHECK(r.row.sample_count == 0 && isnan(r.center) && isnan(r.base_center));
    CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
    CHECK(!more);
    store_end(c);
    store_close(s);
}

static bool has(store *s, store_row key)
{
    bool found = false;
    CHECK_STATUS(store_has(s, &key, &found), CUBC_OK);
    return found;
}

STORE_TEST(keys)
{
    store *s = open_with_device();
    if (!s) return;
    CHECK(!has(s, some_row("base")));
    CHECK(add_row(s, "base"));
    CHECK(!add_row(s, "base")); // is there: left as it was
    CHECK(has(s, some_row("base")));
    store_row other[] = {some_row("base"), some_row("base"), some_row("base"),
                         some_row("base"), some_row("base"), some_row("other")};
    other[0].benchmark = "reduce.min";
    other[1].axes = "[]";
    other[2].source_hash = "ffff";
    other[3].ct = "T{ct}=F64";
    other[4].rt = "";
    for (size_t i = 0; i < COUNT_OF(other); i++) {
        bool added;
        CHECK(!has(s, other[i]));
        CHECK_STATUS(store_add(s, &other[i], &added), CUBC_OK);
        CHECK(added && has(s, other[i]));
    }
    device_info device = some_device;
    strcpy(device.uuid, "GPU-2"); // the same model is not the same device
    CHECK_STATUS(store_device(s, &device, "0.1.0"), CUBC_OK);
    CHECK(!has(s, some_row("base")) && add_row(s, "base"));
    strcpy(device.uuid, "GPU-1");
    strcpy(device.driver, "581.0");
    CHECK_STATUS(store_device(s, &device, "0.1.0"), CUBC_OK);
    CHECK(!has(s, some_row("base")) && add_row(s, "base"));
    CHECK_STATUS(store_device(s, &some_device, "0.1.0"), CUBC_OK);
    CHECK(has(s, some_row("base")) && !add_row(s, "base"));
    device.ecc = 0;
    CHECK_STATUS(store_device(s, &device, "0.1.0"), CUBC_OK);
    CHECK(!has(s, some_row("base")));
    store_close(s);
    CHECK(rows_in_file() == 9);
}

STORE_TEST(bad_rows_are_refused)
{
    bool added = true;
    const float negative[] = {1.0f, -1.0f}, unknown[] = {NAN}, endless[] = {INFINITY};
    store_row row = some_row("base");
    store *s = open_store(STORE_CREATE);
    if (!s) return;
    CHECK_STATUS(store_add(s, &row, &added), CUBC_INVALID_ARGUMENT); // no device yet
    CHECK(!added && strstr(cubc_error_message(), "store_device"));
    CHECK_STATUS(store_device(s, &some_device, "0.1.0"), CUBC_OK);
    store_row bad[] = {row, row, row, row, row, row, row};
    bad[0].samples = negative, bad[0].sample_count = 2;
    bad[1].base_samples = unknown, bad[1].base_count = 1;
    bad[2].samples = endless, bad[2].sample_count = 1;
    bad[3].benchmark = NULL;
    bad[4].message = NULL;
    bad[5].bytes = -1.0;
    bad[6].registers = -1;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        CHECK_STATUS(store_add(s, &bad[i], &added), CUBC_INVALID_ARGUMENT);
    text large = {0}; // refused in the middle of a transaction, which must not stay open
    for (int i = 0; i < 65; i++) text_printf(&large, "%*d", 1 << 20, i);
    row.message = large.data;
    CHECK_STATUS(store_add(s, &row, &added), CUBC_INVALID_ARGUMENT);
    CHECK(!added && strstr(cubc_error_message(), "too large"));
    text_free(&large);
    CHECK(add_row(s, "good"));
    store_close(s);
    CHECK(rows_in_file() == 1);
}

STORE_TEST(reading_only)
{
    bool added;
    make_store(2);
    store_row row = some_row("ipt_1.tpb_256");
    store *s = open_store(STORE_READ);
    if (!s) return;
    CHECK_STATUS(store_device(s, &some_device, "0.1.0"), CUBC_OK);
    CHECK(has(s, row) && !has(s, some_row("ipt_9.tpb_256")));
    CHECK_STATUS(store_add(s, &row, &added), CUBC_STORE_ERROR);
    device_info device = some_device;
    strcpy(device.uuid, "GPU-unknown");
    CHECK_STATUS(store_device(s, &device, "0.1.0"), CUBC_OK); // adds nothing, matches nothing
    CHECK(!has(s, row));
    store_close(s);
    store_close(NULL);
    store_end(NULL);
}

// A half-read store keeps nobody from writing, and what is written meanwhile is read.
STORE_TEST(reading_while_writing)
{
    bool more;
    store_cursor *c;
    store_record r;
    make_store(2);
    store *reader = open_store(STORE_READ), *writer = open_with_device();
    if (!reader || !writer) return;
    store_set_wait(writer, 0.0);
    CHECK_STATUS(store_begin(reader, &c), CUBC_OK);
    CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
    CHECK(add_row(writer, "late"));
    CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
    CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
    CHECK(more && !strcmp(r.row.variant, "late"));
    store_end(c);
    store_close(reader);
    store_close(writer);
}

STORE_TEST(readable_in_sql)
{
    sql *db;
    int64_t value;
    make_store(1);
    CHECK_STATUS(sql_open(path, false, NULL, 0, &db), CUBC_OK);
    CHECK_STATUS(sql_integer(db, "SELECT round(1e9 * center) FROM measurement", &value), CUBC_OK);
    CHECK(value == 20000);
    CHECK_STATUS(sql_integer(db, "PRAGMA foreign_key_check", &value), CUBC_OK);
    CHECK(value == 0);
    sql_close(db);
}

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
    sql_on(path, "PRAGMA user_version = 3");
    CHECK(file_read(path, &before) == CUBC_OK);
    CHECK(refuses(STORE_CREATE, CUBC_STORE_ERROR,
                  "was written by a newer cubc (store version 3, this one knows 2): upgrade cubc"));
    CHECK(refuses(STORE_READ, CUBC_STORE_ERROR, "upgrade cubc"));
    CHECK(is_unchanged(&before));
    text_free(&before);
    sql_on(path, "PRAGMA user_version = 2; PRAGMA foreign_keys = OFF; DROP TABLE environment");
    CHECK(refuses(STORE_READ, CUBC_STORE_ERROR, "is damaged"));
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

// Schema of somebody else's making: triggers must not run, views must not stand in for tables.
STORE_TEST(hostile_schema)
{
    make_store(1);
    sql_on(path, "CREATE TRIGGER t AFTER INSERT ON measurement BEGIN DELETE FROM measurement; END");
    make_store(0);
    store *s = open_with_device();
    if (!s) return;
    CHECK(add_row(s, "new"));
    store_close(s);
    CHECK(rows_in_file() == 2);
    sql_on(path, "ALTER TABLE device RENAME TO d; CREATE VIEW device AS SELECT * FROM d");
    CHECK(refuses(STORE_READ, CUBC_STORE_ERROR, "is damaged"));
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

// ---- locks and missing resources --------------------------------------------------------------
static bool yes(void)
{
    return true;
}

STORE_TEST(locked)
{
    bool added;
    sql *other;
    store_row row = some_row("new");
    store *s = open_with_device();
    if (!s) return;
    CHECK_STATUS(sql_open(path, true, NULL, 0, &other), CUBC_OK);
    CHECK_STATUS(sql_execute(other, "BEGIN IMMEDIATE"), CUBC_OK);
    store_set_wait(s, 0.2);
    double begin = now_seconds();
    CHECK_STATUS(store_add(s, &row, &added), CUBC_STORE_ERROR);
    double waited = now_seconds() - begin;
    CHECK(!added && waited >= 0.2 && waited < 2.0);
    CHECK(strstr(cubc_error_message(), "is locked by another process: "));
    CHECK(!has(s, row)); // reading goes on meanwhile
    store_set_wait(s, 60.0);
    interrupt_set_hook(yes);
    CHECK_STATUS(store_add(s, &row, &added), CUBC_INTERRUPTED);
    interrupt_set_hook(NULL);
    CHECK_STATUS(sql_execute(other, "ROLLBACK"), CUBC_OK);
    sql_close(other);
    CHECK(add_row(s, "new"));
    store_close(s);
}

// SQLite writes through this: a disk that is full, on demand.
static bool disk_is_full;
ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset);
ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset)
{
    if (disk_is_full) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_pwrite64, fd, bytes, count, offset);
}

STORE_TEST(full_disk)
{
    bool added = true;
    store_row row = some_row("new");
    store *s = open_with_device();
    if (!s) return;
    CHECK(add_row(s, "before"));
    disk_is_full = true;
    CHECK_STATUS(store_add(s, &row, &added), CUBC_STORE_ERROR);
    CHECK(!added && strstr(cubc_error_message(), "the disk is full"));
    CHECK(has(s, some_row("before")) && !has(s, row));
    disk_is_full = false;
    CHECK(add_row(s, "new")); // the store is as good as before
    store_close(s);
    CHECK(rows_in_file() == 2);
}

static cubc_status use_everything(void)
{
    bool added, found, more;
    store *s = NULL;
    store_cursor *c = NULL;
    store_record r;
    cubc_status st;
    store_row row = some_row("new");
    GUARD(st, store_open(path, STORE_CREATE, &s), done);
    GUARD(st, store_device(s, &some_device, "0.1.0"), done);
    GUARD(st, store_add(s, &row, &added), done);
    GUARD(st, store_has(s, &row, &found), done);
    GUARD(st, store_begin(s, &c), done);
    do GUARD(st, store_next(c, &r, &more), done);
    while (more);
done:
    store_end(c);
    store_close(s);
    return st;
}

STORE_TEST(no_memory)
{
    long before = mem_outstanding(), nth = 0;
    cubc_status st;
    do {
        mem_fail_at(++nth);
        st = use_everything();
        CHECK(st == CUBC_OK || st == CUBC_NO_MEMORY);
        CHECK(mem_outstanding() == before);
    } while (st && nth < 1000);
    mem_fail_at(0);
    CHECK(nth > 5 && nth < 1000); // some failed, and then none was left to fail
    CHECK(rows_in_file() == 1);
}

// A row that there was no memory for is given when asked again.
STORE_TEST(no_memory_for_a_row)
{
    bool more;
    store_cursor *c;
    store_record r;
    make_store(1);
    store *s = open_store(STORE_READ);
    if (!s || store_begin(s, &c)) return;
    mem_fail_at(1);
    CHECK_STATUS(store_next(c, &r, &more), CUBC_NO_MEMORY);
    CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
    CHECK(more && r.id == 1);
    store_end(c);
    store_close(s);
}

int main(int argc, char **argv)
{
    const check_test tests[] = {
        {"round_trip", round_trip},
        {"keys", keys},
        {"bad_rows_are_refused", bad_rows_are_refused},
        {"reading_only", reading_only},
        {"reading_while_writing", reading_while_writing},
        {"readable_in_sql", readable_in_sql},
        {"damaged_rows", damaged_rows},
        {"not_stores", not_stores},
        {"other_databases", other_databases},
        {"newer_version", newer_version},
        {"names_that_sqlite_would_misread", names_that_sqlite_would_misread},
        {"hostile_schema", hostile_schema},
        {"fuzzed_files", fuzzed_files},
        {"locked", locked},
        {"full_disk", full_disk},
        {"no_memory", no_memory},
        {"no_memory_for_a_row", no_memory_for_a_row},
    };
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
