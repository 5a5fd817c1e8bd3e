// The base of the core: the last error, checked allocation, texts, files, hashes, forks, threads,
// the time and interruption. Each has a file of its name.
//
// The error idiom of the core: a fallible function returns cubc_status and, when it fails, has set
// the thread's last error exactly once, at the place that knew what went wrong:
//     FAIL(CUBC_INVALID_ARGUMENT, "n is %d, must be positive", n);
// and everybody above passes it on:
//     TRY(cubc_alloc(device, bytes, stream, &pointer));
// A function that owns something uses GUARD and one exit label:
//     GUARD(st, cubc_copy(...), done);   ...   done: free(...); return st;
#ifndef CUBC_BASE_H
#define CUBC_BASE_H

#include "cubc/core.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Code and Python exception: with a dot in front one of cubc's, with its documentation; else
// Python's.
#define STATUS_TABLE(X)                                                                    \
    X(CUBC_OK, "", NULL)                                                                   \
    X(CUBC_INVALID_ARGUMENT, "ValueError", NULL)                                           \
    X(CUBC_INVALID_TYPE, "TypeError", NULL)                                                \
    X(CUBC_NOT_FOUND, "LookupError", NULL)                                                 \
    X(CUBC_NO_MEMORY, "MemoryError", NULL)                                                 \
    X(CUBC_NO_DEVICE_MEMORY, ".DeviceMemoryError", "The memory of a device is exhausted.") \
    X(CUBC_NO_DEVICE, ".NoDeviceError",                                                    \
      "A device does not exist, or its driver, runtime or compiler is missing.")           \
    X(CUBC_DEVICE_ERROR, ".DeviceError",                                                   \
      "The driver or the runtime of a device reported an error.")                          \
    X(CUBC_KERNEL_FAULT, ".KernelFault",                                                   \
      "A kernel did something illegal: a bad address, a divergent barrier, ...")           \
    X(CUBC_COMPILE_ERROR, ".CompileError",                                                 \
      "A kernel does not compile; log is the compiler's output.")                          \
    X(CUBC_NO_RESOURCES, ".ResourceError",                                                 \
      "A variant needs more registers, shared memory or threads than there are.")          \
    X(CUBC_TIMEOUT, "TimeoutError", NULL)                                                  \
    X(CUBC_INTERRUPTED, "KeyboardInterrupt", NULL)                                         \
    X(CUBC_IO_ERROR, "OSError", NULL)                                                      \
    X(CUBC_STORE_ERROR, ".StoreError",                                                     \
      "A store is corrupt, locked, read-only or of a newer version.")                      \
    X(CUBC_OUT_OF_BOUNDS, "IndexError", NULL)                                              \
    X(CUBC_INTERNAL, "SystemError", NULL)

#if defined(__GNUC__)
#define PRINTF_LIKE(at, first) __attribute__((format(printf, at, first)))
#define MAY_BE_UNUSED __attribute__((unused))
#else
#define PRINTF_LIKE(at, first)
#define MAY_BE_UNUSED
#endif

// ---- last error -------------------------------------------------------------------------------
cubc_status error_set(const char *file, int line, cubc_status status, const char *format, ...)
    PRINTF_LIKE(4, 5);
void error_set_log(const char *text, size_t length); // attach compiler output to the last error
// The first line of a compiler's log that reports an error, for a message.
void error_line(const char *log, char *line, size_t size);
void error_prefix(const char *format, ...)
    PRINTF_LIKE(1, 2);                 // puts what was being done in front of the message
void error_suffix(const char *advice); // puts it behind the message
void error_clear(void);
const char *error_origin(void); // "file.c:123" of the last failure
const char *status_exception(cubc_status status);
const char *status_exception_doc(cubc_status status); // NULL: the exception is Python's own

// Returns `status` and not the result of the call, so that the analyzer sees that it is a failure.
#define FAIL(status, ...) return (error_set(__FILE__, __LINE__, (status), __VA_ARGS__), (status))
#define TRY(call)                            \
    do {                                     \
        cubc_status try_status_ = (call);    \
        if (try_status_) return try_status_; \
    } while (0)
#define GUARD(status, call, label) \
    do {                           \
        (status) = (call);         \
        if (status) goto label;    \
    } while (0)
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

// ---- memory -----------------------------------------------------------------------------------
// NULL on failure, with the last error set to CUBC_NO_MEMORY. Sizes are checked for overflow.
void *mem_alloc(size_t count, size_t size); // uninitialised
void *mem_zalloc(size_t count, size_t size);
void *mem_realloc(void *old, size_t count, size_t size); // old stays valid on failure
// A list of `count` items with room for one more, *room in all; it may have moved. NULL on failure,
// and the old list stays valid.
void *mem_grow(void *list, size_t count, size_t *room, size_t size);
char *mem_strdup(const char *text);
void mem_free(void *pointer);
// Makes the n-th allocation from now on fail (0: none), for tests.
void mem_fail_at(long nth);
long mem_outstanding(void); // allocations that were not freed

// ---- texts --------------------------------------------------------------------------------------
// A growing text. After a failed append it stays valid and `failed` is set, so that a series of
// appends is checked once, with text_done.
typedef struct text {
    char *data; // NUL-terminated once anything was appended; NULL before
    size_t length, capacity;
    bool failed;
} text;
void text_append(text *t, const char *bytes, size_t length);
void text_puts(text *t, const char *string);
void text_printf(text *t, const char *format, ...) PRINTF_LIKE(2, 3);
cubc_status text_done(const text *t); // CUBC_NO_MEMORY if any append failed
void text_free(text *t);

// Copies a string as far as there is room, and no part of a character of UTF-8.
void copy_cut(const char *from, char *to, size_t size);

// ---- files --------------------------------------------------------------------------------------
cubc_status file_read(const char *path, text *out);          // all of it
bool file_write(int file, const void *bytes, size_t length); // all of it; errno says why not
// Returns how many bytes were read. Where they are fewer than asked errno is 0 at the end of the
// file, or says what failed.
size_t file_read_at(int file, uint64_t at, void *to, size_t bytes);

// ---- hashes -----------------------------------------------------------------------------------
typedef struct sha256 {
    uint32_t state[8];
    uint64_t length;
    uint8_t block[64];
} sha256;
void sha256_begin(sha256 *h);
void sha256_add(sha256 *h, const void *bytes, size_t length);
void sha256_end(sha256 *h, uint8_t digest[32]);
void sha256_end_hex(sha256 *h, char hex[65]); // in lower-case hexadecimal
void sha256_hex(const void *bytes, size_t length, char hex[65]);
uint64_t hash64(const void *bytes, size_t length); // FNV-1a, for tables in memory
uint64_t serial_number(void);                      // one that no other call in this process gets

// ---- fork ---------------------------------------------------------------------------------------
// A child of fork has only the forking thread; locks that others held would stay locked for ever.
// Registered locks are free in the child.
typedef struct fork_entry { // of the list of them; it stays where it is while it is registered
    pthread_mutex_t *lock;
    struct fork_entry *next;
} fork_entry;
void fork_register(fork_entry *entry, pthread_mutex_t *lock);
void fork_unregister(fork_entry *entry);
// Makes a lock that refuses the thread that has it, as a signal handler may ask again: EDEADLK of
// pthread_mutex_lock and of pthread_mutex_timedlock.
void lock_make_checking(pthread_mutex_t *lock);
unsigned fork_count(void); // forks between the first process and this one
// Fails in a child that a signal handler has forked since fork_count() was `before`, while the call
// waited: it has neither the threads nor the processes that the call has started, and what lies in
// files is its parent's. `during` names the call: "a compilation".
cubc_status fork_refuse(unsigned before, const char *during);
// A random number of this process, which tells it from others also where each container counts its
// own process numbers.
uint64_t process_token(void);
// A number of this host in its present run, from the file of its boot id; without one that of its
// name. 0: neither is known.
uint64_t host_token(void);
uint64_t host_token_of(const char *boot_id);
#define FORK_SAFE_MUTEX(name)                                         \
    static pthread_mutex_t name = PTHREAD_MUTEX_INITIALIZER;          \
    static fork_entry name##_entry;                                   \
    static void name##_registered(void) __attribute__((constructor)); \
    static void name##_registered(void)                               \
    {                                                                 \
        fork_register(&name##_entry, &name);                          \
    }                                                                 \
    static pthread_mutex_t name

// ---- threads ------------------------------------------------------------------------------------
// Starts a thread that takes no signals of the program. 0, or the error of pthread_create.
int thread_start(pthread_t *out, void *(*work)(void *), void *argument);

// ---- time and interruption --------------------------------------------------------------------
double now_seconds(void); // monotonic
void nap(double seconds); // sleeps for about as long; a signal ends it early
// Set by the Python layer: true when the user pressed Ctrl-C. Long waits poll it (about 20 times a
// second) and return CUBC_INTERRUPTED. Safe to call from any thread; false when nobody set it.
typedef bool (*interrupt_hook)(void);
void interrupt_set_hook(interrupt_hook hook);
bool interrupt_pending(void);
// Takes a lock that checks for errors (lock_make_checking), however long another thread has it.
// Fails with `own` where this thread has it already.
cubc_status lock_or_interrupted(pthread_mutex_t *lock, const char *own);
// Ends waits of this thread also when the byte becomes other than 0. NULL: no byte is watched.
// Returns what was watched before, to be watched again afterwards.
const volatile char *interrupt_watch(const volatile char *flag);

#endif
