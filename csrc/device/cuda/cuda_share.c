// Memory of a GPU that processes of a host share through CUDA's handles: see device.h.
//
// A handle names the whole block of memory that an allocation lies in. Shared memory has a block
// of its own, which is not of the pool, so that a process opens nothing else of another.
#define _POSIX_C_SOURCE 200809L
#include "device/cuda/device_cuda.h"

#include "base/integer.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK_BYTES = 2 << 20 };

typedef struct shared_card {
    cudaIpcMemHandle_t handle;
    uint64_t bytes; // 0: there is no memory
    char host[40];  // in its present run
} shared_card;
_Static_assert(sizeof(shared_card) <= sizeof(device_card), "a card has room");

// Handles of another host would name other memory, or none.
static void read_host(char *text, int size)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!file || !fgets(text, size, file)) text[0] = '\0';
    if (file) fclose(file);
}

static cubc_status make_card(void *memory, size_t bytes, device_card *card)
{
    shared_card made = {.bytes = bytes};
    TRY(RUNTIME(cuda.cudaIpcGetMemHandle(&made.handle, memory), "cudaIpcGetMemHandle"));
    read_host(made.host, sizeof made.host);
    memcpy(card, &made, sizeof made);
    return CUBC_OK;
}

static cubc_status fill_with_zeros(void *memory, size_t bytes)
{
    TRY(RUNTIME(cuda.cudaMemsetAsync(memory, 0, bytes, NULL), "cudaMemsetAsync(%zu)", bytes));
    return cuda_stream_wait(NULL);
}

static cubc_status share(size_t bytes, device_card *card, void **out)
{
    const size_t whole = round_up(bytes, BLOCK_BYTES);
    TRY(RUNTIME(cuda.cudaMalloc(out, whole), "cudaMalloc(%zu)", whole));
    cubc_status st = fill_with_zeros(*out, bytes);
    if (!st) st = make_card(*out, bytes, card);
    if (!st) return CUBC_OK;
    cuda.cudaFree(*out);
    *out = NULL;
    return st;
}

cubc_status cuda_share(cubc_device *device, size_t bytes, device_card *card, void **out)
{
    bool pushed;
    *out = NULL;
    TRY(cuda_context_enter((cuda_device *)device, &pushed));
    cubc_status st = share(bytes, card, out);
    cuda_context_leave(pushed);
    return st;
}

void cuda_share_end(cubc_device *device, device_card *card)
{
    (void)device, (void)card;
}

static cubc_status check_card(const shared_card *made, size_t bytes)
{
    char host[sizeof made->host] = "";
    if (made->bytes != bytes)
        FAIL(CUBC_NO_RESOURCES, "a process shares other memory of its GPU than this one expects");
    read_host(host, sizeof host);
    if (memcmp(host, made->host, sizeof host) != 0)
        FAIL(CUBC_NO_RESOURCES, "the memory of a GPU of another host cannot be opened");
    return CUBC_OK;
}

cubc_status cuda_share_open(cubc_device *device, const device_card *card, size_t bytes, void **out)
{
    shared_card made;
    bool pushed;
    memcpy(&made, card, sizeof made);
    TRY(check_card(&made, bytes));
    TRY(cuda_context_enter((cuda_device *)device, &pushed));
    cubc_status st =
        RUNTIME(cuda.cudaIpcOpenMemHandle(out, made.handle, cudaIpcMemLazyEnablePeerAccess),
                "cudaIpcOpenMemHandle, of another process's memory");
    cuda_context_leave(pushed);
    return st;
}

void cuda_share_close(cubc_device *device, void *memory, size_t bytes, bool opened)
{
    bool pushed;
    (void)bytes;
    if (cuda_context_enter((cuda_device *)device, &pushed)) return;
    if (opened ? cuda.cudaIpcCloseMemHandle(memory) : cuda.cudaFree(memory))
        cuda.cudaGetLastError();
    cuda_context_leave(pushed);
}
