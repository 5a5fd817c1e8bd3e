// Loads compiled variants and launches their kernels, over CUDA's driver.
//
// All that can fail or wait is done when a kernel is looked up: it is loaded, its sizes are read,
// it is held against what the device has. A launch is then one call with one pointer: the kernel
// takes a single by-value struct, which CUDA copies before it returns.
#define _POSIX_C_SOURCE 200809L
#include "device_cuda.h"

#include <stdio.h>
#include <string.h>

struct device_module {
    CUmodule handle;
};

// Loading a kernel is no part of what is being captured into a graph; this says so to CUDA, for
// this thread. The same call undoes it.
static void exchange_capture_mode(int *mode)
{
    cuda.cudaThreadExchangeStreamCaptureMode(mode);
}

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

cubc_status cuda_module_load(cubc_device *device, const binary *code, device_module **out)
{
    bool pushed;
    int mode = cudaStreamCaptureModeRelaxed;
    *out = NULL;
    if (!is_whole_elf(code)) FAIL(CUBC_INVALID_ARGUMENT, "not a whole CUDA binary");
    device_module *module = mem_zalloc(1, sizeof *module);
    if (!module) return CUBC_NO_MEMORY;
    cubc_status st = device_cuda_enter((cuda_device *)device, &pushed);
    if (!st) {
        exchange_capture_mode(&mode);
        st = DRIVER(cuda.cuModuleLoadData(&module->handle, code->data), "cuModuleLoadData");
        exchange_capture_mode(&mode);
        device_cuda_leave(pushed);
    }
    if (st)
        mem_free(module);
    else
        *out = module;
    return st;
}

void cuda_module_unload(cubc_device *device, device_module *module)
{
    bool pushed;
    if (!module) return;
    if (!device_cuda_enter((cuda_device *)device, &pushed)) {
        cuda.cuModuleUnload(module->handle);
        device_cuda_leave(pushed);
    }
    mem_free(module);
}

// {bytes of the argument struct, bytes of the shared-storage struct}: the dialect's name_layout.
// Read on a stream of our own: an ordinary copy would join the legacy default stream, which may be
// held, or captured from.
static cubc_status read_layout(const cuda_device *d, CUmodule module, const char *name,
                               uint32_t layout[2])
{
    char symbol[256];
    CUdeviceptr pointer = 0;
    size_t bytes = 0;
    if (snprintf(symbol, sizeof symbol, "%s_layout", name) >= (int)sizeof symbol)
        FAIL(CUBC_INVALID_ARGUMENT, "the kernel's name is too long: %.64s...", name);
    TRY(DRIVER(cuda.cuModuleGetGlobal_v2(&pointer, &bytes, module, symbol), "cuModuleGetGlobal(%s)",
               symbol));
    if (bytes != 2 * sizeof layout[0])
        FAIL(CUBC_INTERNAL, "%s has %zu bytes instead of 8", symbol, bytes);
    TRY(RUNTIME(cuda.cudaMemcpyAsync(layout, (void *)(uintptr_t)pointer, bytes, cudaMemcpyDefault,
                                     d->aside),
                "cudaMemcpyAsync(%s)", symbol));
    return RUNTIME(cuda.cudaStreamSynchronize(d->aside), "cudaStreamSynchronize");
}

static cubc_status get_attribute(CUfunction function, int attribute, int *value)
{
    return DRIVER(cuda.cuFuncGetAttribute(value, attribute, function), "cuFuncGetAttribute(%d)",
                  attribute);
}

static cubc_status read_kernel_info(CUfunction function, const uint32_t layout[2],
                                    kernel_info *info, int *fixed_shared)
{
    TRY(get_attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, &info->registers));
    TRY(get_attribute(function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &info->local_bytes));
    TRY(get_attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &info->max_threads));
    TRY(get_attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, fixed_shared));
    info->args_bytes = layout[0];
    info->shared_bytes = layout[1];
    return CUBC_OK;
}

static cubc_status check_fits(const device_info *device, const char *name, unsigned threads,
                              const kernel_info *info, int fixed_shared)
{
    int64_t shared = info->shared_bytes + fixed_shared;
    if (shared > device->shared_bytes_per_block)
        FAIL(CUBC_NO_RESOURCES, "%s needs %lld bytes of shared memory a block, %s has %lld", name,
             (long long)shared, device->arch, (long long)device->shared_bytes_per_block);
    if (threads < 1 || threads > (unsigned)info->max_threads)
        FAIL(CUBC_NO_RESOURCES, "%s: %u threads a block of %d registers each, at most %d fit", name,
             threads, info->registers, info->max_threads);
    return CUBC_OK;
}

static cubc_status open_kernel(const cuda_device *d, CUmodule module, const char *name,
                               unsigned threads, device_kernel *out)
{
    CUfunction function = NULL;
    uint32_t layout[2];
    int fixed_shared = 0;
    TRY(DRIVER(cuda.cuModuleGetFunction(&function, module, name), "cuModuleGetFunction(%s)", name));
    // CUDA loads lazily, and loading may wait for the device: now, and not in the first launch,
    // which may come behind a held stream. Older drivers load when asked for an attribute.
    if (cuda.cuFuncLoad) TRY(DRIVER(cuda.cuFuncLoad(function), "cuFuncLoad(%s)", name));
    TRY(read_layout(d, module, name, layout));
    TRY(read_kernel_info(function, layout, &out->info, &fixed_shared));
    TRY(check_fits(&d->base.info, name, threads, &out->info, fixed_shared));
    if (out->info.shared_bytes + fixed_shared > SHARED_WITHOUT_OPT_IN)
        TRY(DRIVER(cuda.cuFuncSetAttribute(function,
                                           CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                           (int)out->info.shared_bytes),
                   "cuFuncSetAttribute(%s, %u bytes of shared memory)", name, layout[1]));
    TRY(DRIVER(cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(&out->info.blocks_per_unit,
                                                                function, (int)threads, layout[1]),
               "cuOccupancyMaxActiveBlocksPerMultiprocessor(%s)", name));
    if (out->info.blocks_per_unit < 1)
        FAIL(CUBC_NO_RESOURCES,
             "%s: no block of %u threads, %d registers each and %u bytes of shared memory fits on "
             "%s",
             name, threads, out->info.registers, layout[1], d->base.info.arch);
    out->function = function;
    out->threads = threads;
    return CUBC_OK;
}

cubc_status cuda_module_kernel(cubc_device *device, device_module *module, const char *name,
                               unsigned threads, device_kernel *out)
{
    cuda_device *d = (cuda_device *)device;
    bool pushed;
    int mode = cudaStreamCaptureModeRelaxed;
    *out = (device_kernel){0};
    TRY(device_cuda_enter(d, &pushed));
    exchange_capture_mode(&mode);
    cubc_status st = open_kernel(d, module->handle, name, threads, out);
    exchange_capture_mode(&mode);
    device_cuda_leave(pushed);
    return st;
}

static unsigned attributes(const launch_shape *shape, CUlaunchAttribute out[2])
{
    unsigned count = 0;
    if (shape->cluster > 1)
        out[count++] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                           .value.clusterDim = {shape->cluster, 1, 1}};
    if (shape->early)
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
    void *parameters[1] = {(void *)args}; // CUDA reads them only
    CUlaunchAttribute attrs[2];
    CUlaunchConfig config = {.gridDimX = shape->grid,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = kernel->threads,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .sharedMemBytes = (unsigned)kernel->info.shared_bytes,
                             .hStream = stream,
                             .attrs = attrs,
                             .numAttrs = attributes(shape, attrs)};
    TRY(device_cuda_enter(d, &pushed));
    cubc_status st = DRIVER(cuda.cuLaunchKernelEx(&config, kernel->function, parameters, NULL),
                            "cuLaunchKernelEx(%u blocks of %u threads, clusters of %u)",
                            shape->grid, kernel->threads, shape->cluster);
    device_cuda_leave(pushed);
    return st;
}
