// Messages between the blocks of a thread block cluster, written to one another's shared memory.
//
// The blocks of a cluster (compute capability 9.0 and up) run at the same time. A write to another
// block's shared memory arrives sooner than a message through the L2 cache. A launch whose grid is
// one cluster sends no other messages (message.h) and needs no tickets, because a block's rank is
// its index. TUNE_ORDER 2 asks for clusters; launches of more blocks than fit in a cluster
// (problem_cluster), other devices and older compilers behave as with TUNE_ORDER 1.
//
// A block's inbox, in its shared memory, has slots for each block and counts the bytes that have
// arrived. A kernel calls, in this order:
//     inbox_open      all threads, at the beginning
//     cluster_ready   all threads, before the first message; waits until all blocks have started;
//                     does nothing if the launch is no cluster
//     inbox_send      one lane a receiver, with this block's message
//     inbox_wait      one warp; a block must not end before all messages to it have arrived
//     inbox_value     any lane of that warp
#pragma once
#include "message.h"

// Besides, the blocks of a cluster reach one another's shared memory: cluster_load and
// cluster_store take an address in the calling block's own, and the block whose counterpart they
// mean, by its rank in the cluster; cluster_sync orders these accesses. The lanes of a warp mean
// one block: words for several blocks travel apart, which takes longer than all else. A block must
// not end before the last access to it. With a single block they mean that block. A launch may be
// several clusters. A kernel that is launched in clusters whatever the variant is defines
// IN_A_CLUSTER itself.
#ifndef IN_A_CLUSTER
#define IN_A_CLUSTER (TUNE_ORDER == 2)
#endif

// Compiled with CUDA 12.1 or later, which has st.async.
#if defined(SIMT_CUDA) && __CUDA_ARCH__ >= 900 && \
    (__CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 1))
#define CLUSTERS IN_A_CLUSTER
#else
#define CLUSTERS 0
#endif

enum { CLUSTER_BLOCKS = 16 }; // upper limit, as in csrc/device/device.h

// Inbox with `EACH` slots for each block.
template <class V, int EACH = 1>
struct cluster_inbox {
    u64 arrived;
    message_bits<V> slot[CLUSTERS ? CLUSTER_BLOCKS * EACH : 1];
};

#if CLUSTERS
// Returns how many blocks the calling block's cluster has, 1 if the launch has no clusters.
FUNCTION u32 cluster_blocks()
{
    u32 blocks;
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
    return blocks;
}
// Returns the calling block's rank in its cluster.
FUNCTION u32 cluster_block()
{
    u32 rank;
    asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(rank));
    return rank;
}

// Returns true if the launch is one cluster.
FUNCTION bool in_one_cluster() { return cluster_blocks() > 1 && cluster_blocks() == block_count(); }

FUNCTION u32 shared_address(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }
FUNCTION u32 address_in_block(u32 address, u32 block)
{
    u32 there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
    return there;
}

// Opens the inbox for `messages` messages. With 0 no thread may call inbox_wait.
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

// Sends the block's message `k` to block `to`, which may be itself.
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

// Waits for all messages. The arrival of their bytes orders the messages before this call. The
// scope is the block, which leaves the L1 cache valid: of other blocks' writes only those to the
// slots are visible for certain.
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

// Returns message `number`; the messages are in the order of the sending blocks.
template <class V, int EACH>
FUNCTION V inbox_value(const cluster_inbox<V, EACH>& inbox, u32 number)
{
    return inbox.slot[number].value;
}

// ---- shared memory of all blocks ----------------------------------------------------------------
// Says that a thread has come so far, and waits until all threads of the cluster have. All call
// both in turn, and cluster_sync neither between them.
FUNCTION void cluster_begin() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
FUNCTION void cluster_begun() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
FUNCTION void cluster_ready()
{
    if (cluster_blocks() > 1) cluster_begun();
}

// Waits for all threads of the cluster, or of the block if there is none.
FUNCTION void cluster_sync()
{
    if (cluster_blocks() > 1)
        asm volatile("barrier.cluster.arrive.release;\n"
                     "barrier.cluster.wait.acquire;" ::
                         : "memory");
    else
        block_sync();
}

FUNCTION u32 cluster_load(const u32* mine, u32 block)
{
    u32 v;
    if (cluster_blocks() == 1) return *mine;
    asm volatile("ld.shared::cluster.u32 %0, [%1];"
                 : "=r"(v)
                 : "r"(address_in_block(shared_address(mine), block))
                 : "memory");
    return v;
}
FUNCTION void cluster_store(u32* mine, u32 block, u32 v)
{
    if (cluster_blocks() == 1)
        *mine = v;
    else
        asm volatile(
            "st.shared::cluster.u32 [%0], %1;" ::"r"(address_in_block(shared_address(mine), block)),
            "r"(v)
            : "memory");
}
FUNCTION void cluster_store(u64* mine, u32 block, u64 v)
{
    if (cluster_blocks() == 1)
        *mine = v;
    else
        asm volatile(
            "st.shared::cluster.u64 [%0], %1;" ::"r"(address_in_block(shared_address(mine), block)),
            "l"(v)
            : "memory");
}
#else
FUNCTION u32 cluster_blocks() { return 1; }
FUNCTION u32 cluster_block() { return 0; }
// A constant, so that without optimisation, too, nothing is compiled for clusters.
#define in_one_cluster() false
FUNCTION void cluster_sync() { block_sync(); }
FUNCTION u32 cluster_load(const u32* mine, u32) { return *mine; }
FUNCTION void cluster_store(u32* mine, u32, u32 v) { *mine = v; }
FUNCTION void cluster_store(u64* mine, u32, u64 v) { *mine = v; }
FUNCTION void cluster_begin() {}
FUNCTION void cluster_begun() {}
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
