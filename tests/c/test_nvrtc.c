// The CUDA device without a GPU: the compiler, and what is said where there is no driver.
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include "compile/variant.h"
#include "device/device.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const device_api *const api = &device_cuda_api;

static const char kernel_text[] =
    "struct copy_args { const u32* in; u32* out; u64 n; };\n"
    "struct copy_shared { u32 word[SIMT_THREADS]; };\n"
    "KERNEL(copy_main, copy_args, copy_shared)\n"
    "{\n"
    "    u64 i = static_cast<u64>(block_id()) * SIMT_THREADS + thread_id();\n"
    "    bytes16 plain = load_bytes16<0>(a.in), readonly = load_bytes16<1>(a.in + 4);\n"
    "    bytes16 streamed = load_bytes16<2>(a.in + 8);\n"
    "    u32 sum = 0;\n"
    "    for (int w = 0; w < 4; w++)\n"
    "        sum += plain.word[w] + readonly.word[w] + streamed.word[w];\n"
    "    s.word[thread_id()] = sum;\n"
    "    block_sync();\n"
    "    u32 votes = warp_ballot(FULL_WARP, s.word[SIMT_THREADS - 1 - thread_id()] > 3u);\n"
    "    if (i < a.n) a.out[i] = votes + warp_shuffle_word(FULL_WARP, sum, 0u);\n"
    "}\n";

// The dialect in front of `body`, as the core flattens a kernel file; to be freed with text_free.
static text with_dialect(const char *body)
{
    const char *dialect = "";
    text whole = {0};
    CHECK_STATUS(source_load("simt.h", &dialect), CUBC_OK);
    text_puts(&whole, "#define SIMT_CUDA\n#define SIMT_THREADS 256\n#define SIMT_WARP 32\n");
    text_puts(&whole, dialect);
    text_puts(&whole, body);
    CHECK_STATUS(text_done(&whole), CUBC_OK);
    return whole;
}

static cubc_status compile(const char *source, const char *arch, double deadline_s, binary *out)
{
    compile_request request = {source, "copy.cu ipt_4.tpb_256", arch, deadline_s};
    return api->compile(&request, out);
}

static bool holds(const binary *code, const char *name)
{
    size_t length = strlen(name) + 1; // as a whole entry of the string table
    for (size_t i = 0; i + length <= code->size; i++)
        if (memcmp(code->data + i, name, length) == 0) return true;
    return false;
}

static void compiles_for_every_architecture(void)
{
    const char *archs[] = {"sm_75", "sm_80", "sm_90", "sm_100"};
    text source = with_dialect(kernel_text);
    for (size_t i = 0; i < COUNT_OF(archs); i++) {
        binary code;
        cubc_status st = compile(source.data, archs[i], 60, &code);
        if (st == CUBC_NO_DEVICE) { // an NVRTC before 12.8 does not know sm_100
            printf("skipped %s: %s\n", archs[i], cubc_error_message());
            continue;
        }
        CHECK_STATUS(st, CUBC_OK);
        CHECK(code.size > 64 && memcmp(code.data, "\177ELF", 4) == 0);
        CHECK(holds(&code, "copy_main"));
        CHECK(holds(&code, "copy_main_layout")); // not dropped although nothing reads it
        CHECK(!holds(&code, "copy_tail"));
        binary_free(&code);
        CHECK(code.data == NULL);
    }
    text_free(&source);
}

static void a_rejected_source_gives_the_log(void)
{
    text source = with_dialect("#line 1 \"copy.cu\"\nKERNEL(k, nothing_of_the_kind, u64) {}\n");
    binary code;
    CHECK_STATUS(compile(source.data, "sm_80", 0, &code), CUBC_COMPILE_ERROR);
    CHECK(code.data == NULL);
    CHECK(strstr(cubc_error_message(),
                 "copy.cu ipt_4.tpb_256 does not compile for sm_80: copy.cu(") != NULL);
    CHECK(strstr(cubc_error_message(), "nothing_of_the_kind") != NULL);
    CHECK(strchr(cubc_error_message(), '\n') == NULL);
    CHECK(strstr(cubc_error_log(), "nothing_of_the_kind") != NULL);
    CHECK(strstr(cubc_error_log(), "never referenced") == NULL);
    text_free(&source);
}

static void an_unknown_architecture_is_named(void)
{
    binary code;
    CHECK_STATUS(compile("", "sm_999", 0, &code), CUBC_NO_DEVICE);
    CHECK(strstr(cubc_error_message(), "sm_999 needs a newer NVRTC") != NULL);
    CHECK_STATUS(compile("", "sm_30", 0, &code), CUBC_NO_DEVICE);
    CHECK(strstr(cubc_error_message(), "sm_30 needs an older NVRTC") != NULL);
    const char *malformed[] = {"", "sm_", "sm_90b", "sm_90 -x", "compute_90", "cpu"};
    for (size_t i = 0; i < COUNT_OF(malformed); i++)
        CHECK_STATUS(compile("", malformed[i], 0, &code), CUBC_INVALID_ARGUMENT);
}

static bool always(void)
{
    return true;
}

static void compilation_can_be_stopped(void)
{
    text source = with_dialect(kernel_text);
    binary code;
    char name[96];
    int major = 0, minor = 0;
    CHECK_STATUS(api->compiler(name, sizeof name), CUBC_OK);
    CHECK(sscanf(name, "NVRTC %d.%d", &major, &minor) == 2);
    if (major * 100 + minor < 1208) {
        printf("skipped compilation_can_be_stopped: %s has no callback\n", name);
    } else {
        CHECK_STATUS(compile(source.data, "sm_80", 1e-6, &code), CUBC_TIMEOUT);
        CHECK(code.data == NULL);
        interrupt_set_hook(always);
        CHECK_STATUS(compile(source.data, "sm_80", 0, &code), CUBC_INTERRUPTED);
        interrupt_set_hook(NULL);
    }
    text_free(&source);
}

static void no_memory_is_reported(void)
{
    binary code;
    text source = with_dialect(kernel_text);
    mem_fail_at(1);
    CHECK_STATUS(compile(source.data, "sm_80", 0, &code), CUBC_NO_MEMORY);
    mem_fail_at(1);
    CHECK_STATUS(compile("error", "sm_80", 0, &code), CUBC_NO_MEMORY);
    mem_fail_at(0);
    text_free(&source);
}

static void *compile_in_thread(void *source)
{
    binary code;
    cubc_status st = compile(source, "sm_80", 0, &code);
    bool fine = st == CUBC_OK && code.size > 64;
    binary_free(&code);
    return fine ? source : NULL;
}

static void threads_compile_side_by_side(void)
{
    text source = with_dialect(kernel_text);
    pthread_t threads[4];
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        CHECK(pthread_create(&threads[i], NULL, compile_in_thread, source.data) == 0);
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        CHECK(result == source.data);
    }
    text_free(&source);
}

static void a_missing_device_is_explained(void)
{
    const char *why = NULL;
    cubc_device *device;
    int count = api->count(&why);
    CHECK(why != NULL);
    if (count > 0) {
        printf("skipped a_missing_device_is_explained: there is a GPU\n");
        return;
    }
    CHECK(count == 0 && strlen(why) > 20);
    CHECK_STATUS(api->open(0, &device), CUBC_NO_DEVICE);
    CHECK(device == NULL && strcmp(cubc_error_message(), why) == 0);
    CHECK_STATUS(device_open("cuda:0", &device), CUBC_NO_DEVICE);
    CHECK(device == NULL && strstr(cubc_error_message(), why) != NULL);
    CHECK(strstr(cubc_error_message(), "cpu") != NULL);
}

static const check_test tests[] = {
    {"a_missing_device_is_explained", a_missing_device_is_explained},
    {"compiles_for_every_architecture", compiles_for_every_architecture},
    {"a_rejected_source_gives_the_log", a_rejected_source_gives_the_log},
    {"an_unknown_architecture_is_named", an_unknown_architecture_is_named},
    {"compilation_can_be_stopped", compilation_can_be_stopped},
    {"no_memory_is_reported", no_memory_is_reported},
    {"threads_compile_side_by_side", threads_compile_side_by_side},
};

int main(int argc, char **argv)
{
    char name[96];
    size_t count = COUNT_OF(tests);
    if (api->compiler(name, sizeof name) != CUBC_OK) {
        printf("test_nvrtc: skipped the compiler: %s\n", cubc_error_message());
        count = 1; // the first test is about just that
    }
    return check_run(tests, count, argc > 1 ? argv[1] : NULL);
}
