"""The measuring process of a search: killed, crashed, stopped or left alone, nothing is lost.

test_faults.py has what happens to the searching process.
"""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import isolated
import pytest
import stores
from searches import TIMING, keys, search, variant_rows

from cubc import _core, tuner
from cubc.tuner import _deadlines as deadlines
from cubc.tuner import _frames as frames
from cubc.tuner import _local as local
from cubc.tuner import _process as process
from cubc.tuner import _remote_bench as remote_bench
from cubc.tuner import _workload_search
from cubc.tuner._measurer import Late, Request, Run
from cubc.tuner._workload import compile_time_workloads


@pytest.fixture
def at_evaluation(monkeypatch):
    """Does something to the measuring process at some evaluations, counted from 1.

    It is stopped while it is asked, so that it has the request and no answer yet.
    """

    def install(which, action, *, base=False):
        count = 0
        send = process.Process.send
        monkeypatch.setattr(local.Local, "_put_next", lambda self: None)  # one at a time

        def hooked(self, kind, *arguments):
            nonlocal count
            meant = kind == "evaluate" and (arguments[0].variant == "base") == base
            count += meant
            if meant and count in which:
                os.kill(self.pid, signal.SIGSTOP)
            send(self, kind, *arguments)
            if meant and count in which:
                action(self)

        monkeypatch.setattr(process.Process, "send", hooked)

    return install


def killing(number):
    def kill(worker):
        os.kill(worker.pid, number)
        with contextlib.suppress(ProcessLookupError):  # killed, it may be collected already
            os.kill(worker.pid, signal.SIGCONT)

    return kill


def leave_stopped(worker):
    """Stands for a hang."""


def kill_for_good(worker, number):
    """Kill a process; what it still said is lost."""
    os.kill(worker.pid, number)
    worker._supervisor.wait()
    with contextlib.suppress(ConnectionResetError):
        while worker._socket.recv(1 << 16):
            pass
    worker._replies = frames.Buffer(frames.decode)


@pytest.mark.some(1)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_killed_from_outside_costs_nothing(db, at_evaluation, number):
    at_evaluation({2}, killing(number))
    search(db)
    assert [r["status"] for r in variant_rows(db)] == ["ok"] * 4


def test_what_was_measured_before_the_kill_is_kept(db, monkeypatch):
    """The worker of the first evaluation dies between its two workloads."""
    declared = _core.benchmarks()["reduce.sum"]["Elements{io}[pow2]"][:2]
    receive = process.Process.receive
    asked = []
    send = process.Process.send

    def note(self, kind, *arguments):
        if kind == "evaluate" and arguments[0].variant != "base":
            asked.append([run.place for run in arguments[0].runs])
        send(self, kind, *arguments)

    def kill_after_the_first(self, until):
        reply = receive(self, until)
        if asked == [[1, 0]] and reply[0] == "result":
            kill_for_good(self, signal.SIGKILL)
        return reply

    monkeypatch.setattr(process.Process, "send", note)
    monkeypatch.setattr(process.Process, "receive", kill_after_the_first)
    search(db, {"T": "F32", "Elements": declared}, variants=1)
    assert asked == [[1, 0], [0]]
    assert [r["status"] for r in variant_rows(db)] == ["ok", "ok"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGRTMIN + 3])
def test_a_variant_whose_workers_die_twice_is_at_fault(db, at_evaluation, number):
    at_evaluation({2, 3}, killing(number))
    result = search(db)
    rows = variant_rows(db)
    assert [r["status"] for r in rows] == ["ok", "fault", "ok", "ok"]
    name = "SIGKILL" if number == signal.SIGKILL else f"signal {int(number)}"
    assert f"died of {name}" in rows[1]["message"]
    assert "2 times in a row" in rows[1]["message"]
    assert result.scores().set_index("variant").score.isna()[rows[1]["variant"]]


@pytest.mark.some(2)
@pytest.mark.parametrize("number", sorted(process.CRASHES))
def test_a_crash_in_a_fresh_process_is_the_variant_s_fault(db, at_evaluation, number):
    at_evaluation({2, 3}, killing(number))
    search(db)
    rows = variant_rows(db)
    assert [r["status"] for r in rows] == ["ok", "fault", "ok", "ok"]
    assert f"died of {number.name}" in rows[1]["message"]


CRASHING = """
import json, os, signal, sys, threading, time
from cubc.tuner import _worker

def work():
    while True:
        json.loads(json.dumps([{"a": [k]} for k in range(50)]))

os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
for _ in range(30):
    child = os.fork()
    if not child:
        _worker.report_crashes()
        threading.Thread(target=work, daemon=True).start()
        work()
    time.sleep(0.02)
    os.kill(child, signal.SIGABRT)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_crash_is_not_replaced_by_another_of_its_report():
    """Another thread of the process runs while the stack is printed."""
    assert set(isolated.output(CRASHING).split()) == {str(-signal.SIGABRT)}


def test_a_crash_may_be_the_fault_of_another_variant(db, at_evaluation):
    """A process whose heap was spoilt before: the variant is tried in a fresh one."""
    at_evaluation({2}, killing(signal.SIGSEGV))
    search(db)
    assert [r["status"] for r in variant_rows(db)] == ["ok"] * 4


def test_deaths_without_end_end_the_search(db, at_evaluation):
    at_evaluation(range(1, 1000), killing(signal.SIGKILL))
    search(db, variants=2)
    assert [r["status"] for r in variant_rows(db)] == ["fault"] * 2


def test_base_survives_a_kill_from_outside(db, at_evaluation):
    at_evaluation({1}, killing(signal.SIGKILL), base=True)
    search(db)
    assert [r["status"] for r in stores.read(db)] == ["ok"] * 5


def test_a_hanging_variant_is_killed(db, at_evaluation, monkeypatch):
    monkeypatch.setattr(deadlines, "RUN_FLOOR", 2.0)
    monkeypatch.setattr(deadlines, "RUN_FACTOR", 0.0)
    stopped = []
    at_evaluation({2}, lambda worker: stopped.append(worker.pid))
    search(db)
    assert [r["status"] for r in variant_rows(db)] == ["ok", "timeout", "ok", "ok"]
    with pytest.raises(ProcessLookupError):
        os.kill(stopped[0], 0)


def test_a_failure_holds_for_all_workloads(db, at_evaluation):
    declared = _core.benchmarks()["reduce.sum"]["Elements{io}[pow2]"][:2]
    at_evaluation({1, 2}, killing(signal.SIGSEGV))
    search(db, {"T": "F32", "Elements": declared}, variants=1)
    assert [r["status"] for r in stores.read(db)] == ["ok", "ok", "fault", "fault"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_death_with_the_next_request_sent(db, monkeypatch, number):
    """The process has two requests when it dies over the first: the second is asked for again."""
    put_next, send, receive = local.Local._put_next, process.Process.send, process.Process.receive
    sent = []

    def wait_and_put(self):
        if self._todo and self._todo[0]:
            self._todo[0].compiled.exception()  # by now it is compiled
        put_next(self)

    def note(self, kind, *arguments):
        sent.append(arguments[0].variant if kind == "evaluate" else kind)
        send(self, kind, *arguments)

    def kill_once(self, until=None):
        if len(sent) == 4 and sent[0] == "open":  # base and two variants
            sent.append("killed")
            kill_for_good(self, number)
        return receive(self, until)

    monkeypatch.setattr(local.Local, "_put_next", wait_and_put)
    monkeypatch.setattr(process.Process, "send", note)
    monkeypatch.setattr(process.Process, "receive", kill_once)
    search(db)
    assert sent[4:8] == ["killed", "open", *sent[2:4]]
    assert [r["status"] for r in variant_rows(db)] == ["ok"] * 4


def test_results_tell_how_many_launches_were_checked(db, monkeypatch):
    receive, checked = process.Process.receive, []

    def note(self, until):
        reply = receive(self, until)
        checked.extend([reply[2]["checked"]] if reply[0] == "result" else [])
        return reply

    monkeypatch.setattr(process.Process, "receive", note)
    search(db, variants=1)
    assert checked == [1, 2]  # of base; of a variant, before its samples and after them


def test_the_deadline_leaves_time_for_noise():
    request = Request("base", [Run(0, 0), Run(0, 1)], {"timeout": 30.0})
    assert deadlines.run_deadline(0.1, request) == deadlines.RUN_FLOOR + 60.0
    assert deadlines.run_deadline(1.0, request._replace(timing={})) == deadlines.RUN_FACTOR


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


def bases_within(monkeypatch, seconds):
    for ct in ("F32", "I64"):  # from the cache they compile in no time
        _core.compile("reduce.sum", {"T{ct}": ct}, "cpu", "base")
    monkeypatch.setattr(local, "BASE_SECONDS", seconds)
    monkeypatch.setattr(deadlines, "BASE_SECONDS", seconds)


def test_a_base_that_hangs_stops_its_workload_only(db, at_evaluation, monkeypatch):
    bases_within(monkeypatch, 1.0)
    at_evaluation({1}, leave_stopped, base=True)
    with pytest.warns(
        RuntimeWarning, match=r"I64: base does not run: ran for over 2\.0 s: it hangs"
    ):
        result = search(db, {"T": ["F32", "I64"], "Elements": 16}, variants=1)
    assert set(result.failed) == {"reduce.sum I64"}
    assert {ct for ct, _, _ in keys(db)} == {"T{ct}=F32"}


def test_bases_that_all_hang_are_an_error(db, at_evaluation, monkeypatch):
    bases_within(monkeypatch, 0.2)
    at_evaluation({1, 2}, leave_stopped, base=True)
    with pytest.raises(tuner.BaseFailed, match="it hangs"):
        search(db, {"T": ["F32", "I64"], "Elements": 16}, timing=TIMING | {"timeout": 0.1})
    assert not keys(db)


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


SEARCHING = """
import time
from cubc.tuner import _process as process
worker = process.Process()
print(worker.pid, worker._supervisor.pid, flush=True)
time.sleep(60)
"""


def test_a_busy_worker_leaves_when_the_search_is_gone():
    """It is stopped, which stands for a kernel that hangs."""
    with subprocess.Popen([sys.executable, "-c", SEARCHING], stdout=subprocess.PIPE) as search:
        pids = [int(word) for word in search.stdout.readline().split()]
        os.kill(pids[0], signal.SIGSTOP)
        search.kill()
    wait_for(lambda: not any(map(is_there, pids)))


def test_the_worker_leaves_when_its_supervisor_is_gone():
    worker = process.Process()
    os.kill(worker._supervisor.pid, signal.SIGKILL)
    with pytest.raises(process.WorkerDied, match="lost its supervisor"):
        worker.receive(time.monotonic() + 500)
    wait_for(lambda: not is_there(worker.pid))
    worker.kill()


def is_there(pid):
    """Tell if a process is there and no zombie, which a container's first process may not reap."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for(holds):
    until = time.monotonic() + 500
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)
    assert holds()


def test_ctrl_c_ends_the_worker(db, at_evaluation, capfd):
    pids = []

    def interrupt(worker):
        pids.append(worker.pid)
        main = threading.main_thread().ident
        signal.pthread_kill(main, signal.SIGINT)

    at_evaluation({2}, interrupt)
    with pytest.raises(KeyboardInterrupt):
        search(db)
    assert "the same search resumes" in capfd.readouterr().err
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
    assert len(keys(db)) == 2


def test_seconds_hold_over_a_variant_that_hangs(db, at_evaluation, monkeypatch):
    """Its open tasks are not recorded: a resumed search does them."""
    monkeypatch.setattr(deadlines, "RUN_FLOOR", 1000.0)
    late = []
    is_over = deadlines.is_over

    def note(until):
        late.append(until)
        return is_over(until)

    monkeypatch.setattr(_workload_search, "is_over", note)
    hanging = {2}
    at_evaluation(hanging, leave_stopped)
    search(db, seconds=4.0)
    assert time.monotonic() - max(late) < 500
    assert [r["status"] for r in variant_rows(db)] in (
        [],
        ["ok"],
    )  # on a machine that is busy, none
    hanging.clear()  # a busy machine has not come to it
    search(db)
    assert [r["status"] for r in variant_rows(db)] == ["ok"] * 4


def test_seconds_hold_where_one_workload_s_variants_hang(db, at_evaluation, monkeypatch):
    """The next workload does not wait for them, nor give them the time that base may take."""
    monkeypatch.setattr(deadlines, "RUN_FLOOR", 1000.0)
    until = []
    is_over = deadlines.is_over
    hanging = {*range(1, 100)}

    def note(moment):
        until.append(moment)
        return is_over(moment)

    monkeypatch.setattr(_workload_search, "is_over", note)
    at_evaluation(hanging, leave_stopped)
    axes = {"T": ["F32", "I64"], "Elements": 16}
    search(db, axes, seconds=5.0)
    assert time.monotonic() - max(until) < 500
    assert not variant_rows(db)
    hanging.clear()
    search(db, axes, variants=1)
    assert [r["status"] for r in variant_rows(db)] == ["ok"] * 2


def test_a_request_is_given_up_at_its_end():
    """It has not had its seconds, so that it is no failure."""
    workload = compile_time_workloads("reduce.sum", {"T": "F32", "Elements": 16}, "cpu")[0]
    for label in workload.bases:
        workload.compile(label, 300.0)
    bench = remote_bench.RemoteBench("cpu")
    try:
        bench.open(workload.opening)
        os.kill(bench._process.pid, signal.SIGSTOP)
        end = time.monotonic() + 0.5
        for _ in range(2):  # the second one's end has passed when its turn comes
            bench.put(Request("base", [Run(0, 0)], TIMING, until=end))
        for _ in range(2):
            with pytest.raises(Late):
                list(bench.take(100.0))
            assert time.monotonic() > end
            assert bench._process is None
        bench.put(Request("base", [Run(0, 0)], TIMING, until=time.monotonic() + 300.0))
        assert [fields["status"] for _, fields in bench.take(100.0)] == ["ok"]
    finally:
        bench.close()


def test_measuring_again_has_an_end_of_its_own(db, monkeypatch):
    monkeypatch.setattr(_workload_search, "CONFIRM_LEAST", 0.0)
    monkeypatch.setattr(_workload_search, "GRACE", 0.0)
    search(db, confirm=2, variants=2, timing=TIMING | {"min_samples": 20, "max_samples": 20})
    assert {row["variant"] for row in variant_rows(db)}


@pytest.mark.parametrize("times", [1, 2])
def test_what_is_wrong_is_tried_in_a_fresh_process(db, monkeypatch, times):
    """Another variant may have written where it must not. After one that is wrong, none goes on."""
    receive, begin, asked, started = process.Process.receive, process.Process.__init__, [], []
    send = process.Process.send

    def start(self):
        begin(self)
        started.append(self.pid)

    def note(self, kind, *arguments):
        if kind == "evaluate":
            asked.append(arguments[0])
        send(self, kind, *arguments)

    def spoil(self, until):
        reply = receive(self, until)
        labels = [request.variant for request in asked if request.variant != "base"]
        if reply[0] == "result" and 1 < len(labels) < 2 + times and labels[1] == labels[-1]:
            return "result", reply[1], {"status": "wrong", "message": "spoilt"}
        return reply

    monkeypatch.setattr(local.Local, "_put_next", lambda self: None)
    monkeypatch.setattr(process.Process, "__init__", start)
    monkeypatch.setattr(process.Process, "send", note)
    monkeypatch.setattr(process.Process, "receive", spoil)
    search(db, variants=3)
    second = "ok" if times == 1 else "wrong"
    assert [r["status"] for r in variant_rows(db)] == ["ok", second, "ok"]
    assert [request.checks for request in asked] == [1, 1, 1, remote_bench.CHECKS_OF_WRONG, 1]
    assert len(started) == 1 + times
