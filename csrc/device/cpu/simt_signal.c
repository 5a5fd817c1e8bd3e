// Handlers of a launch's signals, put in place and taken back: see simt_signal.h.
#define _GNU_SOURCE // REG_RIP
#include "device/cpu/simt_signal.h"

#include "base/base.h"
#include "device/cpu/simt_block.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

enum { ACTION_WORDS = (sizeof(struct sigaction) + sizeof(long) - 1) / sizeof(long) };

// The previous owner's action. A handler reads it on any thread, also after its launch and in the
// middle of a change, for which nobody can wait: the copy that `version` names is never written.
typedef struct kept_action {
    atomic_uint version;
    atomic_ulong copies[2][ACTION_WORDS];
} kept_action;

typedef struct owned {
    int number;
    simt_fault_kind fault; // that it means
    kept_action previous;
} owned;
// x86 processors trap where others give some result, and compilers let a program trap where it must
// not come, as at a division by a zero that they can see; a user's expression must not end the
// process.
static owned traps[] = {{.number = SIGFPE, .fault = FAULT_DIVISION},
                        {.number = SIGILL, .fault = FAULT_IMPOSSIBLE}};
static owned ask = {.number = SIGURG};

FORK_SAFE_MUTEX(ownership);
static int launches, asking; // that need the traps, and SIGURG
static unsigned forks;       // a child of fork has none of its parent's launches

// ---- the previous owner -------------------------------------------------------------------------
static void keep(kept_action *k, const struct sigaction *action) // under the lock
{
    unsigned next = atomic_load(&k->version) + 1;
    unsigned long words[ACTION_WORDS] = {0};
    memcpy(words, action, sizeof *action);
    for (int i = 0; i < ACTION_WORDS; i++)
        atomic_store_explicit(&k->copies[next % 2][i], words[i], memory_order_release);
    atomic_store(&k->version, next);
}

static struct sigaction kept(kept_action *k)
{
    struct sigaction action;
    unsigned long words[ACTION_WORDS];
    unsigned version, now = atomic_load(&k->version);
    do {
        version = now;
        for (int i = 0; i < ACTION_WORDS; i++) words[i] = atomic_load(&k->copies[version % 2][i]);
        now = atomic_load(&k->version);
    } while (now != version);
    memcpy(&action, words, sizeof action);
    return action;
}

// ---- handlers -----------------------------------------------------------------------------------
static _Thread_local bool passing SIMT_FAST_TLS; // until that handler returns, or the next launch

// Does what would happen without the handler.
static void pass_on(owned *o, siginfo_t *info, void *context)
{
    const struct sigaction action = kept(&o->previous), *previous = &action;
    bool sent = info->si_code <= 0; // by a program; else the instruction is repeated on return
    bool handled = (previous->sa_flags & SA_SIGINFO) ||
                   (previous->sa_handler != SIG_DFL && previous->sa_handler != SIG_IGN);
    if (handled && !passing) {
        sigset_t mask;
        passing = true; // one that hands the signal back to us would do so without end
        pthread_sigmask(SIG_BLOCK, &previous->sa_mask, &mask);
        if (previous->sa_flags & SA_SIGINFO)
            previous->sa_sigaction(o->number, info, context);
        else
            previous->sa_handler(o->number);
        pthread_sigmask(SIG_SETMASK, &mask, NULL);
        passing = false;
    } else if (o->number != SIGURG && !(sent && previous->sa_handler == SIG_IGN)) {
        signal(o->number, SIG_DFL);
        if (sent) raise(o->number);
    }
}

static void on_trap(int number, siginfo_t *info, void *context)
{
    owned *o = &traps[number == traps[0].number ? 0 : 1];
    if (info->si_code > 0) simt_block_trap(o->fault); // returns if the fault is not a kernel's
    pass_on(o, info, context);
}

// The address of the instruction that was interrupted; 0: this machine's are not known.
static uintptr_t interrupted_at(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

// Functions of C's library of mathematics are as the kernel's code: a kernel of sines is there for
// nearly all of its time. The range of that library's code:
static struct {
    _Atomic uintptr_t begin;
    atomic_size_t bytes;
} mathematics;

static bool is_mathematics(uintptr_t at)
{
    return at - atomic_load(&mathematics.begin) < atomic_load(&mathematics.bytes);
}

static int note_mathematics(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size, (void)context;
    if (!strstr(info->dlpi_name, "/libm.so")) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
        atomic_store(&mathematics.begin, info->dlpi_addr + segment->p_vaddr);
        atomic_store(&mathematics.bytes, segment->p_memsz);
    }
    return 1;
}

static void find_mathematics(void)
{
    static atomic_bool looked; // Python has loaded it before the first launch
    if (!atomic_exchange(&looked, true)) dl_iterate_phdr(note_mathematics, NULL);
}

static atomic_bool missed;

static void on_ask(int number, siginfo_t *info, void *context)
{
    int error = errno;
    (void)number;
    if (info->si_code > 0 || info->si_pid != getpid())
        pass_on(&ask, info, context);
    else if (!simt_block_ask(interrupted_at(context), is_mathematics(interrupted_at(context))))
        atomic_store(&missed, true);
    errno = error;
}

// ---- ownership ----------------------------------------------------------------------------------
static bool is_ours(const struct sigaction *a, void (*handler)(int, siginfo_t *, void *))
{
    return (a->sa_flags & SA_SIGINFO) && a->sa_sigaction == handler;
}

// The handler may not return, so the signal must not stay blocked. The frames of fibres are small:
// a fault takes the alternate stack where the program has one. Asking switches fibres, so it has to
// be on the stack of the fibre.
static void install(owned *o, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = handler,
                               .sa_flags = SA_SIGINFO | SA_NODEFER | flags},
                     old;
    sigemptyset(&action.sa_mask);
    // The handler can be called as soon as it is there, and must know then.
    if (sigaction(o->number, NULL, &old) == 0 && !is_ours(&old, handler)) keep(&o->previous, &old);
    if (sigaction(o->number, &action, &old) == 0 && !is_ours(&old, handler))
        keep(&o->previous, &old);
}

// A handler that was installed in between stays.
static void put_back(owned *o, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction previous = kept(&o->previous), now;
    if (sigaction(o->number, &previous, &now) == 0 && !is_ours(&now, handler))
        sigaction(o->number, &now, NULL);
}

static void install_traps(void)
{
    for (size_t k = 0; k < COUNT_OF(traps); k++) install(&traps[k], on_trap, SA_ONSTACK);
}

void simt_signals_listen(void)
{
    sigset_t own;
    sigemptyset(&own);
    for (size_t k = 0; k < COUNT_OF(traps); k++) sigaddset(&own, traps[k].number);
    sigaddset(&own, ask.number);
    pthread_sigmask(SIG_UNBLOCK, &own, NULL);
}

static void forget_parent(void)
{
    if (forks != fork_count()) launches = asking = 0;
    forks = fork_count();
}

void simt_signals_take(simt_signals *s, bool faults)
{
    sigset_t ours;
    s->faults = faults;
    passing = false; // a handler may have left by a jump
    if (faults) {
        pthread_mutex_lock(&ownership);
        forget_parent();
        if (launches++ == 0) install_traps();
        pthread_mutex_unlock(&ownership);
    }
    sigemptyset(&ours);
    for (size_t k = 0; k < COUNT_OF(traps); k++) sigaddset(&ours, traps[k].number);
    sigaddset(&ours, ask.number);
    pthread_sigmask(SIG_UNBLOCK, &ours, &s->mask);
}

void simt_signals_give(const simt_signals *s)
{
    bool blocked = sigismember(&s->mask, ask.number);
    for (size_t k = 0; k < COUNT_OF(traps); k++)
        blocked = blocked || sigismember(&s->mask, traps[k].number);
    if (blocked) pthread_sigmask(SIG_SETMASK, &s->mask, NULL);
    if (!s->faults) return;
    pthread_mutex_lock(&ownership);
    if (--launches == 0)
        for (size_t k = 0; k < COUNT_OF(traps); k++) put_back(&traps[k], on_trap);
    pthread_mutex_unlock(&ownership);
}

void simt_signals_renew(void)
{
    pthread_mutex_lock(&ownership);
    if (launches > 0) install_traps();
    pthread_mutex_unlock(&ownership);
}

void simt_ask_begin(void)
{
    find_mathematics();
    pthread_mutex_lock(&ownership);
    forget_parent();
    if (asking++ == 0) install(&ask, on_ask, SA_RESTART);
    pthread_mutex_unlock(&ownership);
}

void simt_ask(pthread_t thread)
{
    pthread_kill(thread, ask.number);
}

bool simt_ask_missed(void)
{
    return atomic_exchange(&missed, false);
}

void simt_ask_end(void)
{
    pthread_mutex_lock(&ownership);
    if (--asking == 0) put_back(&ask, on_ask);
    pthread_mutex_unlock(&ownership);
}
