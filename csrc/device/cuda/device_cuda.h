// The common part of the files of the CUDA device: device_cuda.c (devices and memory),
// cuda_share.c (memory of several processes), cuda_nccl.c (messages), cuda_context.c (the context),
// cuda_stream.c (streams and events), cuda_graph.c (recordings), cuda_module.c (kernels),
// cuda_compile.c (NVRTC) and cuda_hold.c, cuda_clock.c and cuda_nvml.c (what measuring needs).
// Nothing else includes this.
#ifndef CUBC_DEVICE_CUDA_H
#define CUBC_DEVICE_CUDA_H

#include "device/cuda/cuda_context.h"

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

bool cuda_event_reached(cubc_device *device, device_event *event);
cubc_status cuda_event_synchronize(cubc_device *device, device_event *event);

cubc_status cuda_share(cubc_device *device, size_t bytes, device_card *card, void **out);
void cuda_share_end(cubc_device *device, device_card *card);
cubc_status cuda_share_open(cubc_device *device, const device_card *card, size_t bytes, void **out);
void cuda_share_close(cubc_device *device, const device_card *card, void *memory, size_t bytes);

cubc_status cuda_graph_record(cubc_device *device, void *stream);
cubc_status cuda_graph_end(cubc_device *device, void *stream, device_recording **out);
cubc_status cuda_graph_replay(cubc_device *device, device_recording *recording, void *stream);
void cuda_graph_free(cubc_device *device, device_recording *recording);

cubc_status cuda_nccl_id(unsigned char id[MESSENGER_ID_BYTES]);
cubc_status cuda_nccl_open(cubc_device *device, const unsigned char id[MESSENGER_ID_BYTES],
                           int rank, int size, double seconds, messenger **out);

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
double cuda_nvml_energy(cubc_device *device);

#endif
