// Blocks on the CPU device: fibres, warp operations, the seeded order, faults, stopping.
//
// An argument runs only the tests whose names contain it.
#define _GNU_SOURCE
#include "cpu_fixture.h"
#include "device/cpu/simt_block.h" // the sizes of a stack

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 48, MAX_ITEMS = 4096 };

typedef struct arguments {
    uint64_t out, in, n, mode;
} arguments;

// Kernels for any block size; each starts at a known line, so that the places of faults are known.
static const char common[] =
    "\n#line 1 \"k.cu\"\n"
    "struct args_t { u64* out; u64* in; u64 n; u64 mode; };\n"
    "struct shared_t { u64 value[64]; };\n"
    "#line 100\n"
    "KERNEL(identity, args_t, shared_t) {\n"
    "    u64 i = u64(block_id()) * SIMT_THREADS + thread_id();\n"
    "    if (i < a.n) a.out[i] = a.in[i] + block_count();\n"
    "}\n"
    "#line 200\n" // every block waits for the one before it
    "KERNEL(look_back, args_t, shared_t) {\n"
    "    if (thread_id() == 0) {\n"
    "        u64 ticket = atomic_add(a.in, 1), before = 1;\n"
    "        if (ticket > 0)\n"
    "            while ((before = load_relaxed(&a.out[ticket - 1])) == 0) spin_pause();\n"
    "        s.value[0] = before + ticket;\n"
    "        store_relaxed(&a.out[ticket], before + ticket);\n"
    "    }\n"
    "    block_sync();\n"
    "    if (s.value[0] == 0) a.out[0] = 0;\n"
    "}\n"
    "#line 300\n"
    "KERNEL(spin, args_t, shared_t) {\n"
    "    while (load_relaxed(a.in) != 12345) spin_pause();\n"
    "}\n"
    "#line 350\n" // only blocks that run at the same time get past one another
    "KERNEL(meet, args_t, shared_t) {\n"
    "    if (thread_id() == 0) atomic_add(a.in, 1);\n"
    "    while (load_relaxed(a.in) < block_count()) spin_pause();\n"
    "}\n"
    "KERNEL(order, args_t, shared_t) {\n"
    "    a.out[atomic_add(a.in, 1)] = block_id() * SIMT_THREADS + thread_id();\n"
    "}\n"
    "#line 400\n"
    "KERNEL(overrun, args_t, shared_t) { volatile u64* p = s.value; p[64 + a.mode] = 1; }\n";

static const char cooperative[] =
    "#line 500\n"
    "KERNEL(reverse, args_t, shared_t) {\n"
    "    u32 t = thread_id(), base = block_id() * SIMT_THREADS;\n"
    "    s.value[t] = a.in[base + t];\n"
    "    if (a.mode == 0) block_sync();\n"
    "    a.out[base + t] = s.value[SIMT_THREADS - 1 - t];\n"
    "}\n"
    "#line 600\n" // full masks in the first warp, the last warp is partial
    "KERNEL(warp_operations, args_t, shared_t) {\n"
    "    u32 t = thread_id(), lane = lane_id();\n"
    "    u32 mask = warp_id() == 0 ? FULL_WARP : 0xffffu;\n"
    "    u32 size = warp_id() == 0 ? 32 : 16;\n"
    "    u32 next = warp_shuffle_word(mask, t * 10, (lane + 1) % size);\n"
    "    u32 odd = warp_ballot(mask, lane & 1);\n"
    "    u32 half = lane < size / 2 ? (1u << size / 2) - 1 : mask & ~((1u << size / 2) - 1);\n"
    "    u32 first = warp_shuffle_word(half, t, first_set(half));\n"
    "    u32 pair = warp_ballot(3u << (lane & ~1u), true);\n"
    "    if (lane < 4) warp_sync(0xfu);\n" // a part first, then all: legal
    "    warp_sync(mask);\n"
    "    u64* o = a.out + t * 4;\n"
    "    o[0] = next; o[1] = odd; o[2] = first; o[3] = pair;\n"
    "}\n"
    "#line 700\n"
    "KERNEL(rounds, args_t, shared_t) {\n"
    "    u32 sum = 0;\n"
    "    for (u64 i = 0; i < a.n; i++) {\n"
    "        if (a.mode == 0) block_sync();\n"
    "        else sum += warp_ballot(warp_id() == 0 ? FULL_WARP : 0xffffu, true);\n"
    "    }\n"
    "    if (thread_id() == 0) a.out[0] = sum;\n"
    "}\n"
    "static __attribute__((noinline)) u64 dive(const char* start, u64 bytes, u64 mode) {\n"
    "    volatile u8 room[256];\n"
    "    room[0] = 1;\n"
    "    char* here = static_cast<char*>(__builtin_frame_address(0));\n"
    "    if (u64(start - here) < bytes) return dive(start, bytes, mode) + room[0];\n"
    "#line 800\n"
    "    if (mode == 0) block_sync();\n"
    "    return room[0];\n"
    "}\n"
    "KERNEL(deep, args_t, shared_t) {\n"
    "    char* start = static_cast<char*>(__builtin_frame_address(0));\n"
    "    if (thread_id() == a.n && a.mode == 0) a.out[0] = dive(start, a.in[0], a.mode);\n"
    "    if (thread_id() == a.n && a.mode == 1)\n" // exactly onto the low end of the stack
    "        __builtin_memset(reinterpret_cast<char*>(((u64)start | 4095) + 1 - a.in[0]), 0, 16);\n"
    "    if (thread_id() != a.n || a.mode == 1) block_sync();\n"
    "}\n"
    "KERNEL(fault, args_t, shared_t) {\n"
    "    u32 t = thread_id();\n"
    "    if (block_id() != a.n) { while (load_relaxed(a.in) != 12345) spin_pause(); return; }\n"
    "    switch (a.mode) {\n"
    "#line 901\n"
    "    case 1: if (t != 7) block_sync(); break;\n"
    "    case 2: if (t < 7) block_sync();\n"
    "            else block_sync(); break;\n"
    "    case 4: if (t == 3) warp_sync(0x6u); break;\n"
    "    case 5: if (t == 40) warp_sync(0xfffffu); break;\n"
    "    case 6: if (t != 2) warp_sync(t < 32 ? FULL_WARP : 0xffffu); break;\n"
    "    case 7: if (t == 0) warp_sync(0x3u);\n"
    "            if (t == 1) warp_sync(0x7u); if (t == 2) warp_sync(0x7u); break;\n"
    "    case 9: if (t == 0) warp_sync(0x3u); else block_sync(); break;\n"
    "    }\n"
    "}\n";

static cubc_device *device; // for most tests; two workers
static device_module *module_one, *module_many;
static uint64_t *in, *out;

// ---- helpers ------------------------------------------------------------------------------------
static cubc_status build(cubc_device *d, const char *threads, const char *warp, const char *more,
                         device_module **module)
{
    char *source = source_text(threads, warp, common, more);
    cubc_status status = build_source(d, source, module);
    mem_free(source);
    return status;
}

static cubc_status launch_on(cubc_device *d, device_module *module, const char *name, unsigned grid,
                             arguments a)
{
    device_kernel kernel;
    TRY(device_cpu_api.kernel(d, module, name, module == module_one ? 1 : THREADS, &kernel));
    return device_cpu_api.launch(d, &kernel, &(launch_shape){.grid = grid}, &a, sizeof a, NULL);
}

static cubc_status launch(device_module *module, const char *name, unsigned grid, uint64_t n,
                          uint64_t mode)
{
    return launch_on(device, module, name, grid, (arguments){ADDRESS(out), ADDRESS(in), n, mode});
}

static void fill_input(void)
{
    for (uint64_t i = 0; i < MAX_ITEMS; i++) in[i] = i * i + 1;
    memset(out, 0, MAX_ITEMS * sizeof *out);
}

static bool works(cubc_device *d, uint64_t *to) // one ordinary launch of many blocks
{
    arguments a = {ADDRESS(to), ADDRESS(in), MAX_ITEMS, 0};
    if (!CHECK_STATUS(launch_on(d, module_one, "identity", MAX_ITEMS, a), CUBC_OK)) return false;
    for (uint64_t i = 0; i < MAX_ITEMS; i++)
        if (to[i] != in[i] + MAX_ITEMS) return CHECK(to[i] == in[i] + MAX_ITEMS);
    return true;
}

static const char *const seeds[] = {"0", "1", "2", "3"};
static const char *const worker_counts[] = {"1", "2"};

// ---- running ------------------------------------------------------------------------------------
static void test_identity(void)
{
    fill_input();
    works(device, out);
    memset(out, 0, MAX_ITEMS * sizeof *out);
    CHECK_STATUS(launch(module_many, "identity", 20, 900, 0), CUBC_OK);
    for (uint64_t i = 0; i < 1000; i++) CHECK(out[i] == (i < 900 ? in[i] + 20 : 0));
    CHECK_STATUS(launch(module_one, "identity", 0, 1, 0), CUBC_OK);
    CHECK_STATUS(launch(module_one, "nothing", 1, 1, 0), CUBC_NOT_FOUND);
}

static uint64_t reversed_wrongly(uint64_t without_barrier, unsigned grid)
{
    uint64_t wrong = 0;
    fill_input();
    CHECK_STATUS(launch(module_many, "reverse", grid, 0, without_barrier), CUBC_OK);
    for (uint64_t i = 0; i < grid * THREADS; i++)
        wrong += out[i] != in[i / THREADS * THREADS + THREADS - 1 - i % THREADS];
    return wrong;
}

static void test_barrier(void)
{
    cubc_device *usual = device;
    int shown = 0;
    CHECK(reversed_wrongly(0, 50) == 0);
    for (size_t i = 1; i < COUNT_OF(seeds); i++) {
        device = open_with("2", seeds[i]);
        CHECK(reversed_wrongly(0, 50) == 0);
        shown += reversed_wrongly(1, 1) > 0;
        device_cpu_api.close(device);
    }
    device = usual;
    CHECK(shown > 0); // a missing barrier shows
}

// The order in which threads came, over all blocks, on one worker.
static void record_order(const char *seed, uint64_t order[4 * THREADS])
{
    cubc_device *usual = device;
    device = open_with("1", seed);
    in[0] = 0;
    CHECK_STATUS(launch(module_many, "order", 4, 0, 0), CUBC_OK);
    memcpy(order, out, 4 * THREADS * sizeof *out);
    device_cpu_api.close(device);
    device = usual;
}

static void test_order(void)
{
    uint64_t in_order[4 * THREADS], seeded[2][4 * THREADS], again[4 * THREADS], sum = 0;
    int moved_blocks = 0, moved_threads = 0;
    record_order("0", in_order);
    for (uint64_t i = 0; i < 4 * THREADS; i++) CHECK(in_order[i] == i);
    record_order("1", seeded[0]);
    record_order("2", seeded[1]);
    record_order("1", again);
    CHECK(memcmp(seeded[0], again, sizeof again) == 0); // a seed can be replayed
    CHECK(memcmp(seeded[0], seeded[1], sizeof again) != 0);
    for (uint64_t i = 0; i < 4 * THREADS; i++) {
        sum += seeded[0][i];
        moved_blocks += seeded[0][i] / THREADS != i / THREADS;
        moved_threads += seeded[0][i] % THREADS != i % THREADS;
    }
    CHECK(sum == 4 * THREADS * (4 * THREADS - 1) / 2); // everybody once
    CHECK(moved_threads > 2 * THREADS);
    for (uint64_t i = 0; i < 4 * THREADS; i++)
        moved_blocks += seeded[1][i] / THREADS != i / THREADS;
    CHECK(moved_blocks > 0);
}

static bool blocks_meet(void)
{
    in[0] = 0;
    return CHECK_STATUS(launch(module_one, "meet", 2, 0, 0), CUBC_OK);
}

static void test_warp_operations(void)
{
    cubc_device *usual = device;
    for (size_t i = 0; i < COUNT_OF(seeds); i++) {
        device = open_with("1", seeds[i]);
        fill_input();
        CHECK_STATUS(launch(module_many, "warp_operations", 3, 0, 0), CUBC_OK);
        for (uint64_t t = 0; t < THREADS; t++) {
            uint64_t lane = t % 32, warp = t / 32, size = warp == 0 ? 32 : 16;
            CHECK(out[4 * t] == (32 * warp + (lane + 1) % size) * 10);
            CHECK(out[4 * t + 1] == (warp == 0 ? 0xaaaaaaaau : 0xaaaau));
            CHECK(out[4 * t + 2] == 32 * warp + (lane < size / 2 ? 0 : size / 2));
            CHECK(out[4 * t + 3] == (uint64_t)3 << (lane & ~(uint64_t)1));
        }
        device_cpu_api.close(device);
    }
    device = usual;
}

static void test_look_back(void)
{
    cubc_device *usual = device;
    for (size_t w = 0; w < COUNT_OF(worker_counts); w++)
        for (size_t i = 0; i < COUNT_OF(seeds); i++)
            for (int many = 0; many < 2; many++) {
                uint64_t grid = many ? 300 : 3000, expected = 1, wrong = 0;
                device = open_with(worker_counts[w], seeds[i]);
                memset(in, 0, 8);
                memset(out, 0, MAX_ITEMS * sizeof *out);
                CHECK_STATUS(
                    launch(many ? module_many : module_one, "look_back", (unsigned)grid, 0, 0),
                    CUBC_OK);
                for (uint64_t b = 0; b < grid; b++) wrong += out[b] != (expected += b);
                CHECK(wrong == 0);
                device_cpu_api.close(device);
            }
    device = usual;
}

static void test_many_threads(void)
{
    device_kernel kernel;
    fill_input();
    arguments a = {ADDRESS(out), ADDRESS(in), 10, 0};
    CHECK_STATUS(device_cpu_api.kernel(device, module_many, "rounds", 1025, &kernel),
                 CUBC_NO_RESOURCES);
    CHECK_STATUS(device_cpu_api.kernel(device, module_many, "rounds", 1024, &kernel), CUBC_OK);
    CHECK(kernel.info.args_bytes == sizeof a && kernel.info.shared_bytes == 512);
    CHECK_STATUS(
        device_cpu_api.launch(device, &kernel, &(launch_shape){.grid = 4}, &a, sizeof a, NULL),
        CUBC_OK);
    CHECK_STATUS(device_cpu_api.launch(device, &kernel, &(launch_shape){.grid = 4}, &a, 8, NULL),
                 CUBC_INVALID_ARGUMENT);
}

// ---- faults -------------------------------------------------------------------------------------
static void check_fault(const char *name, uint64_t n, uint64_t mode, const char *first,
                        const char *second)
{
    CHECK_STATUS(launch(module_many, name, 2, n, mode), CUBC_KERNEL_FAULT);
    CHECK_CONTAINS(cubc_error_message(), first);
    CHECK_CONTAINS(cubc_error_message(), second);
    works(device, out); // the pool survives
}

static void test_faults(void)
{
    fill_input(); // in the other block everybody spins until the fault ends it
    check_fault("fault", 1, 1, "barrier at k.cu:901 was reached by only part of block 1",
                "thread 7 has returned");
    check_fault("fault", 0, 2, "block 0 wait at different barriers: thread 0 at k.cu:902",
                "thread 7 at k.cu:903");
    check_fault("fault", 1, 4, "mask 0x00000006 of the warp operation at k.cu:904",
                "lane 3 (thread 3 of block 1)");
    check_fault("fault", 1, 5, "mask 0x000fffff of the warp operation at k.cu:905",
                "lane 16, but the block has only 48 threads");
    check_fault("fault", 1, 6, "the warp operation at k.cu:906",
                "lane 2, but thread 2 has returned");
    check_fault("fault", 1, 7, "thread 0 at k.cu:907 with mask 0x00000003",
                "thread 1 at k.cu:908 with mask 0x00000007");
    check_fault("fault", 1, 9,
                "deadlock in block 1: thread 0 waits in a warp operation at k.cu:909",
                "the barrier at k.cu:909 was reached by only 47 of 48 threads");
}

static void test_stack_overflow(void)
{
    uint64_t usable = (uint64_t)SIMT_STACK_KIB * 1024, stack = usable + simt_stack_reserve();
    fill_input();
    in[0] = usable + 1024;
    check_fault("deep", 0, 0, "stack overflow in thread 0 of block ",
                ", seen at k.cu:800: a thread has ");
    in[0] = stack;
    check_fault("deep", 0, 1, "stack overflow in thread 0 of block ", ", seen at k.cu:80");
    in[0] = 0;
    fill_input();
    CHECK(reversed_wrongly(0, 4) == 0);
}

#if SIMT_ASAN
// One word past the shared storage: AddressSanitizer ends the child, naming the kernel's line.
static void test_shared_overrun(void)
{
    int ends[2];
    char told[4096] = "";
    if (!CHECK(pipe(ends) == 0)) return;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        launch(module_many, "overrun", 1, 0, 0);
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; used < sizeof told - 1; used += (size_t)got)
        if ((got = read(ends[0], told + used, sizeof told - 1 - used)) <= 0) break;
    close(ends[0]);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status != 0);
    CHECK_CONTAINS(told, "use-after-poison");
    CHECK_CONTAINS(told, "k.cu:400");
}
#endif

// ---- stopping -----------------------------------------------------------------------------------
static atomic_int interrupts_asked;
static pthread_t interrupts_wanted_by;
static atomic_bool interrupts_elsewhere;

static bool interrupt_at_third(void)
{
    if (!pthread_equal(pthread_self(), interrupts_wanted_by))
        atomic_store(&interrupts_elsewhere, 1);
    return atomic_fetch_add(&interrupts_asked, 1) >= 2;
}

static void test_interrupt(void)
{
    fill_input();
    interrupts_wanted_by = pthread_self();
    interrupt_set_hook(interrupt_at_third);
    for (int many = 0; many < 2; many++)
        for (unsigned grid = 1; grid <= 4; grid += 3) {
            atomic_store(&interrupts_asked, 0);
            CHECK_STATUS(launch(many ? module_many : module_one, "spin", grid, 0, 0),
                         CUBC_INTERRUPTED);
        }
    interrupt_set_hook(NULL);
    CHECK(!atomic_load(&interrupts_elsewhere));
    works(device, out);
}

static void *launch_often(void *results)
{
    for (int i = 0; i < 20; i++) works(device, results);
    return NULL;
}

static void test_launches_from_many_threads(void)
{
    pthread_t threads[4];
    uint64_t *results[4];
    fill_input();
    for (int i = 0; i < 4; i++) {
        results[i] = mem_zalloc(MAX_ITEMS, sizeof **results);
        pthread_create(&threads[i], NULL, launch_often, results[i]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        mem_free(results[i]);
    }
}

static double processor_seconds(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

// On a busy machine the threads take a while to find that there is nothing to do.
static void test_idle_pool_sleeps(void)
{
    double used = 1;
    fill_input();
    works(device, out);
    for (int k = 0; k < 50 && used >= 0.01; k++) {
        const double before = processor_seconds();
        usleep(100 * 1000);
        used = processor_seconds() - before;
    }
    CHECK(used < 0.01);
}

#if !SIMT_TSAN // which takes a child's threads for those of its parent that had the same numbers
static void test_fork(void)
{
    fill_input();
    works(device, out);
    const uint64_t token = process_token();
    CHECK(token != 0 && process_token() == token);
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        CHECK(process_token() != token);
        bool fine = works(device, out) && reversed_wrongly(0, 20) == 0 && blocks_meet();
        device_cpu_api.close(device);
        _exit(fine && checks_failed_here == 0 ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    works(device, out);
}
#endif

// ---- the list -----------------------------------------------------------------------------------
static const check_test tests[] = {
    {"identity", test_identity},
    {"barrier", test_barrier},
    {"order", test_order},
    {"warp operations", test_warp_operations},
    {"look-back", test_look_back},
    {"many threads", test_many_threads},
    {"faults", test_faults},
    {"stack overflow", test_stack_overflow},
#if SIMT_ASAN
    {"shared overrun", test_shared_overrun},
#endif
    {"interrupt", test_interrupt},
    {"launches from many threads", test_launches_from_many_threads},
    {"idle pool sleeps", test_idle_pool_sleeps},
#if !SIMT_TSAN
    {"fork", test_fork},
#endif
};

int main(int argc, char **argv)
{
    long before = outstanding_at_start();
    in = mem_zalloc(MAX_ITEMS, sizeof *in);
    out = mem_zalloc(MAX_ITEMS, sizeof *out);
    device = open_with("2", "0");
    if (!device || !in || !out ||
        !CHECK_STATUS(build(device, "1", "1", "", &module_one), CUBC_OK) ||
        !CHECK_STATUS(build(device, "48", "32", cooperative, &module_many), CUBC_OK))
        return 1;
    int failed = check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
    device_cpu_api.unload(device, module_one);
    device_cpu_api.unload(device, module_many);
    device_cpu_api.close(device);
    mem_free(in);
    mem_free(out);
    CHECK(mem_outstanding() == before);
    return failed || mem_outstanding() != before;
}
