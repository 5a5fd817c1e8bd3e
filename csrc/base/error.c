// The last error of each thread, with what a compiler printed: see base.h.
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void error_suffix(const char *advice)
{
    last_error *last = writable_last();
    const size_t used = strlen(last->message);
    snprintf(last->message + used, sizeof last->message - used, "%s", advice);
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
