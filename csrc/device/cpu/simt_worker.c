// Keeps a worker's stacks and shared storage between launches, and waits for other workers.
#define _GNU_SOURCE
#include "base/integer.h"
#include "device/cpu/simt_block.h"

#include <sched.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>
#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

enum {
    CANARY_WORDS = 8,
    CANARY_BYTE = 0xC5,
    SHARED_ALIGNMENT = 64,
    // Guard pages cost two memory mappings each, of which a process has 65530 by default. Past
    // these, stacks rely on their canaries.
    MAX_GUARDS = 8192
};

static atomic_int guards; // of all workers

// ---- waiting for other blocks -------------------------------------------------------------------
bool simt_worker_stopped(simt_worker *w)
{
    if (atomic_load_explicit(w->stop, memory_order_relaxed)) return true;
    if (!w->is_caller) return false;
    double now = now_seconds();
    if (now < w->next_poll) return false;
    w->next_poll = now + 0.05;
    w->polls = true;
    const bool pending = interrupt_pending();
    w->polls = false;
    if (!pending) return false;
    atomic_store(w->asked, true);
    atomic_store(w->stop, true);
    return true;
}

static void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("pause");
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// The block waited for is most often running on another core and about to be done; else it needs
// this core; else it is slow and the core is better left to somebody.
bool simt_worker_wait(simt_worker *w)
{
    enum { BURST = 64, YIELDS = 64 };
    unsigned pauses = w->pauses++;
    if (pauses % BURST != BURST - 1) {
        cpu_relax();
        return !atomic_load_explicit(w->stop, memory_order_relaxed);
    }
    if (pauses < BURST * YIELDS) {
        sched_yield();
    } else {
        nap(50e-6);
        w->pauses -= BURST;
    }
    return !simt_worker_stopped(w);
}

// ---- stacks -------------------------------------------------------------------------------------
void simt_canary_arm(simt_fibre *f)
{
    memset(f->stack, CANARY_BYTE, 8 * CANARY_WORDS);
}

bool simt_canary_alive(const simt_fibre *f)
{
    static const unsigned char intact[8] = {CANARY_BYTE, CANARY_BYTE, CANARY_BYTE, CANARY_BYTE,
                                            CANARY_BYTE, CANARY_BYTE, CANARY_BYTE, CANARY_BYTE};
    for (int i = 0; i < CANARY_WORDS; i++)
        if (memcmp(f->stack + 8 * i, intact, 8) != 0) return false;
    return true;
}

// Two signals may come at once. Their frames take up to 4 KiB, and 8 more where the processor has
// registers for tiles of matrices, of which the system tells.
size_t simt_stack_reserve(void)
{
    size_t frame = 4096, page = (size_t)sysconf(_SC_PAGESIZE);
    if (getauxval(AT_MINSIGSTKSZ) > frame) frame = getauxval(AT_MINSIGSTKSZ);
    return round_up(SIMT_HANDLER_KIB * 1024 + 2 * frame, page);
}

static void free_stacks(simt_worker *w)
{
    if (w->stacks) munmap(w->stacks, w->stacks_bytes);
    atomic_fetch_sub(&guards, (int)w->guard_count);
    for (uint32_t i = 0; i < w->stack_count; i++) simt_switch_forget(&w->fibres[i].context);
    mem_free(w->fibres);
    mem_free(w->warps);
    w->stacks = NULL;
    w->fibres = NULL;
    w->warps = NULL;
    w->stack_count = w->guard_count = 0;
}

static void guard_stacks(simt_worker *w, size_t page)
{
    for (uint32_t i = 0; i < w->stack_count; i++) {
        if (atomic_fetch_add(&guards, 1) >= MAX_GUARDS ||
            mprotect(w->stacks + i * w->stack_stride, page, PROT_NONE) != 0) {
            atomic_fetch_sub(&guards, 1);
            return;
        }
        w->guard_count++;
    }
}

static cubc_status reserve_stacks(simt_worker *w, unsigned threads)
{
    free_stacks(w);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    w->stack_reserve = simt_stack_reserve();
    w->stack_bytes = SIMT_STACK_KIB * 1024 + w->stack_reserve;
    w->stack_stride = page + w->stack_bytes;
    w->stacks_bytes = threads * w->stack_stride;
    w->fibres = mem_zalloc(threads, sizeof *w->fibres);
    w->warps = mem_zalloc(ceil_div(threads, SIMT_LANES), sizeof *w->warps);
    if (!w->fibres || !w->warps) {
        free_stacks(w);
        return CUBC_NO_MEMORY;
    }
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef MAP_NORESERVE
    flags |= MAP_NORESERVE;
#endif
    char *stacks = mmap(NULL, w->stacks_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (stacks == MAP_FAILED) {
        free_stacks(w);
        FAIL(CUBC_NO_MEMORY, "out of host memory: %zu bytes for the stacks of %u threads",
             w->stacks_bytes, threads);
    }
#ifdef MADV_NOHUGEPAGE
    madvise(stacks, w->stacks_bytes, MADV_NOHUGEPAGE); // each stack needs a page or two
#endif
    w->stacks = stacks;
    w->stack_count = threads;
    guard_stacks(w, page);
    for (unsigned i = 0; i < threads; i++) {
        w->fibres[i].stack = stacks + i * w->stack_stride + page;
        simt_canary_arm(&w->fibres[i]);
    }
    return CUBC_OK;
}

// ---- shared storage -----------------------------------------------------------------------------
static cubc_status reserve_shared(simt_worker *w, size_t bytes)
{
    size_t capacity = (bytes / SHARED_ALIGNMENT + 2) * SHARED_ALIGNMENT; // some of it never used
    void *memory = mem_alloc(capacity + SHARED_ALIGNMENT, 1);
    if (!memory) return CUBC_NO_MEMORY;
    mem_free(w->shared_memory);
    w->shared_memory = memory;
    w->shared = (uint8_t *)round_up((uintptr_t)memory, SHARED_ALIGNMENT);
    w->shared_capacity = capacity;
    return CUBC_OK;
}

cubc_status simt_worker_reserve(simt_worker *w, unsigned threads, size_t shared_bytes)
{
    if (threads > 1 && threads > w->stack_count) TRY(reserve_stacks(w, threads));
    if (shared_bytes + SHARED_ALIGNMENT > w->shared_capacity) TRY(reserve_shared(w, shared_bytes));
    return CUBC_OK;
}

void simt_worker_close(simt_worker *w)
{
    free_stacks(w);
    mem_free(w->shared_memory);
    w->shared_memory = NULL;
}
