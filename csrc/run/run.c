// The running of a call: its variant is found, the plan is made and queued on the stream.
#include "run/run.h"

#include "base/integer.h"
#include "run/index_check.h"
#include "run/plan.h"
#include "run/problem.h"
#include "run/recorded_calls.h"
#include "run/table.h"

// A caller's workspace begins with the messages between blocks; the scratch follows.
enum { SCRATCH_ALIGNMENT = 256 };

static size_t scratch_offset(const plan *pl)
{
    return round_up(pl->message_bytes, SCRATCH_ALIGNMENT);
}

static size_t plan_bytes(const plan *pl)
{
    return pl->scratch_bytes ? scratch_offset(pl) + pl->scratch_bytes : pl->message_bytes;
}

static cubc_status run_in_pool(table *t, cubc_device *device, plan *pl, void *stream)
{
    workspace_bytes bytes = {pl->message_bytes, pl->scratch_bytes};
    workspace_lease lease;
    if (!pl->launch_count) return CUBC_OK;
    TRY(workspace_acquire(table_workspaces(t), device, bytes, (uint32_t)pl->launch_count, stream,
                          &lease));
    cubc_status st = plan_place(pl, lease.messages, lease.scratch);
    if (!st) st = plan_queue(device, pl, lease.scratch, stream);
    workspace_release(device, &lease, stream, st);
    return st;
}

cubc_status run_instance(instance *i, const problem *p, void *stream)
{
    table *t;
    plan pl;
    TRY(table_of(i->device, &t));
    TRY(plan_make(p, i, &pl));
    return run_in_pool(t, i->device, &pl, stream);
}

static cubc_status run_in_workspace(cubc_device *device, const problem *p, plan *pl, void *temp,
                                    size_t temp_bytes, void *stream)
{
    uintptr_t alignment = pl->scratch_bytes ? SCRATCH_ALIGNMENT : 8;
    void *scratch = (char *)temp + scratch_offset(pl);
    if (temp_bytes < plan_bytes(pl))
        FAIL(CUBC_INVALID_ARGUMENT, "the workspace has %zu bytes, %zu are needed", temp_bytes,
             plan_bytes(pl));
    if ((uintptr_t)temp % alignment)
        FAIL(CUBC_INVALID_ARGUMENT, "the workspace is not aligned to %d bytes", (int)alignment);
    TRY(problem_check_apart(p, temp, plan_bytes(pl)));
    if (pl->message_bytes) TRY(device->api->fill(device, temp, 0, pl->message_bytes, stream));
    TRY(plan_place(pl, temp, scratch));
    return plan_queue(device, pl, scratch, stream);
}

static cubc_status run_part(cubc_device *device, const problem *p, void *temp, size_t temp_bytes,
                            void *stream)
{
    table *t;
    instance *i;
    plan pl;
    call_timer timer;
    TRY(table_of(device, &t));
    TRY(table_find(t, p, stream, &i));
    TRY(plan_make(p, i, &pl));
    bool recorded = calls_are_recorded();
    if (recorded) {
        const call_work work = call_work_of(p, i);
        TRY(calls_begin(device, &work, stream, &timer));
    }
    cubc_status st = temp ? run_in_workspace(device, p, &pl, temp, temp_bytes, stream)
                          : run_in_pool(t, device, &pl, stream);
    if (recorded) calls_queued(&timer, st);
    return st;
}

// Part k of a problem that has steps: one of these. Without, the only part is the problem itself.
static cubc_status part_of(const problem *p, uint64_t steps, uint64_t k, problem *step,
                           const problem **out)
{
    *out = steps ? step : p;
    return steps ? p->algorithm->step(p, k, step) : CUBC_OK;
}

cubc_status run_problem(cubc_device *device, const problem *p, void *temp, size_t temp_bytes,
                        void *stream)
{
    const uint64_t steps = problem_steps(p, device->info.kind);
    problem step;
    const problem *part;
    TRY(index_check(device, p, stream));
    for (uint64_t k = 0; k < larger(steps, 1); k++) {
        TRY(part_of(p, steps, k, &step, &part));
        TRY(run_part(device, part, temp, temp_bytes, stream));
    }
    return CUBC_OK;
}

// Parts follow each other on the stream, and each has the whole workspace.
cubc_status run_temp_bytes(cubc_device *device, const problem *p, size_t *bytes)
{
    const uint64_t steps = problem_steps(p, device->info.kind);
    problem step;
    const problem *part;
    table *t;
    instance *i;
    plan pl;
    size_t most = 8; // never 0: NULL means the device's pool
    TRY(table_of(device, &t));
    for (uint64_t k = 0; k < larger(steps, 1); k++) {
        TRY(part_of(p, steps, k, &step, &part));
        TRY(table_find(t, part, NULL, &i));
        TRY(plan_make(part, i, &pl));
        most = larger(most, plan_bytes(&pl));
    }
    *bytes = most;
    return CUBC_OK;
}

cubc_status run_is_ready(cubc_device *device, const problem *p, bool *ready)
{
    const uint64_t steps = problem_steps(p, device->info.kind);
    problem step;
    const problem *part;
    table *t;
    TRY(table_of(device, &t));
    *ready = true;
    for (uint64_t k = 0; k < larger(steps, 1) && *ready; k++) {
        TRY(part_of(p, steps, k, &step, &part));
        *ready = table_has(t, part);
    }
    return CUBC_OK;
}

cubc_status run_prepare(cubc_device *device, const problem *p, bool *was_ready)
{
    const uint64_t steps = problem_steps(p, device->info.kind);
    problem step;
    const problem *part;
    table *t;
    instance *i;
    TRY(table_of(device, &t));
    TRY(run_is_ready(device, p, was_ready));
    for (uint64_t k = 0; k < larger(steps, 1) && !*was_ready; k++) {
        TRY(part_of(p, steps, k, &step, &part));
        TRY(table_find(t, part, NULL, &i));
    }
    return CUBC_OK;
}
