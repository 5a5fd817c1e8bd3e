"""Searches on the cpu: what they leave in the store, and that nothing stops them from resuming."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
import stores

from cubc import _core, tuner
from cubc.tuner import driver, process
from cubc.tuner.unit import units

AXES = {"T": "F32", "Elements": 16}
TIMING = {"min_samples": 3, "max_samples": 3, "timeout": 1.0}


def search(db, axes=AXES, **options):
    options = {"device": "cpu", "timing": TIMING, "variants": 4} | options
    return tuner.search("reduce.sum", axes, db=db, **options)


def keys(db):
    return [(r["ct"], r["variant"], r["rt"]) for r in stores.read(db)]


@pytest.fixture
def db(tmp_path):
    return str(tmp_path / "store.db")


@pytest.fixture
def at_evaluation(monkeypatch):
    """Calls a function with the measuring process before the n-th evaluation of a variant."""

    def install(nth, action):
        count = 0
        send = process.Process.send

        def hooked(self, kind, *arguments):
            nonlocal count
            if kind == "evaluate" and arguments[0] != "base":
                count += 1
                if count == nth:
                    action(self)
            send(self, kind, *arguments)

        monkeypatch.setattr(process.Process, "send", hooked)

    return install


def test_base_comes_first_and_every_workload_is_searched(db):
    result = search(db, {"T": ["F32", "I64"], "Elements": 16}, variants=3)
    rows = stores.read(db)
    for ct in ("T{ct}=F32", "T{ct}=I64"):
        mine = [r for r in rows if r["ct"] == ct]
        assert [r["variant"] for r in mine].index("base") == 0
        assert len(mine) == 4
    assert len(result.best()) == 2
    assert not result.failed


def test_rows_are_complete(db):
    search(db, variants=2)
    for r in stores.read(db):
        assert r["status"] == "ok", r["message"]
        assert len(r["samples"]) == 3 * 4
        assert len(r["base_samples"]) == (0 if r["variant"] == "base" else 3 * 4)
        assert r["bytes"] >= 4 << 16
        assert r["device_uuid"] == _core.device_info("cpu")["uuid"]
        if r["variant"] == "base":
            assert r["message"] == _core.base("reduce.sum", {"T{ct}": "F32"}, "cpu")


def test_result(db):
    result = search(db)
    best = result.best()
    assert best.score >= 1
    assert set(best.speedups) == {"Elements{io}[pow2]=16"}
    frame = result.to_frame()
    assert len(frame) == 5
    assert len(result.scores()) == 5
    assert "<table" in result._repr_html_()


def test_a_result_is_what_was_asked_for(db):
    declared = _core.benchmarks()["reduce.sum"]["Elements{io}[pow2]"]
    search(db, {"T": "I64", "Elements": 16}, variants=1)
    result = search(db, {"T": "F32", "Elements": declared[:2]}, variants=1)
    assert set(result.to_frame()["T"]) == {"F32"}
    assert set(search(db).to_frame().Elements) == {16}


def test_the_same_search_again_does_nothing(db, monkeypatch):
    before = search(db).scores()
    monkeypatch.setattr(process, "Process", None)  # it would be needed to measure anything
    rows = keys(db)
    after = search(db).scores()
    assert keys(db) == rows
    assert before.equals(after)


def test_a_longer_search_continues(db):
    search(db, variants=2)
    first = keys(db)
    search(db, variants=5)
    assert keys(db)[: len(first)] == first
    assert len(keys(db)) == len(set(keys(db))) == 6


def test_the_seed_decides_what_is_measured(tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        search(str(tmp_path / name), seed=seed, variants=3)
    a, b, c = (keys(tmp_path / name) for name in "abc")
    assert a == b != c


def test_a_new_workload_is_added_to_known_variants(db):
    declared = _core.benchmarks()["reduce.sum"]["Elements{io}[pow2]"][:2]
    search(db, {"T": "F32", "Elements": declared[0]}, variants=2)
    result = search(db, {"T": "F32", "Elements": declared}, variants=2)
    assert len(keys(db)) == len(set(keys(db))) == 6
    assert len(result.top(9)) == 3


def test_exhaustive_strategy_goes_in_order(db):
    search(db, strategy="exhaustive", variants=3)
    measured = [variant for _, variant, _ in keys(db)][1:]
    assert measured == stores.variants(count=3)


def test_a_whole_space(db):
    """Base is in the space; it is measured as base and not once more under its label."""
    axes = {"T": "F32", "Elements": 16}
    result = tuner.search("transform.fill", axes, db=db, device="cpu", timing=TIMING)
    [group] = result.groups
    assert result.coverage().coverage.tolist() == [1.0]
    assert len(group.cells) == group.space().count()
    assert _core.base("transform.fill", {"T{ct}": "F32"}, "cpu") not in group.cells


@pytest.mark.gpu
def test_on_a_gpu(db):
    result = search(db, {"T": "F32", "Elements": [16, 20]}, device="cuda:0", variants=40, timing={})
    assert (result.scores().status == "ok").mean() > 0.5
    assert result.best().score >= 1


def test_time_budget(db):
    begin = time.monotonic()
    search(db, {"T": ["F32", "I64"], "Elements": 16}, variants=None, seconds=3)
    assert time.monotonic() - begin < 20
    assert {ct for ct, _, _ in keys(db)} == {"T{ct}=F32", "T{ct}=I64"}


def test_progress(db, capfd):
    search(db, progress=True)
    err = capfd.readouterr().err
    assert "reduce.sum F32" in err
    assert "4/4" in err
    assert "/min" in err
    search(db, variants=5, progress=False)
    search(db, variants=6)
    assert not capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"benchmark": "reduce.sun"}, LookupError, r"did you mean reduce\.sum"),
        ({"axes": {"Elements": 22}}, ValueError, r"does not declare 22 .* 16"),
        ({"axes": {"Elemnts": 16}}, LookupError, "did you mean Elements"),
        ({"axes": {"T": "F31"}}, ValueError, "it declares .*F32"),
        ({"axes": {"T": []}}, ValueError, "no value"),
        ({"strategy": "best"}, LookupError, "no strategy 'best'"),
        ({"variants": 0}, ValueError, "at least 1"),
        ({"variants": 1.5}, ValueError, "whole number"),
        ({"seconds": -1}, ValueError, "positive"),
        ({"timing": {"samples": 1}}, LookupError, "did you mean m.._samples"),
        ({"device": "tpu"}, Exception, "tpu"),
    ],
)
def test_errors_come_before_anything_is_built(db, arguments, error, message):
    arguments = {"benchmark": "reduce.sum", "device": "cpu", "db": db} | arguments
    with pytest.raises(error, match=message):
        tuner.search(**arguments)
    assert not os.path.exists(db)


def test_an_expression_means_several_benchmarks():
    names = {unit.benchmark for unit in units(".*", {"T": "F32"}, "cpu")}
    assert names == set(_core.benchmarks())
    assert {str(unit) for unit in units("reduce.s.m", {"T": "F32"}, "cpu")} == {"reduce.sum F32"}


def test_a_dead_worker_costs_its_variant_only(db, at_evaluation):
    at_evaluation(2, lambda worker: os.kill(worker.pid, signal.SIGKILL))
    result = search(db)
    rows = [r for r in stores.read(db) if r["variant"] != "base"]
    assert [r["status"] for r in rows] == ["ok", "fault", "ok", "ok"]
    assert "SIGKILL" in rows[1]["message"]
    assert result.scores().set_index("variant").score.isna()[rows[1]["variant"]]


def test_a_hanging_variant_is_killed(db, at_evaluation, monkeypatch):
    monkeypatch.setattr(driver, "RUN_FLOOR", 2.0)
    monkeypatch.setattr(driver, "RUN_FACTOR", 0.0)
    stopped = []

    def stop(worker):
        stopped.append(worker.pid)
        os.kill(worker.pid, signal.SIGSTOP)

    at_evaluation(2, stop)
    search(db)
    rows = [r for r in stores.read(db) if r["variant"] != "base"]
    assert [r["status"] for r in rows] == ["ok", "timeout", "ok", "ok"]
    with pytest.raises(ProcessLookupError):
        os.kill(stopped[0], 0)


def test_a_failure_holds_for_all_workloads(db, at_evaluation):
    declared = _core.benchmarks()["reduce.sum"]["Elements{io}[pow2]"][:2]
    at_evaluation(1, lambda worker: os.kill(worker.pid, signal.SIGKILL))
    search(db, {"T": "F32", "Elements": declared}, variants=1)
    assert [r["status"] for r in stores.read(db)] == ["ok", "ok", "fault", "fault"]


def test_a_variant_that_does_not_compile_is_a_result(db, monkeypatch):
    compiled = _core.compile
    labels = []

    def some_fail(benchmark, ct, arch, variant, deadline=0.0):
        if variant != "base":
            labels.append(variant)
            if len(labels) == 2:
                raise TimeoutError("past its deadline")
            if len(labels) == 3:
                error = _core.CompileError("does not compile")
                error.log = "kernel.cu:1: error: no"
                raise error
        return compiled(benchmark, ct, arch, variant, deadline)

    monkeypatch.setattr(driver, "_core", FakeCore(some_fail))
    search(db)
    rows = {r["variant"]: r for r in stores.read(db)}
    assert sorted(r["status"] for r in rows.values()) == [
        "compile_error", "ok", "ok", "ok", "timeout",
    ]  # fmt: skip
    message = next(r["message"] for r in rows.values() if r["status"] == "compile_error")
    assert "kernel.cu:1: error: no" in message


class FakeCore:
    """The core with another `compile`."""

    def __init__(self, compile):
        self.compile = compile

    def __getattr__(self, name):
        return getattr(_core, name)


def base_fails(ct_value):
    def fails(benchmark, ct, arch, variant, deadline=0.0):
        if variant == "base" and ct["T{ct}"] == ct_value:
            raise _core.CompileError("reduce.cu:7: error: base is broken")
        return _core.compile(benchmark, ct, arch, variant, deadline)

    return FakeCore(fails)


def test_a_base_that_does_not_compile_stops_with_the_log(db, monkeypatch):
    monkeypatch.setattr(driver, "_core", base_fails("F32"))
    with pytest.raises(tuner.BaseFailed, match=r"(?s)reduce\.sum F32.*base is broken"):
        search(db)
    assert not keys(db)


def test_the_other_workloads_are_still_searched(db, monkeypatch):
    monkeypatch.setattr(driver, "_core", base_fails("F32"))
    with pytest.warns(RuntimeWarning, match="base is broken"):
        result = search(db, {"T": ["F32", "I64"], "Elements": 16}, variants=1)
    assert set(result.failed) == {"reduce.sum F32"}
    assert {ct for ct, _, _ in keys(db)} == {"T{ct}=I64"}


def test_a_base_on_which_the_worker_dies_is_given_up(db, monkeypatch):
    send = process.Process.send
    deaths = []

    def kill(self, kind, *arguments):
        deaths.append(self.pid)
        os.kill(self.pid, signal.SIGKILL)
        send(self, kind, *arguments)

    monkeypatch.setattr(process.Process, "send", kill)
    with pytest.raises(tuner.BaseFailed, match=r"(?s)SIGKILL.*3 times"):
        search(db)
    assert len(set(deaths)) == 3


def test_a_store_against_another_base_is_refused(db):
    search(db, variants=1)
    other = str(db) + "2"
    for r in stores.read(db):
        if r["variant"] == "base":
            r["message"] = "ipt_1.tpb_1"
        stores.write(other, [r])
    with pytest.raises(ValueError, match="another base"):
        search(other, variants=2)


def test_not_the_same_process(db):
    """The user's process never runs a variant: it may fault."""
    seen = []
    begin = process.Process.__init__

    def note(self):
        begin(self)
        seen.append((self.pid, os.getsid(self.pid)))

    process.Process.__init__ = note
    try:
        search(db, variants=1)
    finally:
        process.Process.__init__ = begin
    [(pid, session)] = seen
    assert pid != os.getpid()
    assert session == pid  # so that Ctrl-C in a terminal does not reach it
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


SCRIPT = """
import sys
from cubc import tuner
tuner.search("reduce.sum", {"T": "F32", "Elements": 16}, db=sys.argv[1], device="cpu", variants=12,
             timing={"min_samples": 3, "max_samples": 3, "timeout": 1.0})
"""


def started(db, rows):
    """A search in a process of its own that has stored so many rows."""
    driver = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, db], stderr=subprocess.PIPE, start_new_session=True
    )
    until = time.monotonic() + 60
    while time.monotonic() < until and driver.poll() is None:
        with contextlib.suppress(OSError, _core.StoreError):  # not there yet, or empty
            if len(stores.read(db)) >= rows:
                return driver
        time.sleep(0.01)
    driver.kill()
    raise AssertionError(driver.communicate())


def children(pid):
    """Processes of a parent, from /proc."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as stat:
                parent = int(stat.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            found.append(int(entry))
    return found


def gone(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_kill_9_loses_nothing_and_the_search_resumes(db):
    driver = started(db, rows=4)
    workers = children(driver.pid)
    assert workers
    driver.kill()
    driver.communicate()
    until = time.monotonic() + 5
    while time.monotonic() < until and not all(map(gone, workers)):
        time.sleep(0.01)
    assert all(map(gone, workers))
    kept = stores.read(db)
    assert 4 <= len(kept) < 13
    search(db, variants=12)
    rows = stores.read(db)
    assert rows[: len(kept)] == kept
    assert len({r["variant"] for r in rows}) == len(rows) == 13


BUSY = """
import os, sys, threading, time
from cubc.tuner import worker
threading.Thread(target=worker.leave_with_driver, args=(int(sys.argv[1]), os.getppid())).start()
print("busy", flush=True)
time.sleep(60)
"""


def test_a_busy_worker_leaves_when_the_driver_is_gone():
    """A kernel that hangs keeps the process from reading that its socket was closed."""
    ours, theirs = socket.socketpair()
    with theirs:
        worker = subprocess.Popen(
            [sys.executable, "-c", BUSY, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdout=subprocess.PIPE,
        )
    with worker:
        assert worker.stdout.readline() == b"busy\n"
        assert worker.poll() is None
        ours.close()
        assert worker.wait(5) == 1


def test_ctrl_c_says_how_to_resume(db):
    driver = started(db, rows=3)
    driver.send_signal(signal.SIGINT)
    _, err = driver.communicate(timeout=30)
    assert driver.returncode != 0
    assert "the same search resumes" in err.decode()
    kept = stores.read(db)
    search(db, variants=12)
    rows = stores.read(db)
    assert rows[: len(kept)] == kept
    assert len({r["variant"] for r in rows}) == len(rows) == 13


def test_ctrl_c_ends_the_worker(db, at_evaluation, capfd):
    pids = []

    def interrupt(worker):
        pids.append(worker.pid)
        main = threading.main_thread().ident
        signal.pthread_kill(main, signal.SIGINT)

    at_evaluation(2, interrupt)
    with pytest.raises(KeyboardInterrupt):
        search(db)
    assert "the same search resumes" in capfd.readouterr().err
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
    assert len(keys(db)) == 2
