// Stores to the shared memory of the other blocks of a cluster, which count what has arrived.
//
// A counter, in shared memory, counts the bytes that the blocks of the cluster have sent to its
// block, in phases: a phase ends when all of its bytes are there. A kernel calls, in this order:
//     counter_open     one thread; cluster_begin (cluster.h) afterwards, by all threads
//     cluster_begun    all threads, before the first store to another block
//     counter_expect   one thread, once a phase: the bytes of the phase, of which some may have
//                      arrived already
//     cluster_send     any thread
//     counter_wait     any thread that reads what was sent; the phases are numbered from 0
// A block ends after the last phase of its counters, so that nobody writes to a block that has
// ended.
#pragma once
#include "cluster.h"

#if CLUSTERS
FUNCTION void counter_open(u64& counter)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                 "fence.mbarrier_init.release.cluster;" ::"r"(shared_address(&counter))
                 : "memory");
}
FUNCTION void counter_expect(u64& counter, u32 bytes)
{
    asm volatile("{.reg .b64 state;\n"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1;}" ::"r"(
                     shared_address(&counter)),
                 "r"(bytes)
                 : "memory");
}
FUNCTION void counter_wait(u64& counter, u32 phase)
{
    u32 all = 0;
    while (!all)
        asm volatile("{.reg .pred all;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 all, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, all;}"
                     : "=r"(all)
                     : "r"(shared_address(&counter)), "r"(phase & 1u)
                     : "memory");
}

// Stores a value at the place that has the address of `place` in another block.
FUNCTION void cluster_send(u32& place, u32 block, u32 value, u64& counter)
{
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                     address_in_block(shared_address(&place), block)),
                 "r"(value), "r"(address_in_block(shared_address(&counter), block))
                 : "memory");
}
FUNCTION void cluster_send(u64& place, u32 block, u64 value, u64& counter)
{
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%0], %1, [%2];" ::"r"(
                     address_in_block(shared_address(&place), block)),
                 "l"(value), "r"(address_in_block(shared_address(&counter), block))
                 : "memory");
}
#else
FUNCTION void counter_open(u64&) {}
FUNCTION void counter_expect(u64&, u32) {}
FUNCTION void counter_wait(u64&, u32) {}
template <class T>
FUNCTION void cluster_send(T&, u32, T, u64&)
{
}
#endif
