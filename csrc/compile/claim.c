// Claims of kernels that are being compiled: see claim.h.
//
// A key's claim is a record lock on one byte of a file of the cache's folder. The file stays empty,
// so that there is no file of a claim to be left behind.
#define _POSIX_C_SOURCE 200809L
#include "compile/claim.h"

#include "compile/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MOST_CLAIMS = 64,   // of a process at a time; it compiles others without a claim
    LONGEST_PAUSE = 20, // milliseconds between two looks at a claim
    LONGEST_WAIT = 600, // seconds, more than a compiler takes for a kernel on a busy machine
};

// The file stays open: a process that closes it gives up all its locks on it.
static pthread_once_t file_once = PTHREAD_ONCE_INIT;
static int file_fd = -1;

FORK_SAFE_MUTEX(lock);
static struct {
    pid_t process; // a child has none of its parent's
    int count;
    off_t places[MOST_CLAIMS];
} claims;

static _Thread_local int held; // claims of this thread, in a child those of the one that forked it

static void open_file(void)
{
    file_fd = cache_open_file(".claims");
}

// The byte of a key: its first seven digits, which any off_t holds.
static off_t place_of(const char *key)
{
    char digits[8];
    snprintf(digits, sizeof digits, "%s", key);
    return (off_t)strtol(digits, NULL, 16);
}

// Sets a lock or takes it back; false: another process has it.
static bool set_lock(off_t place, short type)
{
    struct flock byte = {.l_type = type, .l_whence = SEEK_SET, .l_start = place, .l_len = 1};
    int failed;
    if (file_fd < 0) return true;
    do failed = fcntl(file_fd, F_SETLK, &byte);
    while (failed && errno == EINTR);
    return !failed || (errno != EAGAIN && errno != EACCES);
}

// True: nobody else has the place, which *claimed says that this thread has now.
static bool try_place(off_t place, bool *claimed)
{
    pthread_mutex_lock(&lock);
    if (claims.process != getpid()) claims.count = 0;
    claims.process = getpid();
    bool is_free = true;
    for (int i = 0; i < claims.count; i++) is_free = is_free && claims.places[i] != place;
    *claimed = is_free && claims.count < MOST_CLAIMS && (is_free = set_lock(place, F_WRLCK));
    if (*claimed) claims.places[claims.count++] = place;
    pthread_mutex_unlock(&lock);
    held += *claimed;
    return is_free;
}

void claim_release(const char key[65])
{
    off_t place = place_of(key);
    held--;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < claims.count; i++)
        if (claims.process == getpid() && claims.places[i] == place) {
            claims.places[i] = claims.places[--claims.count];
            set_lock(place, F_UNLCK);
            break;
        }
    pthread_mutex_unlock(&lock);
}

bool claim_is_held(void)
{
    return held > 0;
}

cubc_status claim_or_wait(const char key[65], const char *label, double limit_s, bool *claimed,
                          double *waited_s)
{
    *claimed = false;
    *waited_s = 0;
    if (!cache_folder()) return CUBC_OK;
    pthread_once(&file_once, open_file);
    if (try_place(place_of(key), claimed) || held) return CUBC_OK;
    double start = now_seconds();
    for (int pause = 1; *waited_s < LONGEST_WAIT;) {
        nap(1e-3 * pause);
        pause = 2 * pause < LONGEST_PAUSE ? 2 * pause : LONGEST_PAUSE;
        *waited_s = now_seconds() - start;
        if (try_place(place_of(key), claimed)) {
            if (*claimed) claim_release(key); // at once, for all others who wait
            *claimed = false;
            return CUBC_OK;
        }
        if (interrupt_pending()) FAIL(CUBC_INTERRUPTED, "interrupted while compiling %s", label);
        if (limit_s > 0 && *waited_s >= limit_s)
            FAIL(CUBC_TIMEOUT, "compiling %s took longer than %g s in another thread or process",
                 label, limit_s);
    }
    return CUBC_OK;
}
