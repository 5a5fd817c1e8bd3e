"""Fixtures of all tests: devices, scheduler seeds, and a cache of kernels for the session."""

import ctypes
import gc
import os
import platform
import shutil
import signal
import sys
import tempfile
from collections import defaultdict
from functools import cache
from pathlib import Path

# Before NumPy is loaded: workers side by side would each run a thread on every core.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from every_case import EVERY_CASE
from hypothesis import HealthCheck, settings
from turns import TURN, not_in_turn

import cubc

# Examples compile, some of them, and machines are slow now and then: no test is of time.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# Failed assertions of these show values, as those of the tests do.
SUPPORT = {path.stem for path in Path(__file__).with_name("support").glob("*.py")}
pytest.register_assert_rewrite(*SUPPORT - set(sys.modules))


def linked_with_nothing():
    """The options for it, where they work: reading libraries takes a linker a quarter of the time.

    The files that begin and end a program, and the plugin for link-time optimisation, take a tenth.

    What a kernel calls of them is in this process already, unless Python has its own copies where
    others do not see them; sanitized kernels call more.
    """
    process, core = ctypes.CDLL(None), ctypes.CDLL(cubc._core.__file__)
    here = all(hasattr(process, name) for name in ("memcpy", "expm1", "fmaxf", "__tls_get_addr"))
    return "-nostdlib -fno-use-linker-plugin" if here and not hasattr(core, "__asan_init") else ""


# For the cpu's kernels, most of which the tests run for a moment. Functions are called, not put in
# place, which is a fifth of the work without optimisation; a sixth is unwind tables and g++'s
# collections of its garbage. The registers of AVX-512, which nothing uses then, are 4% of its
# instructions.
QUICK = (
    "-O0 -Dalways_inline=unused -fno-asynchronous-unwind-tables --param ggc-min-expand=1000 "
    f"--param ggc-min-heapsize=1000000 {linked_with_nothing()}"
    f"{' -mno-avx512f' if platform.machine() == 'x86_64' else ''}"
)
KEPT_MB = 500  # all tests need 350
OPTIMISED = QUICK.replace(
    "-O0", "-Og -finline-functions-called-once"
)  # -O1 compiles twice as long for little less running


def pytest_configure(config):
    """Give the session an empty cache of compiled kernels; the workers of xdist share it.

    CUBC_TEST_CACHE names a folder that is kept instead: a second run of the same tests is faster.
    It grows up to `KEPT_MB`; then those kernels go that were used longest ago.

    The tests run each of thousands of kernels for a moment: the cpu's are compiled quickly unless
    CUBC_CXXFLAGS says otherwise. test_optimised.py is for the code that users run.
    """
    os.environ.setdefault("CUBC_CXXFLAGS", QUICK)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as of what a script runs with &
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput"):
        return
    if kept := os.environ.get("CUBC_TEST_CACHE"):
        os.environ["CUBC_CACHE"] = kept
        os.environ.setdefault("CUBC_CACHE_MAX_MB", str(KEPT_MB))
    else:
        os.environ["CUBC_CACHE"] = tempfile.mkdtemp(prefix="cubc-tests-")
        config.add_cleanup(lambda: shutil.rmtree(os.environ["CUBC_CACHE"], ignore_errors=True))


@cache
def why_no_cuda():
    """Why there is no CUDA device to test on; "" where there is one."""
    try:
        cubc._core.device_info("cuda:0")
    except cubc.NoDeviceError as error:
        return str(error)
    return ""


def each_value(cases):
    """A greedy cover: every value of each parameter in at least one case, rare ones first."""
    values = {case: {(n, repr(v)) for n, v in case.callspec.params.items()} for case in cases}
    times, found = dict.fromkeys(set().union(*values.values()), 0), set()
    while not all(times.values()):
        fresh = {case: sum(times[value] == 0 for value in values[case]) for case in cases}
        best = max(cases, key=lambda case: (fresh[case], -sum(times[v] for v in values[case])))
        times |= {value: times[value] + 1 for value in values[best]}
        found.add(best)
    return found


def not_among_some(items):
    """The cases that their tests' mark some leaves out, on each kind of device."""
    cases = defaultdict(list)
    for item in items:
        if mark := item.get_closest_marker("some"):
            on_gpu = item.get_closest_marker("gpu") is not None
            cases[item.parent, item.originalname, on_gpu, *mark.args].append(item)
    left_out = set()
    for (_, _, _, *most), all_ in cases.items():
        n = min(most[0], len(all_)) if most else 0
        some = {all_[k * len(all_) // n] for k in range(n)} if most else each_value(all_)
        left_out |= set(all_) - some
    return left_out


def pytest_collection_modifyitems(config, items):
    """Leave out the tests marked gpu where there is no GPU, and most cases of those marked some.

    CUBC_TURN=k/n leaves out all but one of n tests.
    """
    left_out = set() if EVERY_CASE else not_among_some(items)
    if TURN:
        left_out |= not_in_turn(items, TURN)
    if why_no_cuda():  # thousands of skips take a while
        left_out |= {item for item in items if item.get_closest_marker("gpu")}
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Leave the thousands of tests out of every collection of garbage: each takes 0.2 s longer.

    Those that follow are fewer than Python's, which take one part in fifty of all tests' time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        gc.enable()


def pytest_terminal_summary(terminalreporter):
    """Say once why they were left out, of which the workers of xdist say nothing."""
    if why := why_no_cuda():
        terminalreporter.write_line(f"LEFT OUT the tests marked gpu: {why}")
    if not EVERY_CASE:
        terminalreporter.write_line("LEFT OUT cases of tests marked some: CUBC_TESTS=all runs all")
    if TURN:
        terminalreporter.write_line(f"LEFT OUT all tests but part {TURN}, as CUBC_TURN says")


@pytest.fixture(scope="session", params=["cpu", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def device(request):
    """Every device that there is, by name."""
    return request.param


@pytest.fixture(scope="module")
def optimised():
    """For kernels that run for longer than they compile: those not loaded yet are optimised.

    All files that share kernels use it, as those of lattices do: else each is compiled twice.
    """
    with pytest.MonkeyPatch.context() as patch:
        if os.environ["CUBC_CXXFLAGS"] == QUICK:
            patch.setenv("CUBC_CXXFLAGS", OPTIMISED)
        yield


@pytest.fixture
def as_users_have(monkeypatch):
    """For a pass over very many items: its kernels are those of users."""
    if os.environ["CUBC_CXXFLAGS"] in (QUICK, OPTIMISED):
        monkeypatch.delenv("CUBC_CXXFLAGS")


@pytest.fixture(params=[1, 2, 3])
def seed(request):
    """A seed of the cpu's random scheduler, for CUBC_SIMT_SEED of a process of its own."""
    return request.param


@pytest.fixture
def policies():
    """Take back what the test overlays."""
    yield
    cubc.clear_policies()


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    return torch


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy", reason="CuPy is not installed")
