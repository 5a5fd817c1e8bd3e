// Bound calls: see bound.h.
#define _POSIX_C_SOURCE 200809L // PTHREAD_MUTEX_ERRORCHECK
#include "run/bound.h"

#include "run/plan.h"
#include "run/table.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef struct part { // a call, or a launch of a user's kernel
    struct part *next;
    void *messages, *scratch;
    call_work work;
    char name[64]; // of the work
    plan plan;
    const device_kernel *kernel; // a user's; NULL: it is a call
    launch_shape shape;
    void *args;
} part;

struct bound {
    cubc_device *device; // retained
    void *stream;
    pthread_mutex_t lock; // the launches of one run follow each other
    unsigned forks;       // of the process that the lock is of
    part *first, **last;
    device_recording *recording; // of all launches
    call_round calls;            // of one run
    uint32_t runs;               // since the messages were cleared
};

// A call that a signal handler makes within one of the same calls is refused: it could not wait.
static void make_lock(bound *b)
{
    lock_make_checking(&b->lock);
    __atomic_store_n(&b->forks, fork_count(), __ATOMIC_RELEASE);
}

cubc_status bound_open(cubc_device *device, void *stream, bound **out)
{
    *out = NULL;
    if (device->api->is_capturing(device, stream))
        FAIL(CUBC_INVALID_ARGUMENT, "a call cannot be bound while its stream is being captured");
    bound *b = mem_zalloc(1, sizeof *b);
    if (!b) return CUBC_NO_MEMORY;
    b->device = device;
    b->stream = stream;
    b->last = &b->first;
    device_retain(device);
    make_lock(b);
    *out = b;
    return CUBC_OK;
}

bool bound_is_on(const bound *b, const cubc_device *device, const void *stream)
{
    return b->device == device && b->stream == stream;
}

// ---- binding ------------------------------------------------------------------------------------
static cubc_status allocate(const bound *b, size_t bytes, void **out)
{
    return bytes ? b->device->api->alloc(b->device, bytes, b->stream, out) : CUBC_OK;
}

// Closing frees it, whatever becomes of it. NULL: there is no memory.
static part *append(bound *b, const call_work *work)
{
    part *new = mem_zalloc(1, sizeof *new);
    if (!new) return NULL;
    *b->last = new;
    b->last = &new->next;
    new->work = *work;
    snprintf(new->name, sizeof new->name, "%s", work->name);
    new->work.name = new->name;
    return new;
}

static cubc_status add_by_itself(bound *b, const problem *p)
{
    table *t;
    instance *i;
    TRY(table_of(b->device, &t));
    TRY(table_find(t, p, b->stream, &i));
    const call_work work = call_work_of(p, i);
    part *new = append(b, &work);
    if (!new) return CUBC_NO_MEMORY;
    TRY(plan_make(p, i, &new->plan));
    TRY(allocate(b, new->plan.message_bytes, &new->messages));
    TRY(allocate(b, new->plan.scratch_bytes, &new->scratch));
    return plan_place(&new->plan, new->messages, new->scratch);
}

cubc_status bound_add(bound *b, const problem *p)
{
    const uint64_t steps = problem_steps(p, b->device->info.kind);
    problem step;
    if (!steps) return add_by_itself(b, p);
    for (uint64_t k = 0; k < steps; k++) {
        TRY(p->algorithm->step(p, k, &step));
        TRY(add_by_itself(b, &step));
    }
    return CUBC_OK;
}

cubc_status bound_add_launch(bound *b, const device_kernel *kernel, const launch_shape *shape,
                             const void *args, const call_work *work)
{
    size_t bytes = (size_t)kernel->info.args_bytes;
    part *new = append(b, work);
    if (!new) return CUBC_NO_MEMORY;
    new->args = mem_alloc(bytes + 1, 1);
    if (!new->args) return CUBC_NO_MEMORY;
    memcpy(new->args, args, bytes);
    new->kernel = kernel;
    new->shape = *shape;
    return CUBC_OK;
}

static cubc_status clear_messages(bound *b)
{
    for (const part *one = b->first; one; one = one->next)
        if (one->messages)
            TRY(b->device->api->fill(b->device, one->messages, 0, one->plan.message_bytes,
                                     b->stream));
    return CUBC_OK;
}

static cubc_status queue_part(const bound *b, const part *one, void *stream)
{
    if (!one->kernel) return plan_queue(b->device, &one->plan, one->scratch, stream);
    return b->device->api->launch(b->device, one->kernel, &one->shape, one->args,
                                  (size_t)one->kernel->info.args_bytes, stream);
}

static cubc_status queue_parts(const bound *b, void *stream)
{
    for (const part *one = b->first; one; one = one->next) TRY(queue_part(b, one, stream));
    return CUBC_OK;
}

// Only a stream of one's own can be recorded.
static cubc_status record(bound *b)
{
    const device_api *api = b->device->api;
    void *aside;
    TRY(api->stream_create(b->device, &aside));
    cubc_status st = api->record(b->device, aside);
    if (!st) {
        st = queue_parts(b, aside);
        cubc_status ended = api->record_end(b->device, aside, &b->recording);
        if (!st) st = ended;
    }
    api->stream_destroy(b->device, aside);
    return st;
}

cubc_status bound_end(bound *b)
{
    TRY(clear_messages(b));
    return record(b);
}

// ---- queueing -----------------------------------------------------------------------------------
// Calls that are recorded, one by one, so that each is timed by itself.
static cubc_status queue_recorded(bound *b)
{
    b->calls.count = 0;
    for (const part *one = b->first; one; one = one->next) {
        call_timer timer;
        TRY(calls_begin(b->device, &one->work, b->stream, &timer));
        cubc_status st = queue_part(b, one, b->stream);
        calls_queued(&timer, st);
        if (st) return st;
        calls_round_list(&b->calls, &timer);
    }
    return CUBC_OK;
}

static cubc_status replay(const bound *b)
{
    cubc_status st = b->device->api->replay(b->device, b->recording, b->stream);
    if (!st && calls_are_recorded()) calls_replayed(&b->calls);
    return st;
}

enum { MOST_RUNS = MESSAGE_LAUNCHES / MAX_LAUNCHES };

static cubc_status queue(bound *b)
{
    bool captured = b->device->api->is_capturing(b->device, b->stream);
    if (b->runs >= MOST_RUNS) {
        TRY(clear_messages(b));
        if (!captured) b->runs = 0; // a graph clears them no earlier than it runs
    }
    b->runs++;
    // Captured launches become part of a graph, which has no place for the recording.
    bool recorded = calls_are_recorded() && (captured || calls_round_is_due(&b->calls));
    cubc_status st = recorded   ? queue_recorded(b)
                     : captured ? queue_parts(b, b->stream)
                                : replay(b);
    if (st) b->runs = MOST_RUNS; // an abandoned launch leaves half of its messages
    return st;
}

FORK_SAFE_MUTEX(renewing);

// A forked child has the lock as it was, and half the messages, without the thread that ran.
static void renew_after_fork(bound *b)
{
    if (__atomic_load_n(&b->forks, __ATOMIC_ACQUIRE) == fork_count()) return;
    pthread_mutex_lock(&renewing);
    if (b->forks != fork_count()) {
        b->runs = MOST_RUNS;
        make_lock(b);
    }
    pthread_mutex_unlock(&renewing);
}

cubc_status bound_queue(bound *b)
{
    renew_after_fork(b);
    TRY(lock_or_interrupted(&b->lock, "a bound call cannot be called from within itself"));
    cubc_status st = queue(b);
    pthread_mutex_unlock(&b->lock);
    return st;
}

void bound_close(bound *b)
{
    if (!b) return;
    const device_api *api = b->device->api;
    if (b->recording) api->recording_free(b->device, b->recording);
    calls_round_free(&b->calls);
    while (b->first) {
        part *one = b->first;
        b->first = one->next;
        api->free(b->device, one->messages, b->stream);
        api->free(b->device, one->scratch, b->stream);
        mem_free(one->args);
        mem_free(one);
    }
    pthread_mutex_destroy(&b->lock);
    device_release(b->device);
    mem_free(b);
}
