// The CPU device: kernels compiled by the host's C++ compiler (hostcc.c) and run by simt.c.
//
// Everything is complete when the call that asked for it returns, so streams and events carry no
// more than a time. A compiled variant is a shared object in memory, loaded by the dynamic linker;
// what comes from a cache or from elsewhere is first checked to be a whole file for this machine.
//
// Environment: CUBC_CPU_THREADS (1 to 1024) replaces the number of cores this process may use;
// CUBC_SIMT_SEED makes the order of blocks and threads random but repeatable.
#define _GNU_SOURCE
#include "cpu_info.h"
#include "cpu_memory.h"
#include "cpu_recording.h"
#include "device.h"
#include "environment.h"
#include "hostcc.h"
#include "simt.h"
#include "simt_switch.h" // SIMT_ASAN

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <elf.h>
#endif

typedef struct cpu_device {
    cubc_device base; // first: this is a cubc_device
    simt_pool *pool;
    cpu_memory memory;
} cpu_device;

struct device_module {
    void *library;
    char *kept; // the file it was loaded from if that must stay; else NULL
};

struct device_event {
    double seconds;
};

static simt_pool *pool_of(cubc_device *device)
{
    return ((cpu_device *)device)->pool;
}

// ---- open and close -----------------------------------------------------------------------------
static int cpu_count(const char **why)
{
    if (why) *why = NULL;
    return 1;
}

static void cpu_close(cubc_device *device)
{
    if (!device) return;
    simt_pool_close(pool_of(device));
    cpu_memory_close(&((cpu_device *)device)->memory);
    mem_free(device);
}

static cubc_status cpu_open(int index, cubc_device **out)
{
    int workers;
    uint64_t seed = 0;
    if (index != 0) FAIL(CUBC_NO_DEVICE, "there is one cpu device, \"cpu\"");
    TRY(environment_threads(&workers));
    TRY(environment_number("CUBC_SIMT_SEED", 0, UINT64_MAX, &seed));
    cpu_device *d = mem_zalloc(1, sizeof *d);
    if (!d) return CUBC_NO_MEMORY;
    d->base.api = &device_cpu_api;
    cubc_status status;
    GUARD(status, simt_pool_open(workers, &d->pool), failed);
    simt_pool_seed(d->pool, seed);
    GUARD(status, cpu_info_describe(&d->base.info, simt_pool_workers(d->pool)), failed);
    *out = &d->base;
    return CUBC_OK;
failed:
    cpu_close(&d->base);
    return status;
}

// ---- memory -------------------------------------------------------------------------------------
static cubc_status cpu_alloc(cubc_device *device, size_t bytes, void *stream, void **out)
{
    (void)stream;
    return cpu_memory_take(&((cpu_device *)device)->memory, bytes, out);
}

static void cpu_free(cubc_device *device, void *pointer, void *stream)
{
    (void)stream;
    if (pointer) cpu_memory_give(&((cpu_device *)device)->memory, pointer);
}

static cubc_status cpu_copy(cubc_device *device, void *to, const void *from, size_t bytes,
                            void *stream)
{
    (void)device;
    (void)stream;
    if (bytes) memmove(to, from, bytes);
    return CUBC_OK;
}

static cubc_status cpu_fill(cubc_device *device, void *to, int byte, size_t bytes, void *stream)
{
    (void)device;
    (void)stream;
    if (bytes) memset(to, byte, bytes);
    return CUBC_OK;
}

// ---- streams and events -------------------------------------------------------------------------
static cubc_status cpu_nothing(cubc_device *device, void *stream) // synchronize, flush, hold
{
    (void)device;
    (void)stream;
    return CUBC_OK;
}

static cubc_status cpu_release(cubc_device *device)
{
    (void)device;
    return CUBC_OK;
}

static bool cpu_is_capturing(cubc_device *device, void *stream)
{
    (void)device;
    (void)stream;
    return false;
}

static cubc_status cpu_stream_create(cubc_device *device, void **out)
{
    static atomic_ullong streams;
    (void)device;
    *out = (void *)(uintptr_t)(atomic_fetch_add(&streams, 1) + 1); // a number: nothing to own
    return CUBC_OK;
}

static void cpu_stream_destroy(cubc_device *device, void *stream)
{
    (void)device, (void)stream;
}

static cubc_status cpu_order(cubc_device *device, void *later, void *earlier)
{
    (void)device, (void)later, (void)earlier; // work is done when it was queued
    return CUBC_OK;
}

// A handle may be another library's: it is never followed.
static uint64_t cpu_stream_id(cubc_device *device, void *stream)
{
    (void)device;
    return (uintptr_t)stream;
}

static cubc_status cpu_event_create(cubc_device *device, device_event **out)
{
    (void)device;
    *out = mem_zalloc(1, sizeof **out);
    return *out ? CUBC_OK : CUBC_NO_MEMORY;
}

static void cpu_event_destroy(cubc_device *device, device_event *event)
{
    (void)device;
    mem_free(event);
}

static cubc_status cpu_event_record(cubc_device *device, device_event *event, void *stream)
{
    (void)device;
    (void)stream;
    event->seconds = now_seconds();
    return CUBC_OK;
}

static cubc_status cpu_event_wait(cubc_device *device, device_event *event, void *stream)
{
    (void)device, (void)event, (void)stream;
    return CUBC_OK;
}

static cubc_status cpu_event_synchronize(cubc_device *device, device_event *event)
{
    (void)device, (void)event;
    return CUBC_OK;
}

static cubc_status cpu_event_elapsed(cubc_device *device, device_event *start, device_event *stop,
                                     double *seconds)
{
    (void)device;
    *seconds = stop->seconds - start->seconds;
    return CUBC_OK;
}

// ---- loading ------------------------------------------------------------------------------------
#if defined(__linux__)
static bool lies_within(uint64_t offset, uint64_t length, uint64_t size)
{
    return offset <= size && length <= size - offset;
}

// What the dynamic linker takes on trust: that the file is whole and for this machine. It maps
// segments as the headers say, and a page past the end of a file is a bus error.
static const char *what_is_wrong(const binary *code)
{
    Elf64_Ehdr header, own;
    if (code->size < sizeof header) return "it is too short";
    memcpy(&header, code->data, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "it is no ELF file";
    memset(&own, 0, sizeof own);
#if defined(__x86_64__)
    own.e_machine = EM_X86_64;
#elif defined(__aarch64__)
    own.e_machine = EM_AARCH64;
#else
    own.e_machine = header.e_machine;
#endif
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN ||
        header.e_machine != own.e_machine)
        return "it is no shared object for this machine";
    uint64_t table = (uint64_t)header.e_phnum * sizeof(Elf64_Phdr);
    if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 ||
        !lies_within(header.e_phoff, table, code->size) ||
        !lies_within(header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize, code->size))
        return "it is truncated";
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, code->data + header.e_phoff + i * sizeof segment, sizeof segment);
        if (!lies_within(segment.p_offset, segment.p_filesz, code->size)) return "it is truncated";
    }
    return NULL;
}
#else
static const char *what_is_wrong(const binary *code)
{
    return code->size < 64 ? "it is too short" : NULL;
}
#endif

// Debuggers and sanitizers read a library's file while it is loaded.
static bool must_keep_file(void)
{
    const char *extra = getenv("CUBC_CXXFLAGS");
    return SIMT_ASAN || (extra && strstr(extra, "-g"));
}

#if defined(__linux__) && defined(MFD_CLOEXEC)
// The dynamic linker knows libraries by path, and the path of a descriptor comes back when its
// number is reused. Spelling a counter into it, as "./" for 1 and ".//" for 0, tells them apart.
static void unique_path(char *path, size_t size, int file)
{
    static atomic_uint loads;
    size_t used = (size_t)snprintf(path, size, "/proc/self/fd/");
    for (unsigned n = atomic_fetch_add(&loads, 1) + 1; n > 0 && used < size; n >>= 1)
        used += (size_t)snprintf(path + used, size - used, "%s", n & 1 ? "./" : ".//");
    if (used < size) snprintf(path + used, size - used, "%d", file);
}

static void *open_in_memory(const binary *code)
{
    char path[160];
    void *library = NULL;
    int file = memfd_create("cubc-variant", MFD_CLOEXEC);
    if (file < 0) return NULL;
    unique_path(path, sizeof path, file);
    if (file_write(file, code->data, code->size)) library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    close(file);
    return library;
}
#else
static void *open_in_memory(const binary *code)
{
    (void)code;
    return NULL;
}
#endif

static cubc_status open_in_file(const binary *code, device_module *module)
{
    text path = {0};
    text_printf(&path, "%s/cubc-variant-XXXXXX", hostcc_temporary_folder());
    TRY(text_done(&path));
    module->kept = path.data;
    int file = mkstemp(path.data);
    if (file < 0) {
        int error = errno;
        module->kept = NULL;
        text_free(&path);
        FAIL(CUBC_IO_ERROR, "cannot make a file in %s: %s", hostcc_temporary_folder(),
             strerror(error));
    }
    bool written = file_write(file, code->data, code->size);
    close(file);
    if (!written) FAIL(CUBC_IO_ERROR, "cannot write %s", module->kept);
    module->library = dlopen(module->kept, RTLD_NOW | RTLD_LOCAL);
    return CUBC_OK;
}

static void cpu_unload(cubc_device *device, device_module *module)
{
    (void)device;
    if (!module) return;
    if (module->library) dlclose(module->library);
    if (module->kept) unlink(module->kept);
    mem_free(module->kept);
    mem_free(module);
}

static cubc_status cpu_check(const binary *code)
{
    const char *wrong = what_is_wrong(code);
    if (wrong) FAIL(CUBC_DEVICE_ERROR, "cannot load a compiled variant: %s", wrong);
    return CUBC_OK;
}

static cubc_status open_library(const binary *code, device_module *module)
{
    TRY(cpu_check(code));
    if (!must_keep_file()) module->library = open_in_memory(code);
    if (!module->library) TRY(open_in_file(code, module));
    if (!module->library) FAIL(CUBC_DEVICE_ERROR, "cannot load a compiled variant: %s", dlerror());
    if (!must_keep_file() && module->kept) unlink(module->kept);
    const simt_api **runtime = dlsym(module->library, "simt");
    const uint64_t *size = dlsym(module->library, "simt_size");
    if (!runtime || !size || *size != sizeof simt_runtime)
        FAIL(CUBC_DEVICE_ERROR,
             "cannot load a compiled variant: it has no kernels of this cubc in it");
    *runtime = &simt_runtime;
    return CUBC_OK;
}

static cubc_status cpu_load(cubc_device *device, const binary *code, device_module **out)
{
    device_module *module = mem_zalloc(1, sizeof *module);
    if (!module) return CUBC_NO_MEMORY;
    cubc_status status = open_library(code, module);
    if (status) {
        cpu_unload(device, module);
        return status;
    }
    *out = module;
    return CUBC_OK;
}

// ---- launching ----------------------------------------------------------------------------------
static void *find(const device_module *module, const char *kernel, const char *suffix)
{
    char symbol[128];
    snprintf(symbol, sizeof symbol, "%s%s", kernel, suffix);
    return dlsym(module->library, symbol);
}

static cubc_status cpu_kernel(cubc_device *device, device_module *module, const char *name,
                              unsigned threads, device_kernel *out)
{
    *out = (device_kernel){.threads = threads};
    const uint32_t *layout = find(module, name, "_layout");
    const uint32_t *signature = layout ? NULL : find(module, name, "_signature");
    out->function = find(module, name, signature ? "_entry" : "");
    if (!out->function || (!layout && !signature))
        FAIL(CUBC_NOT_FOUND, "the variant has no kernel \"%s\"", name);
    if (threads < 1 || threads > (unsigned)device->info.max_threads)
        FAIL(CUBC_NO_RESOURCES, "%s wants blocks of %u threads, \"cpu\" runs 1 to %d", name,
             threads, device->info.max_threads);
    out->info.max_threads = device->info.max_threads;
    out->info.blocks_per_unit = 1;
    if (signature) return device_signature(name, signature, signature[0] + (size_t)1, out);
    if (layout[1] > device->info.shared_bytes_per_block)
        FAIL(CUBC_NO_RESOURCES, "%s wants %u bytes of shared storage, \"cpu\" has %lld", name,
             layout[1], (long long)device->info.shared_bytes_per_block);
    out->info.args_bytes = layout[0];
    out->info.shared_bytes = out->allocated = layout[1];
    return CUBC_OK;
}

static int cpu_index_of(const void *pointer)
{
    (void)pointer;
    return -1; // the host's memory, as far as this is known
}

// What a plain kernel's entry is given; the same struct as in kernels/cuda.h. It lives as long as
// the launch, which is complete on return.
typedef struct plain_frame {
    uint32_t grid[3], block[3];
    uint64_t unused; // puts the arguments on 32 bytes
    _Alignas(32) unsigned char args[MAX_ARGUMENT_BYTES];
} plain_frame;

static void fill_frame(const device_kernel *kernel, const launch_shape *shape, const void *args,
                       size_t args_bytes, plain_frame *out)
{
    const unsigned y = launch_extent(shape->block_y), z = launch_extent(shape->block_z);
    const uint32_t grid[3] = {shape->grid, launch_extent(shape->grid_y),
                              launch_extent(shape->grid_z)};
    const uint32_t block[3] = {kernel->threads / (y * z), y, z};
    memcpy(out->grid, grid, sizeof grid);
    memcpy(out->block, block, sizeof block);
    memcpy(out->args, args, args_bytes);
}

static cubc_status cpu_launch(cubc_device *device, const device_kernel *kernel,
                              const launch_shape *shape, const void *args, size_t args_bytes,
                              void *stream)
{
    if (shape->cluster > 1)
        FAIL(CUBC_NO_RESOURCES, "the cpu has no clusters of blocks, a launch asks for %u blocks",
             shape->cluster);
    if (args_bytes != (size_t)kernel->info.args_bytes)
        FAIL(CUBC_INVALID_ARGUMENT, "a launch passes %zu bytes of arguments, the kernel takes %lld",
             args_bytes, (long long)kernel->info.args_bytes);
    if (cpu_recording_is_on(stream)) return cpu_recording_add(kernel, shape, args, args_bytes);
    plain_frame frame;
    const uint64_t grid =
        (uint64_t)shape->grid * launch_extent(shape->grid_y) * launch_extent(shape->grid_z);
    if (grid > INT32_MAX)
        FAIL(CUBC_NO_RESOURCES, "a grid has at most %d blocks, not %llu", INT32_MAX,
             (unsigned long long)grid);
    if (kernel->plain) {
        fill_frame(kernel, shape, args, args_bytes, &frame);
        args = &frame;
    }
    simt_launch launch = {.args = args,
                          .grid = (unsigned)grid,
                          .threads = kernel->threads,
                          .shared_bytes = (size_t)kernel->allocated + shape->shared};
    memcpy(&launch.function, &kernel->function, sizeof launch.function); // ISO C has no cast for it
    return simt_run(pool_of(device), &launch);
}

const device_api device_cpu_api = {
    .kind = "cpu",
    .count = cpu_count,
    .index_of = cpu_index_of,
    .open = cpu_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .copy = cpu_copy,
    .fill = cpu_fill,
    .synchronize = cpu_nothing,
    .order = cpu_order,
    .is_capturing = cpu_is_capturing,
    .stream_create = cpu_stream_create,
    .stream_destroy = cpu_stream_destroy,
    .stream_id = cpu_stream_id,
    .event_create = cpu_event_create,
    .event_destroy = cpu_event_destroy,
    .event_record = cpu_event_record,
    .event_wait = cpu_event_wait,
    .event_synchronize = cpu_event_synchronize,
    .event_elapsed = cpu_event_elapsed,
    .compile = hostcc_compile,
    .compiler = hostcc_name,
    .check = cpu_check,
    .load = cpu_load,
    .unload = cpu_unload,
    .kernel = cpu_kernel,
    .launch = cpu_launch,
    .record = cpu_recording_begin,
    .record_end = cpu_recording_end,
    .replay = cpu_recording_replay,
    .recording_free = cpu_recording_free,
    .flush = cpu_nothing,
    .hold = cpu_nothing,
    .release = cpu_release,
};
