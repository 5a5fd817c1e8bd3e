"""Two installations measured by turns: what drifts is not called a change."""

import math
import os
import sys
import time

import numpy as np
import pytest

from cubc import _core, tuner
from cubc.tuner import _limits as limits
from cubc.tuner import _live as live
from cubc.tuner._cli import main
from cubc.tuner._verdict import LEAST_ROUNDS, MOST_ROUNDS

AXES = {"T": "F32", "Elements": [16, 20]}
OTHER = "CUBC_CPU_THREADS=1"


@pytest.fixture
def small(monkeypatch):
    """Sizes that a test can wait for."""
    declared = _core.benchmarks()
    declared["reduce.sum"]["Elements{io}[pow2]"] = [10, 12]
    monkeypatch.setattr(_core, "benchmarks", lambda: declared)
    return {"T": "F32", "Elements": [10, 12]}


class Machine:
    """Processes whose times drift by 0.4 % a round; those of the second side by a factor more."""

    def __init__(self, factor):
        self.factor, self.now, self.order = np.asarray(factor), 0, []
        self.noise = np.random.default_rng(3)

    def __call__(self, side, request, places):
        self.now += 1
        self.order.append(side.name)
        time = np.array([1e-5, 1e-3]) * math.exp(0.002 * self.now + self.noise.normal(0, 0.001))
        return (time * (self.factor if side.name == OTHER else 1)).tolist()


@pytest.mark.parametrize(
    ("factor", "words"),
    [((1, 1), ["SAME", "SAME"]), ((1.05, 1), ["SLOWER", "SAME"]), ((1, 0.9), ["SAME", "FASTER"])],
)
def test_a_drift_is_no_change(monkeypatch, factor, words):
    """The machine is 3 to 12 % slower in the end than it was."""
    machine = Machine(factor)
    monkeypatch.setattr(live, "measure", machine)
    found = tuner.compare_live(sys.executable, OTHER, "reduce.sum", AXES, device="cpu")
    assert [one.verdict.word for one in found.workloads] == words
    rounds = [machine.order[i : i + 2] for i in range(0, len(machine.order), 2)]
    assert all(rounds[i] == rounds[i + 1][::-1] for i in range(len(rounds) - 1))
    assert LEAST_ROUNDS <= len(rounds) <= MOST_ROUNDS
    assert {one.verdict.rounds for one in found.workloads} == {len(rounds)}
    for one, factor_there in zip(found.workloads, factor, strict=True):
        assert one.verdict.ratio == pytest.approx(1 / factor_there, rel=0.005)


def test_what_is_slower_fails(monkeypatch, capsys):
    axes = ["-R", "reduce.sum", "-a", "T=F32", "-a", "Elements=[16,20]", "--device", "cpu"]
    command = ["compare", "--live", sys.executable, OTHER, *axes, "--fail-on-slower"]
    for factor, status in ((1.05, 1), (1, 0), (0.95, 0)):
        monkeypatch.setattr(live, "measure", Machine([factor, factor]))
        assert main(command) == status
    assert "| FASTER |" in capsys.readouterr().out
    machine = Machine([1.001, 1.02])
    monkeypatch.setattr(live, "measure", machine)
    assert main([*command, "--rounds", "3"]) == 0 and len(machine.order) == 6


def test_processes_are_measured(small, monkeypatch):
    """For once really: this Python on either side."""
    monkeypatch.setenv("CUBC_POLICIES", "no-such.db")  # base does not depend on it
    found = tuner.compare_live(sys.executable, OTHER, "reduce.sum", small, device="cpu", rounds=2)
    assert [one.rt[-2:] for one in found.workloads] == ["10", "12"]
    for one in found.workloads:
        assert 0 < one.a < 1 and 0 < one.b < 1 and one.verdict.rounds == 2
    assert "UNDECIDED" in str(found)


@pytest.fixture
def python(tmp_path):
    """Make a stand-in for a Python that serves the socket `channel` by some lines."""

    def make(lines):
        (tmp_path / "side.py").write_text(SERVING + lines)
        path = tmp_path / "python"
        path.write_text(f'#!/bin/sh\nexec {sys.executable} {tmp_path}/side.py "$@"\n')
        path.chmod(0o755)
        return path

    return make


SERVING = """
import os, socket, struct, subprocess, sys, time
channel = socket.socket(fileno=int(sys.argv[-1]))
def say(text):
    channel.sendall(struct.pack("!I", len(text)) + text.encode())
"""


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("sys.exit(3)", "left with status 3"),
        ("sys.exit('no cubc here')", "left with status 1\nno cubc here"),
        ("os.abort()", "died of SIGABRT"),
        ("", "left with status 0"),
        ("say('')", "sent what is no reply .no JSON"),
        ("say('[' * 20000)", "sent what is no reply .no JSON"),
        ("channel.sendall(bytes([255] * 8))", "sent what is no reply .a frame of 4294967295"),
        ("say('0')", "gave no times: 0"),
        ("say('{}')", "gave no times: {}"),
        ("say('[[[1e-6]]]')", "gave no times"),  # one place of two
        ("say('[[[1e-6]], [[-1]]]')", "gave no times"),
        ("say('[[[1e-6]], [[]]]')", "gave no times"),
        ("say('[[[1e-6]], {\"a\": 1}]')", "gave no times"),
        ("for _ in range(40): print('x' * 99999)\ntime.sleep(600)", "printed over 1 MiB"),
        ("held = bytearray(b'x' * (1 << 30))\ntime.sleep(600)", "GiB of memory, over 0.50 GiB"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_a_side_that_cannot_measure(python, monkeypatch, lines, message):
    monkeypatch.setattr(limits, "memory", lambda: 0.5 * 2**30)
    began = time.monotonic()
    with pytest.raises(ValueError, match=message) as raised:
        tuner.compare_live(python(lines), OTHER, "reduce.sum", AXES, device="cpu")
    assert str(python(lines)) in str(raised.value)
    assert time.monotonic() - began < 500


def test_a_side_that_hangs_ends_with_all_that_it_started(python, monkeypatch, tmp_path):
    monkeypatch.setattr(live, "SECONDS", 5.0)
    lines = f"""
child = subprocess.Popen(["sleep", "600"], start_new_session=True)
with open({str(tmp_path / "pids")!r}, "w") as file:
    print(os.getpid(), child.pid, file=file)
time.sleep(600)
"""
    with pytest.raises(ValueError, match="no answer within 5 s"):
        tuner.compare_live(python(lines), OTHER, "reduce.sum", AXES, device="cpu")
    for pid in (tmp_path / "pids").read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


def test_what_is_no_side(tmp_path):
    for wrong in ("no-such-python", str(tmp_path), "=x", os.devnull):
        with pytest.raises(FileNotFoundError, match="there is no program"):
            tuner.compare_live(sys.executable, wrong, "reduce.sum", AXES, device="cpu")
    with pytest.raises(LookupError, match=r"did you mean reduce\.sum"):
        tuner.compare_live(sys.executable, OTHER, "reduce.smu", device="cpu")
    refused = rf"^compare_live\(\): {sys.executable}: variant 'none': expected label_value"
    with pytest.raises(ValueError, match=refused):
        tuner.compare_live(sys.executable, OTHER, "reduce.sum", AXES, device="cpu", variant="none")
    with pytest.raises(ValueError, match="rounds"):
        tuner.compare_live(sys.executable, OTHER, "reduce.sum", AXES, device="cpu", rounds=0)
