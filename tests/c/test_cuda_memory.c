// Memory of the CUDA device (csrc/device/cuda/device_cuda.c) without a GPU: a driver that has room
// for a few blocks.
#include "check.h"
#include "device/cuda/device_cuda.h"

enum { ROOM = 3, BYTES = 1000 };

static int held, waits; // blocks that the driver has handed out, and waits for all work
static bool wait_fails;
static CUcontext context = (CUcontext)&held;

static CUresult current_context(CUcontext *out)
{
    *out = context;
    return CUDA_SUCCESS;
}

static CUresult wait_for_context(void)
{
    waits++;
    return wait_fails ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static cudaError_t allocate(void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    static uintptr_t next;
    (void)bytes, (void)pool, (void)stream;
    if (held == ROOM) return CUDA_ERROR_OUT_OF_MEMORY;
    held++;
    *pointer = (void *)(++next << 8);
    return 0;
}

static cudaError_t release(void *pointer, cudaStream_t stream)
{
    (void)pointer, (void)stream;
    held--;
    return 0;
}

static cudaError_t no_error(void)
{
    return 0;
}
static const char *words(cudaError_t code)
{
    return code ? "no memory" : "none";
}
static cudaError_t exchange(int *mode)
{
    return *mode = 0;
}
static cudaError_t not_capturing(cudaStream_t stream, int *status)
{
    (void)stream;
    return *status = 0;
}
static CUresult id_of(cudaStream_t stream, unsigned long long *id)
{
    *id = (uintptr_t)stream;
    return CUDA_SUCCESS;
}

static cuda_device make_device(void)
{
    cuda_device d = {.pool = (cudaMemPool_t)&held, .context = context};
    held = waits = 0;
    wait_fails = false;
    cuda.cuCtxGetCurrent = current_context;
    cuda.cuCtxSynchronize = wait_for_context;
    cuda.cudaMallocFromPoolAsync = allocate;
    cuda.cudaFreeAsync = release;
    cuda.cudaGetLastError = no_error;
    cuda.cudaGetErrorName = cuda.cudaGetErrorString = words;
    cuda.cudaThreadExchangeStreamCaptureMode = exchange;
    cuda.cudaStreamIsCapturing = not_capturing;
    cuda.cuStreamGetId = id_of;
    CHECK_STATUS(block_cache_open(&d.blocks), CUBC_OK);
    return d;
}

static void *const streams[] = {(void *)0x100, (void *)0x200};

// Fills the driver's room with blocks that a stream keeps.
static void keep_all(cuda_device *d, void *stream)
{
    void *blocks[ROOM];
    for (int k = 0; k < ROOM; k++)
        CHECK_STATUS(device_cuda_api.alloc(&d->base, BYTES, stream, &blocks[k]), CUBC_OK);
    for (int k = 0; k < ROOM; k++) device_cuda_api.free(&d->base, blocks[k], stream);
    CHECK(held == ROOM);
}

static void test_a_freed_block_serves_its_stream(void)
{
    cuda_device d = make_device();
    void *first, *again;
    CHECK_STATUS(device_cuda_api.alloc(&d.base, BYTES, streams[0], &first), CUBC_OK);
    device_cuda_api.free(&d.base, first, streams[0]);
    CHECK_STATUS(device_cuda_api.alloc(&d.base, BYTES, streams[0], &again), CUBC_OK);
    CHECK(again == first && held == 1);
    block_cache_close(d.blocks);
}

static void test_kept_blocks_go_back_where_memory_ends(void)
{
    cuda_device d = make_device();
    void *other;
    keep_all(&d, streams[0]);
    CHECK_STATUS(device_cuda_api.alloc(&d.base, 9 * BYTES, streams[0], &other), CUBC_OK);
    CHECK(held == ROOM && waits == 0); // one of the stream's own went back, in its order
    CHECK_STATUS(device_cuda_api.alloc(&d.base, BYTES, streams[1], &other), CUBC_OK);
    CHECK(held == 2 && waits == 1); // those of the other stream, after all work
    block_cache_close(d.blocks);
}

static void test_no_memory_is_an_error(void)
{
    cuda_device d = make_device();
    void *out = &d;
    held = ROOM;
    CHECK_STATUS(device_cuda_api.alloc(&d.base, BYTES, streams[0], &out), CUBC_NO_DEVICE_MEMORY);
    CHECK_CONTAINS(cubc_error_message(), "1000");
    CHECK(out == NULL);
    held = 0;
    keep_all(&d, streams[0]);
    wait_fails = true; // as while another library captures: kept blocks stay where they are
    CHECK_STATUS(device_cuda_api.alloc(&d.base, BYTES, streams[1], &out), CUBC_NO_DEVICE_MEMORY);
    CHECK(held == ROOM);
    block_cache_close(d.blocks);
}

// ---- recordings ---------------------------------------------------------------------------------
static bool captures;

static cudaError_t end_capture(cudaStream_t stream, cudaGraph_t *out)
{
    (void)stream;
    captures = false;
    *out = (cudaGraph_t)&held;
    return 0;
}

static cudaError_t instantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
    (void)flags;
    *out = (cudaGraphExec_t)graph;
    return 0;
}

static cudaError_t destroy(cudaGraph_t graph)
{
    (void)graph;
    return 0;
}

static cudaError_t destroy_instance(cudaGraphExec_t graph)
{
    (void)graph;
    return 0;
}

// A stream that goes on capturing takes no other work.
static void test_a_capture_ends_without_memory(void)
{
    cuda_device d = make_device();
    device_recording *recording = NULL;
    cuda.cudaStreamEndCapture = end_capture;
    cuda.cudaGraphInstantiateWithFlags = instantiate;
    cuda.cudaGraphDestroy = destroy;
    cuda.cudaGraphExecDestroy = destroy_instance;
    for (int nth = 1; nth >= 0; nth--) {
        captures = true;
        mem_fail_at(nth);
        cubc_status st = device_cuda_api.record_end(&d.base, streams[0], &recording);
        mem_fail_at(0);
        CHECK(st == (nth ? CUBC_NO_MEMORY : CUBC_OK) && !captures && !recording == !!nth);
    }
    device_cuda_api.recording_free(&d.base, recording);
    block_cache_close(d.blocks);
}

static const check_test tests[] = {
    {"a freed block serves its stream", test_a_freed_block_serves_its_stream},
    {"kept blocks go back where memory ends", test_kept_blocks_go_back_where_memory_ends},
    {"a capture ends without memory", test_a_capture_ends_without_memory},
    {"no memory is an error", test_no_memory_is_an_error},
};

int main(int argc, char **argv)
{
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
