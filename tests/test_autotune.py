"""Tuning at run time: the first call searches, the others and other processes run what it found."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
import stores

import cubc
from cubc import _autotune, _core, tuner

X = np.arange(1 << 16, dtype=np.float32) % 7


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(_core, "cache_folder", lambda: str(tmp_path))
    yield tmp_path
    cubc.autotune(False)
    cubc.clear_policies()


@pytest.fixture
def searches(monkeypatch):
    """Searches that were asked for; they store a variant that won."""
    asked = []

    def search(benchmark, axes, *, db, device, seconds, again):
        asked.append((benchmark, axes, device, seconds))
        [label] = stores.variants(benchmark, axes["T"], 1)
        rows = [stores.row("base", axes["Elements"], ct=axes["T"], benchmark=benchmark)]
        rows += [stores.row(label, axes["Elements"], 1e-3, 2e-3, ct=axes["T"], benchmark=benchmark)]
        stores.write(db, rows)

    monkeypatch.setattr(tuner, "search", search)
    return asked


def call(x=X, **options):
    return cubc.reduce(x, device="cpu", **options)


def test_the_first_call_tunes_and_the_next_runs_what_it_found(folder, searches):
    expected = call()
    cubc.autotune(seconds=3)
    assert call() == expected
    assert searches == [("reduce.sum", {"T": "F32", "Elements": 16}, "cpu", 3.0)]
    [label] = stores.variants(count=1)
    assert _core.policy("reduce.sum", {"T{ct}": "F32"}, "cpu") == label
    assert call() == expected
    assert call(X.astype(np.float64)) == expected
    assert [axes["T"] for _, axes, _, _ in searches] == ["F32", "F64"]
    cubc.autotune(False)
    call(X.astype(np.int32))
    assert len(searches) == 2


def test_what_was_tuned_before_is_run_at_once(folder, searches):
    cubc.autotune()
    call()
    cubc.clear_policies()
    cubc.autotune()  # as another process would
    assert _core.policy("reduce.sum", {"T{ct}": "F32"}, "cpu") == stores.variants(count=1)[0]
    call()
    assert len(searches) == 1


def test_a_workload_without_a_winner_is_not_tuned_again(folder, monkeypatch):
    asked = []
    monkeypatch.setattr(tuner, "search", lambda *a, **k: asked.append(a))
    for _ in range(2):
        cubc.autotune()
        call()
        cubc.clear_policies()
    assert len(asked) == 1


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


def test_threads_wait_for_the_one_that_tunes(folder, monkeypatch):
    asked = []

    def slow(*arguments, **options):
        asked.append(arguments)
        time.sleep(0.3)

    monkeypatch.setattr(tuner, "search", slow)
    cubc.autotune()
    found = []
    x = X.astype(np.uint16)
    threads = [threading.Thread(target=lambda: found.append(int(call(x)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [int(X.sum())] * 4
    assert len(asked) == 1


def test_without_a_cache_folder(monkeypatch):
    monkeypatch.setattr(_core, "cache_folder", lambda: None)
    with pytest.warns(RuntimeWarning, match="CUBC_CACHE names another"):
        cubc.autotune()


def test_a_store_that_is_none(folder, searches):
    (folder / "autotune.db").write_text("x" * 4096)
    with pytest.warns(RuntimeWarning, match="nothing is tuned: "):
        cubc.autotune()
    assert call() == X.sum()


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), "3"])
def test_the_time_is_checked(seconds):
    with pytest.raises((ValueError, TypeError), match="seconds"):
        cubc.autotune(seconds=seconds)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [("1", (True, None)), ("on", (True, None)), ("0", (False, None)), ("2.5s", (True, 2.5))],
)
def test_the_variable(text, meaning):
    assert _autotune._parse(text, None) == meaning


@pytest.mark.parametrize("text", ["5", "s", "-1s", "nans", "fast"])
def test_a_variable_that_means_nothing(text):
    with pytest.raises(ValueError, match="as 5s"):
        _autotune._parse(text, None)


PROGRAM = """
import sys, numpy as np, cubc
x = np.arange(1 << 16, dtype=np.float32) % 7
print("ready", flush=True)
print(cubc.reduce(x, device="cpu") == x.sum(), flush=True)
"""


def started(folder, tune="3s"):
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
        out, err = process.communicate(timeout=120)
        assert out == "ready\nTrue\n" and "Warning" not in err
    rows = stores.read(tmp_path / "autotune.db")
    assert len({(r["variant"], r["rt"], r["round"]) for r in rows}) == len(rows) > 1
    begin = time.monotonic()
    out, err = started(tmp_path, "100s").communicate(timeout=120)
    assert out == "ready\nTrue\n" and not err
    assert time.monotonic() - begin < 60
    assert stores.read(tmp_path / "autotune.db") == rows


def test_a_kill_while_tuning_leaves_the_workload_to_the_next(tmp_path):
    process = started(tmp_path, "60s")
    until = time.monotonic() + 60
    while time.monotonic() < until and not list(Path(tmp_path).glob("tune-*")):
        time.sleep(0.05)
    process.kill()
    process.communicate()
    assert all(not file.read_text() for file in tmp_path.glob("tune-*"))
    out, err = started(tmp_path, "1s").communicate(timeout=120)
    assert out == "ready\nTrue\n", err
    assert [file.read_text() for file in tmp_path.glob("tune-*")] == ["done"]


def test_ctrl_c_in_a_terminal(tmp_path):
    process = started(tmp_path, "60s")
    until = time.monotonic() + 60
    while time.monotonic() < until and not (tmp_path / "autotune.db").exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out == "ready\n"
    assert "KeyboardInterrupt" in err and process.returncode != 0
