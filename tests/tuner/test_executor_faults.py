"""Searches whose executor loses tasks or processes, or breaks."""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest
from losing import Losing, die_if_first
from searches import AXES, TIMING, complete, keys, search, variant_rows

from cubc import _core
from cubc.tuner import _deadlines as deadlines
from cubc.tuner import _limits as limits
from cubc.tuner import _pool as pool
from cubc.tuner import _remote as remote
from cubc.tuner._measurer import Late, Request, Run
from cubc.tuner._workload import compile_time_workloads

SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture
def impatient(monkeypatch, singly):
    monkeypatch.setattr(pool, "PATIENCE", 0.2)
    monkeypatch.setattr(pool, "LOOK", 0.1)
    monkeypatch.setattr(pool, "FACTOR", 1.0)
    monkeypatch.setattr(deadlines, "RUN_FLOOR", 1.0)


def test_a_task_that_is_lost_is_given_to_another(db, impatient):
    search(db, executor=Losing({4}))
    complete(db, 4)


def test_a_variant_that_is_lost_twice_is_recorded(db, impatient, monkeypatch):
    monkeypatch.setattr(deadlines, "RUN_FLOOR", 0.1)  # no variant is answered in any case
    soon = TIMING | {"timeout": 0.1}
    search(db, executor=Losing({3, 4, 5, 6, 7, 8}), variants=2, timing=soon)
    rows = variant_rows(db)
    assert [row["status"] for row in rows] == ["timeout"] * 2
    assert all("no process answered, 2 times" in row["message"] for row in rows)


def test_seconds_hold_where_everything_is_lost(db):
    begin = time.monotonic()
    search(db, executor=Losing(range(3, 100)), seconds=1)
    assert time.monotonic() - begin < pool.PATIENCE
    assert variant_rows(db) == []


def test_a_task_ends_with_the_search():
    """A variant that hangs does not keep the process from the next search's tasks."""
    workload = compile_time_workloads("reduce.sum", AXES, "cpu")[0]
    try:
        model = remote.model_of(_core.device_info("cpu"))
        requests = [Request("base", [Run(0, 0)], TIMING)]
        reply = remote.work([remote.Offer(model, "an id", workload, requests, 0.0)], "cpu")
        assert isinstance(reply.error, Late)
    finally:
        remote._here.claimed.close()
        del remote._here.claimed


def dying(offers, *others):
    """Stands for `remote.work`: the first process that gets a certain variant dies."""
    die_if_first(offers[0].requests[0].variant)
    return _work(offers, *others)


_work = remote.work


SEARCHING = """
from concurrent.futures import ProcessPoolExecutor
from cubc import tuner
if __name__ == "__main__":
    tuner.search("reduce.sum", {"T": "F32", "Elements": 16}, db="killed.db", device="cpu",
                 executor=ProcessPoolExecutor(1))
"""


def test_a_killed_search_leaves_no_measuring_process(tmp_path):
    """The pool's processes stay: a device that they kept would be refused to the next search."""
    script = tmp_path / "searching.py"
    script.write_text(SEARCHING)
    with subprocess.Popen([sys.executable, str(script)], cwd=tmp_path) as search:
        while not (measuring := measuring_processes(search.pid)):
            time.sleep(0.05)
        left = limits.descendants(search.pid)
        search.kill()
    try:
        while any(map(is_measuring, measuring)):
            time.sleep(0.05)
    finally:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def measuring_processes(pid):
    return [one for one in limits.descendants(pid) if is_measuring(one)]


def is_measuring(pid):
    try:
        return "cubc.tuner._worker" in Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_process_that_dies_costs_nothing(db, monkeypatch, marker):
    """Its pool is replaced, and what it had to do is done by another."""
    monkeypatch.setattr(remote, "work", dying)
    made = []

    def make():
        made.append(ProcessPoolExecutor(2, mp_context=SPAWN))
        return made[-1]

    search(db, executor=make)
    complete(db, 4)
    assert len(made) == 2
    assert marker.exists()


def test_a_worker_of_dask_that_dies_costs_nothing(db, monkeypatch, marker):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(remote, "work", dying)
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(silence_logs=50, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        search(db, executor=client.get_executor(pure=False))
    complete(db, 4)
    assert marker.exists()


class Breaking(ThreadPoolExecutor):
    """Breaks as a pool of processes may whose manager sees a death while tasks are submitted."""

    given = 0

    def submit(self, function, *arguments):
        self.given += 1
        if self.given <= 2:  # what the device is, and base
            return super().submit(function, *arguments)
        if self.given == 3:
            return Future()  # forgotten
        if self.given == 4:
            (failed := Future()).set_exception(BrokenExecutor("a process died"))
            return failed
        if self.given == 5:
            raise OSError("handle is closed")
        raise BrokenExecutor("a process died")


def test_a_pool_that_breaks_while_it_is_given_tasks(db, singly):
    made = iter([Breaking(1), ThreadPoolExecutor(1)])
    search(db, executor=lambda: next(made))
    complete(db, 4)


def test_a_pool_that_breaks_and_cannot_be_replaced(db, monkeypatch, marker):
    monkeypatch.setattr(remote, "work", dying)
    with (
        ProcessPoolExecutor(1, mp_context=SPAWN) as pool,
        pytest.raises(RuntimeError, match="executor=lambda: ProcessPoolExecutor"),
    ):
        search(db, executor=pool)
    assert "base" in [variant for _, variant, _ in keys(db)]


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_that_is_shut_down(db, pool):
    with pool(1) as ended:
        pass
    with pytest.raises(RuntimeError, match="the executor is shut down: search within its with"):
        search(db, executor=ended)


def test_variants_whose_processes_always_die_are_at_fault(db, monkeypatch):
    real = _core.device_info("cpu")

    class Dead:
        """An executor whose processes die over variants, but not over base."""

        def submit(self, function, *arguments):
            offers = getattr(function, "args", [None])[0]
            if offers is None or offers[0].requests[0].variant == "base":
                with ThreadPoolExecutor(1) as pool:
                    return pool.submit(function, *arguments)
            (failed := Future()).set_exception(BrokenExecutor("a process died"))
            return failed

    search(db, executor=Dead(), variants=2)
    rows = variant_rows(db)
    assert [row["status"] for row in rows] == ["fault"] * 2
    assert all("died 2 times" in row["message"] for row in rows)
    assert {row["device_uuid"] for row in rows} == {real["uuid"]}


def test_an_error_in_a_process_is_no_fault_of_a_variant(db, monkeypatch):
    def crowded(offers, *others):
        if offers[0].requests[0].variant != "base":
            raise _core.NoDeviceError("all 1 GPUs of this machine measure for other processes")
        return _work(offers, *others)

    monkeypatch.setattr(remote, "work", crowded)
    with (
        ThreadPoolExecutor(1) as threads,
        pytest.raises(_core.NoDeviceError, match="all 1 GPUs"),
    ):
        search(db, executor=threads)
    assert variant_rows(db) == []
