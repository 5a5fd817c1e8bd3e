// Streams and events of the CUDA device: their order, what waits for them, and whether they are
// being captured into a graph, in which case nothing may wait.
#include "device/cuda/device_cuda.h"

static const double spin_s = 50e-6;      // a wait spins this long, then sleeps in between
static const double interrupt_s = 50e-3; // how often a wait looks for Ctrl-C
static const double nap_s = 50e-6;

struct device_event {
    cudaEvent_t handle;
};

// ---- streams ----------------------------------------------------------------------------------
// The default stream of old, which most calls use: it cannot be captured, and it is always the
// same, so that two questions on the hot path need no driver.
static bool is_legacy(const void *stream)
{
    return (uintptr_t)stream <= 1; // NULL, or CUDA's handle for it
}

static bool is_capturing(void *stream)
{
    int status = 0;
    if (is_legacy(stream)) return false;
    if (cuda.cudaStreamIsCapturing(stream, &status) == CUDA_SUCCESS)
        return status == cudaStreamCaptureStatusActive;
    cuda.cudaGetLastError();
    return false;
}

bool cuda_stream_is_capturing(cubc_device *device, void *stream)
{
    bool pushed;
    if (is_legacy(stream) || cuda_context_enter((cuda_device *)device, &pushed)) return false;
    bool capturing = is_capturing(stream);
    cuda_context_leave(pushed);
    return capturing;
}

// Until the event is reached, or all of the stream if there is none.
static cubc_status wait_for(void *stream, cudaEvent_t event)
{
    double start = now_seconds(), polled = start;
    for (;;) {
        // The driver's call and not the runtime's, whose "not ready" would stay behind as the
        // last error that another library reads.
        CUresult code = event ? cuda.cuEventQuery(event) : cuda.cuStreamQuery(stream);
        if (code != CUDA_ERROR_NOT_READY)
            return DRIVER(code, event ? "cuEventQuery" : "cuStreamQuery");
        double now = now_seconds();
        if (now - start < spin_s) continue;
        if (now - polled > interrupt_s) {
            polled = now;
            if (interrupt_pending()) FAIL(CUBC_INTERRUPTED, "interrupted while waiting for a GPU");
        }
        nap(nap_s);
    }
}

cubc_status cuda_stream_wait(void *stream)
{
    if (is_capturing(stream)) // asking would spoil the capture
        FAIL(CUBC_DEVICE_ERROR, "the stream is being captured into a graph: it cannot be waited "
                                "for, nor copied to or from the host");
    return wait_for(stream, NULL);
}

cubc_status cuda_stream_synchronize(cubc_device *device, void *stream)
{
    bool pushed;
    TRY(cuda_context_enter((cuda_device *)device, &pushed));
    cubc_status st = cuda_stream_wait(stream);
    cuda_context_leave(pushed);
    return st;
}

// Makes a stream that does not wait for the legacy default stream: while one that does is recorded,
// each use of the default stream fails, in any thread. cuda_stream_order orders it with others.
cubc_status cuda_stream_create(cubc_device *device, void **out)
{
    cudaStream_t stream = NULL;
    bool pushed;
    *out = NULL;
    TRY(cuda_context_enter((cuda_device *)device, &pushed));
    cubc_status st = RUNTIME(cuda.cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                             "cudaStreamCreateWithFlags");
    cuda_context_leave(pushed);
    *out = stream;
    return st;
}

// Frees the blocks that a stream keeps, in its order.
static void free_blocks_of(cuda_device *d, void *stream)
{
    if (!d->blocks) return;
    uint64_t id = cuda_stream_id(&d->base, stream);
    for (void *kept; (kept = block_cache_give_up(d->blocks, id));)
        if (cuda.cudaFreeAsync(kept, stream)) cuda.cudaGetLastError();
    block_cache_end_stream(d->blocks, id);
}

void cuda_stream_destroy(cubc_device *device, void *stream)
{
    bool pushed;
    if (!stream || cuda_context_enter((cuda_device *)device, &pushed)) return;
    free_blocks_of((cuda_device *)device, stream);
    if (cuda.cudaStreamDestroy(stream)) cuda.cudaGetLastError();
    cuda_context_leave(pushed);
}

uint64_t cuda_stream_id(cubc_device *device, void *stream)
{
    unsigned long long id = (uintptr_t)stream;
    bool pushed;
    if (is_legacy(stream)) return UINT64_MAX; // far from those that CUDA counts up
    if (cuda_context_enter((cuda_device *)device, &pushed)) return id;
    if (cuda.cuStreamGetId(stream, &id)) id = (uintptr_t)stream;
    cuda_context_leave(pushed);
    return id;
}

// ---- events -----------------------------------------------------------------------------------
cubc_status cuda_event_create(cubc_device *device, device_event **out)
{
    cuda_visit v;
    *out = NULL;
    device_event *event = mem_zalloc(1, sizeof *event);
    if (!event) return CUBC_NO_MEMORY;
    cubc_status st = cuda_enter_aside((cuda_device *)device, &v);
    if (!st) {
        st = RUNTIME(cuda.cudaEventCreateWithFlags(&event->handle, cudaEventDefault),
                     "cudaEventCreateWithFlags");
        cuda_leave_aside(&v);
    }
    if (st)
        mem_free(event);
    else
        *out = event;
    return st;
}

void cuda_event_destroy(cubc_device *device, device_event *event)
{
    cuda_visit v;
    if (!event) return;
    if (!cuda_enter_aside((cuda_device *)device, &v)) {
        if (cuda.cudaEventDestroy(event->handle)) cuda.cudaGetLastError();
        cuda_leave_aside(&v);
    }
    mem_free(event);
}

static cubc_status wait_in_stream(void *later, void *earlier)
{
    cudaEvent_t event;
    TRY(RUNTIME(cuda.cudaEventCreateWithFlags(&event, cudaEventDisableTiming),
                "cudaEventCreateWithFlags"));
    cubc_status st = RUNTIME(cuda.cudaEventRecord(event, earlier), "cudaEventRecord");
    if (!st) st = RUNTIME(cuda.cudaStreamWaitEvent(later, event, 0), "cudaStreamWaitEvent");
    if (cuda.cudaEventDestroy(event)) cuda.cudaGetLastError(); // once it has been reached
    return st;
}

cubc_status cuda_stream_order(cubc_device *device, void *later, void *earlier)
{
    bool pushed;
    if (later == earlier) return CUBC_OK;
    TRY(cuda_context_enter((cuda_device *)device, &pushed));
    cubc_status st = CUBC_OK;
    if (is_capturing(later) == is_capturing(earlier)) st = wait_in_stream(later, earlier);
    cuda_context_leave(pushed);
    return st;
}

cubc_status cuda_event_record(cubc_device *device, device_event *event, void *stream)
{
    bool pushed;
    TRY(cuda_context_enter((cuda_device *)device, &pushed));
    cubc_status st = RUNTIME(cuda.cudaEventRecord(event->handle, stream), "cudaEventRecord");
    cuda_context_leave(pushed);
    return st;
}

cubc_status cuda_event_wait(cubc_device *device, device_event *event, void *stream)
{
    bool pushed;
    TRY(cuda_context_enter((cuda_device *)device, &pushed));
    cubc_status st =
        RUNTIME(cuda.cudaStreamWaitEvent(stream, event->handle, 0), "cudaStreamWaitEvent");
    cuda_context_leave(pushed);
    return st;
}

bool cuda_event_reached(cubc_device *device, device_event *event)
{
    cuda_visit v;
    if (cuda_enter_aside((cuda_device *)device, &v)) return true;
    bool reached = cuda.cuEventQuery(event->handle) != CUDA_ERROR_NOT_READY;
    cuda_leave_aside(&v);
    return reached;
}

cubc_status cuda_event_synchronize(cubc_device *device, device_event *event)
{
    cuda_visit v;
    TRY(cuda_enter_aside((cuda_device *)device, &v));
    cubc_status st = wait_for(NULL, event->handle);
    cuda_leave_aside(&v);
    return st;
}

cubc_status cuda_event_elapsed(cubc_device *device, device_event *start, device_event *stop,
                               double *seconds)
{
    float milliseconds = 0;
    cuda_visit v;
    TRY(cuda_enter_aside((cuda_device *)device, &v));
    cubc_status st = RUNTIME(cuda.cudaEventElapsedTime(&milliseconds, start->handle, stop->handle),
                             "cudaEventElapsedTime");
    cuda_leave_aside(&v);
    *seconds = 1e-3 * (double)milliseconds;
    return st;
}
