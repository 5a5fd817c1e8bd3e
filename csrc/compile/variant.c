// Cached compilation: see variant.h.
#include "compile/variant.h"

#include "base/log.h"
#include "compile/cache.h"
#include "compile/claim.h"

#include <stdatomic.h>
#include <string.h>

// ---- compilation --------------------------------------------------------------------------------
// Loads the code where there is a device to load it, else looks whether it could be.
static cubc_status accept(const device_api *api, cubc_device *device, const binary *code,
                          device_module **module)
{
    if (device) return api->load(device, code, module);
    return api->check ? api->check(code) : CUBC_OK;
}

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

// Takes code of a bundle. *found: it was there, and is accepted unless something else went wrong.
static cubc_status take_bundled(const device_api *api, cubc_device *device,
                                const compile_request *request, bool shipped, bundled *one,
                                device_module **module, bool *found)
{
    *found = shipped ? bundle_get_shipped(request, one) : bundle_get(request, one);
    if (!*found) return CUBC_OK;
    cubc_status st = accept(api, device, &one->code, module);
    if (!st) {
        bundle_keep(request->arch, one);
        return CUBC_OK;
    }
    binary_free(&one->code);
    *found = st != CUBC_DEVICE_ERROR; // then the code is not at fault
    return *found ? st : CUBC_OK;
}

// Takes code that came with cubc where there is no compiler. `why` is the status of the last error.
static cubc_status take_shipped(const device_api *api, cubc_device *device,
                                const compile_request *request, bundled *one,
                                device_module **module, cubc_status why)
{
    bool found = false, shipped = why == CUBC_COMPILE_ERROR && bundle_is_shipped();
    char compiler[96];
    if (shipped) TRY(take_bundled(api, device, request, true, one, module, &found));
    if (found) return CUBC_OK;
    if (shipped) why = api->compiler(compiler, sizeof compiler); // says again why there is none
    if (bundle_in_use())
        error_prefix("%s is in no bundle: ", request->label);
    else if (shipped)
        error_prefix("%s did not come compiled with cubc: ", request->label);
    return why;
}

// Takes code of the cache, after a wait if somebody else is about to put it there. The time waited
// is taken off the deadline of the request, of which something stays: 0 would be no deadline. Code
// in memory enters the cache.
static cubc_status take_kept(compile_request *request, const char *key, const bundle_memory *memory,
                             binary *code, bool *kept, bool *claimed)
{
    double waited;
    *claimed = false;
    *kept = cache_get(key, code);
    if (*kept) return CUBC_OK;
    *kept = memory && bundle_find(memory, key, code);
    if (*kept) {
        cache_put(key, code);
        return CUBC_OK;
    }
    TRY(claim_or_wait(key, request->label, request->deadline_s, claimed, &waited));
    if (request->deadline_s > 0)
        request->deadline_s = request->deadline_s > waited ? request->deadline_s - waited : 1e-3;
    *kept = cache_get(key, code);
    return CUBC_OK;
}

// A binary may be broken, by a compiler, a disk or another process. One that is refused is removed
// from the cache and compiled again.
static cubc_status make(const device_api *api, cubc_device *device, const compile_request *request,
                        bool kept, bundled *one, device_module **module, double *seconds)
{
    compile_request rest = *request;
    for (int again = 0;; again++, kept = false) {
        double start = now_seconds();
        if (!kept) {
            TRY(compile_counted(api, &rest, &one->code));
            *seconds += now_seconds() - start;
        }
        cubc_status st = accept(api, device, &one->code, module);
        if (!st && !kept) cache_put(one->key, &one->code);
        if (!st) {
            if (kept)
                log_put(LOG_FOUND, "%s for %s is in the cache", request->label, request->arch);
            else
                log_put(LOG_COMPILED, "%s for %s compiled in %.2f s by %s", request->label,
                        request->arch, *seconds, one->compiler);
            bundle_keep(request->arch, one);
            return CUBC_OK;
        }
        binary_free(&one->code);
        if (st != CUBC_DEVICE_ERROR) return st; // the code is not at fault
        if (kept) cache_remove(one->key);
        if (again) return st;
        if (request->deadline_s > 0) {
            rest.deadline_s = request->deadline_s - *seconds;
            if (rest.deadline_s <= 0) return st;
        }
    }
}

static cubc_status compile(const device_api *api, cubc_device *device,
                           const compile_request *request, const bundle_memory *memory,
                           bundled *one, device_module **module, double *seconds)
{
    compile_request rest = *request;
    bool found, claimed;
    *one = (bundled){.target = ""};
    *seconds = 0;
    TRY(bundle_use_variable());
    TRY(take_bundled(api, device, request, false, one, module, &found));
    if (found) return CUBC_OK;
    cubc_status st = api->compiler(one->compiler, sizeof one->compiler);
    if (st) return take_shipped(api, device, request, one, module, st);
    cache_key(request->arch, one->compiler, request->source, one->key);
    if (api->target) TRY(api->target(one->target));
    TRY(take_kept(&rest, one->key, memory, &one->code, &found, &claimed));
    st = make(api, device, &rest, found, one, module, seconds);
    if (claimed) claim_release(one->key);
    return st;
}

static cubc_status find_api(const char *arch, const device_api **api)
{
    *api = device_api_of_arch(arch);
    if (!*api)
        FAIL(CUBC_INVALID_ARGUMENT, "unknown architecture '%s': expected sm_NN or cpu", arch);
    return CUBC_OK;
}

cubc_status variant_compile(const char *arch, const char *source, const char *label,
                            double deadline_s, const bundle_memory *memory, binary *out,
                            double *seconds)
{
    const device_api *api;
    bundled one;
    TRY(find_api(arch, &api));
    const compile_request request = {source, label, arch, deadline_s};
    TRY(compile(api, NULL, &request, memory, &one, NULL, seconds));
    binary known = {0};
    if (memory && memory->more && !bundle_find(memory, one.key, &known))
        bundle_append(memory, arch, &one);
    binary_free(&known);
    *out = one.code;
    return CUBC_OK;
}

cubc_status variant_load(cubc_device *device, const char *source, const char *label,
                         double deadline_s, device_module **out)
{
    const compile_request request = {source, label, device->info.arch, deadline_s};
    bundled one;
    double seconds;
    cubc_status st = compile(device->api, device, &request, NULL, &one, out, &seconds);
    binary_free(&one.code);
    return st;
}
