// The processor that kernels are compiled for: see cpu_target.h.
#include "device/cpu/cpu_target.h"

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
static void describe_processor(text *t)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[4096];
    text_puts(t, portable);
    while (file && fgets(line, sizeof line, file) && line[0] != '\n')
        if (!strncmp(line, "model name", 10) || !strncmp(line, "flags", 5) ||
            !strncmp(line, "Features", 8) || !strncmp(line, "CPU ", 4))
            text_puts(t, line);
    if (file) fclose(file);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char own[TARGET_BYTES]; // "": there was no memory

static void name_this_processor(void)
{
    text all = {0};
    describe_processor(&all);
    if (!text_done(&all)) sha256_hex(all.data, all.length, own);
    text_free(&all);
}

static cubc_status this_processor(char name[TARGET_BYTES])
{
    pthread_once(&once, name_this_processor);
    memcpy(name, own, sizeof own);
    return own[0] ? CUBC_OK : CUBC_NO_MEMORY;
}

cubc_status cpu_target_name(char name[TARGET_BYTES])
{
    if (!wants_portable()) return this_processor(name);
    snprintf(name, TARGET_BYTES, "%s", portable);
    return CUBC_OK;
}

bool cpu_target_runs(const char *name)
{
    pthread_once(&once, name_this_processor);
    return strcmp(name, portable) == 0 || (own[0] && strcmp(name, own) == 0);
}
