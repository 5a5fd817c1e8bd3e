"""Calls from several threads and processes at once, and Ctrl-C."""

import platform
import signal
import subprocess
import sys
import threading
import time

import inputs
import isolated
import numpy as np
import pytest
from inputs import on, value
from threads import at_once

import cubc


def test_calls_at_once(device):
    arrays = [inputs.random("I64", 50_000 + 1000 * k, seed=k) for k in range(8)]
    moved = [on(device, x) for x in arrays]

    def calls(k):
        for _ in range(30):
            assert value(cubc.sum(moved[k])) == arrays[k].sum()
            assert value(cubc.argmax(moved[k])) == arrays[k].argmax()
            scan = np.asarray(cubc.scan(moved[k]))
            assert np.array_equal(scan, arrays[k].cumsum())

    at_once(calls)


def test_first_calls_at_once(device):
    """The same new kernel is asked for by all threads: each gets it."""
    x = on(device, np.arange(1000))
    for k in range(3):
        assert (
            at_once(lambda _, k=k: int(cubc.reduce(x, f"a + b + 0 * {k + 100}"))) == [499_500] * 8
        )


def test_a_compilation_holds_nobody_else(device):
    """While one thread's new kernel is compiled, known ones are still called."""
    x = on(device, np.arange(1000))
    cubc.sum(x)
    long = " + ".join(["a * b"] * 400)  # a second or two of compilation
    new = f"({long} + {time.time_ns() % 2**31}) * 0 + a + b"  # which no cache has
    slow = threading.Thread(target=lambda: cubc.reduce(x, new))
    slow.start()
    calls = 0
    while slow.is_alive():
        assert int(cubc.sum(x)) == 499_500
        calls += 1
        time.sleep(0.001)
    slow.join()
    assert calls > 10


def test_errors_belong_to_their_thread(device):
    x = np.arange(1000)

    def call(k):
        if k % 2:
            with pytest.raises(LookupError, match=f"no operator 'nosuch{k}'"):
                cubc.reduce(x, f"nosuch{k}", device=device)
            return 499_500
        return int(cubc.sum(x, device=device))

    for _ in range(20):
        assert at_once(call) == [499_500] * 8


def test_policies_change_while_others_run(policies):
    from cubc import _core

    ct, label = {"T{ct}": "I64"}, "ipt_{}.tpb_1.ipv_5.ld_0.sm_0.wav_4.ms_32.ord_0"
    x = inputs.random("I64", 100_000)

    def call(k):
        for turn in range(40):
            if k == 0:
                _core.use_policy("reduce.sum", ct, "cpu", label.format(128 * (1 + turn % 3)))
            assert value(cubc.sum(x, device="cpu")) == x.sum()

    at_once(call, 4)


FIRST_CALL = """
import sys, time, numpy as np, cubc
while time.time() < float(sys.argv[1]): pass
print(cubc.reduce(np.arange(100.0), "a + b + 0 * 99", device="cpu"))
"""


def test_processes_fill_one_cache(tmp_path):
    environment = isolated.environment(CUBC_CACHE=tmp_path / "cache")
    command = [sys.executable, "-c", FIRST_CALL, str(time.time() + 2)]
    processes = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [process.communicate()[0] for process in processes] == ["4950.0\n"] * 4
    [file] = [path for path in (tmp_path / "cache").glob("*/*") if path.is_file()]
    assert file.stat().st_size > 1000


LONG = """
import numpy as np, cubc
spin = "[](double v) { for (int k = 0; k < 2000000; k++) v = v * 0.999 + 1; return v; }"
cubc.transform(spin + "(x)", x=np.ones(1), device="cpu")
print("ready", flush=True)
try:
    cubc.transform(spin + "(x)", x=np.ones(10_000_000), device="cpu")
except KeyboardInterrupt:
    print("interrupted", cubc.sum(np.arange(10.0), device="cpu"), flush=True)
"""


def test_ctrl_c_ends_a_long_launch():
    process = subprocess.Popen(
        [sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    with process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted 45.0\n"
        assert process.wait(60) == 0


def test_the_interpreter_runs_while_a_kernel_does():
    """The GIL is dropped around a launch."""
    spin = "[](double v) { for (int k = 0; k < 5000; k++) v = v * 0.999 + 1; return v; }(x)"
    cubc.transform(spin, x=np.ones(1), device="cpu")
    thread = threading.Thread(target=lambda: cubc.transform(spin, x=np.ones(30_000), device="cpu"))
    thread.start()
    turns = 0
    while thread.is_alive():
        time.sleep(0.001)
        turns += 1
    assert turns > 20


CRASH = """
import faulthandler, numpy as np, cubc
faulthandler.enable()
bad = "i == (1 << 22) - 1 ? *reinterpret_cast<const volatile float*>(i) : 1.0f"
cubc.transform(bad, size=1 << 22, device="cpu")
"""


def test_a_crash_in_any_thread_is_reported():
    result = isolated.run(CRASH, CUBC_CPU_THREADS=4)
    assert result.returncode == -signal.SIGSEGV
    assert "Segmentation fault" in result.stderr


ROUNDS_UP = """
import ctypes, numpy as np, cubc
x = np.arange(1, 1_000_001, dtype="f4")
assert (cubc.transform("x / 3.0f", x=x, device="cpu") == x / np.float32(3)).all()
assert ctypes.CDLL("libm.so.6").fesetround(0x800) == 0
for _ in range(20):
    assert (cubc.transform("x / 3.0f", x=x, device="cpu") == x / np.float32(3)).all()
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="knows the modes of rounding of x86")
def test_threads_round_as_their_caller():
    """A value that is calculated twice, as a lazy key is, must be the same on every thread."""
    isolated.output(ROUNDS_UP, CUBC_CPU_THREADS=4)
