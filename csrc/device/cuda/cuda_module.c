// Loads compiled variants and launches their kernels, over CUDA's driver.
//
// All that can fail or wait is done when a kernel is looked up: it is loaded, its sizes are read,
// it is held against what the device has. A launch is then one call with a pointer for each
// argument, which CUDA copies before it returns; a kernel of the dialect has one, a by-value
// struct.
#define _POSIX_C_SOURCE 200809L
#include "device/cuda/device_cuda.h"

#include <stdio.h>
#include <string.h>

struct device_module {
    CUmodule handle;
};

// cuModuleLoadData is told no size. A binary may come from a file that was cut short, so its ELF
// header is held against what is there.
static bool is_whole_elf(const binary *code)
{
    uint64_t table;
    uint16_t entry_size, entries;
    if (code->size < 64 || memcmp(code->data, "\177ELF\2", 5) != 0) return false;
    memcpy(&table, code->data + 40, sizeof table);
    memcpy(&entry_size, code->data + 58, sizeof entry_size);
    memcpy(&entries, code->data + 60, sizeof entries);
    return table <= code->size && (uint64_t)entry_size * entries <= code->size - table;
}

cubc_status cuda_module_check(const binary *code)
{
    if (!is_whole_elf(code)) FAIL(CUBC_DEVICE_ERROR, "not a whole CUDA binary");
    return CUBC_OK;
}

cubc_status cuda_module_load(cubc_device *device, const binary *code, device_module **out)
{
    cuda_visit v;
    *out = NULL;
    TRY(cuda_module_check(code));
    device_module *module = mem_zalloc(1, sizeof *module);
    if (!module) return CUBC_NO_MEMORY;
    cubc_status st = cuda_enter_aside((cuda_device *)device, &v);
    if (!st) {
        st = DRIVER(cuda.cuModuleLoadData(&module->handle, code->data), "cuModuleLoadData");
        cuda_leave_aside(&v);
    }
    if (st)
        mem_free(module);
    else
        *out = module;
    return st;
}

void cuda_module_unload(cubc_device *device, device_module *module)
{
    cuda_visit v;
    if (!module) return;
    if (!cuda_enter_aside((cuda_device *)device, &v)) {
        cuda.cuModuleUnload(module->handle);
        cuda_leave_aside(&v);
    }
    mem_free(module);
}

// The words that <name><suffix> holds: of a dialect's kernel, name_layout, {bytes of the argument
// struct, bytes of the shared-storage struct}; of a plain one, name_signature. None: *count is 0.
// Read on a stream of our own: an ordinary copy would join the legacy default stream, which may be
// held, or captured from.
static cubc_status read_words(const cuda_device *d, CUmodule module, const char *name,
                              const char *suffix, uint32_t *words, size_t capacity, size_t *count)
{
    char symbol[256];
    CUdeviceptr pointer = 0;
    size_t bytes = 0;
    *count = 0;
    if (snprintf(symbol, sizeof symbol, "%s%s", name, suffix) >= (int)sizeof symbol)
        FAIL(CUBC_INVALID_ARGUMENT, "the kernel's name is too long: %.64s...", name);
    int code = cuda.cuModuleGetGlobal_v2(&pointer, &bytes, module, symbol);
    if (code == CUDA_ERROR_NOT_FOUND) return CUBC_OK;
    TRY(DRIVER(code, "cuModuleGetGlobal(%s)", symbol));
    if (bytes > capacity * sizeof *words)
        FAIL(CUBC_NO_RESOURCES, "%s takes more than %d arguments", name, MAX_KERNEL_ARGUMENTS);
    TRY(RUNTIME(
        cuda.cudaMemcpyAsync(words, (void *)(uintptr_t)pointer, bytes, cudaMemcpyDefault, d->aside),
        "cudaMemcpyAsync(%s)", symbol));
    *count = bytes / sizeof *words;
    return RUNTIME(cuda.cudaStreamSynchronize(d->aside), "cudaStreamSynchronize");
}

static cubc_status read_arguments(const cuda_device *d, CUmodule module, const char *name,
                                  device_kernel *out)
{
    uint32_t words[1 + MAX_KERNEL_ARGUMENTS];
    size_t count;
    TRY(read_words(d, module, name, "_layout", words, COUNT_OF(words), &count));
    if (count == 0) {
        TRY(read_words(d, module, name, "_signature", words, COUNT_OF(words), &count));
        return device_signature(name, words, count, out);
    }
    if (count != 2) FAIL(CUBC_INTERNAL, "%s_layout has %zu words instead of 2", name, count);
    out->argument_count = 1;
    out->arguments[0] = (argument_type){.kind = TYPE_BYTES, .size = words[0]};
    out->info.args_bytes = words[0];
    out->allocated = words[1];
    return CUBC_OK;
}

static cubc_status get_attribute(CUfunction function, int attribute, int *value)
{
    return DRIVER(cuda.cuFuncGetAttribute(value, attribute, function), "cuFuncGetAttribute(%d)",
                  attribute);
}

static cubc_status read_kernel_info(CUfunction function, device_kernel *out)
{
    int declared = 0;
    TRY(get_attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, &out->info.registers));
    TRY(get_attribute(function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &out->info.local_bytes));
    TRY(get_attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &out->info.max_threads));
    TRY(get_attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &declared));
    out->info.shared_bytes = declared + (int64_t)out->allocated;
    return CUBC_OK;
}

static cubc_status check_fits(const device_info *device, const char *name, unsigned threads,
                              const kernel_info *info)
{
    if (info->shared_bytes > device->shared_bytes_per_block)
        FAIL(CUBC_NO_RESOURCES, "%s needs %lld bytes of shared memory a block, %s has %lld", name,
             (long long)info->shared_bytes, device->arch,
             (long long)device->shared_bytes_per_block);
    if (threads < 1 || threads > (unsigned)info->max_threads)
        FAIL(CUBC_NO_RESOURCES, "%s: %u threads a block of %d registers each, at most %d fit", name,
             threads, info->registers, info->max_threads);
    return CUBC_OK;
}

// Lets launches have as much shared memory as they may ask for: the bytes that a kernel of the
// dialect needs; for a plain one, whose launches decide, all that it does not declare.
static cubc_status opt_in(const cuda_device *d, CUfunction function, const char *name,
                          const device_kernel *kernel)
{
    int64_t most = kernel->plain ? d->base.info.shared_bytes_per_block - kernel->info.shared_bytes
                                 : (int64_t)kernel->allocated;
    if (!kernel->plain && kernel->info.shared_bytes <= SHARED_WITHOUT_OPT_IN) return CUBC_OK;
    return DRIVER(cuda.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                          (int)most),
                  "cuFuncSetAttribute(%s, %lld bytes of shared memory)", name, (long long)most);
}

static unsigned clusters_at_once(CUfunction function, unsigned blocks, unsigned threads,
                                 unsigned shared)
{
    int clusters = 0;
    CUlaunchAttribute size = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                              .value.clusterDim = {blocks, 1, 1}};
    CUlaunchConfig config = {.gridDimX = blocks,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = threads,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .sharedMemBytes = shared,
                             .attrs = &size,
                             .numAttrs = 1};
    if (cuda.cuOccupancyMaxActiveClusters(&clusters, function, &config)) return 0;
    return clusters > 0 ? (unsigned)clusters : 0;
}

// True if kernels are compiled with what the blocks of a cluster write to one another by
// (kernels/grid/cluster.h).
static bool compiler_has_clusters(void)
{
    if (!cuda.nvrtc_major) return true; // code comes in bundles, which a later one has made
    return cuda.nvrtc_major > 12 || (cuda.nvrtc_major == 12 && cuda.nvrtc_minor >= 1);
}

// Sets how many clusters of each size run at once, and the largest size that runs at all. A device
// need not have clusters of more than eight blocks, and a part of a GPU may have too few
// multiprocessors side by side for any.
static void count_clusters(const cuda_device *d, CUfunction function, unsigned threads,
                           device_kernel *out)
{
    if (d->capability < 90 || !compiler_has_clusters()) return;
    // A device that refuses it has no clusters of sixteen blocks.
    cuda.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    out->cluster = 1;
    for (unsigned blocks = 1; blocks <= CLUSTER_BLOCKS; blocks++) {
        out->clusters_at_once[blocks] = clusters_at_once(function, blocks, threads, out->allocated);
        if (out->clusters_at_once[blocks]) out->cluster = blocks;
    }
}

static cubc_status open_kernel(const cuda_device *d, CUmodule module, const char *name,
                               unsigned threads, device_kernel *out)
{
    CUfunction function = NULL;
    TRY(DRIVER(cuda.cuModuleGetFunction(&function, module, name), "cuModuleGetFunction(%s)", name));
    // CUDA loads lazily, and loading may wait for the device: now, and not in the first launch,
    // which may come behind a held stream. Older drivers load when asked for an attribute.
    if (cuda.cuFuncLoad) TRY(DRIVER(cuda.cuFuncLoad(function), "cuFuncLoad(%s)", name));
    TRY(read_arguments(d, module, name, out));
    TRY(read_kernel_info(function, out));
    TRY(check_fits(&d->base.info, name, threads, &out->info));
    TRY(opt_in(d, function, name, out));
    TRY(DRIVER(cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(&out->info.blocks_per_sm, function,
                                                                (int)threads, out->allocated),
               "cuOccupancyMaxActiveBlocksPerMultiprocessor(%s)", name));
    if (out->info.blocks_per_sm < 1)
        FAIL(CUBC_NO_RESOURCES,
             "%s: no block of %u threads, %d registers each and %lld bytes of shared memory fits "
             "on %s",
             name, threads, out->info.registers, (long long)out->info.shared_bytes,
             d->base.info.arch);
    count_clusters(d, function, threads, out);
    out->function = function;
    out->threads = threads;
    return CUBC_OK;
}

cubc_status cuda_module_kernel(cubc_device *device, device_module *module, const char *name,
                               unsigned threads, device_kernel *out)
{
    cuda_device *d = (cuda_device *)device;
    cuda_visit v;
    *out = (device_kernel){0};
    TRY(cuda_enter_aside(d, &v));
    cubc_status st = open_kernel(d, module->handle, name, threads, out);
    cuda_leave_aside(&v);
    return st;
}

static unsigned attributes(const cuda_device *d, const launch_shape *shape,
                           CUlaunchAttribute out[2])
{
    unsigned count = 0;
    if (shape->cluster > 1)
        out[count++] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                           .value.clusterDim = {shape->cluster, 1, 1}};
    // Graphs record it since 12.3.
    if (shape->early && d->capability >= 90 && cuda.driver_version >= 12030)
        out[count++] =
            (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                .value.programmaticStreamSerializationAllowed = 1};
    return count;
}

// The hot path: two driver calls where the context is current already.
cubc_status cuda_module_launch(cubc_device *device, const device_kernel *kernel,
                               const launch_shape *shape, const void *args, size_t args_bytes,
                               void *stream)
{
    const cuda_device *d = (const cuda_device *)device;
    bool pushed;
    if ((int64_t)args_bytes != kernel->info.args_bytes)
        FAIL(CUBC_INTERNAL, "a kernel takes %lld bytes of arguments, not %zu",
             (long long)kernel->info.args_bytes, args_bytes);
    if (shape->cluster > 1 && d->capability < 90)
        FAIL(CUBC_NO_RESOURCES, "%s (%s) has no clusters of blocks; they came with sm_90",
             device->info.model, device->info.arch);
    void *parameters[MAX_KERNEL_ARGUMENTS];
    for (int i = 0; i < kernel->argument_count; i++) // CUDA reads them only
        parameters[i] = (char *)args + kernel->arguments[i].at;
    const unsigned y = launch_extent(shape->block_y), z = launch_extent(shape->block_z);
    CUlaunchAttribute attrs[2];
    CUlaunchConfig config = {.gridDimX = shape->grid,
                             .gridDimY = launch_extent(shape->grid_y),
                             .gridDimZ = launch_extent(shape->grid_z),
                             .blockDimX = kernel->threads / (y * z),
                             .blockDimY = y,
                             .blockDimZ = z,
                             .sharedMemBytes = kernel->allocated + shape->shared,
                             .hStream = stream,
                             .attrs = attrs,
                             .numAttrs = attributes(d, shape, attrs)};
    TRY(cuda_context_enter(d, &pushed));
    cubc_status st = DRIVER(cuda.cuLaunchKernelEx(&config, kernel->function, parameters, NULL),
                            "cuLaunchKernelEx(%u blocks of %u threads, clusters of %u)",
                            shape->grid, kernel->threads, shape->cluster);
    cuda_context_leave(pushed);
    return st;
}
