// See workspace.h.
#include "workspace.h"

#include <pthread.h>

struct workspace {
    workspace *next;
    pthread_mutex_t busy;
    uint64_t stream_id;
    void *memory;
    size_t bytes;
    uint32_t launches; // since it was cleared
};

// A message's tag has 30 bits for the epoch; before they repeat, the block is cleared.
static const uint32_t most_launches = (1u << 30) - 2;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;

static cubc_status find(workspace_pool *pool, uint64_t id, workspace **out)
{
    cubc_status st = CUBC_OK;
    pthread_mutex_lock(&list_lock);
    workspace *w = pool->first;
    while (w && w->stream_id != id) w = w->next;
    if (!w) {
        w = mem_zalloc(1, sizeof *w);
        if (w) {
            pthread_mutex_init(&w->busy, NULL);
            w->stream_id = id;
            w->next = pool->first;
            pool->first = w;
        } else {
            st = CUBC_NO_MEMORY;
        }
    }
    pthread_mutex_unlock(&list_lock);
    *out = w;
    return st;
}

static cubc_status allocate_cleared(cubc_device *device, size_t bytes, void *stream, void **out)
{
    TRY(device->api->alloc(device, bytes, stream, out));
    cubc_status st = device->api->fill(device, *out, 0, bytes, stream);
    if (st) device->api->free(device, *out, stream);
    return st;
}

static cubc_status grow(workspace *w, cubc_device *device, size_t bytes, void *stream)
{
    size_t room = 65536;
    void *memory;
    while (room < bytes) room *= 2;
    TRY(allocate_cleared(device, room, stream, &memory));
    device->api->free(device, w->memory, stream); // after what is queued on the stream
    w->memory = memory;
    w->bytes = room;
    w->launches = 0;
    return CUBC_OK;
}

cubc_status workspace_acquire(workspace_pool *pool, cubc_device *device, size_t bytes, void *stream,
                              workspace_lease *out)
{
    workspace *w;
    *out = (workspace_lease){0};
    if (device->api->is_capturing(device, stream))
        return allocate_cleared(device, bytes, stream, &out->memory);
    TRY(find(pool, device->api->stream_id(device, stream), &w));
    pthread_mutex_lock(&w->busy);
    cubc_status st = CUBC_OK;
    if (w->bytes < bytes) {
        st = grow(w, device, bytes, stream);
    } else if (w->launches >= most_launches) {
        st = device->api->fill(device, w->memory, 0, w->bytes, stream);
        w->launches = 0;
    }
    if (st) {
        pthread_mutex_unlock(&w->busy);
        return st;
    }
    w->launches++;
    *out = (workspace_lease){w->memory, w};
    return CUBC_OK;
}

void workspace_release(cubc_device *device, workspace_lease *lease, void *stream)
{
    if (lease->owner)
        pthread_mutex_unlock(&lease->owner->busy);
    else if (lease->memory)
        device->api->free(device, lease->memory, stream);
    *lease = (workspace_lease){0};
}

void workspace_close(workspace_pool *pool, cubc_device *device)
{
    while (pool->first) {
        workspace *w = pool->first;
        pool->first = w->next;
        device->api->free(device, w->memory, NULL);
        pthread_mutex_destroy(&w->busy);
        mem_free(w);
    }
}

void workspace_set_launches(workspace_pool *pool, uint32_t launches)
{
    for (workspace *w = pool->first; w; w = w->next) w->launches = launches;
}
