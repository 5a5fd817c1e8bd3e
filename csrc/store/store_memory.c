// An image of a store as a file of SQLite's: a file system with one file that never changes.
//
// SQLite looks for no journal beside an immutable file and takes no locks on it.
#include "store/store_image.h"

#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

typedef struct memory_file {
    sqlite3_file base;
    const store_image *image;
} memory_file;

static _Thread_local const store_image *opening; // by image_file_system, until it is opened

static int memory_close(sqlite3_file *file)
{
    (void)file;
    return SQLITE_OK;
}

static int memory_read(sqlite3_file *file, void *to, int count, sqlite3_int64 at)
{
    const store_image *image = ((memory_file *)file)->image;
    sqlite3_int64 there = at < (sqlite3_int64)image->size ? (sqlite3_int64)image->size - at : 0;
    size_t copied = (size_t)(there < count ? there : count);
    if (copied) memcpy(to, image->bytes + at, copied);
    memset((char *)to + copied, 0, (size_t)count - copied);
    return copied == (size_t)count ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int memory_write(sqlite3_file *file, const void *from, int count, sqlite3_int64 at)
{
    (void)file, (void)from, (void)count, (void)at;
    return SQLITE_READONLY;
}

static int memory_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    (void)file, (void)size;
    return SQLITE_READONLY;
}

static int memory_size(sqlite3_file *file, sqlite3_int64 *size)
{
    *size = (sqlite3_int64)((memory_file *)file)->image->size;
    return SQLITE_OK;
}

static int memory_lock(sqlite3_file *file, int level) // also of sync and unlock
{
    (void)file, (void)level;
    return SQLITE_OK;
}

static int memory_reserved(sqlite3_file *file, int *reserved)
{
    (void)file;
    *reserved = 0;
    return SQLITE_OK;
}

static int memory_control(sqlite3_file *file, int operation, void *argument)
{
    (void)file, (void)operation, (void)argument;
    return SQLITE_NOTFOUND;
}

static int memory_sector(sqlite3_file *file)
{
    (void)file;
    return 0; // SQLite's default
}

static int memory_traits(sqlite3_file *file)
{
    (void)file;
    return SQLITE_IOCAP_IMMUTABLE;
}

static int memory_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *got)
{
    static const sqlite3_io_methods methods = {
        .iVersion = 1,
        .xClose = memory_close,
        .xRead = memory_read,
        .xWrite = memory_write,
        .xTruncate = memory_truncate,
        .xSync = memory_lock,
        .xFileSize = memory_size,
        .xLock = memory_lock,
        .xUnlock = memory_lock,
        .xCheckReservedLock = memory_reserved,
        .xFileControl = memory_control,
        .xSectorSize = memory_sector,
        .xDeviceCharacteristics = memory_traits,
    };
    (void)vfs, (void)name;
    file->pMethods = NULL;
    if (!(flags & SQLITE_OPEN_MAIN_DB) || !opening) return SQLITE_CANTOPEN;
    *(memory_file *)file = (memory_file){{&methods}, opening};
    opening = NULL;
    if (got) *got = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
    return SQLITE_OK;
}

static int memory_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs, (void)name, (void)sync;
    return SQLITE_IOERR_DELETE;
}

static int memory_access(sqlite3_vfs *vfs, const char *name, int what, int *answer)
{
    (void)vfs, (void)name, (void)what;
    *answer = 0;
    return SQLITE_OK;
}

static int memory_full_name(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
    (void)vfs, (void)name;
    sqlite3_snprintf(size, out, "store");
    return SQLITE_OK;
}

// Randomness, sleep and time are the host's.
static sqlite3_vfs memory;
static bool registered;

static void register_memory(void)
{
    const sqlite3_vfs *host = sqlite3_vfs_find(NULL);
    if (!host) return;
    memory = *host;
    memory.pNext = NULL;
    memory.zName = "cubc-image";
    memory.szOsFile = sizeof(memory_file);
    memory.xOpen = memory_open;
    memory.xDelete = memory_delete;
    memory.xAccess = memory_access;
    memory.xFullPathname = memory_full_name;
    registered = sqlite3_vfs_register(&memory, 0) == SQLITE_OK;
}

cubc_status image_file_system(const store_image *image, const char **name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_memory);
    if (!registered) FAIL(CUBC_STORE_ERROR, "this SQLite takes no file system of cubc's");
    opening = image;
    *name = memory.zName;
    return CUBC_OK;
}
