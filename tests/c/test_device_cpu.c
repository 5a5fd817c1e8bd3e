// The CPU device: what it says of the machine, memory, compiling, loading, failing allocations.
//
// An argument runs only the tests whose names contain it.
#define _GNU_SOURCE
#include "cpu_fixture.h"
#include "waiting_compiler.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static cubc_device *device;

static void test_info(void)
{
    const device_info *info = &device->info;
    CHECK(strcmp(info->name, "cpu") == 0 && strcmp(info->arch, "cpu") == 0);
    CHECK(info->sm_count == 2 && info->warp_size == 32 && info->max_threads == 1024);
    CHECK(info->model[0] && strlen(info->uuid) == 40 && info->l2_bytes > 0);
    CHECK(info->memory_bytes > 0 && info->shared_bytes_per_block == 227 * 1024);
    char name[96], again[96];
    CHECK_STATUS(device_cpu_api.compiler(name, sizeof name), CUBC_OK);
    CHECK(strcmp(name, info->compiler) == 0 && strstr(name, "++ "));
    setenv("CUBC_CXXFLAGS", "-DSOMETHING", 1); // another binary, so another name
    CHECK_STATUS(device_cpu_api.compiler(again, sizeof again), CUBC_OK);
    CHECK(strcmp(name, again) != 0);
    unsetenv("CUBC_CXXFLAGS");
    CHECK(device_cpu_api.count(NULL) == 1);

    cubc_device *d = NULL;
    setenv("CUBC_CPU_THREADS", "many", 1);
    CHECK_STATUS(device_cpu_api.open(0, &d), CUBC_INVALID_ARGUMENT);
    setenv("CUBC_CPU_THREADS", "1025", 1);
    CHECK_STATUS(device_cpu_api.open(0, &d), CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), "CUBC_CPU_THREADS is \"1025\"");
    unsetenv("CUBC_CPU_THREADS");
    CHECK_STATUS(device_cpu_api.open(1, &d), CUBC_OK); // with threads and memory of its own
    CHECK(strcmp(d->info.name, "cpu:1") == 0);
    device_cpu_api.close(d);
}

static waiting_compiler compiler;
static cubc_device *opened_within;

static bool open_within(void) // as a signal handler that calls cubc
{
    interrupt_set_hook(NULL);
    waiting_compiler_let_go(&compiler);
    CHECK_STATUS(cubc_device_open("cpu:2", &opened_within), CUBC_OK);
    return false;
}

static void test_opening_within_an_opening(void)
{
    cubc_device *d = NULL;
    waiting_compiler_make(&compiler); // a new one, which is asked for its version
    interrupt_set_hook(open_within);
    CHECK_STATUS(cubc_device_open("cpu:2", &d), CUBC_OK);
    CHECK(d && d == opened_within);
    waiting_compiler_remove(&compiler);
    cubc_device_close(d);
    cubc_device_close(opened_within);
}

static void test_memory(void)
{
    for (size_t bytes = 0; bytes < 2000; bytes += 333) {
        uint8_t *p = NULL;
        CHECK_STATUS(device_cpu_api.alloc(device, bytes, NULL, (void **)&p), CUBC_OK);
        CHECK((uintptr_t)p % 256 == 0);
        CHECK_STATUS(device_cpu_api.fill(device, p, 7, bytes, NULL), CUBC_OK);
        CHECK(bytes == 0 || (p[0] == 7 && p[bytes - 1] == 7));
        device_cpu_api.free(device, p, NULL);
    }
    void *p = NULL;
    CHECK_STATUS(device_cpu_api.alloc(device, SIZE_MAX - 100, NULL, &p), CUBC_NO_DEVICE_MEMORY);
    CHECK_CONTAINS(cubc_error_message(), "18446744073709551515 bytes");
}

static void test_streams_and_events(void)
{
    void *a = NULL, *b = NULL;
    device_event *start = NULL, *stop = NULL;
    double seconds = -1;
    CHECK_STATUS(device_cpu_api.stream_create(device, &a), CUBC_OK);
    uint64_t first = device_cpu_api.stream_id(device, a);
    device_cpu_api.stream_destroy(device, a);
    CHECK_STATUS(device_cpu_api.stream_create(device, &b), CUBC_OK);
    CHECK(first && device_cpu_api.stream_id(device, b) != first);
    CHECK(device_cpu_api.stream_id(device, NULL) == 0);
    CHECK_STATUS(device_cpu_api.event_create(device, &start), CUBC_OK);
    CHECK_STATUS(device_cpu_api.event_create(device, &stop), CUBC_OK);
    CHECK_STATUS(device_cpu_api.event_record(device, start, b), CUBC_OK);
    usleep(2000);
    CHECK_STATUS(device_cpu_api.event_record(device, stop, b), CUBC_OK);
    CHECK_STATUS(device_cpu_api.event_elapsed(device, start, stop, &seconds), CUBC_OK);
    CHECK(seconds >= 0.002 && seconds < 30);
    device_cpu_api.event_destroy(device, start);
    device_cpu_api.event_destroy(device, stop);
    device_cpu_api.stream_destroy(device, b);
}

// Notes the byte that it finds, which fills change.
static cubc_status note(const uint64_t args[STEP_ARGS], void *stream)
{
    uint8_t *bytes = (uint8_t *)(uintptr_t)args[0];
    (void)stream;
    if (bytes[0] == args[1]) FAIL(CUBC_IO_ERROR, "a step that fails");
    bytes[1] = bytes[0];
    return CUBC_OK;
}

static void test_steps(void)
{
    uint8_t bytes[2] = {1, 0};
    void *stream = NULL;
    device_recording *recording = NULL;
    host_step step = {note, {(uintptr_t)bytes, 9}};
    CHECK_STATUS(device_cpu_api.step(device, &step, NULL), CUBC_OK);
    CHECK(bytes[1] == 1);
    CHECK_STATUS(device_cpu_api.stream_create(device, &stream), CUBC_OK);
    CHECK_STATUS(device_cpu_api.record(device, stream), CUBC_OK);
    CHECK_STATUS(device_cpu_api.fill(device, bytes, 2, 1, stream), CUBC_OK);
    CHECK_STATUS(device_cpu_api.step(device, &step, stream), CUBC_OK);
    CHECK_STATUS(device_cpu_api.fill(device, bytes, 9, 1, stream), CUBC_OK);
    step.args[1] = 2; // of which the recording has a copy
    CHECK_STATUS(device_cpu_api.record_end(device, stream, &recording), CUBC_OK);
    CHECK(bytes[0] == 1 && bytes[1] == 1);
    for (int k = 0; k < 2; k++) {
        bytes[1] = 0;
        CHECK_STATUS(device_cpu_api.replay(device, recording, stream), CUBC_OK);
        CHECK(bytes[0] == 9 && bytes[1] == 2);
    }
    device_cpu_api.recording_free(device, recording);
    bytes[0] = 2;
    CHECK_STATUS(device_cpu_api.step(device, &step, NULL), CUBC_IO_ERROR);
    device_cpu_api.stream_destroy(device, stream);
}

// ---- compiling and loading ----------------------------------------------------------------------
static void test_compile_error(void)
{
    device_module *module = NULL;
    char *source = source_text("1", "1", "", "\n#line 77 \"k.cu\"\nint x = undeclared_thing;\n");
    CHECK_STATUS(build_source(device, source, &module), CUBC_COMPILE_ERROR);
    CHECK_CONTAINS(cubc_error_message(), "k.cu test does not compile: k.cu:77");
    CHECK_CONTAINS(cubc_error_message(), "undeclared_thing");
    CHECK_CONTAINS(cubc_error_log(), "k.cu:77:9: error: ");
    mem_free(source);
}

// The child of a compiler writes a byte into a pipe, which it keeps open: its end closes it.
static int pipe_of_child;

static bool child_has_started(void)
{
    char byte;
    return read(pipe_of_child, &byte, 1) == 1;
}

static bool no_child_is_left(void)
{
    char bytes[16];
    ssize_t got = -1;
    for (int k = 0; k < 10000 && got != 0; k++) {
        got = read(pipe_of_child, bytes, sizeof bytes);
        if (got < 0) usleep(1000); // a child has it open
    }
    return got == 0;
}

// A compiler whose child goes on; the temporary folder must be empty afterwards.
static void test_compile_deadline(void)
{
    char folder[] = "/tmp/cubc-test-XXXXXX", script[64], pipe[64];
    if (!CHECK(mkdtemp(folder) != NULL)) return;
    snprintf(script, sizeof script, "%s/slow", folder);
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    FILE *file = fopen(script, "w");
    fprintf(file, "#!/bin/sh\n(echo; exec sleep 600) >%s &\nwait\n", pipe);
    fclose(file);
    chmod(script, 0700);
    CHECK(mkfifo(pipe, 0600) == 0);
    pipe_of_child = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    setenv("CUBC_CXX", script, 1);
    setenv("TMPDIR", folder, 1);
    compile_request request = {.source = "", .label = "slow", .arch = "cpu", .deadline_s = 0.5};
    binary code = {0};
    CHECK_STATUS(device_cpu_api.compile(&request, &code), CUBC_TIMEOUT);
    CHECK_CONTAINS(cubc_error_message(), "compiling slow took longer than 0.5 s and was stopped");
    CHECK(no_child_is_left());
    request.deadline_s = 0;
    interrupt_set_hook(child_has_started);
    CHECK_STATUS(device_cpu_api.compile(&request, &code), CUBC_INTERRUPTED);
    interrupt_set_hook(NULL);
    CHECK(no_child_is_left());
    unsetenv("CUBC_CXX");
    unsetenv("TMPDIR");
    close(pipe_of_child);
    unlink(pipe);
    unlink(script);
    CHECK(rmdir(folder) == 0);
}

static void test_no_compiler(void)
{
    char *path = mem_strdup(getenv("PATH"));
    compile_request request = {.source = "", .label = "none", .arch = "cpu"};
    binary code = {0};
    cubc_device *d = NULL;
    setenv("PATH", "/nowhere", 1);
    CHECK_STATUS(device_cpu_api.compile(&request, &code), CUBC_COMPILE_ERROR);
    CHECK_CONTAINS(cubc_error_message(), "install g++");
    CHECK_CONTAINS(cubc_error_message(), "CUBC_CXX");
    CHECK_STATUS(device_cpu_api.open(0, &d), CUBC_OK);
    CHECK(d && strcmp(d->info.compiler, "none") == 0);
    device_cpu_api.close(d);
    setenv("CUBC_CXX", "/nowhere/c++ -v", 1);
    CHECK_STATUS(device_cpu_api.compile(&request, &code), CUBC_COMPILE_ERROR);
    CHECK_CONTAINS(cubc_error_message(), "CUBC_CXX names the C++ compiler \"/nowhere/c++ -v\"");
    unsetenv("CUBC_CXX");
    setenv("PATH", path, 1);
    mem_free(path);
}

static const char tiny[] = "struct a_t { u64 x; };\nstruct s_t { u64 y; };\n"
                           "KERNEL(tiny, a_t, s_t) { *(u64*)a.x = 1; block_sync(); }\n";

static void use_fast_compiler(void) // these tests are not about the code that comes out
{
    setenv("CUBC_CXXFLAGS", "-O0 -fno-sanitize=all", 1);
}

static void test_ignored_children(void)
{
    char *source = source_text("1", "1", tiny, "");
    device_module *module = NULL;
    use_fast_compiler();
    signal(SIGCHLD, SIG_IGN);
    CHECK_STATUS(build_source(device, source, &module), CUBC_OK);
    device_cpu_api.unload(device, module);
    mem_free(source);
    source = mem_strdup("not C++");
    CHECK_STATUS(build_source(device, source, &module), CUBC_COMPILE_ERROR);
    signal(SIGCHLD, SIG_DFL);
    mem_free(source);
    unsetenv("CUBC_CXXFLAGS");
}

// A module of its own for each number, whose kernel stores that number.
static cubc_status build_number(int number, device_module **module)
{
    char body[256];
    snprintf(body, sizeof body,
             "struct a_t { u64* x; };\nstruct s_t { u64 y; };\n"
             "KERNEL(tiny, a_t, s_t) { *a.x = %d; }\n",
             number);
    char *source = source_text("1", "1", body, "");
    cubc_status status = build_source(device, source, module);
    mem_free(source);
    return status;
}

static int number_of(device_module *module)
{
    device_kernel kernel;
    uint64_t result = 0, a = ADDRESS(&result);
    CHECK_STATUS(device_cpu_api.kernel(device, module, "tiny", 1, &kernel), CUBC_OK);
    CHECK_STATUS(
        device_cpu_api.launch(device, &kernel, &(launch_shape){.grid = 1}, &a, sizeof a, NULL),
        CUBC_OK);
    return (int)result;
}

typedef struct number_build {
    pthread_t thread;
    int number;
    device_module *module;
    cubc_status status;
} number_build;

static void *build_in_thread(void *argument)
{
    number_build *b = argument;
    b->status = build_number(b->number, &b->module);
    return NULL;
}

static void test_compile_from_many_threads(void)
{
    number_build builds[4] = {{.number = 0}};
    use_fast_compiler();
    for (int i = 0; i < 4; i++) {
        builds[i].number = 70 + i;
        pthread_create(&builds[i].thread, NULL, build_in_thread, &builds[i]);
    }
    for (int i = 0; i < 4; i++) pthread_join(builds[i].thread, NULL);
    for (int i = 0; i < 4; i++)
        if (CHECK(builds[i].status == CUBC_OK)) CHECK(number_of(builds[i].module) == 70 + i);
    for (int i = 0; i < 4; i++) device_cpu_api.unload(device, builds[i].module);
    unsetenv("CUBC_CXXFLAGS");
}

static void test_damaged_binaries(void)
{
    char *source = source_text("1", "1", tiny, "");
    compile_request request = {.source = source, .label = "tiny", .arch = "cpu"};
    binary code = {0};
    device_module *module = NULL;
    use_fast_compiler();
    CHECK_STATUS(device_cpu_api.compile(&request, &code), CUBC_OK);
    for (size_t size = 0; size < code.size; size += 1 + size / 8) {
        binary part = {code.data, size};
        CHECK_STATUS(device_cpu_api.load(device, &part, &module), CUBC_DEVICE_ERROR);
    }
    memset(code.data, 'x', 64);
    CHECK_STATUS(device_cpu_api.load(device, &code, &module), CUBC_DEVICE_ERROR);
    CHECK_CONTAINS(cubc_error_message(), "it is no ELF file");
    mem_free(code.data);
    request.source = "int foreign;";
    CHECK_STATUS(device_cpu_api.compile(&request, &code), CUBC_OK);
    CHECK_STATUS(device_cpu_api.load(device, &code, &module), CUBC_DEVICE_ERROR);
    CHECK_CONTAINS(cubc_error_message(), "no kernels");
    mem_free(code.data);
    mem_free(source);
    unsetenv("CUBC_CXXFLAGS");
}

// Modules loaded, unloaded and loaded again must not be taken for one another.
static void test_reload(void)
{
    device_module *modules[3] = {NULL};
    use_fast_compiler();
    for (int round = 0; round < 3; round++) {
        if (!CHECK_STATUS(build_number(40 + round, &modules[round]), CUBC_OK)) break;
        for (int i = 0; i <= round; i++) CHECK(number_of(modules[i]) == 40 + i);
    }
    device_cpu_api.unload(device, modules[1]);
    modules[1] = NULL;
    if (CHECK_STATUS(build_number(50, &modules[1]), CUBC_OK)) {
        CHECK(number_of(modules[0]) == 40 && number_of(modules[1]) == 50);
        CHECK(number_of(modules[2]) == 42);
    }
    for (int i = 0; i < 3; i++) device_cpu_api.unload(device, modules[i]);
    unsetenv("CUBC_CXXFLAGS");
}

static void *allocated(size_t bytes)
{
    char *p = NULL;
    CHECK_STATUS(device_cpu_api.alloc(device, bytes, NULL, (void **)&p), CUBC_OK);
    if (p) p[0] = p[bytes - 1] = 1;
    return p;
}

static void test_the_last_large_block(void)
{
    const size_t mebibyte = 1 << 20;
    void *first = allocated(8 * mebibyte), *second = allocated(8 * mebibyte);
    const long both = mem_outstanding();
    device_cpu_api.free(device, first, NULL);
    device_cpu_api.free(device, second, NULL);
    CHECK(mem_outstanding() == both - 1); // one is kept
    CHECK((first = allocated(6 * mebibyte)) == second);
    device_cpu_api.free(device, first, NULL);
    device_cpu_api.free(device, allocated(mebibyte), NULL); // small: neither takes nor is kept
    CHECK(mem_outstanding() == both - 1);
    device_cpu_api.free(device, allocated(16 * mebibyte), NULL); // it did not fit, so it goes
    CHECK(mem_outstanding() == both - 1);
    device_cpu_api.free(device, allocated(300 * mebibyte), NULL); // nor is what is very large
    CHECK(mem_outstanding() == both - 1);
}

// ---- failing allocations ------------------------------------------------------------------------
static cubc_status everything(char *source)
{
    cubc_device *d = NULL;
    device_module *module = NULL;
    device_kernel kernel;
    uint64_t *result = NULL, a;
    cubc_status status;
    GUARD(status, device_cpu_api.open(0, &d), done);
    GUARD(status, device_cpu_api.alloc(d, 8, NULL, (void **)&result), done);
    a = ADDRESS(result);
    GUARD(status, build_source(d, source, &module), done);
    GUARD(status, device_cpu_api.kernel(d, module, "tiny", 48, &kernel), done);
    GUARD(status, device_cpu_api.launch(d, &kernel, &(launch_shape){.grid = 4}, &a, sizeof a, NULL),
          done);
    CHECK(*result == 1);
done:
    device_cpu_api.unload(d, module);
    device_cpu_api.free(d, result, NULL);
    device_cpu_api.close(d);
    return status;
}

static void test_failing_allocations(void)
{
    char *source = source_text("48", "32", tiny, "");
    use_fast_compiler();
    setenv("CUBC_CPU_THREADS", "2", 1);
    long nth = 1, before = mem_outstanding();
    for (; nth < 200; nth++) {
        mem_fail_at(nth);
        cubc_status status = everything(source);
        mem_fail_at(0);
        CHECK(mem_outstanding() == before);
        if (status == CUBC_OK) break;
        CHECK(status == CUBC_NO_MEMORY || status == CUBC_NO_DEVICE_MEMORY);
    }
    CHECK(nth > 20 && nth < 200);
    mem_free(source);
    unsetenv("CUBC_CXXFLAGS");
}

// ---- the list -----------------------------------------------------------------------------------
int main(int argc, char **argv)
{
    static const check_test tests[] = {
        {"info", test_info},
        {"opening within an opening", test_opening_within_an_opening},
        {"memory", test_memory},
        {"the last large block", test_the_last_large_block},
        {"streams and events", test_streams_and_events},
        {"steps", test_steps},
        {"compile error", test_compile_error},
        {"compile deadline", test_compile_deadline},
        {"no compiler", test_no_compiler},
        {"ignored children", test_ignored_children},
        {"compile from many threads", test_compile_from_many_threads},
        {"damaged binaries", test_damaged_binaries},
        {"reload", test_reload},
        {"failing allocations", test_failing_allocations},
    };
    long before = outstanding_at_start();
    device = open_with("2", "0");
    if (!device) return 1;
    int failed = check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
    device_cpu_api.close(device);
    CHECK(mem_outstanding() == before);
    return failed || mem_outstanding() != before;
}
