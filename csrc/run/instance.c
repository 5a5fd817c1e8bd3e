// Instances: variants compiled and loaded on a device, and the running of calls on them.
#include "run/instance_key.h"
#include "run/table.h"

#include <stdio.h>

static const double COMPILE_SECONDS = 300; // far beyond any kernel; an expression can be anything

// ---- opening ------------------------------------------------------------------------------------
static cubc_status find_kernels(instance *i)
{
    const device_api *api = i->device->api;
    unsigned threads = (unsigned)variant_value(&i->space, &i->variant, "tpb", 1);
    const char *const *names = algorithm_kernels(i->key.algorithm, i->device->info.arch, threads);
    for (int k = 0; k < MAX_KERNELS && names[k]; k++) {
        TRY(api->kernel(i->device, i->module, names[k], threads, &i->kernels[k]));
        if (i->kernels[k].info.blocks_per_unit < 1)
            FAIL(
                CUBC_NO_RESOURCES,
                "%s %s: a block of %u threads with %d registers each does not fit a multiprocessor",
                i->key.benchmark, i->label, threads, i->kernels[k].info.registers);
    }
    return CUBC_OK;
}

cubc_status instance_open(cubc_device *device, const problem *p, const char *label, instance **out)
{
    const char *arch = device->info.arch;
    char workload_hash[65], title[MAX_LABEL + 64];
    text source = {0};
    cubc_status st;
    instance *i = mem_zalloc(1, sizeof *i);
    if (!i) return CUBC_NO_MEMORY;
    i->device = device;
    GUARD(st, instance_key_copy(p, &i->key), done);
    GUARD(st, algorithm_variant(p, arch, label, &i->space, &i->variant, i->label), done);
    GUARD(st, algorithm_source(p, arch, &i->space, &i->variant, &source, workload_hash), done);
    const char *lazy = p->lazy_count ? p->lazy[0].expression : NULL;
    if (p->expression || lazy) // what the caller wrote, whichever variant it met
        snprintf(title, sizeof title, "the expression '%.100s'%s%.100s%s",
                 p->expression ? p->expression : lazy, p->expression && lazy ? ", or '" : "",
                 p->expression && lazy ? lazy : "", p->expression && lazy ? "'," : "");
    else
        snprintf(title, sizeof title, "%s %s", i->key.benchmark, i->label);
    st = variant_load(device, source.data, title, COMPILE_SECONDS, &i->module);
    if (!st) st = find_kernels(i);
done:
    text_free(&source);
    if (st) {
        instance_close(i);
        i = NULL;
    }
    *out = i;
    return st;
}

void instance_close(instance *i)
{
    if (!i) return;
    if (i->module) i->device->api->unload(i->device, i->module);
    instance_key_free(&i->key);
    mem_free(i);
}

// ---- running ------------------------------------------------------------------------------------
// The scratch of storage that the caller provides follows the messages.
enum { SCRATCH_ALIGNMENT = 256 };

static size_t scratch_offset(const plan *pl)
{
    return (pl->message_bytes + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
}

static size_t plan_bytes(const plan *pl)
{
    return pl->scratch_bytes ? scratch_offset(pl) + pl->scratch_bytes : pl->message_bytes;
}

static cubc_status make_plan(const problem *p, const instance *i, plan *out)
{
    out->message_bytes = out->scratch_bytes = out->cleared_bytes = 0;
    out->launch_count = 0;
    return p->algorithm->plan(p, i, out);
}

static void place_args(launch *l, uint32_t which, const void *memory)
{
    for (size_t k = 0; k < l->args_count; k++)
        if (which >> k & 1) l->args[k] += (uintptr_t)memory;
}

static cubc_status queue_plan(cubc_device *device, plan *pl, void *messages, void *scratch,
                              void *stream)
{
    if (pl->cleared_bytes) TRY(device->api->fill(device, scratch, 0, pl->cleared_bytes, stream));
    for (int k = 0; k < pl->launch_count; k++) {
        launch *l = &pl->launches[k];
        if ((size_t)l->kernel->info.args_bytes != 8 * l->args_count)
            FAIL(CUBC_INTERNAL, "kernel and descriptor disagree: %lld and %zu bytes of arguments",
                 (long long)l->kernel->info.args_bytes, 8 * l->args_count);
        place_args(l, l->message_args, messages);
        place_args(l, l->scratch_args, scratch);
        l->shape.early = k > 0; // kernels wait for the launch before where they depend on it
        TRY(device->api->launch(device, l->kernel, &l->shape, l->args, 8 * l->args_count, stream));
    }
    return CUBC_OK;
}

static cubc_status run_plan(table *t, cubc_device *device, plan *pl, void *stream)
{
    workspace_lease lease = {0};
    void *scratch = NULL;
    if (!pl->launch_count) return CUBC_OK;
    if (pl->scratch_bytes) TRY(device->api->alloc(device, pl->scratch_bytes, stream, &scratch));
    cubc_status st = CUBC_OK;
    if (pl->message_bytes)
        st = workspace_acquire(table_workspaces(t), device, pl->message_bytes,
                               (uint32_t)pl->launch_count, stream, &lease);
    if (!st) {
        st = queue_plan(device, pl, lease.memory, scratch, stream);
        workspace_release(device, &lease, stream, st);
    }
    device->api->free(device, scratch, stream); // after what is queued on the stream
    return st;
}

enum { IN_A_CLUSTER = 2 }; // of TUNE_ORDER

unsigned instance_cluster(const instance *i, uint64_t blocks)
{
    if (variant_value(&i->space, &i->variant, "ord", 0) != IN_A_CLUSTER) return 0;
    return blocks > 1 && blocks <= i->kernels[0].cluster ? (unsigned)blocks : 0;
}

cubc_status instance_run(instance *i, const problem *p, void *stream)
{
    table *t;
    plan pl;
    TRY(table_of(i->device, &t));
    TRY(make_plan(p, i, &pl));
    return run_plan(t, i->device, &pl, stream);
}

static cubc_status run_in(cubc_device *device, const problem *p, plan *pl, void *temp,
                          size_t temp_bytes, void *stream)
{
    uintptr_t alignment = pl->scratch_bytes ? SCRATCH_ALIGNMENT : 8;
    if (temp_bytes < plan_bytes(pl))
        FAIL(CUBC_INVALID_ARGUMENT, "the workspace has %zu bytes, %zu are needed", temp_bytes,
             plan_bytes(pl));
    if ((uintptr_t)temp % alignment)
        FAIL(CUBC_INVALID_ARGUMENT, "the workspace is not aligned to %d bytes", (int)alignment);
    TRY(problem_apart(p, temp, plan_bytes(pl)));
    if (pl->message_bytes) TRY(device->api->fill(device, temp, 0, pl->message_bytes, stream));
    return queue_plan(device, pl, temp, (char *)temp + scratch_offset(pl), stream);
}

cubc_status algorithm_run(cubc_device *device, const problem *p, void *temp, size_t temp_bytes,
                          void *stream)
{
    table *t;
    instance *i;
    plan pl;
    TRY(table_of(device, &t));
    TRY(table_find(t, p, stream, &i));
    TRY(make_plan(p, i, &pl));
    return temp ? run_in(device, p, &pl, temp, temp_bytes, stream)
                : run_plan(t, device, &pl, stream);
}

cubc_status algorithm_temp_bytes(cubc_device *device, const problem *p, size_t *bytes)
{
    table *t;
    instance *i;
    plan pl;
    TRY(table_of(device, &t));
    TRY(table_find(t, p, NULL, &i));
    TRY(make_plan(p, i, &pl));
    *bytes = plan_bytes(&pl) > 8 ? plan_bytes(&pl) : 8; // never 0: NULL means the device's pool
    return CUBC_OK;
}

cubc_status algorithm_missing(cubc_device *device, const problem *p, bool *missing)
{
    table *t;
    TRY(table_of(device, &t));
    *missing = !table_has(t, p);
    return CUBC_OK;
}
