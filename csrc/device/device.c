// Devices by name: one object a device, counted, whoever opens it.
//
// One object matters because compiled variants, workspaces and memory pools hang on it: a notebook
// that opens "cuda:0" in ten places compiles each variant once.
#define _POSIX_C_SOURCE 200809L
#include "device/device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const device_api *const back_ends[] = {&device_cuda_api, &device_cpu_api};

typedef struct open_device {
    cubc_device *device;
    struct open_device *next;
} open_device;

FORK_SAFE_MUTEX(lock); // guards the list; a count goes to 0, and up from there, only with it
static open_device *open_devices;

// ---- names ------------------------------------------------------------------------------------
int device_list(char names[][16], int capacity)
{
    int count = 0;
    for (size_t i = 0; i < COUNT_OF(back_ends); i++) {
        const char *why, *kind = back_ends[i]->kind;
        int usable = back_ends[i]->count(&why);
        for (int index = 0; index < usable; index++, count++) {
            if (count >= capacity) continue; // still counted: the caller can come back with room
            if (device_is_cpu(kind))
                snprintf(names[count], 16, "cpu");
            else
                snprintf(names[count], 16, "%s:%d", kind, index);
        }
    }
    return count;
}

// "cuda:3" -> 3, "cuda" -> 0; -1 if the name is not one of this kind.
static int parse_index(const char *name, const char *kind)
{
    int index = 0;
    size_t length = strlen(kind);
    if (strcmp(name, kind) == 0) return 0;
    if (strncmp(name, kind, length) != 0 || name[length] != ':' || !name[length + 1]) return -1;
    const char *first = name + length + 1;
    for (const char *digit = first; *digit; digit++) {
        if (*digit < '0' || *digit > '9' || index >= 1000) return -1;
        if (index == 0 && digit > first) return -1; // each device has one name
        index = index * 10 + (*digit - '0');
    }
    return index;
}

// "cpu" -> 0, "cpu:3" -> 3; "cpu:0" is no name, as each device has one.
static int parse_cpu(const char *name)
{
    int index = parse_index(name, "cpu");
    return index > 0 || strcmp(name, "cpu") == 0 ? index : -1;
}

static cubc_status fail_unknown(const char *name, const char *origin, bool malformed)
{
    char names[16][16];
    const char *why = "";
    text known = {0};
    int count = device_list(names, (int)COUNT_OF(names));
    int shown = count < (int)COUNT_OF(names) ? count : (int)COUNT_OF(names);
    for (int i = 0; i < shown; i++) text_printf(&known, "%s%s", i ? ", " : "", names[i]);
    if (device_cuda_api.count(&why) == 0) text_printf(&known, " (no cuda: %s)", why);
    cubc_status st = text_done(&known);
    if (!st)
        st = error_set(__FILE__, __LINE__, CUBC_NO_DEVICE, "no device \"%.64s\"%s; %sthere is: %s",
                       name, origin, malformed ? "a name is \"cpu\" or \"cuda:N\", and " : "",
                       known.data);
    text_free(&known);
    return st;
}

const device_api *device_api_of_arch(const char *arch)
{
    return device_is_cpu(arch) ? &device_cpu_api : &device_cuda_api;
}

// ---- open, retain, release ---------------------------------------------------------------------
static bool retain_open(const char *name, cubc_device **out) // runs with the lock held
{
    for (open_device *o = open_devices; o; o = o->next)
        if (strcmp(o->device->info.name, name) == 0) {
            o->device->references++;
            *out = o->device;
            return true;
        }
    return false;
}

// The back end opens without the lock: it may wait for a compiler, and a signal handler that runs
// meanwhile, or another thread, may open a device too. Whoever comes second to the list closes his.
static cubc_status open_named(const char *name, const device_api *api, int index, cubc_device **out)
{
    pthread_mutex_lock(&lock);
    bool is_open = retain_open(name, out);
    pthread_mutex_unlock(&lock);
    if (is_open) return CUBC_OK;
    open_device *entry = mem_zalloc(1, sizeof *entry);
    if (!entry) return CUBC_NO_MEMORY;
    cubc_status st = api->open(index, &entry->device);
    if (st) {
        mem_free(entry);
        return st;
    }
    entry->device->references = 1;
    pthread_mutex_lock(&lock);
    is_open = retain_open(name, out);
    if (!is_open) {
        entry->next = open_devices;
        open_devices = entry;
        *out = entry->device;
    }
    pthread_mutex_unlock(&lock);
    if (!is_open) return CUBC_OK;
    api->close(entry->device);
    mem_free(entry);
    return CUBC_OK;
}

static cubc_status open_cuda(int index, cubc_device **out)
{
    char name[32];
    snprintf(name, sizeof name, "cuda:%d", index);
    return open_named(name, &device_cuda_api, index, out);
}

// The first GPU that is fit; one that is fit but fails is an error and no reason to compute a
// thousand times slower without a word. So is a broken CUDA that the user insists on: the first is
// tried even if none is counted.
static cubc_status open_default(cubc_device **out)
{
    const char *why;
    int count = device_cuda_api.count(&why);
    for (int index = 0; index == 0 || index < count; index++) {
        cubc_status st = open_cuda(index, out);
        if (st != CUBC_NO_DEVICE) return st;
    }
    return open_named("cpu", &device_cpu_api, 0, out);
}

cubc_status device_open(const char *name, cubc_device **out)
{
    *out = NULL;
    const char *origin = name ? "" : " (of CUBC_DEVICE)";
    if (!name) name = getenv("CUBC_DEVICE");
    bool by_default = !name || !name[0];
    int index = by_default ? -1 : parse_index(name, "cuda"),
        cpu = by_default ? -1 : parse_cpu(name);
    const char *why;
    if (!by_default && cpu < 0 && (index < 0 || index >= device_cuda_api.count(&why)))
        return fail_unknown(name, origin, index < 0);
    if (by_default) return open_default(out);
    if (index >= 0) return open_cuda(index, out);
    return open_named(cpu ? name : "cpu", &device_cpu_api, cpu, out);
}

// Takes no lock, as each call comes here: the caller holds a reference already.
void device_retain(cubc_device *device)
{
    atomic_fetch_add_explicit(&device->references, 1, memory_order_relaxed);
}

// False: this is the last.
static bool release_one_of_several(cubc_device *device)
{
    int count = atomic_load_explicit(&device->references, memory_order_relaxed);
    while (count > 1)
        if (atomic_compare_exchange_weak_explicit(&device->references, &count, count - 1,
                                                  memory_order_release, memory_order_relaxed))
            return true;
    return false;
}

void device_release(cubc_device *device)
{
    open_device *last = NULL;
    if (!device || release_one_of_several(device)) return;
    pthread_mutex_lock(&lock);
    if (atomic_fetch_sub(&device->references, 1) == 1) {
        open_device **link = &open_devices;
        while (*link && (*link)->device != device) link = &(*link)->next;
        last = *link;
        if (last) *link = last->next;
    }
    pthread_mutex_unlock(&lock);
    if (!last) return;
    // Without the lock: what is attached may itself open or release devices.
    if (device->detach) device->detach(device);
    device->api->close(device);
    mem_free(last);
}

// ---- the public calls ---------------------------------------------------------------------------
cubc_status cubc_device_open(const char *name, cubc_device **out)
{
    if (!out) FAIL(CUBC_INVALID_ARGUMENT, "cubc_device_open: out is NULL");
    return device_open(name, out);
}

void cubc_device_close(cubc_device *device)
{
    device_release(device);
}

const char *cubc_device_name(const cubc_device *device)
{
    return device ? device->info.name : "";
}

cubc_status cubc_alloc(cubc_device *device, size_t bytes, cubc_stream stream, void **out)
{
    if (!device || !out) FAIL(CUBC_INVALID_ARGUMENT, "cubc_alloc: NULL argument");
    return device->api->alloc(device, bytes, stream, out);
}

void cubc_free(cubc_device *device, void *pointer, cubc_stream stream)
{
    if (device) device->api->free(device, pointer, stream);
}

cubc_status cubc_copy(cubc_device *device, void *to, const void *from, size_t bytes,
                      cubc_stream stream)
{
    if (!device || ((!to || !from) && bytes))
        FAIL(CUBC_INVALID_ARGUMENT, "cubc_copy: NULL argument");
    return device->api->copy(device, to, from, bytes, stream);
}

cubc_status cubc_synchronize(cubc_device *device, cubc_stream stream)
{
    if (!device) FAIL(CUBC_INVALID_ARGUMENT, "cubc_synchronize: device is NULL");
    return device->api->synchronize(device, stream);
}
