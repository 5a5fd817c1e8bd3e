"""cubc.Kernel: a user's own kernel compiled and launched, and what is said when it cannot be."""

import gc
import re
import struct

import numpy as np
import pytest
from cudart import Stream
from nvrtc import why_no_nvrtc

import cubc
from cubc import _core

SAXPY = """
__global__ void saxpy(const T* x, T* y, T a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] += a * x[i];
}
"""
SUM = """
#include "block.h"
__global__ void sum(const int* x, int* out, unsigned* threads)
{
    __shared__ block_reduce_storage<int> s;
    const int total = block_reduce(x[blockIdx.x * SIMT_THREADS + threadIdx.x], plus(), s);
    if (threadIdx.x == 0) {
        out[blockIdx.x] = total;
        *threads = SIMT_THREADS;
    }
}
"""
ANY = "__global__ void store(VALUE v, unsigned long long* out)\n{ *out = (unsigned long long)v; }\n"


def on(device, x):
    return cubc.asarray(np.asarray(x), device=device)


def saxpy(device, dtype="float", **given):
    return cubc.Kernel(SAXPY, "saxpy", defines={"T": dtype}, device=device, **given)


@pytest.mark.parametrize(("name", "dtype"), [("float", "f4"), ("double", "f8"), ("short", "i2")])
def test_a_launch(device, name, dtype):
    kernel = saxpy(device, name)
    x, y = np.arange(1000).astype(dtype), np.ones(1000, dtype)
    there = on(device, x), on(device, y)
    assert kernel(*there, 3, x.size, grid=4, block=96) is None
    np.testing.assert_array_equal(there[1].numpy(), 3 * x + y)
    kernel(*there, 1, x.size, grid=(1, 1), block=(1, 1, 1))
    np.testing.assert_array_equal(there[1].numpy(), 4 * x + y)
    assert repr(kernel) == f"<cubc.Kernel saxpy on {device}>"


def test_arrays_of_the_host():
    x, y = np.arange(10, dtype="f4"), np.zeros((2, 5), "f4")
    kernel = saxpy("cpu", block=32)
    x.flags.writeable = False  # the kernel's pointer is to const
    kernel(x, y, 2, 10, grid=1)
    np.testing.assert_array_equal(y.ravel(), 2 * x)


def test_tensors_of_torch(device):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x, y = torch.arange(10.0, device=device), torch.ones(10, device=device)
    saxpy(device)(x, y, 2, 10, grid=1, block=32)
    assert (y == 2 * x + 1).all()


def test_the_default_device():
    with cubc.device("cpu"):
        assert saxpy(None).device == "cpu"


@pytest.mark.parametrize(
    ("place", "wrong", "error", "words"),
    [
        (0, 1.5, TypeError, "argument 1 of saxpy is of type .*float.*a pointer, so an array"),
        (0, [1.0] * 4, TypeError, "argument 1 of saxpy is of type .*list"),
        (1, np.zeros(4), TypeError, "array of float64, the kernel's pointer is to float32"),
        (1, np.zeros(4, "i4"), TypeError, "array of int32, the kernel's pointer is to float32"),
        (1, np.zeros((4, 2), "f4")[:, 0], ValueError, "argument 2 of saxpy is not contiguous"),
        (1, np.frombuffer(bytes(16), "f4"), ValueError, "argument 2 of saxpy is read-only"),
        (2, "one", TypeError, "argument 3 of saxpy"),
        (3, 2**31, OverflowError, "argument 4 of saxpy"),
        (3, 1.5, ValueError, "argument 4 of saxpy: 1.5 is not an integer"),
    ],
)
def test_wrong_arguments(place, wrong, error, words):
    given = [np.zeros(4, "f4"), np.zeros(4, "f4"), 1.0, 4]
    given[place] = wrong
    with pytest.raises(error, match=words):
        saxpy("cpu", block=32)(*given, grid=1)


def test_a_wrong_number_of_arguments(device):
    with pytest.raises(TypeError, match="saxpy takes 4 arguments, 1 were given"):
        saxpy(device, block=32)(2, grid=1)


@pytest.mark.gpu
def test_arrays_that_are_elsewhere():
    x = np.zeros(4, "f4")
    with pytest.raises(ValueError, match=r"argument 1 of saxpy is on the host.*cubc.asarray"):
        saxpy("cuda:0", block=32)(x, x, 1, 4, grid=1)
    with pytest.raises(ValueError, match="is on cuda:0, the kernel runs on cpu"):
        saxpy("cpu", block=32)(on("cuda:0", x), x, 1, 4, grid=1)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"grid": 0}, "grid is 0"),
        ({"grid": 1.5}, "grid is 1.5"),
        ({"grid": (1, 2, 3, 4)}, "grid is"),
        ({"grid": 1, "block": -1}, "block is -1"),
        ({"grid": 1, "block": 32, "shared": -8}, "shared is -8"),
        ({"grid": 1}, "no block is given"),
    ],
)
def test_extents_that_cannot_be(given, words):
    x = np.zeros(4, "f4")
    with pytest.raises(ValueError, match=words):
        saxpy("cpu")(x, x, 1, 4, **given)


def test_too_many_threads(device):
    x = on(device, np.zeros(4, "f4"))
    with pytest.raises(cubc.ResourceError, match="2048"):
        saxpy(device)(x, x, 1, 4, grid=1, block=(64, 32))


@pytest.mark.parametrize(
    ("value", "given"),
    [("bool", True), ("unsigned char", 255), ("long long", 2**40), ("float", 3.0), ("double", 2.0)],
)
def test_numbers(device, value, given):
    out = on(device, np.zeros(1, "u8"))
    cubc.Kernel(ANY, defines={"VALUE": value}, device=device)(given, out, grid=1, block=1)
    assert out.numpy()[0] == int(given)


def test_structs(device):
    source = """
    struct pair { int a; double b; };
    __global__ void both(pair p, double* out)
    {
        *out = p.a + p.b;
    }
    """
    out = on(device, np.zeros(1))
    kernel = cubc.Kernel(source, device=device, block=1)
    kernel(struct.pack("ixxxxd", 1, 2.5), out, grid=1)
    assert out.numpy()[0] == 3.5
    record = np.array([(2, 0.25)], np.dtype([("a", "i4"), ("b", "f8")], align=True))[0]
    kernel(record, out, grid=1)
    assert out.numpy()[0] == 2.25


def test_pointers_to_what_is_no_number(device):
    source = """
    struct later;
    __global__ void many(void* any, float4* vector, const later* opaque, int** pointers)
    {
        *(int*)any = 7;
        vector->w = 4;
    }
    """
    any, vector = on(device, np.zeros(2, "i4")), on(device, np.zeros(4, "f4"))
    cubc.Kernel(source, device=device, block=1)(any, vector, any, any, grid=1)
    assert any.numpy()[0] == 7 and vector.numpy()[3] == 4


def test_what_the_compiler_made(device):
    kernel = saxpy(device)
    assert kernel.max_threads == 1024
    assert (kernel.registers > 0) == (device != "cpu")
    assert kernel.local_bytes == 0 and kernel.shared_bytes == 0
    with pytest.raises(AttributeError):
        kernel.registers = 1


# ---- sources ------------------------------------------------------------------------------------
def test_a_file_and_what_it_includes(device, tmp_path):
    (tmp_path / "block.h").write_text("#define ANSWER 42\n")  # comes before cubc's of that name
    path = tmp_path / "mine.cu"
    path.write_text('#include "block.h"\n__global__ void f(int* x) { *x = ANSWER; }\n')
    x = on(device, np.zeros(1, "i4"))
    for source in (path, str(path)):
        cubc.Kernel(source, "f", device=device)(x, grid=1, block=1)
        assert x.numpy()[0] == 42


def test_a_file_is_included_as_often_as_the_preprocessor_does(tmp_path):
    for name, text in {
        "items.h": "ITEM(1)\nITEM(2)\n",
        "once.h": "#pragma once\nenum { once = 10 };\n",
        "one.h": '#ifndef ONE\n#define ONE\n#include "other.h"\nenum { one = 100 };\n#endif\n',
        "other.h": '#if !defined(OTHER)\n#define OTHER\n#include "one.h"\n#endif\n',
        "itself.h": '#include "itself.h"\n',
    }.items():
        (tmp_path / name).write_text(text)
    path = tmp_path / "mine.cu"
    path.write_text(
        '/* as\n#include "none.h"\n*/\n#ifdef NONE\n#include "none.h"\n#endif\n'
        '#ifdef NONE\n#include "one.h"\n#endif\n#include "one.h"\n#include "one.h"\n'
        '#include "once.h" // twice\n#include "once.h"\n__global__ void f(int* x)\n{\n'
        '#define ITEM(n) x[0] += n;\n#include "items.h"\n#undef ITEM\n'
        '#define ITEM(n) x[0] *= 5 * n;\n#include "items.h"\nx[0] += one + once;\n}\n'
    )
    x = np.zeros(1, "i4")
    cubc.Kernel(path, "f", device="cpu")(x, grid=1, block=1)
    assert x[0] == 3 * 5 * 10 + 110
    path.write_text('#include "itself.h"\n__global__ void f() {}\n')
    with pytest.raises(ValueError, match=r"itself\.h includes itself: give"):
        cubc.Kernel(path, "f", device="cpu")


def test_a_header_of_the_same_name_is_not_taken_for_what_cubc_includes(tmp_path):
    (tmp_path / "warp.h").write_text("#define MINE 1\n")
    (tmp_path / "sum.cu").write_text('#include "warp.h"\nenum { mine = MINE };' + SUM)
    out = np.zeros(1, "i4")
    cubc.Kernel(tmp_path / "sum.cu", device="cpu", block=32)(
        np.ones(32, "i4"), out, np.zeros(1, "u4"), grid=1
    )
    assert out[0] == 32


def test_sources_that_cannot_be(tmp_path):
    two = "__global__ void f() {}\n__global__ void g() {}\n"
    with pytest.raises(ValueError, match="several kernels, name one: f, g"):
        cubc.Kernel(two, device="cpu")
    with pytest.raises(LookupError, match="no kernel 'h'; it has f, g"):
        cubc.Kernel(two, "h", device="cpu")
    with pytest.raises(ValueError, match="none of its functions is __global__"):
        cubc.Kernel("void f()\n{}\n", device="cpu")
    with pytest.raises(FileNotFoundError, match=r"none\.cu"):
        cubc.Kernel(tmp_path / "none.cu", device="cpu")
    with pytest.raises(FileNotFoundError, match=r"none\.h"):
        cubc.Kernel('#include "none.h"\n__global__ void f() {}\n', device="cpu")
    with pytest.raises(cubc.NoDeviceError):
        cubc.Kernel(two, "f", device="cuda:99")


def test_a_source_that_does_not_compile(device):
    with pytest.raises(cubc.CompileError, match=r"f\.cu.*nonsense") as caught:
        cubc.Kernel("__global__ void f(int* x)\n{ *x = nonsense; }\n", "f", device=device)
    assert re.search(r"f\.cu[:(]2\b", caught.value.log)


UNCLOSED = [
    ("__global__ void f(int x){", 1),
    ("// }\n__device__ void g() {}\n__global__ void f(int* x)\n{\n if (*x) { *x = '}';\n}\n", 4),
    ('#include "own.h"\n__global__ void f(int* x)\n{ *x = "}"[0];\n', 3),
]


@pytest.mark.parametrize(("source", "line"), UNCLOSED)
def test_a_brace_that_is_not_closed_is_named(device, source, line, tmp_path, monkeypatch):
    """Not the end of what follows the source."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.h").write_text("struct own {\n int x; };\n")
    with pytest.raises(cubc.CompileError) as caught:
        cubc.Kernel(source, "f", device=device)
    errors = [line for line in caught.value.log.splitlines() if "error" in line]
    assert re.match(rf"f\.cu[:(]{line}\b.*brace that opens here is never closed", errors[0])


def test_braces_that_a_compiler_alone_can_count():
    """Those of branches of the preprocessor and of macros."""
    branches = "#if 1\n__global__ void f(int* x) {\n#else\nvoid g() {\n#endif\n *x = 2; }\n"
    macro = "#define BEGIN {\n__global__ void f(int* x)\nBEGIN *x = 2; }\n"
    given = "__global__ void f(int* x)\n{ *x = 2; END\n"
    for source, defines in ((branches, {}), (macro, {}), (given, {"END": "}"})):
        x = np.zeros(1, "i4")
        cubc.Kernel(source, "f", defines=defines, device="cpu")(x, grid=1, block=1)
        assert x[0] == 2


def test_a_trap_is_named():
    source = "__global__ void f(int* x)\n{ if (*x == 0) __builtin_trap(); *x = 1; }\n"
    with pytest.raises(cubc.KernelFault, match=r"came to a trap: __builtin_trap\(\), or "):
        cubc.Kernel(source, "f", device="cpu")(np.zeros(1, "i4"), grid=1, block=1)


@pytest.mark.parametrize("defines", [{"A B": 1}, {"A": "1\n#error"}, {"": 1}])
def test_macros_that_cannot_be(defines):
    with pytest.raises(ValueError, match="cannot be defined"):
        cubc.Kernel(SAXPY, "saxpy", defines=defines, device="cpu")


def test_a_fault_is_told():
    source = """
    __global__ void f(int* x)
    {
        if (threadIdx.x > 3) return;
        __syncthreads();
        *x = 1;
    }
    """
    with pytest.raises(cubc.KernelFault, match=r"f\.cu:5.*thread"):
        cubc.Kernel(source, "f", device="cpu")(np.zeros(1, "i4"), grid=1, block=32)


# ---- collectives --------------------------------------------------------------------------------
@pytest.mark.parametrize("threads", [1, 32, 96, 1024])
def test_a_block_is_what_it_is_compiled_for(device, threads):
    if threads == 1 and device != "cpu":
        threads = 64
    x = np.arange(3 * threads, dtype="i4")
    out, said = on(device, np.zeros(3, "i4")), on(device, np.zeros(1, "u4"))
    kernel = cubc.Kernel(SUM, "sum", device=device)
    for _ in range(2):
        kernel(on(device, x), out, said, grid=3, block=threads)
    np.testing.assert_array_equal(out.numpy(), x.reshape(3, -1).sum(1))
    assert said.numpy()[0] == threads


def test_a_block_of_one_thread_on_the_second_cpu():
    kernel = cubc.Kernel(SUM, "sum", device="cpu:1")
    x, out, said = np.arange(3, dtype="i4"), np.zeros(3, "i4"), np.zeros(1, "u4")
    kernel(x, out, said, grid=3, block=1)
    assert out.tolist() == [0, 1, 2]


def test_blocks_that_collectives_cannot_have(device):
    x = on(device, np.zeros(256, "i4"))
    kernel = cubc.Kernel(SUM, "sum", device=device)
    with pytest.raises(ValueError, match="a multiple of 32"):
        kernel(x, x, x, grid=1, block=48)
    with pytest.raises(ValueError, match="one dimension, not of 32 x 2 x 1"):
        kernel(x, x, x, grid=1, block=(32, 2))
    with pytest.raises(ValueError, match="give block= first"):
        _ = cubc.Kernel(SUM, "sum", device=device).registers
    assert cubc.Kernel(SUM, "sum", device=device, block=64).max_threads >= 64


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_100"])
def test_cuda_takes_the_collectives(arch):
    if why := why_no_nvrtc(arch):
        pytest.skip(why)
    text = cubc.Kernel(SUM, "sum", device="cpu", block=1)._source.compiled(arch, {}, 128)
    assert _core.source_compile(text, arch, "sum") >= 0


def test_one_program_for_all_blocks_and_launches(monkeypatch):
    made = []
    program = _core.Program
    monkeypatch.setattr(_core, "Program", lambda *a: made.append(a[3]) or program(*a))
    x = np.zeros(64, "f4")
    kernel = saxpy("cpu")
    for block in (32, 64, 32):
        kernel(x, x, 1, 4, grid=1, block=block)
    assert made == [0]
    i, u = np.zeros(128, "i4"), np.zeros(1, "u4")
    kernel = cubc.Kernel(SUM, "sum", device="cpu")
    for block in (32, 64, 32):
        kernel(i, i, u, grid=1, block=block)
    assert made == [0, 32, 64]


# ---- streams and lifetimes ----------------------------------------------------------------------
@pytest.mark.gpu
def test_order_on_streams():
    """A launch does not wait, and comes after what another stream has to do with its arrays."""
    stream, n = Stream(), 2**16
    x, y = on("cuda:0", np.ones(n, "f4")), on("cuda:0", np.zeros(n, "f4"))
    kernel = saxpy("cuda:0", block=64)
    kernel(x, y, 1, n, grid=8, stream=stream)
    with stream.held():
        kernel(x, y, 1, n, grid=8, stream=stream)
        kernel(x, y, 1, n, grid=8)  # on the stream of its arrays
        assert not stream.done()
    kernel(x, y, 1, n, grid=8, stream=0)
    assert (y.numpy() == 4).all()


def test_a_stream_that_is_none():
    x = np.zeros(4, "f4")
    with pytest.raises(TypeError, match="stream must be"):
        saxpy("cpu", block=32)(x, x, 1, 4, grid=1, stream="fast")


def test_nothing_is_kept():
    x = np.zeros(4, "f4")

    def outstanding_after(rounds):
        kernel = saxpy("cpu", block=32)
        for _ in range(rounds):
            kernel(x, x, 1, 4, grid=1)
            with pytest.raises(TypeError):
                kernel(x, 1, 1, 4, grid=1)
        del kernel
        gc.collect()
        return _core._outstanding()

    before = outstanding_after(1)  # a process keeps what its first launch makes
    assert outstanding_after(3) <= before
