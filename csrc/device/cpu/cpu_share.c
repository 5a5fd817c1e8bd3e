// Memory without a name in any file system, which the processes of a user open through the one that
// made it. Nothing is left of it when they end, however they end.
#define _GNU_SOURCE
#include "device/cpu/cpu_share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct shared_card {
    int64_t process, descriptor; // descriptor + 1; 0: there is none
} shared_card;
_Static_assert(sizeof(shared_card) <= sizeof(device_card), "a card has room");

static cubc_status has_bytes(int descriptor, size_t bytes, const shared_card *made)
{
    struct stat found;
    if (fstat(descriptor, &found) == 0 && (uint64_t)found.st_size == bytes) return CUBC_OK;
    FAIL(CUBC_NO_RESOURCES, "process %lld shares other memory than this one expects",
         (long long)made->process);
}

static cubc_status map(int descriptor, size_t bytes, void **out)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED)
        FAIL(CUBC_NO_DEVICE_MEMORY, "no %zu bytes can be shared: %s", bytes, strerror(errno));
    *out = memory;
    return CUBC_OK;
}

cubc_status cpu_share(cubc_device *device, size_t bytes, device_card *card, void **out)
{
    (void)device;
    int descriptor = memfd_create("cubc", MFD_CLOEXEC);
    if (descriptor < 0 || ftruncate(descriptor, (off_t)bytes) != 0) {
        int why = errno;
        if (descriptor >= 0) close(descriptor);
        FAIL(CUBC_NO_DEVICE_MEMORY, "no %zu bytes can be shared: %s", bytes, strerror(why));
    }
    cubc_status st = map(descriptor, bytes, out);
    if (st) {
        close(descriptor);
        return st;
    }
    const shared_card made = {.process = getpid(), .descriptor = (int64_t)descriptor + 1};
    memcpy(card, &made, sizeof made);
    return CUBC_OK;
}

void cpu_share_end(cubc_device *device, device_card *card)
{
    shared_card made;
    (void)device;
    memcpy(&made, card, sizeof made);
    if (made.descriptor) close((int)made.descriptor - 1);
    memset(card, 0, sizeof *card);
}

cubc_status cpu_share_open(cubc_device *device, const device_card *card, size_t bytes, void **out)
{
    shared_card made;
    char path[64];
    (void)device;
    memcpy(&made, card, sizeof made);
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)made.process,
             (long long)made.descriptor - 1);
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0)
        FAIL(CUBC_NO_RESOURCES,
             "the memory of process %lld cannot be opened (%s): ranks on the cpu device are "
             "processes of one user on one host, and of one container",
             (long long)made.process, strerror(errno));
    cubc_status st = has_bytes(descriptor, bytes, &made);
    if (!st) st = map(descriptor, bytes, out);
    close(descriptor);
    return st;
}

void cpu_share_close(cubc_device *device, const device_card *card, void *memory, size_t bytes)
{
    (void)device, (void)card;
    munmap(memory, bytes);
}
