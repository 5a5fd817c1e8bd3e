// The CPU device: kernels compiled by the host's C++ compiler (hostcc.c) and run by simt.c.
//
// Everything is complete when the call that asked for it returns, so streams and events carry no
// more than a time. Compiled variants are in cpu_module.c.
//
// Environment: CUBC_CPU_THREADS (1 to 1024) replaces the number of cores this process may use;
// CUBC_SIMT_SEED makes the order of blocks and threads random but repeatable.
#define _GNU_SOURCE
#include "base/environment.h"
#include "device/cpu/cpu_info.h"
#include "device/cpu/cpu_memory.h"
#include "device/cpu/cpu_module.h"
#include "device/cpu/cpu_recording.h"
#include "device/cpu/cpu_share.h"
#include "device/cpu/cpu_target.h"
#include "device/cpu/hostcc.h"
#include "device/cpu/simt.h"
#include "device/device.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

typedef struct cpu_device {
    cubc_device base; // first: this is a cubc_device
    simt_pool *pool;
    cpu_memory memory;
} cpu_device;

struct device_event {
    double seconds;
};

static simt_pool *pool_of(cubc_device *device)
{
    return ((cpu_device *)device)->pool;
}

// ---- open and close -----------------------------------------------------------------------------
static int cpu_count(const char **why)
{
    if (why) *why = NULL;
    return 1;
}

static void cpu_close(cubc_device *device)
{
    if (!device) return;
    simt_pool_close(pool_of(device));
    cpu_memory_close(&((cpu_device *)device)->memory);
    mem_free(device);
}

static cubc_status cpu_open(int index, cubc_device **out)
{
    int workers;
    uint64_t seed = 0;
    TRY(environment_threads(&workers));
    TRY(environment_number("CUBC_SIMT_SEED", 0, UINT64_MAX, &seed));
    cpu_device *d = mem_zalloc(1, sizeof *d);
    if (!d) return CUBC_NO_MEMORY;
    d->base.api = &device_cpu_api;
    cubc_status status;
    GUARD(status, simt_pool_open(workers, &d->pool), failed);
    simt_pool_seed(d->pool, seed);
    GUARD(status, cpu_info_describe(&d->base.info, simt_pool_workers(d->pool)), failed);
    if (index) snprintf(d->base.info.name, sizeof d->base.info.name, "cpu:%d", index);
    *out = &d->base;
    return CUBC_OK;
failed:
    cpu_close(&d->base);
    return status;
}

// ---- memory -------------------------------------------------------------------------------------
static cubc_status cpu_alloc(cubc_device *device, size_t bytes, void *stream, void **out)
{
    (void)stream;
    return cpu_memory_take(&((cpu_device *)device)->memory, bytes, out);
}

static void cpu_free(cubc_device *device, void *pointer, void *stream)
{
    (void)stream;
    if (pointer) cpu_memory_give(&((cpu_device *)device)->memory, pointer);
}

static cubc_status cpu_copy(cubc_device *device, void *to, const void *from, size_t bytes,
                            void *stream)
{
    (void)device;
    (void)stream;
    if (bytes) memmove(to, from, bytes);
    return CUBC_OK;
}

static cubc_status cpu_fill(cubc_device *device, void *to, int byte, size_t bytes, void *stream)
{
    (void)device;
    if (!bytes) return CUBC_OK;
    if (cpu_recording_is_on(stream)) return cpu_recording_add_fill(to, byte, bytes);
    memset(to, byte, bytes);
    return CUBC_OK;
}

static cubc_status cpu_step(cubc_device *device, const host_step *step, void *stream)
{
    (void)device;
    if (cpu_recording_is_on(stream)) return cpu_recording_add_step(step);
    return step->take(step->args, stream);
}

// ---- streams and events -------------------------------------------------------------------------
static cubc_status cpu_nothing(cubc_device *device, void *stream) // synchronize, flush, hold
{
    (void)device;
    (void)stream;
    return CUBC_OK;
}

static cubc_status cpu_release(cubc_device *device)
{
    (void)device;
    return CUBC_OK;
}

static bool cpu_is_capturing(cubc_device *device, void *stream)
{
    (void)device;
    (void)stream;
    return false;
}

static cubc_status cpu_stream_create(cubc_device *device, void **out)
{
    static atomic_ullong streams;
    (void)device;
    *out = (void *)(uintptr_t)(atomic_fetch_add(&streams, 1) + 1); // a number: nothing to own
    return CUBC_OK;
}

static void cpu_stream_destroy(cubc_device *device, void *stream)
{
    (void)device, (void)stream;
}

static cubc_status cpu_order(cubc_device *device, void *later, void *earlier)
{
    (void)device, (void)later, (void)earlier; // work is done when it was queued
    return CUBC_OK;
}

// A handle may be another library's: it is never followed.
static uint64_t cpu_stream_id(cubc_device *device, void *stream)
{
    (void)device;
    return (uintptr_t)stream;
}

static cubc_status cpu_event_create(cubc_device *device, device_event **out)
{
    (void)device;
    *out = mem_zalloc(1, sizeof **out);
    return *out ? CUBC_OK : CUBC_NO_MEMORY;
}

static void cpu_event_destroy(cubc_device *device, device_event *event)
{
    (void)device;
    mem_free(event);
}

static cubc_status cpu_event_record(cubc_device *device, device_event *event, void *stream)
{
    (void)device;
    (void)stream;
    event->seconds = now_seconds();
    return CUBC_OK;
}

static cubc_status cpu_event_wait(cubc_device *device, device_event *event, void *stream)
{
    (void)device, (void)event, (void)stream;
    return CUBC_OK;
}

static bool cpu_event_reached(cubc_device *device, device_event *event)
{
    (void)device, (void)event;
    return true;
}

static cubc_status cpu_event_synchronize(cubc_device *device, device_event *event)
{
    (void)device, (void)event;
    return CUBC_OK;
}

static cubc_status cpu_event_elapsed(cubc_device *device, device_event *start, device_event *stop,
                                     double *seconds)
{
    (void)device;
    *seconds = stop->seconds - start->seconds;
    return CUBC_OK;
}

// ---- launching ----------------------------------------------------------------------------------
static void *find(const device_module *module, const char *kernel, const char *suffix)
{
    char symbol[128];
    snprintf(symbol, sizeof symbol, "%s%s", kernel, suffix);
    return dlsym(module->library, symbol);
}

static cubc_status cpu_kernel(cubc_device *device, device_module *module, const char *name,
                              unsigned threads, device_kernel *out)
{
    *out = (device_kernel){.threads = threads,
                           .code = module->code,
                           .code_bytes = module->code_bytes,
                           .may_trap = module->may_trap};
    const uint32_t *layout = find(module, name, "_layout");
    const uint32_t *signature = layout ? NULL : find(module, name, "_signature");
    out->function = find(module, name, signature ? "_entry" : "");
    if (!out->function || (!layout && !signature))
        FAIL(CUBC_NOT_FOUND, "the variant has no kernel \"%s\"", name);
    if (threads < 1 || threads > (unsigned)device->info.max_threads)
        FAIL(CUBC_NO_RESOURCES, "%s wants blocks of %u threads, \"cpu\" runs 1 to %d", name,
             threads, device->info.max_threads);
    out->info.max_threads = device->info.max_threads;
    out->info.blocks_per_sm = 1;
    if (signature) return device_signature(name, signature, signature[0] + (size_t)1, out);
    if (layout[1] > device->info.shared_bytes_per_block)
        FAIL(CUBC_NO_RESOURCES, "%s wants %u bytes of shared storage, \"cpu\" has %lld", name,
             layout[1], (long long)device->info.shared_bytes_per_block);
    out->info.args_bytes = layout[0];
    out->info.shared_bytes = out->allocated = layout[1];
    return CUBC_OK;
}

static int cpu_index_of(const void *pointer, size_t bytes, bool *whole)
{
    (void)pointer, (void)bytes;
    *whole = false;
    return -1; // the host's memory, as far as this is known
}

// The argument of a plain kernel's entry; the same struct as in kernels/dialect/cuda.h. It lives as
// long as the launch, which is complete on return.
typedef struct plain_frame {
    uint32_t grid[3], block[3];
    uint64_t unused; // puts the arguments on 32 bytes
    _Alignas(32) unsigned char args[MAX_ARGUMENT_BYTES];
} plain_frame;

static void fill_frame(const device_kernel *kernel, const launch_shape *shape, const void *args,
                       size_t args_bytes, plain_frame *out)
{
    const unsigned y = launch_extent(shape->block_y), z = launch_extent(shape->block_z);
    const uint32_t grid[3] = {shape->grid, launch_extent(shape->grid_y),
                              launch_extent(shape->grid_z)};
    const uint32_t block[3] = {kernel->threads / (y * z), y, z};
    memcpy(out->grid, grid, sizeof grid);
    memcpy(out->block, block, sizeof block);
    memcpy(out->args, args, args_bytes);
}

static cubc_status cpu_launch(cubc_device *device, const device_kernel *kernel,
                              const launch_shape *shape, const void *args, size_t args_bytes,
                              void *stream)
{
    if (shape->cluster > 1)
        FAIL(CUBC_NO_RESOURCES, "the cpu has no clusters of blocks, a launch asks for %u blocks",
             shape->cluster);
    if (args_bytes != (size_t)kernel->info.args_bytes)
        FAIL(CUBC_INVALID_ARGUMENT, "a launch passes %zu bytes of arguments, the kernel takes %lld",
             args_bytes, (long long)kernel->info.args_bytes);
    if (cpu_recording_is_on(stream)) return cpu_recording_add(kernel, shape, args, args_bytes);
    plain_frame frame;
    const uint64_t grid =
        (uint64_t)shape->grid * launch_extent(shape->grid_y) * launch_extent(shape->grid_z);
    if (grid > INT32_MAX)
        FAIL(CUBC_NO_RESOURCES, "a grid has at most %d blocks, not %llu", INT32_MAX,
             (unsigned long long)grid);
    if (kernel->plain) {
        fill_frame(kernel, shape, args, args_bytes, &frame);
        args = &frame;
    }
    simt_launch launch = {.args = args,
                          .grid = (unsigned)grid,
                          .threads = kernel->threads,
                          .shared_bytes = (size_t)kernel->allocated + shape->shared,
                          .code = kernel->code,
                          .code_bytes = kernel->code_bytes,
                          .cannot_trap = !kernel->may_trap};
    memcpy(&launch.function, &kernel->function, sizeof launch.function); // ISO C has no cast for it
    return simt_run(pool_of(device), &launch);
}

const device_api device_cpu_api = {
    .kind = "cpu",
    .count = cpu_count,
    .index_of = cpu_index_of,
    .open = cpu_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .copy = cpu_copy,
    .fill = cpu_fill,
    .share = cpu_share,
    .share_end = cpu_share_end,
    .share_open = cpu_share_open,
    .share_close = cpu_share_close,
    .synchronize = cpu_nothing,
    .order = cpu_order,
    .is_capturing = cpu_is_capturing,
    .stream_create = cpu_stream_create,
    .stream_destroy = cpu_stream_destroy,
    .stream_id = cpu_stream_id,
    .event_create = cpu_event_create,
    .event_destroy = cpu_event_destroy,
    .event_record = cpu_event_record,
    .event_wait = cpu_event_wait,
    .event_reached = cpu_event_reached,
    .event_synchronize = cpu_event_synchronize,
    .event_elapsed = cpu_event_elapsed,
    .compile = hostcc_compile,
    .compiler = hostcc_name,
    .target = cpu_target_name,
    .runs = cpu_target_runs,
    .check = cpu_module_check,
    .load = cpu_module_load,
    .unload = cpu_module_unload,
    .kernel = cpu_kernel,
    .launch = cpu_launch,
    .step = cpu_step,
    .record = cpu_recording_begin,
    .record_end = cpu_recording_end,
    .replay = cpu_recording_replay,
    .recording_free = cpu_recording_free,
    .flush = cpu_nothing,
    .hold = cpu_nothing,
    .release = cpu_release,
};
