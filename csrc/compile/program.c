// Compilation, loading and launches of a user's source: see program.h.
#include "compile/program.h"

#include <string.h>

enum { MOST_LAUNCHES = 900 };              // fit behind a held stream, see cuda_hold.c
static const double COMPILE_SECONDS = 300; // a search has compiled it before, with its own deadline

typedef struct recorded {
    device_kernel kernel;
    launch_shape shape;
    void *args;
} recorded;

typedef struct known {
    struct known *next;
    device_kernel kernel;
    char name[];
} known;

struct program {
    cubc_device *device;
    device_module *module;
    uint64_t serial;
    known *kernels;
    recorded *launches;
    size_t count, room;
};

// The block size of a source without collectives, for the dialect: any above one, since the launch
// decides.
cubc_status program_prelude(const char *arch, unsigned threads, text *out)
{
    bool cpu = device_is_cpu(arch);
    const char *source, *dialect = "";
    TRY(source_load(cpu ? "cuda.h" : "entry.h", &source));
    if (threads && !cpu) TRY(source_load("simt.h", &dialect));
    text_printf(out, "#define SIMT_%s 1\n", cpu ? "CPU" : "CUDA");
    if (threads) text_puts(out, "#define SIMT_COLLECTIVES 1\n");
    if (cpu || threads)
        text_printf(out, "#define SIMT_THREADS %u\n#define SIMT_WARP %d\n", threads ? threads : 32,
                    cpu && threads == 1 ? 1 : 32);
    text_puts(out, dialect);
    text_puts(out, source);
    return text_done(out);
}

cubc_status program_open(cubc_device *device, const char *source, const char *title, program **out)
{
    *out = NULL;
    program *p = mem_zalloc(1, sizeof *p);
    cubc_status st =
        p ? variant_load(device, source, title, COMPILE_SECONDS, &p->module) : CUBC_NO_MEMORY;
    if (st) {
        mem_free(p);
        return st;
    }
    p->device = device;
    p->serial = serial_number();
    device_retain(device);
    *out = p;
    return CUBC_OK;
}

void program_close(program *p)
{
    if (!p) return;
    p->device->api->unload(p->device, p->module);
    for (size_t i = 0; i < p->count; i++) mem_free(p->launches[i].args);
    mem_free(p->launches);
    for (known *k = p->kernels, *next; k; k = next) {
        next = k->next;
        mem_free(k);
    }
    device_release(p->device);
    mem_free(p);
}

cubc_device *program_device(const program *p)
{
    return p->device;
}

uint64_t program_serial(const program *p)
{
    return p->serial;
}

cubc_status program_kernel(program *p, const char *name, unsigned threads,
                           const device_kernel **out)
{
    for (known *k = p->kernels; k; k = k->next)
        if (k->kernel.threads == threads && strcmp(k->name, name) == 0) {
            *out = &k->kernel;
            return CUBC_OK;
        }
    size_t length = strlen(name) + 1;
    known *found = mem_alloc(sizeof *found + length, 1);
    if (!found) return CUBC_NO_MEMORY;
    cubc_status st = p->device->api->kernel(p->device, p->module, name, threads, &found->kernel);
    if (st) {
        mem_free(found);
        return st;
    }
    memcpy(found->name, name, length);
    found->next = p->kernels;
    p->kernels = found;
    *out = &found->kernel;
    return CUBC_OK;
}

static cubc_status check_shared(const program *p, const device_kernel *kernel,
                                const launch_shape *shape)
{
    const device_info *info = &p->device->info;
    if (kernel->info.shared_bytes + shape->shared > info->shared_bytes_per_block)
        FAIL(CUBC_NO_RESOURCES,
             "a launch wants %lld bytes of shared memory a block, %u of them its own: %s has %lld",
             (long long)kernel->info.shared_bytes + shape->shared, shape->shared, info->name,
             (long long)info->shared_bytes_per_block);
    return CUBC_OK;
}

cubc_status program_launch(program *p, const device_kernel *kernel, const launch_shape *shape,
                           const void *args, void *stream)
{
    TRY(check_shared(p, kernel, shape));
    return p->device->api->launch(p->device, kernel, shape, args, (size_t)kernel->info.args_bytes,
                                  stream);
}

static cubc_status make_room(program *p)
{
    if (p->count >= MOST_LAUNCHES)
        FAIL(CUBC_INVALID_ARGUMENT,
             "the work has more than %d launches, which cannot be measured at once: measure a part",
             MOST_LAUNCHES);
    recorded *grown = mem_grow(p->launches, p->count, &p->room, sizeof *grown);
    if (!grown) return CUBC_NO_MEMORY;
    p->launches = grown;
    return CUBC_OK;
}

cubc_status program_add(program *p, const device_kernel *kernel, const launch_shape *shape,
                        const void *args)
{
    size_t bytes = (size_t)kernel->info.args_bytes;
    TRY(check_shared(p, kernel, shape));
    TRY(make_room(p));
    void *copy = mem_alloc(bytes + 1, 1);
    if (!copy) return CUBC_NO_MEMORY;
    memcpy(copy, args, bytes);
    p->launches[p->count++] = (recorded){*kernel, *shape, copy};
    return CUBC_OK;
}

const device_kernel *program_first(const program *p)
{
    return p->count ? &p->launches[0].kernel : NULL;
}

cubc_status program_queue(const program *p, void *stream)
{
    for (size_t i = 0; i < p->count; i++) {
        const recorded *r = &p->launches[i];
        TRY(p->device->api->launch(p->device, &r->kernel, &r->shape, r->args,
                                   (size_t)r->kernel.info.args_bytes, stream));
    }
    return CUBC_OK;
}
