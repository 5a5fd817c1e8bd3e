// Finds in compiled code the instructions that may raise SIGFPE or SIGILL: divisions of integers,
// and those that compilers put where a program must not come.
//
// A launch takes over two signals for a kernel that has such an instruction (simt_signal.h), which
// costs four system calls, as much as a small kernel itself. Their bytes are common inside others,
// as in the distance of a jump, so code is read instruction by instruction.
#ifndef CUBC_CPU_TRAPS_H
#define CUBC_CPU_TRAPS_H

#include "base/base.h"

// Length of the first instruction; 0: unknown, or it does not end within `size` bytes. *traps: it
// may raise one of the signals.
size_t cpu_instruction(const uint8_t *code, size_t size, bool *traps);
// True also if some instruction is unknown. `code` begins with an instruction.
bool cpu_may_trap(const uint8_t *code, size_t size);

#endif
