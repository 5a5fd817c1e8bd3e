// The dialect's words between devices and processes: memory that another GPU or another process
// reads and writes while a kernel runs, and time. A reader by load_acquire_system sees
// what was published with store_release_system, and all that was stored before it. A relaxed word
// is whole, and orders nothing else; each of a pair is one.
#pragma once
#include "simt.h"

struct alignas(16) word_pair {
    u64 word[2];
};

#if defined(SIMT_CUDA)
// Orders what this thread has stored or seen before what it stores after, for all devices.
FUNCTION void system_fence() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }
SIMT_LOAD(load_acquire_system, u64, "ld.acquire.sys.global.u64", "l")
SIMT_LOAD(load_relaxed_system, u64, "ld.relaxed.sys.global.u64", "l")
SIMT_STORE(store_release_system, u64, "st.release.sys.global.u64", "l")
SIMT_STORE(store_relaxed_system, u64, "st.relaxed.sys.global.u64", "l")
FUNCTION word_pair load_relaxed_system(const word_pair* p)
{
    word_pair v;
    asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(v.word[0]), "=l"(v.word[1])
                 : "l"(p)
                 : "memory");
    return v;
}
FUNCTION void store_relaxed_system(word_pair* p, word_pair v)
{
    asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(p), "l"(v.word[0]),
                 "l"(v.word[1])
                 : "memory");
}
FUNCTION u64 clock_nanoseconds()
{
    u64 v;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(v));
    return v;
}
#else
extern "C" int clock_gettime(int, i64*); // of seconds and nanoseconds
FUNCTION void system_fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
FUNCTION u64 load_acquire_system(const u64* p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
FUNCTION void store_release_system(u64* p, u64 v) { __atomic_store_n(p, v, __ATOMIC_RELEASE); }
FUNCTION u64 load_relaxed_system(const u64* p) { return __atomic_load_n(p, __ATOMIC_RELAXED); }
FUNCTION void store_relaxed_system(u64* p, u64 v) { __atomic_store_n(p, v, __ATOMIC_RELAXED); }
FUNCTION word_pair load_relaxed_system(const word_pair* p)
{
    return word_pair{{load_relaxed_system(p->word), load_relaxed_system(p->word + 1)}};
}
FUNCTION void store_relaxed_system(word_pair* p, word_pair v)
{
    for (int k = 0; k < 2; k++) store_relaxed_system(p->word + k, v.word[k]);
}
FUNCTION u64 clock_nanoseconds()
{
    i64 now[2];
    clock_gettime(1, now); // the monotonic clock
    return static_cast<u64>(now[0]) * 1000000000u + static_cast<u64>(now[1]);
}
#endif
