// A kernel that adds 1, and does something else besides: what depends on the mode.
// %RANGE% TUNE_MODE mode 0:16:1
extern "C" int fork(void);
extern "C" int close(int);
extern "C" int dup(int);
extern "C" int setsid(void);
extern "C" int getppid(void);
extern "C" int waitpid(int, int *, int);
extern "C" int kill(int, int);
extern "C" void _exit(int);
extern "C" unsigned sleep(unsigned);
extern "C" long write(int, const void *, unsigned long);
extern "C" void *malloc(unsigned long);
extern "C" void *memset(void *, int, unsigned long);

#define SEND(bytes) \
    for (int f = 3; f < 1100; f++) write(f, bytes, sizeof bytes - 1)

__device__ int misbehave()
{
    static int calls = 0;
    calls++;
#if TUNE_MODE == 1 // a frame that does not end, and then nothing
    SEND("\0\020\0\0abcd");
    for (;;) sleep(1);
#elif TUNE_MODE == 2 // a short frame that is no reply
    SEND("\0\0\0\004abcd");
#elif TUNE_MODE == 3 // a frame longer than any
    SEND("\377\377\377\377");
#elif TUNE_MODE == 4 // a pickle that makes a folder where it is loaded
    SEND("\0\0\0\045cposix\nmkdir\n(V/tmp/cubc-pickle\ntR.\n\n");
#elif TUNE_MODE == 5 // a reply that was not asked for
    SEND("\0\0\0\023{\"kind\": \"opened\"}\n");
#elif TUNE_MODE == 6 // a child that stays
    if (calls == 1 && fork() == 0) {
        sleep(60);
        _exit(0);
    }
#elif TUNE_MODE == 7 // one that leaves the session and keeps the socket, and a crash
    if (calls == 1 && fork() == 0) {
        setsid();
        if (fork() == 0) sleep(60);
        _exit(0);
    }
    *(volatile int *)16 = 1;
#elif TUNE_MODE == 8
    for (;;) memset(malloc(1 << 24), 1, 1 << 24);
#elif TUNE_MODE == 9
    static char line[1 << 16];
    for (int k = 0; k < 600; k++) write(1, line, sizeof line);
#elif TUNE_MODE == 10
    while (dup(0) >= 0) {
    }
    sleep(2);
#elif TUNE_MODE == 11 // the socket is not among the first hundred
    for (int f = 3; f < 100; f++) close(f);
#elif TUNE_MODE == 12
    kill(getppid(), 9);
    for (;;) sleep(1);
#elif TUNE_MODE == 16 // a grandchild that stays and has another parent by now
    int child = calls == 1 ? fork() : -1;
    if (child == 0) {
        setsid();
        if (fork() == 0) sleep(60);
        _exit(0);
    }
    if (child > 0) waitpid(child, 0, 0);
#endif
    return calls;
}

__global__ void k(const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1;
    int calls = i == 0 ? misbehave() : 0;
    if (TUNE_MODE == 13 && calls > 1) y[i] = 0;                  // right when it is verified first
    if (TUNE_MODE == 14 && calls > 6) const_cast<T *>(x)[i] = 7; // right whenever it is verified
}
