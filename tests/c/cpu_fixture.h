// Shared by the tests of the CPU device: opening it, and building small kernels of the dialect.
// CUBC_KERNELS is the folder of kernels.
#ifndef CPU_FIXTURE_H
#define CPU_FIXTURE_H

#include "check.h"
#include "compile/variant.h"
#include "device/device.h"

#include <stdlib.h>

#define ADDRESS(pointer) ((uint64_t)(uintptr_t)(pointer))

// Counts the blocks of memory that are there at the start, with the dialect, which stays loaded.
static inline long outstanding_at_start(void)
{
    const char *dialect;
    CHECK_STATUS(source_load("simt.h", &dialect), CUBC_OK);
    return mem_outstanding();
}

static inline char *source_text(const char *threads, const char *warp, const char *body,
                                const char *more)
{
    const char *dialect = "";
    text all = {0};
    if (source_load("simt.h", &dialect)) printf("%s\n", cubc_error_message());
    text_printf(&all, "#define SIMT_CPU 1\n#define SIMT_THREADS %s\n#define SIMT_WARP %s\n",
                threads, warp);
    text_printf(&all, "%s\n%s%s", dialect, body, more);
    return all.data;
}

static inline cubc_status build_source(cubc_device *d, char *source, device_module **module)
{
    compile_request request = {.source = source, .label = "k.cu test", .arch = "cpu"};
    binary code = {0};
    cubc_status status = source ? device_cpu_api.compile(&request, &code) : CUBC_NO_MEMORY;
    if (status == CUBC_OK) status = device_cpu_api.load(d, &code, module);
    mem_free(code.data);
    return status;
}

static inline cubc_device *open_with(const char *workers, const char *seed)
{
    cubc_device *d = NULL;
    setenv("CUBC_CPU_THREADS", workers, 1);
    setenv("CUBC_SIMT_SEED", seed, 1);
    CHECK_STATUS(device_cpu_api.open(0, &d), CUBC_OK);
    return d;
}

#endif
