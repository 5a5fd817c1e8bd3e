// A disk that fails when a test says so: loaded before the C library, through which SQLite writes.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int disk_error;  // what every write fails with, if not 0
int disk_signal; // raised once, when half of a write is done, if not 0
int disk_writes; // whole writes before that one
int disk_full;   // for all files but logs, if not 0

static bool is_log(int fd)
{
    char link[64], name[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, sizeof name);
    return length > 4 && memcmp(name + length - 4, "-wal", 4) == 0;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset);
ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset)
{
    if (disk_error) {
        errno = disk_error;
        return -1;
    }
    if (disk_full && !is_log(fd)) {
        errno = ENOSPC;
        return -1;
    }
    if (disk_signal && disk_writes-- == 0) {
        int number = disk_signal;
        disk_signal = 0;
        syscall(SYS_pwrite64, fd, bytes, count / 2, offset);
        raise(number);
    }
    return syscall(SYS_pwrite64, fd, bytes, count, offset);
}
