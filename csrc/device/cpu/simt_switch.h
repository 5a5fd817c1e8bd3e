// Switching between stacks: the one part of the CPU device that needs assembly.
//
// A context is a stack that is parked somewhere; simt_switch_to parks the running one and continues
// another. On x86-64 and aarch64 this is about ten instructions that save what the calling
// convention says a function must keep, floating-point control included; elsewhere ucontext does
// it, which is correct everywhere but makes a system call. Under AddressSanitizer every switch is
// announced, so that its idea of the stack's bounds stays true; under ThreadSanitizer, so that it
// takes each fibre for a thread of its own.
#ifndef CUBC_SIMT_SWITCH_H
#define CUBC_SIMT_SWITCH_H

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define SIMT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIMT_ASAN 1
#endif
#endif
#ifndef SIMT_ASAN
#define SIMT_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__)
#define SIMT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SIMT_TSAN 1
#endif
#endif
#ifndef SIMT_TSAN
#define SIMT_TSAN 0
#endif

// For a function that a fibre never returns from: ThreadSanitizer keeps a list of the functions
// that a thread is in, and a fibre that starts again would lengthen it without end.
#if !SIMT_TSAN
#define SIMT_UNSEEN
#elif defined(__clang__)
#define SIMT_UNSEEN __attribute__((disable_sanitizer_instrumentation))
#else
#define SIMT_UNSEEN __attribute__((no_sanitize("thread")))
#endif

#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(SIMT_SWITCH_PORTABLE)
#define SIMT_SWITCH_ASSEMBLY 1
#else
#define SIMT_SWITCH_ASSEMBLY 0
#include <ucontext.h>
#endif

typedef struct simt_context {
#if SIMT_SWITCH_ASSEMBLY
    void *sp; // everything else that must survive is on the stack it points to
#else
    ucontext_t machine;
#endif
    void (*entry)(void *argument);
    void *argument;
#if SIMT_ASAN
    struct simt_context *from; // who switched here last
    void *fake_stack;
    const void *stack; // bounds; those of a thread's own stack are learnt when it switches away
    size_t size;
#endif
#if SIMT_TSAN
    void *fiber; // of a thread's own stack: learnt when it switches away
    int own;     // made here
#endif
} simt_context;

// Makes `c` start entry(argument) on the given stack when it is first switched to. entry must not
// return: it ends in simt_switch_leave. Preparing a parked context again forgets where it was.
void simt_switch_prepare(simt_context *c, void *stack, size_t size, void (*entry)(void *argument),
                         void *argument);
// For a context that was prepared: before its memory is freed, and after it was left from the depth
// of some functions.
void simt_switch_forget(simt_context *c);
// Parks the running context in `from` (filled in here) and continues `to`.
void simt_switch_to(simt_context *from, simt_context *to);
// The same for a context that is not coming back.
_Noreturn void simt_switch_leave(simt_context *from, simt_context *to);

#endif
