// The signals of kernels beside the handlers of a program, one that jumps away, and one that is
// replaced while it is called; and on a stack that is all but used up.
#define _GNU_SOURCE
#include "cpu_fixture.h"
#include "device/cpu/simt_block.h" // the sizes of a stack

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

typedef struct arguments {
    uint64_t out, in, n, mode;
} arguments;

static const char kernels[] = // whose module divides, so that its launches take the signals
    "\n#line 1 \"k.cu\"\n"
    "struct args_t { u64* out; u64* in; u64 n; u64 mode; };\n"
    "struct shared_t { u64 value[1]; };\n"
    "KERNEL(divide, args_t, shared_t) { a.out[0] = a.n / a.mode; }\n"
    "KERNEL(wait, args_t, shared_t) {\n"
    "    store_relaxed(&a.out[0], 1);\n"
    "    while (load_relaxed(a.in) != 12345) spin_pause();\n"
    "}\n"
    "static __attribute__((noinline)) u64 dive(const char* start, u64 bytes) {\n"
    "    volatile u8 room[256];\n"
    "    room[0] = 1;\n"
    "    char* here = static_cast<char*>(__builtin_frame_address(0));\n"
    "    if (u64(start - here) < bytes) return dive(start, bytes) + room[0];\n"
    "    while (room[0]) { }\n"
    "    return 0;\n"
    "}\n"
    "KERNEL(deep, args_t, shared_t) {\n"
    "    char* start = static_cast<char*>(__builtin_frame_address(0));\n"
    "    if (thread_id() == 0) a.out[0] = dive(start, a.n) / a.mode;\n"
    "}\n";

typedef struct opened {
    cubc_device *device;
    device_module *module;
    unsigned threads; // in a block
} opened;

static opened open_divider(const char *threads)
{
    opened o = {.device = open_with("1", "0"), .threads = (unsigned)atoi(threads)};
    char *source = source_text(threads, "1", kernels, "");
    CHECK_STATUS(build_source(o.device, source, &o.module), CUBC_OK);
    mem_free(source);
    return o;
}

static void close_divider(opened *o)
{
    device_cpu_api.unload(o->device, o->module);
    device_cpu_api.close(o->device);
}

static cubc_status launch(opened *o, const char *name, arguments a)
{
    device_kernel kernel;
    TRY(device_cpu_api.kernel(o->device, o->module, name, o->threads, &kernel));
    CHECK(kernel.may_trap);
    return device_cpu_api.launch(o->device, &kernel, &(launch_shape){.grid = 1}, &a, sizeof a,
                                 NULL);
}

static bool divides(opened *o)
{
    uint64_t result = 0;
    arguments a = {ADDRESS(&result), 0, 84, 2};
    return CHECK_STATUS(launch(o, "divide", a), CUBC_OK) && CHECK(result == 42);
}

static void set_handler(void (*handler)(int), void (*action)(int, siginfo_t *, void *))
{
    struct sigaction a = {.sa_flags = action ? SA_SIGINFO : 0};
    if (action)
        a.sa_sigaction = action;
    else
        a.sa_handler = handler;
    sigaction(SIGFPE, &a, NULL);
}

// ---- a launch that lasts
// --------------------------------------------------------------------------
typedef struct lasting {
    opened o;
    atomic_ullong begun, end;
    pthread_t thread;
} lasting;

static void *run_lasting(void *argument)
{
    lasting *l = argument;
    CHECK_STATUS(launch(&l->o, "wait", (arguments){ADDRESS(&l->begun), ADDRESS(&l->end), 84, 2}),
                 CUBC_OK);
    return NULL;
}

static void begin_lasting(lasting *l)
{
    l->o = open_divider("1");
    atomic_store(&l->begun, 0);
    atomic_store(&l->end, 0);
    pthread_create(&l->thread, NULL, run_lasting, l);
    while (atomic_load(&l->begun) == 0) usleep(1000);
}

static void end_lasting(lasting *l)
{
    atomic_store(&l->end, 12345);
    pthread_join(l->thread, NULL);
    close_divider(&l->o);
}

// ---- tests
// ----------------------------------------------------------------------------------------
static sigjmp_buf away;

static void jump_away(int number)
{
    (void)number;
    siglongjmp(away, 1);
}

static void test_a_handler_that_jumps_away(void)
{
    lasting other;
    opened own = open_divider("1");
    volatile int jumps = 0;
    set_handler(jump_away, NULL);
    begin_lasting(&other);
    for (int i = 0; i < 3; i++) {
        if (sigsetjmp(away, 1) == 0)
            raise(SIGFPE);
        else
            jumps = jumps + 1;
        divides(&own);
    }
    CHECK(jumps == 3);
    end_lasting(&other);
    close_divider(&own);
    set_handler(SIG_DFL, NULL);
}

static atomic_bool enough;
static atomic_long raised, heard, misheard;

static void hear(int number)
{
    atomic_fetch_add(number == SIGFPE ? &heard : &misheard, 1);
}

static void hear_action(int number, siginfo_t *info, void *context)
{
    atomic_fetch_add(info && info->si_signo == number && context ? &heard : &misheard, 1);
}

static void *raise_often(void *unused)
{
    (void)unused;
    while (!atomic_load(&enough)) {
        raise(SIGFPE);
        atomic_fetch_add(&raised, 1);
    }
    return NULL;
}

static void test_a_handler_that_is_replaced_while_it_is_called(void)
{
    pthread_t threads[2];
    opened own = open_divider("1");
    set_handler(hear, NULL);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, raise_often, NULL);
    // On a busy machine the threads may begin late.
    for (int i = 0; i < 2000 || atomic_load(&raised) < 100; i++) {
        set_handler(i % 2 ? hear : NULL, i % 2 ? NULL : hear_action);
        divides(&own);
    }
    atomic_store(&enough, true);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    CHECK(atomic_load(&heard) == atomic_load(&raised));
    CHECK(atomic_load(&misheard) == 0);
    close_divider(&own);
    set_handler(SIG_DFL, NULL);
}

#if !SIMT_TSAN // which puts off signals until a call of the C library
static atomic_int asked;

static bool interrupt_at_third(void)
{
    return atomic_fetch_add(&asked, 1) >= 2;
}

static void test_an_interrupt_deep_in_a_stack(void)
{
    uint64_t result = 0, depth = (uint64_t)SIMT_STACK_KIB * 1024 - 1024;
    opened own = open_divider("2");
    interrupt_set_hook(interrupt_at_third);
    CHECK_STATUS(launch(&own, "deep", (arguments){ADDRESS(&result), 0, depth, 1}),
                 CUBC_INTERRUPTED);
    interrupt_set_hook(NULL);
    divides(&own);
    close_divider(&own);
}
#endif

static const check_test tests[] = {
    {"a handler that jumps away", test_a_handler_that_jumps_away},
    {"a handler that is replaced while it is called",
     test_a_handler_that_is_replaced_while_it_is_called},
#if !SIMT_TSAN
    {"an interrupt deep in a stack", test_an_interrupt_deep_in_a_stack},
#endif
};

int main(int argc, char **argv)
{
    long before = outstanding_at_start();
    int failed = check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
    CHECK(mem_outstanding() == before);
    return failed || mem_outstanding() != before;
}
