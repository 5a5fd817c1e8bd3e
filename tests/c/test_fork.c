// Children of fork: their locks are free, and what their parent has begun is left to it.
//
// An argument runs only the tests whose names contain it.
#define _GNU_SOURCE
#include "base/shares.h"
#include "check.h"
#include "device/device.h"
#include "lattice/io/outfile.h"
#include "waiting_compiler.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/cubc-fork-XXXXXX";

static bool ends_well(pid_t child)
{
    int status = -1;
    return waitpid(child, &status, 0) == child && status == 0;
}

// A signal handler of the main thread that forks once, and in the parent waits for the child's end.
static pid_t parent;
static pthread_t main_thread;
static atomic_bool forked;
static bool child_ended_well;

static bool fork_once(void)
{
    if (!pthread_equal(pthread_self(), main_thread)) return false;
    interrupt_set_hook(NULL);
    atomic_store(&forked, true);
    pid_t child = fork();
    if (child == 0) alarm(10); // what waits for ever in it is killed
    if (child > 0) child_ended_well = ends_well(child);
    return false;
}

static bool raise_in_child(void) // as sys.exit() of a handler
{
    fork_once();
    return getpid() != parent;
}

// The status of a call whose handler forks, in the parent; the child ends, well if it was refused.
static cubc_status status_in_parent(cubc_status status)
{
    interrupt_set_hook(NULL);
    if (getpid() == parent) return status;
    bool refused =
        status == CUBC_INVALID_ARGUMENT && strstr(cubc_error_message(), "a signal handler forked");
    if (!refused) printf("the child's status: %s\n", cubc_status_name(status));
    fflush(stdout);
    _exit(!refused);
}

static void test_any_number_of_locks_is_free(void)
{
    enum { COUNT = 500 };
    static pthread_mutex_t locks[COUNT];
    static fork_entry entries[COUNT];
    for (int i = 0; i < COUNT; i++) {
        pthread_mutex_init(&locks[i], NULL);
        fork_register(&entries[i], &locks[i]);
        pthread_mutex_lock(&locks[i]);
    }
    fork_unregister(&entries[7]);
    pid_t child = fork();
    if (child == 0) {
        bool expected = true;
        for (int i = 0; i < COUNT; i++)
            expected = expected && (pthread_mutex_trylock(&locks[i]) == 0) == (i != 7);
        _exit(!expected);
    }
    CHECK(ends_well(child));
    for (int i = 0; i < COUNT; i++) {
        if (i != 7) fork_unregister(&entries[i]);
        CHECK(pthread_mutex_unlock(&locks[i]) == 0);
    }
}

// Leaves shares to the main thread until that has forked.
static cubc_status waiting_step(void *context, uint64_t first, uint64_t count, void *room)
{
    (void)room;
    for (uint64_t i = first; i < first + count; i++) ((char *)context)[i] = 1;
    while (!atomic_load(&forked)) usleep(100);
    return CUBC_OK;
}

static void test_shares(void)
{
    setenv("CUBC_CPU_THREADS", "3", 1);
    for (int raises = 0; raises < 2; raises++) {
        char done[64] = {0};
        child_ended_well = false;
        atomic_store(&forked, false);
        interrupt_set_hook(raises ? raise_in_child : fork_once);
        cubc_status st = shares_run(sizeof done, 1, 1, waiting_step, done);
        CHECK_STATUS(status_in_parent(st), CUBC_OK);
        CHECK(child_ended_well && !memchr(done, 0, sizeof done));
    }
    unsetenv("CUBC_CPU_THREADS");
}

static void test_a_file_that_is_written(void)
{
    char path[64];
    outfile out;
    struct stat info;
    snprintf(path, sizeof path, "%s/file", folder);
    for (int commits = 0; commits < 2; commits++) {
        CHECK_STATUS(outfile_begin(path, &out), CUBC_OK);
        pid_t child = fork();
        if (child == 0 && !commits) outfile_discard(&out);
        if (child == 0) _exit(commits && outfile_commit(&out) != CUBC_INVALID_ARGUMENT);
        CHECK(ends_well(child));
        CHECK_STATUS(outfile_at(&out, 0, "whole", 5), CUBC_OK);
        CHECK_STATUS(outfile_commit(&out), CUBC_OK);
        CHECK(stat(path, &info) == 0 && info.st_size == 5);
        unlink(path);
    }
}

static waiting_compiler compiler;

static bool fork_and_let_go(void)
{
    fork_once();
    if (getpid() == parent) waiting_compiler_let_go(&compiler);
    return false;
}

static bool raise_in_child_and_let_go(void)
{
    fork_and_let_go();
    return getpid() != parent;
}

static void test_a_compilation(void)
{
    waiting_compiler_make(&compiler);
    for (int raises = 0; raises < 2; raises++) {
        compile_request request = {.source = "int x;", .label = "slow", .arch = "cpu"};
        binary code = {0};
        child_ended_well = false;
        waiting_compiler_wait_again(&compiler);
        interrupt_set_hook(raises ? raise_in_child_and_let_go : fork_and_let_go);
        cubc_status st = device_cpu_api.compile(&request, &code);
        CHECK_STATUS(status_in_parent(st), CUBC_OK);
        CHECK(child_ended_well && code.size > 0);
        binary_free(&code);
    }
    waiting_compiler_remove(&compiler);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        {"any number of locks is free", test_any_number_of_locks_is_free},
        {"shares", test_shares},
        {"a file that is written", test_a_file_that_is_written},
        {"a compilation", test_a_compilation},
    };
    parent = getpid();
    main_thread = pthread_self();
    if (!mkdtemp(folder)) return 1;
    int failed = check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
    CHECK(rmdir(folder) == 0);
    return failed;
}
