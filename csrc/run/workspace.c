// Workspaces of a device: see workspace.h.
#define _POSIX_C_SOURCE 200809L
#include "run/workspace.h"

#include <pthread.h>

enum { STREAMS_WITHOUT_EVENT = 32, STREAMS_BEFORE_SHARING = 64 };

struct workspace {
    workspace *next;
    pthread_mutex_t busy; // from the acquire to the release
    uint64_t stream_id;   // read with the list's lock or its own, written with both
    uint64_t used;        // value of the pool's `uses`
    device_event *event;  // after its last launch; NULL: belongs to its stream for good
    void *messages, *scratch;
    workspace_bytes bytes;
    uint32_t launches; // since the messages were cleared
    unsigned forks;    // of the process when it was last used
};

FORK_SAFE_MUTEX(list_lock);

// Needs the list's lock. A launch of the parent may have left its lock and messages to a forked
// child.
static void renew_after_fork(workspace *w)
{
    if (w->forks == fork_count()) return;
    lock_make_checking(&w->busy);
    w->forks = fork_count();
    w->launches = MESSAGE_LAUNCHES;
}

// On the cpu a launch is over before the block is released, so a wait here may be long.
static cubc_status wait_until_free(workspace *w)
{
    return lock_or_interrupted(
        &w->busy, "a call on the cpu was made from within another, as by a signal handler");
}

static cubc_status create(workspace_pool *pool, cubc_device *device, uint64_t id, bool with_event,
                          workspace **out)
{
    workspace *w = *out = mem_zalloc(1, sizeof *w);
    if (!w) return CUBC_NO_MEMORY;
    cubc_status st = with_event ? device->api->event_create(device, &w->event) : CUBC_OK;
    if (st) {
        mem_free(w);
        *out = NULL;
        return st;
    }
    lock_make_checking(&w->busy);
    w->forks = fork_count();
    w->stream_id = id;
    w->next = pool->first;
    pool->first = w;
    return CUBC_OK;
}

// The one that may be passed on and was used longest ago; its lock is taken. NULL: there is none.
static workspace *oldest_free(workspace_pool *pool)
{
    workspace *oldest = NULL;
    for (workspace *w = pool->first; w; w = w->next) {
        if (w->forks != fork_count() || pthread_mutex_trylock(&w->busy) != 0) continue;
        workspace *other = w;
        if (w->event && (!oldest || w->used < oldest->used)) {
            other = oldest;
            oldest = w;
        }
        if (other) pthread_mutex_unlock(&other->busy);
    }
    return oldest;
}

static cubc_status find_or_make(workspace_pool *pool, cubc_device *device, void *stream,
                                uint64_t id, workspace **out)
{
    int count = 0;
    workspace *w = pool->first;
    for (; w && w->stream_id != id; w = w->next) count++;
    if (!w && count >= STREAMS_BEFORE_SHARING && (w = oldest_free(pool))) {
        cubc_status st = device->api->event_wait(device, w->event, stream);
        if (!st) w->stream_id = id;
        pthread_mutex_unlock(&w->busy);
        if (st) return st;
    }
    if (!w) TRY(create(pool, device, id, count >= STREAMS_WITHOUT_EVENT, &w));
    renew_after_fork(w);
    w->used = ++pool->uses;
    *out = w;
    return CUBC_OK;
}

// The stream's block, locked. Until it is locked it may be passed on to another stream.
static cubc_status lock_block(workspace_pool *pool, cubc_device *device, void *stream,
                              workspace **out)
{
    uint64_t id = device->api->stream_id(device, stream);
    for (;;) {
        pthread_mutex_lock(&list_lock);
        cubc_status st = find_or_make(pool, device, stream, id, out);
        pthread_mutex_unlock(&list_lock);
        TRY(st);
        TRY(wait_until_free(*out));
        if ((*out)->stream_id == id) return CUBC_OK;
        pthread_mutex_unlock(&(*out)->busy);
    }
}

static cubc_status allocate_cleared(cubc_device *device, size_t bytes, void *stream, void **out)
{
    TRY(device->api->alloc(device, bytes, stream, out));
    cubc_status st = device->api->fill(device, *out, 0, bytes, stream);
    if (st) {
        device->api->free(device, *out, stream);
        *out = NULL;
    }
    return st;
}

static size_t room_for(size_t bytes)
{
    size_t room = 65536;
    while (room < bytes) room *= 2;
    return room;
}

// Frees the memory that it held before, after the work that is queued on the stream.
static cubc_status grow_messages(workspace *w, cubc_device *device, size_t bytes, void *stream)
{
    void *memory;
    size_t room = room_for(bytes);
    TRY(allocate_cleared(device, room, stream, &memory));
    device->api->free(device, w->messages, stream);
    w->messages = memory;
    w->bytes.messages = room;
    w->launches = 0;
    return CUBC_OK;
}

static cubc_status grow_scratch(workspace *w, cubc_device *device, size_t bytes, void *stream)
{
    void *memory;
    size_t room = room_for(bytes);
    TRY(device->api->alloc(device, room, stream, &memory));
    device->api->free(device, w->scratch, stream);
    w->scratch = memory;
    w->bytes.scratch = room;
    return CUBC_OK;
}

static cubc_status lend_messages(workspace *w, cubc_device *device, size_t bytes, uint32_t launches,
                                 void *stream, workspace_lease *out)
{
    if (w->bytes.messages < bytes) {
        TRY(grow_messages(w, device, bytes, stream));
    } else if (w->launches + launches > MESSAGE_LAUNCHES) {
        TRY(device->api->fill(device, w->messages, 0, w->bytes.messages, stream));
        w->launches = 0;
    }
    w->launches += launches;
    out->messages = w->messages;
    return CUBC_OK;
}

static cubc_status lend_scratch(workspace *w, cubc_device *device, size_t bytes, void *stream,
                                workspace_lease *out)
{
    if (w->bytes.scratch < bytes) TRY(grow_scratch(w, device, bytes, stream));
    out->scratch = w->scratch;
    return CUBC_OK;
}

static cubc_status lend_kept(workspace *w, cubc_device *device, workspace_bytes kept,
                             uint32_t launches, void *stream, workspace_lease *out)
{
    if (kept.messages) TRY(lend_messages(w, device, kept.messages, launches, stream, out));
    return kept.scratch ? lend_scratch(w, device, kept.scratch, stream, out) : CUBC_OK;
}

// Returns the part of a call's needs that the stream keeps. The cpu allocates in no time, and
// threads that share a block there wait for each other's calls.
static workspace_bytes kept_of(const cubc_device *device, workspace_bytes bytes, bool captured)
{
    if (captured) return (workspace_bytes){0};
    if (bytes.scratch > WORKSPACE_KEPT || device_is_cpu(device->api->kind)) bytes.scratch = 0;
    return bytes;
}

static cubc_status allocate_others(cubc_device *device, workspace_bytes bytes, workspace_bytes kept,
                                   void *stream, workspace_lease *out)
{
    if (bytes.messages && !kept.messages) {
        out->own_messages = true;
        TRY(allocate_cleared(device, bytes.messages, stream, &out->messages));
    }
    if (!bytes.scratch || kept.scratch) return CUBC_OK;
    out->own_scratch = true;
    return device->api->alloc(device, bytes.scratch, stream, &out->scratch);
}

cubc_status workspace_acquire(workspace_pool *pool, cubc_device *device, workspace_bytes bytes,
                              uint32_t launches, void *stream, workspace_lease *out)
{
    workspace_bytes kept = kept_of(device, bytes, device->api->is_capturing(device, stream));
    *out = (workspace_lease){0};
    cubc_status st = allocate_others(device, bytes, kept, stream, out);
    if (!st && (kept.messages || kept.scratch)) {
        st = lock_block(pool, device, stream, &out->owner);
        if (st) out->owner = NULL;
        if (!st) st = lend_kept(out->owner, device, kept, launches, stream, out);
    }
    if (st) workspace_release(device, out, stream, CUBC_OK);
    return st;
}

void workspace_release(cubc_device *device, workspace_lease *lease, void *stream,
                       cubc_status launched)
{
    workspace *w = lease->owner;
    if (w) {
        if (launched) w->launches = MESSAGE_LAUNCHES;
        if (w->event && device->api->event_record(device, w->event, stream)) {
            device->api->event_destroy(device, w->event);
            w->event = NULL;
        }
        pthread_mutex_unlock(&w->busy);
    }
    // After what is queued on the stream.
    if (lease->own_messages) device->api->free(device, lease->messages, stream);
    if (lease->own_scratch) device->api->free(device, lease->scratch, stream);
    *lease = (workspace_lease){0};
}

void workspace_close(workspace_pool *pool, cubc_device *device)
{
    while (pool->first) {
        workspace *w = pool->first;
        pool->first = w->next;
        device->api->free(device, w->messages, NULL);
        device->api->free(device, w->scratch, NULL);
        device->api->event_destroy(device, w->event);
        pthread_mutex_destroy(&w->busy);
        mem_free(w);
    }
}

void workspace_set_launches(workspace_pool *pool, uint32_t launches)
{
    for (workspace *w = pool->first; w; w = w->next) w->launches = launches;
}
