"""A GPU's own: streams, graphs, asynchrony, other libraries' arrays, memory that ends."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import inputs
import isolated
import numpy as np
import pytest
from inputs import same

import cubc
from cubc import _core

pytestmark = pytest.mark.gpu
GPU = "cuda:0"


@pytest.fixture
def stream():
    from cudart import Stream

    return Stream()


def array(x):
    return cubc.asarray(x, device=GPU)


# ---- streams -------------------------------------------------------------------------------------
def test_a_call_returns_before_its_work_is_done(stream):
    x = inputs.random("I32", 1_000_003)
    d, out, sums = array(x), array(np.zeros((), np.int64)), cubc.empty(x.size, "I32", device=GPU)
    for _ in range(2):  # the first compiles and allocates
        cubc.transform("x * 0", x=out, out=out, stream=stream)
        cubc.sum(d, out=out, stream=stream)
        cubc.scan(d, out=sums, stream=stream)
        stream.wait()
    with stream.held():
        begin = time.monotonic()
        cubc.transform("x * 0", x=out, out=out, stream=stream)
        cubc.sum(d, out=out, stream=stream)
        cubc.scan(d, out=sums, stream=stream)
        assert time.monotonic() - begin < 5
        assert not stream.done()
    assert int(out) == x.sum()
    same(sums.numpy(), np.cumsum(x, dtype=np.int32))


def test_two_streams_at_once(stream):
    """One that is held does not hold the other, nor do their messages meet."""
    x, y = inputs.random("I64", 500_001), inputs.random("I64", 700_001, seed=1)
    dx, dy = array(x), array(y)
    second = type(stream)()
    outs = [array(np.zeros((), np.int64)) for _ in range(2)]
    for s, d, out in ((stream, dx, outs[0]), (second, dy, outs[1])):
        cubc.max(d, out=out, stream=s)
        s.wait()
    with stream.held():
        cubc.max(dx, out=outs[0], stream=stream)
        cubc.max(dy, out=outs[1], stream=second)
        second.wait()
        assert not stream.done()
    assert (int(outs[0]), int(outs[1])) == (x.max(), y.max())
    for _ in range(200):
        cubc.sum(dx, out=outs[0], stream=stream)
        cubc.sum(dy, out=outs[1], stream=second)
    stream.wait()
    second.wait()
    assert (int(outs[0]), int(outs[1])) == (x.sum(), y.sum())


def test_a_result_used_on_another_stream(stream):
    """An array made on one stream and read on another is read after it was written."""
    x = inputs.random("I32", 300_001)
    d, second = array(x), type(stream)()

    def queue():
        return cubc.sum(cubc.transform("~x", x=d, stream=stream), stream=second)

    queue()  # compiles and allocates: that may wait for the device
    with stream.held():
        total = queue()
        assert not second.done()
    second.wait()
    assert total.item() == (~x).sum()


def test_a_stream_for_every_call(stream):
    """Streams come and go; what they leave behind is used again."""
    x = inputs.random("I32", 100_001)
    d = array(x)
    for _ in range(300):
        passing = type(stream)()
        total, sums = cubc.sum(d, stream=passing), cubc.scan(d, stream=passing)
        passing.wait()
        assert (total.item(), sums.numpy()[-1]) == (x.sum(), np.int32(x.sum()))


def test_results_that_were_freed_serve_their_stream_alone():
    """A freed block may still be written by its stream's work, so that no other stream gets it.

    A process of its own: blocks are kept for the first streams of one.
    """
    isolated.output(
        """if True:
            import inputs
            import numpy as np
            from cudart import Stream
            from inputs import same

            import cubc

            x = inputs.random("I32", 300_007)
            d = cubc.asarray(x, device="cuda:0")
            stream, other = Stream(), Stream()
            freed = cubc.sort(d, stream=stream).ptr
            elsewhere = cubc.sort(d, stream=other)
            assert elsewhere.ptr != freed
            assert cubc.sort(d, stream=stream).ptr == freed
            for _ in range(50):  # many launches under way, each in the memory of one before
                kept = [cubc.scan(d, stream=s) for s in (stream, other)]
            want = np.cumsum(x, dtype=np.int32)
            for sums, of in zip(kept, (stream, other), strict=True):
                of.wait()
                same(sums.numpy(), want)
            same(elsewhere.numpy(), np.sort(x))
        """
    )


def test_stream_arguments(stream):
    x = inputs.random("I32", 10_001)
    d = array(x)

    class CudaCore:
        def __cuda_stream__(self):
            return 0, stream.handle

    for given in (None, 0, stream, stream.handle, CudaCore()):
        result = cubc.sum(d, stream=given)
        cubc.synchronize(GPU, given)
        assert int(result) == x.sum()


# ---- graphs --------------------------------------------------------------------------------------
def test_graphs(stream):
    """Replays see the input as it is then, and may follow each other without a pause."""
    n = 300_001
    d, out = cubc.empty(n, "I32", device=GPU), array(np.zeros((), np.int64))
    sums = cubc.empty(n, "I32", device=GPU)
    one = cubc.empty(n, "I32", device=GPU)

    def queue():
        cubc.sum(d, out=out, stream=stream)
        cubc.scan(d, out=sums, stream=stream)
        cubc.transform("x + 1", x=d, out=one, stream=stream)

    cubc.transform("i", out=d, stream=stream)
    queue()  # compiles: that cannot be captured
    stream.wait()
    replay = stream.capture(queue)
    for k in range(1, 4):
        cubc.transform("k * i % 1000", k=k, out=d, stream=stream)
        for _ in range(5):
            replay()
        stream.wait()
        x = k * np.arange(n) % 1000
        assert int(out) == x.sum()
        same(sums.numpy(), np.cumsum(x, dtype=np.int32))
        same(one.numpy(), (x + 1).astype(np.int32))


# ---- other libraries -----------------------------------------------------------------------------
def test_torch_shares_memory(torch):
    t = torch.arange(100_001, device="cuda", dtype=torch.float32) % 5  # so that sums are exact
    assert cubc.asarray(t).ptr == t.data_ptr()
    assert float(cubc.sum(t, dtype="float64")) == float(t.double().sum())
    out = torch.empty_like(t)
    cubc.scan(t, out=out)
    assert torch.equal(out, t.cumsum(0))
    back = torch.from_dlpack(cubc.asarray(t))
    assert back.data_ptr() == t.data_ptr()
    half = torch.ones(5000, device="cuda", dtype=torch.bfloat16)
    assert float(cubc.sum(half, dtype="float32")) == 5000


def test_torch_streams_and_graphs(torch):
    stream = torch.cuda.Stream()
    t = torch.ones(1_000_000, device="cuda")
    out = torch.zeros((), device="cuda")
    cubc.sum(t, out=out)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        t.mul_(3)
        cubc.sum(t, out=out, stream=stream)
    stream.synchronize()
    assert float(out) == 3_000_000
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        cubc.sum(t, out=out, stream=torch.cuda.current_stream())
    t.fill_(2)
    graph.replay()
    torch.cuda.synchronize()
    assert float(out) == 2_000_000


def test_cupy_shares_memory(cupy):
    c = cupy.arange(100_001, dtype=cupy.float64)
    assert cubc.asarray(c).ptr == c.data.ptr
    assert float(cubc.sum(c)) == float(c.sum())
    out = cupy.empty_like(c)
    cubc.scan(c, out=out)
    assert bool((out == c.cumsum()).all())
    assert cupy.asarray(cubc.asarray(c)).data.ptr == c.data.ptr


def test_cupy_streams(cupy):
    c, out = cupy.ones(1_000_000, cupy.float32), cupy.zeros((), cupy.float32)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        c *= 3
        cubc.sum(c, out=out, stream=stream)
    stream.synchronize()
    assert float(out) == 3_000_000


# ---- memory --------------------------------------------------------------------------------------
def test_launch_attributes(tmp_path):
    root = Path(__file__).parents[2]
    if not (root / "csrc").is_dir() or not shutil.which("cc"):
        pytest.skip("builds the core from csrc/ with cc")
    sources = [s for s in (root / "csrc").rglob("*.c") if s.parent.name not in ("python", "store")]
    program = tmp_path / "test_launch"
    flags = ["-std=c11", "-pthread", "-I", root / "csrc", "-I", root / "csrc/include"]
    flags += ['-DCUBC_VERSION="0"']
    main = root / "tests/c/test_launch.c"
    subprocess.run(["cc", *flags, main, *sources, "-o", program, "-ldl", "-lm"], check=True)
    environment = os.environ | {"CUBC_KERNELS": str(root / "kernels")}
    result = subprocess.run([program], env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "skipped" not in result.stdout, result.stdout


def test_memory_exhausted():
    total = cubc.device_info(GPU)["memory_bytes"]
    kept = []
    with pytest.raises(cubc.DeviceMemoryError):
        kept.extend(cubc.empty(total // 8, "I8", device=GPU) for _ in range(100))
    x = inputs.random("I64", 1000)
    kept.clear()
    cubc.synchronize(GPU)
    assert cubc.sum(array(x)).item() == x.sum()


def test_numpy_in_and_out():
    x = inputs.random("F32", 100_001)
    out = np.empty(x.size, np.float32)
    assert cubc.transform("2 * x", x=x, out=out, device=GPU) is out
    same(out, 2 * x)
    assert type(cubc.sum(x, device=GPU)) is np.float32


def test_host_cost_of_a_call():
    """Far above what is measured in benchmarks/: only a lost fast path shows here."""
    d, out = array(np.ones(1000, np.float32)), array(np.zeros((), np.float32))
    cubc.sum(d, out=out)
    best = 1.0
    for _ in range(20):
        cubc.synchronize(GPU)
        begin = time.perf_counter()
        for _ in range(100):
            cubc.reduce(d, out=out)
        best = min(best, (time.perf_counter() - begin) / 100)
    assert best < 50e-6


# ---- measuring -----------------------------------------------------------------------------------
def test_every_sample_has_its_clock():
    work = _core.Workload("reduce.sum", {"T{ct}": "F32"}, {"Elements{io}[pow2]": 24}, GPU)
    base = work.variant("base")
    measured = work.measure(base, base, min_samples=50, max_samples=50)
    fastest = 1e3 * cubc.device_info(GPU)["clock_khz"]
    for seconds, hertz in (("samples", "clocks"), ("base_samples", "base_clocks")):
        clocks = np.frombuffer(measured[hertz], "f4")
        assert clocks.size == np.frombuffer(measured[seconds], "f4").size == 50
        assert np.median(clocks) > 0.1 * fastest
        assert np.median(clocks) < 1.05 * fastest


def test_a_loser_is_given_up():
    work = _core.Workload("reduce.sum", {"T{ct}": "F32"}, {"Elements{io}[pow2]": 24}, GPU)
    base = work.variant("base")
    measured = work.measure(base, base, min_samples=100, max_samples=100, beat=1.5)
    assert measured["given_up"]
    assert len(measured["samples"]) < 4 * 50
    assert not work.measure(base, base, beat=0.5)["given_up"]


def test_hot_runs_are_not_slower_than_cold_ones():
    work = _core.Workload("reduce.sum", {"T{ct}": "F32"}, {"Elements{io}[pow2]": 20}, GPU)
    base = work.variant("base")
    cold = np.median(np.frombuffer(work.measure(base)["samples"], "f4"))
    mean, runs, _ = work.measure_hot(base, 0.05)
    assert runs >= 4
    assert mean < 1.5 * cold


# ---- steps between items -------------------------------------------------------------------------
class Strided:
    """Part of an array as another library gives it, by its __cuda_array_interface__ alone."""

    def __init__(self, d, part, x):
        own = d.__cuda_array_interface__
        at = own["data"][0] + part.ctypes.data - x.ctypes.data
        steps = {"shape": part.shape, "strides": part.strides, "data": (at, False)}
        self.kept, self.__cuda_array_interface__ = d, {**own, **steps}


@pytest.mark.parametrize(
    "part",
    [
        lambda x: x.T,
        lambda x: x[::2, 1],
        lambda x: x[::-1, ::-3],
        lambda x: x[3:9, :, None, 2::5],
        lambda x: np.broadcast_to(x[:1], x.shape),
        lambda x: x.transpose(0, 2, 1),
        lambda x: x[:, :0, ::2],
    ],
)
def test_items_apart_are_gathered(part):
    x = inputs.random("I32", 20 * 30 * 7).reshape(20, 30, 7)
    d, expected = array(x), part(x)
    given = Strided(d, expected, x)
    same(cubc.asarray(given), expected)
    assert int(cubc.sum(given)) == expected.sum()
    same(cubc.sort(given, axis=0), np.sort(expected, axis=0))
    if expected.size:
        with pytest.raises(ValueError, match="out is not contiguous"):
            cubc.transform("x", x=d, out=given)
        with pytest.raises(ValueError, match="would be copied"):
            cubc.bind(cubc.sum, given)


def test_steps_that_are_no_items_or_leave_the_memory():
    x = np.zeros((4, 4), np.int32)
    given = Strided(array(x), x.T, x)
    given.__cuda_array_interface__["strides"] = (6, 4)
    with pytest.raises(ValueError, match="not contiguous"):
        cubc.sum(given)
    given.__cuda_array_interface__["strides"] = (4, 2**40)
    with pytest.raises(ValueError, match="its memory ends before"):
        cubc.sum(given)


def test_read_only_memory_says_so():
    x = np.arange(6, dtype=np.int32)
    given = Strided(array(x), x, x)
    given.__cuda_array_interface__["data"] = (given.kept.ptr, True)
    frozen = cubc.asarray(given)
    with pytest.raises(BufferError, match=r"max_version=\(1, 0\)"):
        frozen.__dlpack__()
    assert "versioned" in repr(frozen.__dlpack__(max_version=(1, 0)))
    assert frozen.__cuda_array_interface__["data"] == (frozen.ptr, True)
    with pytest.raises(ValueError, match="may not be written to"):
        cubc.copy_batch([array(x)], [frozen])


def test_the_first_gpu_has_two_names():
    x, out = array(np.arange(6)), array(np.zeros(6, int))
    cubc.for_each("out[i] = x[i]", 3, x=x, out=out, device="cuda")
    cubc.copy_batch([x[3:]], [out[3:]], device="cuda")
    same(out, x.numpy())


def test_tensors_with_steps(torch, cupy):
    t, c = torch.arange(24.0, device="cuda").reshape(4, 6), cupy.arange(24.0).reshape(4, 6)
    for given, expected in [(t.T, t.T.cpu().numpy()), (c[:, ::2], cupy.asnumpy(c[:, ::2]))]:
        same(cubc.cumsum(given, axis=1), expected.cumsum(1))
        assert cubc.asarray(given).shape == expected.shape
