// Kernel dialect: the language of the kernels, for either device.
//
// It is a C++17 subset that NVRTC, g++ and clang++ accept, without any standard or CUDA header, so
// that NVRTC compiles a variant in about 0.1 s. The core flattens the #includes of a kernel file
// into one text and prepends the variant as #defines:
//     SIMT_CUDA or SIMT_CPU  the device
//     SIMT_THREADS           threads in a block
//     SIMT_WARP              lanes in a warp: 32; 1 if SIMT_THREADS is 1 on the CPU
//     TUNE_...               the variant's parameters and the compile-time workload
//
// Rules for kernel code:
//  1. A kernel takes one by-value struct of 8-byte fields and one shared-storage struct.
//  2. No early return before the last barrier; a barrier is reached by all threads or by none.
//  3. Warp operations name their lanes in an explicit mask.
//  4. Code that waits for another block calls spin_pause() and takes its rank from an atomic
//     ticket: then the other block has always started, in whatever order blocks run.
//  5. No .cu file has an #if on the device. Where a single thread needs another algorithm, it is a
//     source of its own in cpu/. Where it only needs another size or loop, or never launches a
//     kernel, that is chosen by SIMT_SINGLE_THREAD.
//  6. Bools in arrays, fields and accumulators are bool8 (types.h): memory may hold any byte.
//  7. KERNEL waits for the previous launch, KERNEL_AHEAD does not: its body calls
//     wait_for_launch_before() before it uses that launch's results or overwrites its inputs.
//     KERNEL_BETWEEN neither waits nor lets the next launch begin: its body calls
//     let_next_launch_begin() too.
#pragma once

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

#define SIMT_SINGLE_THREAD (SIMT_THREADS == 1) // the CPU's own variants
#define FULL_WARP (SIMT_WARP == 32 ? 0xffffffffu : 1u)
static_assert(sizeof(u64) == 8 && sizeof(void*) == 8, "the dialect is 64-bit");

// KERNEL(name, args_t, shared_t) { ... } defines a kernel whose body sees its arguments as `a` and
// its block's shared storage (uninitialised) as `s`. The core reads both sizes from name_layout.
// FUNCTION marks the functions that a kernel calls (FUNCTION_MEMBER inside a struct). SLOW_FUNCTION
// marks those that are called rarely and from many places, which are not inlined.

#if defined(SIMT_CUDA)
#include "simt_cuda.h"
#elif defined(SIMT_CPU)
#include "simt_cpu.h"
#else
#error "define SIMT_CUDA or SIMT_CPU"
#endif

// A as its type if the condition holds, else B.
template <bool CONDITION, class A, class B>
struct chosen {
    typedef A type;
};
template <class A, class B>
struct chosen<false, A, B> {
    typedef B type;
};

struct no_shared { // storage of a kernel whose blocks share nothing
    u64 none;
};

FUNCTION u32 lane_id() { return thread_id() % SIMT_WARP; }
FUNCTION u32 warp_id() { return thread_id() / SIMT_WARP; }
#define SIMT_WARPS ((SIMT_THREADS + SIMT_WARP - 1) / SIMT_WARP)
