// The clock of a GPU's multiprocessors during a sample: cycles over nanoseconds between two marks.
//
// A cycle counter belongs to one multiprocessor, so a mark is a kernel with a block for each of
// them, of which the one on multiprocessor 0 writes down its counter and the global timer
// (NVBench's way). Marks are queued outside of the interval that the events time.
#define _POSIX_C_SOURCE 200809L
#include "device/cuda/device_cuda.h"

#include <stdatomic.h>

static const char clock_source[] =
    "typedef unsigned long long u64;\n"
    "struct clock_args { volatile u64* words; u64 which; };\n"
    "extern \"C\" __device__ unsigned clock_mark_layout[2] = {sizeof(clock_args), 0};\n"
    "extern \"C\" __global__ void clock_mark(const clock_args a)\n"
    "{\n"
    "    unsigned sm;\n"
    "    u64 now;\n"
    "    asm volatile(\"mov.u32 %0, %%smid;\" : \"=r\"(sm));\n"
    "    if (sm != 0) return;\n"
    "    asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(now));\n"
    "    a.words[2 * a.which] = now;\n"
    "    a.words[2 * a.which + 1] = clock64();\n"
    "}\n";

typedef struct clock_args {
    void *words;
    uint64_t which;
} clock_args;

enum { WORDS = 4 }; // nanoseconds and cycles of the first mark and of the second

static void destroy(cuda_device *d)
{
    cuda_clock *c = &d->clock;
    d->base.api->unload(&d->base, c->module);
    if (c->words) cuda.cudaFreeHost((void *)c->words);
    c->module = NULL;
    c->words = NULL;
    c->created = false;
}

static cubc_status launch(cuda_device *d, int which, void *stream)
{
    clock_args args = {d->clock.device_words, (uint64_t)which};
    launch_shape shape = {.grid = (unsigned)d->base.info.sm_count};
    return d->base.api->launch(&d->base, &d->clock.kernel, &shape, &args, sizeof args, stream);
}

static cubc_status build(cuda_device *d)
{
    cuda_clock *c = &d->clock;
    compile_request request = {clock_source, "clock.cu", d->base.info.arch, 0};
    binary code = {0};
    void *words = NULL;
    TRY(cuda_compile_source(&request, &code));
    cubc_status st = d->base.api->load(&d->base, &code, &c->module);
    binary_free(&code);
    TRY(st);
    TRY(d->base.api->kernel(&d->base, c->module, "clock_mark", 1, &c->kernel));
    TRY(RUNTIME(cuda.cudaHostAlloc(&words, WORDS * sizeof *c->words, cudaHostAllocMapped),
                "cudaHostAlloc(%zu)", WORDS * sizeof *c->words));
    c->words = words;
    for (int i = 0; i < WORDS; i++) atomic_store(&c->words[i], 0);
    TRY(RUNTIME(cuda.cudaHostGetDevicePointer(&c->device_words, words, 0),
                "cudaHostGetDevicePointer"));
    // Run once, so that the kernel is loaded for certain before a stream is held.
    TRY(launch(d, 0, d->aside));
    return d->base.api->synchronize(&d->base, d->aside);
}

cubc_status cuda_clock_mark(cubc_device *device, int which, void *stream)
{
    cuda_device *d = (cuda_device *)device;
    bool pushed;
    pthread_mutex_lock(&d->hold.lock);
    cubc_status st = d->clock.created ? CUBC_OK : cuda_context_enter(d, &pushed);
    if (!st && !d->clock.created) {
        st = build(d);
        d->clock.created = st == CUBC_OK;
        if (st) destroy(d);
        cuda_context_leave(pushed);
    }
    pthread_mutex_unlock(&d->hold.lock);
    return st ? st : launch(d, which, stream);
}

double cuda_clock_hertz(cubc_device *device)
{
    cuda_clock *c = &((cuda_device *)device)->clock;
    uint64_t at[WORDS];
    if (!c->created) return 0;
    for (int i = 0; i < WORDS; i++) at[i] = atomic_exchange(&c->words[i], 0);
    bool both = at[0] && at[2] && at[2] > at[0] && at[3] > at[1];
    return both ? (double)(at[3] - at[1]) / (1e-9 * (double)(at[2] - at[0])) : 0;
}

void cuda_clock_close(cuda_device *d)
{
    destroy(d);
}
