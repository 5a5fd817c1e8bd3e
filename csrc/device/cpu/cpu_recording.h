// Recordings of the CPU device: launches, steps of the host and fills, kept as they are and done at
// each replay.
#ifndef CUBC_CPU_RECORDING_H
#define CUBC_CPU_RECORDING_H

#include "device/device.h"

cubc_status cpu_recording_begin(cubc_device *device, void *stream);
cubc_status cpu_recording_end(cubc_device *device, void *stream, device_recording **out);
cubc_status cpu_recording_replay(cubc_device *device, device_recording *recording, void *stream);
void cpu_recording_free(cubc_device *device, device_recording *recording);

// True if this thread is recording what is queued on the stream.
bool cpu_recording_is_on(const void *stream);
cubc_status cpu_recording_add(const device_kernel *kernel, const launch_shape *shape,
                              const void *args, size_t args_bytes);
cubc_status cpu_recording_add_step(const host_step *step);
cubc_status cpu_recording_add_fill(void *to, int byte, size_t bytes);

#endif
