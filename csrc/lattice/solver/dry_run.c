// The dry run of a solve takes all of its steps without the device. Launches are listed, so that
// the variants that they need are compiled in parallel; memory is placeholder addresses, and is
// neither written nor read. The states stay as the host made them, so a dry run meets the kernels
// of a solve whose source needs no scaling.
#include "lattice/solver/dry_run.h"

#include "base/shares.h"
#include "run/instance_key.h"
#include "run/run.h"

struct dry_run {
    cubc_device *device; // borrowed
    problem *problems;   // whose variants are not loaded yet, each once
    size_t count, room;
    uintptr_t next; // placeholder address
};

// ---- actions ------------------------------------------------------------------------------------
static const uintptr_t first_place = (uintptr_t)1 << 60; // no process has memory there
enum { ALIGNMENT = 256 };                                // that of devices

static cubc_status dry_alloc(solver *s, size_t bytes, void **out)
{
    *out = (void *)s->dry_run->next;
    s->dry_run->next += (bytes / ALIGNMENT + 1) * ALIGNMENT;
    return CUBC_OK;
}

static cubc_status dry_fill(solver *s, void *memory, int byte, size_t bytes)
{
    (void)s, (void)memory, (void)byte, (void)bytes;
    return CUBC_OK;
}

static cubc_status dry_copy(solver *s, void *to, const void *from, size_t bytes)
{
    (void)s, (void)to, (void)from, (void)bytes;
    return CUBC_OK;
}

static cubc_status dry_launch(solver *s, const problem *p)
{
    dry_run *d = s->dry_run;
    bool known;
    TRY(run_is_ready(d->device, p, &known));
    for (size_t k = 0; k < d->count && !known; k++) known = instance_key_equal(&d->problems[k], p);
    if (known) return CUBC_OK;
    problem *grown = mem_grow(d->problems, d->count, &d->room, sizeof *grown);
    if (!grown) return CUBC_NO_MEMORY;
    d->problems = grown;
    d->problems[d->count++] = *p; // its texts are constants
    return CUBC_OK;
}

// All rounds launch the same kernels, so that one is listed.
static const solver_actions dry_actions = {.alloc = dry_alloc,
                                           .fill = dry_fill,
                                           .copy = dry_copy,
                                           .launch = dry_launch,
                                           .run_rounds = solver_queue_round};

// ---- compilation --------------------------------------------------------------------------------
static cubc_status compile_one(void *context, uint64_t first, uint64_t count, void *room)
{
    const dry_run *d = context;
    bool was_ready;
    (void)count, (void)room;
    return run_prepare(d->device, &d->problems[first], &was_ready);
}

static cubc_status compile_all(dry_run *d)
{
    cubc_status st = shares_run(d->count, 1, 1, compile_one, d);
    if (st == CUBC_INTERRUPTED) return st;
    error_clear(); // a variant that fails here fails again in its launch, with the compiler's log
    return CUBC_OK;
}

cubc_status dry_run_compile(const solver *s, cubc_status (*steps)(solver *s, void *context),
                            void *context)
{
    dry_run listed = {.device = s->device, .next = first_place};
    solver copy = *s;
    copy.actions = &dry_actions;
    copy.dry_run = &listed;
    cubc_status st = steps(&copy, context);
    if (!st) st = compile_all(&listed);
    solver_free(&copy);
    mem_free(listed.problems);
    return st;
}
