"""The search's view of a measuring process: its supervisor's words, and its limits."""

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import isolated
import pytest

from cubc.tuner import _limits as limits
from cubc.tuner import _process as process
from cubc.tuner import _supervisor as supervisor


@pytest.fixture
def pipe():
    """A process whose supervisor is this test, and the end that a variant may write to."""
    read, write = os.pipe()
    worker = process.Process.__new__(process.Process)
    with open(read, "rb", buffering=0) as status, open(write, "wb", buffering=0) as end:
        worker._supervisor = SimpleNamespace(stdout=status)
        yield worker, end


@pytest.mark.parametrize(
    ("written", "line"),
    [
        (b"s-9\ns0\n", b"s-9\n"),
        (b"", None),
        (b"s0", None),
        (b"9" * 1000, None),
    ],
    ids=["whole", "nothing", "no-end", "long"],
)
def test_a_line_of_the_supervisor_is_read_in_time(pipe, written, line):
    worker, end = pipe
    end.write(written)
    assert worker._line(0.1) == line


def test_the_end_of_the_supervisor_is_an_empty_line(pipe):
    worker, end = pipe
    end.write(b"s")
    end.close()
    assert worker._line(5.0) == b""


def test_words_in_place_of_a_status_are_a_fault(pipe, monkeypatch):
    worker, end = pipe
    end.write(b"nonsense\n")
    monkeypatch.setattr(worker, "_stop", lambda: None, raising=False)
    monkeypatch.setattr(worker, "_output_tail", lambda: "", raising=False)
    death = worker._death()
    assert death.crashed and death.status == "fault"


@pytest.fixture(params=["children", "stat"])
def listing(request, monkeypatch):
    """Kernels that list a process's children, and those that do not."""
    if request.param == "stat":
        monkeypatch.setattr(supervisor, "_listed", no_such_file)


def no_such_file(pid):
    raise FileNotFoundError(f"/proc/{pid}/task/{pid}/children")


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="there is no /proc")
def test_descendants_of_the_supervisor_are_counted(monkeypatch, listing):
    """The one that is measured is not among their parents."""
    others = [
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) for _ in range(2)
    ]
    try:
        held = limits.exceeded(others[0].pid, os.getpid(), 1.0)
        monkeypatch.setattr(limits, "PROCESSES", 1)
        found = limits.exceeded(others[0].pid, os.getpid(), float("inf"))
    finally:
        for other in others:
            other.kill()
            other.wait()
            other.stdin.close()
    assert "processes, over 0" in found
    assert re.fullmatch(r"held 0\.\d\d GiB of memory, over 0\.00 GiB", held)


@pytest.mark.skipif(not os.path.exists("/proc/self/comm"), reason="there is no /proc")
def test_a_process_whose_name_is_no_text():
    """As where the system cuts a name of other letters after 15 bytes."""
    rename = "open('/proc/self/comm', 'wb').write('x\\xfc'.encode('latin1')); print(); input()"
    command = [sys.executable, "-c", rename]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        try:
            assert supervisor.stat(other.pid, 4) == os.getpid()
        finally:
            other.kill()


def test_a_measuring_process_imports_what_it_needs():
    """It is started anew after each fault."""
    code = "import sys, cubc.tuner._worker\nprint(*sys.modules)"
    loaded = isolated.output(code).split()
    assert "cubc.tuner._frames" in loaded
    assert not {"cubc.tuner._search", "cubc.tuner._analyze", "cubc.tuner._public"} & {*loaded}
