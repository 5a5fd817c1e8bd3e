// Runs one block. A block of one thread is a call; the threads of a larger one are fibres.
//
// Fibres hand over to one another directly; the scheduler, on the worker's own stack, is entered
// only to start a block, to wait for other blocks and to report a fault: its stack is a thread's
// and may be used for anything, a fibre's is small. A fibre is parked where it called the runtime,
// with its state in simt_fibre, and is in the ring of ready threads exactly when it can go on.
#define _GNU_SOURCE
#include "device/cpu/simt_block.h"

#include <string.h>

#if SIMT_ASAN
#include <sanitizer/asan_interface.h>
#endif

enum { SHARED_FILL = 0xCD }; // not zero, so that forgotten initialisation shows

static _Thread_local simt_worker *current SIMT_FAST_TLS;

// ---- the ring of ready threads ------------------------------------------------------------------
static uint64_t next_random(uint64_t *state) // xorshift64*, which never leaves a non-zero state
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1DULL;
}

static void make_ready(simt_worker *w, uint32_t thread)
{
    w->fibres[thread].state = RUNNABLE;
    w->ready[(w->ready_head + w->ready_count++) % SIMT_MAX_THREADS] = (uint16_t)thread;
}

// Takes a ready thread out of the ring and makes it the running one; NULL if there is none.
static simt_fibre *take_ready(simt_worker *w)
{
    if (w->ready_count == 0) return NULL;
    uint16_t *head = &w->ready[w->ready_head];
    if (w->random) {
        uint32_t pick = (uint32_t)(next_random(&w->random) >> 32) % w->ready_count;
        uint16_t *chosen = &w->ready[(w->ready_head + pick) % SIMT_MAX_THREADS];
        uint16_t thread = *chosen;
        *chosen = *head;
        *head = thread;
    }
    w->thread = *head;
    w->ready_head = (w->ready_head + 1) % SIMT_MAX_THREADS;
    w->ready_count--;
    return w->running = &w->fibres[w->thread];
}

// ---- parking ------------------------------------------------------------------------------------
static void go_to_scheduler(simt_worker *w, simt_fibre *self, int request)
{
    w->request = request;
    simt_switch_to(&self->context, &w->scheduler);
    if (w->abandoned) simt_switch_leave(&self->context, &w->scheduler);
}

// Lets others run until this fibre, which is ready or whose state says what it waits for, goes on.
static void park(simt_worker *w, simt_fibre *self)
{
    simt_fibre *next = take_ready(w);
    if (next == self) return;
    if (!next || ++w->switches % 4096 == 0) { // now and then, so that the user can interrupt
        if (next) make_ready(w, w->thread);
        go_to_scheduler(w, self, ASKS_NOTHING);
        return;
    }
    simt_switch_to(&self->context, &next->context);
    if (w->abandoned) simt_switch_leave(&self->context, &w->scheduler);
}

static void report(simt_worker *w, simt_fault fault)
{
    w->fault = fault;
    go_to_scheduler(w, w->running, ASKS_STOP);
}

// Begins every synchronising call.
static simt_fibre *stop_at(simt_worker *w, const char *file, int line)
{
    simt_fibre *self = w->running;
    self->place = (simt_place){file, line};
    w->spinning = 0;
    if ((char *)__builtin_frame_address(0) < self->stack + w->stack_reserve)
        report(w, (simt_fault){FAULT_STACK, .thread = w->thread, .place = self->place});
    return self;
}

static bool same_place(simt_place a, simt_place b)
{
    return a.line == b.line && (a.file == b.file || strcmp(a.file, b.file) == 0);
}

// ---- what kernels call --------------------------------------------------------------------------
static uint32_t thread_id(void)
{
    return current->thread;
}

static uint32_t block_id(void)
{
    return current->block;
}

static uint32_t block_count(void)
{
    return current->grid;
}

static void block_sync(const char *file, int line)
{
    simt_worker *w = current;
    if (w->threads == 1) return;
    simt_fibre *self = stop_at(w, file, line);
    if (w->live < w->threads)
        report(w, (simt_fault){FAULT_BARRIER_RETURNED, .thread = w->thread,
                               .other = w->returned_thread, .place = self->place});
    if (w->at_barrier == 0) {
        w->barrier = self->place;
        w->barrier_thread = w->thread;
    } else if (!same_place(w->barrier, self->place)) {
        report(w,
               (simt_fault){FAULT_BARRIER_PLACES, .thread = w->barrier_thread, .other = w->thread,
                            .place = w->barrier, .other_place = self->place});
    }
    self->state = AT_BARRIER;
    if (++w->at_barrier == w->threads) {
        w->at_barrier = 0;
        for (uint32_t i = 0; i < w->threads; i++) make_ready(w, i);
    }
    park(w, self);
}

// Faults if the lanes that `self` names cannot all come.
static void check_mask(simt_worker *w, const simt_warp *warp, const simt_fibre *self, uint32_t lane)
{
    simt_fault fault = {.thread = w->thread, .place = self->place, .mask = self->mask};
    uint32_t base = w->thread - lane;
    uint32_t absent = self->mask & ~warp->present, returned = self->mask & warp->returned;
    if (!(self->mask >> lane & 1)) {
        fault.kind = FAULT_MASK_CALLER;
    } else if (absent) {
        fault.kind = FAULT_MASK_ABSENT;
        fault.other = base + (uint32_t)__builtin_ctz(absent);
    } else if (returned) {
        fault.kind = FAULT_MASK_RETURNED;
        fault.other = base + (uint32_t)__builtin_ctz(returned);
    }
    if (fault.kind) report(w, fault);
}

// The open operation that this lane joins, opened if it is the first. Two lanes that name one
// another but wait in different operations would wait for good.
static simt_operation *join_operation(simt_worker *w, simt_warp *warp, const simt_fibre *self,
                                      uint32_t lane, uint32_t bytes)
{
    simt_operation *mine = NULL;
    for (int i = 0; i < warp->open; i++) {
        simt_operation *o = &warp->operations[i];
        if (o->mask == self->mask && o->bytes == bytes && same_place(o->place, self->place)) {
            mine = o;
        } else if ((o->mask >> lane & 1) && (o->arrived & self->mask)) {
            uint32_t other = w->thread - lane + (uint32_t)__builtin_ctz(o->arrived & self->mask);
            report(w, (simt_fault){FAULT_WARP_DISAGREES, .thread = other, .other = w->thread,
                                   .place = o->place, .other_place = self->place, .mask = o->mask,
                                   .other_mask = self->mask});
        }
    }
    if (!mine) {
        mine = &warp->operations[warp->open++];
        *mine = (simt_operation){.mask = self->mask, .bytes = bytes, .place = self->place};
    }
    mine->arrived |= 1u << lane;
    return mine;
}

// All lanes are here: gathers what they brought, hands it out and makes the others ready.
static void complete(simt_worker *w, simt_warp *warp, simt_operation *operation, uint32_t lane)
{
    simt_fibre *lanes = &w->fibres[w->thread - lane];
    uint32_t mask = operation->mask;
    size_t bytes = operation->bytes;
    char *gathered = lanes[lane].all;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int i = __builtin_ctz(rest);
        memcpy(gathered + (size_t)i * bytes, lanes[i].mine, bytes);
    }
    size_t used = bytes * (size_t)(32 - __builtin_clz(mask));
    for (uint32_t rest = mask & ~(1u << lane); rest; rest &= rest - 1) {
        int i = __builtin_ctz(rest);
        memcpy(lanes[i].all, gathered, used);
        make_ready(w, w->thread - lane + (uint32_t)i);
    }
    *operation = warp->operations[--warp->open];
}

static void warp_exchange(uint32_t mask, const void *mine, uint32_t bytes, void *all,
                          const char *file, int line)
{
    simt_worker *w = current;
    if (w->threads == 1) {
        memcpy(all, mine, bytes);
        return;
    }
    simt_fibre *self = stop_at(w, file, line);
    uint32_t lane = w->thread % SIMT_LANES;
    simt_warp *warp = &w->warps[w->thread / SIMT_LANES];
    self->mask = mask;
    self->mine = mine;
    self->all = all;
    check_mask(w, warp, self, lane);
    simt_operation *operation = join_operation(w, warp, self, lane, bytes);
    if (operation->arrived != mask) {
        self->state = IN_WARP;
        park(w, self);
        return;
    }
    complete(w, warp, operation, lane);
    if (w->random) { // in order, the last lane to come just goes on
        make_ready(w, w->thread);
        park(w, self);
    }
}

static void spin_pause(void)
{
    simt_worker *w = current;
    if (w->threads == 1) {
        if (!simt_worker_wait(w)) _longjmp(w->escape, 1);
        return;
    }
    simt_fibre *self = w->running;
    bool all_spin = ++w->spinning > w->ready_count;
    make_ready(w, w->thread);
    if (!all_spin) {
        park(w, self);
        return;
    }
    w->spinning = 0;
    go_to_scheduler(w, self, ASKS_PAUSE);
}

// ---- signals ------------------------------------------------------------------------------------
void simt_block_trap(simt_fault_kind kind)
{
    simt_worker *w = current;
    if (!w) return;
    simt_fault fault = {.kind = kind, .thread = w->threads == 1 ? 0 : w->thread};
    if (w->threads > 1) { // the handler may be on another stack than the fibre: it does not go on
        w->fault = fault;
        w->request = ASKS_STOP;
        w->running->state = RETURNED;
        simt_switch_leave(&w->running->context, &w->scheduler);
    }
    fault.block = w->block;
    simt_fault_text(&fault, w->message, sizeof w->message);
    w->trapped = true;
    _longjmp(w->escape, 1);
}

bool simt_block_ask(uintptr_t at, bool owns_nothing)
{
    simt_worker *w = current;
    if (!w || w->polls) return true;
    if (!owns_nothing && at - (uintptr_t)w->code >= w->code_bytes) return false;
    if (w->threads > 1)
        go_to_scheduler(w, w->running, ASKS_POLL);
    else if (simt_worker_stopped(w))
        _longjmp(w->escape, 1);
    return true;
}

const simt_api simt_runtime = {
    .size = sizeof(simt_api),
    .thread_id = thread_id,
    .block_id = block_id,
    .block_count = block_count,
    .block_sync = block_sync,
    .warp_exchange = warp_exchange,
    .spin_pause = spin_pause,
};

// ---- a block ------------------------------------------------------------------------------------
// The kernel's function returned: whoever counts on this thread waits in vain.
static void check_return(simt_worker *w, const simt_fibre *self)
{
    uint32_t lane = w->thread % SIMT_LANES;
    const simt_warp *warp = &w->warps[w->thread / SIMT_LANES];
    if (!simt_canary_alive(self))
        report(w, (simt_fault){FAULT_STACK, .thread = w->thread, .place = self->place});
    if (w->at_barrier > 0)
        report(w, (simt_fault){FAULT_BARRIER_RETURNED, .thread = w->barrier_thread,
                               .other = w->thread, .place = w->barrier});
    for (int i = 0; i < warp->open; i++) {
        const simt_operation *o = &warp->operations[i];
        if (o->mask >> lane & 1)
            report(w, (simt_fault){FAULT_MASK_RETURNED,
                                   .thread = w->thread - lane + (uint32_t)__builtin_ctz(o->arrived),
                                   .other = w->thread, .place = o->place, .mask = o->mask});
    }
}

SIMT_UNSEEN static void fibre_main(void *worker)
{
    simt_worker *w = worker;
    simt_fibre *self = w->running;
    self->started = true;
    w->launch->function(w->launch->args, w->shared);
    check_return(w, self);
    self->state = RETURNED;
    w->warps[w->thread / SIMT_LANES].returned |= 1u << w->thread % SIMT_LANES;
    w->returned_thread = w->thread;
    w->spinning = 0;
    w->live--;
    simt_fibre *next = take_ready(w);
    w->request = ASKS_NOTHING;
    simt_switch_leave(&self->context, next ? &next->context : &w->scheduler);
}

static void begin_fibres(simt_worker *w)
{
    w->live = w->threads;
    w->at_barrier = w->spinning = w->ready_head = w->ready_count = 0;
    w->abandoned = false;
    w->request = ASKS_NOTHING;
    w->fault.kind = FAULT_NONE;
    for (uint32_t i = 0; i < w->threads; i++) {
        simt_fibre *f = &w->fibres[i];
        f->started = false;
        f->place = (simt_place){NULL, 0};
        // Stacks a round number of pages apart would compete for the same few lines of the cache.
        size_t size = w->stack_bytes - i % 16 * 256;
        simt_switch_prepare(&f->context, f->stack, size, fibre_main, w);
        make_ready(w, i);
    }
    for (uint32_t i = 0; i * SIMT_LANES < w->threads; i++) {
        uint32_t rest = w->threads - i * SIMT_LANES;
        w->warps[i].present = rest >= SIMT_LANES ? 0xffffffffu : (1u << rest) - 1;
        w->warps[i].returned = 0;
        w->warps[i].open = 0;
    }
}

// Lets every fibre that is inside the kernel leave, so that nothing keeps a hold on its stack.
static void abandon_fibres(simt_worker *w)
{
    w->abandoned = true;
    for (uint32_t i = 0; i < w->threads; i++) {
        simt_fibre *f = &w->fibres[i];
        if (f->started && f->state != RETURNED) simt_switch_to(&w->scheduler, &f->context);
        simt_switch_forget(&f->context);
        simt_canary_arm(f);
    }
}

// Nobody can run. Some thread is in a warp operation: at a barrier alone, all would have been let
// go, and a thread that returned has been reported.
static void find_deadlock(simt_worker *w)
{
    uint32_t stuck = 0;
    while (w->fibres[stuck].state != IN_WARP) stuck++;
    const simt_fibre *f = &w->fibres[stuck];
    const simt_warp *warp = &w->warps[stuck / SIMT_LANES];
    uint32_t missing = f->mask;
    for (int i = 0; i < warp->open; i++) {
        const simt_operation *o = &warp->operations[i];
        if (o->mask == f->mask && same_place(o->place, f->place)) missing &= ~o->arrived;
    }
    uint32_t other = stuck - stuck % SIMT_LANES + (uint32_t)__builtin_ctz(missing);
    w->fault = (simt_fault){FAULT_DEADLOCK,
                            .thread = stuck,
                            .place = f->place,
                            .mask = f->mask,
                            .other = other,
                            .other_place = w->fibres[other].place,
                            .at_barrier = w->at_barrier,
                            .barrier = w->barrier};
}

static cubc_status run_fibres(simt_worker *w)
{
    cubc_status status = CUBC_OK;
    begin_fibres(w);
    while (w->live > 0 && status == CUBC_OK) {
        // A fibre that was interrupted in the middle of a kernel continues first, so that no other
        // sees that it stopped.
        simt_fibre *next = w->request == ASKS_POLL ? w->running : take_ready(w);
        w->request = ASKS_NOTHING;
        if (next)
            simt_switch_to(&w->scheduler, &next->context);
        else
            find_deadlock(w);

        if (w->fault.kind)
            status = CUBC_KERNEL_FAULT;
        else if (w->request == ASKS_PAUSE ? !simt_worker_wait(w) : simt_worker_stopped(w))
            status = CUBC_INTERRUPTED;
    }
    if (status == CUBC_KERNEL_FAULT) {
        w->fault.block = w->block;
        w->fault.threads = w->threads;
        w->fault.stack_kib = SIMT_STACK_KIB;
        simt_fault_text(&w->fault, w->message, sizeof w->message);
    }
    if (w->live > 0) abandon_fibres(w);
    return status;
}

static uint64_t mix(uint64_t x) // splitmix64
{
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

cubc_status simt_block_run(simt_worker *w, uint32_t block, uint64_t seed)
{
    w->block = block;
    w->pauses = 0;
    if (w->threads == 1) {
        w->thread = 0;
        w->launch->function(w->launch->args, w->shared);
        return CUBC_OK;
    }
    w->random = seed ? mix(seed ^ mix(block)) | 1 : 0; // of the block, whichever worker runs it
    memset(w->shared, SHARED_FILL, w->launch->shared_bytes);
    return run_fibres(w);
}

void simt_worker_begin(simt_worker *w, const simt_launch *launch)
{
    w->launch = launch;
    w->grid = launch->grid;
    w->threads = launch->threads;
    w->code = launch->code;
    w->code_bytes = launch->code_bytes;
    w->next_poll = w->is_caller ? now_seconds() + 0.05 : 0;
#if SIMT_ASAN // exactly the storage asked for can be touched
    ASAN_UNPOISON_MEMORY_REGION(w->shared, w->shared_capacity);
    ASAN_POISON_MEMORY_REGION(w->shared + launch->shared_bytes,
                              w->shared_capacity - launch->shared_bytes);
#endif
    current = w;
}

void simt_worker_end(simt_worker *w)
{
#if SIMT_ASAN
    ASAN_UNPOISON_MEMORY_REGION(w->shared, w->shared_capacity);
#endif
    w->launch = NULL;
    current = NULL;
}
