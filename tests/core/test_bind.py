"""Bound calls: they repeat a call on the arrays as they are, and refuse what they cannot repeat."""

import array
import contextlib
import gc
import mmap
import os
import signal
import threading
import weakref

import numpy as np
import pytest

import cubc
from cubc import lattice, tuner


@pytest.fixture
def x(device):
    return cubc.asarray(np.arange(1000.0), device=device)


def mapped(content):
    memory = mmap.mmap(-1, len(content))
    memory[:] = content
    return memory


def fill(x, values):
    cubc.transform("v", v=cubc.asarray(values, device=x.device), out=x)


def test_it_reads_the_arrays_as_they_are(x):
    out = cubc.empty((), "float64", device=x.device)
    total = cubc.bind(cubc.reduce, x, out=out)
    assert total() is out and total.count == 1
    assert out.item() == np.arange(1000).sum()
    fill(x, np.ones(1000))
    assert total().item() == 1000


def test_host_arrays_on_the_cpu():
    x, out = np.arange(10.0), np.empty(10)
    scan = cubc.bind(cubc.scan, x, out=out, device="cpu")
    x[:] = 1
    np.testing.assert_array_equal(scan(), np.arange(1, 11))


def test_what_a_call_makes_in_between_is_kept(x):
    indices = cubc.empty(1000, "int64", device=x.device)
    order = cubc.bind(cubc.argsort, x, out=indices)
    values = np.random.default_rng(1).random(1000)
    fill(x, values)
    np.testing.assert_array_equal(order().numpy(), np.argsort(values, kind="stable"))


def test_several_calls_follow_each_other(x):
    sums, out = (cubc.empty(size, "float64", device=x.device) for size in (1000, ()))

    def sum_of_sums():
        cubc.scan(x, out=sums)
        cubc.reduce(sums, out=out)

    bound = cubc.bind(sum_of_sums)
    fill(x, np.ones(1000))
    assert bound() is None and bound.count == 2
    assert out.item() == 1000 * 1001 / 2


def test_a_dslash(device):
    gauge = lattice.Gauge.random((4, 4, 4, 4), device=device)
    operator = lattice.Wilson(gauge, kappa=0.12)
    a, b = (lattice.point_source((4, 4, 4, 4), (0, 0, 0, k))[0, 0] for k in (0, 1))
    source = cubc.asarray(a, device=device)
    out = cubc.empty(source.shape, source.dtype, device=device)
    apply = cubc.bind(operator, source, out=out)
    fill(source, b)
    np.testing.assert_array_equal(apply().numpy(), operator(cubc.asarray(b, device=device)).numpy())


def test_threads_may_call(x):
    out = cubc.empty(1000, "float64", device=x.device)
    scan = cubc.bind(cubc.scan, x, out=out)
    threads = [threading.Thread(target=lambda: [scan() for _ in range(100)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(out.numpy(), np.cumsum(np.arange(1000.0)))


SCALE = """
__global__ void scale(const double* x, double* y, double by)
{ y[blockIdx.x * blockDim.x + threadIdx.x] = by * x[blockIdx.x * blockDim.x + threadIdx.x]; }
"""


def test_a_kernel_of_ones_own(device):
    x, y = (cubc.asarray(np.arange(64.0), device=device) for _ in range(2))
    scale = cubc.bind(cubc.Kernel(SCALE, device=device), x, y, 3.0, grid=2, block=32)
    cubc.transform("v + 1", v=x, out=x)
    assert scale() is None and scale.count == 1
    np.testing.assert_array_equal(y.numpy(), 3 * np.arange(1, 65))


def test_kernels_between_primitives(device):
    """Each call follows the one before; what they use lives as long as they do."""

    def body():
        cubc.transform("v + 1", v=x, out=x)
        kernels[0](x, y, 2.0, grid=2, block=32)
        cubc.reduce(y, out=out)

    x, y = (cubc.asarray(np.zeros(64), device=device) for _ in range(2))
    out = cubc.empty((), "float64", device=device)
    kernels = [cubc.Kernel(SCALE, device=device)]
    calls = cubc.bind(body)
    kernels.clear()
    gc.collect()
    for _ in range(5):
        calls()
    assert out.item() == 6 * 2 * 64 and calls.count == 3


def test_bound_kernels_are_recorded(tmp_path):
    x, y = np.arange(64.0), np.empty(64)
    scale = cubc.bind(cubc.Kernel(SCALE, device="cpu"), x, y, 3.0, grid=2, block=32)
    with tuner.record(tmp_path / "work.db"):
        for _ in range(50):
            scale()
    [row] = tuner.recorded(tmp_path / "work.db").itertuples()
    assert (row.benchmark, row.shape, row.calls) == ("scale", "Grid=2,Block=32", 50)
    assert row.mean_us > 0


def test_the_variant_stays(x):
    out = cubc.empty((), "float64", device=x.device)
    total = cubc.bind(cubc.reduce, x, out=out)
    cubc.clear_policies()
    assert total().item() == np.arange(1000).sum()


def test_bound_calls_are_recorded(x, tmp_path):
    total = cubc.bind(cubc.reduce, x, out=cubc.empty((), "float64", device=x.device))
    with tuner.record(tmp_path / "work.db"):
        for _ in range(50):
            total()
    [row] = tuner.recorded(tmp_path / "work.db").itertuples()
    assert (row.benchmark, row.shape, row.calls) == ("reduce.sum", "Elements=1000", 50)


def test_arrays_live_as_long_as_the_bound_call():
    x, out = np.arange(5.0), np.empty(())
    alive = weakref.ref(x)
    total = cubc.bind(cubc.reduce, x, out=out, device="cpu")
    del x
    assert total() == 10 and alive() is not None
    del total
    gc.collect()
    assert alive() is None


def test_a_cycle_is_collected():
    class Holder(np.ndarray):
        pass

    x = np.arange(5.0).view(Holder)
    alive = weakref.ref(x)
    x.total = cubc.bind(cubc.reduce, x, out=np.empty(()), device="cpu")
    del x
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("make", [bytearray, lambda x: array.array("B", x), mapped])
def test_memory_stays_where_it_is(make):
    x, out = make(bytes(4096 * [1])), np.empty((), "uint64")
    total = cubc.bind(cubc.reduce, x, out=out, device="cpu")
    with pytest.raises(BufferError):
        x.close() if hasattr(x, "close") else x.extend(4096 * b"1")
    assert total() == 4096


def test_copies_keep_their_arrays():
    out = np.zeros((2, 1000))

    def copy():
        ones = np.ones(1000)
        alive.append(weakref.ref(ones))
        cubc.copy_batch([ones, 2 * ones], [out[0], out[1]], device="cpu")

    alive: list[weakref.ref] = []
    bound = cubc.bind(copy)
    assert alive[0]() is not None
    out[:] = 0
    bound()
    np.testing.assert_array_equal(out[:, 0], [1, 2])


def test_lists_that_are_no_operands():
    x, counts, out = np.array([0.1, 0.2, 0.7]), np.empty(2, "int64"), np.empty(3)
    histogram = cubc.bind(cubc.histogram, x, [0, 0.5, 1], out=counts, device="cpu")
    evenly = cubc.bind(cubc.histogram, x, 2, (0, 1), out=counts, device="cpu")
    copy = cubc.bind(cubc.copy_batch, [x], [out], device="cpu")
    x[:] = 0.9
    for bound in (histogram, evenly):
        counts[:] = -1
        np.testing.assert_array_equal(bound()[0], [0, 3])
    copy()
    np.testing.assert_array_equal(out, x)


def test_what_a_function_returns_is_its_own():
    x, out = np.arange(5.0), np.empty(())
    assert cubc.bind(lambda: cubc.reduce(x, out=out, device="cpu"))() is out
    assert cubc.bind(lambda: (cubc.reduce(x, out=out, device="cpu"), "a"))() == (out, "a")


LONG = np.random.default_rng(2).random(1_000_000)


def test_a_signal_handler_within_a_call():
    """A call lets handlers run every 50 ms: it is longer each time until one has."""
    x, refused = LONG, []

    def handler(*_):
        try:
            order()
        except ValueError as error:
            refused.append(str(error))

    before = signal.signal(signal.SIGALRM, handler)
    try:
        while not refused:
            x = np.tile(x, 4)
            order = cubc.bind(cubc.sort, x, out=np.empty_like(x), device="cpu")
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            order()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert "from within itself" in refused[0]
    np.testing.assert_array_equal(order(), np.sort(x))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_within_a_call():
    def work():
        while not ended.is_set():
            order()
            called.set()

    out, ended, called = np.empty_like(LONG), threading.Event(), threading.Event()
    order = cubc.bind(cubc.sort, LONG, out=out, device="cpu")
    thread = threading.Thread(target=work)
    thread.start()
    called.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        out[:] = 0
        order()
        os._exit(0 if (out[1:] >= out[:-1]).all() and out[-1] > 0 else 1)
    status = os.waitpid(child, 0)[1]
    ended.set()
    thread.join()
    assert status == 0


def test_a_call_that_cannot_be_bound_is_not_passed_over():
    def body():
        cubc.reduce(X, out=OUT, device="cpu")
        with contextlib.suppress(ValueError):
            cubc.reduce(X, out=OUT, device="cpu", stream=2)

    with pytest.raises(ValueError, match="its error was caught"):
        cubc.bind(body)


def test_an_error_after_a_result_was_read():
    with pytest.raises(KeyError, match="mine"):
        cubc.bind(lambda: {}[cubc.reduce(X, device="cpu") and "mine"])


@pytest.mark.parametrize(
    "body",
    [
        lambda x, out: cubc.reduce(x[::2], out=out, device="cpu"),
        lambda x, out: cubc.reduce(cubc.lazy("2 * x", x=x[::2]), out=out, device="cpu"),
        lambda x, out: cubc.reduce(cubc.lazy("2 * x", x=[1, 2]), out=out, device="cpu"),
        lambda x, out: cubc.reduce(x.view("u1")[1:9].view("f8"), out=out, device="cpu"),
        lambda x, out: cubc.sort([[2.0, 1.0]], axis=0, out=np.empty((1, 2)), device="cpu"),
        lambda x, out: cubc.merge([1.0], [2.0], out=np.empty(2), device="cpu"),
    ],
)
def test_copies_are_not_bound(body):
    with pytest.raises((TypeError, ValueError), match="would be copied"):
        cubc.bind(body, X, OUT)


def test_what_is_no_call_of_a_primitive_is_not_bound():
    total = cubc.bind(cubc.reduce, X, out=OUT, device="cpu")
    operator = lattice.Wilson(lattice.Gauge.random((2, 2, 2, 2), device="cpu"), kappa=0.1)
    source = lattice.point_source((2, 2, 2, 2), (0, 0, 0, 0))[0, 0]
    with pytest.raises(ValueError, match="bound again"):
        cubc.bind(total)
    with pytest.raises(ValueError, match=r"a solve .* bind the operator"):
        cubc.bind(lambda: operator.solve(cubc.asarray(source, device="cpu")))
    with pytest.raises(ValueError, match="on the host"):
        cubc.bind(operator, source, out=cubc.empty(source.shape, source.dtype, device="cpu"))


X = np.arange(10.0)
OUT = np.empty(())


def reads():
    if cubc.reduce(X, device="cpu") > 0:
        cubc.reduce(X, out=OUT, device="cpu")


@pytest.mark.parametrize(
    ("error", "match", "call"),
    [
        (ValueError, "give it out=", lambda: cubc.bind(cubc.reduce, X, device="cpu")),
        (ValueError, "give it out=", lambda: cubc.bind(cubc.scan, X, device="cpu")),
        (
            ValueError,
            "or count=",
            lambda: cubc.bind(cubc.select, X, "x > 5", out=X + 0, device="cpu"),
        ),
        (ValueError, "the host reads", lambda: cubc.bind(reads)),
        (TypeError, "a list", lambda: cubc.bind(cubc.reduce, [1.0], out=OUT, device="cpu")),
        (ValueError, "contiguous", lambda: cubc.bind(cubc.reduce, X[::2], out=OUT, device="cpu")),
        (ValueError, "nothing to be bound", lambda: cubc.bind(lambda: None)),
        (ValueError, "already", lambda: cubc.bind(lambda: cubc.bind(reads))),
        (ZeroDivisionError, "division", lambda: cubc.bind(lambda: 1 / 0)),
        (TypeError, "no arguments", lambda: cubc.bind(cubc.reduce, X, out=OUT, device="cpu")(1)),
    ],
)
def test_refusals(error, match, call):
    with pytest.raises(error, match=match):
        call()
    assert cubc.bind(cubc.reduce, X, out=OUT, device="cpu")() == 45  # nothing is half bound


@pytest.mark.gpu
def test_work_of_other_streams_on_the_arrays():
    cupy = pytest.importorskip("cupy")
    x = cubc.asarray(np.ones(1 << 26, np.float32), device="cuda:0")
    out = cubc.empty((), "float32", device="cuda:0")
    bound, other = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    least = cubc.bind(cubc.reduce, x, "min", out=out, stream=bound)
    for k in range(2, 8):
        for _ in range(20):
            cubc.transform("v * 0 + k", v=x, k=k, out=x, stream=other)
        assert least().item() == k


@pytest.mark.gpu
def test_host_arrays_on_a_gpu():
    with pytest.raises(ValueError, match="arrays of the host"):
        cubc.bind(cubc.reduce, X, out=OUT, device="cuda:0")


BOUND = {
    "mean": lambda x, w, **o: cubc.mean(x, 1, **o),
    "mean where": lambda x, w, **o: cubc.mean(x, 1, where=w, **o),
    "var": lambda x, w, **o: cubc.var(x, 1, **o),
    "var of the mean": lambda x, w, **o: cubc.var(x, 1, mean=np.ones((4, 1)), **o),
    "var where": lambda x, w, **o: cubc.var(x, 1, where=w, **o),
    "std": lambda x, w, **o: cubc.std(x, 1, ddof=1, **o),
    "nanmean": lambda x, w, **o: cubc.nanmean(x, 1, **o),
    "nanvar": lambda x, w, **o: cubc.nanvar(x, 1, **o),
    "nanstd": lambda x, w, **o: cubc.nanstd(x, 1, **o),
    "nanmax": lambda x, w, **o: cubc.nanmax(x, 1, **o),
    "max": lambda x, w, **o: cubc.max(x, 1, **o),
    "sum": lambda x, w, **o: cubc.sum(x, 1, **o),
    "median": lambda x, w, **o: cubc.median(x, 1, **o),
    "quantile": lambda x, w, **o: cubc.quantile(x, 0.3, 1, **o),
}


@pytest.mark.parametrize(("kind", "dtype"), [("f8", "f8"), ("f8", "f4"), ("f4", "f4")])
@pytest.mark.parametrize("name", BOUND)
def test_numpy_computes_no_part_of_a_bound_call(name, kind, dtype):
    """A step of the host would be done once, and the output not be written again."""
    call = BOUND[name]
    x, out = np.arange(20, dtype=kind).reshape(4, 5), np.zeros(4, dtype)
    where = x % 3 > 0
    bound = cubc.bind(call, x, where, out=out)
    x[:] = np.random.default_rng(1).normal(size=x.shape)
    where[:] = x > -0.5
    out[:] = -1
    assert bound() is out
    expected = np.zeros(4, dtype)
    call(x, where, out=expected)
    np.testing.assert_allclose(out, expected, rtol=1e-6)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, out: cubc.concatenate([x, x], out=out),
        lambda x, out: cubc.diff(x, prepend=x[:1], append=x, out=out),
        lambda x, out: cubc.put(out[::2], np.arange(4), x[:4]),
        lambda x, out: cubc.put_along_axis(out[::2], np.arange(4), x[:4], 0),
    ],
)
def test_steps_of_the_host_are_refused_in_a_bound_call(call):
    def several(x, out, total):
        call(x, out)
        cubc.sum(x, 0, keepdims=True, out=total)

    with pytest.raises(ValueError, match="on the host, which a bound call cannot repeat"):
        cubc.bind(several, np.arange(6.0), np.zeros(12), np.zeros(1))
