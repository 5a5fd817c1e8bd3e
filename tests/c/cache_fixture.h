// Shared by the tests of the cache and of claims: an empty folder for each, and small entries.
//
// The cache decides for its folder once a process, so every test runs in a child of its own.
// _XOPEN_SOURCE is 700, for nftw.
#ifndef CACHE_FIXTURE_H
#define CACHE_FIXTURE_H

#include "check.h"
#include "compile/cache.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[256]; // of the test that runs

static inline void key_of(int n, char key[65])
{
    sha256_hex(&n, sizeof n, key);
}

static inline int remove_item(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

static int file_count;
static inline int count_item(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)path, (void)info, (void)walk;
    file_count += kind == FTW_F;
    return 0;
}

// The number of files in the cache, stray ones included.
static inline int files(void)
{
    file_count = 0;
    nftw(folder, count_item, 8, FTW_PHYS);
    return file_count;
}

// Runs a test in a child of its own with an empty cache folder. It gives back all memory that it
// took, unless it `keeps` what a process reads once, as kernels' sources.
static inline void in_child(void (*body)(void), bool keeps)
{
    int ends[2], failed = 1;
    snprintf(folder, sizeof folder, "%s/cubc-cache-XXXXXX",
             getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!CHECK(mkdtemp(folder) && pipe(ends) == 0)) return;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setenv("CUBC_CACHE", folder, 1);
        body();
        CHECK(keeps || mem_outstanding() == 0);
        fflush(NULL);
        _exit(write(ends[1], &checks_failed_here, sizeof failed) != sizeof failed);
    }
    close(ends[1]);
    CHECK(read(ends[0], &failed, sizeof failed) == sizeof failed); // or the child died
    close(ends[0]);
    waitpid(child, NULL, 0);
    checks_failed_here += failed;
    nftw(folder, remove_item, 8, FTW_DEPTH | FTW_PHYS);
}
#define CACHE_TEST(name)              \
    static void name##_body(void);    \
    static void name(void)            \
    {                                 \
        in_child(name##_body, false); \
    }                                 \
    static void name##_body(void)

static inline void put(int n, const char *payload)
{
    char key[65];
    key_of(n, key);
    cache_put(key, &(binary){(uint8_t *)payload, strlen(payload)});
}

static inline bool get_is(int n, const char *payload)
{
    char key[65];
    binary found = {0};
    key_of(n, key);
    bool hit = cache_get(key, &found);
    bool same = hit && found.size == strlen(payload) && !memcmp(found.data, payload, found.size);
    if (hit) mem_free(found.data);
    return same;
}

#endif
