// Describes this machine from /proc and /sys where they exist, else from what POSIX knows.
#define _GNU_SOURCE
#include "device/cpu/cpu_info.h"
#include "device/cpu/hostcc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

// As much as a block of the largest GPUs may have, so that their variants run here.
enum { SHARED_BYTES = 227 * 1024 };

// The first line of a small file, from behind `key` and its colon if a key is given.
static bool read_line(const char *path, const char *key, char *value, size_t size)
{
    char line[256];
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        const char *start = line;
        if (key) {
            if (strncmp(line, key, strlen(key)) != 0) continue;
            start = strchr(line, ':');
            if (!start) continue;
            start++;
        }
        start += strspn(start, " \t");
        snprintf(value, size, "%.*s", (int)strcspn(start, "\n"), start);
        found = value[0] != '\0';
    }
    if (file) fclose(file);
    return found;
}

static void read_model(char *model, size_t size)
{
    struct utsname name;
    if (read_line("/proc/cpuinfo", "model name", model, size)) return;
    snprintf(model, size, "%s", uname(&name) == 0 ? name.machine : "CPU");
}

static int64_t last_level_cache(void)
{
    char path[96], line[64];
    int64_t largest = 0;
    for (int i = 0; i < 8; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        if (!read_line(path, NULL, line, sizeof line)) break;
        char *unit;
        int64_t bytes = strtoll(line, &unit, 10);
        if (*unit == 'K') bytes *= 1024;
        if (*unit == 'M') bytes *= 1024 * 1024;
        if (bytes > largest) largest = bytes;
    }
#if defined(_SC_LEVEL3_CACHE_SIZE)
    if (largest <= 0) largest = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    return largest > 0 ? largest : 8 * 1024 * 1024;
}

// Identifies the machine, not this boot, this container or the cores that were granted today.
static void describe_uuid(const device_info *info, char *uuid, size_t size)
{
    char identity[512], host[128] = "", digest[65];
    read_line("/etc/machine-id", NULL, host, sizeof host);
    snprintf(identity, sizeof identity, "%s|%ld|%s", info->model, sysconf(_SC_NPROCESSORS_CONF),
             host);
    sha256_hex(identity, strlen(identity), digest);
    snprintf(uuid, size, "CPU-%.8s-%.4s-%.4s-%.4s-%.12s", digest, digest + 8, digest + 12,
             digest + 16, digest + 20);
}

static int64_t max_clock_khz(void)
{
    char line[64];
    if (read_line("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", NULL, line, sizeof line))
        return strtoll(line, NULL, 10);
    if (read_line("/proc/cpuinfo", "cpu MHz", line, sizeof line))
        return (int64_t)(strtod(line, NULL) * 1000);
    return 0;
}

cubc_status cpu_info_describe(device_info *info, int workers)
{
    struct utsname system;
    *info = (device_info){.name = "cpu",
                          .kind = "cpu",
                          .arch = "cpu",
                          .runtime = "-",
                          .sm_count = workers,
                          .warp_size = 32,
                          .max_threads = 1024,
                          .threads_per_sm = 1024,
                          .shared_bytes_per_block = SHARED_BYTES,
                          .shared_bytes_per_sm = SHARED_BYTES,
                          .ecc = -1};
    read_model(info->model, sizeof info->model);
    describe_uuid(info, info->uuid, sizeof info->uuid);
    if (uname(&system) == 0) snprintf(info->driver, sizeof info->driver, "%.31s", system.release);
    info->l2_bytes = last_level_cache();
    info->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    info->clock_khz = max_clock_khz();
    // Without a compiler the device opens all the same: arrays, fields and stores need none.
    cubc_status status = hostcc_name(info->compiler, sizeof info->compiler);
    if (status != CUBC_COMPILE_ERROR) return status;
    snprintf(info->compiler, sizeof info->compiler, "none");
    error_clear();
    return CUBC_OK;
}
