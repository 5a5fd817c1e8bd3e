// The cache of compiled variants: hits, damage, hostile files, full disks, concurrent writers.
#define _XOPEN_SOURCE 700
#include "cache_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

static void path_of(const char *key, char path[512])
{
    snprintf(path, 512, "%s/%.2s/%s", folder, key, key);
}

static bool misses(int n)
{
    char key[65];
    binary found = {0};
    key_of(n, key);
    bool hit = cache_get(key, &found);
    if (hit) mem_free(found.data);
    return !hit && !found.data;
}

// The examples of FIPS 180-4, and a text of many blocks, as sha256sum has them.
static void hashes(void)
{
    static char many[1000];
    char found[65];
    sha256_hex("abc", 3, found);
    CHECK(!strcmp(found, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    sha256_hex(two, strlen(two), found);
    CHECK(!strcmp(found, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"));
    memset(many, 'a', sizeof many);
    sha256_hex(many, sizeof many, found);
    CHECK(!strcmp(found, "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"));
}

CACHE_TEST(hits_and_misses)
{
    char path[512], key[65];
    struct stat info;
    CHECK(cache_folder() && strcmp(cache_folder(), folder) == 0);
    CHECK(cache_why() == NULL);
    CHECK(misses(1));
    put(1, "code of one");
    CHECK(get_is(1, "code of one"));
    CHECK(misses(2));
    put(1, "code of one"); // again
    CHECK(get_is(1, "code of one"));
    CHECK(files() == 1);
    key_of(1, key);
    path_of(key, path);
    CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
    binary out = {0};
    const char escape[65] = "../../../../../../../etc/passwd", empty[65] = "";
    CHECK(!cache_get(escape, &out) && !cache_get(empty, &out));
    cache_put(escape, &(binary){(uint8_t *)"x", 1});
    cache_put(key, &(binary){NULL, 0});
    CHECK(files() == 1);
}

static void overwrite(const char *path, long offset, const char *bytes, size_t count)
{
    int fd = open(path, O_WRONLY);
    CHECK(fd >= 0 && pwrite(fd, bytes, count, offset) == (ssize_t)count);
    close(fd);
}

// A changed byte anywhere, a cut, a longer file: always a miss, and the file is gone.
CACHE_TEST(damaged_files)
{
    char path[512], key[65];
    struct stat info;
    key_of(1, key);
    path_of(key, path);
    put(1, "payload");
    CHECK(stat(path, &info) == 0);
    for (off_t i = 0; i < info.st_size; i++) {
        put(1, "payload");
        overwrite(path, i, "\xa5", 1);
        CHECK(misses(1) && access(path, F_OK));
        put(1, "payload");
        CHECK(truncate(path, i) == 0);
        CHECK(misses(1) && access(path, F_OK));
    }
    put(1, "payload");
    overwrite(path, info.st_size, "x", 1);
    CHECK(misses(1) && access(path, F_OK));
    put(1, "payload");
    CHECK(get_is(1, "payload"));
}

CACHE_TEST(another_keys_file)
{
    char from[512], to[512], key[65];
    key_of(1, key);
    path_of(key, from);
    put(1, "one");
    put(2, "two");
    key_of(2, key);
    path_of(key, to);
    CHECK(rename(from, to) == 0); // the right hash of the wrong key
    CHECK(misses(2));
}

CACHE_TEST(hostile_files)
{
    char path[512], key[65], target[512];
    key_of(1, key);
    path_of(key, path);
    put(1, "payload");
    snprintf(target, sizeof target, "%s/elsewhere", folder);
    CHECK(rename(path, target) == 0 && symlink(target, path) == 0);
    CHECK(misses(1)); // even though what it points to is right
    CHECK(access(target, F_OK) == 0 && access(path, F_OK));
    CHECK(mkfifo(path, 0600) == 0);
    CHECK(misses(1)); // and does not wait
    CHECK(mkdir(path, 0700) == 0);
    CHECK(misses(1));
    put(1, "payload"); // cannot take its place, leaves nothing behind
    CHECK(misses(1) && files() == 1);
    CHECK(rmdir(path) == 0);
    put(1, "payload");
    CHECK(chmod(path, 0666) == 0);
    CHECK(misses(1)); // anybody might have written it
    put(1, "payload");
    CHECK(get_is(1, "payload"));
    CHECK(truncate(path, (off_t)300 << 20) == 0); // sparse
    CHECK(misses(1));
}

CACHE_TEST(open_to_others)
{
    CHECK(chmod(folder, 0777) == 0);
    CHECK(cache_folder() == NULL && strstr(cache_why(), "other users can write"));
    put(1, "payload");
    CHECK(misses(1) && files() == 0);
}

CACHE_TEST(belongs_to_another)
{
    if (geteuid() != 0 || chown(folder, 65534, 65534)) {
        printf("test_cache: another user's folder: not tested, needs root\n");
        return;
    }
    CHECK(cache_folder() == NULL && strstr(cache_why(), "another user"));
    put(1, "payload");
    CHECK(misses(1));
}

CACHE_TEST(cannot_be_made)
{
    char path[512];
    snprintf(path, sizeof path, "%s/file", folder);
    close(open(path, O_WRONLY | O_CREAT, 0600));
    strcat(path, "/below/it");
    setenv("CUBC_CACHE", path, 1);
    CHECK(cache_folder() == NULL && strstr(cache_why(), "Not a directory"));
    put(1, "payload");
    CHECK(misses(1));
}

CACHE_TEST(nowhere)
{
    unsetenv("CUBC_CACHE");
    unsetenv("HOME");
    setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
    CHECK(cache_folder() == NULL && strstr(cache_why(), "CUBC_CACHE"));
}

CACHE_TEST(below_xdg)
{
    char expected[512];
    struct stat info;
    unsetenv("CUBC_CACHE");
    snprintf(expected, sizeof expected, "%s/new/place", folder);
    setenv("XDG_CACHE_HOME", expected, 1);
    strcat(expected, "/cubc");
    CHECK(cache_folder() && strcmp(cache_folder(), expected) == 0);
    CHECK(stat(expected, &info) == 0 && (info.st_mode & 0777) == 0700);
    put(1, "payload");
    CHECK(get_is(1, "payload"));
}

CACHE_TEST(below_home)
{
    char expected[512];
    unsetenv("CUBC_CACHE");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", folder, 1);
    snprintf(expected, sizeof expected, "%s/.cache/cubc", folder);
    CHECK(cache_folder() && strcmp(cache_folder(), expected) == 0);
}

// A write that the system refuses half-way: no file, no remains, no error.
CACHE_TEST(full_disk)
{
    static char large[100000];
    memset(large, 'x', sizeof large - 1);
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {50000, 50000};
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    put(1, large);
    CHECK(misses(1) && files() == 0);
    put(1, "small");
    CHECK(get_is(1, "small"));
}

CACHE_TEST(no_memory)
{
    put(1, "payload");
    mem_fail_at(1);
    CHECK(misses(1)); // for want of memory, not because it is damaged
    CHECK(!*cubc_error_message());
    CHECK(get_is(1, "payload"));
    setenv("CUBC_CACHE_MAX_MB", "0", 1);
    mem_fail_at(1);
    for (int i = 0; i < 64; i++) put(2, "payload"); // one of them trims
    mem_fail_at(0);
    CHECK(get_is(1, "payload"));
}

static void set_age(const char *path, long seconds)
{
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

// 64 files of 32 KiB against a limit of 1 MiB: the ones used last stay.
CACHE_TEST(trims_the_oldest)
{
    static char large[32769];
    char path[512], key[65];
    memset(large, 'x', sizeof large - 1);
    for (int i = 0; i < 63; i++) {
        put(i, large);
        key_of(i, key);
        path_of(key, path);
        set_age(path, 1000 - i);
    }
    int before = files();
    CHECK(get_is(0, large)); // the oldest, but used now
    key_of(1, key);
    snprintf(path, sizeof path, "%s/%.2s/.put-1-1-1", folder, key);
    close(open(path, O_WRONLY | O_CREAT, 0600)); // what a killed writer leaves
    set_age(path, 7200);
    snprintf(path, sizeof path, "%s/%.2s/mine", folder, key);
    close(open(path, O_WRONLY | O_CREAT, 0600)); // nothing of ours
    set_age(path, 7200);
    setenv("CUBC_CACHE_MAX_MB", "1", 1);
    for (int i = 0; i < 64; i++) put(62, large);                   // one of them trims
    CHECK(before == 63 && files() - 1 <= 29 && files() - 1 >= 27); // 0.9 MiB of 32 KiB
    CHECK(get_is(0, large) && get_is(62, large) && get_is(61, large) && misses(1) && misses(30));
    CHECK(access(path, F_OK) == 0);
}

static void *hammer(void *unused)
{
    char payload[64];
    (void)unused;
    for (int i = 0; i < 200; i++) {
        snprintf(payload, sizeof payload, "code of %d", i % 10);
        put(i % 10, payload);
        if (!get_is((i + 5) % 10,
                    (snprintf(payload, sizeof payload, "code of %d", (i + 5) % 10), payload)) &&
            i >= 10)
            return "a file was not whole";
    }
    return NULL;
}

CACHE_TEST(many_writers)
{
    pthread_t threads[3];
    pid_t child = fork();
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, hammer, NULL) == 0);
    for (int i = 0; i < 3; i++) {
        void *complaint;
        pthread_join(threads[i], &complaint);
        CHECK(complaint == NULL);
    }
    if (child == 0) _exit(checks_failed_here != 0);
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(files() == 10);
}

int main(int argc, char **argv)
{
    const check_test tests[] = {
        {"hashes", hashes},
        {"hits_and_misses", hits_and_misses},
        {"damaged_files", damaged_files},
        {"another_keys_file", another_keys_file},
        {"hostile_files", hostile_files},
        {"open_to_others", open_to_others},
        {"belongs_to_another", belongs_to_another},
        {"cannot_be_made", cannot_be_made},
        {"nowhere", nowhere},
        {"below_xdg", below_xdg},
        {"below_home", below_home},
        {"full_disk", full_disk},
        {"no_memory", no_memory},
        {"trims_the_oldest", trims_the_oldest},
        {"many_writers", many_writers},
    };
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
