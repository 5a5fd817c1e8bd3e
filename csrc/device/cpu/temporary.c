// Private folders of temporary files: see temporary.h.
#define _GNU_SOURCE
#include "device/cpu/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char prefix[] = "cubc-compile-";

const char *temporary_root(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

void temporary_remove(const char *path)
{
    DIR *folder = path ? opendir(path) : NULL;
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        unlinkat(dirfd(folder), entry->d_name, 0); // "." and ".." refuse
    closedir(folder);
    rmdir(path);
}

// True for a folder of ours that nobody has changed for a day: no compilation takes as long.
static bool is_abandoned(int root, const char *name)
{
    enum { A_DAY = 24 * 60 * 60 };
    struct stat info;
    return strncmp(name, prefix, sizeof prefix - 1) == 0 &&
           fstatat(root, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode) &&
           info.st_uid == geteuid() && time(NULL) - info.st_mtime > A_DAY;
}

static void remove_abandoned(void)
{
    DIR *root = opendir(temporary_root());
    if (!root) return;
    for (struct dirent *entry; (entry = readdir(root)) != NULL;) {
        if (!is_abandoned(dirfd(root), entry->d_name)) continue;
        text path = {0};
        text_printf(&path, "%s/%s", temporary_root(), entry->d_name);
        if (!text_done(&path)) temporary_remove(path.data);
        text_free(&path);
    }
    closedir(root);
}

cubc_status temporary_make(text *path)
{
    static atomic_bool looked;
    if (!atomic_exchange(&looked, true)) remove_abandoned();
    text_printf(path, "%s/%sXXXXXX", temporary_root(), prefix);
    TRY(text_done(path));
    if (mkdtemp(path->data)) return CUBC_OK;
    int error = errno;
    text_free(path);
    FAIL(CUBC_IO_ERROR,
         "cannot make a folder in %s: %s; set TMPDIR to a folder that can be written",
         temporary_root(), strerror(error));
}
