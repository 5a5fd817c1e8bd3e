// Fields in files without Python: the container, the small XML, checksums, and what is undone when
// memory or the disk fails. Formats and hostile files are in tests/lattice/test_lattice_*.py.
#define _XOPEN_SOURCE 700 // mkdtemp, setenv, truncate
#include "base/shares.h"
#include "check.h"
#include "cubc/fields.h"
#include "lattice/io/checksums.h"
#include "lattice/io/lime.h"
#include "lattice/io/links.h"
#include "lattice/io/xml.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char folder[256], path[512];

static int files_in_folder(void)
{
    DIR *open = opendir(folder);
    int count = 0;
    while (open && readdir(open)) count++;
    if (open) closedir(open);
    return count - 2; // . and ..
}

static void in_folder(void (*body)(void))
{
    long before = mem_outstanding();
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/cubc-lattice-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(folder)) abort();
    snprintf(path, sizeof path, "%s/file", folder);
    body();
    unlink(path);
    CHECK(files_in_folder() == 0);
    rmdir(folder);
    CHECK(mem_outstanding() == before);
}

// ---- the parts ----------------------------------------------------------------------------------
static void test_checksums(void)
{
    const char *digits = "123456789";
    uint32_t out[2], one[2], two[2];
    char bytes[72];
    for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (char)(k * k);
    checksums_of(CHECKSUM_SCIDAC, digits, 9, 0, 1, true, out);
    CHECK(out[0] == 0xcbf43926 && out[1] == 0xcbf43926); // the check value of CRC-32
    checksums_of(CHECKSUM_SCIDAC, digits, 9, 30, 1, true, out);
    CHECK(out[0] == (0xcbf43926u << 1 | 1) && out[1] == (0xcbf43926u << 30 | 0xcbf43926u >> 2));
    for (int kind = 0; kind < CHECKSUM_COUNT; kind++) { // of two parts as of the whole
        checksums_of((checksum_kind)kind, bytes, 24, 40, 3, false, out);
        checksums_of((checksum_kind)kind, bytes, 24, 40, 1, false, one);
        checksums_of((checksum_kind)kind, bytes + 24, 24, 41, 2, false, two);
        checksums_merge((checksum_kind)kind, one, two);
        CHECK(out[0] == one[0] && out[1] == one[1]);
    }
}

static void test_xml(void)
{
    const char *body = "<?xml version='1'?><a><lx>4</lx><!-- <ly>1</ly> --><ly/>"
                       "<lz> -4 </lz><lt q='1'>\n 18446744073709551615\n</lt><b>fF</b></a>";
    xml x = {body, strlen(body), "the text"};
    uint64_t n;
    char word[8];
    CHECK_STATUS(xml_number(&x, "lt", 10, 0, UINT64_MAX, &n), CUBC_OK);
    CHECK(n == UINT64_MAX);
    CHECK_STATUS(xml_number(&x, "lt", 10, 0, UINT64_MAX - 1, &n), CUBC_IO_ERROR);
    CHECK_STATUS(xml_number(&x, "b", 16, 0, 255, &n), CUBC_OK);
    CHECK(n == 255);
    CHECK_STATUS(xml_number(&x, "b", 16, 0, 254, &n), CUBC_IO_ERROR);
    CHECK_STATUS(xml_number(&x, "lz", 10, 0, 9, &n), CUBC_IO_ERROR);
    CHECK_CONTAINS(cubc_error_message(), "the text: <lz> is \"-4\"");
    CHECK_STATUS(xml_text(&x, "ly", word, sizeof word), CUBC_OK);
    CHECK(word[0] == '\0');
    CHECK_STATUS(xml_text(&x, "lt", word, sizeof word), CUBC_IO_ERROR);
    CHECK_STATUS(xml_text(&x, "a", word, sizeof word), CUBC_IO_ERROR);
    bool there, other;
    CHECK_STATUS(xml_has(&x, "l", &there), CUBC_OK);
    CHECK(!there);
    CHECK_STATUS(xml_has(&x, "lz", &there), CUBC_OK);
    CHECK(there);
    CHECK_STATUS(xml_text(&x, "b", word, sizeof word), CUBC_OK);
    const char *hexadecimal = "<suma>0x30ce3715</suma><sumb>0x</sumb><lx>0x4</lx>";
    x = (xml){hexadecimal, strlen(hexadecimal), "the text"};
    CHECK_STATUS(xml_number(&x, "suma", 16, 0, UINT32_MAX, &n), CUBC_OK);
    CHECK(n == 0x30ce3715);
    CHECK_STATUS(xml_number(&x, "sumb", 16, 0, UINT32_MAX, &n), CUBC_IO_ERROR);
    CHECK_STATUS(xml_number(&x, "lx", 10, 0, UINT32_MAX, &n), CUBC_IO_ERROR);
    x = (xml){body, strlen(body), "the text"};
    for (size_t k = 0; k < x.length; k++) { // cut anywhere, nothing behind the end is read
        char *copy = mem_alloc(k, 1);
        memcpy(copy, body, k);
        xml part = {copy, k, "a part"};
        CHECK(xml_has(&part, "b", &other) || !other || (!xml_has(&part, "lx", &there) && there));
        mem_free(copy);
    }
}

static void test_lime_body(void)
{
    outfile out;
    infile in;
    lime_record r = {0};
    uint64_t at = 0, data;
    char *body;
    bool more;
    CHECK_STATUS(outfile_begin(path, &out), CUBC_OK);
    CHECK_STATUS(lime_put(&out, &at, "first", LIME_BEGIN, "12345", 5, NULL), CUBC_OK);
    CHECK_STATUS(lime_put(&out, &at, "second", LIME_END, NULL, 16, &data), CUBC_OK);
    CHECK(data == 144 + 8 + 144 && at == data + 16);
    CHECK_STATUS(outfile_at(&out, data, "0123456789abcdef", 16), CUBC_OK);
    CHECK(access(path, F_OK) != 0 && files_in_folder() == 1); // not there before it is whole
    CHECK_STATUS(outfile_commit(&out), CUBC_OK);
    CHECK(access(path, F_OK) == 0 && files_in_folder() == 1);
    CHECK_STATUS(infile_open(path, &in), CUBC_OK);
    CHECK_STATUS(lime_next(&in, true, &r, &more), CUBC_OK);
    CHECK(more && r.begin && !r.end && r.length == 5 && r.data == 144);
    CHECK(strcmp(r.type, "first") == 0 && strcmp(r.what, "record 1 'first' at byte 0") == 0);
    CHECK_STATUS(lime_text(&in, &r, &body), CUBC_OK);
    CHECK(strcmp(body, "12345") == 0);
    mem_free(body);
    CHECK_STATUS(lime_next(&in, true, &r, &more), CUBC_OK);
    CHECK(more && !r.begin && r.end && r.length == 16 && r.data == data);
    CHECK_STATUS(lime_next(&in, true, &r, &more), CUBC_OK);
    CHECK(!more);
    infile_close(&in);
}

static void test_lime(void)
{
    in_folder(test_lime_body);
}

static void set_unit(double *links, size_t count)
{
    memset(links, 0, count * LINK_REALS * sizeof *links);
    for (size_t k = 0; k < count; k++)
        for (int i = 0; i < 3; i++) links[LINK_REALS * k + 8 * (size_t)i] = 1;
}

static void test_links(void)
{
    double u[LINK_REALS], v[LINK_REALS];
    set_unit(u, 1);
    u[16] = 0;
    links_complete(u);
    CHECK(u[16] == 1 && links_distance(u) == 0);
    u[9] = 2e-4;
    CHECK(links_project(u) == 2e-4 && u[9] == 2e-4); // too far, and left alone
    u[9] = NAN;
    CHECK(isnan(links_project(u)));
    u[9] = 1e-6, u[2] = -3e-6;
    memcpy(v, u, sizeof v);
    CHECK(links_project(u) > 1e-6 && links_distance(u) < 1e-15);
    CHECK(links_project(v) > 1e-6 && memcmp(u, v, sizeof u) == 0);
}

// ---- threads ------------------------------------------------------------------------------------
static cubc_status fail_from_100(void *context, uint64_t first, uint64_t count, void *room)
{
    memset(room, 1, 16);
    *(volatile int *)context = 1;
    if (first + count > 100) FAIL(CUBC_IO_ERROR, "chunk from %d", (int)first);
    return CUBC_OK;
}

static pthread_t caller;
static atomic_int helper_began, looks;

static bool interrupt_of_caller(void)
{
    return pthread_equal(pthread_self(), caller) && atomic_load(&helper_began) &&
           atomic_fetch_add(&looks, 1) > 1;
}

// A chunk of the caller ends at once if *context is set; one of a helper takes 60 s.
static cubc_status take_long(void *context, uint64_t first, uint64_t count, void *room)
{
    bool mine = pthread_equal(pthread_self(), caller);
    (void)first, (void)count, (void)room;
    if (!mine) atomic_store(&helper_began, 1);
    for (double end = now_seconds() + 60; now_seconds() < end;) {
        if (mine && *(int *)context && atomic_load(&helper_began)) return CUBC_OK;
        if (interrupt_pending()) FAIL(CUBC_INTERRUPTED, "interrupted here");
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return CUBC_OK;
}

static void test_an_interruption_ends_every_thread(void)
{
    caller = pthread_self();
    setenv("CUBC_CPU_THREADS", "2", 1);
    interrupt_set_hook(interrupt_of_caller);
    for (int caller_waits = 0; caller_waits < 2; caller_waits++) {
        double start = now_seconds();
        atomic_store(&helper_began, 0);
        atomic_store(&looks, 0);
        CHECK_STATUS(shares_run(2, 1, 1, take_long, &caller_waits), CUBC_INTERRUPTED);
        CHECK(now_seconds() - start < 30);
    }
    interrupt_set_hook(NULL);
    unsetenv("CUBC_CPU_THREADS");
}

static void test_the_first_failure_counts(void)
{
    int seen = 0;
    for (int threads = 1; threads < 9; threads += 7) {
        setenv("CUBC_CPU_THREADS", threads == 1 ? "1" : "8", 1);
        for (int trial = 0; trial < 20; trial++) {
            CHECK_STATUS(shares_run(1000, 7, 16, fail_from_100, &seen), CUBC_IO_ERROR);
            CHECK_CONTAINS(cubc_error_message(), "chunk from 98");
        }
        CHECK_STATUS(shares_run(100, 7, 16, fail_from_100, &seen), CUBC_OK);
        CHECK_STATUS(shares_run(0, 7, 16, fail_from_100, &seen), CUBC_OK);
    }
    unsetenv("CUBC_CPU_THREADS");
}

// ---- when memory fails --------------------------------------------------------------------------
enum { EXTENT = 4, SITES = EXTENT * EXTENT * EXTENT * EXTENT, REALS = SITES * 4 * LINK_REALS };
static double links[REALS], again[REALS];

static cubc_status read_back(void)
{
    cubc_field_file *file;
    TRY(cubc_field_open(path, 0, &file));
    cubc_status st = cubc_field_read(file, 0, again, sizeof again);
    cubc_field_close(file);
    return st;
}

static void test_memory_body(void)
{
    static const char *const formats[] = {"ildg", "nersc"};
    set_unit(links, SITES * 4);
    for (int k = 0; k < 2; k++) {
        cubc_field_write_params p = {.data = links, .format = formats[k], .precision = 32};
        cubc_status st = CUBC_NO_MEMORY;
        for (int i = 0; i < 4; i++) p.extent[i] = EXTENT;
        long nth = 0;
        while (st && ++nth < 100) {
            mem_fail_at(nth);
            st = cubc_field_write(path, &p);
            mem_fail_at(0);
            CHECK(st == CUBC_OK || st == CUBC_NO_MEMORY);
            CHECK(files_in_folder() == (st == CUBC_OK || k > 0));
        }
        CHECK(st == CUBC_OK && nth > 3);
        st = CUBC_NO_MEMORY;
        for (nth = 0; st && nth < 100;) {
            mem_fail_at(++nth);
            st = read_back();
            mem_fail_at(0);
            CHECK(st == CUBC_OK || st == CUBC_NO_MEMORY);
        }
        CHECK(st == CUBC_OK && nth > 3);
        for (size_t i = 0; i < REALS; i++) CHECK(links[i] == again[i]);
    }
}

static void test_memory(void)
{
    in_folder(test_memory_body);
}

// ---- ranks --------------------------------------------------------------------------------------
// The second of two ranks answers as the first does, with a failure, or not at all.
typedef enum answer { GOES_ON, FAILS, IS_GONE } answer;
static int gathered; // times that this rank has met the other

static int gather_answers(void *context, const void *mine, void *all, size_t bytes)
{
    const answer *a = context;
    gathered++;
    memcpy(all, mine, bytes);
    char *theirs = (char *)all + bytes;
    memcpy(theirs, mine, bytes);
    if (*a == FAILS) {
        memcpy(theirs, &(int32_t){CUBC_IO_ERROR}, sizeof(int32_t));
        snprintf(theirs + sizeof(int32_t), 32, "its disk is full");
    }
    return *a == IS_GONE;
}

static int gather_alone(void *context, const void *mine, void *all, size_t bytes)
{
    (void)context;
    memcpy(all, mine, bytes);
    return 0;
}

static cubc_status read_part_back(const cubc_field_ranks *ranks)
{
    cubc_field_file *file;
    TRY(cubc_field_open_part(path, 0, ranks, &file));
    cubc_status st = cubc_field_read_part(file, 0, ranks, again, sizeof again);
    cubc_field_close(file);
    return st;
}

static void test_one_rank_body(void)
{
    const cubc_comm comm = {.size = 1, .all_gather = gather_alone};
    const cubc_field_ranks ranks = {&comm, {1, 1, 1, 1}};
    double measured[2] = {0, 0};
    set_unit(links, SITES * 4);
    CHECK_STATUS(cubc_field_measure(links, (const int[]){EXTENT, EXTENT, EXTENT, EXTENT}, 2, &ranks,
                                    measured),
                 CUBC_OK);
    CHECK(measured[0] == 1 && measured[1] == 1);
    cubc_field_write_params p = {.data = links,
                                 .extent = {EXTENT, EXTENT, EXTENT, EXTENT},
                                 .format = "nersc",
                                 .ranks = &ranks};
    CHECK_STATUS(cubc_field_write(path, &p), CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), "give measured");
    p.measured = measured;
    cubc_status st = CUBC_NO_MEMORY;
    long nth = 0;
    while (st && ++nth < 100) {
        mem_fail_at(nth);
        st = cubc_field_write(path, &p);
        mem_fail_at(0);
        CHECK(st == CUBC_OK || st == CUBC_NO_MEMORY);
        CHECK(files_in_folder() == (st == CUBC_OK));
    }
    CHECK(st == CUBC_OK && nth > 3);
    for (st = CUBC_NO_MEMORY, nth = 0; st && nth < 100;) {
        mem_fail_at(++nth);
        st = read_part_back(&ranks);
        mem_fail_at(0);
        CHECK(st == CUBC_OK || st == CUBC_NO_MEMORY);
    }
    CHECK(st == CUBC_OK && nth > 3);
    for (size_t i = 0; i < REALS; i++) CHECK(links[i] == again[i]);
}

static void test_one_rank(void)
{
    in_folder(test_one_rank_body);
}

static void test_other_ranks_body(void)
{
    answer second = GOES_ON;
    const cubc_comm comm = {.size = 2, .context = &second, .all_gather = gather_answers};
    cubc_field_ranks ranks = {&comm, {1, 1, 1, 2}};
    cubc_field_write_params p = {
        .data = links, .extent = {EXTENT, EXTENT, EXTENT, EXTENT / 2}, .ranks = &ranks};
    for (second = FAILS; second <= IS_GONE; second++) {
        CHECK_STATUS(cubc_field_write(path, &p), CUBC_IO_ERROR);
        CHECK_CONTAINS(cubc_error_message(),
                       second == FAILS ? "rank 1 of 2: its disk is full" : "all_gather has failed");
        CHECK(files_in_folder() == 0);
    }
    second = GOES_ON;
    p.ranks = NULL;
    CHECK_STATUS(cubc_field_write(path, &p), CUBC_OK);
    second = FAILS;
    CHECK_STATUS(read_part_back(&ranks), CUBC_IO_ERROR);
    CHECK_CONTAINS(cubc_error_message(), "rank 1 of 2: its disk is full");
    second = GOES_ON;
    CHECK_STATUS(read_part_back(&ranks), CUBC_INVALID_ARGUMENT); // with room for the whole lattice
    CHECK_CONTAINS(cubc_error_message(), "the part has");
    ranks.grid[3] = 4;
    CHECK_STATUS(read_part_back(&ranks), CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), "1 x 1 x 1 x 4 ranks, and there are 2");
    ranks = (cubc_field_ranks){&comm, {1, 1, 2, 1}};
    const cubc_comm no_functions = {.size = 2};
    const cubc_field_ranks silent = {&no_functions, {1, 1, 1, 2}};
    CHECK_STATUS(read_part_back(&silent), CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), "needs all_gather");
    CHECK_STATUS(cubc_field_open_part(path, 0, NULL, NULL), CUBC_INVALID_ARGUMENT);
    CHECK_STATUS(cubc_field_read_part(NULL, 0, NULL, NULL, 0), CUBC_INVALID_ARGUMENT);
}

static void test_other_ranks(void)
{
    in_folder(test_other_ranks_body);
}

// NaN is a measurement as any other: a part has none of the links that its own would need.
static void test_links_that_measure_nan_body(void)
{
    answer second = GOES_ON;
    const cubc_comm comm = {.size = 2, .context = &second, .all_gather = gather_answers};
    const cubc_field_ranks ranks = {&comm, {1, 1, 1, 2}};
    const double measured[2] = {NAN, NAN};
    double *part = mem_zalloc(REALS / 2, sizeof *part);
    if (!CHECK(part != NULL)) return;
    cubc_field_write_params p = {.data = part,
                                 .extent = {EXTENT, EXTENT, EXTENT, EXTENT / 2},
                                 .format = "nersc",
                                 .ranks = &ranks,
                                 .measured = measured};
    CHECK_STATUS(cubc_field_write(path, &p), CUBC_OK);
    mem_free(part);
}

static void test_links_that_measure_nan(void)
{
    in_folder(test_links_that_measure_nan_body);
}

// The second rank tells what this one has told before.
static int gather_as_before(void *context, const void *mine, void *all, size_t bytes)
{
    char *before = context;
    memcpy(all, mine, bytes);
    memcpy((char *)all + bytes, before, bytes);
    memcpy(before, mine, bytes);
    return 0;
}

static void test_ranks_agree_on_the_format_body(void)
{
    char before[512] = {0};
    const cubc_comm comm = {.size = 2, .context = before, .all_gather = gather_as_before};
    const cubc_field_ranks ranks = {&comm, {1, 1, 1, 2}};
    cubc_field_write_params p = {.data = links,
                                 .extent = {EXTENT, EXTENT, EXTENT, EXTENT / 2},
                                 .format = "scidac",
                                 .ranks = &ranks};
    CHECK_STATUS(cubc_field_write(path, &p), CUBC_INVALID_ARGUMENT);
    p.format = "ildg";
    CHECK_STATUS(cubc_field_write(path, &p), CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), "rank 1 gives another part, format, kind or precision");
}

static void test_ranks_agree_on_the_format(void)
{
    in_folder(test_ranks_agree_on_the_format_body);
}

// A rank that cannot go on says so where the others wait for it.
static void test_the_others_are_told(void)
{
    answer second = GOES_ON;
    const cubc_comm comm = {.size = 2, .context = &second, .all_gather = gather_answers};
    cubc_field_ranks ranks = {&comm, {1, 1, 1, 2}};
    const int extent[4] = {EXTENT, EXTENT, EXTENT, EXTENT}, thin[4] = {EXTENT, EXTENT, EXTENT, 2};
    const int huge[4] = {1 << 30, 1 << 30, 1 << 30, EXTENT};
    double measured[2];
    set_unit(links, SITES * 4);
    const struct {
        const void *links;
        const int *extent;
        int margin;
        double *out;
    } wrong[] = {{NULL, extent, 1, measured},         {links, NULL, 1, measured},
                 {links, extent, 0, measured},        {links, extent, 1, NULL},
                 {links, thin, 1, measured},          {links, huge, 1, measured},
                 {links, extent, INT32_MAX, measured}};
    for (size_t k = 0; k < COUNT_OF(wrong); k++) {
        gathered = 0;
        CHECK_STATUS(cubc_field_measure(wrong[k].links, wrong[k].extent, wrong[k].margin, &ranks,
                                        wrong[k].out),
                     CUBC_INVALID_ARGUMENT);
        CHECK(gathered == 1);
    }
    gathered = 0;
    CHECK_STATUS(cubc_field_open_part("nowhere", 0, &ranks, NULL), CUBC_INVALID_ARGUMENT);
    CHECK(gathered == 1);
    cubc_status st = CUBC_NO_MEMORY;
    for (long nth = 1; st && nth < 100; nth++) {
        gathered = 0;
        mem_fail_at(nth);
        st = cubc_field_measure(links, extent, 1, &ranks, measured);
        mem_fail_at(0);
        CHECK(st == CUBC_OK || st == CUBC_NO_MEMORY);
        CHECK(gathered > 0 || nth == 1); // the first is for what is told
    }
    CHECK(st == CUBC_OK && measured[0] == 1 && measured[1] == 1);
    second = FAILS;
    CHECK_STATUS(cubc_field_measure(links, extent, 1, &ranks, measured), CUBC_IO_ERROR);
    CHECK_CONTAINS(cubc_error_message(), "rank 1 of 2: its disk is full");
    ranks = (cubc_field_ranks){&comm, {2, 1, 1, 1}};
    CHECK_STATUS(cubc_field_measure(links, extent, 1, &ranks, measured), CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), "2 ranks along x, which is not cut");
    ranks = (cubc_field_ranks){&comm, {0, 1, 1, 2}};
    CHECK_STATUS(cubc_field_measure(links, extent, 1, &ranks, measured), CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), "on a grid of 0 x 1 x 1 x 2 ranks");
    CHECK_STATUS(cubc_field_measure(links, extent, 1, NULL, measured), CUBC_INVALID_ARGUMENT);
}

static void test_arguments_body(void)
{
    cubc_field_file *file = NULL;
    cubc_field_write_params p = {.data = links, .extent = {EXTENT, EXTENT, EXTENT, EXTENT}};
    CHECK_STATUS(cubc_field_open(NULL, 0, &file), CUBC_INVALID_ARGUMENT);
    CHECK_STATUS(cubc_field_open(path, 4, &file), CUBC_INVALID_ARGUMENT);
    CHECK_STATUS(cubc_field_open(path, 0, &file), CUBC_IO_ERROR);
    CHECK_CONTAINS(cubc_error_message(), "file: cannot open it: No such file");
    CHECK(!file && !cubc_field_describe(NULL, 0) && cubc_field_count(NULL) == 0);
    cubc_field_close(NULL);
    uint64_t shape[8];
    CHECK(cubc_field_shape(CUBC_FIELD_GAUGE, p.extent, shape) == 7 && shape[4] == 4);
    CHECK(cubc_field_shape(CUBC_FIELD_KIND_COUNT, p.extent, shape) == 0);
    CHECK(cubc_field_shape(CUBC_FIELD_GAUGE, NULL, shape) == 0);
    CHECK(cubc_field_shape(CUBC_FIELD_GAUGE, p.extent, NULL) == 0);
    CHECK(!cubc_field_kind_name(CUBC_FIELD_KIND_COUNT) &&
          !cubc_field_kind_name((cubc_field_kind)-1));
    CHECK_STATUS(cubc_field_write(path, NULL), CUBC_INVALID_ARGUMENT);
    p.extent[2] = 0;
    CHECK_STATUS(cubc_field_write(path, &p), CUBC_INVALID_ARGUMENT);
    p.extent[2] = EXTENT;
    p.kind = CUBC_FIELD_PROPAGATOR;
    p.format = "nersc";
    CHECK_STATUS(cubc_field_write(path, &p), CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(),
                   "expected for this kind of field (propagator) one of \"scidac\"");
    p = (cubc_field_write_params){.data = links, .extent = {EXTENT, EXTENT, EXTENT, EXTENT}};
    CHECK_STATUS(cubc_field_write(path, &p), CUBC_OK);
    CHECK_STATUS(cubc_field_open(path, 0, &file), CUBC_OK);
    CHECK_STATUS(cubc_field_read(file, 0, again, sizeof again - 8), CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), "147456");
    CHECK(truncate(path, 2000) == 0); // while it is open
    CHECK_STATUS(cubc_field_read(file, 0, again, sizeof again), CUBC_IO_ERROR);
    CHECK_CONTAINS(cubc_error_message(), "cut short");
    cubc_field_close(file);
}

static void test_arguments(void)
{
    in_folder(test_arguments_body);
}

int main(int argc, char **argv)
{
    const check_test tests[] = {
        {"checksums", test_checksums},
        {"xml", test_xml},
        {"lime", test_lime},
        {"links", test_links},
        {"the_first_failure_counts", test_the_first_failure_counts},
        {"an_interruption_ends_every_thread", test_an_interruption_ends_every_thread},
        {"memory", test_memory},
        {"one_rank", test_one_rank},
        {"other_ranks", test_other_ranks},
        {"links_that_measure_nan", test_links_that_measure_nan},
        {"ranks_agree_on_the_format", test_ranks_agree_on_the_format},
        {"the_others_are_told", test_the_others_are_told},
        {"arguments", test_arguments},
    };
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
