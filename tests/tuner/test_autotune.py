"""Tuning at run time: the first call searches, the others and other processes run what it found."""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import stores
from primitives import PRIMITIVES, values

import cubc
from cubc import _autotune, _core, tuner

X = np.arange(1 << 16, dtype=np.float32) % 7


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(_core, "cache_folder", lambda: str(tmp_path))
    yield tmp_path
    cubc.autotune(False)
    cubc.clear_policies()


class Searches(list):
    """Searches that were asked for; they store base and, if it `wins`, a variant."""

    wins = True

    def __call__(self, benchmark, axes, *, db, device, seconds, confirm):
        self.append((benchmark, axes, device, seconds))
        of = {"ct": axes["T{ct}"], "benchmark": benchmark}
        [label] = stores.variants(benchmark, axes["T{ct}"], 1)
        rows = [stores.row("base", axes["Elements"], **of)]
        rows += stores.confirmed(label, axes["Elements"], 1e-3, 2e-3, **of) * self.wins
        stores.write(db, rows)
        return tuner.analyze(db, benchmark, {"T": axes["T{ct}"]})


@pytest.fixture
def searches(monkeypatch):
    asked = Searches()
    monkeypatch.setattr(tuner, "search", asked)
    return asked


F32 = ("reduce.sum", {"T{ct}": "F32"}, "cpu")


def running(elements):
    return _core.policy(*F32, {"Elements": elements})


def shipped(elements):
    return _core.base(*F32, {"Elements": elements})


def call(x=X, **options):
    return cubc.reduce(x, device="cpu", **options)


def test_the_first_call_tunes_and_the_next_runs_what_it_found(folder, searches):
    expected = call()
    cubc.autotune(seconds=3)
    assert call() == expected
    assert searches == [("reduce.sum", {"T{ct}": "F32", "Elements": 16}, "cpu", 3.0)]
    [label] = stores.variants(count=1)
    assert running(X.size) == label
    assert call() == expected
    assert call(X.astype(np.float64)) == expected
    assert [axes["T{ct}"] for _, axes, _, _ in searches] == ["F32", "F64"]
    cubc.autotune(False)
    call(X.astype(np.int32))
    assert len(searches) == 2


def test_each_size_is_tuned_for_itself(folder, searches):
    """The best variant for few items is not the best for many."""
    cubc.autotune()
    few, some = X[:1000], np.tile(X, 3)
    for x in (few, some, X, some[:-1], X[:900]):
        assert call(x) == x.sum()
    assert [axes["Elements"] for _, axes, _, _ in searches] == [10, 18, 16]
    [label] = stores.variants(count=1)
    runs = [n for n in range(30) if running(1 << n) == label]
    assert runs == [8, 9, 10, 11, 12, 14, 15, 16, 17, 18, 19, 20]
    assert len(list(folder.glob("tune-*"))) == 3
    cubc.clear_policies()
    cubc.autotune()  # as another process would
    call(some)
    assert running(1 << 10) == shipped(1 << 10) and running(1 << 18) == label
    assert len(searches) == 3


def test_what_was_tuned_before_is_run_at_once(folder, searches):
    cubc.autotune()
    call()
    cubc.clear_policies()
    (folder / "autotune.db").unlink()  # it is not even read
    cubc.autotune()  # as another process would
    call()
    assert running(X.size) == stores.variants(count=1)[0]
    assert len(searches) == 1


def test_a_workload_without_a_winner_is_not_tuned_again(folder, searches):
    searches.wins = False
    for _ in range(2):
        cubc.autotune()
        call()
    assert len(searches) == 1
    assert running(X.size) == shipped(X.size)


@pytest.mark.parametrize("text", ["", "ipt_", "ipt_1.tpb_1", "\xff" * 9])
def test_a_file_without_a_variant_is_written_anew(folder, searches, text):
    cubc.autotune()
    call()
    [file] = folder.glob("tune-*")
    label = file.read_text()
    assert label == stores.variants(count=1)[0]
    file.write_text(text, encoding="latin-1")
    (folder / "autotune.db").unlink()  # the stand-in cannot go on
    cubc.clear_policies()
    cubc.autotune()
    call()
    assert len(searches) == 2 and file.read_text() == label == _core.policy(
        *F32, {"Elements": X.size}
    )


def test_another_kernel_is_tuned_anew(folder, searches, monkeypatch):
    cubc.autotune()
    call()
    cubc.clear_policies()
    (folder / "autotune.db").unlink()  # the stand-in cannot go on
    monkeypatch.setattr(_core, "source_hash", lambda *where: "0" * 64)
    cubc.autotune()
    call()
    assert len(searches) == 2


def test_another_process_is_not_waited_for_without_end(folder, searches):
    cubc.autotune()
    call()
    [path] = folder.glob("tune-*")
    cubc.clear_policies()
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        cubc.autotune(seconds=0.1)
        assert call() == X.sum()
    assert running(X.size) == shipped(X.size) and len(searches) == 1


def test_what_the_user_has_chosen_stays(folder, searches):
    chosen = stores.variants()[2]
    cubc.autotune()
    call()
    _core.use_policy(*F32, chosen)
    call(X.astype(np.float64))  # tunes and applies what it found
    assert running(X.size) == chosen
    cubc.autotune()
    call()
    assert running(X.size) == chosen and len(searches) == 2
    [file.unlink() for file in folder.iterdir()]
    cubc.autotune()
    call()
    assert len(searches) == 2


def test_no_items_are_no_size_to_tune_at(folder, searches):
    cubc.autotune()
    assert call(X[:0]) == 0
    assert not searches
    call()
    assert len(searches) == 1


def test_expressions_of_the_user_are_left_alone(folder, searches):
    cubc.autotune()
    assert call(op="a > b ? a : b", init=0) == 6
    assert not searches


def test_a_failure_is_one_warning_and_the_call_goes_on(folder, monkeypatch):
    def fail(*arguments, **options):
        raise tuner.BaseFailed("no compiler")

    monkeypatch.setattr(tuner, "search", fail)
    cubc.autotune()
    with pytest.warns(RuntimeWarning, match=r"reduce\.sum F32 runs untuned on cpu: no compiler"):
        assert call() == X.sum()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert call() == X.sum()


def test_ctrl_c_ends_the_call(folder, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(tuner, "search", interrupted)
    cubc.autotune()
    x = X.astype(np.int64)
    with pytest.raises(KeyboardInterrupt):
        cubc.scan(x, device="cpu")
    assert cubc.scan(x, device="cpu")[-1] == x.sum()


class Held(Searches):
    """Searches that last until they are let go."""

    def __init__(self):
        super().__init__()
        self.begun, self.end = threading.Event(), threading.Event()

    def __call__(self, *arguments, **options):
        self.begun.set()
        assert self.end.wait(30)
        return super().__call__(*arguments, **options)


@pytest.fixture
def held(monkeypatch):
    asked = Held()
    monkeypatch.setattr(tuner, "search", asked)
    yield asked
    asked.end.set()


def test_threads_wait_for_the_one_that_tunes(folder, held):
    cubc.autotune()
    x = X.astype(np.uint16)
    with ThreadPoolExecutor() as threads:
        calls = [threads.submit(call, x) for _ in range(4)]
        assert held.begun.wait(30)
        time.sleep(0.2)
        assert not any(one.done() for one in calls)
        held.end.set()
        assert [int(one.result()) for one in calls] == [int(X.sum())] * 4
    assert len(held) == 1


def test_calls_of_other_workloads_go_on(folder, held):
    cubc.autotune()
    x, y = X.astype(np.uint16), X.astype(np.int32)
    with ThreadPoolExecutor() as threads:
        tuned = threads.submit(call, x)
        assert held.begun.wait(30)
        assert call(y) == X.sum()
        assert not tuned.done() and not held
        held.end.set()
        assert tuned.result() == X.sum()
    assert call(y) == X.sum()  # now it is its turn
    assert [axes["T{ct}"] for _, axes, _, _ in held] == ["U16", "I32"]


def test_calls_that_a_search_makes_are_not_tuned(folder, searches, monkeypatch):
    def search(*arguments, **options):
        assert call() == X.sum() and call(X.astype(np.int16)) == X.sum()
        return searches(*arguments, **options)

    monkeypatch.setattr(tuner, "search", search)
    cubc.autotune()
    assert call() == X.sum()
    assert len(searches) == 1


@pytest.mark.gpu
def test_a_captured_call_is_tuned_at_the_next(folder, searches):
    """A search within a capture would make it invalid."""
    from cudart import Stream

    stream, searches.wins = Stream(), False
    x = cubc.asarray(X, device="cuda:0")
    out = cubc.asarray(np.zeros((), np.float32), device="cuda:0")
    cubc.reduce(x, out=out, stream=stream)  # compiles
    stream.wait()
    cubc.autotune(seconds=3)
    replay = stream.capture(lambda: cubc.reduce(x, out=out, stream=stream))
    assert not searches
    replay()
    stream.wait()
    assert float(out) == X.sum()
    cubc.reduce(x, out=out, stream=stream)
    assert [device for _, _, device, _ in searches] == ["cuda:0"]


@pytest.mark.gpu
def test_on_a_gpu(folder):
    """The variant that a real search finds gives base's result."""
    x = cubc.asarray(X.astype(np.int16), device="cuda:0")
    expected = int(cubc.reduce(x))
    cubc.autotune(seconds=3)
    assert int(cubc.reduce(x)) == expected
    assert list(folder.glob("**/*.db"))
    cubc.autotune(False)
    assert int(cubc.reduce(x)) == expected


def test_without_a_cache_folder(monkeypatch):
    monkeypatch.setattr(_core, "cache_folder", lambda: None)
    with pytest.warns(RuntimeWarning, match="CUBC_CACHE names another"):
        cubc.autotune()


def test_a_store_that_is_none(folder, searches):
    (folder / "autotune.db").write_text("x" * 4096)
    cubc.autotune()
    with pytest.warns(RuntimeWarning, match=r"reduce\.sum F32 runs untuned on cpu: .*autotune\.db"):
        assert call() == X.sum()


def test_a_store_that_a_kill_left_empty(folder, searches):
    (folder / "autotune.db").touch()
    cubc.autotune()
    assert call() == X.sum()
    assert len(searches) == 1


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), "3"])
def test_the_time_is_checked(seconds):
    with pytest.raises((ValueError, TypeError), match="seconds"):
        cubc.autotune(seconds=seconds)


@pytest.mark.parametrize(
    ("text", "seconds"), [("1", 10), ("on", 10), ("0", None), ("2.5s", 2.5), (" 3S ", 3)]
)
def test_the_variable(text, seconds):
    assert _autotune._parse(text) == seconds


@pytest.mark.parametrize("text", ["5", "s", "-1s", "nans", "fast"])
def test_a_variable_that_means_nothing(text):
    with pytest.raises(ValueError, match="as 5s"):
        _autotune._parse(text)


PROGRAM = """
import sys, numpy as np, cubc
x = np.arange(1 << 16, dtype=np.float32) % 7
print("ready", flush=True)
print(cubc.reduce(x, device="cpu") == x.sum(), flush=True)
"""


def started(folder, tune="0.5s"):
    environment = os.environ | {"CUBC_TUNE": tune, "CUBC_CACHE": str(folder)}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_processes(tmp_path):
    """Two at once tune once, correct results come out of both, and a third only runs it."""
    both = [started(tmp_path), started(tmp_path)]
    for process in both:
        out, err = process.communicate()
        assert out == "ready\nTrue\n" and "Warning" not in err
    rows = stores.read(tmp_path / "autotune.db")
    assert len({(r["variant"], r["rt"], r["round"]) for r in rows}) == len(rows) > 0
    out, err = started(tmp_path, "1000s").communicate()
    assert out == "ready\nTrue\n" and not err
    assert stores.read(tmp_path / "autotune.db") == rows


def tuning(folder):
    """A program that is in the middle of its search."""
    process = started(folder, "60s")
    until = time.monotonic() + 500
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError, cubc.StoreError):  # that is not there yet
            if len(stores.read(folder / "autotune.db")) > 2:
                break
        time.sleep(0.05)
    return process


def test_a_kill_while_tuning_leaves_the_workload_to_the_next(tmp_path):
    process = tuning(tmp_path)
    process.kill()
    process.communicate()
    [file] = tmp_path.glob("tune-*")
    rows = stores.read(tmp_path / "autotune.db")
    assert file.read_text() == "" and len(rows) > 2
    out, err = started(tmp_path, "1s").communicate()
    assert out == "ready\nTrue\n" and not err
    assert file.read_text()
    assert stores.read(tmp_path / "autotune.db")[: len(rows)] == rows


def test_ctrl_c_in_a_terminal(tmp_path):
    process = tuning(tmp_path)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert out == "ready\n"
    assert "KeyboardInterrupt" in err and process.returncode != 0
    assert len(stores.read(tmp_path / "autotune.db")) > 2
    assert [file.read_text() for file in tmp_path.glob("tune-*")] == [""]


@pytest.mark.parametrize("enabled", [5, "on", None])
def test_whether_to_tune_is_a_bool(enabled):
    with pytest.raises(TypeError, match=r"must be True or False; autotune\(seconds=5\)"):
        cubc.autotune(enabled)


def test_a_call_has_the_place_of_its_workload(folder):
    """A search at the place of a call gets the call's own shipped policy as its base."""
    asked = []
    _core.set_tuner(lambda device, *workload: asked.append(workload) or True)
    for n in (1000, 100_000):
        x = values(n)
        for primitive in PRIMITIVES.values():
            primitive.call(x, device="cpu")
        f = x.astype("f4")
        for deterministic in (False, True):
            cubc.reduce(f, device="cpu", deterministic=deterministic)
            cubc.scan(f, device="cpu", deterministic=deterministic)
        for bins in (100, 1000):
            for edges in (bins, np.arange(bins + 1.0) / bins):
                cubc.histogram(f, edges, range=(0, 100), device="cpu")
    declared = _core.benchmarks()
    known = [w for w in asked if w[1] in declared.get(w[0], {"T{ct}": []})["T{ct}"]]
    assert len(known) > 30
    for benchmark, dtype, place in known:
        names = {name.partition("{")[0] for name in declared[benchmark]}
        rt = {name: value for name, value in place.items() if name in names}
        assert "Elements" in rt and all(rt.values()), (benchmark, place)
        _core.base(benchmark, {"T{ct}": dtype}, "cpu", rt)
    lengths = {place["SegmentSize"] for name, _, place in known if name == "segmented_sort.keys"}
    bins = {place["Bins"] for name, _, place in known if name == "histogram.even"}
    assert lengths and {100, 1000} <= bins
