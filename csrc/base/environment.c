// Environment variables: see environment.h.
#define _GNU_SOURCE // sched_getaffinity
#include "base/environment.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_THREADS = 1024 };

cubc_status environment_number(const char *name, uint64_t least, uint64_t most, uint64_t *value)
{
    const char *given = getenv(name);
    if (!given || !*given) return CUBC_OK;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(given, &end, 10);
    if (*end || errno || given[0] < '0' || given[0] > '9' || number < least || number > most)
        FAIL(CUBC_INVALID_ARGUMENT, "%s is \"%s\", must be a number from %llu to %llu", name, given,
             (unsigned long long)least, (unsigned long long)most);
    *value = number;
    return CUBC_OK;
}

static uint64_t usable_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return (uint64_t)CPU_COUNT(&set);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (uint64_t)cores : 1;
}

cubc_status environment_threads(int *out)
{
    uint64_t threads = usable_cores();
    TRY(environment_number("CUBC_CPU_THREADS", 1, MOST_THREADS, &threads));
    *out = (int)(threads < MOST_THREADS ? threads : MOST_THREADS);
    return CUBC_OK;
}
