// A CUDA device, and its primary context, in which all of its files work.
#ifndef CUBC_CUDA_CONTEXT_H
#define CUBC_CUDA_CONTEXT_H

#include "device/cuda/block_cache.h"
#include "device/cuda/cuda_api.h"
#include "device/device.h"

#include <pthread.h>

enum { SHARED_WITHOUT_OPT_IN = 48 * 1024 }; // bytes that any block may use, on every device

typedef struct cuda_hold {
    pthread_mutex_t lock; // guards creation
    bool created;
    device_module *module;
    device_kernel kernel;
    _Atomic uint64_t *words; // mapped host memory: [0] last released ticket, [1] last late one
    void *device_words;      // the same words as the kernel sees them
    uint64_t ticket;         // last one handed out
    void *flush_buffer;      // of exactly the size of the last-level cache; NULL until first used
} cuda_hold;

typedef struct cuda_clock {
    bool created;
    device_module *module;
    device_kernel kernel;
    _Atomic uint64_t *words; // mapped host memory, written by the marks
    void *device_words;
} cuda_clock;

typedef struct cuda_sensors { // the last reading
    void *handle;             // NVML's, of this GPU; NULL until it is known
    double read_at;           // 0: never
    double celsius, watts;    // 0: unknown
} cuda_sensors;

typedef struct cuda_device {
    cubc_device base;
    int ordinal; // as CUDA counts, and as CuPy and PyTorch do
    CUdevice handle;
    int capability;      // 90: sm_90
    CUcontext context;   // the primary one, shared with every other user of the runtime
    cudaMemPool_t pool;  // NULL where the device has no stream-ordered allocator
    block_cache *blocks; // before the pool; NULL where there is none
    cudaStream_t aside;  // for our own copies: waits for no other stream and no other for it
    cuda_hold hold;
    cuda_clock clock; // guarded by the lock of `hold`
    cuda_sensors sensors;
} cuda_device;

// Make the device's primary context current, and undo that. It mostly is current already, which
// costs one look at a thread-local; otherwise it is pushed for the call only, so that the device
// that the calling thread had chosen (torch.cuda.set_device) stays chosen.
cubc_status cuda_context_enter(const cuda_device *device, bool *pushed);
void cuda_context_leave(bool pushed);

// Loading a kernel, or asking an event, is no part of what this thread or another is capturing into
// a graph, which it would spoil. With cudaStreamCaptureModeRelaxed this says so to CUDA, for this
// thread; the same call undoes it.
void cuda_capture_exchange(int *mode);

// A thread in the device's context, aside of what is being captured.
typedef struct cuda_visit {
    bool pushed;
    int mode;
} cuda_visit;
cubc_status cuda_enter_aside(const cuda_device *device, cuda_visit *v);
void cuda_leave_aside(cuda_visit *v);

#endif
