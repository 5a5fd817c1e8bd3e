// The sentences of simt_fault.h.
#include "device/cpu/simt_fault.h"

#include <stdio.h>

enum { LANES = 32 };
#define AT "%s:%d"

static void deadlock_text(const simt_fault *f, char *to, size_t size)
{
    int used = snprintf(to, size,
                        "deadlock in block %u: thread %u waits in a warp operation at " AT
                        " (mask 0x%08x) for thread %u, which waits at " AT,
                        f->block, f->thread, f->place.file, f->place.line, f->mask, f->other,
                        f->other_place.file, f->other_place.line);
    if (f->at_barrier > 0 && used > 0 && (size_t)used < size)
        snprintf(to + used, size - (size_t)used,
                 "; the barrier at " AT " was reached by only %u of %u threads", f->barrier.file,
                 f->barrier.line, f->at_barrier, f->threads);
}

void simt_fault_text(const simt_fault *f, char *to, size_t size)
{
    const char *file = f->place.file;
    int line = f->place.line;
    switch (f->kind) {
    case FAULT_BARRIER_RETURNED:
        snprintf(to, size,
                 "the barrier at " AT " was reached by only part of block %u: thread %u waits "
                 "there, but thread %u has returned",
                 file, line, f->block, f->thread, f->other);
        break;
    case FAULT_BARRIER_PLACES:
        snprintf(
            to, size,
            "threads of block %u wait at different barriers: thread %u at " AT ", thread %u at " AT,
            f->block, f->thread, file, line, f->other, f->other_place.file, f->other_place.line);
        break;
    case FAULT_MASK_CALLER:
        snprintf(to, size,
                 "the mask 0x%08x of the warp operation at " AT
                 " leaves out its caller, lane %u (thread %u of block %u)",
                 f->mask, file, line, f->thread % LANES, f->thread, f->block);
        break;
    case FAULT_MASK_ABSENT:
        snprintf(to, size,
                 "the mask 0x%08x of the warp operation at " AT " (thread %u of block %u) names "
                 "lane %u, but the block has only %u threads",
                 f->mask, file, line, f->thread, f->block, f->other % LANES, f->threads);
        break;
    case FAULT_MASK_RETURNED:
        snprintf(to, size,
                 "the mask 0x%08x of the warp operation at " AT " (thread %u of block %u) names "
                 "lane %u, but thread %u has returned",
                 f->mask, file, line, f->thread, f->block, f->other % LANES, f->other);
        break;
    case FAULT_WARP_DISAGREES:
        snprintf(to, size,
                 "lanes of a warp of block %u wait for one another in different operations: thread "
                 "%u at " AT " with mask 0x%08x, thread %u at " AT " with mask 0x%08x",
                 f->block, f->thread, file, line, f->mask, f->other, f->other_place.file,
                 f->other_place.line, f->other_mask);
        break;
    case FAULT_STACK:
        snprintf(to, size,
                 "stack overflow in thread %u of block %u, seen at " AT ": a thread has %d KiB",
                 f->thread, f->block, file ? file : "its end", line, f->stack_kib);
        break;
    case FAULT_DIVISION:
        snprintf(to, size,
                 "thread %u of block %u divided an integer by zero (or the least integer by -1)",
                 f->thread, f->block);
        break;
    case FAULT_IMPOSSIBLE:
        snprintf(to, size,
                 "thread %u of block %u came to a trap: __builtin_trap(), or what can have no "
                 "result, as a division by a literal 0",
                 f->thread, f->block);
        break;
    case FAULT_DEADLOCK: deadlock_text(f, to, size); break;
    case FAULT_NONE: snprintf(to, size, "no fault"); break;
    }
}
