// Messages between GPUs by NCCL, found at run time: see device/messenger.h.
//
// NCCL's types and results are declared here, as its ABI has them since 2.10; nothing of it is
// needed to build. Messages are sends and receives in groups, and gathers, on the stream of the
// work or on one that leaves it and comes back, and a graph that is recorded there has them.
//
// Calls of NCCL that wait for other ranks, or for graphs that hold a communicator, are made by
// threads of their own, which the caller does not wait for without an end. No message goes by
// NVLink's multicast.
#define _POSIX_C_SOURCE 200809L
#include "device/cuda/device_cuda.h"

#include "device/messenger.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int ncclResult_t;
typedef struct ncclComm *ncclComm_t;
typedef struct ncclUniqueId {
    char internal[MESSENGER_ID_BYTES];
} ncclUniqueId;
enum {
    ncclSuccess = 0,
    ncclInvalidUsage = 5,
    ncclRemoteError = 6,
    ncclInProgress = 7,
    ncclInt8 = 0,
    LEAST_VERSION = 21000 // 2.10
};

// clang-format off
#define NCCL_TABLE(X)                                                                             \
    X(ncclResult_t, ncclGetVersion, (int *version))                                               \
    X(ncclResult_t, ncclGetUniqueId, (ncclUniqueId *id))                                          \
    X(ncclResult_t, ncclCommInitRank, (ncclComm_t *comm, int size, ncclUniqueId id, int rank))    \
    X(ncclResult_t, ncclCommDestroy, (ncclComm_t comm))                                           \
    X(ncclResult_t, ncclCommAbort, (ncclComm_t comm))                                             \
    X(ncclResult_t, ncclCommGetAsyncError, (ncclComm_t comm, ncclResult_t *result))               \
    X(const char *, ncclGetErrorString, (ncclResult_t result))                                    \
    X(ncclResult_t, ncclGroupStart, (void))                                                       \
    X(ncclResult_t, ncclGroupEnd, (void))                                                         \
    X(ncclResult_t, ncclSend, (const void *from, size_t count, int type, int rank,                \
                               ncclComm_t comm, cudaStream_t stream))                             \
    X(ncclResult_t, ncclRecv, (void *to, size_t count, int type, int rank, ncclComm_t comm,       \
                               cudaStream_t stream))                                              \
    X(ncclResult_t, ncclAllGather, (const void *from, void *to, size_t count, int type,           \
                                    ncclComm_t comm, cudaStream_t stream))
// clang-format on

typedef struct nccl_functions {
#define NCCL_MEMBER(result, name, parameters) result(*name) parameters;
    NCCL_TABLE(NCCL_MEMBER)
#undef NCCL_MEMBER
    const char *(*ncclGetLastError)(ncclComm_t comm); // since 2.13; or NULL
} nccl_functions;

static nccl_functions nccl; // complete once ready
static atomic_bool ready;
FORK_SAFE_MUTEX(lock); // guards loading, and `given`
static char given[4096];

// ---- the library --------------------------------------------------------------------------------
void cuda_nccl_set_path(const char *path)
{
    pthread_mutex_lock(&lock);
    snprintf(given, sizeof given, "%s", path ? path : "");
    pthread_mutex_unlock(&lock);
}

// The copy that the user insists on; else one that is loaded, as PyTorch's, that of a wheel, and
// that of the dynamic linker.
static void *open_library(const char *insisted)
{
    static const char name[] = "libnccl.so.2";
    if (insisted) return dlopen(insisted, RTLD_NOW | RTLD_LOCAL);
    void *file = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (!file && given[0]) file = dlopen(given, RTLD_NOW | RTLD_LOCAL);
    return file ? file : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static bool bind_functions(void *file, nccl_functions *out)
{
    void *symbol;
    bool complete = true;
#define NCCL_BIND(result, name, parameters)     \
    symbol = dlsym(file, #name);                \
    memcpy(&out->name, &symbol, sizeof symbol); \
    complete = complete && symbol;
    NCCL_TABLE(NCCL_BIND)
#undef NCCL_BIND
    symbol = dlsym(file, "ncclGetLastError");
    memcpy(&out->ncclGetLastError, &symbol, sizeof symbol);
    return complete;
}

// The wheel to install, for the CUDA that the driver runs.
#define WHEEL "pip install nvidia-nccl-cu%d, or name its libnccl.so.2 by CUBC_NCCL"

static int wheel_major(void)
{
    return cuda.driver_version >= 13000 || !cuda.driver_version ? 13 : 12;
}

static cubc_status load(void)
{
    const char *named = getenv("CUBC_NCCL"), *insisted = named && *named ? named : NULL;
    nccl_functions found = {NULL};
    int version = 0;
    // Multicast hangs on some hosts. Memory of a pool cannot be registered for graphs.
    setenv("NCCL_NVLS_ENABLE", "0", 1);
    setenv("NCCL_GRAPH_REGISTER", "0", 0);
    void *file = open_library(insisted);
    if (!file) {
        const char *reason = dlerror();
        FAIL(CUBC_NO_RESOURCES,
             "GPUs that share no memory send messages by NCCL, which cannot be loaded "
             "(%.300s): " WHEEL,
             reason ? reason : "no reason was given", wheel_major());
    }
    const bool complete = bind_functions(file, &found);
    if (!found.ncclGetVersion || found.ncclGetVersion(&version) != ncclSuccess) version = 0;
    if (!complete || version < LEAST_VERSION) {
        dlclose(file);
        FAIL(CUBC_NO_RESOURCES,
             "GPUs that share no memory send messages by NCCL 2.10 or newer, and version %d was "
             "found: " WHEEL,
             version, wheel_major());
    }
    nccl = found;
    atomic_store(&ready, true);
    return CUBC_OK;
}

static cubc_status nccl_ready(void)
{
    if (atomic_load_explicit(&ready, memory_order_acquire)) return CUBC_OK;
    pthread_mutex_lock(&lock);
    cubc_status st = atomic_load(&ready) ? CUBC_OK : load();
    pthread_mutex_unlock(&lock);
    return st;
}

static const char *last_error(void)
{
    return nccl.ncclGetLastError ? nccl.ncclGetLastError(NULL) : NULL; // of any communicator
}

static cubc_status check_result(const char *call, ncclResult_t result)
{
    if (result == ncclSuccess || result == ncclInProgress) return CUBC_OK;
    const char *more = last_error();
    FAIL(result == ncclInvalidUsage ? CUBC_INVALID_ARGUMENT : CUBC_DEVICE_ERROR,
         "%s: %s%s%.500s%s; NCCL_DEBUG=WARN says more", call, nccl.ncclGetErrorString(result),
         more && *more ? ", " : "", more ? more : "",
         result == ncclInvalidUsage ? " (each rank has a GPU of its own)" : "");
}

// ---- calls that may wait ------------------------------------------------------------------------
enum { RUNNING, DONE, ABANDONED };
typedef struct waiting_call {
    const cuda_device *device;
    int rank, size;
    ncclUniqueId id;
    ncclComm_t comm; // made, or ended
    ncclResult_t result;
    char why[512];
    void (*run)(struct waiting_call *call);
    atomic_int state; // whoever finds that the other one has left frees it
} waiting_call;

static void run_open(waiting_call *call)
{
    bool pushed;
    call->result = 1; // an error of CUDA
    if (cuda_context_enter(call->device, &pushed)) return;
    call->result = nccl.ncclCommInitRank(&call->comm, call->size, call->id, call->rank);
    cuda_context_leave(pushed);
    if (call->result == ncclSuccess) return;
    const char *more = last_error();
    snprintf(call->why, sizeof call->why, "%s", more ? more : "");
}

static void run_destroy(waiting_call *call)
{
    call->result = nccl.ncclCommDestroy(call->comm);
}

static void run_cancel(waiting_call *call)
{
    call->result = nccl.ncclCommAbort(call->comm);
}

static void *thread_of_call(void *context)
{
    waiting_call *call = context;
    call->run(call);
    if (atomic_exchange(&call->state, DONE) != ABANDONED) return NULL;
    if (call->run == run_open && call->result == ncclSuccess) nccl.ncclCommAbort(call->comm);
    mem_free(call);
    return NULL;
}

static bool start(waiting_call *call)
{
    pthread_t thread;
    if (thread_start(&thread, thread_of_call, call) != 0) return false;
    pthread_detach(thread);
    return true;
}

// Waits up to `seconds` for a call that was started. False: it was left to itself.
static bool wait_for_call(waiting_call *call, double seconds)
{
    const double until = now_seconds() + seconds;
    int running = RUNNING;
    while (atomic_load(&call->state) == RUNNING && now_seconds() < until && !interrupt_pending())
        nap(0.001);
    return !atomic_compare_exchange_strong(&call->state, &running, ABANDONED);
}

// ---- messages -----------------------------------------------------------------------------------
typedef struct nccl_messenger {
    messenger base; // first
    const cuda_device *device;
    // The communicator has one owner. While `comm` has it, threads that have counted themselves
    // before they read it may call NCCL with it. Whoever takes it out of there ends it, once they
    // have left.
    _Atomic(ncclComm_t) comm;
    atomic_int users;
    waiting_call *ending; // of `comm`, with room since it was opened: an end needs no memory
    bool ends;            // it was started
    // Messages that other work goes on beside are on a stream of their own, which leaves the other
    // one at `forked` and comes back at `joined`.
    cudaStream_t side;
    cudaEvent_t forked, joined;
} nccl_messenger;

static void end_comm(nccl_messenger *n, void (*run)(waiting_call *), ncclComm_t comm)
{
    *n->ending = (waiting_call){.run = run, .device = n->device, .comm = comm};
    n->ends = start(n->ending);
}

static cubc_status enter(nccl_messenger *n, ncclComm_t *comm, bool *pushed)
{
    cubc_status st = cuda_context_enter(n->device, pushed);
    if (st) return st;
    atomic_fetch_add(&n->users, 1);
    *comm = atomic_load(&n->comm);
    if (*comm) return CUBC_OK;
    atomic_fetch_sub(&n->users, 1);
    cuda_context_leave(*pushed);
    FAIL(CUBC_TIMEOUT, "the messages of rank %d have ended", n->base.rank);
}

static void leave(nccl_messenger *n, bool pushed)
{
    atomic_fetch_sub(&n->users, 1);
    cuda_context_leave(pushed);
}

// Sends and receives of a group, whatever becomes of one of them.
static ncclResult_t queue_group(ncclComm_t comm, const device_message *list, int count,
                                void *stream)
{
    ncclResult_t first = nccl.ncclGroupStart();
    if (first) return first;
    for (int k = 0; k < count && !first; k++) {
        const device_message *m = &list[k];
        if (m->to_rank != NO_RANK)
            first = nccl.ncclSend(m->from, m->bytes, ncclInt8, m->to_rank, comm, stream);
        if (!first && m->from_rank != NO_RANK)
            first = nccl.ncclRecv(m->to, m->bytes, ncclInt8, m->from_rank, comm, stream);
    }
    const ncclResult_t ended = nccl.ncclGroupEnd();
    return first ? first : ended;
}

static cubc_status move(messenger *m, const device_message *list, int count, void *stream)
{
    nccl_messenger *n = (nccl_messenger *)m;
    ncclComm_t comm;
    bool pushed;
    TRY(enter(n, &comm, &pushed));
    cubc_status st = check_result("ncclSend and ncclRecv", queue_group(comm, list, count, stream));
    leave(n, pushed);
    return st;
}

// Queues on a stream what waits for another one to come as far as it is now.
static cubc_status follow(cudaStream_t later, cudaStream_t earlier, cudaEvent_t event)
{
    TRY(RUNTIME(cuda.cudaEventRecord(event, earlier), "cudaEventRecord"));
    return RUNTIME(cuda.cudaStreamWaitEvent(later, event, 0), "cudaStreamWaitEvent");
}

static cubc_status begin(messenger *m, const device_message *list, int count, void *stream)
{
    nccl_messenger *n = (nccl_messenger *)m;
    bool pushed;
    TRY(cuda_context_enter(n->device, &pushed));
    cubc_status st = follow(n->side, stream, n->forked);
    cuda_context_leave(pushed);
    return st ? st : move(m, list, count, n->side);
}

static cubc_status end(messenger *m, void *stream)
{
    nccl_messenger *n = (nccl_messenger *)m;
    bool pushed;
    TRY(cuda_context_enter(n->device, &pushed));
    cubc_status st = follow(stream, n->side, n->joined);
    cuda_context_leave(pushed);
    return st;
}

static cubc_status gather(messenger *m, void *all, size_t bytes, void *stream)
{
    nccl_messenger *n = (nccl_messenger *)m;
    const char *mine = (char *)all + (size_t)m->rank * bytes; // in its place: nothing is copied
    ncclComm_t comm;
    bool pushed;
    TRY(enter(n, &comm, &pushed));
    cubc_status st = CUBC_OK;
    if (m->size > 1)
        st = check_result("ncclAllGather",
                          nccl.ncclAllGather(mine, all, bytes, ncclInt8, comm, stream));
    leave(n, pushed);
    return st;
}

// The thread that watches asks the device too, which is no part of what another thread captures.
static cubc_status check(messenger *m)
{
    const ncclComm_t comm = atomic_load(&((nccl_messenger *)m)->comm);
    int mode = cudaStreamCaptureModeRelaxed;
    ncclResult_t result = ncclSuccess;
    if (!comm) return CUBC_OK;
    cuda_capture_exchange(&mode);
    cubc_status st =
        check_result("ncclCommGetAsyncError", nccl.ncclCommGetAsyncError(comm, &result));
    cuda_capture_exchange(&mode);
    return st ? st : check_result("a message", result);
}

// A thread that does not leave NCCL waits for another rank, and leaves when the communicator ends.
// NCCL ends its kernels at once, and then waits for graphs that hold the communicator.
static void cancel(messenger *m)
{
    enum { SECONDS = 1 };
    nccl_messenger *n = (nccl_messenger *)m;
    const ncclComm_t comm = atomic_exchange(&n->comm, NULL);
    const double until = now_seconds() + SECONDS;
    if (!comm) return;
    while (atomic_load(&n->users) && now_seconds() < until) nap(0.001);
    end_comm(n, run_cancel, comm);
}

static void close_side(nccl_messenger *n)
{
    bool pushed;
    if (cuda_context_enter(n->device, &pushed)) return;
    if (n->forked && cuda.cudaEventDestroy(n->forked)) cuda.cudaGetLastError();
    if (n->joined && cuda.cudaEventDestroy(n->joined)) cuda.cudaGetLastError();
    if (n->side && cuda.cudaStreamDestroy(n->side)) cuda.cudaGetLastError();
    cuda_context_leave(pushed);
}

static void close_messenger(messenger *m)
{
    enum { SECONDS = 5 };
    nccl_messenger *n = (nccl_messenger *)m;
    const ncclComm_t comm = atomic_exchange(&n->comm, NULL);
    if (comm) end_comm(n, run_destroy, comm);
    if (!n->ends || wait_for_call(n->ending, SECONDS)) mem_free(n->ending);
    close_side(n);
    mem_free(n);
}

static const messenger_api nccl_api = {.move = move,
                                       .begin = begin,
                                       .end = end,
                                       .gather = gather,
                                       .check = check,
                                       .cancel = cancel,
                                       .close = close_messenger};

// ---- opening ------------------------------------------------------------------------------------
cubc_status cuda_nccl_id(unsigned char id[MESSENGER_ID_BYTES])
{
    ncclUniqueId made;
    TRY(nccl_ready());
    if (!id) return CUBC_OK;
    TRY(check_result("ncclGetUniqueId", nccl.ncclGetUniqueId(&made)));
    memcpy(id, &made, sizeof made);
    return CUBC_OK;
}

static cubc_status open_comm(const waiting_call *call)
{
    if (call->result == ncclSuccess) return CUBC_OK;
    FAIL(call->result == ncclInvalidUsage ? CUBC_INVALID_ARGUMENT : CUBC_DEVICE_ERROR,
         "ncclCommInitRank, of rank %d of %d on %s: %s, %s; each rank has a GPU of its own, and "
         "NCCL_DEBUG=WARN says more",
         call->rank, call->size, call->device->base.info.name,
         nccl.ncclGetErrorString(call->result), call->why);
}

// Messages come first where a GPU has blocks of both to begin: the others wait for them in the end.
static cubc_status open_side(nccl_messenger *n)
{
    enum { FIRST = -1000 }; // more than any GPU has
    bool pushed;
    TRY(cuda_context_enter(n->device, &pushed));
    cubc_status st =
        RUNTIME(cuda.cudaStreamCreateWithPriority(&n->side, cudaStreamNonBlocking, FIRST),
                "cudaStreamCreateWithPriority");
    cudaEvent_t *events[] = {&n->forked, &n->joined};
    for (int k = 0; k < 2 && !st; k++)
        st = RUNTIME(cuda.cudaEventCreateWithFlags(events[k], cudaEventDisableTiming),
                     "cudaEventCreateWithFlags");
    cuda_context_leave(pushed);
    return st;
}

cubc_status cuda_nccl_open(cubc_device *device, const unsigned char id[MESSENGER_ID_BYTES],
                           int rank, int size, double seconds, messenger **out)
{
    const double MORE_SECONDS = 30; // to load the library's kernels and to find the network
    *out = NULL;
    TRY(nccl_ready());
    nccl_messenger *n = mem_zalloc(1, sizeof *n);
    waiting_call *call = n ? mem_zalloc(1, sizeof *call) : NULL;
    if (!call) {
        mem_free(n);
        return CUBC_NO_MEMORY;
    }
    *call = (waiting_call){
        .run = run_open, .device = (cuda_device *)device, .rank = rank, .size = size};
    memcpy(&call->id, id, sizeof call->id);
    cubc_status st = CUBC_OK;
    if (!start(call))
        st = error_set(__FILE__, __LINE__, CUBC_NO_RESOURCES, "there is no thread for NCCL");
    else if (!wait_for_call(call, seconds + MORE_SECONDS)) {
        mem_free(n);
        if (interrupt_pending()) FAIL(CUBC_INTERRUPTED, "interrupted while NCCL joins the ranks");
        FAIL(
            CUBC_TIMEOUT,
            "NCCL has not joined the %d ranks within %g s, on rank %d: do they reach each other by "
            "the network that NCCL_SOCKET_IFNAME names? NCCL_DEBUG=INFO says what it tries",
            size, seconds + MORE_SECONDS, rank);
    }
    if (!st) st = open_comm(call);
    if (!st) {
        *n = (nccl_messenger){.base = {.api = &nccl_api, .rank = rank, .size = size, .late = -1},
                              .device = (cuda_device *)device,
                              .comm = call->comm,
                              .ending = call};
        st = open_side(n);
        if (st)
            close_messenger(&n->base);
        else
            *out = &n->base;
    } else {
        mem_free(n);
        mem_free(call);
    }
    return st;
}
