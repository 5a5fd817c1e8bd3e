"""The line of progress of a search: from the first second on, and within 80 columns."""

import re
import threading
import time

import pytest
from searches import search

from cubc import _progress as progress
from cubc.tuner._local import local
from cubc.tuner._measurer import Request, Run
from cubc.tuner._workload import CompileTimeWorkload


def lines(text):
    """Lines as they were drawn over each other, without what steers a terminal."""
    plain = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)
    return [line for line in re.split(r"[\r\n]", plain) if line.strip()]


@pytest.fixture
def fast(monkeypatch):
    monkeypatch.setattr(progress, "TICK", 0.02)


def wait_for(capfd, what, seconds=10.0):
    found, end = "", time.monotonic() + seconds
    while what not in found and time.monotonic() < end:
        time.sleep(0.02)
        found += capfd.readouterr().err
    return found


def test_a_line_is_there_at_once_and_lives(fast, capfd):
    compiling = [0]
    bar = progress.Progress(True, lambda: compiling[0])
    assert "reading what is known" in capfd.readouterr().err
    bar.plan(200, None)
    bar.begin("reduce.sum F32")
    bar.doing("base")
    assert "base" in capfd.readouterr().err
    bar.doing("")
    for number in (8, 5, 1):
        compiling[0] = number
        assert f"compiling {number}" in wait_for(capfd, f"compiling {number}")
    assert "0:01" in wait_for(capfd, "0:01")
    bar.close()
    time.sleep(0.1)
    capfd.readouterr()
    time.sleep(0.1)
    assert not capfd.readouterr().err
    assert "cubc-progress" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.parametrize("name", ["reduce.sum F32", "a" * 25 + "." + "b" * 40 + " F32", ""])
@pytest.mark.parametrize("total", [9, 123456789])
def test_a_line_has_79_columns_at_most(monkeypatch, capfd, name, total):
    monkeypatch.setenv("COLUMNS", "200")
    bar = progress.Progress(True, lambda: 128)
    bar.plan(total, time.monotonic() + 360000)
    bar.begin(name)
    bar.best(1.0491, ".".join(f"parameter{k}_1000" for k in range(16)))
    bar._done = total - 2
    bar._bar.n = total - 2
    for failed in (True, False):
        bar.step(fresh=True, failed=failed)
    bar.doing("measuring the best 5 again")
    bar.close()
    drawn = lines(capfd.readouterr().err)
    assert max(map(len, drawn)) <= 79
    assert any(" left" in line for line in drawn)
    assert not any(line.endswith(("...", ",")) for line in drawn)


def test_a_narrow_terminal(monkeypatch, capfd):
    monkeypatch.setenv("COLUMNS", "40")
    bar = progress.Progress(True)
    bar.plan(1000, None)
    bar.begin("segmented_reduce.sum F32")
    bar.close()
    assert max(map(len, lines(capfd.readouterr().err))) <= 40


def test_a_search_shows_what_it_compiles(tmp_path, fast, monkeypatch, capfd):
    compile_one = CompileTimeWorkload.compile

    def slowly(self, variant, *rest):
        time.sleep(0.3)
        return compile_one(self, variant, *rest)

    monkeypatch.setattr(CompileTimeWorkload, "compile", slowly)
    search(tmp_path / "s.db", progress=True, variants=3)
    drawn = lines(capfd.readouterr().err)
    assert "reading what is known" in drawn[1]  # behind tqdm's own
    assert any("base" in line and "compiling" in line for line in drawn)
    waiting = [line for line in drawn if "compiling" in line and " 0/3" in line]
    assert len(waiting) > 3  # a tick each 20 ms, for as long as a batch compiles
    assert max(map(len, drawn)) <= 79
    assert "3/3" in drawn[-1]


def test_what_is_done_is_not_being_compiled():
    class Workload:
        def compile(self, variant, deadline, abandon):
            go.wait(500)
            return 0.0

    go = threading.Event()
    measurer = local({"name": "cpu", "kind": "cpu"})
    try:
        measurer._workload = Workload()
        assert measurer.compiling == 0
        for label in ("a_1", "a_2", "a_3"):
            measurer.submit(Request(label, [Run(0, 0)], {}))
        assert measurer.compiling == 3
        go.set()
        end = time.monotonic() + 500
        while measurer.compiling and time.monotonic() < end:
            time.sleep(0.01)
        assert measurer.compiling == 0
    finally:
        go.set()
        measurer.close()
