// The table of recorded calls and the events that time some of them: see recorded_calls.h.
#include "run/recorded_calls.h"

#include "run/problem.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS = 4096,
    MOST_KINDS = 65536,
    SAMPLES = 256, // calls that are timed and not over yet
    LOOKED_AT = 8, // of them, for one that is over
    EACH = 8       // calls that are timed in each doubling
};

// Code at a place; several are one call if only their alignment differs.
typedef struct recorded_entry entry;
struct recorded_entry {
    entry *next;
    uint64_t hash, code;
    const void *part;
    uint64_t axis_values[POLICY_AXES];
    uint64_t begun;      // calls
    recorded_call *call; // of the last sketch
};

// A pair of events. Whoever has CLAIMED it owns it: the thread that queues the call, or one that
// reads what it measured. Calls claim with the lock, calls_settle without.
typedef enum sample_state { EMPTY, CLAIMED, QUEUED } sample_state;
typedef struct call_sample {
    _Atomic sample_state state;
    recorded_call *of;
    cubc_device *device; // retained; of the events
    device_event *start, *stop;
} sample;

static atomic_bool recording;
static atomic_bool sketching;  // from the begin of a recording on
FORK_SAFE_MUTEX(lock);         // guards all below but what is atomic
static atomic_uint number;     // of the recording
static entry **buckets;        // NULL: nothing is recorded
static recorded_call **called; // by the hash of what it is
static _Atomic(recorded_call *) first;
static recorded_call *last;
static size_t kinds;
static atomic_uint_fast64_t beyond; // calls of kinds that there was no room for
static sample samples[SAMPLES];
static size_t next_sample;
static _Thread_local call_round *listing;

bool calls_are_recorded(void)
{
    return atomic_load_explicit(&recording, memory_order_relaxed);
}

call_work call_work_of(const problem *p, const instance *i)
{
    call_work work = {.code = i->serial,
                      .name = p->benchmark,
                      .type = cubc_type_name(problem_policy_type(p)),
                      .variant = i->label,
                      .axes = algorithm_axes(p->algorithm),
                      .bytes = p->algorithm->traffic(p),
                      .keys = keys_of(p)};
    problem_axis_values(p, work.axis_values);
    return work;
}

// ---- kinds --------------------------------------------------------------------------------------
static uint64_t hash_of(const call_work *w)
{
    uint64_t hash = w->code * 0x9e3779b97f4a7c15 + (uintptr_t)w->part;
    for (int k = 0; k < POLICY_AXES; k++) hash = (hash ^ w->axis_values[k]) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 32;
}

static bool is_of(const entry *e, const call_work *w, uint64_t hash)
{
    return e->hash == hash && e->code == w->code && e->part == w->part &&
           memcmp(e->axis_values, w->axis_values, sizeof w->axis_values) == 0;
}

static void add_axis(recorded_call *out, int *count, const char *name, uint64_t value)
{
    snprintf(out->axes[*count], sizeof out->axes[*count], "%s", name);
    out->axis_values[(*count)++] = value;
}

// sketch: of KEY_AXES, 0 of what is not known; or NULL.
static void describe(const cubc_device *device, const call_work *w, const uint64_t *sketch,
                     recorded_call *out)
{
    int axes = 0;
    copy_cut(w->name, out->name, sizeof out->name);
    snprintf(out->type, sizeof out->type, "%s", w->type);
    snprintf(out->variant, sizeof out->variant, "%s", w->variant);
    for (int k = 0; k < POLICY_AXES && w->axes[k]; k++)
        add_axis(out, &axes, w->axes[k], w->axis_values[k]);
    for (int k = 0; sketch && k < KEY_AXES; k++)
        if (sketch[k]) add_axis(out, &axes, key_axes[k], sketch[k]);
    out->bytes = w->bytes;
    out->device = device->info;
}

// The part that tells calls apart comes first in the struct; the rest of each text is zero.
enum { TOLD_APART = offsetof(recorded_call, bytes) };

static recorded_call **find_call(const recorded_call *wanted)
{
    recorded_call **link = &called[hash64(wanted, TOLD_APART) % BUCKETS];
    while (*link && (memcmp(*link, wanted, TOLD_APART) != 0 ||
                     strcmp((*link)->device.name, wanted->device.name) != 0))
        link = &(*link)->same_hash;
    return link;
}

// Needs the lock. Readers find the call once it is linked.
static recorded_call *call_of(const cubc_device *device, const call_work *w, const uint64_t *sketch)
{
    recorded_call *new = mem_zalloc(1, sizeof *new);
    if (!new) return NULL;
    describe(device, w, sketch, new);
    recorded_call **link = find_call(new);
    if (*link) {
        mem_free(new);
        return *link;
    }
    *link = new;
    if (last)
        atomic_store(&last->next, new);
    else
        atomic_store(&first, new);
    last = new;
    return new;
}

static entry *make_entry(const cubc_device *device, const call_work *w)
{
    entry *e = kinds < MOST_KINDS ? mem_zalloc(1, sizeof *e) : NULL;
    if (!e) return NULL;
    e->code = w->code;
    e->part = w->part;
    memcpy(e->axis_values, w->axis_values, sizeof e->axis_values);
    e->call = call_of(device, w, NULL);
    if (e->call) return e;
    mem_free(e);
    return NULL;
}

// Needs the lock. NULL if there is no room for another.
static entry *find(const cubc_device *device, const call_work *w)
{
    uint64_t hash = hash_of(w);
    entry **link = &buckets[hash % BUCKETS], *e = *link;
    while (e && !is_of(e, w, hash)) e = e->next;
    if (e) return e;
    e = make_entry(device, w);
    if (!e) return NULL;
    e->hash = hash;
    e->next = *link;
    *link = e;
    kinds++;
    return e;
}

// ---- times --------------------------------------------------------------------------------------
// The n-th call, counted from 0: each of the first 16, each second of the next 16, and so on.
static bool is_timed(uint64_t n)
{
    uint64_t apart = 1;
    while (n / apart >= 2 * EACH) apart *= 2;
    return n % apart == 0;
}

static bool claim(sample *s, sample_state from)
{
    return atomic_compare_exchange_strong(&s->state, &from, CLAIMED);
}

static void drop_events(sample *s)
{
    if (!s->device) return;
    s->device->api->event_destroy(s->device, s->start);
    s->device->api->event_destroy(s->device, s->stop);
    device_release(s->device);
    s->device = NULL;
    s->start = s->stop = NULL;
}

static cubc_status make_events(sample *s, cubc_device *device)
{
    if (s->device == device) return CUBC_OK;
    drop_events(s);
    device_retain(device);
    s->device = device;
    TRY(device->api->event_create(device, &s->start));
    return device->api->event_create(device, &s->stop);
}

static bool is_over(const sample *s)
{
    return s->device->api->event_reached(s->device, s->stop);
}

// Takes the time of a claimed sample. Waits for its call; a time that cannot be had is left out.
static void read_sample(sample *s)
{
    double seconds;
    const device_api *api = s->device->api;
    if (api->event_synchronize(s->device, s->stop) ||
        api->event_elapsed(s->device, s->start, s->stop, &seconds) || !(seconds > 0))
        return;
    int at = atomic_fetch_add(&s->of->timed, 1);
    if (at < CALL_TIMES) atomic_store(&s->of->seconds[at], (float)seconds);
}

// Claims a sample that is there to be used; false: its call is not over, or another has it.
static bool claim_unused(sample *s)
{
    if (claim(s, EMPTY)) return true;
    if (!claim(s, QUEUED)) return false;
    if (is_over(s)) {
        read_sample(s);
        return true;
    }
    atomic_store(&s->state, QUEUED);
    return false;
}

// Needs the lock. NULL if all that were looked at are in use.
static sample *take_sample(recorded_call *call, cubc_device *device)
{
    sample *s = NULL;
    for (int k = 0; k < LOOKED_AT && !s; k++) {
        if (claim_unused(&samples[next_sample])) s = &samples[next_sample];
        next_sample = (next_sample + 1) % SAMPLES;
    }
    if (!s) return NULL;
    s->of = call;
    if (!make_events(s, device)) return s;
    drop_events(s);
    atomic_store(&s->state, EMPTY);
    return NULL;
}

void calls_settle(bool wait)
{
    for (int k = 0; k < SAMPLES; k++) {
        sample *s = &samples[k];
        if (!claim(s, QUEUED)) continue;
        bool over = wait || is_over(s);
        if (over) read_sample(s);
        atomic_store(&s->state, over ? EMPTY : QUEUED);
    }
}

// ---- calls --------------------------------------------------------------------------------------
static void list(call_round *round, recorded_call *call)
{
    recorded_call **grown = mem_grow(round->calls, round->count, &round->room, sizeof *grown);
    if (!grown) return; // it is not counted
    round->calls = grown;
    round->calls[round->count++] = call;
}

// Needs the lock. A call that is listed is not timed.
static void begin(const call_work *work, const uint64_t *sketch, call_timer *out)
{
    cubc_device *device = out->device;
    entry *e = find(device, work);
    if (!e) {
        atomic_fetch_add(&beyond, 1);
        return;
    }
    recorded_call *call = sketch ? call_of(device, work, sketch) : NULL;
    if (call) e->call = call;
    e->begun++;
    out->call = e->call;
    out->recording = number;
    if (listing || !is_timed(out->call->count) || device->api->is_capturing(device, out->stream))
        return;
    out->sample = take_sample(out->call, device);
}

// True for the 1st, 2nd, 4th, ... call, unless nothing can be read.
static bool is_sketched(cubc_device *device, const call_work *work, void *stream)
{
    if (!work->keys.data || listing) return false;
    pthread_mutex_lock(&lock);
    const entry *e = calls_are_recorded() && sketching ? find(device, work) : NULL;
    bool due = e && (e->begun & (e->begun + 1)) == 0;
    pthread_mutex_unlock(&lock);
    return due && !device->api->is_capturing(device, stream);
}

cubc_status calls_begin(cubc_device *device, const call_work *work, void *stream, call_timer *out)
{
    uint64_t sketch[KEY_AXES];
    const uint64_t *sketched = NULL;
    *out = (call_timer){.device = device, .stream = stream};
    if (sketching && is_sketched(device, work, stream)) {
        cubc_status st = keys_sketch(device, &work->keys, stream, sketch);
        if (st == CUBC_INTERRUPTED) return st;
        if (!st) sketched = sketch;
    }
    pthread_mutex_lock(&lock);
    if (calls_are_recorded()) begin(work, sketched, out);
    pthread_mutex_unlock(&lock);
    sample *s = out->sample;
    if (!s || !device->api->event_record(device, s->start, stream)) return CUBC_OK;
    out->sample = NULL;
    atomic_store(&s->state, EMPTY);
    return CUBC_OK;
}

// Needs the lock.
static void count(const call_timer *timer)
{
    if (!listing)
        atomic_fetch_add(&timer->call->count, 1);
    else if (listing->recording == number)
        list(listing, timer->call);
}

void calls_queued(call_timer *timer, cubc_status queued)
{
    sample *s = timer->sample;
    if (!timer->call) return;
    bool timed =
        s && !queued && !timer->device->api->event_record(timer->device, s->stop, timer->stream);
    pthread_mutex_lock(&lock);
    bool ours = calls_are_recorded() && timer->recording == number;
    if (ours && !queued) count(timer);
    if (s) atomic_store(&s->state, ours && timed ? QUEUED : EMPTY);
    pthread_mutex_unlock(&lock);
}

// ---- rounds -------------------------------------------------------------------------------------
void calls_round_begin(call_round *round)
{
    *round = (call_round){.recording = atomic_load(&number)};
    listing = round;
}

void calls_round_end(void)
{
    listing = NULL;
}

void calls_round_list(call_round *round, const call_timer *timer)
{
    if (!timer->call) return;
    if (round->recording != timer->recording) round->count = 0;
    round->recording = timer->recording;
    list(round, timer->call);
}

// Needs the lock.
static bool is_due(const call_round *round)
{
    if (round->recording != number || !round->count) return true;
    for (size_t k = 0; k < round->count; k++)
        if (is_timed(round->calls[k]->count)) return true;
    return false;
}

bool calls_round_is_due(const call_round *round)
{
    pthread_mutex_lock(&lock);
    bool due = calls_are_recorded() && is_due(round);
    pthread_mutex_unlock(&lock);
    return due;
}

void calls_replayed(const call_round *round)
{
    if (!round->count) return;
    pthread_mutex_lock(&lock);
    if (calls_are_recorded() && round->recording == number)
        for (size_t k = 0; k < round->count; k++) atomic_fetch_add(&round->calls[k]->count, 1);
    pthread_mutex_unlock(&lock);
}

void calls_round_free(call_round *round)
{
    mem_free(round->calls);
    *round = (call_round){0};
}

// ---- recordings ---------------------------------------------------------------------------------
// Needs the lock.
static void detach(void)
{
    buckets = NULL;
    called = NULL;
    first = last = NULL;
    kinds = 0;
    beyond = 0;
    number++; // rounds of it have ended as well
}

// Needs the lock.
static void forget(void)
{
    for (int b = 0; buckets && b < BUCKETS; b++)
        for (entry *e = buckets[b], *next; e; e = next) {
            next = e->next;
            mem_free(e);
        }
    for (recorded_call *c = first, *next; c; c = next) {
        next = c->next;
        mem_free(c);
    }
    mem_free(buckets);
    mem_free(called);
    detach();
}

cubc_status calls_record(bool keys)
{
    cubc_status st = CUBC_OK;
    pthread_mutex_lock(&lock);
    if (buckets) {
        st = error_set(__FILE__, __LINE__, CUBC_INVALID_ARGUMENT, "calls are recorded already");
    } else {
        buckets = mem_zalloc(BUCKETS, sizeof(entry *));
        called = buckets ? mem_zalloc(BUCKETS, sizeof(recorded_call *)) : NULL;
        sketching = keys;
        if (called)
            atomic_store(&recording, true);
        else
            st = CUBC_NO_MEMORY;
        if (st) forget();
    }
    pthread_mutex_unlock(&lock);
    return st;
}

recorded_call *calls_after(const recorded_call *call)
{
    return call ? atomic_load(&call->next) : atomic_load(&first);
}

uint64_t calls_beyond(void)
{
    return beyond;
}

void calls_stop(void)
{
    pthread_mutex_lock(&lock); // calls that are being counted are counted
    atomic_store(&recording, false);
    pthread_mutex_unlock(&lock);
}

// A sample whose call is still being queued is its thread's until then.
void calls_forget(void)
{
    calls_stop();
    pthread_mutex_lock(&lock);
    for (int k = 0; k < SAMPLES; k++) {
        if (claim(&samples[k], QUEUED)) atomic_store(&samples[k].state, EMPTY);
        if (!claim(&samples[k], EMPTY)) continue;
        drop_events(&samples[k]);
        atomic_store(&samples[k].state, EMPTY);
    }
    forget();
    pthread_mutex_unlock(&lock);
}

void calls_forget_in_child(void)
{
    calls_stop();
    pthread_mutex_lock(&lock);
    for (int k = 0; k < SAMPLES; k++) samples[k] = (sample){0};
    detach(); // another thread may have been freeing them at the fork
    pthread_mutex_unlock(&lock);
}
