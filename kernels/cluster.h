// Messages between the blocks of a cluster: one block writes them into another's shared memory.
//
// The blocks of a cluster (compute capability 9.0 and up) run at the same time, and what one writes
// into the shared memory of another is there sooner than a message through the L2 cache. A launch
// whose whole grid is one cluster sends no other messages (message.h) and takes no tickets, for a
// block's rank is its index. TUNE_ORDER 2 asks for it; launches of more blocks than fit a cluster
// (instance_cluster), other devices and older compilers are as with 1.
//
// A block's inbox, in its shared memory, has a slot for each block, and counts the bytes that have
// arrived. In the order of a kernel:
//     inbox_open      all threads, at the beginning
//     cluster_ready   all threads, before the first message is sent: all blocks have started; does
//                     nothing where the launch is no cluster
//     inbox_send      a lane each, whatever this block has to say
//     inbox_wait      a warp; a block must not end before what is sent to it has arrived
//     inbox_value     any lane of that warp
#pragma once
#include "message.h"

// st.async came with CUDA 12.1.
#if defined(SIMT_CUDA) && __CUDA_ARCH__ >= 900 && \
    (__CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 1))
#define CLUSTERS (TUNE_ORDER == 2)
#else
#define CLUSTERS 0
#endif

enum { CLUSTER_BLOCKS = 16 }; // at most; csrc/device.h

// `EACH` messages of each block.
template <class V, int EACH = 1>
struct cluster_inbox {
    u64 arrived;
    message_bits<V> slot[CLUSTERS ? CLUSTER_BLOCKS * EACH : 1];
};

#if CLUSTERS
// Whether the launch is one cluster.
FUNCTION bool in_one_cluster()
{
    u32 blocks;
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
    return blocks > 1 && blocks == block_count();
}

FUNCTION u32 shared_address(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }
FUNCTION u32 address_in_block(u32 address, u32 block)
{
    u32 there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
    return there;
}

// `messages` will be sent; if none, nobody may wait.
template <class V, int EACH>
FUNCTION void inbox_open(cluster_inbox<V, EACH>& inbox, u32 messages)
{
    if (messages && thread_id() == 0) {
        const u32 arrived = shared_address(&inbox.arrived);
        const u32 bytes = messages * static_cast<u32>(sizeof(message_bits<V>));
        asm volatile("{.reg .b64 state;\n"
                     "mbarrier.init.shared::cta.b64 [%0], 1;\n"
                     "fence.mbarrier_init.release.cluster;\n"
                     "mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1;}" ::"r"(arrived),
                     "r"(bytes)
                     : "memory");
    }
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}

FUNCTION void cluster_ready()
{
    if (in_one_cluster()) asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

// Message `k` of the block's, to another block or itself.
template <class V, int EACH>
FUNCTION void inbox_send(cluster_inbox<V, EACH>& inbox, u32 to, V value, u32 k = 0)
{
    constexpr int words = message_words<V>();
    const u32 slot = address_in_block(shared_address(&inbox.slot[block_id() * EACH + k]), to);
    const u32 arrived = address_in_block(shared_address(&inbox.arrived), to);
    message_bits<V> bits;
    bits.word[words - 1] = 0;
    bits.value = value;
    UNROLL
    for (u32 w = 0; w < words; w++)
        asm volatile(
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                slot + 4 * w),
            "r"(bits.word[w]), "r"(arrived)
            : "memory");
}

// What was sent is ordered before this by its bytes' arrival. The scope is the block's, which
// spares the L1 cache: of other blocks' writes only those to the slots, in shared memory, can be
// relied on.
template <class V, int EACH>
FUNCTION void inbox_wait(const cluster_inbox<V, EACH>& inbox)
{
    u32 all = 0;
    while (!all)
        asm volatile("{.reg .pred all;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 all, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, all;}"
                     : "=r"(all)
                     : "r"(shared_address(&inbox.arrived))
                     : "memory");
}

// The message of that number; those of a block follow those of the block before it.
template <class V, int EACH>
FUNCTION V inbox_value(const cluster_inbox<V, EACH>& inbox, u32 number)
{
    return inbox.slot[number].value;
}
#else
FUNCTION bool in_one_cluster() { return false; }
FUNCTION void cluster_ready() {}
template <class V, int EACH>
FUNCTION void inbox_open(cluster_inbox<V, EACH>&, u32)
{
}
template <class V, int EACH>
FUNCTION void inbox_send(cluster_inbox<V, EACH>&, u32, V, u32 = 0)
{
}
template <class V, int EACH>
FUNCTION void inbox_wait(const cluster_inbox<V, EACH>&)
{
}
template <class V, int EACH>
FUNCTION V inbox_value(const cluster_inbox<V, EACH>&, u32)
{
    return V{};
}
#endif
