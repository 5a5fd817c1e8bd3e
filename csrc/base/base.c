// Errors, memory, strings, hashes: see base.h. The one place where the core touches malloc.
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

// ---- last error -------------------------------------------------------------------------------
// A buffer a thread, made with its first failure and freed when it ends. It is not thread-local
// storage: 18 KB of that would keep the library from being loaded into a running process.
typedef struct last_error {
    char message[2048];
    char place[64];
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

#define STATUS_NAME(code, exception, text) {#code, exception, text},
static const struct {
    const char *name, *exception, *text;
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
    snprintf(last->place, sizeof last->place, "%s:%d", base ? base + 1 : file, line);
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
    last->message[0] = last->place[0] = last->log[0] = '\0';
}

const char *error_place(void)
{
    return readable_last()->place;
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
    if (t->failed) return false;
    if (more < SIZE_MAX - t->length && t->length + more + 1 <= t->capacity) return true;
    size_t capacity = t->capacity ? t->capacity : 256;
    while (capacity < t->length + more + 1) capacity *= 2;
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

cubc_status file_read(const char *path, text *out)
{
    char buffer[16384];
    size_t got;
    FILE *file = fopen(path, "rb");
    if (!file) FAIL(CUBC_IO_ERROR, "cannot open %s: %s", path, strerror(errno));
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0) text_append(out, buffer, got);
    bool broken = ferror(file);
    fclose(file);
    if (broken) FAIL(CUBC_IO_ERROR, "cannot read %s: %s", path, strerror(errno));
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
    unsigned best = (unsigned)(strlen(name) / 3) + 3; // farther than that is no likeness
    for (size_t i = 0; i < count; i++) {
        unsigned distance = edit_distance(name, names[i]);
        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

// ---- hashes (SHA-256: FIPS 180-4) ---------------------------------------------------------------
static const uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void sha256_compress(uint32_t state[8], const uint8_t block[64])
{
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
        uint32_t t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + sha256_k[i] + w[i];
        uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
        uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) state[i] += v[i];
}

void sha256_begin(sha256 *h)
{
    *h = (sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                            0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(sha256 *h, const void *bytes, size_t length)
{
    const uint8_t *p = bytes;
    size_t filled = h->length % 64;
    h->length += length;
    while (length) {
        size_t take = 64 - filled < length ? 64 - filled : length;
        memcpy(h->block + filled, p, take);
        p += take;
        length -= take;
        filled += take;
        if (filled == 64) {
            sha256_compress(h->state, h->block);
            filled = 0;
        }
    }
}

void sha256_end(sha256 *h, uint8_t digest[32])
{
    uint64_t bits = h->length * 8;
    uint8_t tail[72] = {0x80};
    size_t padding = (h->length % 64 < 56 ? 56 : 120) - h->length % 64;
    for (int i = 0; i < 8; i++) tail[padding + i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_add(h, tail, padding + 8);
    for (int i = 0; i < 32; i++) digest[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_hex(const void *bytes, size_t length, char hex[65])
{
    sha256 h;
    uint8_t digest[32];
    sha256_begin(&h);
    sha256_add(&h, bytes, length);
    sha256_end(&h, digest);
    for (int i = 0; i < 32; i++) {
        hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    hex[64] = '\0';
}

uint64_t hash64(const void *bytes, size_t length)
{
    const uint8_t *p = bytes;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++) h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

// ---- fork ---------------------------------------------------------------------------------------
enum { MOST_LOCKS = 128 }; // a lock beyond them is not repaired, nothing else
static pthread_mutex_t *registered[MOST_LOCKS];
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint forks;

static void after_fork(void)
{
    pthread_mutex_init(&registry, NULL);
    for (int i = 0; i < MOST_LOCKS; i++)
        if (registered[i]) pthread_mutex_init(registered[i], NULL);
    atomic_fetch_add(&forks, 1);
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
