// Calls that are bound to their arrays: planned once, with temporary storage of their own, recorded
// as one piece of work, and then queued any number of times for little more than one launch.
//
// The variants stay those that the policies chose when the calls were bound.
#ifndef CUBC_BOUND_H
#define CUBC_BOUND_H

#include "run/recorded_calls.h"

typedef struct bound bound;

// Nothing yet, on a device and a stream that is not being captured.
cubc_status bound_open(cubc_device *device, void *stream, bound **out);
// Adds a call that follows those before. Its arrays have to live as long as the bound calls.
cubc_status bound_add(bound *b, const problem *p);
// The same of a launch of a user's kernel, which has to live as long too; the arguments are copied.
// The work's axes are static.
cubc_status bound_add_launch(bound *b, const device_kernel *kernel, const launch_shape *shape,
                             const void *args, const call_work *work);
// Ends the adding; from now on they can be queued.
cubc_status bound_end(bound *b);
// On the stream of bound_open, since calls share their temporary storage. Any thread may queue.
cubc_status bound_queue(bound *b);
// True if they are on that device and stream.
bool bound_is_on(const bound *b, const cubc_device *device, const void *stream);
// Storage is freed after what is queued. NULL is allowed.
void bound_close(bound *b);

#endif
