// Memory for messages: one block a stream, zero before its first launch and again before the epochs
// of its launches repeat; blocks of their own for graphs; nothing lost when allocations fail.
//
// An argument runs only the tests whose names contain it.
#define _GNU_SOURCE
#include "cpu_fixture.h"
#include "run/workspace.h"

#include <pthread.h>

static cubc_device *device;

static bool all_zero(const void *memory, size_t bytes)
{
    const uint8_t *byte = memory;
    for (size_t i = 0; i < bytes; i++)
        if (byte[i]) return false;
    return true;
}

// A launch as the block sees it: all of it is written.
static void *launch(workspace_pool *pool, size_t bytes, void *stream)
{
    workspace_lease lease = {0};
    if (!CHECK_STATUS(
            workspace_acquire(pool, device, (workspace_bytes){bytes, 0}, 1, stream, &lease),
            CUBC_OK))
        return NULL;
    void *memory = lease.messages;
    memset(memory, 0xAB, bytes);
    workspace_release(device, &lease, stream, CUBC_OK);
    CHECK(!lease.messages && !lease.owner);
    return memory;
}

static void test_reuse(void)
{
    workspace_pool pool = {0};
    workspace_lease lease = {0};
    CHECK_STATUS(workspace_acquire(&pool, device, (workspace_bytes){1000, 0}, 1, NULL, &lease),
                 CUBC_OK);
    CHECK(all_zero(lease.messages, 1000) && (uintptr_t)lease.messages % 8 == 0);
    void *first = lease.messages;
    workspace_release(device, &lease, NULL, CUBC_OK);
    launch(&pool, 1000, NULL);
    CHECK_STATUS(workspace_acquire(&pool, device, (workspace_bytes){500, 0}, 1, NULL, &lease),
                 CUBC_OK);
    CHECK(lease.messages == first); // as the launch before has left it
    CHECK(((uint8_t *)lease.messages)[0] == 0xAB);
    workspace_release(device, &lease, NULL, CUBC_OK);
    workspace_close(&pool, device);
}

static void test_growth(void)
{
    workspace_pool pool = {0};
    for (size_t bytes = 8; bytes <= (size_t)1 << 22; bytes *= 4) {
        workspace_lease lease = {0};
        CHECK_STATUS(workspace_acquire(&pool, device, (workspace_bytes){bytes, 0}, 1, NULL, &lease),
                     CUBC_OK);
        CHECK(all_zero((uint8_t *)lease.messages + bytes / 2, bytes - bytes / 2));
        memset(lease.messages, 1, bytes / 2);
        workspace_release(device, &lease, NULL, CUBC_OK);
    }
    workspace_close(&pool, device);
}

// A program that makes a stream for every request: blocks are passed on, and what they were left
// with goes with them. The first streams keep theirs.
static void test_many_streams(void)
{
    workspace_pool pool = {0};
    void *first = launch(&pool, 64, NULL), *memory[200];
    long before = 0;
    for (size_t s = 0; s < COUNT_OF(memory); s++) {
        void *stream;
        if (s == 100) before = mem_outstanding();
        CHECK_STATUS(device->api->stream_create(device, &stream), CUBC_OK);
        memory[s] = launch(&pool, 64, stream);
        device->api->stream_destroy(device, stream);
    }
    CHECK(mem_outstanding() == before);
    for (size_t s = 100; s < COUNT_OF(memory); s++) {
        bool known = false;
        for (size_t t = 32; t < 64; t++) known |= memory[s] == memory[t];
        CHECK(known);
    }
    CHECK(launch(&pool, 64, NULL) == first);
    workspace_close(&pool, device);
}

static void test_epochs_wrap(void)
{
    workspace_pool pool = {0};
    launch(&pool, 4096, NULL);
    // The last launch whose epoch fits a tag, and the one after.
    workspace_set_launches(&pool, (1u << 30) - 3);
    workspace_lease lease = {0};
    CHECK_STATUS(workspace_acquire(&pool, device, (workspace_bytes){4096, 0}, 1, NULL, &lease),
                 CUBC_OK);
    CHECK(((uint8_t *)lease.messages)[4095] == 0xAB);
    workspace_release(device, &lease, NULL, CUBC_OK);
    CHECK_STATUS(workspace_acquire(&pool, device, (workspace_bytes){64, 0}, 1, NULL, &lease),
                 CUBC_OK);
    CHECK(all_zero(lease.messages, 65536)); // whole, not only what this launch needs
    workspace_release(device, &lease, NULL, CUBC_OK);
    launch(&pool, 4096, NULL);
    CHECK_STATUS(workspace_acquire(&pool, device, (workspace_bytes){64, 0}, 1, NULL, &lease),
                 CUBC_OK);
    CHECK(((uint8_t *)lease.messages)[0] == 0xAB); // counting began anew
    workspace_release(device, &lease, NULL, CUBC_OK);
    workspace_close(&pool, device);
}

static void test_streams_are_apart(void)
{
    workspace_pool pool = {0};
    void *streams[3] = {NULL};
    workspace_lease leases[3] = {{0}};
    for (int s = 1; s < 3; s++)
        CHECK_STATUS(device->api->stream_create(device, &streams[s]), CUBC_OK);
    for (int s = 0; s < 3; s++)
        CHECK_STATUS(
            workspace_acquire(&pool, device, (workspace_bytes){64, 0}, 1, streams[s], &leases[s]),
            CUBC_OK);
    CHECK(leases[0].messages != leases[1].messages && leases[1].messages != leases[2].messages);
    for (int s = 0; s < 3; s++) workspace_release(device, &leases[s], streams[s], CUBC_OK);
    CHECK(launch(&pool, 64, streams[1]) != launch(&pool, 64, streams[2]));
    for (int s = 1; s < 3; s++) device->api->stream_destroy(device, streams[s]);
    workspace_close(&pool, device);
}

// ---- scratch ------------------------------------------------------------------------------------
static workspace_lease lend(workspace_pool *pool, size_t messages, size_t scratch)
{
    workspace_lease lease = {0};
    CHECK_STATUS(
        workspace_acquire(pool, device, (workspace_bytes){messages, scratch}, 1, NULL, &lease),
        CUBC_OK);
    CHECK((lease.messages != NULL) == (messages > 0) && (lease.scratch != NULL) == (scratch > 0));
    memset(lease.scratch, 0xAB, scratch);
    workspace_lease was = lease;
    workspace_release(device, &lease, NULL, CUBC_OK);
    return was;
}

static void test_scratch_is_kept_where_allocations_cost(void)
{
    const device_api *cheap_api = device->api;
    device_api costly = *cheap_api;
    workspace_pool pool = {0};
    costly.kind = "cuda"; // with memory of the cpu
    device->api = &costly;
    workspace_lease first = lend(&pool, 0, 1000), second = lend(&pool, 64, 500);
    CHECK(first.owner && second.owner == first.owner && second.scratch == first.scratch);
    workspace_lease most = lend(&pool, 64, WORKSPACE_KEPT);
    CHECK(most.owner == first.owner && most.messages == second.messages && !most.own_scratch);
    workspace_lease more = lend(&pool, 0, WORKSPACE_KEPT + 1);
    CHECK(!more.owner && more.own_scratch);
    CHECK(lend(&pool, 0, 1000).scratch == most.scratch);
    workspace_close(&pool, device);
    device->api = cheap_api;
    workspace_lease cheap = lend(&pool, 64, 1000);
    CHECK(cheap.owner && cheap.own_scratch);
    CHECK(!lend(&pool, 0, 1000).owner);
    workspace_close(&pool, device);
}

// ---- graphs -------------------------------------------------------------------------------------
static bool always(cubc_device *d, void *stream)
{
    (void)d, (void)stream;
    return true;
}

static void test_captured_launches_have_their_own(void)
{
    device_api capturing = *device->api;
    cubc_device other = *device;
    workspace_pool pool = {0};
    workspace_lease a = {0}, b = {0};
    capturing.is_capturing = always;
    other.api = &capturing;
    long before = mem_outstanding();
    CHECK_STATUS(workspace_acquire(&pool, &other, (workspace_bytes){256, 0}, 1, NULL, &a), CUBC_OK);
    memset(a.messages, 1, 256);
    CHECK_STATUS(workspace_acquire(&pool, &other, (workspace_bytes){256, 0}, 1, NULL, &b),
                 CUBC_OK); // no wait for the first
    CHECK(a.messages != b.messages && !a.owner && all_zero(b.messages, 256));
    workspace_release(&other, &a, NULL, CUBC_OK);
    workspace_release(&other, &b, NULL, CUBC_OK);
    CHECK(mem_outstanding() == before && !pool.first);
    workspace_close(&pool, &other);
}

static cubc_status no_fill(cubc_device *d, void *memory, int value, size_t bytes, void *stream)
{
    (void)d, (void)memory, (void)value, (void)bytes, (void)stream;
    FAIL(CUBC_DEVICE_ERROR, "memory cannot be filled");
}

static void test_memory_that_cannot_be_cleared_is_freed_once(void)
{
    const device_api *as_it_is = device->api;
    device_api capturing = *as_it_is;
    workspace_pool pool = {0};
    workspace_lease lease;
    capturing.is_capturing = always;
    capturing.fill = no_fill;
    device->api = &capturing;
    long before = mem_outstanding();
    CHECK_STATUS(workspace_acquire(&pool, device, (workspace_bytes){64, 64}, 1, NULL, &lease),
                 CUBC_DEVICE_ERROR);
    CHECK(mem_outstanding() == before && !lease.messages && !lease.scratch);
    device->api = as_it_is;
}

// ---- threads ------------------------------------------------------------------------------------
typedef struct shared_block {
    workspace_pool pool;
    int inside, most;
} shared_block;

static void *queue_often(void *argument)
{
    shared_block *shared = argument;
    for (int i = 0; i < 2000; i++) {
        workspace_lease lease = {0};
        if (workspace_acquire(&shared->pool, device, (workspace_bytes){64, 0}, 1, NULL, &lease))
            return argument;
        int now = ++shared->inside; // only the lease protects it
        if (now > shared->most) shared->most = now;
        shared->inside--;
        workspace_release(device, &lease, NULL, CUBC_OK);
    }
    return NULL;
}

static void test_one_thread_at_a_time(void)
{
    shared_block shared = {{0}, 0, 0};
    pthread_t threads[4];
    void *failed;
    for (int t = 0; t < 4; t++) CHECK(!pthread_create(&threads[t], NULL, queue_often, &shared));
    for (int t = 0; t < 4; t++) CHECK(!pthread_join(threads[t], &failed) && !failed);
    CHECK(shared.most == 1 && shared.inside == 0);
    CHECK(shared.pool.first != NULL);
    workspace_close(&shared.pool, device);
    CHECK(shared.pool.first == NULL);
}

// ---- failing allocations ------------------------------------------------------------------------
static void test_allocations_fail(void)
{
    long before = mem_outstanding();
    workspace_pool pool = {0};
    int failures = 0;
    for (long nth = 1; nth < 6; nth++) {
        workspace_lease lease = {0};
        mem_fail_at(nth);
        cubc_status st =
            workspace_acquire(&pool, device, (workspace_bytes){100, 0}, 1, NULL, &lease);
        mem_fail_at(0);
        CHECK(st == CUBC_OK || st == CUBC_NO_MEMORY || st == CUBC_NO_DEVICE_MEMORY);
        CHECK((lease.messages != NULL) == (st == CUBC_OK));
        failures += st != CUBC_OK;
        workspace_release(device, &lease, NULL, CUBC_OK);
    }
    CHECK(failures == 2); // the block's record and its memory
    for (long nth = 1; nth < 5; nth++) {
        workspace_lease lease = {0};
        mem_fail_at(nth);
        workspace_bytes bytes = {200000, 1000}; // more than there are
        cubc_status st = workspace_acquire(&pool, device, bytes, 1, NULL, &lease);
        mem_fail_at(0);
        CHECK((lease.messages && lease.scratch) == (st == CUBC_OK));
        failures += st != CUBC_OK;
        workspace_release(device, &lease, NULL, CUBC_OK);
    }
    CHECK(failures == 4); // the scratch and the messages
    launch(&pool, 100, NULL);
    mem_fail_at(1); // to grow
    workspace_lease lease = {0};
    CHECK_STATUS(workspace_acquire(&pool, device, (workspace_bytes){1 << 20, 0}, 1, NULL, &lease),
                 CUBC_NO_DEVICE_MEMORY);
    mem_fail_at(0);
    CHECK(launch(&pool, 100, NULL) != NULL); // the old one is still good
    CHECK(launch(&pool, 1 << 20, NULL) != NULL);
    workspace_close(&pool, device);
    CHECK(mem_outstanding() == before);
}

static const check_test tests[] = {
    {"reuse", test_reuse},
    {"growth", test_growth},
    {"epochs wrap", test_epochs_wrap},
    {"streams are apart", test_streams_are_apart},
    {"many streams", test_many_streams},
    {"scratch is kept where allocations cost", test_scratch_is_kept_where_allocations_cost},
    {"captured launches have their own", test_captured_launches_have_their_own},
    {"memory that cannot be cleared is freed once",
     test_memory_that_cannot_be_cleared_is_freed_once},
    {"one thread at a time", test_one_thread_at_a_time},
    {"allocations fail", test_allocations_fail},
};

int main(int argc, char **argv)
{
    device = open_with("2", "0");
    if (!device) return 1;
    int status = check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
    device_cpu_api.close(device);
    return status;
}
