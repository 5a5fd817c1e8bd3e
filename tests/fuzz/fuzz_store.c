// libFuzzer's entry point for stores: the input is a file and the log beside it, and whatever they
// are, reading ends, with rows that hold what store.h says or with an error that names the file.
//
// The first two bytes count the file's pages of 512 bytes; the rest is the log. SQLite believes a
// record about its length until it has asked for the memory, so that it has a limit here.
#define _XOPEN_SOURCE 700 // mkdtemp
#include "fuzz.h"
#include "store/store_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 512 };
long long sqlite3_hard_heap_limit64(long long bytes); // SQLite's, whose header is the store's alone
static const char path[] = "some/store.db";

static void must_be_an_error(cubc_status st)
{
    if (st == CUBC_NO_MEMORY) return;
    must(st == CUBC_STORE_ERROR && strstr(cubc_error_message(), path));
}

static void check_row(const store_record *r)
{
    const store_series *const all[] = {&r->row.samples, &r->row.base_samples, &r->row.clocks,
                                       &r->row.base_clocks};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        must(all[i]->count <= STORE_SERIES_BYTES / 4 && store_are_positive(*all[i]));
    must(!r->row.clocks.count || r->row.clocks.count == r->row.samples.count);
    must(strlen(r->row.axes) <= STORE_AXES && strlen(r->row.message) <= STORE_MESSAGE);
    must(strlen(r->row.variant) <= STORE_LABEL && strlen(r->arch) <= STORE_NAME);
    must(r->row.round >= 0 && r->row.bytes >= 0.0 && r->row.power < INFINITY);
}

static void read_rows(store *s, size_t size)
{
    store_cursor *c;
    store_record r;
    bool more = true;
    int64_t last = INT64_MIN;
    size_t steps = 0;
    must(store_begin(s, &c) == CUBC_OK);
    while (more) {
        cubc_status st = store_next(c, &r, &more);
        must(++steps <= size);           // each row has bytes of its own
        if (st == CUBC_NO_MEMORY) break; // the same row, when asked again
        if (st) {
            must_be_an_error(st);
            more = true; // it goes on behind a damaged row
        } else if (more) {
            must(r.id > last);
            last = r.id;
            check_row(&r);
        }
    }
    store_end(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    long before = mem_outstanding();
    if (size < 2) return 0;
    sqlite3_hard_heap_limit64(7 << 20);
    size_t pages = data[0] | (size_t)data[1] << 8, rest = size - 2;
    size_t bytes = pages * PAGE < rest ? pages * PAGE : rest;
    if (bytes < IMAGE_HEADER) return 0;
    store *s = NULL;
    store_image image = {mem_alloc(bytes, 1), bytes};
    must(image.bytes != NULL);
    memcpy(image.bytes, data + 2, bytes);
    cubc_status st = image_apply_log(path, data + 2 + bytes, rest - bytes, &image);
    if (st)
        image_free(&image);
    else
        st = store_open_image(path, &image, &s);
    if (st)
        must_be_an_error(st);
    else
        read_rows(s, size);
    store_close(s);
    must(mem_outstanding() == before);
    return 0;
}

// ---- where it begins ----------------------------------------------------------------------------
static char folder[256], name[300];

static void must_succeed(cubc_status st)
{
    if (!st) return;
    printf("%s\n", cubc_error_message());
    exit(1);
}

static void execute(const char *script)
{
    sql *db;
    must_succeed(sql_open(name, true, SQL_WAIT_S, NULL, 0, &db));
    must_succeed(sql_execute(db, "PRAGMA page_size = 512; CREATE TABLE x (y); DROP TABLE x"));
    sql_trust(db);
    must_succeed(sql_execute(db, script));
    sql_close(db);
}

// The two files as an input, which has to be read with `rows` rows.
static void add_store(fuzz_add *add, const char *as, int rows)
{
    text file = {0}, log = {0}, input = {0};
    char beside[310];
    store *s;
    store_cursor *c;
    store_record r;
    bool more = true;
    int found = 0;
    must_succeed(store_open(name, STORE_READ, &s));
    must_succeed(store_begin(s, &c));
    while (!store_next(c, &r, &more) && more) found++;
    if (found != rows) printf("%s: %d rows, not %d\n", as, found, rows), exit(1);
    store_end(c);
    store_close(s);
    must_succeed(file_read(name, &file));
    snprintf(beside, sizeof beside, "%s-wal", name);
    if (access(beside, F_OK) == 0) must_succeed(file_read(beside, &log));
    size_t pages = file.length / PAGE;
    text_append(&input, (const char[]){(char)pages, (char)(pages >> 8)}, 2);
    text_append(&input, file.data, file.length);
    text_append(&input, log.data ? log.data : "", log.length);
    must_succeed(text_done(&input));
    add(as, input.data, input.length);
    text_free(&file);
    text_free(&log);
    text_free(&input);
}

static store *with_device(void)
{
    static const device_info device = {
        .name = "cpu", .kind = "cpu", .model = "m", .uuid = "u", .arch = "cpu", .sm_count = 2};
    store *s;
    must_succeed(store_open(name, STORE_CREATE, &s));
    must_succeed(store_device(s, &device, "0.1.0"));
    return s;
}

static void add_rows(store *s)
{
    static const float samples[] = {1e-3f, 2e-3f}, clocks[] = {1e9f, 2e9f};
    for (int k = 0; k < 3; k++) {
        char variant[16];
        bool added;
        snprintf(variant, sizeof variant, "ipt_%d", k);
        store_row row = {.benchmark = "b",
                         .axes = "[[\"E\", [1]]]",
                         .source_hash = "h",
                         .ct = "T{ct}=F32",
                         .variant = variant,
                         .rt = "E=1",
                         .status = "ok",
                         .message = "",
                         .samples = {samples, 2},
                         .clocks = {clocks, 2}};
        must_succeed(store_add(s, &row, &added));
    }
}

static void add_old(fuzz_add *add, const char *as, int version, const char *rows)
{
    sql *db;
    execute("");
    must_succeed(sql_open(name, true, SQL_WAIT_S, NULL, 0, &db));
    sql_trust(db);
    must_succeed(schema_write(db, version));
    must_succeed(sql_execute(
        db, "INSERT INTO device VALUES (1,'u','m','n','cpu','cpu',2,1,1,1,1,1,1,1,1,1,1,0);"
            "INSERT INTO environment VALUES (1,'d','r','c','v');"
            "INSERT INTO benchmark VALUES (1,'b','[]')"));
    must_succeed(sql_execute(db, rows));
    sql_close(db);
    add_store(add, as, 2);
    unlink(name);
}

static void add_stores(fuzz_add *add)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/cubc-fuzz-XXXXXX", temporary ? temporary : "/tmp");
    must(mkdtemp(folder) != NULL);
    snprintf(name, sizeof name, "%s/s.db", folder);
    execute("");
    store *s = with_device();
    add_rows(s);
    store_close(s);
    add_store(add, "store", 3);
    unlink(name);
    execute("");
    s = with_device();
    add_rows(s); // the first of them is in the file, the others in its log
    add_store(add, "log", 3);
    store_close(s);
    unlink(name);
    add_old(add, "version-1", 1,
            "INSERT INTO measurement VALUES (1,1,1,1,'h','c','v','r','ok','','t',x'0000803f',x'',"
            "1,NULL,0,1,1,1,1), (7,1,1,1,'h','c','w','r','ok','','t',x'0000803f',x'0000803f',1,1,"
            "0,1,1,1,1)");
    add_old(add, "version-2", 2,
            "INSERT INTO measurement VALUES (1,1,1,1,'h','c','v','r',0,'ok','','t',x'0000803f',"
            "x'',x'0000803f',x'',1,NULL,0,1,1,1,1,1,1,1,1,1), (7,1,1,1,'h','c','w','r',1,'lost',"
            "'m','t',x'',x'',x'',x'',NULL,NULL,1,1,1,1,1,1,1,1,1,1)");
    rmdir(folder);
}

static const fuzz_word words[] = {
    FUZZ_WORD("SQLite format 3\x00"),
    FUZZ_WORD("cubc"),
    FUZZ_WORD("\x37\x7f\x06\x82\x00\x2d\xe2\x18"),
    FUZZ_WORD("\x37\x7f\x06\x83\x00\x2d\xe2\x18"),
    FUZZ_WORD("\x0d\x00\x00\x00"), // a leaf of a table, an inner page, those of an index
    FUZZ_WORD("\x05\x00\x00\x00"),
    FUZZ_WORD("\x0a\x00\x00\x00"),
    FUZZ_WORD("\x02\x00\x00\x00"),
    FUZZ_WORD("\x00\x00\x80\x3f"),
    FUZZ_WORD("\x00\x00\xc0\x7f"),
    FUZZ_WORD("\x7f\xf0\x00\x00\x00\x00\x00\x00"),
    FUZZ_WORD("\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
    FUZZ_WORD("\x81\x80\x80\x80\x00"),
    FUZZ_WORD("GENERATED ALWAYS AS (1)"),
    FUZZ_WORD("CREATE VIRTUAL TABLE"),
    FUZZ_WORD("sqlite_autoindex_measurement_1"),
};

const fuzz_harness fuzz_target = {"stores", 3000, add_stores, words, COUNT_OF(words)};
