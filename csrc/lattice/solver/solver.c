// Fields, launches and rounds of the solvers: see solver.h.
#include "lattice/solver/solver.h"

#include "lattice/grid/ranks.h"
#include "lattice/operators/lattice_problem.h"
#include "lattice/solver/compact.h"
#include "run/recorded_calls.h"
#include "run/run.h"

#include <stdio.h>
#include <string.h>

// ROUND: iterations of a round. UNRECORDED: rounds that are queued launch by launch; the first of
// them loads all kernels, the others keep the device at work until one is recorded.
enum { ROUND = MOST_BASIS, UNRECORDED = 2 };

// ---- memory -------------------------------------------------------------------------------------
static cubc_status run_alloc(solver *s, size_t bytes, void **out)
{
    if (s->memory_count == MOST_FIELDS) FAIL(CUBC_INTERNAL, "a solver has too many fields");
    TRY(s->device->api->alloc(s->device, bytes, s->stream, out));
    s->memory[s->memory_count++] = *out;
    return CUBC_OK;
}

static cubc_status run_fill(solver *s, void *memory, int byte, size_t bytes)
{
    return s->device->api->fill(s->device, memory, byte, bytes, s->stream);
}

static cubc_status run_copy(solver *s, void *to, const void *from, size_t bytes)
{
    return s->device->api->copy(s->device, to, from, bytes, s->stream);
}

cubc_status solver_alloc(solver *s, size_t bytes, void **out)
{
    return s->actions->alloc(s, bytes, out);
}

cubc_status solver_zero(solver *s, void *memory, size_t bytes)
{
    return s->actions->fill(s, memory, 0, bytes);
}

cubc_status solver_copy(solver *s, void *to, const void *from, size_t bytes)
{
    return s->actions->copy(s, to, from, bytes);
}

static uint64_t sites(const solver *s)
{
    uint64_t all = s->shape.sources;
    for (int d = 0; d < 4; d++) all *= (uint64_t)s->shape.extents[d];
    return all / 2 * (uint64_t)s->shape.parities * (uint64_t)s->shape.inner;
}

uint64_t solver_reals(const solver *s)
{
    return sites(s) * (uint64_t)s->shape.reals;
}

static size_t field_bytes(const solver *s, cubc_type type)
{
    return solver_reals(s) * cubc_type_size(type) +
           (type == CUBC_I16 ? sites(s) * sizeof(float) : 0);
}

cubc_status solver_field(solver *s, cubc_type type, lattice_field *out)
{
    *out = (lattice_field){.type = type};
    TRY(solver_alloc(s, field_bytes(s, type), &out->data));
    if (type == CUBC_I16) out->norms = (float *)((int16_t *)out->data + solver_reals(s));
    return CUBC_OK;
}

cubc_status solver_zero_field(solver *s, cubc_type type, lattice_field *out)
{
    TRY(solver_field(s, type, out));
    return solver_zero(s, out->data, field_bytes(s, type));
}

int solver_types(const solver *s, cubc_type types[TYPES])
{
    int count = 0;
    types[count++] = s->precise;
    if (s->sloppy != s->precise) types[count++] = s->sloppy;
    if (s->schwarz_type != s->precise && s->schwarz_type != s->sloppy)
        types[count++] = s->schwarz_type;
    return count;
}

cubc_status solver_fields_of_types(solver *s, lattice_field out[TYPES])
{
    cubc_type types[TYPES];
    const int count = solver_types(s, types);
    for (int k = 0; k < count; k++) TRY(solver_field(s, types[k], &out[k]));
    return CUBC_OK;
}

const lattice_field *solver_in_type(const lattice_field fields[TYPES], cubc_type type)
{
    int k = 0;
    while (k + 1 < TYPES && fields[k].type != type) k++;
    return &fields[k];
}

void solver_free(solver *s)
{
    while (s->memory_count)
        s->device->api->free(s->device, s->memory[--s->memory_count], s->stream);
    mem_free(s->states);
    mem_free(s->scales);
    mem_free(s->system);
    s->states = NULL;
    s->scales = NULL;
    s->system = NULL;
}

// ---- launches -----------------------------------------------------------------------------------
// Kernels that the dry run did not meet, as those that scale sources of unusual size, are compiled
// before their launch, so that the time of it is known.
static cubc_status run_launch(solver *s, const problem *p)
{
    bool was_ready;
    double start = now_seconds();
    TRY(run_prepare(s->device, p, &was_ready));
    if (!was_ready) s->compile_seconds += now_seconds() - start;
    return run_problem(s->device, p, NULL, 0, s->stream);
}

cubc_status solver_launch(solver *s, const algorithm *a, const void *params)
{
    problem p;
    TRY(algorithm_problem(a, params, &p));
    return s->actions->launch(s, &p);
}

cubc_status solver_pass_over(solver *s, cubc_ranks *ranks, solver_phase phase,
                             const cubc_site_update *update, const cubc_site_field *fields,
                             int count)
{
    cubc_guard guard = s->guard;
    guard.ranks = ranks;
    guard.phase = phase;
    const cubc_field_update_params params = {.update = update,
                                             .fields = fields,
                                             .field_count = count,
                                             .guard = &guard,
                                             LATTICE_EXTENT_MEMBERS(s->shape.extents),
                                             .reals = s->shape.reals,
                                             .parts = s->shape.parities * s->shape.inner,
                                             .sources = s->shape.sources};
    return solver_launch(s, &field_update_algorithm, &params);
}

cubc_status solver_pass(solver *s, solver_phase phase, const cubc_site_update *update,
                        const cubc_site_field *fields, int count)
{
    return solver_pass_over(s, s->guard.ranks, phase, update, fields, count);
}

cubc_status solver_assign(solver *s, solver_phase phase, const lattice_field *to,
                          const lattice_field *from)
{
    static const cubc_site_update assign = {.statements = "to = from"};
    return solver_pass(s, phase, &assign, SITE_FIELDS(WRITE("to", *to), READ("from", *from)));
}

cubc_status solver_residual(solver *s)
{
    static const cubc_site_update residual = {
        .statements = "out = z - m",
        .sums = {"norm(out)"},
        .finish = "take_residual",
    };
    return s->op->apply(
        s, &(operator_call){
               .in = &s->y, .out = &s->r, .z = &s->b, .tail = &residual, .phase = UPDATE});
}

cubc_status solver_sloppy_residual(solver *s, const lattice_field *copy, const lattice_field **out)
{
    *out = s->r.type == copy->type ? &s->r : copy;
    return *out == copy ? solver_assign(s, UPDATE, copy, &s->r) : CUBC_OK;
}

// ---- states -------------------------------------------------------------------------------------
cubc_status solver_upload(solver *s)
{
    return solver_copy(s, s->guard.states, s->states, s->shape.sources * sizeof *s->states);
}

cubc_status solver_download(solver *s)
{
    return solver_copy(s, s->states, s->guard.states, s->shape.sources * sizeof *s->states);
}

static bool has_stopped(const solver *s)
{
    for (uint64_t k = 0; k < s->shape.sources; k++)
        if (s->states[k].phase <= UPDATE) return false;
    return true;
}

// ---- rounds -------------------------------------------------------------------------------------
cubc_status solver_queue_round(solver *s)
{
    for (int k = 0; k < ROUND; k++) TRY(s->method->iterate(s, k == ROUND - 1));
    return s->method->update(s);
}

typedef struct rounds {
    device_recording *recording;
    call_round calls;      // of the recording
    device_event *ends[2]; // of the round that runs and the one before
    void *seen[2];         // the states at these ends, where hosts of ranks must read the same
    void *aside;           // a stream for reading the states
    compaction left;       // sources that have left the batch
} rounds;

static cubc_status record_round(solver *s, rounds *r)
{
    const device_api *api = s->device->api;
    TRY(api->record(s->device, s->stream));
    calls_round_begin(&r->calls);
    cubc_status st = solver_queue_round(s);
    calls_round_end();
    cubc_status ended = api->record_end(s->device, s->stream, &r->recording);
    if (st && !ended) api->recording_free(s->device, r->recording);
    if (st) r->recording = NULL;
    return st ? st : ended;
}

static void forget_round(solver *s, rounds *r)
{
    s->device->api->recording_free(s->device, r->recording);
    calls_round_free(&r->calls);
    r->recording = NULL;
    r->calls = (call_round){0};
}

// A host may read the states late, when the next round has changed them. Ranks to which messages
// are sent would wait for a round that such a host does not queue, so they all read a copy.
static cubc_status open_ends(solver *s, rounds *r)
{
    const device_api *api = s->device->api;
    const bool copied = s->guard.ranks && ranks_are_staged(s->guard.ranks);
    for (int k = 0; k < 2; k++) {
        TRY(api->event_create(s->device, &r->ends[k]));
        if (copied)
            TRY(api->alloc(s->device, s->shape.sources * sizeof *s->states, s->stream,
                           &r->seen[k]));
    }
    return api->stream_create(s->device, &r->aside);
}

static cubc_status end_round(solver *s, rounds *r, uint64_t round)
{
    const device_api *api = s->device->api;
    if (r->seen[round % 2])
        TRY(api->copy(s->device, r->seen[round % 2], s->guard.states,
                      s->shape.sources * sizeof *s->states, s->stream));
    return api->event_record(s->device, r->ends[round % 2], s->stream);
}

// Waits for a round and reads the states, which are those at its end or later.
static cubc_status read_states(solver *s, rounds *r, uint64_t round)
{
    const device_api *api = s->device->api;
    const void *seen = r->seen[round % 2];
    TRY(api->event_synchronize(s->device, r->ends[round % 2]));
    return api->copy(s->device, s->states, seen ? seen : s->guard.states,
                     s->shape.sources * sizeof *s->states, r->aside);
}

static uint64_t reals_of_source(const solver *s)
{
    return solver_reals(s) / s->shape.sources;
}

// Goes on without the sources that have stopped. A round is queued launch by launch again, and
// loads what kernels differ for fewer sources.
static cubc_status compact(solver *s, rounds *r)
{
    TRY(s->device->api->synchronize(s->device, s->stream));
    TRY(solver_download(s));
    if (has_stopped(s) || !compact_pays(s)) return CUBC_OK;
    forget_round(s, r);
    TRY(compact_sources(s, reals_of_source(s), &r->left));
    TRY(solver_queue_round(s));
    return record_round(s, r);
}

static cubc_status replay_rounds(solver *s, rounds *r)
{
    const device_api *api = s->device->api;
    const uint64_t most = 2 * s->states[0].limit + 100; // each round has an iteration or an end
    TRY(open_ends(s, r));
    TRY(s->method->update(s));
    for (int k = 0; k < UNRECORDED; k++) TRY(solver_queue_round(s));
    TRY(end_round(s, r, 0));
    TRY(record_round(s, r));
    for (uint64_t round = 1; round < most; round++) {
        TRY(api->replay(s->device, r->recording, s->stream));
        calls_replayed(&r->calls);
        TRY(end_round(s, r, round));
        TRY(read_states(s, r, round - 1));
        if (has_stopped(s)) return solver_download(s); // whole now: the last round is over
        if (interrupt_pending()) FAIL(CUBC_INTERRUPTED, "interrupted during a solve");
        if (compact_pays(s)) TRY(compact(s, r));
    }
    FAIL(CUBC_INTERNAL, "%s does not come to an end", s->method->name);
}

// The message of the failure that came before stays.
void solver_settle(solver *s)
{
    char why[1024];
    snprintf(why, sizeof why, "%s", cubc_error_message());
    while (s->device->api->synchronize(s->device, s->stream) == CUBC_INTERRUPTED)
        error_set(__FILE__, __LINE__, CUBC_INTERRUPTED, "%s", why);
}

static cubc_status run_rounds(solver *s)
{
    const device_api *api = s->device->api;
    rounds r = {0};
    cubc_status st = replay_rounds(s, &r);
    if (!st) st = compact_undo(s, reals_of_source(s), &r.left);
    if (st) solver_settle(s);
    forget_round(s, &r);
    compact_free(&r.left);
    for (int k = 0; k < 2; k++) {
        api->event_destroy(s->device, r.ends[k]);
        api->free(s->device, r.seen[k], s->stream);
    }
    api->stream_destroy(s->device, r.aside);
    return st;
}

const solver_actions solver_run_actions = {.alloc = run_alloc,
                                           .fill = run_fill,
                                           .copy = run_copy,
                                           .launch = run_launch,
                                           .run_rounds = run_rounds};
