"""Compilers that are lost, late, of another kind, or wrong: no variant is, and nothing waits."""

import os
import signal
import time
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from queue import SimpleQueue
from types import SimpleNamespace

import pytest
from hosts import become, host, started
from losing import Losing, die_if_first, is_first
from searches import complete, search, variant_rows

from cubc import _core
from cubc.tuner import _build as build
from cubc.tuner import _compilers as compilers
from cubc.tuner import _heartbeat as heartbeat
from cubc.tuner import _pool as pool
from cubc.tuner._measurer import Request

_build = build.build


@pytest.fixture
def measuring(tmp_path, monkeypatch):
    monkeypatch.setattr(compilers, "FIRST", 100.0)  # a busy machine starts them slowly
    with host(tmp_path / "measuring") as processes:
        yield processes


def dying(wanted, workload, variant, *others):
    """Stands for `build.build`: the first process that gets a variant dies."""
    die_if_first(variant)
    return _build(wanted, workload, variant, *others)


def test_a_compiler_that_dies_loses_nothing(db, monkeypatch, tmp_path, marker, measuring):
    """Its pool is replaced, and what it had is compiled where it is measured."""
    monkeypatch.setattr(build, "build", dying)
    made = []

    def make():
        made.append(host(tmp_path / "compiling"))
        return made[-1]

    search(db, executor=measuring, compilers=make, variants=8)
    complete(db, 8)
    assert len(made) == 2 and marker.exists()
    assert 2 <= started(measuring) < 8


def test_compilers_that_cannot_be_replaced_are_done_without(
    db, monkeypatch, tmp_path, marker, measuring
):
    monkeypatch.setattr(build, "build", dying)
    with (
        host(tmp_path / "compiling") as others,
        pytest.warns(RuntimeWarning, match="the executor is broken"),
    ):
        search(db, executor=measuring, compilers=others)
    complete(db, 4)
    assert started(measuring) == 5


def test_a_worker_of_dask_that_dies_loses_nothing(db, monkeypatch, marker, measuring):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(build, "build", dying)
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(silence_logs=50, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        search(db, executor=measuring, compilers=client.get_executor(pure=False))
    complete(db, 4)
    assert marker.exists()


# ---- compilers that do not answer ---------------------------------------------------------------
@pytest.fixture
def impatient(monkeypatch, measuring):
    monkeypatch.setattr(compilers, "FIRST", 1.0)
    monkeypatch.setattr(compilers, "PATIENCE", 1.5)
    monkeypatch.setattr(compilers, "FACTOR", 1.0)
    monkeypatch.setattr(pool, "LOOK", 0.1)


def test_a_search_goes_on_without_compilers_that_never_answer(db, measuring, impatient):
    search(db, executor=measuring, compilers=Losing(range(1, 100)))
    complete(db, 4)
    assert started(measuring) == 6


def test_a_search_goes_on_without_compilers_that_are_lost(db, measuring, impatient):
    """They have said that they are there, and nothing after that."""
    with pytest.warns(RuntimeWarning, match="none of its processes has answered"):
        search(db, executor=measuring, compilers=Losing(range(2, 100)))
    complete(db, 4)
    assert started(measuring) == 6


def test_compilers_that_answer_again_are_used_again(db, measuring, impatient):
    losing = Losing({2})  # base
    with pytest.warns(RuntimeWarning, match="none of its processes has answered"):
        search(db, executor=measuring, compilers=losing, variants=12)
    complete(db, 12)
    assert losing.given > 4
    assert started(measuring) < 12


def stopping(wanted, workload, variant, deadline, pulse):
    """Stands for `build.build`: the first process that gets a variant is stopped over it."""
    with heartbeat.beating(pulse):
        if is_first(variant):
            time.sleep(1)  # it beats
            os.kill(os.getpid(), signal.SIGSTOP)
    return _build(wanted, workload, variant, deadline, pulse)


# The other process may be slow, too, on a busy machine.
@pytest.mark.filterwarnings("ignore:compilers. none of its processes:RuntimeWarning")
def test_a_compiler_that_falls_silent_is_given_up(db, monkeypatch, tmp_path, marker, measuring):
    """Long before a task is late."""
    monkeypatch.setattr(build, "build", stopping)
    monkeypatch.setattr(heartbeat, "SILENT", 2.0)
    monkeypatch.setattr(compilers, "PATIENCE", 1000.0)
    monkeypatch.setattr(pool, "LOOK", 0.2)
    with host(tmp_path / "compiling", 2) as others:
        try:
            search(db, executor=measuring, compilers=others)
        finally:
            os.kill(int(marker.read_text()), signal.SIGKILL)
    complete(db, 4)


class Pulses:
    """The search's end of pulses, whose numbers a test may hear."""

    def __init__(self):
        self.numbers = []

    def pulse(self):
        self.numbers.append(os.urandom(heartbeat.NUMBER))
        return heartbeat.Pulse("", 0, self.numbers[-1])


class There(Losing):
    """An executor whose processes say that they are there, and nothing after that."""

    def __init__(self):
        super().__init__(range(2, 100))


def test_a_compiler_that_beats_is_not_given_up_with_one_that_is_silent(monkeypatch):
    now, given_up, ended, pulses = [0.0], [], SimpleQueue(), Pulses()
    monkeypatch.setattr(compilers, "time", SimpleNamespace(monotonic=lambda: now[0]))
    lane = SimpleNamespace(
        workload="any",
        build_seconds=1000.0,
        info={"arch": "cpu", "compiler": "any"},
        compiled=lambda request, *_: given_up.append(request.variant),
    )
    others = compilers.Elsewhere(There(), ended, pulses)
    others.begin()
    for variant in ("silent", "slow"):
        now[0] += 1
        assert others.submit(lane, Request(variant, [], {}))
    silent, slow = pulses.numbers
    others.look({silent, slow})
    for _ in range(2 * int(heartbeat.SILENT)):
        assert not given_up or now[0] > heartbeat.SILENT
        now[0] += 1
        others.look({slow})
    assert given_up == ["silent"] and len(others) == 1
    now[0] += heartbeat.SILENT
    with pytest.warns(RuntimeWarning, match="none of its processes has answered"):
        others.look(set())
    assert given_up == ["silent", "slow"] and len(others) == 0


def test_seconds_hold_where_compilers_are_lost(db, measuring):
    begin = time.monotonic()
    search(db, executor=measuring, compilers=Losing(range(3, 100)), seconds=2)
    assert time.monotonic() - begin < compilers.PATIENCE
    assert variant_rows(db) == []


class Broken(ThreadPoolExecutor):
    """An executor whose processes die over all that they are asked."""

    def submit(self, function, *arguments):
        (failed := Future()).set_exception(BrokenExecutor("a process died"))
        return failed


def test_executors_whose_processes_all_die_are_not_made_for_ever(
    db, measuring, impatient, monkeypatch
):
    monkeypatch.setattr(pool, "LOOK", 0.02)  # all have died before the search ends
    made = []

    def make():
        made.append(Broken(1))
        return made[-1]

    with pytest.warns(RuntimeWarning, match="the executor is broken"):
        search(db, executor=measuring, compilers=make, variants=16)
    complete(db, 16)
    assert len(made) <= compilers.MOST_DEATHS + 1


# ---- compilers of another kind, and wrong replies -----------------------------------------------
class Changed(ThreadPoolExecutor):
    """Its replies to the second task and those after are changed."""

    def __init__(self, change):
        super().__init__(1)
        self._change, self._given = change, 0

    def submit(self, function, *arguments):
        self._given += 1
        if self._given <= 2:  # whether it is there, and base
            return super().submit(function, *arguments)
        return super().submit(lambda: self._change(function(*arguments)))


def flipped(built):
    bundle = bytearray(built.bundle)
    bundle[2000] ^= 1
    return built._replace(bundle=bytes(bundle))


def other(built):
    """Whole records, of a kernel that nobody asked for."""
    bundle = bytearray()
    _core.compile("reduce.sum", {"T{ct}": "F64"}, "cpu", "base", 0.0, b"", None, bundle)
    return built._replace(bundle=bytes(bundle))


def refusing():
    raise ModuleNotFoundError("No module named 'beside'")


CHANGES = {
    "flipped": (flipped, "of no use"),  # other damage: core/test_bundle.py
    "other": (other, "of no use"),
    "empty": (lambda built: built._replace(bundle=b""), ""),
    "error": (lambda built: refusing(), "No module named 'beside'"),
    "none": (lambda built: None, "its reply is no compiled variant"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_wrong_reply_is_refused(db, change, measuring, recwarn):
    """The process that measures compiles for itself, and the search says why."""
    function, said = CHANGES[change]
    with Changed(function) as others:
        search(db, executor=measuring, compilers=others)
    complete(db, 4)
    assert started(measuring) == 5  # all but base
    found = {str(one.message) for one in recwarn if "compilers: " in str(one.message)}
    assert all(said in one for one in found) and bool(found) == bool(said)
    recwarn.clear()


BUILT = build.Built(bundle=b"a bundle", seconds=0.5, missing="")
FORMS = {
    "tuple": tuple(BUILT),
    "text": BUILT._replace(bundle="text"),
    "large": BUILT._replace(bundle=bytes(build.MOST + 1)),
    "whole seconds": BUILT._replace(seconds=1),
    "nan": BUILT._replace(seconds=float("nan")),
    "no reason": BUILT._replace(missing=None),
    "long": BUILT._replace(missing="x" * 2000),
}


@pytest.mark.parametrize("reply", FORMS.values(), ids=FORMS)
def test_a_reply_of_another_form_is_refused(reply):
    """As the one that is none."""
    assert build.checked(BUILT) is BUILT
    with pytest.raises(ValueError, match="its reply is no compiled variant"):
        build.checked(reply)


@pytest.mark.parametrize(
    ("what", "said"),
    [("__version__", r"it has cubc .*, the search has 0\.0\.1"), ("compiler", "compiles by g")],
)
def test_compilers_of_another_kind_are_named(db, what, said, measuring, monkeypatch):
    def wanted(version, arch, compiler):
        known = {"version": version, "arch": arch, "compiler": compiler}
        return _wanted(**known | {what.strip("_"): "0.0.1"})

    _wanted = build.Wanted
    monkeypatch.setattr(build, "Wanted", wanted)
    with ThreadPoolExecutor(1) as others, pytest.warns(RuntimeWarning, match=said):
        search(db, executor=measuring, compilers=others)
    complete(db, 4)
    assert started(measuring) == 6


def test_compilers_without_a_compiler(db, measuring, monkeypatch, tmp_path):
    monkeypatch.setenv("CUBC_CXX", "/none")
    others = host(tmp_path / "compiling")
    others.submit(become, str(tmp_path / "compiling")).result()  # it has begun, with that variable
    monkeypatch.delenv("CUBC_CXX")
    with others, pytest.warns(RuntimeWarning, match="/none"):
        search(db, executor=measuring, compilers=others)
    complete(db, 4)
