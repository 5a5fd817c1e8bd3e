// The processor that kernels are compiled for: see cpu_target.h.
#include "device/cpu/cpu_target.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
static const char portable[] = "portable x86_64";
static const char oldest[] = "-march=x86-64 -mtune=generic";
#elif defined(__aarch64__)
static const char portable[] = "portable aarch64";
static const char oldest[] = "-march=armv8-a";
#else // the compiler's default is what it says for all of them
static const char portable[] = "portable";
static const char oldest[] = "";
#endif

static bool wants_portable(void)
{
    const char *given = getenv("CUBC_CPU_PORTABLE");
    return given && *given && strcmp(given, "0") != 0;
}

const char *cpu_target_option(void)
{
    return wants_portable() ? oldest : "-march=native";
}

// One core's block of /proc/cpuinfo, less the lines that change by themselves, tells two kinds
// apart.
static cubc_status describe_processor(text *t)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[4096];
    if (!file)
        FAIL(CUBC_IO_ERROR,
             "cannot open /proc/cpuinfo, which tells this processor from others: %s; "
             "CUBC_CPU_PORTABLE=1 compiles for all",
             strerror(errno));
    text_puts(t, portable);
    while (fgets(line, sizeof line, file) && line[0] != '\n')
        if (!strncmp(line, "model name", 10) || !strncmp(line, "flags", 5) ||
            !strncmp(line, "Features", 8) || !strncmp(line, "CPU ", 4))
            text_puts(t, line);
    fclose(file);
    return text_done(t);
}

FORK_SAFE_MUTEX(lock);
static char own[TARGET_BYTES]; // with the lock; "": not known yet

static cubc_status name_this_processor(void)
{
    text all = {0};
    cubc_status st = describe_processor(&all);
    if (!st) sha256_hex(all.data, all.length, own);
    text_free(&all);
    return st;
}

static cubc_status this_processor(char name[TARGET_BYTES])
{
    pthread_mutex_lock(&lock);
    cubc_status st = own[0] ? CUBC_OK : name_this_processor();
    memcpy(name, own, sizeof own);
    pthread_mutex_unlock(&lock);
    return st;
}

cubc_status cpu_target_name(char name[TARGET_BYTES])
{
    if (!wants_portable()) return this_processor(name);
    snprintf(name, TARGET_BYTES, "%s", portable);
    return CUBC_OK;
}

bool cpu_target_runs(const char *name)
{
    char here[TARGET_BYTES];
    if (strcmp(name, portable) == 0) return true;
    if (!this_processor(here)) return strcmp(name, here) == 0;
    error_clear(); // code for all processors runs, and no other is known to
    return false;
}
