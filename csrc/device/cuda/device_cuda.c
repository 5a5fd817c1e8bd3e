// The CUDA device: what there is, and memory, over CUDA's runtime. Streams and events are in
// cuda_stream.c, memory that processes share in cuda_share.c, compilation in cuda_compile.c,
// loading and launching in cuda_module.c, the aids to measuring in cuda_hold.c, and where the
// libraries come from in cuda_api.c.
//
// It works in the device's primary context, together with CuPy, PyTorch, Numba and JAX: their
// pointers and streams are ours. NULL is the legacy default stream, and CUDA's special handles 1
// (legacy) and 2 (per thread) pass through as they are.
//
// Memory comes from a pool of our own that keeps what is freed, and small blocks from a cache
// before it (block_cache.h); the default pool, which other libraries tune for themselves, is left
// alone.
#define _POSIX_C_SOURCE 200809L
#include "device/cuda/device_cuda.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_CAPABILITY = 75 }; // sm_75: what CUDA 13 still compiles for

// ---- what there is ----------------------------------------------------------------------------
static int64_t attribute_or(int ordinal, int attribute, int64_t otherwise)
{
    int value = 0;
    if (cuda.cudaDeviceGetAttribute(&value, attribute, ordinal) == CUDA_SUCCESS) return value;
    cuda.cudaGetLastError();
    return otherwise;
}

static int capability(int ordinal)
{
    return (int)(10 * attribute_or(ordinal, cudaDevAttrComputeCapabilityMajor, 0) +
                 attribute_or(ordinal, cudaDevAttrComputeCapabilityMinor, 0));
}

static cubc_status count_devices(int *count)
{
    *count = 0;
    int found = 0;
    TRY(cuda_api_runtime_ready());
    TRY(DRIVER(cuda.cuInit(0), "cuInit"));
    TRY(RUNTIME(cuda.cudaGetDeviceCount(&found), "cudaGetDeviceCount"));
    for (int i = 0; i < found; i++)
        if (capability(i) >= LEAST_CAPABILITY) {
            *count = found;
            return CUBC_OK;
        }
    if (found == 0) FAIL(CUBC_NO_DEVICE, "the NVIDIA driver sees no GPU");
    FAIL(CUBC_NO_DEVICE, "the GPU is sm_%d, cubc needs sm_%d or newer", capability(0),
         LEAST_CAPABILITY);
}

// Ordinals are CUDA's, so all visible devices count; opening one that is too old says so.
static int cuda_count(const char **why)
{
    static _Thread_local char sentence[1024];
    int count;
    sentence[0] = '\0';
    if (count_devices(&count) != CUBC_OK)
        snprintf(sentence, sizeof sentence, "%s", cubc_error_message());
    *why = sentence;
    return count;
}

static void format_uuid(const CUuuid *uuid, char *text, size_t size)
{
    const unsigned char *b = uuid->bytes;
    snprintf(text, size, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
             b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
             b[14], b[15]);
}

static void format_versions(device_info *info)
{
    char release[20];
    int version = cuda.driver_version;
    cuda_nvml_driver(release, sizeof release);
    snprintf(info->driver, sizeof info->driver, release[0] ? "%s (CUDA %d.%d)" : "%sCUDA %d.%d",
             release, version / 1000 % 100, version % 1000 / 10);
    version = cuda.runtime_version;
    snprintf(info->runtime, sizeof info->runtime, "%d.%d", version / 1000, version % 1000 / 10);
}

static cubc_status read_info(cuda_device *d)
{
    device_info *info = &d->base.info;
    int n = d->ordinal;
    CUuuid uuid;
    size_t memory = 0;
    TRY(DRIVER(cuda.cuDeviceGetName(info->model, sizeof info->model, d->handle),
               "cuDeviceGetName"));
    TRY(DRIVER(cuda.cuDeviceGetUuid_v2(&uuid, d->handle), "cuDeviceGetUuid"));
    TRY(DRIVER(cuda.cuDeviceTotalMem_v2(&memory, d->handle), "cuDeviceTotalMem"));
    if (cuda_compile_name(info->compiler, sizeof info->compiler)) { // code comes in bundles
        snprintf(info->compiler, sizeof info->compiler, "none");
        error_clear();
    }
    format_uuid(&uuid, info->uuid, sizeof info->uuid);
    format_versions(info);
    snprintf(info->name, sizeof info->name, "cuda:%d", n);
    snprintf(info->kind, sizeof info->kind, "cuda");
    snprintf(info->arch, sizeof info->arch, "sm_%d", d->capability);
    info->sm_count = (int)attribute_or(n, cudaDevAttrMultiProcessorCount, 1);
    info->warp_size = (int)attribute_or(n, cudaDevAttrWarpSize, 32);
    info->max_threads = (int)attribute_or(n, cudaDevAttrMaxThreadsPerBlock, 1024);
    info->threads_per_sm = (int)attribute_or(n, cudaDevAttrMaxThreadsPerMultiProcessor, 1024);
    info->shared_bytes_per_block =
        attribute_or(n, cudaDevAttrMaxSharedMemoryPerBlockOptin, SHARED_WITHOUT_OPT_IN);
    info->shared_bytes_per_sm =
        attribute_or(n, cudaDevAttrMaxSharedMemoryPerMultiprocessor, SHARED_WITHOUT_OPT_IN);
    info->l2_bytes = attribute_or(n, cudaDevAttrL2CacheSize, 0);
    info->memory_bytes = (int64_t)memory;
    info->clock_khz = attribute_or(n, cudaDevAttrClockRate, 0);
    info->memory_clock_khz = attribute_or(n, cudaDevAttrMemoryClockRate, 0);
    info->bus_bits = (int)attribute_or(n, cudaDevAttrGlobalMemoryBusWidth, 0);
    info->ecc = (int)attribute_or(n, cudaDevAttrEccEnabled, -1);
    return CUBC_OK;
}

// ---- open and close ---------------------------------------------------------------------------
// Without a pool (some virtual GPUs have none) allocation falls back to cudaMalloc, which waits.
static void create_pool(cuda_device *d)
{
    cudaMemPoolProps properties = {.allocType = cudaMemAllocationTypePinned,
                                   .location = {cudaMemLocationTypeDevice, d->ordinal}};
    // Freed memory stays for the next allocation, but not all of a device: other processes, such
    // as the one that a search measures in, need some of it.
    uint64_t keep = (uint64_t)d->base.info.memory_bytes / 8;
    if (!attribute_or(d->ordinal, cudaDevAttrMemoryPoolsSupported, 0)) return;
    if (cuda.cudaMemPoolCreate(&d->pool, &properties)) d->pool = NULL;
    if (d->pool) cuda.cudaMemPoolSetAttribute(d->pool, cudaMemPoolAttrReleaseThreshold, &keep);
    cuda.cudaGetLastError();
}

static cubc_status open_in_context(cuda_device *d)
{
    TRY(RUNTIME(cuda.cudaFree(NULL), "cudaFree(NULL)")); // the runtime adopts the context here
    create_pool(d);
    if (d->pool) TRY(block_cache_open(&d->blocks));
    return RUNTIME(cuda.cudaStreamCreateWithFlags(&d->aside, cudaStreamNonBlocking),
                   "cudaStreamCreateWithFlags");
}

// Frees the kept blocks of all streams, which may still write to them. Returns true if there were
// any; false, too, if the context cannot be waited for.
static bool free_kept_blocks(cuda_device *d)
{
    int mode = cudaStreamCaptureModeRelaxed;
    bool any = false;
    if (!d->blocks) return false;
    cuda_capture_exchange(&mode);
    bool waited = cuda.cuCtxSynchronize() == CUDA_SUCCESS;
    cuda_capture_exchange(&mode);
    for (void *kept; waited && (kept = block_cache_give_up_any(d->blocks)); any = true)
        if (cuda.cudaFreeAsync(kept, NULL)) cuda.cudaGetLastError();
    return any;
}

static void cuda_close(cubc_device *device)
{
    cuda_device *d = (cuda_device *)device;
    bool pushed;
    if (!d) return;
    if (cuda_context_enter(d, &pushed) == CUBC_OK) {
        cuda_clock_close(d);
        cuda_hold_close(d);
        if (d->aside) cuda.cudaStreamDestroy(d->aside);
        free_kept_blocks(d);
        if (d->pool) cuda.cudaMemPoolDestroy(d->pool);
        cuda_context_leave(pushed);
    }
    block_cache_close(d->blocks);
    cuda.cuDevicePrimaryCtxRelease_v2(d->handle);
    mem_free(d);
}

static cubc_status open_device(cuda_device *d)
{
    TRY(DRIVER(cuda.cuDeviceGet(&d->handle, d->ordinal), "cuDeviceGet(%d)", d->ordinal));
    TRY(read_info(d));
    TRY(cuda_hold_open(d));
    cubc_status st = DRIVER(cuda.cuDevicePrimaryCtxRetain(&d->context, d->handle),
                            "cuDevicePrimaryCtxRetain(%d)", d->ordinal);
    if (st) pthread_mutex_destroy(&d->hold.lock);
    return st;
}

static cubc_status cuda_open(int index, cubc_device **out)
{
    int count;
    *out = NULL;
    TRY(count_devices(&count));
    if (index < 0 || index >= count)
        FAIL(CUBC_NO_DEVICE, "there is no cuda:%d, the last one is cuda:%d", index, count - 1);
    if (capability(index) < LEAST_CAPABILITY)
        FAIL(CUBC_NO_DEVICE, "cuda:%d is sm_%d, cubc needs sm_%d or newer", index,
             capability(index), LEAST_CAPABILITY);
    cuda_device *d = mem_zalloc(1, sizeof *d);
    if (!d) return CUBC_NO_MEMORY;
    d->base.api = &device_cuda_api;
    d->ordinal = index;
    d->capability = capability(index);
    cubc_status st = open_device(d);
    if (st) {
        mem_free(d);
        return st;
    }
    bool pushed;
    st = cuda_context_enter(d, &pushed);
    if (!st) {
        st = open_in_context(d);
        cuda_context_leave(pushed);
    }
    if (st)
        cuda_close(&d->base);
    else
        *out = &d->base;
    return st;
}

// ---- memory -----------------------------------------------------------------------------------
// Allocates from the pool. Where that has no memory left, kept blocks go back to it: those of the
// stream, then those of all.
static cubc_status alloc_from_pool(cuda_device *d, size_t bytes, uint64_t id, void *stream,
                                   void **out)
{
    for (;;) {
        size_t room = block_cache_room(bytes);
        cudaError_t code = cuda.cudaMallocFromPoolAsync(out, room, d->pool, stream);
        void *kept = NULL;
        if (code == CUDA_ERROR_OUT_OF_MEMORY && (kept = block_cache_give_up(d->blocks, id)))
            cuda.cudaFreeAsync(kept, stream);
        if (code != CUDA_ERROR_OUT_OF_MEMORY || (!kept && !free_kept_blocks(d)))
            return RUNTIME(code, "cudaMallocFromPoolAsync(%zu)", bytes);
        cuda.cudaGetLastError();
    }
}

static cubc_status alloc_kept(cuda_device *d, size_t bytes, void *stream, void **out)
{
    uint64_t id = cuda_stream_id(&d->base, stream);
    *out = block_cache_take(d->blocks, id, bytes);
    if (*out) return CUBC_OK;
    TRY(alloc_from_pool(d, bytes, id, stream, out));
    block_cache_lend(d->blocks, *out, bytes);
    return CUBC_OK;
}

// Takes no kept block while a graph is captured: each replay would write to it.
static cubc_status alloc_captured(cuda_device *d, size_t bytes, void *stream, void **out)
{
    if (!d->pool) // freed before a replay needs it
        FAIL(CUBC_DEVICE_ERROR, "this GPU has no memory pools, so a graph cannot own memory: give "
                                "outputs and workspace to a call that is captured");
    return RUNTIME(cuda.cudaMallocFromPoolAsync(out, bytes, d->pool, stream),
                   "cudaMallocFromPoolAsync(%zu)", bytes);
}

static cubc_status cuda_alloc(cubc_device *device, size_t bytes, void *stream, void **out)
{
    cuda_device *d = (cuda_device *)device;
    size_t size = bytes ? bytes : 1;
    bool pushed;
    *out = NULL;
    TRY(cuda_context_enter(d, &pushed));
    cubc_status st = cuda_stream_is_capturing(device, stream) ? alloc_captured(d, size, stream, out)
                     : d->pool                                ? alloc_kept(d, size, stream, out)
                               : RUNTIME(cuda.cudaMalloc(out, size), "cudaMalloc(%zu)", bytes);
    cuda_context_leave(pushed);
    return st;
}

// True if the block is kept for the stream's next allocation.
static bool keep_block(cuda_device *d, void *pointer, void *stream)
{
    if (!cuda_stream_is_capturing(&d->base, stream))
        return block_cache_keep(d->blocks, cuda_stream_id(&d->base, stream), pointer);
    block_cache_forget(d->blocks, pointer);
    return false;
}

static void cuda_free(cubc_device *device, void *pointer, void *stream)
{
    cuda_device *d = (cuda_device *)device;
    bool pushed;
    if (!pointer || cuda_context_enter(d, &pushed)) return;
    if (d->pool ? !keep_block(d, pointer, stream) && cuda.cudaFreeAsync(pointer, stream)
                : cuda.cudaFree(pointer))
        cuda.cudaGetLastError();
    cuda_context_leave(pushed);
}

// Unregistered host memory is unknown to the driver: its type is left at 0. (The call for a single
// attribute makes that an error, which a debugger would report.)
static bool is_on_device(const void *pointer)
{
    int type = 0, attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    void *values[] = {&type};
    return cuda.cuPointerGetAttributes(1, &attribute, values, (CUdeviceptr)(uintptr_t)pointer) ==
               CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_DEVICE;
}

// Asked for each foreign array of a call, so what was found once is not looked for again.
static bool has_device(void)
{
    static atomic_bool found;
    const char *why;
    if (!atomic_load_explicit(&found, memory_order_relaxed))
        atomic_store(&found, cuda_count(&why) > 0);
    return atomic_load_explicit(&found, memory_order_relaxed);
}

// The driver leaves the type of unknown memory at 0. *end: of the allocation, or 0.
static int look_up(uintptr_t pointer, uintptr_t *end)
{
    int type = 0, ordinal = -1;
    CUdeviceptr start = 0;
    size_t bytes = 0;
    int attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *values[] = {&type, &ordinal, &start, &bytes};
    *end = 0;
    if (cuda.cuPointerGetAttributes(COUNT_OF(attributes), attributes, values, (CUdeviceptr)pointer))
        return -1;
    if (start && start <= pointer && bytes > pointer - start) *end = (uintptr_t)start + bytes;
    return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_HOST ? ordinal : -1;
}

// A look-up takes the driver half a microsecond, so the end is looked for by itself only where the
// allocation ends before: several may lie side by side, as those of growing pools do.
static int cuda_index_of(const void *pointer, size_t bytes, bool *whole)
{
    uintptr_t at = (uintptr_t)pointer, end, unused;
    int index = has_device() ? look_up(at, &end) : -1;
    *whole = index >= 0 && (!bytes || (end && bytes <= end - at) ||
                            (at + (bytes - 1) > at && look_up(at + (bytes - 1), &unused) == index));
    return index;
}

// Pinned host memory is written by the device itself, and is its owner's again when a copy returns.
static void settle(void *stream, const void *to, const void *from)
{
    uintptr_t unused;
    if (look_up((uintptr_t)to, &unused) >= 0 && look_up((uintptr_t)from, &unused) >= 0)
        while (cuda_stream_wait(stream) == CUBC_INTERRUPTED) continue;
}

static cubc_status copy(cubc_device *device, void *to, const void *from, size_t bytes, void *stream)
{
    bool with_host = !is_on_device(to) || !is_on_device(from);
    if (with_host && cuda_stream_is_capturing(device, stream))
        return cuda_stream_wait(stream); // fails, before anything is queued
    TRY(RUNTIME(cuda.cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream),
                "cudaMemcpyAsync(%zu)", bytes));
    if (!with_host) return CUBC_OK;
    cubc_status st = cuda_stream_wait(stream);
    if (st == CUBC_INTERRUPTED) settle(stream, to, from);
    return st;
}

static cubc_status cuda_copy(cubc_device *device, void *to, const void *from, size_t bytes,
                             void *stream)
{
    cuda_visit v;
    if (bytes == 0) return CUBC_OK;
    TRY(cuda_enter_aside((cuda_device *)device, &v)); // of another thread's capture
    cubc_status st = copy(device, to, from, bytes, stream);
    cuda_leave_aside(&v);
    return st;
}

static cubc_status cuda_fill(cubc_device *device, void *to, int byte, size_t bytes, void *stream)
{
    bool pushed;
    if (bytes == 0) return CUBC_OK;
    TRY(cuda_context_enter((cuda_device *)device, &pushed));
    cubc_status st =
        RUNTIME(cuda.cudaMemsetAsync(to, byte, bytes, stream), "cudaMemsetAsync(%zu)", bytes);
    cuda_context_leave(pushed);
    return st;
}

static cubc_status cuda_step(cubc_device *device, const host_step *step, void *stream)
{
    (void)device;
    return step->take(step->args, stream);
}

const device_api device_cuda_api = {
    .kind = "cuda",
    .count = cuda_count,
    .index_of = cuda_index_of,
    .open = cuda_open,
    .close = cuda_close,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .copy = cuda_copy,
    .fill = cuda_fill,
    .share = cuda_share,
    .share_end = cuda_share_end,
    .share_open = cuda_share_open,
    .share_close = cuda_share_close,
    .messenger_id = cuda_nccl_id,
    .messenger_open = cuda_nccl_open,
    .synchronize = cuda_stream_synchronize,
    .order = cuda_stream_order,
    .is_capturing = cuda_stream_is_capturing,
    .stream_create = cuda_stream_create,
    .stream_destroy = cuda_stream_destroy,
    .stream_id = cuda_stream_id,
    .event_create = cuda_event_create,
    .event_destroy = cuda_event_destroy,
    .event_record = cuda_event_record,
    .event_wait = cuda_event_wait,
    .event_reached = cuda_event_reached,
    .event_synchronize = cuda_event_synchronize,
    .event_elapsed = cuda_event_elapsed,
    .compile = cuda_compile_source,
    .compiler = cuda_compile_name,
    .check = cuda_module_check,
    .load = cuda_module_load,
    .unload = cuda_module_unload,
    .kernel = cuda_module_kernel,
    .launch = cuda_module_launch,
    .step = cuda_step,
    .record = cuda_graph_record,
    .record_end = cuda_graph_end,
    .replay = cuda_graph_replay,
    .recording_free = cuda_graph_free,
    .flush = cuda_hold_flush,
    .hold = cuda_hold_begin,
    .release = cuda_hold_end,
    .clock_mark = cuda_clock_mark,
    .clock_hertz = cuda_clock_hertz,
    .sensors = cuda_nvml_sensors,
    .energy = cuda_nvml_energy,
};
