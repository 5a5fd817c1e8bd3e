// Lookup of loaded variants: see table.h. Every call does it, so the compile-time part of a problem
// is hashed and compared as it stands, without a text of it.
#include "run/table.h"

#include "base/log.h"
#include "compile/claim.h"
#include "run/instance_key.h"
#include "run/problem.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { BUCKETS = 256 };

// A compile-time workload.
typedef struct entry {
    struct entry *next;
    problem key; // its compile-time part, texts copied
    uint64_t hash;
    instance *instances; // all that were opened
    unsigned generation; // of the policies that the rows are of
    policy_list rows;
    instance **chosen; // by row; NULL: it is not known yet
    // Places, rounded to powers of two, that the tuner was asked about in this generation.
    uint64_t *asked;
    size_t asked_count, asked_room;
} entry;

// A variant that is being opened, on the stack of the thread that opens it. Another thread that
// needs the same waits for it instead of compiling it a second time.
typedef struct opening {
    const problem *key;
    uint64_t hash;
    pthread_t thread;
    struct opening *next;
} opening;

struct table {
    cubc_device *device; // borrowed
    pthread_mutex_t lock;
    fork_entry forked; // of the lock
    entry *entries[BUCKETS];
    opening *openings;
    unsigned forks; // of the process that wrote `openings`
    workspace_pool workspaces;
};

// ---- life ---------------------------------------------------------------------------------------
static void drop_rows(entry *e)
{
    policy_list_free(&e->rows);
    mem_free(e->chosen);
    e->chosen = NULL;
    e->asked_count = 0;
}

static void entry_free(entry *e)
{
    while (e->instances) {
        instance *i = e->instances;
        e->instances = i->next;
        instance_close(i);
    }
    drop_rows(e);
    mem_free(e->asked);
    instance_key_free(&e->key);
    mem_free(e);
}

static void detach(cubc_device *device)
{
    table *t = device->attached;
    if (!t) return;
    for (int b = 0; b < BUCKETS; b++)
        while (t->entries[b]) {
            entry *e = t->entries[b];
            t->entries[b] = e->next;
            entry_free(e);
        }
    workspace_close(&t->workspaces, device);
    fork_unregister(&t->forked);
    pthread_mutex_destroy(&t->lock);
    mem_free(t);
    device->attached = NULL;
}

FORK_SAFE_MUTEX(attaching);

cubc_status table_of(cubc_device *device, table **out)
{
    cubc_status st = CUBC_OK;
    *out = __atomic_load_n(&device->attached, __ATOMIC_ACQUIRE);
    if (*out) return CUBC_OK;
    pthread_mutex_lock(&attaching);
    *out = device->attached;
    if (!*out && (*out = mem_zalloc(1, sizeof **out))) {
        (*out)->device = device;
        pthread_mutex_init(&(*out)->lock, NULL);
        fork_register(&(*out)->forked, &(*out)->lock);
        device->detach = detach;
        __atomic_store_n(&device->attached, *out, __ATOMIC_RELEASE);
    }
    if (!*out) st = CUBC_NO_MEMORY;
    pthread_mutex_unlock(&attaching);
    return st;
}

workspace_pool *table_workspaces(table *t)
{
    return &t->workspaces;
}

// ---- entries ------------------------------------------------------------------------------------
static entry *find_entry(const table *t, const problem *p, uint64_t hash)
{
    entry *e = t->entries[hash % BUCKETS];
    while (e && !(e->hash == hash && instance_key_equal(&e->key, p))) e = e->next;
    return e;
}

static entry *current_entry(const table *t, const problem *p, uint64_t hash)
{
    entry *e = find_entry(t, p, hash);
    return e && e->generation == policy_generation() ? e : NULL;
}

static cubc_status make_entry(const problem *p, uint64_t hash, entry **out)
{
    entry *e = mem_zalloc(1, sizeof *e);
    *out = e;
    if (!e) return CUBC_NO_MEMORY;
    e->hash = hash;
    cubc_status st = instance_key_copy(p, &e->key);
    if (st) {
        entry_free(e);
        *out = NULL;
    }
    return st;
}

// Has an entry with the rows of the present policies. The lock is not held meanwhile: rows are read
// with the kernel's space, and calls of other workloads must not wait for that.
static cubc_status renew_entry(table *t, const problem *p, uint64_t hash, unsigned generation,
                               entry **out)
{
    entry *made = NULL;
    policy_list rows;
    pthread_mutex_lock(&t->lock);
    *out = current_entry(t, p, hash);
    pthread_mutex_unlock(&t->lock);
    if (*out) return CUBC_OK;
    TRY(algorithm_policies(p, t->device->info.arch, &rows));
    instance **chosen = mem_zalloc((size_t)rows.count, sizeof(instance *));
    cubc_status st = chosen ? make_entry(p, hash, &made) : CUBC_NO_MEMORY;
    if (st) {
        policy_list_free(&rows);
        mem_free(chosen);
        return st;
    }
    pthread_mutex_lock(&t->lock);
    entry *e = find_entry(t, p, hash);
    if (!e) {
        e = made;
        made = NULL;
        e->next = t->entries[hash % BUCKETS];
        t->entries[hash % BUCKETS] = e;
    }
    drop_rows(e);
    e->rows = rows;
    e->chosen = chosen;
    e->generation = generation;
    pthread_mutex_unlock(&t->lock);
    if (made) entry_free(made);
    *out = e;
    return CUBC_OK;
}

// Needs the lock.
static int count_openings(const table *t, const problem *p, uint64_t hash)
{
    int count = 0;
    for (const opening *o = t->openings; o; o = o->next)
        count += o->hash == hash && instance_key_equal(o->key, p);
    return count;
}

// Tells if a thread opens this instance, from within which a signal handler calls.
static bool opened_by(const table *t, const problem *p, uint64_t hash, pthread_t thread)
{
    for (const opening *o = t->openings; o; o = o->next)
        if (o->hash == hash && pthread_equal(o->thread, thread) && instance_key_equal(o->key, p))
            return true;
    return false;
}

// ---- tuning -------------------------------------------------------------------------------------
static _Atomic(table_tuner) tuner;

void table_set_tuner(table_tuner asked)
{
    atomic_store(&tuner, asked);
    policy_renew(); // workloads that have run before are asked about as well
}

static uint64_t rounded_place(const problem *p)
{
    uint64_t values[POLICY_AXES], hash = 0;
    problem_axis_values(p, values);
    for (int k = 0; k < POLICY_AXES; k++)
        hash = hash * 67 + (uint64_t)llround(log2((double)values[k] + 1));
    return hash;
}

// Needs the lock. True if there is no tuner, or it has been asked about calls like this.
static bool is_settled(const entry *e, const problem *p)
{
    if (!atomic_load(&tuner)) return true;
    uint64_t place = rounded_place(p);
    size_t k = 0;
    while (k < e->asked_count && e->asked[k] != place) k++;
    return k < e->asked_count;
}

// Needs the lock. Notes that the tuner was asked; where memory is short it is asked again.
static void settle(entry *e, const problem *p)
{
    if (is_settled(e, p)) return;
    uint64_t *grown = mem_grow(e->asked, e->asked_count, &e->asked_room, sizeof *grown);
    if (!grown) return;
    e->asked = grown;
    e->asked[e->asked_count++] = rounded_place(p);
}

// True while this thread tunes: calls that are made from within, be it by a signal handler, are not
// tuned, and do not wait for the very call that they are part of.
static _Thread_local bool tuning;

static cubc_status tune(cubc_device *device, const problem *p, void *stream, bool *settled)
{
    table_tuner asked = atomic_load(&tuner);
    *settled = !asked || !(tuning || device->api->is_capturing(device, stream));
    if (!asked || !*settled) return CUBC_OK;
    tuning = true;
    cubc_status st = asked(device, p, settled);
    tuning = false;
    return st;
}

// ---- choosing -----------------------------------------------------------------------------------
static int choose(const entry *e, const problem *p, bool base)
{
    uint64_t values[POLICY_AXES];
    if (e->rows.count == 1) return 0;
    problem_axis_values(p, values);
    return policy_choose(&e->rows, values, base);
}

// Needs the lock. NULL if the variant is not known, or not loaded.
static instance *find_current(const table *t, const problem *p, uint64_t hash)
{
    const entry *e = current_entry(t, p, hash);
    return e && is_settled(e, p) ? e->chosen[choose(e, p, false)] : NULL;
}

// Needs the lock.
static instance *find_labelled(const entry *e, const char *label)
{
    instance *i = e->instances;
    while (i && strcmp(i->label, label) != 0) i = i->next;
    return i;
}

static cubc_status find_or_open(table *t, entry *e, const problem *p, bool base, instance **out)
{
    char label[MAX_LABEL];
    pthread_mutex_lock(&t->lock); // the rows may be renewed by another thread
    strcpy(label, e->rows.rows[choose(e, p, base)].label);
    *out = find_labelled(e, label);
    pthread_mutex_unlock(&t->lock);
    if (*out) return CUBC_OK;
    TRY(instance_open(t->device, p, label, out));
    pthread_mutex_lock(&t->lock);
    (*out)->next = e->instances;
    e->instances = *out;
    pthread_mutex_unlock(&t->lock);
    return CUBC_OK;
}

// Code that cannot be made leaves nothing behind: expressions that do not compile may be many. An
// entry that a second thread is at, one that tunes, stays.
static void drop_unused(table *t, entry *unused)
{
    pthread_mutex_lock(&t->lock);
    entry **link = &t->entries[unused->hash % BUCKETS];
    while (*link != unused) link = &(*link)->next;
    if (!unused->instances && count_openings(t, &unused->key, unused->hash) == 1) {
        *link = unused->next;
        entry_free(unused);
    }
    pthread_mutex_unlock(&t->lock);
}

static bool is_overlaid(table *t, const entry *e, const problem *p)
{
    pthread_mutex_lock(&t->lock);
    bool overlaid = e->rows.rows[choose(e, p, false)].overlaid;
    pthread_mutex_unlock(&t->lock);
    return overlaid;
}

static cubc_status open_current(table *t, const problem *p, uint64_t hash, bool settled,
                                instance **out)
{
    entry *e;
    unsigned generation = policy_generation();
    TRY(renew_entry(t, p, hash, generation, &e));
    cubc_status st = find_or_open(t, e, p, false, out);
    // An overlaid policy was found with other accumulators or operands than this problem's.
    if (st == CUBC_NO_RESOURCES && is_overlaid(t, e, p)) {
        algorithm_note_refusal();
        st = find_or_open(t, e, p, true, out);
    }
    if (st) {
        drop_unused(t, e);
        return st;
    }
    pthread_mutex_lock(&t->lock);
    bool overlaid = e->rows.rows[choose(e, p, false)].overlaid;
    if (e->generation == generation) e->chosen[choose(e, p, false)] = *out;
    if (e->generation == generation && settled) settle(e, p);
    pthread_mutex_unlock(&t->lock);
    log_put(LOG_POLICY, "%s on %s: calls like this one run %s, %s", (*out)->key.benchmark,
            t->device->info.name, (*out)->label, overlaid ? "as a search found" : "as shipped");
    return CUBC_OK;
}

// ---- finding ------------------------------------------------------------------------------------
// The table's lock is held for lookups only: opening compiles, and calls whose variants are there
// already must not wait for that.
static void renew_after_fork(table *t) // a forked child has the list without the threads
{
    if (t->forks == fork_count()) return;
    t->forks = fork_count();
    t->openings = NULL;
}

static void remove_opening(table *t, const opening *done)
{
    opening **link = &t->openings;
    while (*link && *link != done) link = &(*link)->next;
    if (*link) *link = done->next; // a forked child may have forgotten it
}

cubc_status table_find(table *t, const problem *p, void *stream, instance **out)
{
    uint64_t hash = instance_key_hash(p);
    opening mine = {.key = p, .hash = hash, .thread = pthread_self()};
    for (;;) {
        pthread_mutex_lock(&t->lock);
        renew_after_fork(t);
        instance *i = find_current(t, p, hash);
        bool own = !i && !tuning && opened_by(t, p, hash, mine.thread);
        bool wait = !i && !tuning && !claim_is_held() && count_openings(t, p, hash) > 0;
        if (!i && !own && !wait) {
            mine.next = t->openings;
            t->openings = &mine;
        }
        pthread_mutex_unlock(&t->lock);
        *out = i;
        if (i) return CUBC_OK;
        if (own)
            FAIL(CUBC_INVALID_ARGUMENT,
                 "the variant of this call is being compiled by the call that a signal handler has "
                 "interrupted");
        if (!wait) break;
        if (interrupt_pending()) FAIL(CUBC_INTERRUPTED, "interrupted while a variant was compiled");
        nap(0.001);
    }
    bool settled;
    cubc_status st = tune(t->device, p, stream, &settled);
    if (!st) st = open_current(t, p, hash, settled, out);
    pthread_mutex_lock(&t->lock);
    remove_opening(t, &mine);
    pthread_mutex_unlock(&t->lock);
    return st;
}

cubc_status table_find_untuned(table *t, const problem *p, void *stream, instance **out)
{
    const bool before = tuning;
    tuning = true;
    cubc_status st = table_find(t, p, stream, out);
    tuning = before;
    return st;
}

bool table_has(table *t, const problem *p)
{
    pthread_mutex_lock(&t->lock);
    bool has = !atomic_load(&tuner) && find_current(t, p, instance_key_hash(p));
    pthread_mutex_unlock(&t->lock);
    return has;
}
