// The store: rows in and out, locks, full disks, missing memory. Several processes at once and
// kills are in test_store_processes.c, files that are damaged or no stores in test_store_damage.c.
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
    failed.samples = failed.base_samples = (store_series){0};
    CHECK(add_row(s, "ipt_16.tpb_256"));
    CHECK_STATUS(store_add(s, &failed, &added), CUBC_OK);
    CHECK(added);
    store_close(s);

    if (!(s = open_store(STORE_READ))) return;
    CHECK_STATUS(store_begin(s, &c), CUBC_OK);
    CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
    CHECK(more && r.id == 1 && r.row.samples.count == 3 && r.row.base_samples.count == 2);
    CHECK(!memcmp(r.row.samples.values, some_samples, sizeof some_samples)); // in measured order
    CHECK(!memcmp(r.row.base_samples.values, some_base, sizeof some_base));
    CHECK(r.center == (double)2e-5f && fabs(r.base_center - 5e-5) < 1e-11);
    CHECK(!strcmp(r.row.benchmark, "reduce.sum") && !strcmp(r.row.variant, "ipt_16.tpb_256"));
    CHECK(!strcmp(r.row.axes, "[[\"Elements{io}[pow2]\", [16, 28]]]"));
    CHECK(!strcmp(r.row.source_hash, "0123abcd") && !strcmp(r.row.ct, "T{ct}=F32"));
    CHECK(!strcmp(r.row.rt, "Elements{io}[pow2]=28") && !strcmp(r.row.status, "ok"));
    CHECK(!strcmp(r.row.metrics, "") && !strcmp(r.row.base_metrics, "") && !r.row.base_hot);
    CHECK(!strcmp(r.row.message, "") && r.row.bytes == 1073741824.0 && r.row.registers == 32);
    CHECK(r.row.local_bytes == 8 && r.row.shared_bytes == 1024 && r.row.blocks_per_sm == 4);
    CHECK(!strcmp(r.device_uuid, "GPU-1") && !strcmp(r.device_model, "NVIDIA H200"));
    CHECK(!strcmp(r.device_name, "cuda:0") && !strcmp(r.arch, "sm_90"));
    CHECK(!strcmp(r.driver, "580.1") && !strcmp(r.runtime, "13.0"));
    CHECK(!strcmp(r.compiler, "NVRTC 13.0") && !strcmp(r.version, "0.1.0"));
    CHECK(r.device_id == 1 && r.environment_id == 1 && r.benchmark_id == 1);
    CHECK(strlen(r.created) == 20 && r.created[10] == 'T' && r.created[19] == 'Z');
    CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
    CHECK(more && r.id == 2 && !strcmp(r.row.message, failed.message));
    CHECK(r.row.samples.count == 0 && isnan(r.center) && isnan(r.base_center));
    CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
    CHECK(!more);
    store_end(c);
    store_close(s);
}

static bool has(store *s, store_row key)
{
    bool found = false;
    int64_t id = -1;
    bool more = false;
    store_cursor *c = NULL;
    store_record r;
    CHECK_STATUS(store_find(s, &key, &id, &found), CUBC_OK);
    CHECK((id > 0) == found);
    if (!found) return false;
    CHECK_STATUS(store_begin_at(s, id, &c), CUBC_OK);
    CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
    CHECK(more && r.id == id && !strcmp(r.row.variant, key.variant) && !strcmp(r.row.rt, key.rt));
    store_end(c);
    return true;
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
    bad[0].samples = (store_series){negative, 2};
    bad[1].base_samples = (store_series){unknown, 1};
    bad[2].samples = (store_series){endless, 1};
    bad[3].benchmark = NULL;
    bad[4].message = NULL;
    bad[5].bytes = -1.0;
    bad[6].registers = -1;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        CHECK_STATUS(store_add(s, &bad[i], &added), CUBC_INVALID_ARGUMENT);
    text large = {0};
    for (int i = 0; i < 300; i++) text_printf(&large, "%*d", 1024, i);
    row.axes = large.data;
    CHECK_STATUS(store_add(s, &row, &added), CUBC_INVALID_ARGUMENT);
    CHECK(!added && strstr(cubc_error_message(),
                           "axes of reduce.sum base has 307200 bytes, a store takes 262144"));
    text_free(&large);
    CHECK(add_row(s, "good"));
    store_close(s);
    CHECK(rows_in_file() == 1);
}

// A compiler's messages may be long: the beginning is kept, whole characters of it.
STORE_TEST(long_messages)
{
    bool added, more;
    store_cursor *c;
    store_record r;
    text message = {0};
    text_puts(&message, "x");
    for (int i = 0; i < 10000; i++) text_puts(&message, "\xc3\xbc"); // an umlaut
    store_row row = some_row("base");
    row.message = message.data;
    store *s = open_with_device();
    if (!s) return;
    CHECK_STATUS(store_add(s, &row, &added), CUBC_OK);
    CHECK(added && !store_begin(s, &c));
    CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
    CHECK(more && strlen(r.row.message) == 16383 && !strncmp(r.row.message, message.data, 16383));
    store_end(c);
    store_close(s);
    text_free(&message);
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

// A reader sees the store as it was when it was opened, and keeps nobody from writing.
STORE_TEST(reading_while_writing)
{
    bool more;
    store_cursor *c;
    store_record r;
    make_store(2);
    store *writer = open_with_device();
    if (!writer) return;
    CHECK(add_row(writer, "in the log"));
    CHECK(rows_in_file() == 3);
    store *reader = open_store(STORE_READ);
    if (!reader) return;
    store_set_wait(writer, 0.0);
    CHECK_STATUS(store_begin(reader, &c), CUBC_OK);
    CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
    CHECK(add_row(writer, "late"));
    for (int id = 2; id <= 3; id++) {
        CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
        CHECK(more && r.id == id);
    }
    CHECK_STATUS(store_next(c, &r, &more), CUBC_OK);
    CHECK(!more);
    store_end(c);
    store_close(reader);
    CHECK(add_row(writer, "later") && rows_in_file() == 5); // its locks are its own still
    store_close(writer);
}

STORE_TEST(readable_in_sql)
{
    sql *db;
    int64_t value;
    make_store(1);
    CHECK_STATUS(sql_open(path, false, SQL_WAIT_S, NULL, 0, &db), CUBC_OK);
    CHECK_STATUS(sql_integer(db, "SELECT round(1e9 * center) FROM measurement", &value), CUBC_OK);
    CHECK(value == 20000);
    CHECK_STATUS(sql_integer(db, "PRAGMA foreign_key_check", &value), CUBC_OK);
    CHECK(value == 0);
    sql_close(db);
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
    CHECK_STATUS(sql_open(path, true, SQL_WAIT_S, NULL, 0, &other), CUBC_OK);
    CHECK_STATUS(sql_execute(other, "BEGIN IMMEDIATE"), CUBC_OK);
    store_set_wait(s, 0.2);
    double begin = now_seconds();
    CHECK_STATUS(store_add(s, &row, &added), CUBC_STORE_ERROR);
    double waited = now_seconds() - begin;
    CHECK(!added && waited >= 0.2 && waited < 30);
    CHECK(strstr(cubc_error_message(), "is locked by another process: "));
    CHECK(!has(s, row)); // reading goes on meanwhile
    store_set_wait(s, 60.0);
    interrupt_set_hook(yes);
    CHECK_STATUS(store_add(s, &row, &added), CUBC_INTERRUPTED);
    interrupt_set_hook(NULL);
    store_set_wait(s, 0.2);
    CHECK_STATUS(store_add(s, &row, &added), CUBC_STORE_ERROR); // the interruption was of before
    CHECK_STATUS(sql_execute(other, "ROLLBACK"), CUBC_OK);
    sql_close(other);
    CHECK(add_row(s, "new"));
    store_close(s);
}

// As long as it is told, and no longer than to an interruption.
STORE_TEST(locked_while_it_is_opened)
{
    sql *other;
    store *s;
    CHECK_STATUS(sql_open(path, true, SQL_WAIT_S, NULL, 0, &other), CUBC_OK);
    CHECK_STATUS(sql_execute(other, "PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE"), CUBC_OK);
    CHECK_STATUS(store_open_within(path, STORE_CREATE, 0.2, &s), CUBC_STORE_ERROR);
    CHECK_CONTAINS(cubc_error_message(), "is locked by another process: waited 0.2 s");
    interrupt_set_hook(yes);
    CHECK_STATUS(store_open_within(path, STORE_CREATE, 60.0, &s), CUBC_INTERRUPTED);
    interrupt_set_hook(NULL);
    CHECK_STATUS(sql_execute(other, "ROLLBACK"), CUBC_OK);
    sql_close(other);
    s = open_with_device();
    if (s) CHECK(add_row(s, "new"));
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

// Asked of a folder through this: a file system that is read-only, on demand.
static bool disk_is_read_only;
int faccessat(int at, const char *name, int mode, int flags)
{
    if (disk_is_read_only && mode & W_OK) {
        errno = EROFS;
        return -1;
    }
    (void)flags; // the system call has none
    return (int)syscall(SYS_faccessat, at, name, mode);
}

STORE_TEST(read_only_file_system)
{
    disk_is_read_only = true;
    CHECK(refuses(STORE_CREATE, CUBC_IO_ERROR, strerror(EROFS)));
    disk_is_read_only = false;
    make_store(1);
    disk_is_read_only = true; // the store is there, but not its log
    CHECK(refuses(STORE_CREATE, CUBC_IO_ERROR, strerror(EROFS)));
    CHECK(rows_in_file() == 1);
    disk_is_read_only = false;
}

// SQL that computes for ever ends by Ctrl-C; in a file that is not known yet, by itself.
STORE_TEST(endless_statements)
{
    static const char endless[] = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i FROM n)"
                                  " SELECT max(i) FROM n";
    sql *db;
    int64_t value;
    CHECK_STATUS(sql_open(path, true, SQL_WAIT_S, NULL, 0, &db), CUBC_OK);
    CHECK_STATUS(sql_integer(db, endless, &value), CUBC_STORE_ERROR);
    sql_trust(db);
    interrupt_set_hook(yes);
    CHECK_STATUS(sql_integer(db, endless, &value), CUBC_INTERRUPTED);
    interrupt_set_hook(NULL);
    sql_close(db);
    make_store(1);
    store *s = (store *)&s;
    interrupt_set_hook(yes); // as a large file is read
    CHECK_STATUS(store_open(path, STORE_READ, &s), CUBC_INTERRUPTED);
    interrupt_set_hook(NULL);
}

static cubc_status use_everything(void)
{
    bool added, found, more;
    int64_t id;
    store *s = NULL;
    store_cursor *c = NULL;
    store_record r;
    cubc_status st;
    store_row row = some_row("new");
    GUARD(st, store_open(path, STORE_CREATE, &s), done);
    GUARD(st, store_device(s, &some_device, "0.1.0"), done);
    GUARD(st, store_add(s, &row, &added), done);
    GUARD(st, store_find(s, &row, &id, &found), done);
    GUARD(st, store_begin_at(s, id, &c), done);
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
    CHECK_STATUS(store_next(c, &r, &more), CUBC_OK); // of rows that were counted once
    CHECK(!more);
    store_end(c);
    store_close(s);
}

STORE_TEST(rows_from_a_number_on)
{
    bool more = true;
    store_cursor *c;
    store_record r;
    int rows = 0;
    make_store(3);
    store *s = open_store(STORE_READ);
    if (!s || store_begin_at(s, 2, &c)) return;
    for (; CHECK_STATUS(store_next(c, &r, &more), CUBC_OK) && more; rows++) CHECK(r.id == rows + 2);
    CHECK(rows == 2);
    store_end(c);
    store_close(s);
}

int main(int argc, char **argv)
{
    const check_test tests[] = {
        {"round_trip", round_trip},
        {"keys", keys},
        {"rows_from_a_number_on", rows_from_a_number_on},
        {"bad_rows_are_refused", bad_rows_are_refused},
        {"long_messages", long_messages},
        {"reading_only", reading_only},
        {"reading_while_writing", reading_while_writing},
        {"readable_in_sql", readable_in_sql},
        {"locked", locked},
        {"locked_while_it_is_opened", locked_while_it_is_opened},
        {"full_disk", full_disk},
        {"read_only_file_system", read_only_file_system},
        {"endless_statements", endless_statements},
        {"no_memory", no_memory},
        {"no_memory_for_a_row", no_memory_for_a_row},
    };
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
