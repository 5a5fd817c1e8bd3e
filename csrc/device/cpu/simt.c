// The pool of simt.h: who runs which block when.
//
// A launch costs what it must and no more, because cubc.reduce on a NumPy array is one. The caller
// works too and needs nobody: it opens the launch, wakes as many helpers as there are blocks for,
// and takes blocks like they do. A helper that wakes late finds the launch closed and goes back to
// sleep; the caller waits only for helpers that are inside. All of that is one atomic word,
// `state`: a launch's number, whether it is open, and how many helpers are in it. The lock and the
// conditions around it are for sleeping only.
#define _GNU_SOURCE
#include "device/cpu/simt.h"
#include "device/cpu/simt_block.h"
#include "device/cpu/simt_signal.h"
#include "device/cpu/simt_watch.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

static const double SPIN_SECONDS = 20e-6; // how long to look for work before sleeping

#define OPEN (1ull << 31)
#define INSIDE (OPEN - 1)
#define NUMBER(state) ((uint32_t)((state) >> 32))

struct simt_pool {
    int workers; // the caller's, which is worker[0], included
    int started; // helpers that exist
    simt_worker **worker;
    pthread_t *threads; // of helper i at i; [0] is unused
    struct helper {
        simt_pool *pool;
        int index;
    } *helpers;
    atomic_uint forks; // the process's count of forks when the helpers were started
    atomic_ullong seed;

    pthread_mutex_t lock;
    pthread_cond_t work, done, turn;
    bool busy; // somebody's launch is running
    atomic_bool quit;

    simt_watch watch;
    const simt_launch *launch;
    uint64_t launch_seed;
    fenv_t floats; // the caller's modes of rounding and denormals, which all threads take
    atomic_bool stop, asked;
    cubc_status status; // of the first block that failed
    char message[sizeof((simt_worker *)0)->message];

    // Helpers and caller write these all the time: they have cache lines of their own.
    char apart[64];
    atomic_ullong state;
    atomic_int sleepers;
    char from_next[64];
    atomic_uint next; // the next block
};

// ---- fork ---------------------------------------------------------------------------------------
// A forked child has the pool's memory and none of its threads. It notices by the count of forks,
// and makes a new start the next time it uses the pool.
FORK_SAFE_MUTEX(restarting); // two threads of the child may come at once

static void prepare_sleeping(simt_pool *pool)
{
    pthread_mutex_init(&pool->lock, NULL);
    simt_condition_init(&pool->work);
    simt_condition_init(&pool->done);
    simt_condition_init(&pool->turn);
}

static bool is_child(const simt_pool *pool)
{
    return atomic_load(&pool->forks) != fork_count();
}

static void restart_in_child(simt_pool *pool)
{
    pthread_mutex_lock(&restarting);
    unsigned now = fork_count();
    if (atomic_load(&pool->forks) != now) {
        prepare_sleeping(pool); // the old ones may be held by threads that are gone
        simt_watch_prepare(&pool->watch);
        pool->started = 0;
        pool->busy = false;
        atomic_store(&pool->sleepers, 0);
        atomic_store(&pool->state, atomic_load(&pool->state) & ~(OPEN | INSIDE));
        atomic_store(&pool->forks, now);
    }
    pthread_mutex_unlock(&restarting);
}

// ---- turns --------------------------------------------------------------------------------------
// The thread's launch is under way, in which its signal handlers may run.
static _Thread_local bool launching SIMT_FAST_TLS;

// One launch at a time. The wait for the turn can be long and can be interrupted.
static cubc_status take_turn(simt_pool *pool)
{
    if (launching)
        FAIL(CUBC_INVALID_ARGUMENT,
             "a call on the cpu was made from within another, as by a signal handler");
    if (is_child(pool)) restart_in_child(pool);
    pthread_mutex_lock(&pool->lock);
    while (pool->busy) {
        simt_wait_ms(&pool->turn, &pool->lock, SIMT_LOOK_MS);
        if (!pool->busy) break;
        pthread_mutex_unlock(&pool->lock);
        if (interrupt_pending()) FAIL(CUBC_INTERRUPTED, "interrupted while another launch runs");
        pthread_mutex_lock(&pool->lock);
    }
    pool->busy = launching = true;
    pthread_mutex_unlock(&pool->lock);
    return CUBC_OK;
}

static void end_turn(simt_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->busy = launching = false;
    pthread_cond_signal(&pool->turn);
    pthread_mutex_unlock(&pool->lock);
}

// ---- running blocks -----------------------------------------------------------------------------
// A permutation of 0 .. n-1 without a table: steps that are one-to-one on the next power of two,
// repeated until they land inside.
static uint32_t permuted(uint32_t i, uint32_t n, uint64_t seed)
{
    unsigned bits = n > 1 ? 32 - (unsigned)__builtin_clz(n - 1) : 1;
    uint32_t mask = 0xffffffffu >> (32 - bits);
    uint32_t add = (uint32_t)(seed * 0x9E3779B97F4A7C15ULL >> 32);
    uint32_t multiply = (uint32_t)(seed * 0xD1342543DE82EF95ULL >> 32) | 1;
    do {
        for (int round = 0; round < 3; round++) {
            i = (i * multiply + add) & mask;
            i ^= i >> (bits / 2 + 1);
        }
    } while (i >= n);
    return i;
}

static void record_fault(simt_pool *pool, const simt_worker *w)
{
    pthread_mutex_lock(&pool->lock);
    if (pool->status == CUBC_OK) {
        pool->status = CUBC_KERNEL_FAULT;
        memcpy(pool->message, w->message, sizeof pool->message);
    }
    pthread_mutex_unlock(&pool->lock);
    atomic_store(&pool->stop, true);
}

// Takes blocks until there are none, one faults, or the launch is stopped.
static void work(simt_pool *pool, simt_worker *w)
{
    const uint32_t grid = pool->launch->grid;
    const uint64_t seed = pool->launch_seed;
    simt_worker_begin(w, pool->launch);
    if (_setjmp(w->escape) == 0) {
        while (!simt_worker_stopped(w)) {
            uint32_t i = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
            if (i >= grid) break;
            uint32_t block = seed ? permuted(i, grid, seed) : i;
            if (simt_block_run(w, block, seed) == CUBC_KERNEL_FAULT) record_fault(pool, w);
        }
    } else {
        fesetenv(&pool->floats); // a signal handler has its own
        if (w->trapped) record_fault(pool, w);
        w->trapped = false;
    }
    simt_worker_end(w);
}

// ---- helpers ------------------------------------------------------------------------------------
static bool joinable(simt_pool *pool, uint32_t seen)
{
    unsigned long long state = atomic_load(&pool->state);
    return (state & OPEN) && NUMBER(state) != seen;
}

// Enters the open launch, unless this helper has just left it.
static bool join_launch(simt_pool *pool, uint32_t *seen)
{
    unsigned long long state = atomic_load(&pool->state);
    while ((state & OPEN) && NUMBER(state) != *seen) {
        if (atomic_compare_exchange_weak(&pool->state, &state, state + 1)) {
            *seen = NUMBER(state);
            return true;
        }
    }
    return false;
}

static void leave_launch(simt_pool *pool)
{
    unsigned long long state = atomic_fetch_sub(&pool->state, 1) - 1;
    if (state & (OPEN | INSIDE)) return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->lock);
}

static void sleep_until_work(simt_pool *pool, uint32_t seen)
{
    double until = now_seconds() + SPIN_SECONDS;
    while (now_seconds() < until) {
        if (joinable(pool, seen)) return;
        sched_yield(); // the caller may be waiting for this very core
    }
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1); // before the last look: the caller does it in reverse
    while (!atomic_load(&pool->quit) && !joinable(pool, seen))
        pthread_cond_wait(&pool->work, &pool->lock);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->lock);
}

static void *helper_main(void *argument)
{
    struct helper *self = argument;
    simt_pool *pool = self->pool;
    uint32_t seen = 0;
    simt_signals_listen();
    while (!atomic_load(&pool->quit)) {
        if (join_launch(pool, &seen)) {
            fesetenv(&pool->floats);
            work(pool, pool->worker[self->index]);
            leave_launch(pool);
        }
        sleep_until_work(pool, seen);
    }
    return NULL;
}

// A thread that cannot be started is no error: the caller can run all blocks alone.
static void start_helpers(simt_pool *pool, int wanted)
{
    while (pool->started < wanted) {
        int i = pool->started + 1;
        pool->helpers[i] = (struct helper){pool, i};
        if (thread_start(&pool->threads[i], helper_main, &pool->helpers[i]) != 0) break;
        pool->started = i;
    }
}

// ---- a launch -----------------------------------------------------------------------------------
static void open_launch(simt_pool *pool, int helpers)
{
    uint32_t number = NUMBER(atomic_load(&pool->state)) + 1;
    if (number == 0) number = 1; // 0 is the last number that new helpers have seen
    atomic_store(&pool->state, (unsigned long long)number << 32 | OPEN);
    int sleepers = atomic_load(&pool->sleepers);
    if (sleepers == 0) return;
    pthread_mutex_lock(&pool->lock); // every helper that has counted itself is asleep by now
    pthread_mutex_unlock(&pool->lock);
    if (helpers >= sleepers)
        pthread_cond_broadcast(&pool->work);
    else
        while (helpers-- > 0) pthread_cond_signal(&pool->work);
}

static bool helpers_inside(simt_pool *pool)
{
    return (atomic_load(&pool->state) & INSIDE) != 0;
}

// Without waiting in a child that a signal handler has forked: its helpers are gone.
static void close_launch(simt_pool *pool)
{
    atomic_fetch_and(&pool->state, ~OPEN);
    if (!helpers_inside(pool) || is_child(pool)) return;
    double until = now_seconds() + SPIN_SECONDS;
    while (now_seconds() < until) {
        if (!helpers_inside(pool)) return;
        sched_yield(); // so may a helper
    }
    pthread_mutex_lock(&pool->lock);
    while (helpers_inside(pool)) {
        simt_wait_ms(&pool->done, &pool->lock, SIMT_LOOK_MS);
        pthread_mutex_unlock(&pool->lock);
        simt_worker_stopped(pool->worker[0]);
        if (is_child(pool)) return;
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

static cubc_status run(simt_pool *pool, const simt_launch *launch)
{
    int workers = (unsigned)pool->workers < launch->grid ? pool->workers : (int)launch->grid;
    // Any helper may enter, also more than were woken.
    int most = workers > pool->started + 1 ? workers : pool->started + 1;
    for (int i = 0; i < (workers > 1 ? most : 1); i++)
        TRY(simt_worker_reserve(pool->worker[i], launch->threads, launch->shared_bytes));

    pool->launch = launch;
    pool->launch_seed = atomic_load(&pool->seed);
    pool->status = CUBC_OK;
    atomic_store_explicit(&pool->stop, false, memory_order_relaxed);
    atomic_store_explicit(&pool->asked, false, memory_order_relaxed);
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    fegetenv(&pool->floats);
    if (workers > 1) start_helpers(pool, workers - 1);
    simt_signals signals;
    simt_signals_take(&signals, !launch->cannot_trap);
    simt_watch_begin(&pool->watch, pool->threads + 1, pool->started);
    if (workers > 1) open_launch(pool, workers - 1);
    work(pool, pool->worker[0]);
    if (workers > 1) close_launch(pool);
    const unsigned forks = atomic_load(&pool->forks);
    if (is_child(pool)) restart_in_child(pool);
    simt_watch_end(&pool->watch);
    simt_signals_give(&signals);

    if (workers > 1) TRY(fork_refuse(forks, "a launch")); // a launch without helpers is whole
    if (pool->status) FAIL(pool->status, "%s", pool->message);
    if (atomic_load(&pool->asked)) FAIL(CUBC_INTERRUPTED, "interrupted");
    return CUBC_OK;
}

cubc_status simt_run(simt_pool *pool, const simt_launch *launch)
{
    if (launch->threads < 1 || launch->threads > SIMT_MAX_THREADS)
        FAIL(CUBC_INVALID_ARGUMENT, "a block has 1 to %d threads, not %u", SIMT_MAX_THREADS,
             launch->threads);
    if (launch->grid > INT32_MAX)
        FAIL(CUBC_INVALID_ARGUMENT, "a grid has at most %d blocks, not %u", INT32_MAX,
             launch->grid);
    if (launch->grid == 0) return CUBC_OK;
    TRY(take_turn(pool));
    cubc_status status = run(pool, launch);
    end_turn(pool);
    return status;
}

// ---- open and close -----------------------------------------------------------------------------
cubc_status simt_pool_open(int workers, simt_pool **out)
{
    simt_pool *pool = mem_zalloc(1, sizeof *pool);
    if (!pool) return CUBC_NO_MEMORY;
    prepare_sleeping(pool);
    simt_watch_prepare(&pool->watch);
    atomic_store(&pool->forks, fork_count());
    pool->workers = workers;
    size_t count = (size_t)workers;
    pool->worker = mem_zalloc(count, sizeof *pool->worker);
    pool->threads = mem_zalloc(count, sizeof *pool->threads);
    pool->helpers = mem_zalloc(count, sizeof *pool->helpers);
    bool complete = pool->worker && pool->threads && pool->helpers;
    for (size_t i = 0; complete && i < count; i++) {
        simt_worker *w = pool->worker[i] = mem_zalloc(1, sizeof *w);
        if (!w) {
            complete = false;
            break;
        }
        w->stop = &pool->stop;
        w->asked = &pool->asked;
        w->is_caller = i == 0;
    }
    if (!complete) {
        simt_pool_close(pool);
        return CUBC_NO_MEMORY;
    }
    *out = pool;
    return CUBC_OK;
}

void simt_pool_close(simt_pool *pool)
{
    if (!pool) return;
    if (atomic_load(&pool->forks) != fork_count()) restart_in_child(pool);
    simt_watch_close(&pool->watch);
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->quit, true);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 1; i <= pool->started; i++) pthread_join(pool->threads[i], NULL);
    for (int i = 0; pool->worker && i < pool->workers; i++) {
        if (pool->worker[i]) simt_worker_close(pool->worker[i]);
        mem_free(pool->worker[i]);
    }
    pthread_cond_destroy(&pool->turn);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    mem_free(pool->helpers);
    mem_free(pool->threads);
    mem_free(pool->worker);
    mem_free(pool);
}

int simt_pool_workers(const simt_pool *pool)
{
    return pool->workers;
}

void simt_pool_seed(simt_pool *pool, uint64_t seed)
{
    atomic_store(&pool->seed, seed);
}
