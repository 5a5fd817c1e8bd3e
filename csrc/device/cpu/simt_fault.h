// The faults of a kernel on the CPU device, and the sentence for each.
#ifndef CUBC_SIMT_FAULT_H
#define CUBC_SIMT_FAULT_H

#include <stddef.h>
#include <stdint.h>

typedef struct simt_place { // in a kernel's source
    const char *file;       // NULL: nowhere yet
    int line;
} simt_place;

typedef enum simt_fault_kind {
    FAULT_NONE = 0,
    FAULT_BARRIER_RETURNED, // `thread` waits at a barrier, `other` has returned
    FAULT_BARRIER_PLACES,   // `thread` and `other` wait at different barriers
    FAULT_MASK_CALLER,      // the mask of `thread` leaves itself out
    FAULT_MASK_ABSENT,      // the mask of `thread` names `other`, which the block does not have
    FAULT_MASK_RETURNED,    // the mask of `thread` names `other`, which has returned
    FAULT_WARP_DISAGREES,   // `thread` and `other` wait for one another in different operations
    FAULT_STACK,            // `thread` has used up its stack
    FAULT_DIVISION,         // `thread` divided an integer by zero (or its least value by -1)
    FAULT_IMPOSSIBLE,       // `thread` came where the compiler saw that none may come
    FAULT_DEADLOCK          // `thread` waits in a warp operation for `other`, which waits elsewhere
} simt_fault_kind;

typedef struct simt_fault {
    simt_fault_kind kind;
    uint32_t block, threads; // threads: in a block
    uint32_t thread, other;  // in the block
    simt_place place, other_place;
    uint32_t mask, other_mask;
    uint32_t at_barrier; // for a deadlock: how many threads wait at `barrier`
    simt_place barrier;
    int stack_kib;
} simt_fault;

void simt_fault_text(const simt_fault *f, char *to, size_t size);

#endif
