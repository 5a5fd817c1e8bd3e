"""Signals of the cpu device: who has them while a kernel runs, and Ctrl-C in endless kernels."""

import signal
import textwrap

import isolated
import pytest

BEGIN = """
import faulthandler, os, signal, sys, threading, time
import cubc, numpy as np

def fault(x="x / y"):
    try:
        cubc.transform(x, x=np.arange(5), y=np.zeros(5, int), device="cpu")
    except cubc.KernelFault:
        return True

def works():
    return cubc.sum(np.arange(10), device="cpu") == 45

heard = []
def listen(number, frame):
    heard.append(number)
"""


def output(code, **changes):
    return isolated.output(BEGIN + textwrap.dedent(code), **changes)


def test_a_caller_that_blocks_the_signal():
    code = """
    mask = {signal.SIGFPE, signal.SIGILL, signal.SIGUSR1}
    signal.pthread_sigmask(signal.SIG_BLOCK, mask)
    print(fault(), fault("x / 0 + y"), works())
    print(signal.pthread_sigmask(signal.SIG_BLOCK, []) == mask)
    """
    assert output(code) == "True True True\nTrue"


@pytest.mark.parametrize("threads", [1, 2])
def test_a_handler_of_python(threads):
    """It hears no fault of a kernel, and everything else, before and after."""
    code = """
    for _ in range(2):
        signal.signal(signal.SIGFPE, listen)
        assert fault() and works() and not heard
        os.kill(os.getpid(), signal.SIGFPE)
        print(heard.pop() == signal.SIGFPE)
    """
    assert output(code, CUBC_CPU_THREADS=threads) == "True\nTrue"


NESTED = """
    said = []
    def handler(*_):
        try:
            nested()
        except ValueError as error:
            said.append(str(error))
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.05)
"""


@pytest.mark.parametrize("device", ["cpu", "cpu:1"])
def test_a_handler_that_calls_within_a_launch(device):
    """It is refused: its launch, on any of the CPUs, would wait for the one that it interrupts."""
    code = f"""
    small, x = np.arange(1000.0), np.arange(1e6)
    def nested():
        cubc.sum(small, device={device!r})
    nested()
    {NESTED}
    while not said:  # handlers run every 50 ms of a launch
        x = np.tile(x, 4)
        total = cubc.sum(cubc.lazy("exp(sin(cos(x)))", x=x), device="cpu")
    signal.setitimer(signal.ITIMER_REAL, 0)
    print("within another, as by a signal handler" in said[0], total > 0, works())
    """
    assert output(code) == "True True True"


def test_a_handler_that_calls_for_what_is_being_compiled(tmp_path):
    code = f"""
    x, number = np.arange(5.0), 0
    def nested():
        cubc.transform(f"x * 123457 + {{number}}", x=x, device="cpu")
    nested()  # imports what transform needs
    {NESTED}
    while not said:  # a handler may come before one is being compiled, and compile it
        number += 1
        nested()
    signal.setitimer(signal.ITIMER_REAL, 0)
    print("is being compiled by the call" in said[0], works())
    """
    assert output(code, CUBC_CACHE=tmp_path) == "True True"


def test_faulthandler_reports_no_fault_of_a_kernel():
    code = """
    fault()
    faulthandler.enable()
    assert fault() and works()
    faulthandler.disable()
    assert fault() and works()
    """
    result = isolated.run(BEGIN + textwrap.dedent(code))
    assert result.returncode == 0
    assert result.stderr == ""


@pytest.mark.parametrize("reported", [False, True])
def test_the_signal_is_given_back(reported):
    """A signal that nobody handles ends the process as it would without a kernel."""
    enable = "faulthandler.enable(); " if reported else ""
    code = f"{enable}fault(); print(works(), flush=True); os.kill(os.getpid(), signal.SIGFPE)"
    result = isolated.run(BEGIN + code)
    assert result.returncode == -signal.SIGFPE
    assert result.stdout == "True\n"
    assert ("Fatal Python error: Floating" in result.stderr) == reported


LATE = """
spin = "[](long v) { volatile long k = 0; while (k < 600000000) k = k + 1; return v / (k - k); }(x)"
cubc.transform("[](long v) { return v; }(x)", x=np.ones(1, int), device="cpu")
def run():
    try:
        cubc.transform(spin, x=np.ones(1, int), device="cpu")
    except cubc.KernelFault:
        print("fault\\n", end="", flush=True)  # in one piece, beside what others print
thread = threading.Thread(target=run)
"""


def test_a_handler_that_comes_while_a_kernel_runs():
    """The kernel divides later, and would repeat that without end under a handler of Python."""
    code = """
    thread.start()
    time.sleep(0.05)
    while thread.is_alive():
        if signal.getsignal(signal.SIGFPE) != listen: signal.signal(signal.SIGFPE, listen)
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGFPE)
    print(heard[-1] == signal.SIGFPE, works())
    """
    assert output(LATE + textwrap.dedent(code)) == "fault\nTrue True"


def test_a_child_of_fork_while_a_kernel_runs():
    code = """
    thread.start()
    time.sleep(0.1)
    killed, computes = lambda: os.kill(os.getpid(), signal.SIGFPE), lambda: fault() and works()
    for child in (killed, lambda: os._exit(computes())):
        if not (pid := os.fork()):
            child()
            os._exit(9)
        print(f"{os.waitpid(pid, 0)[1]}\\n", end="", flush=True)
    thread.join()
    """
    out = output(LATE + textwrap.dedent(code)).splitlines()
    assert sorted(out) == sorted([str(int(signal.SIGFPE)), "256", "fault"])


@pytest.mark.parametrize("threads", [1, 2])
def test_a_handler_that_forks_while_a_kernel_runs(threads):
    """The child has none of the other threads: its call ends, and later ones work."""
    code = """
    source = "__global__ void spin(int* out, int n) {"
    source += " for (volatile int k = 0; k < n; k = k + 1) {} out[blockIdx.x] = 7; }"
    kernel, out = cubc.Kernel(source, "spin", block=1, device="cpu"), np.zeros(4, np.int32)
    kernel(out, 1, grid=4)
    warnings.simplefilter("ignore", DeprecationWarning)  # of threads and fork
    children, go = [], threading.Event()
    signal.signal(signal.SIGUSR1, lambda *_: children.append(os.fork()))
    def send():
        go.wait()
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGUSR1)
    threading.Thread(target=send).start()
    try:
        go.set()
        while not children:
            kernel(out, 300_000_000, grid=4)
        said = ""
    except ValueError as error:
        said = error
    if children == [0]:
        print(said, works(), flush=True)
        os._exit(0)
    print(os.waitpid(children[0], 0)[1], repr(said), out.tolist(), works())
    """
    child, parent = output(
        "import warnings" + BEGIN + textwrap.dedent(code), CUBC_CPU_THREADS=threads
    ).splitlines()
    lost = "a signal handler forked during a launch, which its parent goes on with: repeat the call"
    assert (lost in child) == (threads == 2) and child.endswith("True")
    assert parent == "0 '' [7, 7, 7, 7] True"


def test_ctrl_c_in_a_wait_for_a_bound_call():
    """Another thread runs it."""
    code = """
    source = "__global__ void spin(volatile int* out) { while (!out[0]) {} out[0] = 7; }"
    kernel, out = cubc.Kernel(source, "spin", block=1, device="cpu"), np.ones(1, np.int32)
    bound = cubc.bind(kernel, out, grid=1)
    bound()
    out[0] = 0
    thread, go = threading.Thread(target=bound), threading.Event()
    thread.start()
    time.sleep(0.1)
    def press():
        go.wait()
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=press, daemon=True).start()
    try:
        go.set()
        bound()
    except KeyboardInterrupt:
        print("interrupted")
    out[0] = 1
    thread.join()
    print(out.tolist())
    """
    assert output(code) == "interrupted\n[7]"


def test_faults_in_threads_at_once():
    code = """
    fault()
    found = []
    threads = [threading.Thread(target=lambda: found.append(fault())) for _ in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    print(found == [True] * 6, works(), flush=True)
    os.kill(os.getpid(), signal.SIGFPE)
    """
    result = isolated.run(BEGIN + textwrap.dedent(code), CUBC_CPU_THREADS=3)
    assert (result.stdout, result.returncode) == ("True True\n", -signal.SIGFPE)


ENDLESS = """
source = '''
__global__ void spin(int* out, int which)
{
    volatile long k = 0;
    while (which < 0 || (int)blockIdx.x == which) k = k + 1;
    out[blockIdx.x] = 7;
}
'''
kernel = cubc.Kernel(source, "spin", block=BLOCK, device="cpu")
out = np.zeros(4, np.int32)
kernel(out, 9, grid=4)

def interrupted(call):
    pressed, go = [], threading.Event()
    def press():
        go.wait()
        time.sleep(0.3)
        pressed.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=press, daemon=True).start()
    try:
        go.set()
        call()
    except KeyboardInterrupt:
        taken = time.process_time() - pressed[0]  # of a busy machine's time, what is ours
        print("ok" if taken < 5 else taken, works())
"""


@pytest.mark.parametrize("block", [1, 64])
def test_ctrl_c_in_a_kernel_that_never_ends(block):
    """Blocks that spin in the calling thread, in another, and in all, one after the other."""
    calls = """
    before = signal.getsignal(signal.SIGURG)
    for which in (0, 3, -1):
        interrupted(lambda: kernel(out, which, grid=4))
    os.kill(os.getpid(), signal.SIGURG)
    assert signal.getsignal(signal.SIGURG) == before
    kernel(out, 9, grid=4)
    print(out.tolist())
    """
    code = ENDLESS.replace("BLOCK", str(block)) + textwrap.dedent(calls)
    assert output(code, CUBC_CPU_THREADS=2) == "ok True\n" * 3 + "[7, 7, 7, 7]"


def test_ctrl_c_in_a_kernel_that_calls_the_c_library():
    """It is in its own code for a thousandth of its time."""
    calls = """
    source = '''
    extern "C" double jn(int, double);
    __global__ void bessel(double* out, int ever)
    {
        for (;;) {
            out[0] += jn(60, out[0]);
            if (!ever) return;
        }
    }
    '''
    kernel, out = cubc.Kernel(source, "bessel", block=1, device="cpu"), np.ones(1)
    kernel(out, 0, grid=1)
    for _ in range(4):
        interrupted(lambda: kernel(out, 1, grid=1))
    """
    code = ENDLESS.replace("BLOCK", "1") + textwrap.dedent(calls)
    assert output(code, CUBC_CPU_THREADS=1) == "ok True\n" * 3 + "ok True"


def test_ctrl_c_while_a_line_is_logged():
    """It ends the call, and is not reported as a failure of logging."""
    code = """
    import cubc._logging, logging
    def press(kind, text):
        raise KeyboardInterrupt
    cubc._logging.say = press
    for expression in ("x + 7", "x +"):
        try:
            cubc.transform(expression, x=np.arange(5), device="cpu")
        except KeyboardInterrupt:
            print("ended")
    """
    result = isolated.run(BEGIN + textwrap.dedent(code))
    assert (result.stdout, result.stderr) == ("ended\nended\n", "")


def test_ctrl_c_in_a_long_merge_sort():
    """Its comparisons spend their time in the C library, where a thread is not to be stopped."""
    calls = """
    x = np.random.default_rng(0).random(1 << 20)
    less = "sin(exp(sin(exp(sin(exp(a)))))) < sin(exp(sin(exp(sin(exp(b))))))"
    cubc.merge_sort(x[:10], less, device="cpu")
    interrupted(lambda: [cubc.merge_sort(x, less, device="cpu") for _ in range(100)])
    """
    code = ENDLESS.replace("BLOCK", "1") + textwrap.dedent(calls)
    assert output(code, CUBC_CPU_THREADS=2) == "ok True"


def test_a_flag_is_watched_after_work_within():
    """Work for ranks that makes such work itself still hears that it is to end."""
    code = """
    from cubc import _core
    flag = bytearray(1)
    def work():
        _core.ranks_work(works, bytearray(1))
        flag[0] = 1
        cubc.Kernel("__global__ void k(long* x) { *x = %d; }" % time.time_ns(), device="cpu")
    try:
        print(_core.ranks_work(work, flag))
    except KeyboardInterrupt:
        print("ended")
    print(works())
    """
    assert output(code) == "ended\nTrue"


def test_the_main_thread_listens_where_another_imported():
    code = """
    import os, signal, threading, time
    import numpy as np
    thread = threading.Thread(target=lambda: __import__("cubc"))
    thread.start()
    thread.join()
    import cubc
    code = "__global__ void k(int* x) { while (*(volatile int*)x == 0) {} }"
    kernel = cubc.Kernel(code, "k", block=1, device="cpu")
    x = cubc.asarray(np.zeros(1, "i4"), device="cpu")
    def kill():
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=kill, daemon=True).start()
    try:
        kernel(x, grid=1)
    except KeyboardInterrupt:
        print("interrupted")
    """
    assert isolated.output(textwrap.dedent(code)) == "interrupted"
