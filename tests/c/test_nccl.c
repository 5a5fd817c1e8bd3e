// Messages by NCCL where there is none: a library with its functions takes its place (nccl.c). How
// it is found, what is queued, how messages end, and the watch over those that never come.
#define _GNU_SOURCE
#include "check.h"
#include "device/cuda/device_cuda.h"
#include "lattice/grid/rank_area.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/cubc-test-XXXXXX", library[64], old[64];
static cuda_device device = {.base = {.api = &device_cuda_api, .info.name = "cuda:0"}};

static CUresult no_context(CUcontext *current)
{
    *current = NULL; // which the device has, too
    return CUDA_SUCCESS;
}

static cudaError_t exchange_mode(int *mode)
{
    (void)mode;
    return 0;
}

// Streams and events, whose order is noted as the library's calls are.
static char order[256];

static cudaError_t create_stream(cudaStream_t *stream, unsigned flags, int priority)
{
    static char side;
    CHECK(flags == cudaStreamNonBlocking && priority < -5);
    *stream = (cudaStream_t)&side;
    return 0;
}

static cudaError_t create_event(cudaEvent_t *event, unsigned flags)
{
    static char events[2];
    static int count;
    (void)flags;
    *event = (cudaEvent_t)&events[count++ % 2];
    return 0;
}

static cudaError_t record_event(cudaEvent_t event, cudaStream_t stream)
{
    (void)event;
    strcat(order, stream ? "side " : "work ");
    return 0;
}

static cudaError_t wait_for_event(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)event, (void)flags;
    strcat(order, stream ? "<- side, " : "<- work, ");
    return 0;
}

static cudaError_t destroy_stream(cudaStream_t stream)
{
    (void)stream;
    strcat(order, "no stream ");
    return 0;
}

static cudaError_t destroy_event(cudaEvent_t event)
{
    (void)event;
    strcat(order, "no event ");
    return 0;
}

static void build(const char *path, int version)
{
    char command[512];
    const char *compiler = getenv("CC");
    snprintf(command, sizeof command,
             "%s -shared -fPIC -DNCCL_VERSION=%d -o %s \"$(dirname %s)\"/nccl.c",
             compiler && *compiler ? compiler : "cc", version, path, __FILE__);
    CHECK(system(command) == 0);
}

// Where something of the library's is, which stays loaded.
static void *in_library(const char *name)
{
    static int nothing;
    void *file = dlopen(library, RTLD_NOW), *found = file ? dlsym(file, name) : NULL;
    if (file) dlclose(file);
    return CHECK(found != NULL) ? found : &nothing;
}

// The calls of the library since the last time.
static const char *calls(void)
{
    static char noted[4096];
    char *text = in_library("calls");
    snprintf(noted, sizeof noted, "%s", text);
    text[0] = '\0';
    return noted;
}

// Those of threads of their own come a moment later.
static bool calls_soon(const char *what)
{
    for (int k = 0; k < 10000 && !strstr(in_library("calls"), what); k++) usleep(1000);
    return strstr(calls(), what);
}

// ---- the library --------------------------------------------------------------------------------
static void test_no_library(void)
{
    setenv("CUBC_NCCL", "/nowhere/libnccl.so.2", 1);
    CHECK_STATUS(cuda_nccl_id(NULL), CUBC_NO_RESOURCES);
    CHECK_CONTAINS(cubc_error_message(), "send messages by NCCL, which cannot be loaded");
    CHECK_CONTAINS(cubc_error_message(), "/nowhere/libnccl.so.2");
    CHECK_CONTAINS(cubc_error_message(), "pip install nvidia-nccl-cu13");
    setenv("CUBC_NCCL", old, 1);
    CHECK_STATUS(cuda_nccl_id(NULL), CUBC_NO_RESOURCES);
    CHECK_CONTAINS(cubc_error_message(), "NCCL 2.10 or newer, and version 2907 was found");
    unsetenv("CUBC_NCCL");
    cuda_nccl_set_path(library); // a wheel's
    CHECK_STATUS(cuda_nccl_id(NULL), CUBC_OK);
    CHECK(strcmp(getenv("NCCL_NVLS_ENABLE"), "0") == 0);
    CHECK(calls()[0] == '\0');
}

// ---- messages -----------------------------------------------------------------------------------
static cubc_status open_rank(int rank, int size, messenger **out)
{
    unsigned char id[MESSENGER_ID_BYTES];
    CHECK_STATUS(cuda_nccl_id(id), CUBC_OK);
    return cuda_nccl_open(&device.base, id, rank, size, 5, out);
}

static void test_messages(void)
{
    messenger *m = NULL;
    char from[8] = "abcdefg", to[8] = "";
    const device_message list[] = {{from, to + 3, 2, 1, 0}, {from + 5, to, 3, 0, 1}};
    CHECK_STATUS(open_rank(0, 2, &m), CUBC_OK);
    if (!m) return;
    CHECK_STATUS(m->api->move(m, list, 2, NULL), CUBC_OK);
    CHECK(memcmp(to, "fg\0ab", 5) == 0);
    CHECK(strcmp(calls(), "start send2:0->1 receive2:0<-0 send3:0->0 receive3:0<-1 end ") == 0);
    const device_message halves[] = {{from, to, 2, NO_RANK, 0}, {from, to, 3, 1, NO_RANK}};
    CHECK_STATUS(m->api->move(m, halves, 2, NULL), CUBC_OK);
    CHECK(strcmp(calls(), "start receive2:0<-0 send3:0->1 end ") == 0);
    CHECK(order[0] == '\0');
    CHECK_STATUS(m->api->begin(m, list, 1, NULL), CUBC_OK);
    CHECK(strcmp(order, "work <- side, ") == 0); // the side waits for the work
    CHECK(strcmp(calls(), "start send2:0->1+ receive2:0<-0+ end ") == 0);
    CHECK_STATUS(m->api->end(m, NULL), CUBC_OK);
    CHECK(strcmp(order, "work <- side, side <- work, ") == 0);
    order[0] = '\0';
    CHECK_STATUS(m->api->gather(m, to, 4, NULL), CUBC_OK);
    CHECK(strcmp(calls(), "gather4:0@0 ") == 0);
    CHECK_STATUS(m->api->check(m), CUBC_OK);
    m->api->close(m);
    CHECK(strcmp(calls(), "destroy ") == 0);
    CHECK(strcmp(order, "no event no event no stream ") == 0);
}

static void test_failures(void)
{
    messenger *m = NULL;
    CHECK_STATUS(open_rank(3, 4, &m), CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), "rank 3 of 4 on cuda:0: invalid usage, Duplicate GPU");
    CHECK_CONTAINS(cubc_error_message(), "each rank has a GPU of its own");
    CHECK_STATUS(open_rank(2, 4, &m), CUBC_OK);
    if (!m) return;
    CHECK_STATUS(m->api->check(m), CUBC_DEVICE_ERROR);
    CHECK_CONTAINS(cubc_error_message(), "remote process exited");
    calls();
    mem_fail_at(1); // an end needs no memory
    m->api->cancel(m);
    mem_fail_at(0);
    CHECK(calls_soon("abort aborted "));
    CHECK_STATUS(m->api->check(m), CUBC_OK);
    CHECK_STATUS(m->api->move(m, NULL, 0, NULL), CUBC_TIMEOUT);
    CHECK_STATUS(m->api->begin(m, NULL, 0, NULL), CUBC_TIMEOUT);
    m->api->close(m);
    CHECK(calls()[0] == '\0');
}

// ---- who owns the communicator ------------------------------------------------------------------
static void *move_once(void *context)
{
    messenger *m = context;
    char from[8] = "", to[8];
    const device_message one = {from, to, 2, 0, 0};
    static cubc_status moved;
    moved = m->api->move(m, &one, 1, NULL);
    return &moved;
}

// A thread is in the library when the messages are cancelled: it leaves first, if it does at all.
static void check_cancel_beside(int group_ms, cubc_status expected, const char *noted)
{
    messenger *m = NULL;
    pthread_t thread;
    void *moved = NULL;
    CHECK_STATUS(open_rank(0, 1, &m), CUBC_OK);
    if (!m) return;
    calls();
    int *in_group = in_library("in_group"), *lasts = in_library("group_ms");
    *lasts = group_ms;
    if (!CHECK(pthread_create(&thread, NULL, move_once, m) == 0)) return;
    for (int k = 0; k < 10000 && !__atomic_load_n(in_group, __ATOMIC_SEQ_CST); k++) usleep(1000);
    m->api->cancel(m);
    pthread_join(thread, &moved);
    m->api->close(m); // behind the end of the communicator
    CHECK(strstr(calls(), noted) != NULL);
    CHECK(moved && *(cubc_status *)moved == expected);
    *lasts = 0;
}

static void test_owner(void)
{
    check_cancel_beside(300, CUBC_OK, "receive2:0<-0 end abort aborted ");
    check_cancel_beside(60000, CUBC_DEVICE_ERROR, "receive2:0<-0 abort end aborted ");
}

// ---- the watch ----------------------------------------------------------------------------------
// Messages of the cpu device, which are lost.
static struct {
    messenger base;
    cubc_status status;
    atomic_int cancelled;
} lost;

static cubc_status lose(messenger *m, const device_message *list, int count, void *stream)
{
    (void)m, (void)list, (void)count, (void)stream;
    return CUBC_OK;
}

static cubc_status lose_sums(messenger *m, void *all, size_t bytes, void *stream)
{
    (void)m, (void)all, (void)bytes, (void)stream;
    return CUBC_OK;
}

static cubc_status end_lost(messenger *m, void *stream)
{
    (void)m, (void)stream;
    return CUBC_OK;
}

static cubc_status check_lost(messenger *m)
{
    (void)m;
    if (lost.status) FAIL(lost.status, "the cable is cut");
    return CUBC_OK;
}

static void cancel_lost(messenger *m)
{
    (void)m;
    lost.cancelled++;
}

static void close_lost(messenger *m)
{
    (void)m;
}

static cubc_status no_id(unsigned char id[MESSENGER_ID_BYTES])
{
    (void)id;
    return CUBC_OK;
}

static cubc_status open_lost(cubc_device *on, const unsigned char id[MESSENGER_ID_BYTES], int rank,
                             int size, double seconds, messenger **out)
{
    static const messenger_api api = {lose,       lose,        end_lost,  lose_sums,
                                      check_lost, cancel_lost, close_lost};
    (void)on, (void)id, (void)seconds;
    lost.base = (messenger){&api, rank, size, -1};
    lost.status = CUBC_OK;
    lost.cancelled = 0;
    *out = &lost.base;
    return CUBC_OK;
}

typedef enum loss { NOTHING, A_FACE, SUMS, IN_A_KERNEL, BY_ITSELF } loss;

// Ranks that wait 0.2 s, and what the watch makes of a message that is lost.
static void check_watch(loss what, const char *says)
{
    cubc_device *cpu = NULL;
    cubc_ranks *r = NULL;
    const cubc_ranks_params params = {
        .grid = {1, 1, 1, 1}, .cut = 8, .seconds = 0.2, .transport = CUBC_RANKS_MESSAGES};
    CHECK_STATUS(device_cpu_api.open(0, &cpu), CUBC_OK);
    if (!cpu) return;
    device_api api = device_cpu_api;
    api.messenger_id = no_id;
    api.messenger_open = open_lost;
    cpu->api = &api;
    device_retain(cpu); // closed by hand, as it was opened
    CHECK_STATUS(cubc_ranks_open(cpu, &params, &r), CUBC_OK);
    CHECK_STATUS(ranks_reserve_sums(r, 2, 1), CUBC_OK);
    CHECK_STATUS(ranks_reserve_faces(r, 64), CUBC_OK); // a second area, with places for sums
    CHECK(ranks_are_staged(r));
    rank_table *table = ranks_table(r);
    CHECK(table->slot_bytes == ALIGNMENT); // messages have no tags, which would take as much again
    uint64_t *flags = (uint64_t *)(uintptr_t)(table->mine + FLAGS_AT);
    table->sent = flags[6] = flags[7] = 7; // the last exchange has come
    if (what == A_FACE) flags[7] = 6;
    if (what == SUMS) ((uint64_t *)(uintptr_t)table->sums)[1] = 3;
    if (what == IN_A_KERNEL) *(uint64_t *)(uintptr_t)table->mine = rank_failure(MESSAGE_FACE, 0, 7);
    if (what == BY_ITSELF) lost.status = CUBC_DEVICE_ERROR;
    for (int k = 0; k < 3000 && !lost.cancelled && what != NOTHING; k++) usleep(10000);
    if (what == NOTHING) usleep(500000);
    CHECK(lost.cancelled == (what != NOTHING));
    CHECK_STATUS(cubc_ranks_check(r, NULL), what == NOTHING ? CUBC_OK : CUBC_TIMEOUT);
    if (what != NOTHING) CHECK_CONTAINS(cubc_error_message(), says);
    // Kernels find the reason, and do not wait.
    CHECK((*(uint64_t *)(uintptr_t)table->mine != 0) == (what != NOTHING));
    const rank_faces faces = {.sites = {0, 0, 0, 1}, .bytes = 8};
    const host_step step = ranks_faces_move_step(r, &faces);
    const host_step begin = ranks_faces_begin_step(r, &faces), end = ranks_faces_end_step(r);
    CHECK_STATUS(step.take(step.args, NULL), what == NOTHING ? CUBC_OK : CUBC_TIMEOUT);
    CHECK_STATUS(begin.take(begin.args, NULL), what == NOTHING ? CUBC_OK : CUBC_TIMEOUT);
    CHECK_STATUS(end.take(end.args, NULL), what == NOTHING ? CUBC_OK : CUBC_TIMEOUT);
    cubc_ranks_close(r);
    cpu->api = &device_cpu_api;
    device_cpu_api.close(cpu);
}

static void test_watch(void)
{
    check_watch(NOTHING, "");
    check_watch(A_FACE, "rank 0 of 1 waited 0.2 s for the face of rank 0");
    check_watch(SUMS, "rank 0 of 1 waited 0.2 s for the sums of rank 0");
    check_watch(IN_A_KERNEL, "rank 0 of 1 waited 0.2 s for the face of rank 0");
    check_watch(BY_ITSELF, "messages of rank 0 of 1 have failed, another rank may have ended "
                           "(the cable is cut)");
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        {"no library", test_no_library}, {"messages", test_messages}, {"failures", test_failures},
        {"owner", test_owner},           {"watch", test_watch},
    };
    setenv("CUBC_CPU_THREADS", "1", 1);
    cuda.cuCtxGetCurrent = no_context;
    cuda.cudaThreadExchangeStreamCaptureMode = exchange_mode;
    cuda.cudaStreamCreateWithPriority = create_stream;
    cuda.cudaStreamDestroy = destroy_stream;
    cuda.cudaStreamWaitEvent = wait_for_event;
    cuda.cudaEventCreateWithFlags = create_event;
    cuda.cudaEventRecord = record_event;
    cuda.cudaEventDestroy = destroy_event;
    if (!CHECK(mkdtemp(folder) != NULL)) return 1;
    snprintf(library, sizeof library, "%s/libfake.so", folder);
    snprintf(old, sizeof old, "%s/libold.so", folder);
    build(library, 21005);
    build(old, 2907);
    long before = mem_outstanding();
    int failed = check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
    for (int k = 0; k < 10000 && mem_outstanding() != before; k++) usleep(1000); // threads end
    CHECK(mem_outstanding() == before);
    remove(library);
    remove(old);
    remove(folder);
    return failed || checks_failed_here;
}
