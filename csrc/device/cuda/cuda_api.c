// Finds the NVIDIA driver, the CUDA runtime and NVRTC at run time; see cuda_api.h.
//
// A runtime and an NVRTC of the same major version are taken together: NVRTC's binaries and the
// driver then agree by CUDA's own compatibility rules. Places are tried in an order that avoids a
// second copy of a library in the process: what another package has loaded already, what
// cuda-pathfinder or the environment names, what the dynamic linker finds, the toolkit's folder;
// in each place the newest major that the driver supports comes first.
#define _POSIX_C_SOURCE 200809L
#include "device/cuda/cuda_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST_MAJOR = 12, NEWEST_MAJOR = 13 };
#define TOOLKIT_FOLDER "/usr/local/cuda/lib64/"

cuda_functions cuda;

typedef struct entry {
    const char *name;
    size_t offset; // in cuda_functions
    bool required;
} entry;
#define REQUIRED_ENTRY(result, name, parameters) {#name, offsetof(cuda_functions, name), true},
#define OPTIONAL_ENTRY(result, name, parameters) {#name, offsetof(cuda_functions, name), false},
static const entry driver_entries[] = {CUDA_DRIVER_TABLE(REQUIRED_ENTRY, OPTIONAL_ENTRY)};
static const entry runtime_entries[] = {CUDA_RUNTIME_TABLE(REQUIRED_ENTRY, OPTIONAL_ENTRY)};
static const entry nvrtc_entries[] = {CUDA_NVRTC_TABLE(REQUIRED_ENTRY, OPTIONAL_ENTRY)};

typedef enum place { PLACE_LOADED, PLACE_GIVEN, PLACE_LINKER, PLACE_TOOLKIT, PLACE_COUNT } place;

typedef struct library {
    const char *title, *stem, *variable;
    const entry *entries;
    size_t entry_count;
    bool (*version)(int *major, int *minor); // of the copy that is bound now
    char given[4096];                        // by cuda_api_set_paths; "" if it was not
} library;

static bool runtime_version(int *major, int *minor)
{
    int version = 0;
    if (!cuda.cudaRuntimeGetVersion || cuda.cudaRuntimeGetVersion(&version)) return false;
    *major = version / 1000;
    *minor = version % 1000 / 10;
    return true;
}

static bool nvrtc_version(int *major, int *minor)
{
    return cuda.nvrtcVersion && !cuda.nvrtcVersion(major, minor);
}

static library cudart = {.title = "CUDA runtime",
                         .stem = "libcudart.so",
                         .variable = "CUBC_CUDART",
                         .entries = runtime_entries,
                         .entry_count = COUNT_OF(runtime_entries),
                         .version = runtime_version};
static library nvrtc = {.title = "NVRTC",
                        .stem = "libnvrtc.so",
                        .variable = "CUBC_NVRTC",
                        .entries = nvrtc_entries,
                        .entry_count = COUNT_OF(nvrtc_entries),
                        .version = nvrtc_version};

FORK_SAFE_MUTEX(lock); // guards what follows, and `given`
static bool resolved;
static char runtime_why[1024], compiler_why[1024]; // why not ready
// A library that the user insists on is an error where it cannot be had, and not a lack of GPUs.
static cubc_status not_ready = CUBC_NO_DEVICE;
static atomic_bool runtime_ready, compiler_ready; // read without the lock; once true, for good

// ---- one library ------------------------------------------------------------------------------
// Fills the library's members of `cuda`; false if a required one is missing. It goes on after a
// missing one so that the version of an old library can still be asked for.
static bool bind_entries(void *handle, const entry *entries, size_t count)
{
    bool complete = true;
    for (size_t i = 0; i < count; i++) {
        void *symbol = dlsym(handle, entries[i].name);
        memcpy((char *)&cuda + entries[i].offset, &symbol, sizeof symbol);
        if (!symbol && entries[i].required) complete = false;
    }
    return complete;
}

// The path that the user insists on: then no other copy is looked for.
static const char *insisted_path(const library *lib)
{
    const char *path = getenv(lib->variable);
    return path && path[0] ? path : NULL;
}

static const char *given_path(const library *lib)
{
    const char *path = insisted_path(lib);
    return path ? path : lib->given[0] ? lib->given : NULL;
}

static void *open_file(const library *lib, place from, int major)
{
    char name[128];
    const char *folder = from == PLACE_TOOLKIT ? TOOLKIT_FOLDER : "";
    snprintf(name, sizeof name, "%s%s.%d", folder, lib->stem, major);
    if (from == PLACE_LOADED) return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (from != PLACE_GIVEN) return dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const char *path = given_path(lib);
    return path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

// Binds the copy of `lib` from a place if there is one of that major version.
static bool bind_at(const library *lib, place from, int major)
{
    int found_major = 0, found_minor = 0;
    if (from != PLACE_GIVEN && insisted_path(lib)) return false;
    void *handle = open_file(lib, from, major);
    if (!handle) return false;
    bool complete = bind_entries(handle, lib->entries, lib->entry_count);
    if (complete && lib->version(&found_major, &found_minor) && found_major == major) return true;
    dlclose(handle);
    return false;
}

static bool bind_anywhere(const library *lib, int major)
{
    for (int from = 0; from < PLACE_COUNT; from++)
        if (bind_at(lib, (place)from, major)) return true;
    return false;
}

// For a message: the version of a copy that is there although it is not usable.
static bool describe_copy(const library *lib, const char *path, char *text, size_t size)
{
    int major = 0, minor = 0;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return false;
    bind_entries(handle, lib->entries, lib->entry_count);
    bool known = lib->version(&major, &minor) && major;
    if (known) snprintf(text, size, "%s %d.%d was found (%.256s)", lib->title, major, minor, path);
    dlclose(handle);
    return known;
}

static void describe_insisted(const library *lib, const char *path, char *text, size_t size)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *reason = handle ? NULL : dlerror();
    if (!handle)
        snprintf(text, size, "%s=%.100s cannot be loaded (%.200s)", lib->variable, path,
                 reason ? reason : "no reason was given");
    else if (!describe_copy(lib, path, text, size))
        snprintf(text, size, "%s=%.256s is no %s", lib->variable, path, lib->title);
    if (handle) dlclose(handle);
}

static void describe_unusable(const library *lib, char *text, size_t size)
{
    static const char *const formats[] = {"%s.13", "%s.12", "%s.11.0", "%s.11.2",
                                          TOOLKIT_FOLDER "%s"};
    const char *insisted = insisted_path(lib);
    if (insisted) {
        describe_insisted(lib, insisted, text, size);
        return;
    }
    if (lib->given[0] && describe_copy(lib, lib->given, text, size)) return;
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        char name[128];
        snprintf(name, sizeof name, formats[i], lib->stem);
        if (describe_copy(lib, name, text, size)) return;
    }
    snprintf(text, size, "no %s was found", lib->title);
}

// ---- all three --------------------------------------------------------------------------------
static bool bind_driver(void)
{
    void *handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *reason = dlerror();
        snprintf(runtime_why, sizeof runtime_why, "there is no NVIDIA driver here (%.512s)",
                 reason ? reason : "libcuda.so.1");
        return false;
    }
    bool complete = bind_entries(handle, driver_entries, COUNT_OF(driver_entries));
    int version = 0;
    if (!complete || cuda.cuDriverGetVersion(&version))
        snprintf(runtime_why, sizeof runtime_why,
                 "libcuda.so.1 is a stub or too old: cubc needs an NVIDIA driver for CUDA 12.0 or "
                 "newer");
    else if (version < OLDEST_MAJOR * 1000)
        snprintf(runtime_why, sizeof runtime_why,
                 "the NVIDIA driver supports CUDA %d.%d, cubc needs one for 12.0 or newer",
                 version / 1000, version % 1000 / 10);
    else
        cuda.driver_version = version;
    return cuda.driver_version != 0;
}

// A runtime and an NVRTC of one major version, none newer than the driver.
static bool bind_pair(int newest)
{
    for (int from = 0; from < PLACE_COUNT; from++)
        for (int major = newest; major >= OLDEST_MAJOR; major--)
            if (bind_at(&cudart, (place)from, major) && bind_anywhere(&nvrtc, major)) return true;
    if (insisted_path(&cudart) || insisted_path(&nvrtc)) not_ready = CUBC_IO_ERROR;
    char runtime_text[400], nvrtc_text[400];
    describe_unusable(&cudart, runtime_text, sizeof runtime_text);
    describe_unusable(&nvrtc, nvrtc_text, sizeof nvrtc_text);
    snprintf(runtime_why, sizeof runtime_why,
             "cubc needs a CUDA runtime and NVRTC, %s; %s, %s: pip install cubc[cuda%d]",
             newest == OLDEST_MAJOR ? "both 12.x for this driver" : "both 12.x or both 13.x",
             runtime_text, nvrtc_text, newest);
    return false;
}

// Code comes in bundles: a runtime is enough.
static atomic_bool without_compiler;

static bool may_lack_compiler(void)
{
    const char *bundle = getenv("CUBC_BUNDLE");
    return atomic_load(&without_compiler) || (bundle && *bundle);
}

static bool bind_runtime_alone(int newest)
{
    for (int from = 0; from < PLACE_COUNT; from++)
        for (int major = newest; major >= OLDEST_MAJOR; major--)
            if (bind_at(&cudart, (place)from, major)) return true;
    return false;
}

static int newest_major(void)
{
    int newest = cuda.driver_version / 1000;
    return newest > NEWEST_MAJOR ? NEWEST_MAJOR : newest;
}

static void runtime_is_ready(void)
{
    cuda.cudaRuntimeGetVersion(&cuda.runtime_version);
    atomic_store(&runtime_ready, true);
}

static bool bind_nvrtc_alone(void)
{
    for (int from = 0; from < PLACE_COUNT; from++)
        for (int major = NEWEST_MAJOR; major >= OLDEST_MAJOR; major--)
            if (bind_at(&nvrtc, (place)from, major)) return true;
    char found[400];
    describe_unusable(&nvrtc, found, sizeof found);
    snprintf(compiler_why, sizeof compiler_why,
             "cubc needs NVRTC 12.x or 13.x; %s: pip install cubc[cuda12] or cubc[cuda13]", found);
    return false;
}

static void resolve(void)
{
    bool driver = bind_driver(), paired = driver && bind_pair(newest_major());
    if (paired || (driver && may_lack_compiler() && bind_runtime_alone(newest_major())))
        runtime_is_ready();
    bool compiler = paired || bind_nvrtc_alone();
    if (compiler) cuda.nvrtcVersion(&cuda.nvrtc_major, &cuda.nvrtc_minor);
    atomic_store(&compiler_ready, compiler);
    resolved = true;
}

static cubc_status ready(const atomic_bool *flag, const char *why)
{
    if (atomic_load_explicit(flag, memory_order_acquire)) return CUBC_OK;
    pthread_mutex_lock(&lock);
    if (!resolved) resolve();
    bool is_ready = atomic_load(flag);
    cubc_status st = CUBC_OK;
    if (!is_ready) st = error_set(__FILE__, __LINE__, not_ready, "%s", why);
    pthread_mutex_unlock(&lock);
    return st;
}

cubc_status cuda_api_runtime_ready(void)
{
    return ready(&runtime_ready, runtime_why);
}

cubc_status cuda_api_compiler_ready(void)
{
    return ready(&compiler_ready, compiler_why);
}

void cuda_api_set_paths(const char *cudart_path, const char *nvrtc_path)
{
    pthread_mutex_lock(&lock);
    snprintf(cudart.given, sizeof cudart.given, "%s", cudart_path ? cudart_path : "");
    snprintf(nvrtc.given, sizeof nvrtc.given, "%s", nvrtc_path ? nvrtc_path : "");
    // A search is repeated only if it found nothing: bound libraries may be in use.
    if (!atomic_load(&runtime_ready) && !atomic_load(&compiler_ready)) resolved = false;
    pthread_mutex_unlock(&lock);
}

void device_without_compiler(bool may_be)
{
    pthread_mutex_lock(&lock);
    atomic_store(&without_compiler, may_be);
    if (may_be && resolved && !atomic_load(&runtime_ready) && cuda.driver_version &&
        bind_runtime_alone(newest_major()))
        runtime_is_ready();
    pthread_mutex_unlock(&lock);
}

// ---- errors -----------------------------------------------------------------------------------
static cubc_status status_of(int code)
{
    switch (code) {
    case CUDA_ERROR_OUT_OF_MEMORY: return CUBC_NO_DEVICE_MEMORY;
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_INSUFFICIENT_DRIVER:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_SYSTEM_NOT_READY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: return CUBC_NO_DEVICE;
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED: return CUBC_KERNEL_FAULT;
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: return CUBC_NO_RESOURCES;
    default: return CUBC_DEVICE_ERROR;
    }
}

static cubc_status report(const char *file, int line, int code, const char *name, const char *text,
                          const char *format, va_list arguments)
{
    char call[512];
    const char *advice = "";
    cubc_status status = status_of(code);
    vsnprintf(call, sizeof call, format, arguments);
    if (status == CUBC_KERNEL_FAULT)
        advice = "; the CUDA context of this process is lost, the process must be restarted";
    else if (code == CUDA_ERROR_NOT_INITIALIZED)
        advice = "; a process forked after CUDA was used cannot use it, start it with \"spawn\"";
    return error_set(file, line, status, "%s: %s (%s)%s", call, name ? name : "unknown error",
                     text ? text : "no text", advice);
}

cubc_status cuda_api_check_runtime(const char *file, int line, cudaError_t code, const char *format,
                                   ...)
{
    if (code == CUDA_SUCCESS) return CUBC_OK;
    va_list arguments;
    va_start(arguments, format);
    cubc_status status = report(file, line, code, cuda.cudaGetErrorName(code),
                                cuda.cudaGetErrorString(code), format, arguments);
    va_end(arguments);
    cuda.cudaGetLastError(); // reported here: other users of the runtime must not see it again
    return status;
}

cubc_status cuda_api_check_driver(const char *file, int line, CUresult code, const char *format,
                                  ...)
{
    if (code == CUDA_SUCCESS) return CUBC_OK;
    const char *name = NULL, *text = NULL;
    va_list arguments;
    cuda.cuGetErrorName(code, &name);
    cuda.cuGetErrorString(code, &text);
    va_start(arguments, format);
    cubc_status status = report(file, line, code, name, text, format, arguments);
    va_end(arguments);
    return status;
}
