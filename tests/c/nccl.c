// A library in place of NCCL, which test_nccl.c compiles: it notes its calls, and has messages to
// this rank itself alone. A + marks those on another stream than the default one.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct id {
    char internal[128];
} id;

char calls[4096];
static struct {
    const void *from;
    void *to;
    unsigned long bytes;
} queued[2][8];
static int sends, receipts, asynchronous;
int group_ms;           // that a group takes
int in_group, aborting; // a group that takes longer ends with the communicator, which waits for it
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void note(const char *name)
{
    pthread_mutex_lock(&lock);
    strcat(strcat(calls, name), " ");
    pthread_mutex_unlock(&lock);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int ncclGetVersion(int *version)
{
    *version = NCCL_VERSION;
    return 0;
}

int ncclGetUniqueId(id *out)
{
    memset(out, 'u', sizeof *out);
    return 0;
}

// Rank 3 may not; rank 2 is to see an error later.
int ncclCommInitRank(void **comm, int size, id of, int rank)
{
    *comm = calls;
    aborting = 0;
    asynchronous = rank == 2 ? 6 : 0;
    return rank == 3 || size < 1 || of.internal[127] != 'u' ? 5 : 0;
}

int ncclCommDestroy(void *comm)
{
    (void)comm;
    note("destroy");
    return 0;
}

int ncclCommAbort(void *comm)
{
    (void)comm;
    note("abort");
    __atomic_store_n(&aborting, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&in_group, __ATOMIC_SEQ_CST)) usleep(1000);
    usleep(50000); // for callers that do not wait for the end
    note("aborted");
    return 0;
}

int ncclCommGetAsyncError(void *comm, int *result)
{
    (void)comm;
    *result = asynchronous;
    return 0;
}

const char *ncclGetErrorString(int result)
{
    return result == 6 ? "remote process exited" : "invalid usage";
}

const char *ncclGetLastError(void *comm)
{
    (void)comm;
    return "Duplicate GPU detected";
}

int ncclGroupStart(void)
{
    note("start");
    return 0;
}

int ncclGroupEnd(void)
{
    const double until = seconds() + 1e-3 * group_ms;
    __atomic_store_n(&in_group, 1, __ATOMIC_SEQ_CST);
    while (seconds() < until && !__atomic_load_n(&aborting, __ATOMIC_SEQ_CST)) usleep(1000);
    note("end");
    __atomic_store_n(&in_group, 0, __ATOMIC_SEQ_CST);
    if (aborting) return 3;
    for (int k = 0; k < receipts && k < sends; k++)
        memcpy(queued[1][k].to, queued[0][k].from, queued[0][k].bytes);
    sends = receipts = 0;
    return 0;
}

int ncclSend(const void *from, unsigned long count, int type, int rank, void *comm, void *stream)
{
    char text[64];
    (void)comm;
    snprintf(text, sizeof text, "send%lu:%d->%d%s", count, type, rank, stream ? "+" : "");
    note(text);
    queued[0][sends].from = from;
    queued[0][sends++].bytes = count;
    return 0;
}

int ncclRecv(void *to, unsigned long count, int type, int rank, void *comm, void *stream)
{
    char text[64];
    (void)comm;
    snprintf(text, sizeof text, "receive%lu:%d<-%d%s", count, type, rank, stream ? "+" : "");
    note(text);
    queued[1][receipts++].to = to;
    return 0;
}

int ncclAllGather(const void *from, void *to, unsigned long count, int type, void *comm,
                  void *stream)
{
    char text[64];
    (void)comm, (void)stream;
    snprintf(text, sizeof text, "gather%lu:%d@%ld", count, type,
             (long)((const char *)from - (const char *)to));
    note(text);
    return 0;
}
