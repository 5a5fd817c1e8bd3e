// Claims of kernels that are being compiled: waits, their ends, processes and threads, no locks.
#define _XOPEN_SOURCE 700
#include "compile/claim.h"

#include "cache_fixture.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>

static bool claimed; // by the last claim of this process

// Claims key 1 for at most a time; returns the status, and how long it took.
static cubc_status claim(double limit_s, double *waited)
{
    char key[65];
    key_of(1, key);
    return claim_or_wait(key, "a kernel", limit_s, &claimed, waited);
}

static void give_back(void)
{
    char key[65];
    key_of(1, key);
    claim_release(key);
}

// Starts a process that claims key 1 and then does what it is told; returns once it has the claim.
static pid_t claimant(void (*then)(void))
{
    int ends[2];
    char ready = 0;
    double waited;
    CHECK(pipe(ends) == 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        bool has = claim(0, &waited) == CUBC_OK && waited == 0 && claimed;
        if (write(ends[1], "x", 1) != 1) _exit(1);
        then();
        _exit(!has);
    }
    CHECK(read(ends[0], &ready, 1) == 1);
    close(ends[0]);
    close(ends[1]);
    return child;
}

static bool ended_well(pid_t child)
{
    int status;
    return waitpid(child, &status, 0) == child && status == 0;
}

static void compile_it(void)
{
    poll(NULL, 0, 100);
    put(1, "compiled by another"); // and ends with its claim
}

static void give_it_back(void)
{
    give_back();
    pause();
}

static void hang(void)
{
    pause();
}

CACHE_TEST(a_claim_is_waited_for)
{
    double waited;
    pid_t other = claimant(compile_it);
    CHECK(claim(20, &waited) == CUBC_OK && waited > 0.02 && waited < 19 && !claimed);
    CHECK(get_is(1, "compiled by another"));
    CHECK(ended_well(other));
    char key[65];
    key_of(2, key);
    other = claimant(hang);
    CHECK(claim_or_wait(key, "another", 20, &claimed, &waited) == CUBC_OK && waited == 0);
    claim_release(key);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
}

CACHE_TEST(a_claim_ends_with_its_process)
{
    double waited;
    pid_t other = claimant(hang);
    CHECK(claim(0.05, &waited) == CUBC_TIMEOUT && waited >= 0.05);
    CHECK(strstr(cubc_error_message(), "compiling a kernel took longer than 0.05 s"));
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    CHECK(claim(20, &waited) == CUBC_OK && waited == 0);
    give_back();
    other = claimant(give_it_back);
    CHECK(claim(20, &waited) == CUBC_OK && waited < 19);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
}

static bool pressed(void)
{
    return true;
}

CACHE_TEST(a_wait_is_interrupted)
{
    double waited;
    pid_t other = claimant(hang);
    interrupt_set_hook(pressed);
    CHECK(claim(0, &waited) == CUBC_INTERRUPTED && waited < 10);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
}

// Writes a byte, and waits until another process closes the other end of the second pipe.
static bool arrive_and_stay(const int arrivals[2], const int end[2])
{
    char none;
    close(end[1]);
    return write(arrivals[1], "x", 1) == 1 && read(end[0], &none, 1) == 0;
}

// All who waited go on at once: none of them has the claim.
CACHE_TEST(many_wait)
{
    enum { MANY = 8 };
    char arrived;
    int arrivals[2], end[2];
    pid_t others[MANY], holder = claimant(hang);
    if (!CHECK(pipe(arrivals) == 0 && pipe(end) == 0)) return;
    for (int i = 0; i < MANY; i++) {
        others[i] = fork();
        if (others[i] == 0) {
            double waited;
            bool waits = claim(20, &waited) == CUBC_OK && waited > 0;
            _exit(!(arrive_and_stay(arrivals, end) && waits && waited < 19));
        }
    }
    poll(NULL, 0, 200);
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    struct pollfd reads = {.fd = arrivals[0], .events = POLLIN};
    for (int i = 0; i < MANY; i++) // before any of them has ended
        CHECK(poll(&reads, 1, 20000) == 1 && read(arrivals[0], &arrived, 1) == 1);
    close(end[1]);
    for (int i = 0; i < MANY; i++) CHECK(ended_well(others[i]));
    close(end[0]);
    close(arrivals[0]);
    close(arrivals[1]);
}

static void *claim_too(void *waited)
{
    return claim(20, waited) == CUBC_OK ? NULL : "no claim";
}

// A child that a process forks has none of its claims, and takes none away by its end.
CACHE_TEST(claims_are_of_one_process)
{
    double waited;
    pthread_t other;
    CHECK(pthread_create(&other, NULL, claim_too, &waited) == 0);
    pthread_join(other, NULL);
    CHECK(waited == 0 && claimed);
    for (int k = 0; k < 2; k++) {
        pid_t child = fork();
        if (child == 0) _exit(claim(0.05, &waited) != CUBC_TIMEOUT);
        CHECK(ended_well(child));
    }
}

// A signal handler calls while its thread compiles, or forks a child that does.
CACHE_TEST(a_claim_within_a_claim)
{
    double waited;
    CHECK(claim(0, &waited) == CUBC_OK && claimed && claim_is_held());
    CHECK(claim(0.05, &waited) == CUBC_OK && waited == 0 && !claimed);
    pid_t child = fork();
    if (child == 0) _exit(!(claim(0.05, &waited) == CUBC_OK && waited == 0 && !claimed));
    CHECK(ended_well(child));
    give_back();
    CHECK(!claim_is_held());
}

// Two processes whose handlers want each what the other compiles would both wait.
CACHE_TEST(who_has_a_claim_waits_for_no_other)
{
    char key[65];
    double waited;
    pid_t other = claimant(hang);
    key_of(2, key);
    CHECK_STATUS(claim_or_wait(key, "another", 0, &claimed, &waited), CUBC_OK);
    CHECK(claimed && claim(0.05, &waited) == CUBC_OK && waited == 0 && !claimed);
    claim_release(key);
    CHECK(claim(0.05, &waited) == CUBC_TIMEOUT && !claimed);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
}

// As ranks that are threads of a process want the same kernel.
CACHE_TEST(threads_wait_for_each_other)
{
    double waited;
    pthread_t other;
    void *complaint;
    CHECK(claim(0, &waited) == CUBC_OK && waited == 0 && claimed);
    CHECK(pthread_create(&other, NULL, claim_too, &waited) == 0);
    poll(NULL, 0, 100);
    give_back();
    pthread_join(other, &complaint);
    CHECK(!complaint && waited > 0.02 && waited < 19 && !claimed);
    CHECK(claim(0, &waited) == CUBC_OK && waited == 0 && claimed);
}

CACHE_TEST(no_claims)
{
    double waited;
    char path[512];
    snprintf(path, sizeof path, "%s/.claims", folder);
    CHECK(mkfifo(path, 0600) == 0); // no file that has locks
    pid_t other = claimant(hang);
    CHECK(claim(0, &waited) == CUBC_OK && waited == 0);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
}

CACHE_TEST(no_folder_no_claims)
{
    double waited;
    CHECK(chmod(folder, 0777) == 0);
    CHECK(claim(0, &waited) == CUBC_OK && waited == 0);
    CHECK(files() == 0);
}

int main(int argc, char **argv)
{
    const check_test tests[] = {
        {"a_claim_is_waited_for", a_claim_is_waited_for},
        {"a_claim_ends_with_its_process", a_claim_ends_with_its_process},
        {"a_wait_is_interrupted", a_wait_is_interrupted},
        {"many_wait", many_wait},
        {"claims_are_of_one_process", claims_are_of_one_process},
        {"a_claim_within_a_claim", a_claim_within_a_claim},
        {"who_has_a_claim_waits_for_no_other", who_has_a_claim_waits_for_no_other},
        {"threads_wait_for_each_other", threads_wait_for_each_other},
        {"no_claims", no_claims},
        {"no_folder_no_claims", no_folder_no_claims},
    };
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
