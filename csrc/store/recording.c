// The writer of recorded calls: see recording.h.
#define _POSIX_C_SOURCE 200809L // sigaction
#include "store/recording.h"

#include "run/recorded_calls.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const double store_wait_s = 1.0; // for another process, while the program runs
enum { ROOM = 1024 };                   // of a text

// A call as the store has it by now.
typedef struct written {
    uint64_t count;
    int timed, round;
    bool there;
} written;

typedef enum message { QUIT = 'q', TERMINATE = 't' } message;

FORK_SAFE_MUTEX(lock); // guards the life of a recording
static char *path;     // NULL: there is none
static int milliseconds;
static pthread_t writer;
static written *all; // in the order of calls_after; the writer's, then of who ends
static size_t room;
static int round_of_new;
static int begun;         // by this process
static char identity[64]; // by which a merge knows more calls of it from those of another
static volatile sig_atomic_t inbox = -1, outbox = -1; // of the writer's messages
static struct stat boxes;                             // tells their pipe from a file of the program
static atomic_bool quitting; // the message QUIT, for a writer whose box is closed
static volatile sig_atomic_t process;

// ---- rows ---------------------------------------------------------------------------------------
static void add_text(char *out, const char *format, const char *separator, const char *name,
                     uint64_t value)
{
    size_t length = strlen(out);
    snprintf(out + length, ROOM - length, format, separator, name, (unsigned long long)value);
}

static void write_places(const recorded_call *c, char *axes, char *rt)
{
    *axes = *rt = 0;
    for (int k = 0; k < RECORDED_AXES && c->axes[k][0]; k++) {
        if (c->axis_values[k] > INT64_MAX) continue;
        add_text(axes, "%s[\"%s\", [%llu]]", *axes ? ", " : "[", c->axes[k], c->axis_values[k]);
        add_text(rt, "%s%s=%llu", *rt ? "," : "", c->axes[k], c->axis_values[k]);
    }
    strcat(axes, *axes ? "]" : "[]");
}

static size_t copy_times(const recorded_call *c, float *out)
{
    size_t count = 0;
    int timed = c->timed < CALL_TIMES ? c->timed : CALL_TIMES;
    for (int k = 0; k < timed; k++)
        if (c->seconds[k] > 0) out[count++] = c->seconds[k];
    return count;
}

// Another process may be writing the same: its rows are not changed.
static cubc_status add_row(store *s, store_row *row, written *w)
{
    bool added = false;
    while (!added) {
        row->round = round_of_new;
        TRY(store_add(s, row, &added));
        if (!added) round_of_new++;
    }
    w->round = row->round;
    w->there = true;
    return CUBC_OK;
}

static cubc_status write_row(store *s, const recorded_call *c, written *w)
{
    char axes[ROOM], rt[ROOM], ct[sizeof c->type + 8] = "";
    float seconds[CALL_TIMES];
    written new = {.count = c->count, .timed = c->timed, .round = w->round, .there = true};
    write_places(c, axes, rt);
    if (c->type[0]) snprintf(ct, sizeof ct, "T{ct}=%s", c->type);
    store_row row = {.benchmark = c->name,
                     .axes = axes,
                     .source_hash = "",
                     .ct = ct,
                     .variant = c->variant,
                     .rt = rt,
                     .round = w->round,
                     .status = "recorded",
                     .message = identity,
                     .samples = {seconds, copy_times(c, seconds)},
                     .bytes = c->bytes,
                     .calls = (double)new.count};
    cubc_status st = w->there ? store_put_calls(s, &row) : add_row(s, &row, w);
    new.round = w->round;
    if (!st) *w = new;
    return st;
}

static bool is_new(const recorded_call *c, const written *w)
{
    return c->count != w->count || c->timed != w->timed;
}

static cubc_status make_room(size_t count)
{
    if (count <= room) return CUBC_OK;
    size_t wanted = count + 256;
    written *grown = mem_realloc(all, wanted, sizeof *grown);
    if (!grown) return CUBC_NO_MEMORY;
    memset(grown + room, 0, (wanted - room) * sizeof *grown);
    all = grown;
    room = wanted;
    return CUBC_OK;
}

static cubc_status write_new(store **s, double wait)
{
    const device_info *device = NULL; // that the store is set to
    size_t k = 0;
    for (const recorded_call *c = calls_after(NULL); c; c = calls_after(c), k++) {
        TRY(make_room(k + 1));
        if (!is_new(c, &all[k])) continue;
        if (!*s) TRY(store_open_within(path, STORE_CREATE, wait, s));
        if (!device || memcmp(device, &c->device, sizeof *device) != 0)
            TRY(store_device(*s, &c->device, cubc_version()));
        device = &c->device;
        TRY(write_row(*s, c, &all[k]));
    }
    return CUBC_OK;
}

// Nobody forks while it is held: a child would find SQLite's own locks as the writer has them.
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void)
{
    pthread_mutex_lock(&writing);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&writing);
}

static void watch_forks(void) __attribute__((constructor));
static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

// The store is open no longer than it is written: a copy of the file is whole in between.
static cubc_status write_calls(double wait)
{
    store *s = NULL;
    pthread_mutex_lock(&writing);
    cubc_status st = write_new(&s, wait);
    store_close(s);
    pthread_mutex_unlock(&writing);
    return st;
}

// ---- writer -------------------------------------------------------------------------------------
// A program may close all descriptors, ours too, and have files of its own under their numbers.
static bool is_box(int fd)
{
    struct stat now;
    return fd >= 0 && fstat(fd, &now) == 0 && now.st_dev == boxes.st_dev &&
           now.st_ino == boxes.st_ino;
}

static void wait_without_box(void)
{
    enum { STEP_MS = 50 };
    const struct timespec step = {0, STEP_MS * 1000L * 1000};
    for (int waited = 0; waited < milliseconds && !atomic_load(&quitting); waited += STEP_MS)
        nanosleep(&step, NULL);
}

static message next_message(void)
{
    struct pollfd ready = {.fd = inbox, .events = POLLIN};
    unsigned char byte = 0;
    if (!is_box(inbox)) {
        wait_without_box();
        return atomic_load(&quitting) ? QUIT : 0;
    }
    if (poll(&ready, 1, milliseconds) > 0 && read(inbox, &byte, 1) != 1) byte = 0;
    return byte;
}

static void terminate(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(SIGTERM); // which nobody handles now, unless the program does since
}

static void *write_often(void *unused)
{
    message told;
    (void)unused;
    while ((told = next_message()) != QUIT) {
        calls_settle(false);
        (void)write_calls(store_wait_s); // rows that fail are written the next time
        if (told == TERMINATE) terminate();
    }
    return NULL;
}

static cubc_status start_writer(void)
{
    int failed = thread_start(&writer, write_often, NULL);
    if (failed) FAIL(CUBC_NO_MEMORY, "no thread for the recording: %s", strerror(failed));
    return CUBC_OK;
}

// ---- SIGTERM ------------------------------------------------------------------------------------
static void on_terminate(int number)
{
    char byte = TERMINATE;
    int error = errno;
    // A forked child has no writer. The action is the default by now.
    if (process != getpid() || !is_box(outbox) || write(outbox, &byte, 1) != 1) raise(number);
    errno = error;
}

static void take_signal(void)
{
    struct sigaction ours = {.sa_handler = on_terminate, .sa_flags = SA_RESTART | SA_RESETHAND};
    struct sigaction before;
    sigemptyset(&ours.sa_mask);
    if (sigaction(SIGTERM, NULL, &before) || (before.sa_flags & SA_SIGINFO) ||
        before.sa_handler != SIG_DFL)
        return;
    sigaction(SIGTERM, &ours, NULL);
}

static void give_signal_back(void)
{
    struct sigaction now;
    if (sigaction(SIGTERM, NULL, &now) || (now.sa_flags & SA_SIGINFO) ||
        now.sa_handler != on_terminate)
        return;
    signal(SIGTERM, SIG_DFL);
}

// ---- life ---------------------------------------------------------------------------------------
static void close_boxes(void)
{
    int in = inbox, out = outbox;
    inbox = outbox = -1;
    if (is_box(in)) close(in);
    if (is_box(out)) close(out);
}

static void drop(void)
{
    give_signal_back();
    close_boxes();
    mem_free(path);
    mem_free(all);
    path = NULL;
    all = NULL;
    room = 0;
}

static cubc_status check_store(void)
{
    store *s;
    TRY(store_open(path, STORE_CREATE, &s));
    store_close(s);
    return CUBC_OK;
}

static cubc_status open_boxes(void)
{
    int ends[2];
    if (pipe(ends)) FAIL(CUBC_IO_ERROR, "no pipe for the recording: %s", strerror(errno));
    for (int k = 0; k < 2; k++) {
        fcntl(ends[k], F_SETFD, FD_CLOEXEC);
        fcntl(ends[k], F_SETFL, O_NONBLOCK);
    }
    inbox = ends[0];
    outbox = ends[1];
    if (fstat(inbox, &boxes)) FAIL(CUBC_IO_ERROR, "no pipe for the recording: %s", strerror(errno));
    return CUBC_OK;
}

static cubc_status begin(const char *name, double seconds, bool keys)
{
    cubc_status st;
    path = mem_strdup(name);
    if (!path) return CUBC_NO_MEMORY;
    milliseconds = seconds < 1e6 ? (int)(1e3 * seconds) : (int)1e9;
    round_of_new = 0;
    process = getpid();
    snprintf(identity, sizeof identity, "recording %d of process %016llx", ++begun,
             (unsigned long long)process_token());
    atomic_store(&quitting, false);
    GUARD(st, check_store(), failed);
    GUARD(st, open_boxes(), failed);
    GUARD(st, calls_record(keys), failed);
    GUARD(st, start_writer(), forget);
    take_signal();
    return CUBC_OK;
forget:
    calls_forget();
failed:
    drop();
    return st;
}

cubc_status recording_begin(const char *name, double seconds, bool keys)
{
    pthread_mutex_lock(&lock);
    cubc_status st =
        path ? error_set(__FILE__, __LINE__, CUBC_INVALID_ARGUMENT, "calls are recorded already")
             : begin(name, seconds, keys);
    pthread_mutex_unlock(&lock);
    return st;
}

static cubc_status end(uint64_t *lost)
{
    char byte = QUIT;
    calls_stop();
    atomic_store(&quitting, true);
    while (is_box(outbox) && write(outbox, &byte, 1) < 0 && errno == EINTR) {
    }
    pthread_join(writer, NULL);
    calls_settle(true);
    cubc_status st = write_calls(10.0);
    *lost = calls_beyond();
    calls_forget();
    drop();
    return st;
}

cubc_status recording_end(uint64_t *lost)
{
    *lost = 0;
    pthread_mutex_lock(&lock);
    cubc_status st = path && process == getpid() ? end(lost) : CUBC_OK;
    pthread_mutex_unlock(&lock);
    return st;
}

void recording_forget(void)
{
    calls_forget_in_child();
    drop();
}
