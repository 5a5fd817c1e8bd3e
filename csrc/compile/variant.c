// Kernel sources and cached compilation: see variant.h.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // dladdr
#endif
#include "compile/variant.h"

#include "compile/cache.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- kernel sources -----------------------------------------------------------------------------
enum { MAX_FILES = 128, MAX_FILE_NAME = 64 };

// The subfolders, each of which includes only from those in front of it, and none from "cpu". Files
// have unique names.
static const char *const source_folders[] = {"dialect", "block",      "grid",           "shared",
                                             "cpu",     "primitives", "lattice/solver", "lattice"};

// The path of a kernel file. One that is in no subfolder is looked for in the folder itself.
static void find_source(const char *folder, const char *file, char path[PATH_MAX])
{
    for (size_t k = 0; k < COUNT_OF(source_folders); k++) {
        snprintf(path, PATH_MAX, "%s/%s/%s", folder, source_folders[k], file);
        if (access(path, R_OK) == 0) return;
    }
    snprintf(path, PATH_MAX, "%s/%s", folder, file);
}

cubc_status source_folder(char *out, size_t size)
{
    const char *given = getenv("CUBC_KERNELS");
    Dl_info library;
    if (given && *given) {
        char dialect[PATH_MAX];
        find_source(given, "simt.h", dialect);
        if (access(dialect, R_OK) != 0)
            FAIL(CUBC_IO_ERROR,
                 "CUBC_KERNELS is \"%.512s\", where there is no simt.h: unset it, or set it to a "
                 "folder of kernels",
                 given);
        snprintf(out, size, "%s", given);
        return CUBC_OK;
    }
    // A function's address finds the shared object that this code is part of.
    if (!dladdr((const void *)(uintptr_t)&cubc_version, &library) || !library.dli_fname)
        FAIL(CUBC_IO_ERROR, "cannot find the folder of kernels; set CUBC_KERNELS to it");
    const char *slash = strrchr(library.dli_fname, '/');
    int length = slash ? (int)(slash - library.dli_fname) : 1;
    snprintf(out, size, "%.*s/kernels", length, slash ? library.dli_fname : ".");
    return CUBC_OK;
}

typedef struct included {
    char names[MAX_FILES][MAX_FILE_NAME];
    int count;
} included;

static cubc_status flatten(const char *folder, const char *file, included *done, text *out)
{
    char path[PATH_MAX];
    text whole = {0};
    cubc_status st;
    for (int i = 0; i < done->count; i++)
        if (strcmp(done->names[i], file) == 0) return CUBC_OK;
    if (done->count == MAX_FILES || strlen(file) >= MAX_FILE_NAME)
        FAIL(CUBC_INTERNAL, "%s: too many kernel files, or too long a name", file);
    snprintf(done->names[done->count++], MAX_FILE_NAME, "%s", file);
    find_source(folder, file, path);
    GUARD(st, file_read(path, &whole), done);
    text_printf(out, "#line 1 \"%s\"\n", file);
    int number = 1;
    for (const char *line = whole.data ? whole.data : "", *end; *line; line = end, number++) {
        char name[MAX_FILE_NAME];
        end = line + strcspn(line, "\n");
        if (*end) end++;
        if (sscanf(line, "#include \"%63[A-Za-z0-9_.]\"", name) == 1) {
            GUARD(st, flatten(folder, name, done, out), done);
            text_printf(out, "#line %d \"%s\"\n", number + 1, file);
        } else if (strncmp(line, "#pragma once", 12) == 0) {
            text_puts(out, "\n");
        } else {
            text_append(out, line, (size_t)(end - line));
        }
    }
    st = text_done(out);
done:
    text_free(&whole);
    return st;
}

FORK_SAFE_MUTEX(source_lock);

cubc_status source_load(const char *file, const char **out)
{
    static struct {
        char name[MAX_FILE_NAME];
        char *source;
    } loaded[MAX_FILES];
    static int count;
    char folder[PATH_MAX];
    text flat = {0};
    included done = {0};
    cubc_status st = CUBC_OK;
    pthread_mutex_lock(&source_lock);
    for (int i = 0; i < count; i++)
        if (strcmp(loaded[i].name, file) == 0) {
            *out = loaded[i].source;
            goto unlock;
        }
    if (count == MAX_FILES || strlen(file) >= MAX_FILE_NAME) {
        st = error_set(__FILE__, __LINE__, CUBC_INTERNAL, "%s: too many kernel files", file);
        goto unlock;
    }
    GUARD(st, source_folder(folder, sizeof folder), unlock);
    GUARD(st, flatten(folder, file, &done, &flat), unlock);
    snprintf(loaded[count].name, MAX_FILE_NAME, "%s", file);
    loaded[count].source = flat.data;
    flat = (text){0}; // the table owns it
    *out = loaded[count++].source;
unlock:
    pthread_mutex_unlock(&source_lock);
    text_free(&flat);
    return st;
}

const char *cubc_version(void)
{
    return CUBC_VERSION;
}

// ---- compilation --------------------------------------------------------------------------------
static void make_key(const char *arch, const char *compiler, const char *source, char key[65])
{
    uint8_t digest[32];
    sha256 h;
    sha256_begin(&h);
    sha256_add(&h, cubc_version(), strlen(cubc_version()) + 1); // stands for our own options
    sha256_add(&h, arch, strlen(arch) + 1);
    sha256_add(&h, compiler, strlen(compiler) + 1);
    sha256_add(&h, source, strlen(source));
    sha256_end(&h, digest);
    for (int i = 0; i < 32; i++) snprintf(key + 2 * i, 3, "%02x", digest[i]);
}

// Loads the code where there is a device to load it, else looks whether it could be.
static cubc_status accept(const device_api *api, cubc_device *device, const binary *code,
                          device_module **module)
{
    if (device) return api->load(device, code, module);
    return api->check ? api->check(code) : CUBC_OK;
}

// A binary may be broken, by a compiler, a disk or another process. One that is refused is removed
// from the cache and compiled again.
static atomic_uint compiling;

unsigned variant_compiling(void)
{
    return atomic_load(&compiling);
}

static cubc_status compile_counted(const device_api *api, const compile_request *request,
                                   binary *code)
{
    atomic_fetch_add(&compiling, 1);
    cubc_status st = api->compile(request, code);
    atomic_fetch_sub(&compiling, 1);
    return st;
}

static cubc_status compile(const device_api *api, cubc_device *device,
                           const compile_request *request, binary *code, device_module **module,
                           double *seconds)
{
    char compiler[96], key[65];
    compile_request rest = *request;
    *seconds = 0;
    TRY(api->compiler(compiler, sizeof compiler));
    make_key(request->arch, compiler, request->source, key);
    for (int again = 0;; again++) {
        bool kept = again == 0 && cache_get(key, code);
        double start = now_seconds();
        if (!kept) {
            TRY(compile_counted(api, &rest, code));
            *seconds += now_seconds() - start;
        }
        cubc_status st = accept(api, device, code, module);
        if (!st && !kept) cache_put(key, code);
        if (!st) return CUBC_OK;
        binary_free(code);
        if (st != CUBC_DEVICE_ERROR) return st; // the code is not at fault
        if (kept) cache_remove(key);
        if (again) return st;
        if (request->deadline_s > 0) {
            rest.deadline_s = request->deadline_s - *seconds;
            if (rest.deadline_s <= 0) return st;
        }
    }
}

static cubc_status find_api(const char *arch, const device_api **api)
{
    *api = device_api_of_arch(arch);
    if (!*api)
        FAIL(CUBC_INVALID_ARGUMENT, "unknown architecture '%s': expected sm_NN or cpu", arch);
    return CUBC_OK;
}

cubc_status variant_compile(const char *arch, const char *source, const char *label,
                            double deadline_s, binary *out, double *seconds)
{
    const device_api *api;
    TRY(find_api(arch, &api));
    const compile_request request = {source, label, arch, deadline_s};
    return compile(api, NULL, &request, out, NULL, seconds);
}

cubc_status variant_load(cubc_device *device, const char *source, const char *label,
                         double deadline_s, device_module **out)
{
    const compile_request request = {source, label, device->info.arch, deadline_s};
    binary code = {0};
    double seconds;
    cubc_status st = compile(device->api, device, &request, &code, out, &seconds);
    binary_free(&code);
    return st;
}
