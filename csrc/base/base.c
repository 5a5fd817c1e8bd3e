// The version, errors, memory, strings, fork and time: see base.h. The one place where the core
// touches malloc.
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "base/base.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *cubc_version(void)
{
    return CUBC_VERSION;
}

// ---- last error -------------------------------------------------------------------------------
// A buffer a thread, made with its first failure and freed when it ends. It is not thread-local
// storage: 18 KB of that would keep the library from being loaded into a running process.
typedef struct last_error {
    char message[2048];
    char origin[64];
    char log[16384];
} last_error;
static pthread_key_t last_key;
static pthread_once_t last_once = PTHREAD_ONCE_INIT;
static const last_error nothing;
static last_error shared_last; // of threads for which there is no memory

static void make_last_key(void)
{
    pthread_key_create(&last_key, free);
}

static last_error *writable_last(void)
{
    pthread_once(&last_once, make_last_key);
    last_error *last = pthread_getspecific(last_key);
    if (last) return last;
    last = calloc(1, sizeof *last);
    if (!last) return &shared_last;
    pthread_setspecific(last_key, last);
    return last;
}

static const last_error *readable_last(void)
{
    pthread_once(&last_once, make_last_key);
    const last_error *last = pthread_getspecific(last_key);
    return last ? last : shared_last.message[0] ? &shared_last : &nothing;
}

#define STATUS_NAME(code, exception, doc) {#code, exception, doc},
static const struct {
    const char *name, *exception, *doc;
} status_table[] = {STATUS_TABLE(STATUS_NAME)};
_Static_assert(COUNT_OF(status_table) == CUBC_INTERNAL + 1, "STATUS_TABLE lists every status");

cubc_status error_set(const char *file, int line, cubc_status status, const char *format, ...)
{
    const char *base = strrchr(file, '/');
    last_error *last = writable_last();
    va_list arguments;
    char message[sizeof last->message]; // the arguments may point into the last message
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    memcpy(last->message, message, sizeof message);
    snprintf(last->origin, sizeof last->origin, "%s:%d", base ? base + 1 : file, line);
    last->log[0] = '\0';
    return status;
}

void error_line(const char *log, char *line, size_t size)
{
    const char *hit = strstr(log, "error: ");
    if (!hit) hit = strstr(log, "error"); // "ptxas error   : "
    if (!hit) hit = log;
    while (hit > log && hit[-1] != '\n') hit--;
    snprintf(line, size, "%.*s", (int)strcspn(hit, "\n"), hit);
}

void error_prefix(const char *format, ...)
{
    last_error *last = writable_last();
    char prefix[512], message[sizeof last->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(prefix, sizeof prefix, format, arguments);
    va_end(arguments);
    memcpy(message, last->message, sizeof message);
    size_t used = strlen(prefix);
    memcpy(last->message, prefix, used);
    snprintf(last->message + used, sizeof last->message - used, "%.*s",
             (int)(sizeof last->message - used - 1), message);
}

void error_set_log(const char *text, size_t length)
{
    last_error *last = writable_last();
    if (length >= sizeof last->log) length = sizeof last->log - 1;
    memcpy(last->log, text, length);
    last->log[length] = '\0';
}

void error_clear(void)
{
    last_error *last = writable_last();
    last->message[0] = last->origin[0] = last->log[0] = '\0';
}

const char *error_origin(void)
{
    return readable_last()->origin;
}

const char *cubc_error_message(void)
{
    return readable_last()->message;
}

const char *cubc_error_log(void)
{
    return readable_last()->log;
}

const char *cubc_status_name(cubc_status status)
{
    return (unsigned)status < COUNT_OF(status_table) ? status_table[status].name : "CUBC_?";
}

const char *status_exception(cubc_status status)
{
    return (unsigned)status < COUNT_OF(status_table) ? status_table[status].exception
                                                     : "SystemError";
}

const char *status_exception_doc(cubc_status status)
{
    return (unsigned)status < COUNT_OF(status_table) ? status_table[status].doc : NULL;
}

// ---- memory -----------------------------------------------------------------------------------
static atomic_long fail_countdown; // 0: off
static atomic_long outstanding;

static bool should_fail(void)
{
    if (atomic_load_explicit(&fail_countdown, memory_order_relaxed) == 0) return false;
    return atomic_fetch_sub(&fail_countdown, 1) == 1;
}

static bool checked_size(size_t count, size_t size, size_t *bytes)
{
    *bytes = count * size;
    if (size && count > SIZE_MAX / size) return false;
    if (*bytes == 0) *bytes = 1; // NULL means failure and nothing else
    return true;
}

static void *out_of_memory(size_t count, size_t size)
{
    error_set(__FILE__, __LINE__, CUBC_NO_MEMORY, "out of host memory: %zu times %zu bytes", count,
              size);
    return NULL;
}

void *mem_alloc(size_t count, size_t size)
{
    return mem_realloc(NULL, count, size);
}

void *mem_zalloc(size_t count, size_t size)
{
    void *pointer = NULL;
    size_t bytes;
    if (checked_size(count, size, &bytes) && !should_fail()) pointer = calloc(1, bytes);
    if (!pointer) return out_of_memory(count, size);
    atomic_fetch_add_explicit(&outstanding, 1, memory_order_relaxed);
    return pointer;
}

void *mem_realloc(void *old, size_t count, size_t size)
{
    void *pointer = NULL;
    size_t bytes;
    if (checked_size(count, size, &bytes) && !should_fail()) pointer = realloc(old, bytes);
    if (!pointer) return out_of_memory(count, size);
    if (!old) atomic_fetch_add_explicit(&outstanding, 1, memory_order_relaxed);
    return pointer;
}

void *mem_grow(void *list, size_t count, size_t *room, size_t size)
{
    const size_t more = count ? 2 * count : 16;
    if (count < *room) return list;
    void *grown = mem_realloc(list, more, size);
    if (grown) *room = more;
    return grown;
}

char *mem_strdup(const char *string)
{
    size_t bytes = strlen(string) + 1;
    char *copy = mem_alloc(bytes, 1);
    if (copy) memcpy(copy, string, bytes);
    return copy;
}

void mem_free(void *pointer)
{
    if (!pointer) return;
    atomic_fetch_sub_explicit(&outstanding, 1, memory_order_relaxed);
    free(pointer);
}

void mem_fail_at(long nth)
{
    atomic_store(&fail_countdown, nth > 0 ? nth : 0);
}

long mem_outstanding(void)
{
    return atomic_load(&outstanding);
}

// ---- strings ----------------------------------------------------------------------------------
static bool text_reserve(text *t, size_t more)
{
    const size_t needed = t->length + more + 1;
    size_t capacity = t->capacity ? t->capacity : 256;
    if (t->failed) return false;
    if (needed <= t->capacity) return true;
    while (capacity < needed) capacity *= 2;
    char *data = mem_realloc(t->data, capacity, 1);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->capacity = capacity;
    return true;
}

void text_append(text *t, const char *bytes, size_t length)
{
    if (!text_reserve(t, length)) return;
    memcpy(t->data + t->length, bytes, length);
    t->length += length;
    t->data[t->length] = '\0';
}

void text_puts(text *t, const char *string)
{
    text_append(t, string, strlen(string));
}

void text_printf(text *t, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        t->failed = true;
    else if (text_reserve(t, (size_t)length)) {
        vsnprintf(t->data + t->length, (size_t)length + 1, format, again);
        t->length += (size_t)length;
    }
    va_end(again);
}

cubc_status text_done(const text *t)
{
    return t->failed ? CUBC_NO_MEMORY : CUBC_OK; // the failed append has set the message
}

void text_free(text *t)
{
    mem_free(t->data);
    *t = (text){0};
}

void copy_cut(const char *from, char *to, size_t size)
{
    size_t length = strlen(from);
    if (length >= size) {
        length = size - 1;
        while (length > 0 && ((unsigned char)from[length] & 0xc0) == 0x80) length--;
    }
    memcpy(to, from, length);
    to[length] = 0;
}

cubc_status file_read(const char *path, text *out)
{
    char buffer[16384];
    size_t got;
    FILE *file = fopen(path, "rb");
    if (!file) FAIL(CUBC_IO_ERROR, "cannot open %s: %s", path, strerror(errno));
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0) text_append(out, buffer, got);
    const int broken = ferror(file) ? errno : 0;
    fclose(file);
    if (broken) FAIL(CUBC_IO_ERROR, "cannot read %s: %s", path, strerror(broken));
    return text_done(out);
}

bool file_write(int file, const void *bytes, size_t length)
{
    for (const char *from = bytes; length > 0;) {
        ssize_t written = write(file, from, length);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        from += written;
        length -= (size_t)written;
    }
    return true;
}

size_t file_read_at(int file, uint64_t at, void *to, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t got = pread(file, (char *)to + done, bytes - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = 0;
        if (got <= 0) break;
        done += (size_t)got;
    }
    return done;
}

// Levenshtein distance, one row at a time; names longer than the row are not compared.
static unsigned edit_distance(const char *a, const char *b)
{
    unsigned row[64];
    size_t n = strlen(b);
    if (n >= COUNT_OF(row)) return UINT32_MAX;
    for (unsigned j = 0; j <= n; j++) row[j] = j;
    for (unsigned i = 0; a[i]; i++) {
        unsigned diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            unsigned best = diagonal + (a[i] != b[j]);
            if (row[j + 1] + 1 < best) best = row[j + 1] + 1;
            if (row[j] + 1 < best) best = row[j] + 1;
            diagonal = row[j + 1];
            row[j + 1] = best;
        }
    }
    return row[n];
}

const char *nearest_name(const char *name, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    unsigned best = (unsigned)(strlen(name) / 3) + 3; // names farther apart are not similar
    for (size_t i = 0; i < count; i++) {
        unsigned distance = edit_distance(name, names[i]);
        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

// ---- fork ---------------------------------------------------------------------------------------
enum { MOST_LOCKS = 128 }; // a lock beyond them is not repaired after a fork
static pthread_mutex_t *registered[MOST_LOCKS];
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint forks;
static atomic_ullong token; // 0: not drawn yet

static void after_fork(void)
{
    pthread_mutex_init(&registry, NULL);
    for (int i = 0; i < MOST_LOCKS; i++)
        if (registered[i]) pthread_mutex_init(registered[i], NULL);
    atomic_fetch_add(&forks, 1);
    atomic_store(&token, 0);
}

uint64_t process_token(void)
{
    unsigned long long drawn = 0, none = 0;
    FILE *file = atomic_load(&token) ? NULL : fopen("/dev/urandom", "rbe");
    if (file && fread(&drawn, sizeof drawn, 1, file) != 1) drawn = 0;
    if (file) fclose(file);
    if (!drawn) drawn = (unsigned long long)getpid(); // without the file, as well as can be
    atomic_compare_exchange_strong(&token, &none, drawn);
    return atomic_load(&token);
}

uint64_t host_token_of(const char *boot_id)
{
    char text[256] = "";
    FILE *file = fopen(boot_id, "re");
    if (file && !fgets(text, sizeof text, file)) text[0] = '\0';
    if (file) fclose(file);
    if (!text[0] && gethostname(text, sizeof text - 1)) text[0] = '\0';
    return text[0] ? hash64(text, strlen(text)) : 0;
}

uint64_t host_token(void)
{
    return host_token_of("/proc/sys/kernel/random/boot_id");
}

static void watch_forks(void) __attribute__((constructor));
static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

static void replace_registered(pthread_mutex_t *old, pthread_mutex_t *new)
{
    pthread_mutex_lock(&registry);
    for (int i = 0; i < MOST_LOCKS; i++)
        if (registered[i] == old) {
            registered[i] = new;
            break;
        }
    pthread_mutex_unlock(&registry);
}

void fork_register(pthread_mutex_t *lock)
{
    replace_registered(NULL, lock);
}

void fork_unregister(pthread_mutex_t *lock)
{
    replace_registered(lock, NULL);
}

void lock_make_checking(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

unsigned fork_count(void)
{
    return atomic_load_explicit(&forks, memory_order_relaxed);
}

// ---- time and interruption --------------------------------------------------------------------
double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static _Atomic(interrupt_hook) hook;

void interrupt_set_hook(interrupt_hook new_hook)
{
    atomic_store(&hook, new_hook);
}

static _Thread_local const volatile char *watched;

void interrupt_watch(const volatile char *flag)
{
    watched = flag;
}

bool interrupt_pending(void)
{
    if (watched && __atomic_load_n(watched, __ATOMIC_RELAXED)) return true;
    interrupt_hook pending = atomic_load(&hook);
    return pending && pending();
}
