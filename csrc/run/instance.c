// Instances: variants compiled and loaded on a device, and the table that finds them again.
//
// The table is looked up on every call, so the compile-time part of a problem is hashed and
// compared as it stands. Entries are never freed before the device closes: another thread may be
// running one, and a captured graph may run it at any time.
#define _POSIX_C_SOURCE 200809L // nanosleep
#include "compile/policy.h"
#include "run/instance_key.h"
#include "run/workspace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BUCKETS = 256 };
static const double COMPILE_SECONDS = 300; // far beyond any kernel; an expression can be anything

typedef struct opening opening;

typedef struct attachment { // of a device
    pthread_mutex_t lock;
    instance *table[BUCKETS];
    opening *openings;
    unsigned forks; // of the process that wrote `openings`
    workspace_pool workspaces;
} attachment;

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
    i->hash = instance_key_hash(p);
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

// ---- the device's table -------------------------------------------------------------------------
static void detach(cubc_device *device)
{
    attachment *at = device->attached;
    if (!at) return;
    for (int b = 0; b < BUCKETS; b++)
        while (at->table[b]) {
            instance *i = at->table[b];
            at->table[b] = i->next;
            instance_close(i);
        }
    workspace_close(&at->workspaces, device);
    fork_unregister(&at->lock);
    pthread_mutex_destroy(&at->lock);
    mem_free(at);
    device->attached = NULL;
}

FORK_SAFE_MUTEX(attaching);

static cubc_status attach(cubc_device *device, attachment **out)
{
    cubc_status st = CUBC_OK;
    *out = __atomic_load_n(&device->attached, __ATOMIC_ACQUIRE);
    if (*out) return CUBC_OK;
    pthread_mutex_lock(&attaching);
    *out = device->attached;
    if (!*out && (*out = mem_zalloc(1, sizeof **out))) {
        pthread_mutex_init(&(*out)->lock, NULL);
        fork_register(&(*out)->lock);
        device->detach = detach;
        __atomic_store_n(&device->attached, *out, __ATOMIC_RELEASE);
    }
    if (!*out) st = CUBC_NO_MEMORY;
    pthread_mutex_unlock(&attaching);
    return st;
}

static instance *find_labelled(const attachment *at, const problem *p, uint64_t hash,
                               const char *label)
{
    instance *i = at->table[hash % BUCKETS];
    while (i && !(i->hash == hash && problem_same_code(&i->key, p) && strcmp(i->label, label) == 0))
        i = i->next;
    return i;
}

// An instance of an older generation of the policies counts only if they still choose it.
static cubc_status find_or_open(attachment *at, cubc_device *device, const problem *p,
                                uint64_t hash, bool base, instance **out)
{
    char label[MAX_LABEL];
    TRY(algorithm_policy(p, device->info.arch, base, label));
    pthread_mutex_lock(&at->lock);
    *out = find_labelled(at, p, hash, label);
    pthread_mutex_unlock(&at->lock);
    if (*out) return CUBC_OK;
    TRY(instance_open(device, p, label, out));
    pthread_mutex_lock(&at->lock);
    (*out)->next = at->table[hash % BUCKETS];
    at->table[hash % BUCKETS] = *out;
    pthread_mutex_unlock(&at->lock);
    return CUBC_OK;
}

static cubc_status open_current(attachment *at, cubc_device *device, const problem *p,
                                uint64_t hash, bool settled, instance **out)
{
    unsigned generation = policy_generation();
    cubc_status st = find_or_open(at, device, p, hash, false, out);
    // An overlaid policy was found with other accumulators or operands than this problem's.
    if (st == CUBC_NO_RESOURCES) st = find_or_open(at, device, p, hash, true, out);
    if (!st && settled) __atomic_store_n(&(*out)->generation, generation, __ATOMIC_RELAXED);
    return st;
}

// The table's lock is held for lookups only: opening compiles, and calls whose variants are there
// already must not wait for that. What is being opened is listed, so that another thread that
// needs the same waits for it instead of compiling it a second time.
struct opening { // on the stack of the thread that opens
    const problem *key;
    uint64_t hash;
    opening *next;
};

static void renew_after_fork(attachment *at) // a forked child has the list without the threads
{
    if (at->forks == fork_count()) return;
    at->forks = fork_count();
    at->openings = NULL;
}

static bool is_opening(const attachment *at, const problem *p, uint64_t hash)
{
    const opening *o = at->openings;
    while (o && !(o->hash == hash && problem_same_code(o->key, p))) o = o->next;
    return o != NULL;
}

static void remove_opening(attachment *at, const opening *done)
{
    opening **link = &at->openings;
    while (*link != done) link = &(*link)->next;
    *link = done->next;
}

static _Atomic(algorithm_tuner) tuner;

void algorithm_set_tuner(algorithm_tuner asked)
{
    atomic_store(&tuner, asked);
    policy_renew(); // workloads that have run before are asked about as well
}

// In this thread: calls that are made from within, be it by a signal handler, are not tuned, and do
// not wait for the very call that they are part of.
static _Thread_local bool tuning;

static cubc_status tune(cubc_device *device, const problem *p, void *stream, bool *settled)
{
    algorithm_tuner asked = atomic_load(&tuner);
    *settled = !asked || !(tuning || device->api->is_capturing(device, stream));
    if (!asked || !*settled) return CUBC_OK;
    tuning = true;
    cubc_status st = asked(device, p, settled);
    tuning = false;
    return st;
}

// With the lock. NULL: there is none that the policies are known to choose.
static instance *find_current(const attachment *at, const problem *p, uint64_t hash)
{
    unsigned generation = policy_generation();
    instance *i = at->table[hash % BUCKETS];
    while (i &&
           !(i->hash == hash && __atomic_load_n(&i->generation, __ATOMIC_RELAXED) == generation &&
             problem_same_code(&i->key, p)))
        i = i->next;
    return i;
}

static cubc_status find_instance(attachment *at, cubc_device *device, const problem *p,
                                 void *stream, instance **out)
{
    uint64_t hash = instance_key_hash(p);
    opening mine = {.key = p, .hash = hash};
    for (;;) {
        pthread_mutex_lock(&at->lock);
        renew_after_fork(at);
        instance *i = find_current(at, p, hash);
        bool wait = !i && !tuning && is_opening(at, p, hash);
        if (!i && !wait) {
            mine.next = at->openings;
            at->openings = &mine;
        }
        pthread_mutex_unlock(&at->lock);
        *out = i;
        if (i) return CUBC_OK;
        if (!wait) break;
        if (interrupt_pending()) FAIL(CUBC_INTERRUPTED, "interrupted while a variant was compiled");
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    bool settled;
    cubc_status st = tune(device, p, stream, &settled);
    if (!st) st = open_current(at, device, p, hash, settled, out);
    pthread_mutex_lock(&at->lock);
    remove_opening(at, &mine);
    pthread_mutex_unlock(&at->lock);
    return st;
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

static cubc_status run_plan(attachment *at, cubc_device *device, plan *pl, void *stream)
{
    workspace_lease lease = {0};
    void *scratch = NULL;
    if (!pl->launch_count) return CUBC_OK;
    if (pl->scratch_bytes) TRY(device->api->alloc(device, pl->scratch_bytes, stream, &scratch));
    cubc_status st = CUBC_OK;
    if (pl->message_bytes)
        st = workspace_acquire(&at->workspaces, device, pl->message_bytes,
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
    attachment *at;
    plan pl;
    TRY(attach(i->device, &at));
    TRY(make_plan(p, i, &pl));
    return run_plan(at, i->device, &pl, stream);
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
    attachment *at;
    instance *i;
    plan pl;
    TRY(attach(device, &at));
    TRY(find_instance(at, device, p, stream, &i));
    TRY(make_plan(p, i, &pl));
    return temp ? run_in(device, p, &pl, temp, temp_bytes, stream)
                : run_plan(at, device, &pl, stream);
}

cubc_status algorithm_temp_bytes(cubc_device *device, const problem *p, size_t *bytes)
{
    attachment *at;
    instance *i;
    plan pl;
    TRY(attach(device, &at));
    TRY(find_instance(at, device, p, NULL, &i));
    TRY(make_plan(p, i, &pl));
    *bytes = plan_bytes(&pl) > 8 ? plan_bytes(&pl) : 8; // never 0: NULL means the device's pool
    return CUBC_OK;
}

cubc_status algorithm_missing(cubc_device *device, const problem *p, bool *missing)
{
    attachment *at;
    TRY(attach(device, &at));
    pthread_mutex_lock(&at->lock);
    *missing = !atomic_load(&tuner) && !find_current(at, p, instance_key_hash(p));
    pthread_mutex_unlock(&at->lock);
    return CUBC_OK;
}
