// Devices by name, and launch attributes. The cpu has none and says so; on a GPU clusters of blocks
// are really clusters, and a kernel that starts early still sees what the one before it wrote.
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include "compile/variant.h"
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 8, THREADS = 32 };

static const char kernel_text[] =
    "struct note_args { u32* out; const u32* in; };\n"
    "struct note_shared { u32 unused; };\n"
    "KERNEL(note, note_args, note_shared)\n"
    "{\n"
    "    u32 size = 0;\n"
    "    asm volatile(\"mov.u32 %0, %%cluster_nctaid.x;\" : \"=r\"(size));\n"
    "    if (thread_id() == 0) a.out[block_id()] = size;\n"
    "}\n"
    "KERNEL_AHEAD(follow, note_args, note_shared)\n"
    "{\n"
    "    wait_for_launch_before();\n"
    "    if (thread_id() == 0) a.out[block_id()] = 10u + a.in[block_id()];\n"
    "}\n";

typedef struct arguments {
    uint32_t *out, *in;
} arguments;

static cubc_device *device;
static device_module *module;

static cubc_status load(void)
{
    const char *dialect;
    text whole = {0};
    binary code = {0};
    cubc_status st;
    GUARD(st, source_load("simt.h", &dialect), done);
    text_puts(&whole, "#define SIMT_CUDA\n#define SIMT_THREADS 32\n#define SIMT_WARP 32\n");
    text_puts(&whole, dialect);
    text_puts(&whole, kernel_text);
    GUARD(st, text_done(&whole), done);
    compile_request request = {whole.data, "note", device->info.arch, 0};
    GUARD(st, device->api->compile(&request, &code), done);
    st = device->api->load(device, &code, &module);
done:
    binary_free(&code);
    text_free(&whole);
    return st;
}

static cubc_status launch(const char *name, launch_shape shape, arguments a)
{
    device_kernel kernel;
    TRY(device->api->kernel(device, module, name, THREADS, &kernel));
    return device->api->launch(device, &kernel, &shape, &a, sizeof a, NULL);
}

static void on_the_gpu(uint32_t cluster, uint32_t noted)
{
    const device_api *api = device->api;
    void *sizes = NULL, *sums = NULL;
    uint32_t got[BLOCKS];
    CHECK_STATUS(api->alloc(device, sizeof got, NULL, &sizes), CUBC_OK);
    CHECK_STATUS(api->alloc(device, sizeof got, NULL, &sums), CUBC_OK);
    launch_shape shape = {.grid = BLOCKS, .cluster = cluster};
    launch_shape early = {.grid = BLOCKS, .early = true};
    CHECK_STATUS(launch("note", shape, (arguments){sizes, NULL}), CUBC_OK);
    CHECK_STATUS(launch("follow", early, (arguments){sums, sizes}), CUBC_OK);
    CHECK_STATUS(api->copy(device, got, sums, sizeof got, NULL), CUBC_OK);
    for (int b = 0; b < BLOCKS; b++) CHECK(got[b] == 10 + noted);
    api->free(device, sums, NULL);
    api->free(device, sizes, NULL);
}

static void clusters_and_early_starts(void)
{
    if (!CHECK_STATUS(load(), CUBC_OK)) return;
    for (uint32_t cluster = 0; cluster <= 8; cluster = cluster ? 2 * cluster : 1)
        on_the_gpu(cluster, cluster > 1 ? cluster : 1);
    launch_shape odd = {.grid = BLOCKS, .cluster = 3}; // does not divide the grid
    CHECK_STATUS(launch("note", odd, (arguments){0}), CUBC_DEVICE_ERROR);
    CHECK_CONTAINS(cubc_error_message(), "clusters of 3");
    on_the_gpu(2, 2); // the device is none the worse
    device->api->unload(device, module);
}

static void the_cpu_has_no_clusters(void)
{
    cubc_device *cpu;
    device_kernel kernel = {.threads = 1};
    launch_shape shape = {.grid = 2, .cluster = 2};
    if (!CHECK_STATUS(device_open("cpu", &cpu), CUBC_OK)) return;
    CHECK_STATUS(cpu->api->launch(cpu, &kernel, &shape, NULL, 0, NULL), CUBC_NO_RESOURCES);
    CHECK_CONTAINS(cubc_error_message(), "2 blocks");
    device_release(cpu);
}

static void devices_are_opened_by_name(void)
{
    cubc_device *device;
    char names[8][16];
    int count = device_list(names, 8);
    CHECK(count >= 1 && device_list(names, 0) == count);
    CHECK(count <= 8 && strcmp(names[count - 1], "cpu") == 0);
    const char *unknown[] = {"gpu",   "cuda:", "cuda:x", "cuda:-1", "cuda:99", "cuda:99999999999",
                             "cpu:0", "CPU"};
    for (size_t i = 0; i < COUNT_OF(unknown); i++) {
        CHECK_STATUS(device_open(unknown[i], &device), CUBC_NO_DEVICE);
        CHECK(device == NULL && strstr(cubc_error_message(), unknown[i]) != NULL);
        CHECK(strstr(cubc_error_message(), "cpu") != NULL);
    }
    CHECK(device_api_of_arch("cpu") == &device_cpu_api);
    CHECK(device_api_of_arch("sm_90") == &device_cuda_api);
}

static const check_test tests[] = {
    {"devices_are_opened_by_name", devices_are_opened_by_name},
    {"the_cpu_has_no_clusters", the_cpu_has_no_clusters},
    {"clusters_and_early_starts", clusters_and_early_starts},
};

int main(int argc, char **argv)
{
    size_t count = COUNT_OF(tests);
    if (device_open("cuda", &device) != CUBC_OK || atoi(device->info.arch + 3) < 90) {
        const char *why = device ? "the GPU is older than sm_90" : cubc_error_message();
        printf("test_launch: skipped clusters: %s\n", why);
        count--; // the last one
    }
    int status = check_run(tests, count, argc > 1 ? argv[1] : NULL);
    device_release(device);
    return status;
}
