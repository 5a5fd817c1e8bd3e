// The table of recorded calls and the events that time some of them: see recorded_calls.h.
#include "run/recorded_calls.h"

#include "run/problem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS = 4096,
    MOST_KINDS = 65536,
    SAMPLES = 256, // calls that are timed and not over yet
    EACH = 8       // calls that are timed in each doubling
};

typedef struct recorded_entry entry;
struct recorded_entry {
    entry *next;
    uint64_t hash, code;
    const void *part;
    recorded_call call;
};

// A pair of events. Its owner is the thread that queues the call while `queueing`, else the table.
typedef struct call_sample {
    entry *of; // NULL: there is nothing to read
    bool queueing;
    cubc_device *device; // retained; of the events
    device_event *start, *stop;
} sample;

static atomic_bool recording;
FORK_SAFE_MUTEX(lock);  // guards all below
static unsigned number; // of the recording
static entry **buckets;
static size_t kinds;
static uint64_t beyond; // calls of kinds that there was no room for
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
                      .type = cubc_type_name(problem_widest(p)),
                      .variant = i->label,
                      .axes = algorithm_axes(p->algorithm),
                      .bytes = p->algorithm->traffic(p)};
    problem_place(p, work.place);
    return work;
}

// ---- kinds --------------------------------------------------------------------------------------
static uint64_t hash_of(const call_work *w)
{
    uint64_t hash = w->code * 0x9e3779b97f4a7c15 + (uintptr_t)w->part;
    for (int k = 0; k < POLICY_AXES; k++) hash = (hash ^ w->place[k]) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 32;
}

static bool is_of(const entry *e, const call_work *w, uint64_t hash)
{
    return e->hash == hash && e->code == w->code && e->part == w->part &&
           memcmp(e->call.place, w->place, sizeof w->place) == 0;
}

static entry *make_entry(const cubc_device *device, const call_work *w)
{
    entry *e = kinds < MOST_KINDS ? mem_zalloc(1, sizeof *e) : NULL;
    if (!e) return NULL;
    recorded_call *c = &e->call;
    e->code = w->code;
    e->part = w->part;
    memcpy(c->place, w->place, sizeof c->place);
    snprintf(c->name, sizeof c->name, "%s", w->name);
    snprintf(c->type, sizeof c->type, "%s", w->type);
    snprintf(c->variant, sizeof c->variant, "%s", w->variant);
    for (int k = 0; k < POLICY_AXES && w->axes[k]; k++)
        snprintf(c->axes[k], sizeof c->axes[k], "%s", w->axes[k]);
    c->bytes = w->bytes;
    c->device = device->info;
    return e;
}

// With the lock. NULL: there is no room for another.
static entry *entry_of(const cubc_device *device, const call_work *w)
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

static void drop_events(sample *s)
{
    if (!s->device) return;
    s->device->api->event_destroy(s->device, s->start);
    s->device->api->event_destroy(s->device, s->stop);
    device_release(s->device);
    *s = (sample){0};
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

// With the lock. Waits for a sample's call; a time that cannot be had is left out.
static void read_sample(sample *s)
{
    double seconds;
    entry *e = s->of;
    if (!e) return;
    s->of = NULL;
    const device_api *api = s->device->api;
    if (api->event_synchronize(s->device, s->stop) ||
        api->event_elapsed(s->device, s->start, s->stop, &seconds))
        return;
    if (seconds > 0 && e->call.timed < CALL_TIMES)
        e->call.seconds[e->call.timed++] = (float)seconds;
}

// With the lock. The oldest sample; NULL: its call is not over yet.
static sample *take_sample(entry *e, cubc_device *device)
{
    sample *s = &samples[next_sample];
    if (s->queueing || (s->of && !s->device->api->event_reached(s->device, s->stop))) return NULL;
    next_sample = (next_sample + 1) % SAMPLES;
    read_sample(s);
    if (make_events(s, device)) {
        drop_events(s);
        return NULL;
    }
    s->queueing = true;
    s->of = e;
    return s;
}

// ---- calls --------------------------------------------------------------------------------------
static void list(call_round *round, entry *e)
{
    if (round->count == round->room) {
        size_t room = round->room ? 2 * round->room : 64;
        entry **grown = mem_realloc(round->entries, room, sizeof *grown);
        if (!grown) return; // it is not counted
        round->entries = grown;
        round->room = room;
    }
    round->entries[round->count++] = e;
}

// With the lock.
static sample *count(cubc_device *device, const call_work *work, void *stream)
{
    entry *e = entry_of(device, work);
    if (!e) {
        beyond++;
        return NULL;
    }
    if (listing) {
        if (listing->recording == number) list(listing, e);
        return NULL;
    }
    uint64_t n = e->call.count++;
    if (!is_timed(n) || device->api->is_capturing(device, stream)) return NULL;
    return take_sample(e, device);
}

void calls_begin(cubc_device *device, const call_work *work, void *stream, call_timer *out)
{
    *out = (call_timer){.device = device, .stream = stream};
    pthread_mutex_lock(&lock);
    if (calls_are_recorded()) out->sample = count(device, work, stream);
    pthread_mutex_unlock(&lock);
    if (out->sample && device->api->event_record(device, out->sample->start, stream))
        calls_queued(out, CUBC_DEVICE_ERROR);
}

void calls_queued(call_timer *timer, cubc_status queued)
{
    sample *s = timer->sample;
    if (!s) return;
    timer->sample = NULL;
    const device_api *api = timer->device->api;
    cubc_status st = queued ? queued : api->event_record(timer->device, s->stop, timer->stream);
    pthread_mutex_lock(&lock);
    s->queueing = false;
    if (st) s->of = NULL;
    pthread_mutex_unlock(&lock);
}

// ---- rounds -------------------------------------------------------------------------------------
void calls_round_begin(call_round *round)
{
    pthread_mutex_lock(&lock);
    *round = (call_round){.recording = number};
    pthread_mutex_unlock(&lock);
    listing = round;
}

void calls_round_end(void)
{
    listing = NULL;
}

void calls_replayed(const call_round *round)
{
    if (!round->count) return;
    pthread_mutex_lock(&lock);
    if (calls_are_recorded() && round->recording == number)
        for (size_t k = 0; k < round->count; k++) round->entries[k]->call.count++;
    pthread_mutex_unlock(&lock);
}

void calls_round_free(call_round *round)
{
    mem_free(round->entries);
    *round = (call_round){0};
}

// ---- recordings ---------------------------------------------------------------------------------
cubc_status calls_record(void)
{
    cubc_status st = CUBC_OK;
    pthread_mutex_lock(&lock);
    if (buckets)
        st = error_set(__FILE__, __LINE__, CUBC_INVALID_ARGUMENT, "calls are recorded already");
    else if (!(buckets = mem_zalloc(BUCKETS, sizeof *buckets)))
        st = CUBC_NO_MEMORY;
    if (!st) {
        kinds = 0;
        beyond = 0;
        number++;
        atomic_store(&recording, true);
    }
    pthread_mutex_unlock(&lock);
    return st;
}

static double total(const recorded_call *c)
{
    double sum = 0;
    for (int k = 0; k < c->timed; k++) sum += (double)c->seconds[k];
    return c->timed ? sum / c->timed * (double)c->count : 0;
}

static int by_time(const void *left, const void *right)
{
    const recorded_call *const a = left, *const b = right;
    return (total(a) < total(b)) - (total(a) > total(b));
}

// With the lock. A sample whose call is still being queued is its thread's until then.
static void end_samples(bool read)
{
    for (int k = 0; k < SAMPLES; k++) {
        if (read && !samples[k].queueing) read_sample(&samples[k]);
        samples[k].of = NULL;
        if (read && !samples[k].queueing) drop_events(&samples[k]);
    }
}

// With the lock.
static void end(void)
{
    for (int b = 0; buckets && b < BUCKETS; b++)
        for (entry *e = buckets[b], *next; e; e = next) {
            next = e->next;
            mem_free(e);
        }
    mem_free(buckets);
    buckets = NULL;
    number++; // rounds of it have ended as well
}

static cubc_status copy_calls(recorded_call **out, size_t *count)
{
    size_t n = 0;
    *out = mem_zalloc(kinds + 1, sizeof **out);
    if (!*out) return CUBC_NO_MEMORY;
    for (int b = 0; b < BUCKETS; b++)
        for (const entry *e = buckets[b]; e; e = e->next)
            if (e->call.count) (*out)[n++] = e->call;
    qsort(*out, n, sizeof **out, by_time);
    *count = n;
    return CUBC_OK;
}

cubc_status calls_end(recorded_call **out, size_t *count, uint64_t *lost)
{
    cubc_status st = CUBC_OK;
    *out = NULL;
    *count = 0;
    pthread_mutex_lock(&lock);
    atomic_store(&recording, false);
    *lost = beyond;
    if (buckets) {
        end_samples(true);
        st = copy_calls(out, count);
        end();
    }
    pthread_mutex_unlock(&lock);
    return st;
}

void calls_forget(void)
{
    pthread_mutex_lock(&lock);
    atomic_store(&recording, false);
    end_samples(false);
    for (int k = 0; k < SAMPLES; k++) samples[k].queueing = false;
    end();
    pthread_mutex_unlock(&lock);
}
