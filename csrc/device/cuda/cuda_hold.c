// Prepares measurements on a CUDA device: an empty cache, and a stream that waits.
//
// A stream is held by a kernel of one thread that spins on a word of host memory (NVBench's
// blocking kernel): everything queued behind it starts back to back when the word is written, so
// the time between two events is the device's and holds no launch latency.
//
// The work queued behind a held stream is limited: a launch that has to wait for the device (a
// kernel loaded for the first time, a synchronous copy, a full launch queue of about a thousand
// entries) would wait for ever. Hence the time limit: the spinning kernel gives up after it, and
// the release reports CUBC_TIMEOUT instead of a measurement.
#define _POSIX_C_SOURCE 200809L
#include "device/cuda/device_cuda.h"

#include <stdatomic.h>

// The words are tickets and not flags: a release lets go of every hold handed out so far, and
// nothing has to be reset while an earlier kernel may still be looking.
static const char hold_source[] =
    "typedef unsigned long long u64;\n"
    "struct hold_args { volatile u64* words; u64 ticket, limit_ns; };\n"
    "extern \"C\" __device__ unsigned hold_layout[2] = {sizeof(hold_args), 0};\n"
    "extern \"C\" __global__ void hold(const hold_args a)\n"
    "{\n"
    "    u64 start, now;\n"
    "    asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(start));\n"
    "    while (a.words[0] < a.ticket) {\n"
    "        asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(now));\n"
    "        if (now - start > a.limit_ns) {\n"
    "            a.words[1] = a.ticket;\n"
    "            __threadfence_system();\n"
    "            return;\n"
    "        }\n"
    "    }\n"
    "}\n";

typedef struct hold_args {
    void *words;
    uint64_t ticket, limit_ns;
} hold_args;

static const uint64_t limit_ns = 30ull * 1000 * 1000 * 1000;

static cubc_status launch_hold(cuda_device *d, uint64_t ticket, void *stream)
{
    hold_args args = {d->hold.device_words, ticket, limit_ns};
    return d->base.api->launch(&d->base, &d->hold.kernel, &(launch_shape){.grid = 1}, &args,
                               sizeof args, stream);
}

static void destroy(cuda_device *d)
{
    cuda_hold *h = &d->hold;
    d->base.api->unload(&d->base, h->module);
    if (h->words) cuda.cudaFreeHost((void *)h->words);
    h->module = NULL;
    h->words = NULL;
    h->created = false;
}

static cubc_status build(cuda_device *d)
{
    cuda_hold *h = &d->hold;
    compile_request request = {hold_source, "hold.cu", d->base.info.arch, 0};
    binary code = {0};
    TRY(cuda_compile_source(&request, &code));
    cubc_status st = d->base.api->load(&d->base, &code, &h->module);
    binary_free(&code);
    TRY(st);
    TRY(d->base.api->kernel(&d->base, h->module, "hold", 1, &h->kernel));

    void *words = NULL;
    TRY(RUNTIME(cuda.cudaHostAlloc(&words, 2 * sizeof *h->words, cudaHostAllocMapped),
                "cudaHostAlloc(%zu)", 2 * sizeof *h->words));
    h->words = words;
    atomic_store(&h->words[0], 0);
    atomic_store(&h->words[1], 0);
    TRY(RUNTIME(cuda.cudaHostGetDevicePointer(&h->device_words, words, 0),
                "cudaHostGetDevicePointer"));
    // Run once, on a stream that waits for no other: the kernel is loaded by then for certain.
    TRY(launch_hold(d, 0, d->aside));
    return d->base.api->synchronize(&d->base, d->aside);
}

static cubc_status create(cuda_device *d)
{
    bool pushed;
    TRY(cuda_context_enter(d, &pushed));
    cubc_status st = build(d);
    d->hold.created = st == CUBC_OK;
    if (st) destroy(d);
    cuda_context_leave(pushed);
    return st;
}

cubc_status cuda_hold_begin(cubc_device *device, void *stream)
{
    cuda_device *d = (cuda_device *)device;
    uint64_t ticket = 0;
    pthread_mutex_lock(&d->hold.lock);
    cubc_status st = d->hold.created ? CUBC_OK : create(d);
    if (!st) ticket = ++d->hold.ticket;
    pthread_mutex_unlock(&d->hold.lock);
    return st ? st : launch_hold(d, ticket, stream);
}

cubc_status cuda_hold_end(cubc_device *device)
{
    cuda_hold *h = &((cuda_device *)device)->hold;
    bool late = false;
    pthread_mutex_lock(&h->lock);
    if (h->created) {
        uint64_t released = atomic_exchange(&h->words[0], h->ticket);
        late = atomic_load(&h->words[1]) > released;
    }
    pthread_mutex_unlock(&h->lock);
    if (late)
        FAIL(CUBC_TIMEOUT,
             "a launch waited for the device while its stream was held: it was let "
             "go after %d s and the sample is void",
             (int)(limit_ns / 1000000000u));
    return CUBC_OK;
}

// Writes as many bytes as the cache holds, so that nothing else is left in it.
cubc_status cuda_hold_flush(cubc_device *device, void *stream)
{
    cuda_device *d = (cuda_device *)device;
    size_t bytes = (size_t)d->base.info.l2_bytes;
    if (bytes == 0) return CUBC_OK;
    bool pushed;
    TRY(cuda_context_enter(d, &pushed));
    cubc_status st = CUBC_OK;
    pthread_mutex_lock(&d->hold.lock);
    if (!d->hold.flush_buffer)
        st = RUNTIME(cuda.cudaMalloc(&d->hold.flush_buffer, bytes), "cudaMalloc(%zu)", bytes);
    pthread_mutex_unlock(&d->hold.lock);
    if (!st)
        st = RUNTIME(cuda.cudaMemsetAsync(d->hold.flush_buffer, 0, bytes, stream),
                     "cudaMemsetAsync(%zu)", bytes);
    cuda_context_leave(pushed);
    return st;
}

cubc_status cuda_hold_open(cuda_device *d)
{
    if (pthread_mutex_init(&d->hold.lock, NULL) != 0) FAIL(CUBC_NO_MEMORY, "no memory for a mutex");
    return CUBC_OK;
}

void cuda_hold_close(cuda_device *d)
{
    destroy(d);
    if (d->hold.flush_buffer) cuda.cudaFree(d->hold.flush_buffer);
    pthread_mutex_destroy(&d->hold.lock);
}
