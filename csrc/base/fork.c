// A child of fork: its locks are free, and it is told from its parent. See base.h.
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static fork_entry *registered; // a list that is whole whenever another thread forks
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint forks;
static atomic_ullong token; // 0: not drawn yet

static void after_fork(void)
{
    pthread_mutex_init(&registry, NULL);
    for (fork_entry *e = registered; e; e = e->next) pthread_mutex_init(e->lock, NULL);
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

void fork_register(fork_entry *entry, pthread_mutex_t *lock)
{
    pthread_mutex_lock(&registry);
    *entry = (fork_entry){.lock = lock, .next = registered};
    __atomic_store_n(&registered, entry, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&registry);
}

void fork_unregister(fork_entry *entry)
{
    fork_entry **link = &registered;
    pthread_mutex_lock(&registry);
    while (*link && *link != entry) link = &(*link)->next;
    if (*link) __atomic_store_n(link, entry->next, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&registry);
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

cubc_status fork_refuse(unsigned before, const char *during)
{
    if (fork_count() == before) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT,
         "a signal handler forked during %s, which its parent goes on with: repeat the call in the "
         "child",
         during);
}
