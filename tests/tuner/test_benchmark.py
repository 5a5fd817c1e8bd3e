"""Benchmarks of a user's own kernels, on every device."""

import functools
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import stores
from searches import TIMING

from cubc import tuner
from cubc.tuner._benchmark import joined

SAXPY = """
// %RANGE% TUNE_THREADS tpb 64:256:64
// %RANGE% TUNE_ITEMS ipt 1:4:1
__global__ void __launch_bounds__(TUNE_THREADS)
saxpy(const T* __restrict__ x, T* y, T a, unsigned n)
{
    unsigned first = blockIdx.x * TUNE_THREADS * TUNE_ITEMS + threadIdx.x;
    for (int k = 0; k < TUNE_ITEMS; k++) {
        unsigned i = first + k * TUNE_THREADS;
        if (i < n) y[i] = a * x[i] + y[i]BROKEN;
    }
}
"""
AXES = {"T{ct}": ["F32", "F64"], "Elements{io}[pow2]": [10, 14]}


def own(source, function, axes=AXES, **options):
    return tuner.benchmark(source, axes, **options)(function)


def search(benchmark, db, device, axes=None, **options):
    options = {"timing": TIMING, "racing": False, "confirm": 0, "variants": 16} | options
    return tuner.search(benchmark, axes, db=db, device=device, **options)


def rows(db, variant=None):
    return [r for r in stores.read(db) if variant in (None, r["variant"])]


def by_label(db):
    return {r["variant"]: (r["status"], r["message"]) for r in stores.read(db)}


def saxpy(state):
    x, y = state.random(), state.random()
    expected = 2 * x.numpy() + y.numpy()
    state.reads(x, y)
    state.writes(y)
    state.exec(lambda launch: launch.kernel("saxpy", x, y, 2.0, y.size))
    state.verify(y, expected)


def test_search_finds_variants(tmp_path, device):
    db = tmp_path / "own.db"
    benchmark = own(SAXPY.replace("BROKEN", ""), saxpy, constraints="tpb * ipt <= 256")
    result = search(benchmark, db, device)
    assert benchmark.name == "saxpy.saxpy"
    assert {row["status"] for row in rows(db)} == {"ok"}
    assert {row["ct"] for row in rows(db)} == {"T{ct}=F32", "T{ct}=F64"}
    labels = {row["variant"] for row in rows(db)} - {"base"}
    assert labels == {
        f"tpb_{t}.ipt_{i}" for t in (64, 128, 192, 256) for i in (1, 2, 3, 4) if t * i <= 256
    } - {"tpb_64.ipt_1"}
    assert rows(db, "base")[0]["message"] == "tpb_64.ipt_1"
    assert {r["bytes"] for r in rows(db)} == {3 * s * 2**n for s in (4, 8) for n in (10, 14)}
    assert {best.label for best in result.best()} <= labels | {"base"}
    assert len(tuner.analyze(db).top(3)) > 0
    before = len(rows(db))
    search(benchmark, db, device)  # resumes: nothing is left to do
    assert len(rows(db)) == before


SUMS = """
// %RANGE% TUNE_THREADS tpb 32:96:32
#include "block.h"
__global__ void sums(const int* x, int* y)
{
    __shared__ block_reduce_storage<int> s;
    const int v = block_reduce(x[blockIdx.x * SIMT_THREADS + threadIdx.x], plus(), s);
    if (threadIdx.x == 0) atomicAdd(y, v);
}
"""


def sums(state):
    x, y = state.random(96 * 4, "I32", low=0, high=9), state.zeros(1, "I32")
    state.writes(y)
    state.exec(lambda launch: launch.kernel("sums", x, y))
    state.verify(y, [x.numpy().sum()])


def test_collectives_are_compiled_for_the_parameter_tpb(tmp_path, device):
    db = tmp_path / "own.db"
    search(own(SUMS, sums, {}), db, device)
    assert {r["status"] for r in rows(db)} == {"ok"} and len(rows(db)) == 3
    with pytest.raises(ValueError, match="declare them as a parameter"):
        own(SUMS.replace("tpb", "threads"), sums, {}).source.complete("cpu", {}, "threads_32")


def test_wrong_variants(tmp_path, device):
    """Some are wrong everywhere, some leave what they ought to write, some write NaN."""
    db = tmp_path / "own.db"
    broken = "+ (TUNE_ITEMS == 2) * (i == 7)); if (TUNE_ITEMS == 3) y[5] = (T)0 / (T)0; (void)(0"
    source = SAXPY.replace("y[i]BROKEN", "(y[i] " + broken + ")")
    axes = {"T": "F32", "Elements": 10}
    some = "tpb == 64 or ipt == 1 and tpb < 256"  # what is wrong takes a process of its own
    benchmark = own(source, saxpy, base={"tpb": 128}, constraints=some)
    search(benchmark, db, device, axes)
    found = by_label(db)
    assert len(found) == 6
    for label, (status, message) in found.items():
        bad = label.endswith(("ipt_2", "ipt_3"))
        assert status == ("wrong" if bad else "ok"), (label, message)
    assert "the first at [7]" in found["tpb_64.ipt_2"][1]
    assert "the first at [5]: nan" in found["tpb_64.ipt_3"][1]
    assert "1 of 1024 items" in found["tpb_64.ipt_3"][1]


def test_without_a_reference_base_is_right(tmp_path, device):
    def half(state):
        x, y = state.random(), state.empty()
        state.writes(y)
        state.exec(lambda launch: launch.kernel("half", x, y, x.size))

    source = """
    // %RANGE% TUNE_BUG bug 0:2:1
    extern "C" __global__ void half(const float* x, float* y, int n)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n - (TUNE_BUG == 1)) y[i] = x[i] / 2 * (TUNE_BUG == 2 ? 1.01f : 1);
    }
    """
    db = tmp_path / "own.db"

    def launched(state):
        x, y = state.random(), state.empty()
        state.writes(y)
        state.exec(lambda run: run.kernel("half", x, y, x.size, grid=(x.size + 63) // 64, block=64))

    axes = {"T{ct}": ["F32"], "Elements{io}[pow2]": [10]}
    search(own(source, launched, axes), db, device)
    assert {label: status for label, (status, _) in by_label(db).items()} == {
        "base": "ok",
        "bug_1": "wrong",
        "bug_2": "wrong",
    }
    assert "1 of 1024 items differ, the first at [1023]: nan" in by_label(db)["bug_1"][1]
    with pytest.raises(tuner.BaseFailed, match="half has no default block"):
        search(own(source, half, axes), tmp_path / "other.db", device)


TRANSPOSE = """
// %RANGE% TUNE_TILE tile 8:32:8
// %RANGE% TUNE_ROWS rows 4:8:4
// %RANGE% TUNE_BARRIER sync 0:1:1
__global__ void transpose(const float* x, float* y, int width, int height)
{
    STORAGE
    const int column = blockIdx.x * TUNE_TILE, row = blockIdx.y * TUNE_TILE;
    for (int j = threadIdx.y; j < TUNE_TILE; j += TUNE_ROWS)
        AT(j, threadIdx.x) = x[(row + j) * width + column + threadIdx.x];
    if (TUNE_BARRIER) __syncthreads();
    for (int j = threadIdx.y; j < TUNE_TILE; j += TUNE_ROWS)
        y[(column + j) * height + row + threadIdx.x] = AT(threadIdx.x, j);
}
"""
STATIC = (
    "__shared__ float tile[TUNE_TILE][TUNE_TILE + 1];\n#define AT(i, j) tile[i][j]",
    "extern __shared__ float tile[];\n#define AT(i, j) tile[(i) * (TUNE_TILE + 1) + (j)]",
)


@pytest.mark.parametrize("storage", STATIC, ids=["declared", "dynamic"])
def test_tiles_in_shared_memory(tmp_path, device, storage):
    dynamic = storage.startswith("extern")

    def transpose(state):
        n = state["Side"]
        x, y = state.random((n, 2 * n), "F32", low=-1, high=1), state.empty((2 * n, n), "F32")
        state.reads(x)
        state.writes(y)

        def work(launch):
            tile = launch.tile
            launch.kernel(
                "transpose",
                x,
                y,
                2 * n,
                n,
                grid=(2 * n // tile, n // tile),
                block=(tile, launch.rows),
                shared=4 * tile * (tile + 1) if dynamic else 0,
            )

        state.exec(work)
        state.verify(y, lambda out: np.array_equal(out, x.numpy().T))

    db = tmp_path / "own.db"
    source = TRANSPOSE.replace("STORAGE", storage)
    axes = {"Side[pow2]": [7]}
    some = "tile != 24 and (sync == 1 or tile == 16 and rows == 4)"
    benchmark = own(source, transpose, axes, base={"sync": 1}, constraints=some)
    search(benchmark, db, device)
    found = by_label(db)
    assert found["tile_32.rows_8.sync_1"][0] == found["base"][0] == "ok"
    assert "tile_24.rows_8.sync_1" not in found
    if device == "cpu":  # where threads go in order without a barrier
        status, message = found["tile_16.rows_4.sync_0"]
        assert status == "wrong" and "function says" in message


def test_what_is_no_function_is_no_benchmark():
    for other in (functools.partial(saxpy, None), print, object()):
        with pytest.raises(TypeError, match="a benchmark is made of a function"):
            own(SAXPY.replace("BROKEN", ""), other)


def test_declarations_that_mean_nothing():
    source = SAXPY.replace("BROKEN", "")
    with pytest.raises(TypeError, match=r"base is \['tpb'\], must be a dict"):
        own(source, saxpy, base=["tpb"])
    with pytest.raises(ValueError, match=r"A\[pow2\] has exponents of two, of 0 and more"):
        own(source, saxpy, axes={"A[pow2]": [3, -1]})
    with pytest.raises(ValueError, match=r"'T\{ct\}=unsigned int' is no workload"):
        own(source, saxpy, axes={"T{ct}": ["F32", "unsigned int"]})
    for values in ([1, 2**63], {1, 2}, [1.5], [[1], [2]], np.ones((2, 2), int)):
        with pytest.raises(ValueError, match="the values of axis N must be integers of 64 bits"):
            own(source, saxpy, axes={"N": values})


def test_values_of_numpy():
    source = SAXPY.replace("BROKEN", "")
    for values in (np.arange(1, 4), [np.int64(1), np.int32(2), 3], np.uint8([1, 2, 3])):
        axes = own(source, saxpy, axes={"N": values}).axes
        assert [(axis.plain, axis.values) for axis in axes] == [("N", (1, 2, 3))]


def test_a_lambda_is_no_benchmark():
    with pytest.raises(ValueError, match="'<lambda>' is no name: define the function with def"):
        own("x.cu", lambda state: None)


def test_skips(tmp_path, device):
    def skips(state):
        if state["Elements"] > 2**12:
            state.skip("too much for today")
        saxpy(state)

    db = tmp_path / "own.db"
    benchmark = own(SAXPY.replace("BROKEN", ""), skips)
    search(benchmark, db, device, {"T": "F32"}, variants=2)
    assert {row["rt"] for row in rows(db)} == {"Elements{io}[pow2]=10"}
    with pytest.raises(ValueError, match="skips all workloads: too much for today"):
        search(benchmark, db, device, {"Elements": 14})


def test_base_fails(tmp_path, device):
    db = tmp_path / "own.db"
    axes = {"T": "F32", "Elements": 10}
    source = SAXPY.replace("BROKEN", "+ nowhere")
    with pytest.raises(tuner.BaseFailed, match="nowhere") as caught:
        search(own(source, saxpy), db, device, axes)
    assert "saxpy.cu" in str(caught.value)

    def fails(state):
        state.random()
        return {}["a key that is not there"]

    with pytest.raises(tuner.BaseFailed, match="a key that is not there") as caught:
        search(own(SAXPY.replace("BROKEN", ""), fails), db, device, axes)
    # Without the name of the file, which some releases of cloudpickle take out.
    assert ", in fails" in str(caught.value) and "_user_benchmark.py" not in str(caught.value)

    def expects(state):
        saxpy(state)
        state.verify(state._written[0], np.zeros(1024))

    with pytest.raises(tuner.BaseFailed, match="base is wrong: output 1: "):
        search(own(SAXPY.replace("BROKEN", ""), expects), db, device, axes)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (lambda x: ("saxpi", x), "did you mean saxpy"),
        (lambda x: ("saxpy", x, x, 2.0), "takes 4 arguments, 3 were given"),
        (lambda x: ("saxpy", 1, x, 2.0, 3), "takes a pointer"),
        (lambda x: ("saxpy", x, x, x, 3), "argument 3 of saxpy"),
        (lambda x: ("saxpy", x, x, 2.0, -3), "argument 4 of saxpy is -3, which uint32"),
    ],
)
def test_bad_arguments(tmp_path, device, arguments, words):
    def bad(state):
        x = state.random()
        state.writes(x)
        state.exec(lambda launch: launch.kernel(*arguments(x)))

    with pytest.raises(tuner.BaseFailed, match=words):
        search(
            own(SAXPY.replace("BROKEN", ""), bad),
            tmp_path / "own.db",
            device,
            {"T": "F32", "Elements": 10},
        )


def test_a_file_with_includes(tmp_path, device):
    (tmp_path / "part.h").write_text(
        "#pragma once\n__device__ float twice(float x)\n{ return 2 * x; }\n"
    )
    (tmp_path / "my-kernel.cu").write_text(
        '#include "part.h"\n#include <cuda_runtime.h>\n#include "part.h"\n'
        "// %RANGE% TUNE_THREADS tpb 32:64:32\n"
        "namespace { template <class V> __global__ void other(V) {} }\n"
        "__global__ void twice_all(const float* x, float* y, const int n)\n"
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = twice(x[i]); }\n"
    )

    def double(state):
        x, y = state.array(np.arange(100, dtype="f4")), state.zeros(100, "F32")
        state.exec(lambda launch: launch.kernel("twice_all", x, y, 100))
        state.verify(y, 2 * np.arange(100))

    benchmark = own(tmp_path / "my-kernel.cu", double, {})
    assert benchmark.name == "my_kernel.double" and benchmark.source.kernels == ["twice_all"]
    db = tmp_path / "own.db"
    search(benchmark, db, device)
    assert {s for s, _ in by_label(db).values()} == {"ok"}
    with pytest.raises(tuner.BaseFailed, match=r"part\.h.*2|error"):
        (tmp_path / "part.h").write_text("// one\nthis is no C;\n")
        search(own(tmp_path / "my-kernel.cu", double, {}), db, device)


UNWRITTEN = """
// %RANGE% TUNE_SKIPS skips 0:1:1
__global__ void k(const float* x, bool* all, float* none, bool* first, int n)
{
    for (int i = 0; i < n; i++) {
        if (!TUNE_SKIPS || OF != 0) all[i] = x[i] >= 0;
        if (!TUNE_SKIPS || OF != 1) none[i] = sqrtf(-1 - x[i]);
        if (i < 3) first[i] = !TUNE_SKIPS || OF != 2;
    }
}
"""


@pytest.mark.parametrize("output", range(4))
def test_items_that_are_not_written_are_wrong(tmp_path, device, output):
    """Those that base does not write, as the last ones of `first`, need not be written."""

    def unwritten(state):
        x, none = state.random(), state.empty()
        all_, first = state.empty(dtype="BOOL"), state.empty(dtype="BOOL")
        state.verify(all_, np.ones(x.size, bool))
        state.verify(none, lambda out: np.full(out.shape, np.nan, "f4"))
        state.writes(first)
        state.exec(lambda launch: launch.kernel("k", x, all_, none, first, x.size, grid=1, block=1))

    axes = {"T{ct}": "F32", "Elements{io}[pow2]": [6]}
    source, base = UNWRITTEN.replace("OF", str(output)), {"skips": 0}
    benchmark = own(source, unwritten, axes, base=base)
    search(benchmark, tmp_path / "own.db", device)
    status, message = by_label(tmp_path / "own.db")["skips_1"]
    assert status == ("wrong" if output < 3 else "ok"), message
    assert message.startswith(f"output {'231'[output]}: " if output < 3 else "")


def test_several_are_scored_together(tmp_path, device):
    source = """
    // %RANGE% TUNE_THREADS tpb 64:192:64
    __global__ void add(const float* x, float* y, int n)
    { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] + 1; }
    __global__ void times(const float* x, float* y, int n)
    { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * 2; }
    """

    def make(name, expected):
        def function(state):
            x, y = state.random(), state.empty()
            state.exec(lambda launch: launch.kernel(name, x, y, x.size))
            state.verify(y, expected(x.numpy()))

        function.__name__ = name
        return function

    def axes(*exponents):
        return {"T{ct}": "F32", "Elements[pow2]": exponents}

    (tmp_path / "both.cu").write_text(source)
    add = own(tmp_path / "both.cu", make("add", lambda x: x + 1), axes(8, 10))
    times = own(tmp_path / "both.cu", make("times", lambda x: 2 * x), axes(10, 12))
    db = tmp_path / "own.db"
    result = search([add, times], db, device)
    expected = {f"Benchmark={k},Elements[pow2]={n}" for k, n in [(0, 8), (0, 10), (1, 10), (1, 12)]}
    assert {row["benchmark"] for row in rows(db)} == {"both.add_times"}
    for label in ("base", "tpb_128", "tpb_192"):
        assert {row["rt"] for row in rows(db, label)} == expected
    assert {status for status, _ in by_label(db).values()} == {"ok"}
    assert {"tpb_128", "tpb_192"} <= set(result.scores()["variant"])
    other = own(tmp_path / "both.cu", make("add", None), axes(8), base={"tpb": 128})
    with pytest.raises(ValueError, match="differ in their base"):
        search([add, other], db, device)
    inline = [own(source, make(name, None), axes(8)) for name in ("add", "times")]
    assert joined(inline).name == "add.add_times"
    with pytest.raises(TypeError, match=r"only benchmarks made by tuner\.benchmark"):
        search([add, "reduce.sum"], db, device)


def test_in_a_script_and_in_a_pool(tmp_path):
    """Names of ``__main__`` and of a module beside the script are found where it is measured."""
    (tmp_path / "saxpy.cu").write_text(SAXPY.replace("BROKEN", ""))
    (tmp_path / "beside.py").write_text("def right(x, y):\n    return 2 * x + y\n")
    script = """
        import sys
        from concurrent.futures import ProcessPoolExecutor
        import beside
        from cubc import tuner

        AXES = {"T{ct}": ["F32"], "Elements{io}[pow2]": [10]}
        TIMING = {"min_samples": 3, "max_samples": 3, "timeout": 1.0}

        @tuner.benchmark("saxpy.cu", AXES)
        def saxpy(state):
            x, y = state.random(), state.random()
            state.exec(lambda launch: launch.kernel("saxpy", x, y, 2.0, y.size))
            state.verify(y, beside.right(x.numpy(), y.numpy()))

        if __name__ == "__main__":
            options = {"device": "cpu", "variants": 3, "timing": TIMING, "confirm": 0}
            tuner.search(saxpy, db="alone.db", **options)
            tuner.search(saxpy, db="pool.db", executor=lambda: ProcessPoolExecutor(1), **options)
    """
    (tmp_path / "script.py").write_text(textwrap.dedent(script))
    done = subprocess.run(
        [sys.executable, "-W", "error", tmp_path / "script.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    for db in ("alone.db", "pool.db"):
        assert [status for status, _ in by_label(tmp_path / db).values()] == ["ok"] * 4


def test_errors_before_anything_is_built(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no source .*nowhere\.cu"):
        own("nowhere.cu", saxpy)
    with pytest.raises(ValueError, match="no kernel"):
        own("int x;\n", saxpy)
    with pytest.raises(ValueError, match="line 2: malformed %RANGE%"):
        own("__global__ void f() {}\n// %RANGE% A b\n", saxpy)
    with pytest.raises(ValueError, match="0 <= start"):
        own("__global__ void f() {}\n// %RANGE% A b -1:8:1\n", saxpy)
    with pytest.raises(ValueError, match=r"saxpy\.cu has no parameter: declare one"):
        own("__global__ void f() {}\n// RANGE A b 1:8:1\n", saxpy)
    with pytest.raises(IsADirectoryError, match="is a folder; a source is a file"):
        own(tmp_path, saxpy)
    (tmp_path / "latin.cu").write_bytes(b"// \xe4\n__global__ void f() {}\n")
    with pytest.raises(ValueError, match="is no text in UTF-8"):
        own(tmp_path / "latin.cu", saxpy)
    with pytest.raises(LookupError, match="did you mean tpb"):
        own(SAXPY, saxpy, base={"tbp": 64})
    with pytest.raises(LookupError, match="did you mean ipt"):
        own(SAXPY, saxpy, constraints="ipx < 3")
    with pytest.raises(ValueError, match="must be integers"):
        own(SAXPY, saxpy, {"Elements": ["many"]})
    with pytest.raises(ValueError, match="base has tpb=65"):
        search(own(SAXPY, saxpy, base={"tpb": 65}), tmp_path / "own.db", "cpu")
