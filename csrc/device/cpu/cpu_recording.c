// Recordings of the CPU device: see cpu_recording.h.
#include "device/cpu/cpu_recording.h"

#include <string.h>

typedef struct recorded { // a step where there is one, a fill where there is memory, or a launch
    struct recorded *next;
    host_step step;
    void *filled;
    int byte;
    size_t bytes;
    device_kernel kernel;
    launch_shape shape;
    size_t args_bytes;
    _Alignas(16) unsigned char args[];
} recorded;

struct device_recording {
    recorded *first, **last;
    void *stream;
};

static _Thread_local device_recording *current;

bool cpu_recording_is_on(const void *stream)
{
    return current && current->stream == stream;
}

cubc_status cpu_recording_begin(cubc_device *device, void *stream)
{
    if (current) FAIL(CUBC_DEVICE_ERROR, "%s: the thread is recording already", device->info.name);
    current = mem_zalloc(1, sizeof *current);
    if (!current) return CUBC_NO_MEMORY;
    current->stream = stream;
    current->last = &current->first;
    return CUBC_OK;
}

cubc_status cpu_recording_end(cubc_device *device, void *stream, device_recording **out)
{
    *out = NULL;
    if (!cpu_recording_is_on(stream))
        FAIL(CUBC_DEVICE_ERROR, "%s: the stream is not being recorded", device->info.name);
    *out = current;
    current = NULL;
    return CUBC_OK;
}

static void append(recorded *r)
{
    *current->last = r;
    current->last = &r->next;
}

cubc_status cpu_recording_add_step(const host_step *step)
{
    recorded *r = mem_zalloc(1, sizeof *r);
    if (!r) return CUBC_NO_MEMORY;
    r->step = *step;
    append(r);
    return CUBC_OK;
}

cubc_status cpu_recording_add_fill(void *to, int byte, size_t bytes)
{
    recorded *r = mem_zalloc(1, sizeof *r);
    if (!r) return CUBC_NO_MEMORY;
    r->filled = to;
    r->byte = byte;
    r->bytes = bytes;
    append(r);
    return CUBC_OK;
}

cubc_status cpu_recording_add(const device_kernel *kernel, const launch_shape *shape,
                              const void *args, size_t args_bytes)
{
    recorded *r = mem_zalloc(1, sizeof *r + args_bytes);
    if (!r) return CUBC_NO_MEMORY;
    r->kernel = *kernel;
    r->shape = *shape;
    r->args_bytes = args_bytes;
    memcpy(r->args, args, args_bytes);
    append(r);
    return CUBC_OK;
}

cubc_status cpu_recording_replay(cubc_device *device, device_recording *recording, void *stream)
{
    for (const recorded *r = recording->first; r; r = r->next)
        if (r->step.take)
            TRY(r->step.take(r->step.args, stream));
        else if (r->filled)
            memset(r->filled, r->byte, r->bytes);
        else
            TRY(device->api->launch(device, &r->kernel, &r->shape, r->args, r->args_bytes, stream));
    return CUBC_OK;
}

void cpu_recording_free(cubc_device *device, device_recording *recording)
{
    (void)device;
    while (recording && recording->first) {
        recorded *r = recording->first;
        recording->first = r->next;
        mem_free(r);
    }
    mem_free(recording);
}
