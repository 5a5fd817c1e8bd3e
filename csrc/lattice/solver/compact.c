// Sources that have stopped leave the batch of a solve, so that its launches have no blocks and no
// loads for them. Kernels pass over a stopped source by its state, but where a thread has several
// sources they are read as long as one of them goes on, and blocks start only to end.
//
// Sources change places: fields are exchanged where their numbers are needed in the end, and
// otherwise copied. Only methods with `compacts` are compacted, which keep nothing of a source
// beside its state and its part of the fields `work`.
#include "lattice/solver/compact.h"

enum { LEAST = 2 }; // sources that stay: kernels of a single source are other kernels

static bool goes_on(const solver *s, uint64_t source)
{
    return s->states[source].phase <= UPDATE;
}

static uint64_t going_on(const solver *s)
{
    uint64_t count = 0;
    for (uint64_t k = 0; k < s->shape.sources; k++) count += goes_on(s, k);
    return count < LEAST ? LEAST : count;
}

// Ranks whose hosts read the states at different times would not do it at the same round.
bool compact_pays(const solver *s)
{
    return s->method->compacts && !s->guard.ranks && s->shape.sources > LEAST &&
           2 * going_on(s) <= s->shape.sources;
}

// ---- fields -------------------------------------------------------------------------------------
static cubc_status copy(solver *s, const lattice_field *to, uint64_t i, const lattice_field *from,
                        uint64_t j, size_t bytes)
{
    return s->actions->copy(s, (char *)to->data + i * bytes, (char *)from->data + j * bytes, bytes);
}

// Exchanges two sources of a precise field, by way of the residual, which no round leaves to the
// next.
static cubc_status exchange(solver *s, const lattice_field *f, uint64_t i, uint64_t j, size_t bytes)
{
    TRY(copy(s, &s->r, i, f, i, bytes));
    TRY(copy(s, f, i, f, j, bytes));
    return copy(s, f, j, &s->r, i, bytes);
}

static cubc_status swap_sources(solver *s, uint64_t i, uint64_t j, size_t reals)
{
    const solver_state state = s->states[i];
    const size_t bytes = reals * cubc_type_size(s->precise);
    s->states[i] = s->states[j];
    s->states[j] = state;
    TRY(exchange(s, &s->b, i, j, bytes));
    return exchange(s, &s->y, i, j, bytes);
}

static cubc_status move_work(solver *s, uint64_t to, uint64_t from, size_t reals)
{
    const size_t norms = reals / (size_t)s->shape.reals * sizeof(float);
    for (size_t k = 0; k < COUNT_OF(s->work); k++) {
        const lattice_field *f = &s->work[k];
        if (!f->data) continue;
        TRY(copy(s, f, to, f, from, reals * cubc_type_size(f->type)));
        const lattice_field of_norms = {.data = f->norms};
        if (f->norms) TRY(copy(s, &of_norms, to, &of_norms, from, norms));
    }
    return CUBC_OK;
}

// Puts the norms of the sources that are left behind their numbers. Both places are apart, as at
// least half of the sources have left.
static cubc_status move_norms(solver *s, uint64_t sources, size_t reals)
{
    for (size_t k = 0; k < COUNT_OF(s->work); k++) {
        lattice_field *f = &s->work[k];
        if (!f->norms) continue;
        float *to = (float *)((int16_t *)f->data + sources * reals);
        TRY(s->actions->copy(s, to, f->norms,
                             sources * reals / (size_t)s->shape.reals * sizeof(float)));
        f->norms = to;
    }
    return CUBC_OK;
}

// ---- the batch ----------------------------------------------------------------------------------
static cubc_status begin(const solver *s, compaction *c)
{
    if (c->all) return CUBC_OK;
    c->swaps = mem_alloc(s->shape.sources, sizeof *c->swaps);
    if (!c->swaps) return CUBC_NO_MEMORY;
    c->all = s->shape.sources;
    return CUBC_OK;
}

cubc_status compact_sources(solver *s, uint64_t reals, compaction *c)
{
    const uint64_t left = going_on(s);
    uint64_t from = s->shape.sources;
    TRY(begin(s, c));
    for (uint64_t to = 0; to < left; to++) {
        if (goes_on(s, to)) continue;
        do from--;
        while (from >= left && !goes_on(s, from));
        if (from < left) break; // fewer go on than stay
        TRY(swap_sources(s, to, from, reals));
        TRY(move_work(s, to, from, reals));
        c->swaps[c->count][0] = to;
        c->swaps[c->count++][1] = from;
    }
    TRY(move_norms(s, left, reals));
    s->shape.sources = left;
    return s->actions->copy(s, s->guard.states, s->states, left * sizeof *s->states);
}

cubc_status compact_undo(solver *s, uint64_t reals, compaction *c)
{
    if (!c->all) return CUBC_OK;
    s->shape.sources = c->all;
    while (c->count) {
        const uint64_t *swap = c->swaps[--c->count];
        TRY(swap_sources(s, swap[0], swap[1], reals));
    }
    return CUBC_OK;
}

void compact_free(compaction *c)
{
    mem_free(c->swaps);
}
