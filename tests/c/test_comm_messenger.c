// Messages by a caller's communicator: which of its functions are called, in which order, and what
// becomes of those that fail. Hosts, by which they are chosen.
#define _POSIX_C_SOURCE 200809L // gethostname
#include "check.h"
#include "lattice/grid/comm_messenger.h"

#include <stdio.h>
#include <unistd.h>

// The communicator of rank 1 of 3 notes its calls. What it receives is a letter for each rank.
static char calls[1024];
static int starts_until_failure, late;

static void note(const char *format, int to, int from, size_t bytes)
{
    const size_t length = strlen(calls);
    snprintf(calls + length, sizeof calls - length, format, to, from, bytes);
}

static bool were(const char *expected)
{
    const bool same = strcmp(calls, expected) == 0;
    if (!same) printf("# %s instead of %s\n", calls, expected);
    calls[0] = '\0';
    return same;
}

static int gather_letters(void *context, const void *mine, void *all, size_t bytes)
{
    (void)context, (void)mine;
    note("all%3$zu ", 0, 0, bytes);
    for (int k = 0; k < 3; k++) memset((char *)all + (size_t)k * bytes, 'a' + k, bytes);
    return 0;
}

static int exchange_letters(void *context, int to, const void *send, int from, void *receive,
                            size_t bytes, double seconds)
{
    (void)context, (void)send, (void)seconds;
    note("->%d<-%d:%zu ", to, from, bytes);
    if (from >= 0) memset(receive, 'a' + from, bytes);
    return 0;
}

static int start_letters(void *context, int to, const void *send, int from, void *receive,
                         size_t bytes)
{
    (void)context, (void)send;
    if (--starts_until_failure == 0) return 1;
    note("->%d<-%d:%zu ", to, from, bytes);
    if (from >= 0) memset(receive, 'a' + from, bytes);
    return 0;
}

static int finish_letters(void *context, double seconds)
{
    (void)context;
    note(seconds > 0 ? "finish " : "end ", 0, 0, 0);
    return late;
}

static cubc_comm comm_of(bool pairs, bool begins)
{
    return (cubc_comm){.rank = 1,
                       .size = 3,
                       .all_gather = gather_letters,
                       .exchange = pairs ? exchange_letters : NULL,
                       .start = begins ? start_letters : NULL,
                       .finish = begins ? finish_letters : NULL};
}

static char to[16], from[16];
static const device_message two[] = {{from, to, 2, 0, 2}, {from, to + 2, 3, 2, 0}};

static messenger *open_with(const cubc_comm *comm, size_t most)
{
    messenger *m = NULL;
    starts_until_failure = late = 0;
    calls[0] = '\0';
    memset(to, '.', sizeof to);
    CHECK_STATUS(comm_messenger_open(comm, 1e-9, most, &m), CUBC_OK);
    return m;
}

static messenger *open_messenger(const cubc_comm *comm)
{
    return open_with(comm, COMM_MOST_BYTES);
}

static void check_all(bool pairs, bool begins, const char *moved, const char *began,
                      const char *ended, const char *gathered)
{
    const cubc_comm comm = comm_of(pairs, begins);
    messenger *m = open_messenger(&comm);
    if (!m) return;
    CHECK_STATUS(m->api->move(m, two, 2, NULL), CUBC_OK);
    CHECK(were(moved));
    CHECK(memcmp(to, "ccaaa.", 6) == 0);
    CHECK_STATUS(m->api->begin(m, two, 2, NULL), CUBC_OK);
    CHECK(were(began));
    CHECK_STATUS(m->api->end(m, NULL), CUBC_OK);
    CHECK(were(ended));
    CHECK_STATUS(m->api->gather(m, to, 2, NULL), CUBC_OK);
    CHECK(were(gathered));
    CHECK(memcmp(to, "aa", 2) == 0 && memcmp(to + 4, "cc", 2) == 0);
    m->api->close(m);
    CHECK(were(""));
}

static void test_functions(void)
{
    check_all(false, true, "->0<-2:2 ->2<-0:3 finish ", "->0<-2:2 ->2<-0:3 ", "finish ",
              "->2<-0:2 ->0<-2:2 finish ");
    check_all(true, false, "->0<-2:2 ->2<-0:3 ", "->0<-2:2 ->2<-0:3 ", "", "->2<-0:2 ->0<-2:2 ");
    check_all(false, false, "all2 all3 ", "all2 all3 ", "", "all2 ");
}

// Ranks count messages: those of a hop that was left between its launches come before the next.
static void test_an_end_that_is_left_out(void)
{
    const cubc_comm comm = comm_of(true, true);
    messenger *m = open_messenger(&comm);
    if (!m) return;
    CHECK_STATUS(m->api->begin(m, two, 1, NULL), CUBC_OK);
    CHECK_STATUS(m->api->begin(m, two, 1, NULL), CUBC_OK);
    CHECK_STATUS(m->api->gather(m, to, 1, NULL), CUBC_OK);
    CHECK(were("->0<-2:2 finish ->0<-2:2 finish ->2<-0:1 ->0<-2:1 finish "));
    CHECK_STATUS(m->api->begin(m, two, 1, NULL), CUBC_OK);
    m->api->close(m);
    CHECK(were("->0<-2:2 end "));
}

static void test_many(void)
{
    static device_message many[CUBC_COMM_MESSAGES + 1];
    const cubc_comm comm = comm_of(false, true);
    messenger *m = open_messenger(&comm);
    if (!m) return;
    for (int k = 0; k <= CUBC_COMM_MESSAGES; k++) many[k] = two[0];
    CHECK_STATUS(m->api->begin(m, many, CUBC_COMM_MESSAGES + 1, NULL), CUBC_OK);
    CHECK(strstr(calls, "->0<-2:2 finish ->0<-2:2 ") ==
          calls + (CUBC_COMM_MESSAGES - 1) * strlen("->0<-2:2 "));
    m->api->close(m);
}

// Messages at one end of which is nobody. All ranks gather, whoever it is for.
static void check_halves(bool pairs, bool begins, const char *moved)
{
    const cubc_comm comm = comm_of(pairs, begins);
    const device_message halves[] = {{from, to, 2, NO_RANK, 2},
                                     {from, to + 2, 3, 0, NO_RANK},
                                     {from, to + 2, 4, NO_RANK, NO_RANK}};
    messenger *m = open_messenger(&comm);
    if (!m) return;
    CHECK_STATUS(m->api->move(m, halves, 3, NULL), CUBC_OK);
    CHECK(were(moved));
    CHECK(memcmp(to, "cc....", 6) == 0);
    m->api->close(m);
}

static void test_halves(void)
{
    check_halves(false, true, "->-1<-2:2 ->0<--1:3 finish ");
    check_halves(true, false, "->-1<-2:2 ->0<--1:3 ");
    check_halves(false, false, "all2 all3 all4 ");
}

static void check_pieces(bool pairs, bool begins, const char *moved, const char *gathered)
{
    const cubc_comm comm = comm_of(pairs, begins);
    const device_message one = {from, to, 5, 0, 2};
    messenger *m = open_with(&comm, 2);
    if (!m) return;
    CHECK_STATUS(m->api->move(m, &one, 1, NULL), CUBC_OK);
    CHECK(were(moved));
    CHECK(memcmp(to, "ccccc.", 6) == 0);
    CHECK_STATUS(m->api->gather(m, to, 3, NULL), CUBC_OK);
    CHECK(were(gathered));
    CHECK(memcmp(to, "aaa", 3) == 0 && memcmp(to + 6, "ccc", 3) == 0);
    m->api->close(m);
}

static void test_pieces(void)
{
    check_pieces(false, true, "->0<-2:2 ->0<-2:2 ->0<-2:1 finish ",
                 "->2<-0:2 ->2<-0:1 ->0<-2:2 ->0<-2:1 finish ");
    check_pieces(true, false, "->0<-2:2 ->0<-2:2 ->0<-2:1 ",
                 "->2<-0:2 ->2<-0:1 ->0<-2:2 ->0<-2:1 ");
    check_pieces(false, false, "all1 all1 all1 all1 all1 ", "all1 all1 all1 ");
}

// ---- hosts --------------------------------------------------------------------------------------
static void test_hosts(void)
{
    char name[256] = "";
    CHECK(gethostname(name, sizeof name - 1) == 0);
    CHECK(host_token() == host_token() && host_token() != 0);
    const uint64_t by_name = host_token_of("/nowhere/boot_id");
    CHECK(by_name == hash64(name, strlen(name)));
    CHECK(host_token_of("/dev/null") == by_name);
    CHECK(host_token_of(__FILE__) != by_name);
}

static void test_failures(void)
{
    const cubc_comm comm = comm_of(false, true);
    messenger *m = open_messenger(&comm);
    if (!m) return;
    starts_until_failure = 2;
    CHECK_STATUS(m->api->begin(m, two, 2, NULL), CUBC_IO_ERROR);
    CHECK_CONTAINS(cubc_error_message(), "exchange of messages has failed, on rank 1 of 3");
    CHECK(were("->0<-2:2 end "));
    CHECK(m->late == 0);
    CHECK_STATUS(m->api->begin(m, two, 2, NULL), CUBC_OK);
    late = 3;
    CHECK_STATUS(m->api->end(m, NULL), CUBC_TIMEOUT);
    CHECK_CONTAINS(cubc_error_message(), "rank 1 of 3 waited 1e-09 s for a message of rank 2");
    CHECK(m->late == 2);
    for (late = -1; late < 5; late += 5) { // which is no rank
        CHECK_STATUS(m->api->move(m, two, 1, NULL), CUBC_IO_ERROR);
        CHECK(m->late == -1);
    }
    late = 0;
    m->api->close(m);
}

static void test_lacking_functions(void)
{
    cubc_device *cpu = NULL;
    cubc_ranks *r = NULL;
    CHECK_STATUS(cubc_device_open("cpu", &cpu), CUBC_OK);
    for (int k = 0; k < 4; k++) {
        static const char *const says[] = {"needs all_gather", "needs all_gather",
                                           "start and no finish", "finish and no start"};
        cubc_comm comm = comm_of(true, true);
        if (k < 2) comm.all_gather = NULL;
        if (k == 1) comm.rank = 0, comm.size = 1;
        if (k == 2) comm.finish = NULL;
        if (k == 3) comm.start = NULL;
        const cubc_ranks_params params = {.comm = &comm, .grid = {1, 1, 1, comm.size}};
        CHECK_STATUS(cubc_ranks_open(cpu, &params, &r), CUBC_INVALID_ARGUMENT);
        CHECK_CONTAINS(cubc_error_message(), says[k]);
        cubc_ranks_close(r);
    }
    cubc_device_close(cpu);
}

static void test_no_ranks(void)
{
    int place[4] = {7, 7, 7, 7};
    cubc_ranks_place(NULL, place);
    CHECK(place[0] == 0 && place[3] == 0);
    CHECK_STATUS(cubc_ranks_check(NULL, NULL), CUBC_INVALID_ARGUMENT);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        {"functions", test_functions}, {"an end that is left out", test_an_end_that_is_left_out},
        {"many", test_many},           {"halves", test_halves},
        {"pieces", test_pieces},       {"hosts", test_hosts},
        {"failures", test_failures},   {"lacking functions", test_lacking_functions},
        {"no ranks", test_no_ranks},
    };
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
