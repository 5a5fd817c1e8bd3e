"""Plain CUDA kernels on every device, and on the cpu under any order of threads."""

import struct
import subprocess
import sys

import isolated
import numpy as np
import plain
import pytest
from nvrtc import why_no_nvrtc

import cubc
from cubc import _core
from cubc.tuner._source import Source


def on(device, values):
    return cubc.asarray(np.asarray(values), device=device)


def zeros(device, n, dtype):
    return on(device, np.zeros(n, dtype))


def run(device, kernel, arguments, grid, block, shared=0):
    program = plain.program(device)
    program.add(kernel, arguments, (*grid, 1, 1)[:3], (*block, 1, 1)[:3], shared)
    program.run()
    return program


def test_what_is_a_kernel():
    assert plain.SOURCE.kernels == ["warps", "atomics", "indices", "arguments"]


@pytest.mark.parametrize(
    "before", ["#include <cuda_fp16.h>", "#define LESS(a, b) a <\\\n b >", "#define MINE static"]
)
def test_a_kernel_behind_a_directive(before):
    assert Source(f"{before}\n__global__ void one(int* x) {{}}\n", "one").kernels == ["one"]


def test_what_is_in_a_directive_is_no_kernel():
    text = "#define KERNEL __global__ void\n__global__ void one(int* x) {}\n"
    assert Source(text, "one").kernels == ["one"]


def test_a_file_of_any_name_with_a_byte_order_mark(tmp_path):
    path = tmp_path / "größe 2.cu"
    path.write_text("// %RANGE% TUNE_A a 1:2:1\n__global__ void one() {}\n", encoding="utf-8-sig")
    source = Source(path, "one")
    assert source.name == "gr__e_2" and [p[1] for p in source.parameters("cpu")] == ["a"]


@pytest.mark.parametrize(("shared", "error"), [(-1, ValueError), (2**32 + 16, OverflowError)])
def test_shared_memory_that_cannot_be(device, shared, error):
    with pytest.raises(error, match=r"shared is -1|greater than maximum"):
        run(device, "indices", (), (1,), (32,), shared)


def test_warps(device):
    x = np.random.default_rng(1).integers(1, 100, 192).astype(np.int32)
    out = zeros(device, 8 * 192, np.int32)
    run(device, "warps", (on(device, x), out, 192), (3,), (64,))
    found = out.numpy().reshape(-1, 32, 8)
    w = x.reshape(-1, 32)
    lanes = np.arange(32)
    down = np.where(lanes % 8 + 3 < 8, lanes + 3, lanes)
    first_set = np.array([(int(v) & -int(v)).bit_length() for v in x]).reshape(w.shape)
    zeros_in_front = np.array([32 - int(v).bit_length() for v in x]).reshape(w.shape)
    expected = [
        np.repeat(w.sum(1, keepdims=True), 32, 1),
        w.cumsum(1),
        w[:, down],
        np.repeat(w[:, 5:6], 32, 1),
        np.repeat((w & 1).sum(1, keepdims=True), 32, 1),
        np.repeat((w > 90).any(1, keepdims=True) * 2 + 1, 32, 1),
        first_set * 1000 + zeros_in_front,
        np.minimum(w, 7) + np.maximum(w, 50),
    ]
    for k, right in enumerate(expected):
        np.testing.assert_array_equal(found[..., k], right, err_msg=str(k))


def test_atomics(device):
    x = np.random.default_rng(2).integers(0, 1000, 5000).astype(np.int32)
    bins, most = zeros(device, 4, np.int32), zeros(device, 1, np.uint64)
    total = zeros(device, 1, np.float32)
    run(device, "atomics", (on(device, x), bins, total, most, x.size), (7,), (96,))
    np.testing.assert_array_equal(bins.numpy(), np.bincount(x % 4))
    assert total.numpy()[0] == 2500 and most.numpy()[0] == x.max()


def test_grids_and_blocks_of_three_dimensions(device):
    grid, block = (3, 4, 2), (4, 2, 3)
    out, sizes = zeros(device, 24 * 24 * 6, np.uint32), zeros(device, 6, np.uint32)
    run(device, "indices", (out, sizes), grid, block)
    np.testing.assert_array_equal(sizes.numpy(), [*block, *grid])
    places = [(x, y, z) for z in range(3) for y in range(2) for x in range(4)]
    blocks = [(x, y, z) for z in range(2) for y in range(4) for x in range(3)]
    expected = [[thread, block] for block in blocks for thread in places]
    np.testing.assert_array_equal(out.numpy().reshape(-1, 2, 3), expected)


def test_every_kind_of_argument(device):
    out, four = zeros(device, 32, np.float64), on(device, np.arange(4, dtype="f4"))
    pair = struct.pack("fxxxxqbxxxxxxx", 0.5, 2**40, 7)
    given = (out, True, -3, 65535, -(2**42), pair, 0.25, np.float64(1e6), four)
    run(device, "arguments", given, (1,), (32,), shared=32 * 8)
    total = 1 - 3 + 65535 - 2**42 + 0.5 + 2**40 + 7 + 0.25 + 1e6 + 2 + 4 + 1024
    assert (out.numpy() == total).all()
    for place, wrong, error in [
        (2, 128, OverflowError),
        (3, -1, OverflowError),
        (5, pair[:-1], TypeError),
        (6, "one", TypeError),
        (8, 2.0, TypeError),
        (0, four, TypeError),
    ]:
        bad = (*given[:place], wrong, *given[place + 1 :])
        with pytest.raises(error, match=f"argument {place + 1} of arguments"):
            run(device, "arguments", bad, (1,), (32,), shared=32 * 8)


def test_launches_that_cannot_be(device):
    out = zeros(device, 3, np.uint32)
    for grid, block, error, words in [
        ((0,), (32,), ValueError, "extent x is 0"),
        ((1, 70000), (32,), ValueError, "extent y is 70000"),
        ((1,), (1, 1, 65), _core.ResourceError, "extent z is 65"),
        ((1,), (2048,), _core.ResourceError, "extent x is 2048"),
        ((1,), (64, 32), _core.ResourceError, "2048"),
    ]:
        with pytest.raises(error, match=words):
            run(device, "indices", (out, out), grid, block)
    with pytest.raises(_core.ResourceError, match="shared"):
        run(device, "indices", (out, out), (1,), (1,), shared=2**30)


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_100"])
def test_cuda_takes_it(arch):
    if why := why_no_nvrtc(arch):
        pytest.skip(why)
    assert _core.source_compile(plain.SOURCE.complete(arch, {}), arch, "plain") >= 0


# CUDA's overloads of two numbers, and what they give.
LEAST = """
template <class A, class B> struct same { enum { value = 0 }; };
template <class A> struct same<A, A> { enum { value = 1 }; };
template <class R, class A, class B> __device__ void least(A a, B b)
{
    static_assert(same<decltype(min(a, b)), R>::value, "min");
    static_assert(same<decltype(max(a, b)), R>::value, "max");
}
__global__ void mixed(unsigned* out)
{
    least<int>(1, 2), least<unsigned>(1u, 2), least<unsigned>(1, 2u);
    least<long>(1l, 2l), least<unsigned long>(1ul, 2l), least<unsigned long>(1l, 2ul);
    least<long long>(1ll, 2ll), least<unsigned long long>(1ull, 2ll);
    least<unsigned long long>(1ll, 2ull), least<float>(1.0f, 2.0f), least<double>(1.0, 2.0);
    least<double>(1.0f, 2.0), least<double>(1.0, 2.0f);
    out[0] = min(-1, 5u);
    out[1] = max(7u, -1);
    out[2] = min(threadIdx.x + 3, 2);
}
"""


def test_the_least_of_two_types(device):
    arch = _core.device_info(device)["arch"]
    source = Source(LEAST, "mixed")
    out = zeros(device, 3, np.uint32)
    program = _core.Program(source.complete(arch, {}), "mixed", device)
    program.add("mixed", (out,), (1, 1, 1), (1, 1, 1), 0)
    program.run()
    assert out.numpy().tolist() == [5, 2**32 - 1, 2]


def test_cuda_has_the_same_least_of_two_types():
    if why := why_no_nvrtc():
        pytest.skip(why)
    text = Source(LEAST, "mixed").complete("sm_75", {})
    assert _core.source_compile(text, "sm_75", "mixed") >= 0


def test_any_order_of_threads(seed):
    chosen = "warps or atomics or every_kind"
    command = [sys.executable, "-m", "pytest", "-q", "-k", f"({chosen}) and cpu", __file__]
    environment = isolated.environment(CUBC_SIMT_SEED=seed, CUBC_TURN=None)  # all three
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "3 passed" in done.stdout, done.stdout


def test_several_launches(device):
    x, total = on(device, np.zeros(1000, np.int32)), zeros(device, 1, np.float32)
    bins, most = zeros(device, 4, np.int32), zeros(device, 1, np.uint64)
    program = plain.program(device)
    assert program.info == {}
    for n in (1000, 500):
        program.add("atomics", (x, bins, total, most, n), (2, 1, 1), (64, 1, 1), 0)
    for _ in range(2):
        program.run()
    assert program.info["threads"] == 64
    np.testing.assert_array_equal(bins.numpy(), [3000, 0, 0, 0])
    assert total.numpy()[0] == 1500
    measured = _core.measure(program, min_samples=3, max_samples=3)
    assert len(measured["samples"]) == 12 and measured["base_samples"] == b""
    assert _core.measure_hot(program, 0.001)[0] > 0


def test_a_barrier_that_some_do_not_reach():
    source = """
    __global__ void f(int* x)
    {
        if (threadIdx.x > 3) return;
        __syncthreads();
        x[threadIdx.x] = 1;
    }
    """
    program = _core.Program(Source(source, "mine").complete("cpu", {}), "mine", "cpu")
    program.add("f", (zeros("cpu", 32, np.int32),), (1, 1, 1), (32, 1, 1), 0)
    with pytest.raises(cubc.KernelFault, match=r"mine\.cu:5.*block 0.*thread"):
        program.run()


@pytest.fixture
def failing():
    yield _core._fail_allocation
    _core._fail_allocation(0)


def test_every_allocation_may_fail(failing):
    out, sizes = zeros("cpu", 24 * 6, np.uint32), zeros("cpu", 6, np.uint32)
    plain.program("cpu")  # now it is in the cache

    def work():
        run("cpu", "indices", (out, sizes), (1,), (4, 2, 3))

    work()
    failures = 0
    for nth in range(1, 60):
        before = _core._outstanding()
        failing(nth)
        try:
            work()
        except MemoryError:
            failures += 1
        failing(0)
        assert _core._outstanding() <= before, nth
    work()
    assert failures > 3
