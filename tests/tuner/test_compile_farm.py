"""Searches whose variants are compiled by other processes than those that measure."""

import numpy as np
import pytest
from hosts import PLACES, host, started
from nvrtc import why_no_nvrtc
from searches import TIMING, complete, search, variant_rows

import cubc
from cubc import _core, tuner
from cubc.tuner import _build as build
from cubc.tuner import _compilers as compilers
from cubc.tuner import _lane as lane
from cubc.tuner import _pool as pool
from cubc.tuner._executors import Processes
from cubc.tuner._workload import compile_time_workloads


@pytest.fixture
def measuring(tmp_path, monkeypatch):
    monkeypatch.setattr(compilers, "FIRST", 100.0)  # a busy machine starts them slowly
    with host(tmp_path / "measuring") as processes:
        yield processes


@pytest.mark.gpu
def test_a_gpu_measures_what_was_compiled_without_one(db, tmp_path, measuring, monkeypatch):
    replies = []
    take = lane.Lane.take

    def taking(self, requests, reply, seconds):
        replies.append(reply)
        take(self, requests, reply, seconds)

    monkeypatch.setattr(lane.Lane, "take", taking)
    with host(tmp_path / "compiling", 4) as others:
        search(db, device="cuda:0", executor=measuring, compilers=others, variants=32)
    complete(db, 32)
    assert sum(len(reply.results) for reply in replies) == 32
    assert not any(reply.compiled for reply in replies)


def test_the_process_that_measures_compiles_nothing(db, tmp_path, measuring):
    with host(tmp_path / "compiling", 2) as others:
        search(db, executor=measuring, compilers=others, variants=6, confirm=2)
    assert {row["status"] for row in variant_rows(db)} == {"ok"}
    assert len({row["variant"] for row in variant_rows(db)}) == 6
    assert started(measuring) == 1
    here, there = ({path.name for path in (tmp_path / n).rglob("*")} for n in PLACES)
    assert there <= here and len(there) > 7  # the others make inputs and compare outputs


def test_workers_of_dask_compile(db, tmp_path, measuring):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(env={"CUBC_CACHE": str(tmp_path / "dask")}, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        search(db, executor=measuring, compilers=client.get_executor(pure=False))
    complete(db, 4)
    assert started(measuring) == 1


def test_workers_of_dask_that_may_not_have_the_tasks_do_not_count():
    distributed = pytest.importorskip("distributed")
    workers = {f"w{n}": {"cls": distributed.Worker, "options": {"nthreads": n}} for n in (1, 2)}
    workers["w2"]["options"]["resources"] = {"GPU": 1}
    with (
        distributed.SpecCluster(
            workers, scheduler={"cls": distributed.Scheduler, "options": {"dashboard": False}}
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(2, timeout=500)

        def width(**options):
            return Processes(client.get_executor(pure=False, **options), "executor").width()

        assert width() == 3
        assert width(workers=["w1"]) == width(workers="w1") == 1
        assert width(resources={"GPU": 1}) == 1
        assert width(workers=["nobody"]) == 1


def test_the_device_of_this_machine(db, tmp_path, monkeypatch):
    brought = []
    compile = _core.compile

    def noting(*arguments):
        brought.append(len(arguments[7]))
        return compile(*arguments)

    monkeypatch.setattr(_core, "compile", noting)
    with host(tmp_path / "compiling") as others:
        search(db, compilers=others)
    complete(db, 4)
    assert len(brought) == 5 and all(brought)


SOURCE = """
// %RANGE% THREADS tpb 32:128:32
__global__ void doubles(float* x, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) x[i] *= 2;
}"""


def test_kernels_of_a_user(db, tmp_path, measuring):
    pytest.importorskip("cloudpickle")

    @tuner.benchmark(SOURCE, {"Elements{io}[pow2]": [10]})
    def doubles(state):
        x = state.array(np.ones(state["Elements"], "f4"))
        state.writes(x)
        state.verify(x, np.full(x.size, 2, "f4"))
        state.exec(lambda launch: launch.kernel("doubles", x, x.size))

    with host(tmp_path / "compiling") as others:
        tuner.search(
            doubles, db=db, device="cpu", executor=measuring, compilers=others, timing=TIMING,
            racing=False, confirm=0,
        )  # fmt: skip
    assert [row["status"] for row in variant_rows(db)] == ["ok"] * 3
    assert started(measuring) == 1


def test_a_host_without_a_gpu_compiles_for_one(tmp_path):
    """All run-time workloads, of a lattice's kernel, which knows its extents."""
    if why := why_no_nvrtc():
        pytest.skip(why)
    axes = {"T{ct}": "F32", "X": [8, 16], "Y": 8, "Z": 8, "T": 8, "Sources": 1}
    (workload,) = compile_time_workloads("dslash.wilson.r18", axes, "sm_90")
    wanted = build.Wanted(cubc.__version__, "sm_90", _core.compiler("sm_90"))
    with host(tmp_path / "compiling") as others, host(tmp_path / "measuring") as measuring:
        built = others.submit(build.build, wanted, workload, "base", 60.0).result()
        assert built.bundle.count(b"cubcbun\0") == len(workload.rts) == 2
        told = measuring.submit(workload.compile, "base", 60.0, b"", built.bundle)
        assert told.result() == 0
        assert measuring.submit(workload.compile, "base", 60.0).result() == 0


def test_a_task_brings_no_more_kernels_than_it_may(db, tmp_path, measuring, monkeypatch):
    """Base's come with each until all processes have it open."""
    sizes = []
    send = pool.Pool._send

    def sending(self, parts, *more, **options):
        bundle = parts[0].lane.offer(parts[0].requests).bundle
        sizes.append((len(parts[0].requests), len(bundle)))
        send(self, parts, *more, **options)

    monkeypatch.setattr(pool.Pool, "_send", sending)
    monkeypatch.setattr(lane, "TASK_SECONDS", 1e9)
    monkeypatch.setattr(lane, "MOST_BYTES", 50_000)
    with host(tmp_path / "compiling", 2) as others:
        search(db, executor=measuring, compilers=others, variants=16)
    complete(db, 16)
    assert sizes[0][0] == 1 and sizes[0][1] > 0
    assert max(size for _, size in sizes) <= 50_000
    if max(count for count, _ in sizes) == 1:
        pytest.skip("each variant was measured before the next was compiled")


@pytest.mark.parametrize("bad", [3, "pool", lambda: 3])
def test_what_is_no_executor(db, bad):
    with pytest.raises(TypeError, match=r"compilers is .*get_executor.*ProcessPoolExecutor"):
        search(db, compilers=bad)


def test_a_recording_is_searched_here(tmp_path, measuring):
    with pytest.raises(ValueError, match="leave axes, executor, compilers and a replay out"):
        tuner.search(str(tmp_path / "work.db"), compilers=measuring)
