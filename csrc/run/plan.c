// The steps of a plan: see plan.h.
#include "run/plan.h"

#include "base/integer.h"
#include "run/algorithm.h"
#include "run/instance.h"

cubc_status plan_make(const problem *p, const instance *i, plan *out)
{
    out->message_bytes = out->scratch_bytes = out->cleared_bytes = 0;
    out->launch_count = 0;
    return p->algorithm->plan(p, i, out);
}

cubc_status plan_tiles(const problem *p, const instance *i, plan *out)
{
    const device_kernel *kernel = &i->kernels[0];
    const uint64_t tiles = ceil_div(p->n, instance_tile(i, kernel));
    TRY(problem_check_blocks(p, tiles));
    out->launch_count = tiles > 0;
    out->launches[0] = (launch){.kernel = kernel, .shape.grid = (unsigned)tiles};
    return CUBC_OK;
}

static void place_args(launch *l, uint64_t which, const void *memory)
{
    for (size_t k = 0; k < l->args_count; k++)
        if (which >> k & 1) l->args[k] += (uintptr_t)memory;
}

cubc_status plan_place(plan *pl, const void *messages, const void *scratch)
{
    for (int k = 0; k < pl->launch_count; k++) {
        launch *l = &pl->launches[k];
        if (l->args_count > MAX_ARGS)
            FAIL(CUBC_INTERNAL, "a launch has %zu arguments: MAX_ARGS is %d", l->args_count,
                 MAX_ARGS);
        if ((size_t)l->kernel->info.args_bytes != 8 * l->args_count)
            FAIL(CUBC_INTERNAL, "kernel and descriptor disagree: %lld and %zu bytes of arguments",
                 (long long)l->kernel->info.args_bytes, 8 * l->args_count);
        place_args(l, l->message_args, messages);
        place_args(l, l->scratch_args, scratch);
        // Kernels wait for the launch before where they depend on it, but not for other work.
        l->shape.early = k > 0 && !l->before.take;
    }
    return CUBC_OK;
}

cubc_status plan_queue(cubc_device *device, const plan *pl, void *scratch, void *stream)
{
    if (pl->cleared_bytes) TRY(device->api->fill(device, scratch, 0, pl->cleared_bytes, stream));
    for (int k = 0; k < pl->launch_count; k++) {
        const launch *l = &pl->launches[k];
        if (l->before.take) TRY(device->api->step(device, &l->before, stream));
        TRY(device->api->launch(device, l->kernel, &l->shape, l->args, 8 * l->args_count, stream));
    }
    return CUBC_OK;
}
