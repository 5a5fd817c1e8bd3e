// One worker of simt.h and what it does with one block: fibres, barriers, warp operations, faults.
//
// simt.c owns the operating-system threads and hands out blocks; a worker runs one at a time and
// never touches another worker. All memory is reserved before a launch begins, so that nothing that
// runs in a block can fail for want of it.
#ifndef CUBC_SIMT_BLOCK_H
#define CUBC_SIMT_BLOCK_H

#include "device/cpu/simt.h"
#include "device/cpu/simt_fault.h"
#include "device/cpu/simt_switch.h"

#include <setjmp.h>
#include <stdatomic.h>

// The model of thread-local variables that signal handlers may use: the default one may allocate at
// a thread's first use. glibc has room for a few words of it in modules that are loaded late.
#if defined(__GLIBC__)
#define SIMT_FAST_TLS __attribute__((tls_model("initial-exec")))
#else
#define SIMT_FAST_TLS
#endif

enum {
    SIMT_MAX_THREADS = 1024,
    SIMT_LANES = 32,
    SIMT_STACK_KIB = SIMT_ASAN ? 256 : 64, // for a thread of a kernel; signals have more below it
    SIMT_HANDLER_KIB = SIMT_ASAN ? 32 : 4  // for a handler and what it calls
};

typedef enum simt_fibre_state { RUNNABLE = 0, AT_BARRIER, IN_WARP, RETURNED } simt_fibre_state;

typedef struct simt_fibre {
    simt_context context;
    char *stack; // its low end, where the canary is
    simt_fibre_state state;
    bool started;
    simt_place place; // where it waits
    uint32_t mask;    // of the warp operation it waits in
    const void *mine;
    void *all;
} simt_fibre;

// A warp operation that some of its lanes have reached. Those of one warp that are open at the same
// time differ in mask or place, and each holds a lane, so there are never more than lanes.
typedef struct simt_operation {
    uint32_t mask, arrived, bytes;
    simt_place place;
} simt_operation;

typedef struct simt_warp {
    uint32_t present, returned; // lanes that the block has, and those of them that have returned
    int open;
    simt_operation operations[SIMT_LANES];
} simt_warp;

typedef struct simt_worker {
    // The block that runs.
    uint32_t thread, block, grid, threads;
    const simt_launch *launch;
    simt_fibre *running;
    uint32_t live;       // threads that have not returned
    uint32_t at_barrier; // threads that wait there, the first of them at `barrier`
    simt_place barrier;
    uint32_t barrier_thread, returned_thread;
    uint32_t spinning; // calls of spin_pause since anything else happened
    uint32_t switches;
    enum { ASKS_NOTHING = 0, ASKS_PAUSE, ASKS_POLL, ASKS_STOP } request; // of a fibre
    bool abandoned; // fibres that are resumed must leave
    simt_fault fault;
    uint16_t ready[SIMT_MAX_THREADS]; // ring of threads that can run
    uint32_t ready_head, ready_count;
    uint64_t random; // 0: in order
    unsigned pauses; // how long this worker has been waiting for others

    // The launch.
    const void *code; // instructions of the kernel
    size_t code_bytes;
    atomic_bool *stop;  // set when the launch is to be abandoned
    atomic_bool *asked; // set here when the user interrupted
    bool polls;         // Python's handlers may run
    bool is_caller;     // only the calling thread may ask whether the user interrupted
    double next_poll;
    jmp_buf escape; // out of a block of one thread
    bool trapped;   // it left that way because of a fault; message says which
    char message[768];

    // Kept between launches.
    simt_context scheduler;
    simt_fibre *fibres;
    simt_warp *warps;
    char *stacks;
    size_t stack_bytes, stack_stride, stacks_bytes;
    size_t stack_reserve; // a fibre that stops with less left has overflowed
    uint32_t stack_count, guard_count;
    void *shared_memory;
    uint8_t *shared;
    size_t shared_capacity;
} simt_worker;

// ---- simt_worker.c: what a worker keeps, and how it waits ---------------------------------------
// Room for blocks of that many threads and bytes of shared storage.
cubc_status simt_worker_reserve(simt_worker *w, unsigned threads, size_t shared_bytes);
void simt_worker_close(simt_worker *w); // frees what the worker holds, not *w
// True if the launch is to be abandoned. Polls for Ctrl-C about 20 times a second.
bool simt_worker_stopped(simt_worker *w);
// Lets other blocks run, for longer the longer this one has waited. False: the wait is to end.
bool simt_worker_wait(simt_worker *w);
// Bytes of a stack that a kernel leaves to signals: their frames hold all registers of the machine.
size_t simt_stack_reserve(void);
// A known pattern at the low end of a stack tells whether the kernel has gone beyond it.
void simt_canary_arm(simt_fibre *f);
bool simt_canary_alive(const simt_fibre *f);

// ---- simt_block.c: one block --------------------------------------------------------------------
// Between begin and end the thread that calls is this worker. A block of one thread may leave
// through w->escape, which the caller of simt_block_run has set.
void simt_worker_begin(simt_worker *w, const simt_launch *launch);
void simt_worker_end(simt_worker *w);
// For signal handlers. Ends the block of this thread with a fault; returns if it runs none.
void simt_block_trap(simt_fault_kind kind);
// Ends the block of this thread if the launch is to be abandoned. Returns false if the thread is
// outside of the kernel's code and has to be asked again soon. `at`: the address of the instruction
// that was interrupted. `owns_nothing`: the instruction is in a function that holds no lock and no
// memory, so that it may be left as the kernel's code may.
bool simt_block_ask(uintptr_t at, bool owns_nothing);
// CUBC_KERNEL_FAULT: w->message says what happened. CUBC_INTERRUPTED: the launch was stopped.
cubc_status simt_block_run(simt_worker *w, uint32_t block, uint64_t seed);

#endif
