// Compiled variants of a program in one file: see bundle.h.
//
// The headers of all records are read when a file is added; code is read, and held against its
// hash, when it is asked for. The compiler is a part of a key, and here there may be none: so each
// one that the file names is tried.
#define _POSIX_C_SOURCE 200809L
#include "compile/bundle.h"

#include "base/log.h"
#include "compile/source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BUNDLES = 32, MOST_RECORDS = 1 << 20 };
static const char magic[8] = "cubcbun";
static const uint64_t file_version = 1;
static const uint64_t most_bytes = UINT64_C(256) << 20; // of a record's code

// A record begins with this; its code follows. Numbers are little-endian, as all machines here.
typedef struct header {
    char magic[8];
    uint64_t version, bytes;
    char cubc[24], arch[24], compiler[96], target[TARGET_BYTES], key[72];
    uint8_t hash[32]; // of what is in front of it, and of the code
} header;
_Static_assert(sizeof(header) == 344, "a record's header has no padding");

typedef struct record {
    header head;
    int64_t at; // of the code
} record;

typedef struct bundle {
    char *path;
    int fd;
    record *records; // those that this machine may use
    int count;
} bundle;

FORK_SAFE_MUTEX(lock); // guards what follows
static bundle used[MOST_BUNDLES];
static int used_count;

// ---- reading ------------------------------------------------------------------------------------
static void hash_record(const header *head, const void *code, uint8_t hash[32])
{
    sha256 h;
    sha256_begin(&h);
    sha256_add(&h, head, offsetof(header, hash));
    sha256_add(&h, code, (size_t)head->bytes);
    sha256_end(&h, hash);
}

static bool is_whole(const header *head, int64_t rest)
{
    return memcmp(head->magic, magic, sizeof magic) == 0 && head->version == file_version &&
           head->bytes > 0 && head->bytes <= most_bytes && head->bytes <= (uint64_t)rest &&
           memchr(head->cubc, 0, sizeof head->cubc) && memchr(head->arch, 0, sizeof head->arch) &&
           memchr(head->compiler, 0, sizeof head->compiler) &&
           memchr(head->target, 0, sizeof head->target) && memchr(head->key, 0, sizeof head->key);
}

static bool is_of_use(const header *head)
{
    const device_api *api = device_api_of_arch(head->arch);
    // NVRTC 12.0 knows no clusters of blocks, and a launch does not see which compiler made a
    // kernel.
    if (strncmp(head->compiler, "NVRTC 12.0", 10) == 0) return false;
    return api && strcmp(head->cubc, cubc_version()) == 0 &&
           (api->runs ? api->runs(head->target) : head->target[0] == '\0');
}

static cubc_status bundle_add(bundle *b, const header *head, int64_t at, size_t *room)
{
    record *grown = mem_grow(b->records, (size_t)b->count, room, sizeof *grown);
    if (!grown) return CUBC_NO_MEMORY;
    b->records = grown;
    b->records[b->count++] = (record){*head, at};
    return CUBC_OK;
}

static void bundle_close(bundle *b)
{
    if (b->fd >= 0) close(b->fd);
    mem_free(b->path);
    mem_free(b->records);
    *b = (bundle){.fd = -1};
}

// Why a file is not read, or NULL. One that cubc itself came with is trusted as cubc is.
static const char *what_is_wrong(const struct stat *info, bool shipped)
{
    if (!S_ISREG(info->st_mode)) return "it is no file";
    if (shipped) return NULL;
    if (info->st_uid != geteuid() && info->st_uid != 0) return "it belongs to another user";
    if (info->st_mode & (S_IWGRP | S_IWOTH))
        return "other users can write to it (chmod go-w makes it yours alone)";
    return NULL;
}

static cubc_status read_records(bundle *b, int64_t size)
{
    header head, first = {0};
    size_t room = 0;
    int all = 0;
    for (int64_t at = 0; at < size; at += (int64_t)(sizeof head + head.bytes)) {
        int64_t rest = size - at - (int64_t)sizeof head;
        if (rest < 0 || file_read_at(b->fd, (uint64_t)at, &head, sizeof head) < sizeof head ||
            !is_whole(&head, rest))
            FAIL(CUBC_IO_ERROR, "%s is no bundle of kernels, or not all of one: make it anew",
                 b->path);
        if (++all > MOST_RECORDS) FAIL(CUBC_IO_ERROR, "%s has too many kernels", b->path);
        if (all == 1) first = head;
        if (is_of_use(&head)) TRY(bundle_add(b, &head, at + (int64_t)sizeof head, &room));
    }
    if (!all) FAIL(CUBC_IO_ERROR, "%s is empty: it is no bundle of kernels", b->path);
    if (!b->count && strcmp(first.cubc, cubc_version()) != 0)
        FAIL(CUBC_IO_ERROR, "%s is of cubc %s, this is cubc %s: make it anew", b->path, first.cubc,
             cubc_version());
    if (!b->count)
        FAIL(CUBC_IO_ERROR,
             "%s has nothing for this machine, its kernels are for another processor: make it anew "
             "here, or with --portable",
             b->path);
    return CUBC_OK;
}

static cubc_status bundle_open(const char *path, bool shipped, bundle *out)
{
    struct stat info;
    cubc_status st = CUBC_OK;
    *out = (bundle){.fd = -1};
    if (!(out->path = mem_strdup(path))) return CUBC_NO_MEMORY;
    out->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (out->fd < 0 || fstat(out->fd, &info)) {
        st = error_set(__FILE__, __LINE__, CUBC_IO_ERROR, "the bundle %s cannot be read: %s", path,
                       strerror(errno));
    } else {
        const char *wrong = what_is_wrong(&info, shipped);
        if (wrong)
            st = error_set(__FILE__, __LINE__, CUBC_IO_ERROR, "the bundle %s is not used: %s", path,
                           wrong);
        else
            st = read_records(out, (int64_t)info.st_size);
    }
    if (st) bundle_close(out);
    return st;
}

// ---- the files in use ---------------------------------------------------------------------------
cubc_status bundle_use(const char *path, int *count)
{
    bundle added;
    cubc_status st = CUBC_OK;
    TRY(bundle_open(path, false, &added));
    *count = added.count;
    pthread_mutex_lock(&lock);
    if (used_count == MOST_BUNDLES)
        st = error_set(__FILE__, __LINE__, CUBC_INVALID_ARGUMENT,
                       "%d bundles are in use, which is the most", MOST_BUNDLES);
    else
        used[used_count++] = added;
    pthread_mutex_unlock(&lock);
    if (st)
        bundle_close(&added);
    else
        device_without_compiler(true);
    return st;
}

static bool is_used(const char *path)
{
    pthread_mutex_lock(&lock);
    int i = used_count;
    while (i > 0 && strcmp(used[i - 1].path, path) != 0) i--;
    pthread_mutex_unlock(&lock);
    return i > 0;
}

// Each once, so that a list may be tried again when one of it was refused.
static cubc_status use_each(const char *rest)
{
    char path[PATH_MAX];
    int count;
    for (; *rest; rest += *rest == ':') {
        size_t length = strcspn(rest, ":");
        snprintf(path, sizeof path, "%.*s", (int)length, rest);
        if (length && !is_used(path)) TRY(bundle_use(path, &count));
        rest += length;
    }
    return CUBC_OK;
}

FORK_SAFE_MUTEX(reading); // a thread that comes second waits for the files

cubc_status bundle_use_variable(void)
{
    static bool done;
    const char *paths = getenv("CUBC_BUNDLE");
    if (!paths || !*paths) return CUBC_OK;
    pthread_mutex_lock(&reading);
    cubc_status st = done ? CUBC_OK : use_each(paths);
    if (st) error_prefix("CUBC_BUNDLE: ");
    done = !st; // the next call says it again
    pthread_mutex_unlock(&reading);
    return st;
}

bool bundle_in_use(void)
{
    pthread_mutex_lock(&lock);
    bool any = used_count > 0;
    pthread_mutex_unlock(&lock);
    return any;
}

// ---- looking up ---------------------------------------------------------------------------------
static bool read_code(const bundle *b, const record *r, bundled *out)
{
    uint8_t hash[32];
    uint8_t *data = mem_alloc((size_t)r->head.bytes, 1);
    if (!data) {
        error_clear(); // as if it were not there
        return false;
    }
    if (file_read_at(b->fd, (uint64_t)r->at, data, r->head.bytes) == r->head.bytes) {
        hash_record(&r->head, data, hash);
        if (memcmp(hash, r->head.hash, sizeof hash) == 0) {
            *out = (bundled){.code = {data, (size_t)r->head.bytes}};
            memcpy(out->key, r->head.key, sizeof out->key);
            memcpy(out->compiler, r->head.compiler, sizeof out->compiler);
            memcpy(out->target, r->head.target, sizeof out->target);
            return true;
        }
    }
    mem_free(data);
    log_put(LOG_DAMAGED, "a kernel in the bundle %s is damaged and passed over", b->path);
    return false;
}

static bool find(const bundle *b, const compile_request *request, bundled *out)
{
    const char *compiler = "";
    char key[65];
    for (int i = 0; i < b->count; i++) {
        const header *head = &b->records[i].head;
        if (strcmp(head->arch, request->arch) != 0) continue;
        if (strcmp(head->compiler, compiler) != 0) {
            compiler = head->compiler;
            cache_key(request->arch, compiler, request->source, key);
        }
        if (strcmp(head->key, key) == 0 && read_code(b, &b->records[i], out)) return true;
    }
    return false;
}

bool bundle_get(const compile_request *request, bundled *out)
{
    pthread_mutex_lock(&lock);
    int i = used_count;
    pthread_mutex_unlock(&lock);
    while (--i >= 0) // what is in use does not change
        if (find(&used[i], request, out)) {
            log_put(LOG_FOUND, "%s for %s is in the bundle %s", request->label, request->arch,
                    used[i].path);
            return true;
        }
    return false;
}

static bundle shipped = {.fd = -1};
static pthread_once_t shipped_once = PTHREAD_ONCE_INIT;

static void open_shipped(void)
{
    char folder[PATH_MAX], path[PATH_MAX + 16];
    if (!source_folder(folder, sizeof folder)) {
        snprintf(path, sizeof path, "%s/cpu.cubc", folder);
        if (access(path, R_OK) != 0 || !bundle_open(path, true, &shipped)) return;
    }
    error_clear(); // then there is none
}

bool bundle_is_shipped(void)
{
    pthread_once(&shipped_once, open_shipped);
    return shipped.count > 0;
}

bool bundle_get_shipped(const compile_request *request, bundled *out)
{
    if (!bundle_is_shipped() || !find(&shipped, request, out)) return false;
    log_put(LOG_FOUND, "%s for %s came compiled with cubc", request->label, request->arch);
    return true;
}

static bool take_code(const header *head, const void *from, binary *code)
{
    uint8_t hash[32], *data = mem_alloc((size_t)head->bytes, 1);
    if (!data) {
        error_clear(); // as if it were not there
        return false;
    }
    memcpy(data, from, (size_t)head->bytes);
    hash_record(head, data, hash);
    if (memcmp(hash, head->hash, sizeof hash) == 0) {
        *code = (binary){data, (size_t)head->bytes};
        return true;
    }
    mem_free(data);
    log_put(LOG_DAMAGED, "a kernel that was compiled elsewhere is damaged and passed over");
    return false;
}

bool bundle_find(const bundle_memory *memory, const char key[65], binary *code)
{
    const uint8_t *at = memory->records;
    header head;
    for (size_t left = memory->bytes; left >= sizeof head;) {
        memcpy(&head, at, sizeof head);
        at += sizeof head;
        left -= sizeof head;
        if (!is_whole(&head, (int64_t)left)) return false;
        if (strcmp(head.key, key) == 0 && take_code(&head, at, code)) return true;
        at += head.bytes;
        left -= (size_t)head.bytes;
    }
    return false;
}

// ---- keeping ------------------------------------------------------------------------------------
// The file is there whole or not at all.
static bool put_record(const char *folder, const char *path, const header *head, const binary *code)
{
    char temporary[PATH_MAX + 16];
    snprintf(temporary, sizeof temporary, "%s/.put-XXXXXX", folder);
    int fd = mkstemp(temporary);
    if (fd < 0) return false;
    bool written = file_write(fd, head, sizeof *head) && file_write(fd, code->data, code->size);
    if (close(fd) == 0 && written && rename(temporary, path) == 0) return true;
    const int why = errno;
    unlink(temporary);
    errno = why;
    return false;
}

static header header_of(const char *arch, const bundled *one)
{
    header head = {.version = file_version, .bytes = one->code.size};
    memcpy(head.magic, magic, sizeof magic);
    snprintf(head.cubc, sizeof head.cubc, "%s", cubc_version());
    snprintf(head.arch, sizeof head.arch, "%s", arch);
    snprintf(head.compiler, sizeof head.compiler, "%s", one->compiler);
    snprintf(head.target, sizeof head.target, "%s", one->target);
    snprintf(head.key, sizeof head.key, "%s", one->key);
    hash_record(&head, one->code.data, head.hash);
    return head;
}

void bundle_append(const bundle_memory *memory, const char *arch, const bundled *one)
{
    if (one->code.size > most_bytes) return;
    const header head = header_of(arch, one);
    text_append(memory->more, (const char *)&head, sizeof head);
    text_append(memory->more, (const char *)one->code.data, one->code.size);
}

void bundle_keep(const char *arch, const bundled *one)
{
    char path[PATH_MAX];
    const char *folder = getenv("CUBC_BUNDLE_TO");
    if (!folder || !*folder || one->code.size > most_bytes) return;
    snprintf(path, sizeof path, "%s/%s", folder, one->key);
    if (access(path, F_OK) == 0) return;
    const header head = header_of(arch, one);
    if (!put_record(folder, path, &head, &one->code))
        log_put(LOG_DAMAGED, "a kernel cannot be kept in %s: %s", folder, strerror(errno));
}
