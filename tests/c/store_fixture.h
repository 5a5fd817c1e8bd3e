// Shared by the tests of the store: a folder of their own, rows, and SQL on a store behind its
// back.
#ifndef STORE_FIXTURE_H
#define STORE_FIXTURE_H

#include "check.h"
#include "store/store.h"
#include "store/store_sql.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256], path[512]; // path: of the store under test, in folder

static inline int fixture_remove(const char *item, const struct stat *info, int kind,
                                 struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(item);
}

static inline void fixture_begin(void)
{
    snprintf(folder, sizeof folder, "%s/cubc-store-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(folder)) abort();
    snprintf(path, sizeof path, "%s/my results.db", folder);
}

static inline void fixture_end(void)
{
    nftw(folder, fixture_remove, 8, FTW_DEPTH | FTW_PHYS);
}

// Defines a test that has an empty folder and gives back all memory that it took.
static inline void in_folder(void (*body)(void))
{
    long before = mem_outstanding();
    fixture_begin();
    body();
    fixture_end();
    CHECK(mem_outstanding() == before);
}
#define STORE_TEST(name)           \
    static void name##_body(void); \
    static void name(void)         \
    {                              \
        in_folder(name##_body);    \
    }                              \
    static void name##_body(void)

static const device_info some_device = {
    .name = "cuda:0",
    .kind = "cuda",
    .model = "NVIDIA H200",
    .uuid = "GPU-1",
    .arch = "sm_90",
    .compiler = "NVRTC 13.0",
    .driver = "580.1",
    .runtime = "13.0",
    .sm_count = 132,
    .ecc = 1,
};
static const float some_samples[] = {3e-5f, 1e-5f, 2e-5f};
static const float some_base[] = {4e-5f, 6e-5f};

static inline store_row some_row(const char *variant)
{
    return (store_row){
        .benchmark = "reduce.sum",
        .axes = "[[\"Elements{io}[pow2]\", [16, 28]]]",
        .source_hash = "0123abcd",
        .ct = "T{ct}=F32",
        .variant = variant,
        .rt = "Elements{io}[pow2]=28",
        .status = "ok",
        .message = "",
        .samples = {some_samples, 3},
        .base_samples = {some_base, 2},
        .bytes = 1073741824.0,
        .registers = 32,
        .local_bytes = 8,
        .shared_bytes = 1024,
        .blocks_per_sm = 4,
    };
}

// NULL (and a failed check) if it cannot be opened.
static inline store *open_store(int mode)
{
    store *s = NULL;
    CHECK_STATUS(store_open(path, mode, &s), CUBC_OK);
    return s;
}

static inline store *open_with_device(void)
{
    store *s = open_store(STORE_CREATE);
    if (s) CHECK_STATUS(store_device(s, &some_device, "0.1.0"), CUBC_OK);
    return s;
}

static inline bool add_row(store *s, const char *variant)
{
    bool added = false;
    store_row row = some_row(variant);
    CHECK_STATUS(store_add(s, &row, &added), CUBC_OK);
    return added;
}

static inline void make_store(int rows)
{
    char variant[32];
    store *s = open_with_device();
    for (int i = 0; s && i < rows; i++) {
        snprintf(variant, sizeof variant, "ipt_%d.tpb_256", i + 1);
        CHECK(add_row(s, variant));
    }
    store_close(s);
}

// Good rows; those that are damaged are passed over. *last is the status that was not CUBC_OK.
static inline int count_rows(store *s, cubc_status *last)
{
    store_cursor *c;
    store_record record;
    bool more = true;
    int rows = 0;
    *last = CUBC_OK;
    if (store_begin(s, &c)) return -1;
    for (int guard = 0; guard < 100000; guard++) {
        cubc_status st = store_next(c, &record, &more);
        if (st)
            *last = st;
        else if (!more)
            break;
        else
            rows++;
    }
    store_end(c);
    return rows;
}

static inline int rows_in_file(void)
{
    cubc_status st;
    store *s = open_store(STORE_READ);
    int rows = s ? count_rows(s, &st) : -1;
    store_close(s);
    return rows;
}

// SQL on the file through a connection that knows nothing of stores.
static inline void sql_on(const char *file, const char *script)
{
    sql *db = NULL;
    CHECK_STATUS(sql_open(file, true, SQL_WAIT_S, NULL, 0, &db), CUBC_OK);
    if (db) sql_trust(db);
    if (db) CHECK_STATUS(sql_execute(db, script), CUBC_OK);
    sql_close(db);
}

static inline bool refuses(int mode, cubc_status status, const char *saying)
{
    store *s = (store *)&s;
    cubc_status st = store_open(path, mode, &s);
    bool right = st == status && !s && strstr(cubc_error_message(), saying);
    if (!right) printf("    %s: %s\n", cubc_status_name(st), cubc_error_message());
    if (!st) store_close(s);
    return right;
}

#endif
