// Compiled variants on disk: see cache.h.
//
// One file a variant, <folder>/<first two digits of the key>/<key>, never changed once it has its
// name: a writer fills a file of a name of its own and renames it, so readers see all of it or
// nothing. There is no index to corrupt, and entries have no locks. Nothing is synced: a file that
// a power cut truncates no longer matches its hash and is a miss.
//
// All access goes through a descriptor of the folder, opened and checked once, so that nobody can
// put another folder in its place afterwards.
#define _POSIX_C_SOURCE 200809L
#include "compile/cache.h"
#include "base/words.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    KEY_LENGTH = 64,
    HEADER_BYTES = 8 + 8 + KEY_LENGTH + 8 + 32, // magic, version, key, payload's length and hash
    TRIM_EVERY = 64,                            // puts
    STALE_SECONDS = 3600, // age at which a temporary file is one of a dead writer
};
static const uint64_t file_version = 1;
static const char magic[8] = "cubcbin";
static const char temporary_prefix[] = ".put-";
static const int64_t max_file_bytes = INT64_C(256) << 20;

static pthread_once_t folder_once = PTHREAD_ONCE_INIT;
static char folder_path[4096], folder_why[4096 + 256]; // folder_why: "" while the cache is on
static int folder_fd = -1;

// ---- folder -----------------------------------------------------------------------------------
static bool choose_path(void)
{
    const char *own = getenv("CUBC_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length;
    if (own && *own)
        length = snprintf(folder_path, sizeof folder_path, "%s", own);
    else if (xdg && *xdg == '/') // its specification: a relative path is to be ignored
        length = snprintf(folder_path, sizeof folder_path, "%s/cubc", xdg);
    else if (home && *home)
        length = snprintf(folder_path, sizeof folder_path, "%s/.cache/cubc", home);
    else
        length = 0;
    if (length > 0 && (size_t)length < sizeof folder_path) return true;
    snprintf(folder_why, sizeof folder_why,
             length ? "the path of the folder for compiled kernels is too long"
                    : "there is no place for compiled kernels: HOME and CUBC_CACHE are not set");
    return false;
}

// Why a folder could not be made; 0: none failed. That a folder's parent is missing is no reason.
static int make_folders(void)
{
    int error = 0;
    for (char *slash = folder_path; slash;) {
        slash = strchr(slash + 1, '/');
        if (slash) *slash = '\0';
        if (mkdir(folder_path, 0700) && errno != EEXIST && errno != ENOENT) error = errno;
        if (slash) *slash = '/';
    }
    return error;
}

static bool read_limit(int64_t *bytes)
{
    const char *text = getenv("CUBC_CACHE_MAX_MB");
    char *end;
    *bytes = INT64_C(1024) << 20;
    if (!text || !*text) return true;
    errno = 0;
    long long megabytes = strtoll(text, &end, 10);
    *bytes = megabytes >= 0 && megabytes <= INT64_MAX >> 20 ? (int64_t)megabytes << 20 : -1;
    if (!errno && !*end && *bytes >= 0) return true;
    snprintf(
        folder_why, sizeof folder_why,
        "compiled kernels are not kept: CUBC_CACHE_MAX_MB is \"%.64s\", must be a whole number "
        "of megabytes",
        text);
    return false;
}

static bool is_private(const struct stat *info)
{
    return info->st_uid == geteuid() && !(info->st_mode & (S_IWGRP | S_IWOTH));
}

static void open_folder(void)
{
    struct stat info;
    int64_t limit;
    if (!choose_path() || !read_limit(&limit)) return;
    int error = make_folders();
    int fd = open(folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info)) {
        snprintf(folder_why, sizeof folder_why,
                 "compiled kernels cannot be kept in %s: %s; set CUBC_CACHE to a folder that can "
                 "be written",
                 folder_path, strerror(error && errno == ENOENT ? error : errno));
    } else if (!is_private(&info)) {
        snprintf(folder_why, sizeof folder_why,
                 "compiled kernels are not kept in %s: %s; make it yours alone (chmod 700) or set "
                 "CUBC_CACHE",
                 folder_path,
                 info.st_uid == geteuid() ? "other users can write to it"
                                          : "it belongs to another user");
    } else if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS)) {
        snprintf(folder_why, sizeof folder_why,
                 "compiled kernels cannot be kept in %s: %s; set CUBC_CACHE to a folder that can "
                 "be written",
                 folder_path, strerror(errno));
    } else {
        folder_fd = fd;
        return;
    }
    if (fd >= 0) close(fd);
}

const char *cache_folder(void)
{
    pthread_once(&folder_once, open_folder);
    return folder_fd < 0 ? NULL : folder_path;
}

const char *cache_why(void)
{
    return cache_folder() ? NULL : folder_why;
}

void cache_key(const char *arch, const char *compiler, const char *source, char key[65])
{
    sha256 h;
    sha256_begin(&h);
    sha256_add(&h, cubc_version(), strlen(cubc_version()) + 1); // stands for our own options
    sha256_add(&h, arch, strlen(arch) + 1);
    sha256_add(&h, compiler, strlen(compiler) + 1);
    sha256_add(&h, source, strlen(source));
    sha256_end_hex(&h, key);
}

// ---- names ------------------------------------------------------------------------------------
static bool is_key(const char *name)
{
    return strspn(name, "0123456789abcdef") == KEY_LENGTH && name[KEY_LENGTH] == '\0';
}

// The folder that holds `key`, or -1.
static int open_subfolder(const char *key, bool create)
{
    char subfolder[3] = {key[0], key[1], '\0'};
    if (create) mkdirat(folder_fd, subfolder, 0700);
    int fd = openat(folder_fd, subfolder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat info;
    if (fd >= 0 && (fstat(fd, &info) || !is_private(&info))) {
        close(fd);
        return -1;
    }
    return fd;
}

// ---- files ------------------------------------------------------------------------------------
static void make_header(const char *key, const void *payload, size_t bytes,
                        uint8_t header[HEADER_BYTES])
{
    sha256 h;
    memcpy(header, magic, sizeof magic);
    words_store64(header + 8, file_version, false);
    memcpy(header + 16, key, KEY_LENGTH);
    words_store64(header + 16 + KEY_LENGTH, bytes, false);
    sha256_begin(&h);
    sha256_add(&h, payload, bytes);
    sha256_end(&h, header + 24 + KEY_LENGTH);
}

typedef enum verdict { HIT, DAMAGED, UNKNOWN } verdict; // UNKNOWN: out of memory

// Compares the header with the one that the payload should have.
static verdict read_file(int fd, const char *key, binary *out)
{
    uint8_t header[HEADER_BYTES], expected[HEADER_BYTES];
    struct stat info;
    if (fstat(fd, &info) || !S_ISREG(info.st_mode) || !is_private(&info) ||
        info.st_size <= HEADER_BYTES || info.st_size > max_file_bytes)
        return DAMAGED;
    if (file_read_at(fd, 0, header, sizeof header) < sizeof header ||
        memcmp(header, magic, sizeof magic))
        return DAMAGED;
    size_t bytes = (size_t)info.st_size - HEADER_BYTES;
    uint8_t *data = mem_alloc(bytes, 1);
    if (!data) {
        error_clear(); // a miss is not an error
        return UNKNOWN;
    }
    if (file_read_at(fd, HEADER_BYTES, data, bytes) == bytes) {
        make_header(key, data, bytes, expected);
        if (memcmp(header, expected, sizeof header) == 0) {
            *out = (binary){data, bytes};
            return HIT;
        }
    }
    mem_free(data);
    return DAMAGED;
}

bool cache_get(const char key[65], binary *out)
{
    if (!cache_folder() || !is_key(key)) return false;
    int subfolder = open_subfolder(key, false);
    if (subfolder < 0) return false;
    verdict found = UNKNOWN;
    // O_NONBLOCK: a pipe of this name must not make us wait.
    int fd = openat(subfolder, key, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) {
        found = read_file(fd, key, out);
        if (found == HIT) futimens(fd, NULL); // marks it as used now, for trimming
        close(fd);
    } else if (errno == ELOOP) {
        found = DAMAGED; // a symbolic link: nothing that cache_put makes
    }
    if (found == DAMAGED) unlinkat(subfolder, key, 0);
    close(subfolder);
    return found == HIT;
}

void cache_remove(const char key[65])
{
    if (!cache_folder() || !is_key(key)) return;
    int subfolder = open_subfolder(key, false);
    if (subfolder < 0) return;
    unlinkat(subfolder, key, 0);
    close(subfolder);
}

static bool write_file(int fd, const char *key, const binary *code)
{
    uint8_t header[HEADER_BYTES];
    make_header(key, code->data, code->size, header);
    return file_write(fd, header, sizeof header) && file_write(fd, code->data, code->size);
}

// ---- trimming ---------------------------------------------------------------------------------
typedef struct entry {
    char key[KEY_LENGTH + 1];
    int64_t bytes;
    struct timespec used;
} entry;

typedef struct listing {
    entry *entries;
    size_t count, room;
    int64_t bytes;
} listing;

static bool listing_add(listing *all, const char *key, const struct stat *info)
{
    entry *grown = mem_grow(all->entries, all->count, &all->room, sizeof *grown);
    if (!grown) return false;
    all->entries = grown;
    entry *e = &all->entries[all->count++];
    memcpy(e->key, key, sizeof e->key);
    e->bytes = info->st_size;
    e->used = info->st_mtim;
    all->bytes += e->bytes;
    return true;
}

static bool list_subfolder(int subfolder, listing *all)
{
    DIR *folder = fdopendir(subfolder); // takes the descriptor
    if (!folder) {
        close(subfolder);
        return true;
    }
    bool ok = true;
    struct dirent *item;
    struct stat info;
    while (ok && (item = readdir(folder))) {
        if (fstatat(dirfd(folder), item->d_name, &info, AT_SYMLINK_NOFOLLOW)) continue;
        if (is_key(item->d_name))
            ok = listing_add(all, item->d_name, &info);
        else if (!strncmp(item->d_name, temporary_prefix, strlen(temporary_prefix)) &&
                 info.st_mtim.tv_sec < time(NULL) - STALE_SECONDS)
            unlinkat(dirfd(folder), item->d_name, 0);
    }
    closedir(folder);
    return ok;
}

static int compare_used(const void *a, const void *b)
{
    const struct timespec *x = &((const entry *)a)->used, *y = &((const entry *)b)->used;
    if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static void remove_oldest(listing *all, int64_t limit)
{
    qsort(all->entries, all->count, sizeof *all->entries, compare_used);
    for (size_t i = 0; i < all->count && all->bytes > limit; i++) {
        const entry *e = &all->entries[i];
        int subfolder = open_subfolder(e->key, false);
        if (subfolder < 0) continue;
        unlinkat(subfolder, e->key, 0);
        close(subfolder);
        all->bytes -= e->bytes;
    }
}

static void trim(void)
{
    listing all = {0};
    int64_t limit;
    bool complete = true;
    for (int i = 0; i < 256 && complete; i++) {
        char subfolder[3];
        snprintf(subfolder, sizeof subfolder, "%02x", (unsigned)i);
        int fd = open_subfolder(subfolder, false);
        if (fd >= 0) complete = list_subfolder(fd, &all);
    }
    if (!complete)
        error_clear(); // no memory: the next one will do it
    else if (read_limit(&limit) && all.bytes > limit)
        remove_oldest(&all, limit - limit / 10); // not again at once
    mem_free(all.entries);
}

void cache_put(const char key[65], const binary *code)
{
    static atomic_uint puts;
    char temporary[64];
    if (!cache_folder() || !is_key(key) || code->size == 0 ||
        code->size > (size_t)max_file_bytes - HEADER_BYTES)
        return;
    int subfolder = open_subfolder(key, true);
    if (subfolder < 0) return;
    unsigned turn = atomic_fetch_add(&puts, 1);
    // Process, turn and clock: another host with the same process id may share the folder.
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(temporary, sizeof temporary, "%s%ld-%u-%ld", temporary_prefix, (long)getpid(), turn,
             now.tv_nsec);
    int fd =
        openat(subfolder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) {
        bool written = write_file(fd, key, code);
        if (close(fd)) written = false;
        if (!written || renameat(subfolder, temporary, subfolder, key))
            unlinkat(subfolder, temporary, 0);
    }
    close(subfolder);
    // The process id spreads the turns, so that many short processes trim as often as a long one.
    if ((turn + (unsigned)getpid()) % TRIM_EVERY == 0) trim();
}

int cache_open_file(const char *name)
{
    struct stat info;
    if (!cache_folder()) return -1;
    int fd = openat(folder_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd >= 0 && (fstat(fd, &info) || !S_ISREG(info.st_mode) || !is_private(&info))) {
        close(fd);
        return -1;
    }
    return fd;
}
