// A child of fork: its locks are free, and it is told from its parent. See base.h.
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
