// Compiles a variant with NVRTC, in this process and on any number of threads at once. Needs no
// driver and no GPU.
//
// The result is a binary for exactly one architecture and not PTX: nothing is left to the driver's
// compiler at load time, and a binary for 12.x runs on every driver for 12.x. CUBC_NVRTCFLAGS adds
// options, split on spaces.
#define _POSIX_C_SOURCE 200809L
#include "device/cuda/device_cuda.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPTIONS = 32, MAX_OPTIONS_LENGTH = 1024 };

// Why a compilation is cancelled. NVRTC asks from threads of its own and wants the same answer once
// it was yes, so the first reason stays.
typedef struct watch {
    double deadline;   // on now_seconds(); 0: none
    atomic_int reason; // CUBC_OK, CUBC_TIMEOUT or CUBC_INTERRUPTED
} watch;

static int should_cancel(void *payload, void *reserved)
{
    watch *w = payload;
    (void)reserved;
    if (atomic_load(&w->reason) != CUBC_OK) return 1;
    int reason = CUBC_OK, none = CUBC_OK;
    if (w->deadline > 0 && now_seconds() > w->deadline)
        reason = CUBC_TIMEOUT;
    else if (interrupt_pending())
        reason = CUBC_INTERRUPTED;
    if (reason == CUBC_OK) return 0;
    atomic_compare_exchange_strong(&w->reason, &none, reason);
    return 1;
}

static cubc_status check_arch(const char *arch)
{
    int wanted = device_arch_number(arch), count = 0, archs[256];
    if (wanted <= 0)
        FAIL(CUBC_INVALID_ARGUMENT, "\"%s\" is no CUDA architecture, e.g. sm_90", arch);
    if (cuda.nvrtcGetNumSupportedArchs(&count) || count <= 0 || count > (int)COUNT_OF(archs) ||
        cuda.nvrtcGetSupportedArchs(archs))
        return CUBC_OK; // NVRTC itself will say
    int least = archs[0], most = archs[0];
    for (int i = 0; i < count; i++) {
        if (archs[i] == wanted) return CUBC_OK;
        if (archs[i] < least) least = archs[i];
        if (archs[i] > most) most = archs[i];
    }
    FAIL(CUBC_NO_DEVICE, "%s needs %s NVRTC: this one, %d.%d, compiles for sm_%d up to sm_%d", arch,
         wanted < least ? "an older" : "a newer", cuda.nvrtc_major, cuda.nvrtc_minor, least, most);
}

static cubc_status report_failure(nvrtcProgram program, int code, const compile_request *request,
                                  const watch *w)
{
    int reason = atomic_load(&w->reason);
    if (code == NVRTC_ERROR_CANCELLED && reason == CUBC_INTERRUPTED)
        FAIL(CUBC_INTERRUPTED, "interrupted while compiling %s", request->label);
    if (code == NVRTC_ERROR_CANCELLED)
        FAIL(CUBC_TIMEOUT, "compiling %s took longer than %g s and was stopped", request->label,
             request->deadline_s);

    size_t size = 0;
    char line[512] = "", *log = NULL;
    if (cuda.nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS && size > 1) {
        log = mem_zalloc(size + 1, 1);
        if (!log) return CUBC_NO_MEMORY;
        if (cuda.nvrtcGetProgramLog(program, log) == NVRTC_SUCCESS)
            error_line(log, line, sizeof line);
    }
    const char *text = cuda.nvrtcGetErrorString(code);
    cubc_status st =
        error_set(__FILE__, __LINE__, CUBC_COMPILE_ERROR, "%s does not compile for %s: %s",
                  request->label, request->arch, line[0] ? line : text);
    if (log) error_set_log(log, strlen(log));
    mem_free(log);
    return st;
}

static cubc_status take_binary(nvrtcProgram program, const compile_request *request, binary *out)
{
    size_t size = 0;
    int code = cuda.nvrtcGetCUBINSize(program, &size);
    if (code || size == 0)
        FAIL(CUBC_COMPILE_ERROR, "%s (%s): nvrtcGetCUBINSize: %s", request->label, request->arch,
             code ? cuda.nvrtcGetErrorString(code) : "no binary");
    uint8_t *data = mem_alloc(size, 1);
    if (!data) return CUBC_NO_MEMORY;
    code = cuda.nvrtcGetCUBIN(program, (char *)data);
    if (code) {
        mem_free(data);
        FAIL(CUBC_COMPILE_ERROR, "%s (%s): nvrtcGetCUBIN: %s", request->label, request->arch,
             cuda.nvrtcGetErrorString(code));
    }
    *out = (binary){data, size};
    return CUBC_OK;
}

static bool wants_line_info(void)
{
    const char *debug = getenv("CUBC_DEBUG");
    return debug && debug[0] && strcmp(debug, "0") != 0;
}

static const char *further_options(void)
{
    const char *given = getenv("CUBC_NVRTCFLAGS");
    return given ? given : "";
}

// Adds the options of the source and the words of CUBC_NVRTCFLAGS, which lie in `words` from then
// on.
static cubc_status add_further_options(const char *source, const char **options, int *count,
                                       char *words)
{
    text own = {0};
    cubc_status st = device_source_options(source, &own);
    int length =
        snprintf(words, MAX_OPTIONS_LENGTH, "%s %s", own.data ? own.data : "", further_options());
    text_free(&own);
    if (st) return st;
    char *rest = words, *word;
    while ((word = strtok_r(rest, " ", &rest)) != NULL) {
        if (*count == MAX_OPTIONS || length >= MAX_OPTIONS_LENGTH)
            FAIL(CUBC_INVALID_ARGUMENT,
                 "CUBC_NVRTCFLAGS is too long: with the source's own options at most %d characters "
                 "and %d words are taken",
                 MAX_OPTIONS_LENGTH - 1, MAX_OPTIONS - 5);
        options[(*count)++] = word;
    }
    return CUBC_OK;
}

// NVRTC 13 keeps what it compiled in the driver's cache, by a key that does not have all options: a
// source compiled with --use_fast_math may come back for the same without it. Our cache has it all.
static atomic_bool may_cache; // an older NVRTC, which has no cache and does not know the option

static cubc_status create(const compile_request *request, watch *w, nvrtcProgram *program)
{
    int code = cuda.nvrtcCreateProgram(program, request->source, "cubc", 0, NULL, NULL);
    if (code)
        FAIL(CUBC_COMPILE_ERROR, "%s: nvrtcCreateProgram: %s", request->label,
             cuda.nvrtcGetErrorString(code));
    // Before 12.8 there is no callback, and neither a deadline nor Ctrl-C stops a compilation.
    if (cuda.nvrtcSetFlowCallback) cuda.nvrtcSetFlowCallback(*program, should_cancel, w);
    return CUBC_OK;
}

cubc_status cuda_compile_source(const compile_request *request, binary *out)
{
    *out = (binary){0};
    TRY(cuda_api_compiler_ready());
    TRY(check_arch(request->arch));

    char arch_option[64], more[MAX_OPTIONS_LENGTH];
    snprintf(arch_option, sizeof arch_option, "--gpu-architecture=%s", request->arch);
    // 177: of the dialect's functions a kernel uses some; the rest is not worth a warning.
    const char *options[MAX_OPTIONS + 1] = {arch_option, "--std=c++17", "--diag-suppress=177"};
    int count = 3;
    if (wants_line_info()) options[count++] = "--generate-line-info";
    if (device_source_rounds(request->source)) options[count++] = "--fmad=false";
    TRY(add_further_options(request->source, options, &count, more));

    watch w = {0};
    atomic_init(&w.reason, CUBC_OK);
    if (request->deadline_s > 0) w.deadline = now_seconds() + request->deadline_s;

    nvrtcProgram program = NULL;
    TRY(create(request, &w, &program));
    bool plain = atomic_load(&may_cache);
    if (!plain) options[count] = "--no-cache";
    int code = cuda.nvrtcCompileProgram(program, count + !plain, options);
    if (code == NVRTC_ERROR_INVALID_OPTION && !plain) {
        cuda.nvrtcDestroyProgram(&program);
        program = NULL;
        TRY(create(request, &w, &program));
        code = cuda.nvrtcCompileProgram(program, count, options);
        if (code != NVRTC_ERROR_INVALID_OPTION) atomic_store(&may_cache, true);
    }
    cubc_status st =
        code ? report_failure(program, code, request, &w) : take_binary(program, request, out);
    cuda.nvrtcDestroyProgram(&program);
    return st;
}

cubc_status cuda_compile_name(char *name, size_t size)
{
    TRY(cuda_api_compiler_ready());
    // The name keys caches: what changes the code belongs to it.
    const char *further = further_options();
    char key[65] = "";
    if (*further) sha256_hex(further, strlen(further), key);
    snprintf(name, size, "NVRTC %d.%d%s%s%.8s", cuda.nvrtc_major, cuda.nvrtc_minor,
             wants_line_info() ? " --generate-line-info" : "", *further ? " " : "", key);
    return CUBC_OK;
}
