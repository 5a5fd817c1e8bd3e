// The writer of recorded calls: see recording.h.
#define _GNU_SOURCE // pipe2
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
#include <unistd.h>

static const double store_wait_s = 1.0; // for another process, while the program runs
static const double long_wait_s = 10.0; // the same as it begins and ends
enum { ROOM = 1024, LOOKS = 50 };       // of a text; milliseconds between two looks at interrupts

// A call as the store has it by now.
typedef struct written {
    uint64_t count;
    int timed, round;
    bool there;
} written;

typedef enum message { QUIT = 'q', TERMINATE = 't' } message;

// Whoever changes NONE to BEGINNING, or ON to ENDING, owns the variables below until he sets NONE
// or ON. A lock would keep handlers of signals waiting for what they interrupt; this refuses them.
typedef enum life { NONE, BEGINNING, ON, ENDING } life;

static _Atomic life state;
static _Atomic uint64_t owner; // the number that its caller gave the recording
static char *path;
static int milliseconds;
static pthread_t writer;
static char hurry;           // watched by the writer: how many want its wait for the store to end
static atomic_bool given_up; // by who waits for the writer; counted in `hurry`
static atomic_bool answered; // by the writer, once the store is checked and once all is written
static cubc_status answer;
static char reason[ROOM];
static written *all; // the writer's, in the order of calls_after
static size_t room;
static int round_of_new;
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

// Another process may be writing the same, or the file may be another one by now: rows of other
// recordings are not changed. A merge moves those of this one to later rounds.
static cubc_status put_row(store *s, store_row *row, bool is_there)
{
    bool put = false;
    if (!is_there) row->round = round_of_new;
    for (;; row->round++) {
        TRY(store_put_calls(s, row, &put));
        if (put) break;
    }
    if (!is_there) round_of_new = row->round;
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
    TRY(put_row(s, &row, w->there));
    new.round = row.round;
    *w = new;
    return CUBC_OK;
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

// Nobody forks while it is held: a child would find SQLite's own locks as the writer has them. No
// thread of the program writes: its waits for the store would run handlers, which may fork. A fork
// does not wait for as long as the store is another process's: the writer makes way, and tries
// again.
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void)
{
    __atomic_add_fetch(&hurry, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&writing);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&writing);
    __atomic_sub_fetch(&hurry, 1, __ATOMIC_RELAXED);
}

static void after_fork_in_child(void)
{
    pthread_mutex_unlock(&writing);
    hurry = 0; // without those of threads that it does not have
    atomic_store(&given_up, false);
}

static void watch_forks(void) __attribute__((constructor));
static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

// The store is open no longer than it is written: a copy of the file is whole in between. A
// check writes nothing.
static cubc_status write_calls(double wait, bool check, bool in_hurry)
{
    store *s = NULL;
    pthread_mutex_lock(&writing);
    if (in_hurry) interrupt_watch(&hurry);
    cubc_status st = check ? store_open_within(path, STORE_CREATE, wait, &s) : write_new(&s, wait);
    store_close(s);
    interrupt_watch(NULL);
    pthread_mutex_unlock(&writing);
    return st;
}

// The same, again after each fork. Whoever gives up ends waits for the store, and no writing.
static cubc_status write_for_sure(bool check)
{
    const double until = now_seconds() + long_wait_s;
    for (;;) {
        const bool last = atomic_load(&given_up);
        const double left = last ? 0 : until - now_seconds();
        cubc_status st = write_calls(left > 0 ? left : 0, check, !last);
        if (st != CUBC_INTERRUPTED || last) return st;
        nap(0.001); // for the fork to take its turn
    }
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
    for (int waited = 0; waited < milliseconds && !atomic_load(&quitting); waited += STEP_MS)
        nap(1e-3 * STEP_MS);
}

static message next_message(void)
{
    struct pollfd ready = {.fd = inbox, .events = POLLIN};
    unsigned char byte = 0;
    ssize_t got = 0; // as of a pipe whose other end is closed
    if (is_box(inbox) && (got = poll(&ready, 1, milliseconds)) > 0) got = read(inbox, &byte, 1);
    if (got == 0 && (ready.revents & POLLHUP || !is_box(inbox))) wait_without_box();
    if (got == 1) return byte;
    return atomic_load(&quitting) ? QUIT : 0;
}

static void terminate(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(SIGTERM); // which nobody handles now, unless the program does since
}

static cubc_status reply(cubc_status st)
{
    answer = st;
    snprintf(reason, sizeof reason, "%s", cubc_error_message());
    atomic_store(&answered, true);
    return st;
}

static void *write_often(void *unused)
{
    message told;
    (void)unused;
    if (reply(write_for_sure(true))) return NULL;
    while ((told = next_message()) != QUIT) {
        calls_settle(false);
        // Rows that fail are written the next time, if there is one.
        if (told == TERMINATE) {
            (void)write_for_sure(false);
            terminate();
        } else {
            (void)write_calls(store_wait_s, false, true);
        }
    }
    calls_settle(true);
    reply(write_for_sure(false));
    return NULL;
}

static cubc_status start_writer(void)
{
    atomic_store(&quitting, false);
    atomic_store(&answered, false);
    int failed = thread_start(&writer, write_often, NULL);
    if (failed) FAIL(CUBC_NO_MEMORY, "no thread for the recording: %s", strerror(failed));
    return CUBC_OK;
}

// Handlers of signals run meanwhile, and one may fork: the child has no writer, and its recording
// is forgotten.
static cubc_status await_writer(unsigned forks)
{
    bool interrupted = false;
    for (int waited = 1; fork_count() == forks && !atomic_load(&answered); waited++) {
        nap(0.001);
        if (waited % LOOKS || !interrupt_pending()) continue;
        interrupted = true;
        if (fork_count() == forks && !atomic_exchange(&given_up, true))
            __atomic_add_fetch(&hurry, 1, __ATOMIC_RELAXED);
    }
    if (interrupted) FAIL(CUBC_INTERRUPTED, "interrupted while a recording waited for its store");
    if (fork_count() != forks || !answer) return CUBC_OK;
    FAIL(answer, "%s", reason);
}

static void join_writer(void)
{
    pthread_join(writer, NULL);
    if (atomic_exchange(&given_up, false)) __atomic_sub_fetch(&hurry, 1, __ATOMIC_RELAXED);
}

static void tell_to_quit(void)
{
    char byte = QUIT;
    atomic_store(&answered, false);
    atomic_store(&quitting, true);
    while (is_box(outbox) && write(outbox, &byte, 1) < 0 && errno == EINTR) {
    }
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

// One that came as the writer ended, which no longer listened.
static bool was_terminated(void)
{
    char byte;
    bool found = false;
    give_signal_back();
    while (is_box(inbox) && read(inbox, &byte, 1) == 1) found |= byte == TERMINATE;
    return found;
}

// ---- life ---------------------------------------------------------------------------------------
static void close_boxes(void)
{
    int in = inbox, out = outbox;
    inbox = outbox = -1;
    if (is_box(in)) close(in);
    if (is_box(out)) close(out);
}

static void detach(void)
{
    give_signal_back();
    close_boxes();
    path = NULL;
    all = NULL;
    room = 0;
    atomic_store(&state, NONE);
}

static void drop(void)
{
    char *old_path = path;
    written *old = all;
    detach();
    mem_free(old_path);
    mem_free(old);
}

static cubc_status open_boxes(void)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) || fstat(ends[0], &boxes))
        FAIL(CUBC_IO_ERROR, "no pipe for the recording: %s", strerror(errno));
    inbox = ends[0];
    outbox = ends[1];
    return CUBC_OK;
}

static bool change(life from, life to)
{
    return atomic_compare_exchange_strong(&state, &from, to);
}

static cubc_status begin(const char *name, double seconds, bool keys)
{
    const unsigned forks = fork_count();
    cubc_status st = CUBC_NO_MEMORY;
    path = mem_strdup(name);
    if (!path) goto failed;
    milliseconds = seconds < 1e6 ? (int)(1e3 * seconds) : (int)1e9;
    round_of_new = 0;
    process = getpid();
    snprintf(identity, sizeof identity, "recording %llu of process %016llx",
             (unsigned long long)atomic_load(&owner), (unsigned long long)process_token());
    GUARD(st, open_boxes(), failed);
    GUARD(st, start_writer(), failed);
    st = await_writer(forks);
    if (fork_count() != forks) return st;
    if (st) goto quit;
    GUARD(st, calls_record(keys), quit);
    take_signal();
    atomic_store(&state, ON);
    return CUBC_OK;
quit: // a writer that could not use the store has ended by itself
    tell_to_quit();
    join_writer();
failed:
    drop();
    return st;
}

cubc_status recording_begin(const char *name, double seconds, bool keys, uint64_t number)
{
    if (!change(NONE, BEGINNING)) FAIL(CUBC_INVALID_ARGUMENT, "calls are recorded already");
    atomic_store(&owner, number);
    return begin(name, seconds, keys);
}

static cubc_status end(uint64_t *lost)
{
    const unsigned forks = fork_count();
    calls_stop();
    tell_to_quit();
    cubc_status st = await_writer(forks);
    if (fork_count() != forks) return st;
    join_writer();
    *lost = calls_beyond();
    calls_forget();
    const bool terminated = was_terminated();
    drop();
    if (terminated) kill(getpid(), SIGTERM);
    return st;
}

cubc_status recording_end(uint64_t number, uint64_t *lost)
{
    *lost = 0;
    if (process != getpid() || atomic_load(&owner) != number || !change(ON, ENDING)) return CUBC_OK;
    return end(lost);
}

void recording_forget(void)
{
    calls_forget_in_child();
    detach(); // what another thread was freeing at the fork is left
}
