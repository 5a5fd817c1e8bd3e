// The lines of the log that wait for a reader: see log.h. They are in a ring and not in memory of
// their own: most programs never take them.
#include "base/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = 128 };

typedef struct line {
    log_kind kind;
    char text[LOG_BYTES];
} line;

FORK_SAFE_MUTEX(lock); // guards what follows
static line lines[ROOM];
static unsigned oldest, count;
static atomic_bool there;

void log_put(log_kind kind, const char *format, ...)
{
    va_list arguments;
    pthread_mutex_lock(&lock);
    if (count == ROOM) {
        oldest = (oldest + 1) % ROOM;
        count--;
    }
    line *new = &lines[(oldest + count++) % ROOM];
    new->kind = kind;
    va_start(arguments, format);
    vsnprintf(new->text, sizeof new->text, format, arguments);
    va_end(arguments);
    atomic_store(&there, true);
    pthread_mutex_unlock(&lock);
}

bool log_is_there(void)
{
    return atomic_load_explicit(&there, memory_order_relaxed);
}

bool log_take(log_kind *kind, char out[LOG_BYTES])
{
    pthread_mutex_lock(&lock);
    bool found = count > 0;
    if (found) {
        *kind = lines[oldest].kind;
        memcpy(out, lines[oldest].text, LOG_BYTES);
        oldest = (oldest + 1) % ROOM;
        count--;
    }
    atomic_store(&there, count > 0);
    pthread_mutex_unlock(&lock);
    return found;
}
