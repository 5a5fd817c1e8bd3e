// A user's own source: compiled and loaded like every variant. Its kernels are launched at once, or
// recorded as the list of launches that makes up a work to be measured.
#ifndef CUBC_PROGRAM_H
#define CUBC_PROGRAM_H

#include "compile/variant.h"

typedef struct program program;

// The text in front of a plain CUDA source for an arch: KERNEL_ENTRY alone on CUDA, and all of
// CUDA's names on the cpu. A source that uses the collectives is compiled for blocks of
// `threads` threads, and has the names of the dialect in front too; for others threads is 0.
cubc_status program_prelude(const char *arch, unsigned threads, text *out);

// Compiles a complete source, through the cache on disk, and loads it.
cubc_status program_open(cubc_device *device, const char *source, const char *title, program **out);
void program_close(program *p);
cubc_device *program_device(const program *p);
uint64_t program_serial(const program *p); // serial_number()

// Looks a kernel up for blocks of `threads` threads; the program keeps what it has found.
cubc_status program_kernel(program *p, const char *name, unsigned threads,
                           const device_kernel **out);
// Queues one launch.
cubc_status program_launch(program *p, const device_kernel *kernel, const launch_shape *shape,
                           const void *args, void *stream);
// Adds a launch to the work. The arguments are copied; what they point to is the caller's.
cubc_status program_add(program *p, const device_kernel *kernel, const launch_shape *shape,
                        const void *args);
// The kernel of the first launch, or NULL.
const device_kernel *program_first(const program *p);
// Queues all launches, in the order in which they were added.
cubc_status program_queue(const program *p, void *stream);

#endif
