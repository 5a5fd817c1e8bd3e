// The list of notes: see notes.h.
#include "run/notes.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NOTES = 256 };

typedef struct note {
    struct note *next;
    char text[];
} note;

FORK_SAFE_MUTEX(lock); // guards what follows
static uint64_t known[MOST_NOTES];
static size_t known_count;
static note *first, **end = &first;
static atomic_bool there;

// Needs the lock. False if the note was put before, or there are too many.
static bool is_new(const char *text)
{
    uint64_t hash = hash64(text, strlen(text));
    for (size_t k = 0; k < known_count; k++)
        if (known[k] == hash) return false;
    if (known_count == MOST_NOTES) return false;
    known[known_count++] = hash;
    return true;
}

static void append(const char *text)
{
    note *new = mem_alloc(1, sizeof *new + strlen(text) + 1);
    if (!new) return;
    new->next = NULL;
    strcpy(new->text, text);
    *end = new;
    end = &new->next;
    atomic_store(&there, true);
}

void note_put(const char *format, ...)
{
    char text[NOTE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&lock);
    if (is_new(text)) append(text);
    pthread_mutex_unlock(&lock);
}

bool note_is_there(void)
{
    return atomic_load_explicit(&there, memory_order_relaxed);
}

bool note_take(char out[NOTE_BYTES])
{
    pthread_mutex_lock(&lock);
    note *oldest = first;
    if (oldest) {
        first = oldest->next;
        if (!first) end = &first;
        atomic_store(&there, first != NULL);
    }
    pthread_mutex_unlock(&lock);
    if (!oldest) return false;
    strcpy(out, oldest->text);
    mem_free(oldest);
    return true;
}
