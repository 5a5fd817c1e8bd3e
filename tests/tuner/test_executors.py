"""Searches whose variants are measured by the processes of an executor."""

import importlib.util
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest
import stores
from searches import AXES, TIMING, complete, keys, search, variant_rows

from cubc import _core, tuner
from cubc.tuner import _deadlines as deadlines
from cubc.tuner import _lane as lane
from cubc.tuner import _pool as pool
from cubc.tuner import _remote as remote
from cubc.tuner._executors import Processes

SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=SPAWN) as pool:
        yield pool


def test_a_process_pool(db, processes):
    result = search(db, executor=processes, variants=6)
    complete(db, 6)
    assert set(result.scores().variant) == {variant for _, variant, _ in keys(db)}
    search(db, executor=processes, variants=6)  # resumes: there is nothing left
    complete(db, 6)
    search(db, variants=7)  # and so it does without an executor
    complete(db, 7)


def test_a_search_that_is_not_run_ends_its_processes(db):
    made = []

    def threads():
        made.append(ThreadPoolExecutor(1))
        return made[-1]

    def ended():
        return made[-1]._shutdown

    one = tuner.Search("reduce.sum", AXES, db=db, device="cpu", executor=threads, variants=1)
    assert not ended()
    del one
    assert len(made) == 1 and ended()
    options = {"db": db, "device": "cpu", "variants": 1, "timing": TIMING, "confirm": 0}
    one = tuner.Search("reduce.sum", AXES, executor=threads, **options)
    one.run()
    assert len(made) == 2 and ended()
    one.run()  # by processes of its own
    assert len(made) == 3 and ended()


def test_variants_are_compiled_for_the_processes(db, processes, monkeypatch):
    """As for GPUs of this machine: what is sent is in the cache already, or it fails there."""
    compiled, send = [], pool.Pool._send
    compile = _core.compile

    def note(benchmark, ct, arch, variant, *more):
        compiled.append(variant)
        if len(compiled) == 2:
            raise _core.CompileError("not here")
        return compile(benchmark, ct, arch, variant, *more)

    def sending(self, parts, *more, **options):
        assert all(one.variant in ("base", *compiled) for one in parts[0].requests)
        send(self, parts, *more, **options)

    monkeypatch.setattr(pool, "compiles_for", lambda info, host: True)
    monkeypatch.setattr(pool.Pool, "_send", sending)
    monkeypatch.setattr(_core, "compile", note)
    search(db, executor=processes, variants=6)
    complete(db, 6)
    assert {variant for _, variant, _ in keys(db)} <= {*compiled, "base"}


def test_the_best_are_measured_again_by_one_process(db, processes):
    result = search(db, executor=processes, variants=3, confirm=1)
    again = [row for row in stores.read(db) if row["round"]]
    assert len({row["variant"] for row in again}) >= 1
    assert sorted(row["round"] for row in again)[:8] == [*range(1, 9)] or len(again) > 8
    assert any(group.verdict(v) for group in result.groups for v in group.cells)


def test_a_task_has_as_many_variants_as_fill_it(db, monkeypatch):
    """One at first; then as many more as take half a second, each once and by one process."""
    sizes = []
    send = pool.Pool._send

    def sending(self, parts, *more, **options):
        sizes.append(len(parts[0].requests))
        send(self, parts, *more, **options)

    monkeypatch.setattr(pool.Pool, "_send", sending)
    monkeypatch.setattr(lane, "TASK_SECONDS", 1e9)
    with ThreadPoolExecutor(1) as threads:
        search(db, executor=threads, variants=12)
    complete(db, 12)
    assert sizes[:2] == [1, 1] and max(sizes) > 2 and sum(sizes) == 13


def test_threads(db):
    with ThreadPoolExecutor(2) as threads:
        search(db, executor=threads)
    complete(db, 4)


def test_dask(db):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        search(db, executor=client.get_executor(pure=False))
    complete(db, 4)


def test_workers_of_dask_that_join_late_are_counted(monkeypatch):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(processes=False, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = client.get_executor(pure=False)
        processes = Processes(executor, "executor")
        assert processes.width() == 1
        cluster.scale(2)
        client.wait_for_workers(2, timeout=500)
        assert processes.width() == 2


class Growing(ThreadPoolExecutor):
    """Has more processes after some tasks."""

    given, widest = 0, 0

    def submit(self, function, *arguments):
        self.given += 1
        if self.given > 3:
            self._max_workers = 8
        future = super().submit(function, *arguments)
        self.widest = max(self.widest, self._work_queue.qsize())
        return future


def test_processes_that_come_later_get_tasks(db, monkeypatch, singly):
    monkeypatch.setattr(pool, "LOOK", 0.0)
    for floor in ("BUILD_FLOOR", "RUN_FLOOR"):  # of eight that compile and run at once
        monkeypatch.setattr(deadlines, floor, 300.0)
    with Growing(1) as threads:
        search(db, executor=threads, variants=16)
    complete(db, 16)
    assert threads.widest > pool.AHEAD


MPI = """
import sys
from mpi4py.futures import MPIPoolExecutor
from cubc import tuner
if __name__ == "__main__":
    with MPIPoolExecutor() as pool:
        tuner.search("reduce.sum", {"T": "F32", "Elements": 16}, db=sys.argv[1], device="cpu",
                     executor=pool, variants=4, confirm=0, racing=False)
"""


@pytest.mark.skipif(not importlib.util.find_spec("mpi4py"), reason="mpi4py is not installed")
def test_mpi(db, tmp_path):
    """One rank searches, the others measure."""
    script = tmp_path / "script.py"
    script.write_text(MPI)
    places = [str(Path(sys.executable).parent), os.environ["PATH"]]
    launcher = shutil.which("mpiexec", path=os.pathsep.join(places))
    command = [launcher, "-n", "3", sys.executable, "-m", "mpi4py.futures", script, db]
    subprocess.run(command, check=True)
    complete(db, 4)


def test_arguments_are_checked_with_an_executor_too(db, processes):
    with pytest.raises(LookupError, match=r"did you mean reduce\.sum"):
        tuner.search("reduce.smu", AXES, db=db, executor=processes)


class Recorded(ThreadPoolExecutor):
    ended = False

    def shutdown(self, *arguments, **options):
        self.ended = True
        super().shutdown(*arguments, **options)


def test_an_executor_of_ours_is_ended_where_the_arguments_are_wrong(db):
    made = []

    def make():
        made.append(Recorded(1))
        return made[0]

    with pytest.raises(LookupError, match="did you mean Elements"):
        tuner.search("reduce.sum", {"Element": 16}, device="cpu", db=db, executor=make)
    assert [one.ended for one in made] == [True]


def test_an_executor_of_ours_is_ended_where_there_is_no_device(db, monkeypatch):
    made = []

    def make():
        made.append(Recorded(1))
        return made[0]

    def nowhere(*what):
        raise _core.NoDeviceError("none")

    monkeypatch.setattr(remote, "describe", nowhere)
    with pytest.raises(_core.NoDeviceError, match="none"):
        search(db, executor=make)
    assert [one.ended for one in made] == [True]


class Client:
    """As Dask's, which is often given in place of its executor."""

    def submit(self, function, *arguments):
        raise NotImplementedError

    def get_executor(self):
        raise NotImplementedError


@pytest.mark.parametrize("bad", [3, "pool", lambda: 3, Client()])
def test_what_is_no_executor(db, bad):
    with pytest.raises(TypeError, match=r"executor is .*get_executor.*ProcessPoolExecutor"):
        search(db, executor=bad)


def test_a_class_of_executors_makes_one(db):
    search(db, executor=ThreadPoolExecutor, variants=2)
    assert [row["status"] for row in variant_rows(db)] == ["ok"] * 2


def test_each_process_takes_a_gpu_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    infos = {"cuda:0": {"uuid": "GPU-a"}, "cuda:1": {"uuid": "GPU-b"}}
    monkeypatch.setattr(_core, "devices", lambda: [*infos, "cpu"])
    monkeypatch.setattr(_core, "device_info", infos.get)
    (first, one), (second, other) = remote._claim(None), remote._claim(None)
    assert (first, second) == ("cuda:0", "cuda:1")
    with pytest.raises(_core.NoDeviceError, match="2 GPUs"):
        remote._claim(None)
    one.close()
    third, one = remote._claim(None)
    assert third == "cuda:0"
    assert remote._claim("cpu") == ("cpu", None)
    one.close()
    other.close()


def test_a_claim_follows_no_link(monkeypatch, tmp_path):
    """Its file has a known name in a folder that all may write to."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mine = tmp_path / "mine"
    mine.write_text("kept")
    (tmp_path / f"cubc-{os.getuid()}-GPU-0.lock").symlink_to(mine)
    with pytest.raises(OSError, match=r"GPU-0\.lock"):
        remote._lock("GPU-0")
    assert mine.read_text() == "kept"


def test_timing_is_passed_on(db, processes):
    search(db, executor=processes, variants=1, timing=TIMING | {"max_samples": 4, "min_samples": 4})
    assert {len(row["samples"]) // 4 for row in stores.read(db)} == {4}
