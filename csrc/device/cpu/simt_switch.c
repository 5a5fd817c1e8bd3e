// The context switch of simt_switch.h.
#include "device/cpu/simt_switch.h"

#include <stdint.h>
#include <string.h>

static void begin(simt_context *c); // runs first on a new stack

// ---- the machine's part -------------------------------------------------------------------------
#if SIMT_SWITCH_ASSEMBLY

// Saves the callee-saved registers on the running stack, its pointer in *save, and continues the
// stack `load`, which was left the same way or built by simt_switch_prepare.
void simt_switch_stack(void **save, void *load);
void simt_switch_start(void); // where a new stack begins; an address, not a function to call

#define STRING_(x) #x
#define STRING(x) STRING_(x)
#define SYMBOL(name) STRING(__USER_LABEL_PREFIX__) #name
#if defined(__ELF__)
#define BEGIN(name)                                                                     \
    ".hidden " SYMBOL(name) "\n.type " SYMBOL(name) ", %function\n"                     \
                                                    ".globl " SYMBOL(name) "\n" SYMBOL( \
                                                        name) ":\n.cfi_startproc\n"
#define END(name) ".cfi_endproc\n.size " SYMBOL(name) ", .-" SYMBOL(name) "\n"
#else
#define BEGIN(name)                                                                       \
    ".private_extern " SYMBOL(name) "\n.globl " SYMBOL(name) "\n" SYMBOL(name) ":\n.cfi_" \
                                                                               "startproc\n"
#define END(name) ".cfi_endproc\n"
#endif

#if defined(__x86_64__)

// System V: rbx, rbp, r12 to r15, and the control bits of mxcsr and of the x87 unit. It ends in a
// `ret`, not a jump: most fibres are parked at the same call, so the processor's guess is right.
__asm__(".text\n.p2align 4\n" BEGIN(
    simt_switch_stack) "pushq %rbp\n"
                       "pushq %rbx\n"
                       "pushq %r12\n"
                       "pushq %r13\n"
                       "pushq %r14\n"
                       "pushq %r15\n"
                       "subq $8, %rsp\n"
                       "stmxcsr (%rsp)\n"
                       "fnstcw 4(%rsp)\n"
                       "movq %rsp, (%rdi)\n"
                       "movq %rsi, %rsp\n"
                       "ldmxcsr (%rsp)\n"
                       "fldcw 4(%rsp)\n"
                       "addq $8, %rsp\n"
                       "popq %r15\n"
                       "popq %r14\n"
                       "popq %r13\n"
                       "popq %r12\n"
                       "popq %rbx\n"
                       "popq %rbp\n"
                       "ret\n" END(simt_switch_stack)
                           BEGIN(simt_switch_start) ".cfi_undefined rip\n" // a debugger's backtrace
                                                                           // ends here
                                                    "movq %r12, %rdi\n"
                                                    "callq *%r13\n"
                                                    "ud2\n" END(simt_switch_start));

enum { FRAME_WORDS = 8, FRAME_CONTROL = 0, FRAME_R13 = 3, FRAME_R12 = 4, FRAME_RETURN = 7 };

static void *first_frame(uint64_t *top, simt_context *c)
{
    uint64_t *frame = top - FRAME_WORDS;
    uint32_t mxcsr;
    uint16_t x87;
    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    memset(frame, 0, FRAME_WORDS * sizeof *frame);
    frame[FRAME_CONTROL] = mxcsr | (uint64_t)x87 << 32;
    frame[FRAME_R12] = (uint64_t)(uintptr_t)c;
    frame[FRAME_R13] = (uint64_t)(uintptr_t)begin;
    frame[FRAME_RETURN] = (uint64_t)(uintptr_t)simt_switch_start;
    return frame;
}

#elif defined(__aarch64__)

// AAPCS64: x19 to x30, d8 to d15, and fpcr.
__asm__(".text\n.p2align 4\n" BEGIN(
    simt_switch_stack) "sub sp, sp, #176\n"
                       "stp x19, x20, [sp, #0]\n"
                       "stp x21, x22, [sp, #16]\n"
                       "stp x23, x24, [sp, #32]\n"
                       "stp x25, x26, [sp, #48]\n"
                       "stp x27, x28, [sp, #64]\n"
                       "stp x29, x30, [sp, #80]\n"
                       "stp d8, d9, [sp, #96]\n"
                       "stp d10, d11, [sp, #112]\n"
                       "stp d12, d13, [sp, #128]\n"
                       "stp d14, d15, [sp, #144]\n"
                       "mrs x9, fpcr\n"
                       "str x9, [sp, #160]\n"
                       "mov x9, sp\n"
                       "str x9, [x0]\n"
                       "mov sp, x1\n"
                       "ldr x9, [sp, #160]\n"
                       "msr fpcr, x9\n"
                       "ldp d14, d15, [sp, #144]\n"
                       "ldp d12, d13, [sp, #128]\n"
                       "ldp d10, d11, [sp, #112]\n"
                       "ldp d8, d9, [sp, #96]\n"
                       "ldp x29, x30, [sp, #80]\n"
                       "ldp x27, x28, [sp, #64]\n"
                       "ldp x25, x26, [sp, #48]\n"
                       "ldp x23, x24, [sp, #32]\n"
                       "ldp x21, x22, [sp, #16]\n"
                       "ldp x19, x20, [sp, #0]\n"
                       "add sp, sp, #176\n"
                       "ret\n" END(simt_switch_stack)
                           BEGIN(simt_switch_start) ".cfi_undefined x30\n" // a debugger's backtrace
                                                                           // ends here
                                                    "mov x0, x19\n"
                                                    "blr x20\n"
                                                    "brk #1\n" END(simt_switch_start));

enum { FRAME_WORDS = 22, FRAME_X19 = 0, FRAME_X20 = 1, FRAME_X30 = 11, FRAME_FPCR = 20 };

static void *first_frame(uint64_t *top, simt_context *c)
{
    uint64_t *frame = top - FRAME_WORDS;
    uint64_t fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    memset(frame, 0, FRAME_WORDS * sizeof *frame);
    frame[FRAME_X19] = (uint64_t)(uintptr_t)c;
    frame[FRAME_X20] = (uint64_t)(uintptr_t)begin;
    frame[FRAME_X30] = (uint64_t)(uintptr_t)simt_switch_start;
    frame[FRAME_FPCR] = fpcr;
    return frame;
}
#endif

static void machine_prepare(simt_context *c, char *stack, size_t size)
{
    uintptr_t top = ((uintptr_t)stack + size) & ~(uintptr_t)15;
    c->sp = first_frame((uint64_t *)top, c);
}

static void machine_switch(simt_context *from, simt_context *to)
{
    simt_switch_stack(&from->sp, to->sp);
}

#else

static void begin_unpacked(unsigned high, unsigned low) // makecontext passes nothing but ints
{
    begin((simt_context *)(uintptr_t)((uint64_t)high << 32 | low));
}

static void machine_prepare(simt_context *c, char *stack, size_t size)
{
    uint64_t address = (uintptr_t)c;
    getcontext(&c->machine);
    c->machine.uc_stack.ss_sp = stack;
    c->machine.uc_stack.ss_size = size;
    c->machine.uc_link = NULL;
    makecontext(&c->machine, (void (*)(void))begin_unpacked, 2, (unsigned)(address >> 32),
                (unsigned)address);
}

static void machine_switch(simt_context *from, simt_context *to)
{
    swapcontext(&from->machine, &to->machine);
}
#endif

// ---- what sanitizers must know ------------------------------------------------------------------
#if SIMT_TSAN
#include <sanitizer/tsan_interface.h>

SIMT_UNSEEN static void depart(simt_context *from, simt_context *to, void **unused)
{
    (void)unused;
    if (!from->own) from->fiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(to->fiber, 0);
}
#define arrive(self) ((void)0)
#elif SIMT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

static void depart(simt_context *from, simt_context *to, void **fake_stack)
{
    to->from = from;
    __sanitizer_start_switch_fiber(fake_stack, to->stack, to->size);
}

__attribute__((no_sanitize_address)) static void arrive(simt_context *self)
{
    const void *stack;
    size_t size;
    __sanitizer_finish_switch_fiber(self->fake_stack, &stack, &size);
    self->fake_stack = NULL;
    if (!self->from->stack) {
        self->from->stack = stack;
        self->from->size = size;
    }
}
#else
#define depart(from, to, fake_stack) ((void)0)
#define arrive(self) ((void)0)
#endif

#if SIMT_ASAN
#define FAKE_STACK(context) (&(context)->fake_stack)
#else
#define FAKE_STACK(context) NULL
#endif

// ---- the contract ------------------------------------------------------------------------------
SIMT_UNSEEN static void begin(simt_context *c)
{
    arrive(c);
    c->entry(c->argument);
}

void simt_switch_forget(simt_context *c)
{
    (void)c;
#if SIMT_TSAN
    if (c->own) __tsan_destroy_fiber(c->fiber);
    c->own = 0;
#endif
}

void simt_switch_prepare(simt_context *c, void *stack, size_t size, void (*entry)(void *argument),
                         void *argument)
{
    c->entry = entry;
    c->argument = argument;
#if SIMT_ASAN
    __asan_unpoison_memory_region(stack, size); // red zones of frames that were never left
    c->fake_stack = NULL;
    c->stack = stack;
    c->size = size;
#endif
#if SIMT_TSAN // it costs half a millisecond
    if (!c->own) c->fiber = __tsan_create_fiber(0);
    c->own = 1;
#endif
    machine_prepare(c, stack, size);
}

void simt_switch_to(simt_context *from, simt_context *to)
{
    depart(from, to, FAKE_STACK(from));
    machine_switch(from, to);
    arrive(from);
}

SIMT_UNSEEN _Noreturn void simt_switch_leave(simt_context *from, simt_context *to)
{
    depart(from, to, NULL); // NULL: its fake stack is given back
    machine_switch(from, to);
    __builtin_unreachable();
}
