// Runs the threads of a kernel on the CPU: blocks over operating-system threads, the threads of a
// block as fibres that switch where the kernel synchronises.
//
// A block of one thread is a plain function call. In a larger block every thread is a fibre with a
// stack of its own; block_sync, warp_exchange and spin_pause (see kernels/dialect/simt.h) are its
// only switch points. With a seed the next fibre, and the order of blocks, is drawn at random, so
// that a missing barrier shows; without, threads run round-robin in order.
//
// Faults stop the launch and are reported with file, line, block and thread: a barrier reached by
// part of a block, a warp operation whose mask names an exited lane (or leaves the caller out), two
// lanes of one operation at different places, a deadlock, a stack overflow.
#ifndef CUBC_SIMT_H
#define CUBC_SIMT_H

#include "base/base.h"

// Handed to the compiled kernel; the same struct as in kernels/dialect/simt_cpu.h.
typedef struct simt_api {
    uint64_t size;
    uint32_t (*thread_id)(void);
    uint32_t (*block_id)(void);
    uint32_t (*block_count)(void);
    void (*block_sync)(const char *file, int line);
    void (*warp_exchange)(uint32_t mask, const void *mine, uint32_t bytes, void *all,
                          const char *file, int line);
    void (*spin_pause)(void);
} simt_api;
extern const simt_api simt_runtime;

typedef void (*simt_function)(const void *args, void *shared);

typedef struct simt_launch {
    simt_function function;
    const void *args;
    unsigned grid, threads; // threads: in a block, 1 to 1024
    size_t shared_bytes;    // a block's; filled with 0xCD when threads > 1
    const void *code;  // the instructions of the kernel's module: there an interrupt may end it
    size_t code_bytes; // 0: it ends between blocks, and where the kernel calls the runtime
    bool cannot_trap;  // no instruction of it raises SIGFPE or SIGILL
} simt_launch;

// A pool of worker threads (the caller of simt_run works too). seed 0: in order; else the seed of
// the random scheduler. workers: at least 1.
typedef struct simt_pool simt_pool;
cubc_status simt_pool_open(int workers, simt_pool **out);
void simt_pool_close(simt_pool *pool);
int simt_pool_workers(const simt_pool *pool);
void simt_pool_seed(simt_pool *pool, uint64_t seed);
// Returns when all blocks are done, a block faulted, or the user interrupted; then nobody runs a
// block of this launch any more, and its memory may be freed. An interrupt takes effect in the
// middle of a block, within some tenths of a second. One launch at a time a pool: concurrent
// callers queue. The signals that a launch uses are in simt_signal.h.
cubc_status simt_run(simt_pool *pool, const simt_launch *launch);

#endif
