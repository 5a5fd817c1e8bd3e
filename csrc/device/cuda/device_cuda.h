// The common part of the files of the CUDA device: device_cuda.c (devices and memory),
// cuda_stream.c (streams and events), cuda_graph.c (recordings), cuda_module.c (kernels),
// cuda_compile.c (NVRTC) and cuda_hold.c, cuda_clock.c and cuda_nvml.c (what measuring needs).
// Nothing else includes this.
#ifndef CUBC_DEVICE_CUDA_H
#define CUBC_DEVICE_CUDA_H

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
    int capability;     // 90: sm_90
    CUcontext context;  // the primary one, shared with every other user of the runtime
    cudaMemPool_t pool; // NULL where the device has no stream-ordered allocator
    cudaStream_t aside; // for our own copies: waits for no other stream and no other for it
    cuda_hold hold;
    cuda_clock clock; // guarded by the lock of `hold`
    cuda_sensors sensors;
} cuda_device;

// Make the device's primary context current, and undo that. It mostly is current already, which
// costs one look at a thread-local; otherwise it is pushed for the call only, so that the device
// that the calling thread had chosen (torch.cuda.set_device) stays chosen.
cubc_status device_cuda_enter(const cuda_device *device, bool *pushed);
void device_cuda_leave(bool pushed);

cubc_status cuda_stream_wait(void *stream); // with the context current
cubc_status cuda_stream_synchronize(cubc_device *device, void *stream);
cubc_status cuda_stream_order(cubc_device *device, void *later, void *earlier);
bool cuda_stream_is_capturing(cubc_device *device, void *stream);
cubc_status cuda_stream_create(cubc_device *device, void **out);
void cuda_stream_destroy(cubc_device *device, void *stream);
uint64_t cuda_stream_id(cubc_device *device, void *stream);
cubc_status cuda_event_create(cubc_device *device, device_event **out);
void cuda_event_destroy(cubc_device *device, device_event *event);
cubc_status cuda_event_record(cubc_device *device, device_event *event, void *stream);
cubc_status cuda_event_wait(cubc_device *device, device_event *event, void *stream);
cubc_status cuda_event_elapsed(cubc_device *device, device_event *start, device_event *stop,
                               double *seconds);

cubc_status cuda_event_synchronize(cubc_device *device, device_event *event);

cubc_status cuda_graph_record(cubc_device *device, void *stream);
cubc_status cuda_graph_end(cubc_device *device, void *stream, device_recording **out);
cubc_status cuda_graph_replay(cubc_device *device, device_recording *recording, void *stream);
void cuda_graph_free(cubc_device *device, device_recording *recording);

cubc_status cuda_compile_source(const compile_request *request, binary *out);
cubc_status cuda_compile_name(char *name, size_t size);

cubc_status cuda_module_check(const binary *code);
cubc_status cuda_module_load(cubc_device *device, const binary *code, device_module **out);
void cuda_module_unload(cubc_device *device, device_module *module);
cubc_status cuda_module_kernel(cubc_device *device, device_module *module, const char *name,
                               unsigned threads, device_kernel *out);
cubc_status cuda_module_launch(cubc_device *device, const device_kernel *kernel,
                               const launch_shape *shape, const void *args, size_t args_bytes,
                               void *stream);

cubc_status cuda_hold_open(cuda_device *device);
void cuda_hold_close(cuda_device *device); // with the context current
cubc_status cuda_hold_flush(cubc_device *device, void *stream);
cubc_status cuda_hold_begin(cubc_device *device, void *stream);
cubc_status cuda_hold_end(cubc_device *device);

cubc_status cuda_clock_mark(cubc_device *device, int which, void *stream);
double cuda_clock_hertz(cubc_device *device);
void cuda_clock_close(cuda_device *device); // with the context current

void cuda_nvml_driver(char *release, unsigned size); // "580.159.03"; empty if it is not known
void cuda_nvml_sensors(cubc_device *device, double *celsius, double *watts);

#endif
