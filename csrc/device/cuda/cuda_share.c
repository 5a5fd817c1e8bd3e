// Memory that GPUs of a host share: see device.h. Processes open each other's through CUDA's
// handles; within a process an address is the same on all GPUs, once one may access the other.
//
// A handle names the whole block of memory that an allocation lies in. Shared memory has a block
// of its own, which is not of the pool, so that a process opens nothing else of another.
#define _POSIX_C_SOURCE 200809L
#include "device/cuda/device_cuda.h"

#include "base/integer.h"

#include <string.h>

enum { BLOCK_BYTES = 2 << 20 };

typedef struct shared_card {
    cudaIpcMemHandle_t handle;
    uint64_t bytes;   // 0: there is no memory
    uint64_t process; // that made it: process_token
    uint64_t address; // there
    int64_t ordinal;  // of its GPU, there
    uint64_t host;    // host_token: handles of another host would name other memory, or none
} shared_card;
_Static_assert(sizeof(shared_card) <= sizeof(device_card), "a card has room");

static cubc_status make_card(const cuda_device *d, void *memory, size_t bytes, device_card *card)
{
    shared_card made = {.bytes = bytes,
                        .process = process_token(),
                        .address = (uintptr_t)memory,
                        .ordinal = d->ordinal,
                        .host = host_token()};
    TRY(RUNTIME(cuda.cudaIpcGetMemHandle(&made.handle, memory), "cudaIpcGetMemHandle"));
    memcpy(card, &made, sizeof made);
    return CUBC_OK;
}

static cubc_status fill_with_zeros(void *memory, size_t bytes)
{
    TRY(RUNTIME(cuda.cudaMemsetAsync(memory, 0, bytes, NULL), "cudaMemsetAsync(%zu)", bytes));
    return cuda_stream_wait(NULL);
}

static cubc_status share(const cuda_device *d, size_t bytes, device_card *card, void **out)
{
    const size_t whole = round_up(bytes, BLOCK_BYTES);
    TRY(RUNTIME(cuda.cudaMalloc(out, whole), "cudaMalloc(%zu)", whole));
    cubc_status st = fill_with_zeros(*out, bytes);
    if (!st) st = make_card(d, *out, bytes, card);
    if (!st) return CUBC_OK;
    cuda.cudaFree(*out);
    *out = NULL;
    return st;
}

cubc_status cuda_share(cubc_device *device, size_t bytes, device_card *card, void **out)
{
    bool pushed;
    *out = NULL;
    if (!cuda.cudaIpcGetMemHandle || !cuda.cudaIpcOpenMemHandle || !cuda.cudaIpcCloseMemHandle ||
        !cuda.cudaDeviceEnablePeerAccess)
        FAIL(CUBC_NO_RESOURCES, "this CUDA runtime shares no memory between ranks");
    TRY(cuda_context_enter((cuda_device *)device, &pushed));
    cubc_status st = share((cuda_device *)device, bytes, card, out);
    cuda_context_leave(pushed);
    return st;
}

void cuda_share_end(cubc_device *device, device_card *card)
{
    (void)device, (void)card;
}

static cubc_status check_card(const shared_card *made, size_t bytes)
{
    if (made->bytes != bytes)
        FAIL(CUBC_NO_RESOURCES, "a process shares other memory of its GPU than this one expects");
    if (made->host != host_token())
        FAIL(CUBC_NO_RESOURCES, "the memory of a GPU of another host cannot be opened");
    return CUBC_OK;
}

static cubc_status reach(const cuda_device *d, const shared_card *made, void **out)
{
    if (made->ordinal != d->ordinal) {
        cudaError_t code = cuda.cudaDeviceEnablePeerAccess((int)made->ordinal, 0);
        if (code == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
            cuda.cudaGetLastError();
        else
            TRY(RUNTIME(code, "cudaDeviceEnablePeerAccess(%d), from cuda:%d", (int)made->ordinal,
                        d->ordinal));
    }
    *out = (void *)(uintptr_t)made->address;
    return CUBC_OK;
}

static bool is_own(const shared_card *made)
{
    return made->process == process_token();
}

static cubc_status open_made(const cuda_device *d, const shared_card *made, void **out)
{
    if (is_own(made)) return reach(d, made, out);
    return RUNTIME(cuda.cudaIpcOpenMemHandle(out, made->handle, cudaIpcMemLazyEnablePeerAccess),
                   "cudaIpcOpenMemHandle, of another process's memory");
}

cubc_status cuda_share_open(cubc_device *device, const device_card *card, size_t bytes, void **out)
{
    shared_card made;
    bool pushed;
    memcpy(&made, card, sizeof made);
    TRY(check_card(&made, bytes));
    TRY(cuda_context_enter((cuda_device *)device, &pushed));
    cubc_status st = open_made((cuda_device *)device, &made, out);
    cuda_context_leave(pushed);
    return st;
}

void cuda_share_close(cubc_device *device, const device_card *card, void *memory, size_t bytes)
{
    shared_card made;
    bool pushed;
    (void)bytes;
    if (card) memcpy(&made, card, sizeof made);
    if (card && is_own(&made)) return; // whoever made it closes it
    if (cuda_context_enter((cuda_device *)device, &pushed)) return;
    if (card ? cuda.cudaIpcCloseMemHandle(memory) : cuda.cudaFree(memory)) cuda.cudaGetLastError();
    cuda_context_leave(pushed);
}
