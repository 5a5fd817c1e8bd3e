"""Recordings: what a program called is in a store, as a table and as what a search is for."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import isolated
import numpy as np
import pytest
import stores
from searches import TIMING

import cubc
from cubc import _core, lattice, tuner
from cubc.tuner import _cli as cli
from cubc.tuner import _recording
from cubc.tuner._recorded_calls import read as read_calls
from cubc.tuner._recorded_calls import workloads

X = np.arange(100_003, dtype=np.float32)


@pytest.fixture
def db(tmp_path):
    yield tmp_path / "work.db"
    _core.forget_recording()
    cubc.clear_policies()


def calls(db, **about):
    """Calls in a recording, by the columns of its table."""
    table = tuner.recorded(db)
    for name, value in about.items():
        table = table[table[name] == value]
    return table.calls.tolist()


def test_calls_of_one_kind_are_a_row(db):
    with tuner.record(db):
        for _ in range(40):
            cubc.reduce(X, device="cpu")
        cubc.reduce(X[1:], device="cpu")  # another alignment, and another shape
        cubc.reduce(X[:100_002], device="cpu")
        cubc.sort(X[:5000], device="cpu")
    table = tuner.recorded(db)
    about = table[["benchmark", "type", "shape", "calls"]].values.tolist()
    assert sorted(about) == [
        ["reduce.sum", "F32", "Elements=100002", 2],
        ["reduce.sum", "F32", "Elements=100003", 40],
        ["sort.keys", "F32", "Elements=5000", 1],
    ]
    assert table.share.sum() == pytest.approx(1) and table.share.is_monotonic_decreasing
    assert (table.mean_us > 0).all() and (table.gb_s > 0).all()
    np.testing.assert_allclose(table.total_ms, table.calls * table.mean_us * 1e-3)
    assert set(table.searchable) == {"yes"}


@pytest.mark.parametrize("what", ["a program without calls", "a search"])
def test_a_store_without_calls_is_no_recording(db, what):
    """The table of its calls, which the message named, is empty."""
    if what == "a search":
        stores.write(db, [stores.row("base", 16)])
    else:
        with tuner.record(db):
            pass
    with pytest.raises(LookupError, match="no calls are recorded there: cubc record, or"):
        tuner.search(db, device="cpu")


def test_nothing_is_recorded_outside(db):
    cubc.reduce(X, device="cpu")
    with tuner.record(db):
        pass
    cubc.reduce(X, device="cpu")
    assert tuner.recorded(db).empty


def test_times_are_of_ever_fewer_calls(db):
    with tuner.record(db):
        for _ in range(1000):
            cubc.reduce(X[:100], device="cpu")
    [row] = stores.read(db)
    assert row["calls"] == 1000
    assert len(row["samples"]) // 4 == 16 + 8 * 5 + 8 * 488 // 512 + 1  # 16, 32, 64 ... 512, 1000


def test_recordings_add_up(db):
    for _ in range(3):
        with tuner.record(db):
            cubc.reduce(X, device="cpu")
    assert calls(db) == [3]
    assert [row["round"] for row in stores.read(db)] == [0, 1, 2]


def test_all_threads_are_recorded(db):
    def work():
        for _ in range(200):
            cubc.reduce(X[:1000], device="cpu")

    with tuner.record(db):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert calls(db) == [800]


def test_a_failing_program_is_recorded(db):
    with pytest.raises(ZeroDivisionError), tuner.record(db):
        cubc.reduce(X, device="cpu")
        raise ZeroDivisionError
    assert calls(db) == [1]


def test_a_recording_within_a_recording(db, tmp_path):
    with tuner.record(db):
        with pytest.raises(ValueError, match="recorded already"), tuner.record(tmp_path / "2.db"):
            pass
        cubc.reduce(X, device="cpu")
    assert calls(db) == [1]


def test_keys_are_asked_for_by_a_bool(db):
    error = pytest.raises(TypeError, match=r"record\(\): keys is 'x': expected a bool")
    with error, tuner.record(db, keys="x"):
        pass


def test_a_store_that_cannot_be_written(tmp_path):
    with pytest.raises(OSError, match="its folder"), tuner.record(tmp_path / "none" / "work.db"):
        pytest.fail("the program ran")
    cubc.reduce(X, device="cpu")
    with tuner.record(tmp_path / "work.db"):  # the first is not under way
        pass


def test_the_program_may_change_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    with tuner.record("work.db"):
        cubc.reduce(X, device="cpu")
        os.chdir("elsewhere")
    assert calls(tmp_path / "work.db") == [1]


@pytest.mark.parametrize("name", ["é", 40 * "é"])
def test_names_in_other_letters(db, name):
    source = f"__global__ void {name}(int* x)\n{{ x[0] = 1; }}"
    kernel = cubc.Kernel(source, device="cpu")
    with tuner.record(db):
        kernel(np.zeros(1, np.int32), grid=1, block=1)
    assert tuner.recorded(db).benchmark.tolist() == [name[:31]]  # of at most 63 bytes


def test_kernels_of_ones_own(db):
    source = "__global__ void fill(int* x, int n)\n{ if (threadIdx.x == 0) x[blockIdx.x] = n; }"
    fill = cubc.Kernel(source, device="cpu")
    x = np.zeros(6, np.int32)
    with tuner.record(db):
        for _ in range(3):
            fill(x, 5, grid=(3, 2), block=32)
        fill(x, 5, grid=1, block=32)
    found = dict(tuner.recorded(db)[["shape", "calls"]].values)
    assert found == {"Grid=6,Block=32": 3, "Grid=1,Block=32": 1}
    assert tuner.recorded(db).searchable.str.startswith("no: it has no benchmark").all()


def test_each_iteration_of_a_solve_is_counted(db):
    links = lattice.Gauge.random((4, 4, 4, 4), noise=0.4, device="cpu")
    wilson = lattice.Wilson(links, kappa=0.12)
    source = lattice.point_source((4, 4, 4, 4), (0, 0, 0, 0))[0, 0]
    with tuner.record(db):
        _, info = wilson.solve(source, tol=1e-8)
    table = tuner.recorded(db)
    dslash = table[table.benchmark.str.startswith("dslash")]
    assert info.iterations > 20
    assert dslash.calls.sum() >= 2 * info.iterations


def test_a_search_takes_each_call_at_its_own_shape(db):
    with tuner.record(db):
        for _ in range(200):
            cubc.reduce(X, device="cpu")
        cubc.reduce(X[:95_000], device="cpu")  # the same powers of two
        cubc.reduce(X[:1000], device="cpu")
        cubc.reduce(X[:10], device="cpu")  # too few to be tuned
        cubc.reduce(X, "a > b ? a : b", init=0.0, device="cpu")
    found = list(workloads(read_calls(db), "cpu", ()))
    assert [one.rts for one, _ in found] == [
        [{"Elements{io}": 100_003}],
        [{"Elements{io}": 1000}],
    ]
    assert [str(one) for one, _ in found] == ["reduce.sum F32"] * 2
    result = tuner.search(db, variants=2, confirm=0, progress=False, timing=TIMING)
    assert [group.rts for group in result.groups] == [
        ["Elements{io}=100003"],
        ["Elements{io}=1000"],
    ]
    assert calls(db, shape="Elements=100003", type="F32")[0] == 200  # the recording is as it was
    assert len(tuner.analyze(db)) == 2


def test_each_lattice_is_searched_by_itself(db):
    with tuner.record(db):
        for extent in ((4, 4, 4, 4), (6, 4, 4, 4)):
            wilson = lattice.Wilson(lattice.Gauge.random(extent, device="cpu"), kappa=0.12)
            wilson(np.ones((*extent[::-1], 4, 3), np.complex64))
    dslash = [one for one, _ in workloads(read_calls(db), "cpu", ()) if "dslash" in str(one)]
    assert {rt["X"] for one in dslash for rt in one.rts} == {4, 6}


def test_what_a_search_for_a_recording_refuses(db, tmp_path):
    with pytest.raises(FileNotFoundError, match="no store"):
        tuner.search(tmp_path / "none.db")
    with tuner.record(db):
        cubc.reduce(X, device="cpu")
    with pytest.raises(ValueError, match="at its own shapes"):
        tuner.search(str(db), {"T": "F32"})
    with pytest.raises(LookupError, match=r"search for sm_90 .* ran on cpu"):
        list(workloads(read_calls(db), "sm_90", ()))


def test_a_program_is_recorded_by_the_command(db):
    program = "import cubc, numpy; x = numpy.ones(5000); cubc.reduce(x); cubc.sort(x)"
    command = [sys.executable, "-m", "cubc", "record", "--keys", "-o", str(db), "--"]
    variables = os.environ | {"CUBC_DEVICE": "cpu"}
    subprocess.run([*command, sys.executable, "-c", program], check=True, env=variables)
    assert calls(db, benchmark="reduce.sum", shape="Elements=5000") == [1]
    told = subprocess.run(
        [sys.executable, "-m", "cubc", "recorded", str(db)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "reduce.sum" in told and "Elements=5000,Distinct=1" in told


def test_calls_that_fail_are_not_counted(db):
    room = np.empty(8, np.uint8)
    with tuner.record(db), pytest.raises(ValueError, match="workspace"):
        cubc.sort(X, device="cpu", workspace=room)
    assert tuner.recorded(db).empty


WORKING = """
import os, signal, subprocess, sys, time
import numpy
import cubc

{before}
for _ in range(5):
    cubc.reduce(numpy.ones(5000), device="cpu")
print("called", flush=True)
time.sleep(100)
"""


@contextlib.contextmanager
def working(db, before=""):
    """A program that is recorded, once it has made its calls."""
    program = [sys.executable, "-c", WORKING.format(before=before)]
    variables = os.environ | {"CUBC_RECORD": str(db)}
    with subprocess.Popen(program, env=variables, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "called\n"
            yield process
        finally:
            process.kill()


def test_a_program_that_is_killed_leaves_its_calls(db):
    with working(db) as process:
        deadline = time.monotonic() + 500
        while calls(db) != [5]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.kill()
    assert calls(db) == [5]


def test_a_program_that_is_terminated_leaves_all_its_calls(db):
    with working(db) as process:
        process.terminate()
        assert process.wait(60) == -signal.SIGTERM
    assert calls(db) == [5]


def test_a_program_that_is_terminated_waits_for_a_store_that_another_one_holds(db):
    with working(db) as process, contextlib.closing(sqlite3.connect(db)) as other:
        other.execute("BEGIN IMMEDIATE")
        process.terminate()
        time.sleep(1.5)  # longer than it waits for while it runs
        other.rollback()
        assert process.wait(60) == -signal.SIGTERM
    assert calls(db) == [5]


@pytest.mark.parametrize(
    ("handler", "status", "found"),
    [("lambda *_: sys.exit(3)", 3, [5]), ("signal.SIG_DFL", -signal.SIGTERM, None)],
)
def test_the_handlers_of_a_program_stay(db, handler, status, found):
    before = f"""
assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
signal.signal(signal.SIGTERM, {handler})"""
    with working(db, before) as process:
        process.terminate()
        assert process.wait(60) == status
    assert found is None or calls(db) == found


def written(db, calls):
    """Wait until a recording has so many calls and their times, and is closed again."""
    while True:
        if db.exists() and not db.with_name(f"{db.name}-wal").exists():
            rows = stores.read(db)
            if [(row["calls"], len(row["samples"])) for row in rows] == [(calls, 4 * calls)]:
                return
        time.sleep(0.01)


RECORD_70 = """
from cubc import tuner
with tuner.record(sys.argv[1]):
    for _ in range(70):
        cubc.reduce(np.arange(100_003, dtype=np.float32), device="cpu")"""


@pytest.mark.parametrize("what", ["merged", "removed"])
def test_a_file_that_is_replaced_meanwhile_keeps_the_calls_of_others(
    db, tmp_path, monkeypatch, what
):
    """The row that a recording added may be that of another one when it is renewed."""
    monkeypatch.setattr("cubc.tuner._recording.EVERY", 0.05)
    other = tmp_path / "other.db"
    imports = "import sys, cubc, numpy as np"
    isolated.output(imports + RECORD_70, str(other))
    with tuner.record(db):
        for _ in range(10):
            cubc.reduce(X, device="cpu")
        written(db, 10)
        if what == "merged":
            tuner.merge([other, db], tmp_path / "both.db")
            (tmp_path / "both.db").replace(db)
        else:
            other.replace(db)
        cubc.reduce(X, device="cpu")
    assert sorted(row["calls"] for row in stores.read(db)) == [11, 70]
    assert calls(db) == [81]


def test_numbers_of_calls_that_are_none(db):
    row = {"variant": "base", "status": "recorded", "message": "a recording"}
    rows = [stores.row(elements=n, calls=1.5e308, **row) for n in (16, 17)]
    stores.write(db, [*rows, stores.row(elements=18, calls=7.0, **row)])
    with pytest.warns(
        RuntimeWarning, match=r"2 of its rows left out.* 1\.5e\+308 is no number of c"
    ):
        assert calls(db) == [7]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_children_end_at_once(db):
    before = """
child = os.fork()
if not child:
    time.sleep(100)
os.kill(child, signal.SIGTERM)
assert os.waitpid(child, 0)[1] == signal.SIGTERM
child = subprocess.Popen(["sleep", "100"])
child.terminate()
assert child.wait() == -signal.SIGTERM"""
    with working(db, before):
        pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_children_forked_while_the_store_is_written_use_stores(db, tmp_path, monkeypatch):
    monkeypatch.setattr("cubc.tuner._recording.EVERY", 0.001)
    _core.Store(tmp_path / "other.db", True).close()
    with tuner.record(db):
        for n in range(100, 130):
            cubc.reduce(X[:n], device="cpu")
            child = os.fork()
            if child == 0:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(30)
                _core.Store(tmp_path / "other.db", True).close()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_records_nothing(db):
    with tuner.record(db):
        cubc.reduce(X, device="cpu")
        child = os.fork()
        if child == 0:
            cubc.reduce(X, device="cpu")
            os._exit(_core.end_recording(next(_recording._numbers) - 1))
        assert os.waitpid(child, 0)[1] == 0
    assert calls(db) == [1]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"rt": f"Elements={2**41}"}, "too large"),
        ({"rt": "Elements=7"}, "too small"),
        ({"rt": ""}, "Elements is not known"),
        ({"rt": "Items=1000000"}, "Elements is not known"),
        ({"ct": ""}, "no such type"),
        ({"ct": "T{ct}=F32,U{ct}=F32"}, "has no F32,F32"),
        ({"benchmark": "reduce.none"}, "no benchmark"),
    ],
)
def test_a_row_that_no_search_takes_stops_none(db, changed, why):
    with tuner.record(db):
        cubc.reduce(X, device="cpu")
    good = next(iter(stores.read(db)))
    row = {name: good[name] for name in _core.STORE_COLUMNS if name in good}
    stores.write(db, [row | {"round": 1} | changed])
    assert any(why in text for text in tuner.recorded(db).searchable)
    assert len(list(workloads(read_calls(db), "cpu", ()))) == 1


def test_an_empty_recording_is_told(db, capsys):
    with tuner.record(db):
        pass
    assert cli.main(["recorded", str(db)]) == 2
    assert "no calls were recorded" in capsys.readouterr().err


def test_damaged_rows_are_left_out(db):
    with tuner.record(db):
        cubc.reduce(X, device="cpu")
    good = next(iter(stores.read(db)))
    bad = {name: good[name] for name in _core.STORE_COLUMNS if name in good}
    stores.write(
        db, [bad | {"rt": "Elements=-5", "round": 1}, bad | {"rt": "nonsense", "round": 2}]
    )
    with pytest.warns(RuntimeWarning, match="2 of its rows left out"):
        assert calls(db) == [1]


@pytest.mark.gpu
def test_a_recording_spoils_no_capture(db, device, monkeypatch):
    cupy = pytest.importorskip("cupy", reason="needs CuPy")
    monkeypatch.setattr("cubc.tuner._recording.EVERY", 0.2)
    stream = cupy.cuda.Stream(non_blocking=True)
    with tuner.record(db), stream:
        x, out = cupy.arange(1000.0), cupy.empty((), "float64")
        for _ in range(10):
            cubc.reduce(x, out=out)
        stream.begin_capture(cupy.cuda.runtime.streamCaptureModeGlobal)
        cubc.reduce(x, out=out)
        time.sleep(1)  # the store is written meanwhile
        graph = stream.end_capture()
        graph.launch()
        assert out.get() == 499500
    assert calls(db) == [11]


CLOSES = """
import os, sys, numpy as np, cubc
from cubc import tuner
x = np.arange(1000.0)
with tuner.record(sys.argv[1]):
    cubc.reduce(x, device="cpu")
    os.closerange(3, 4096)  # as daemons do
    own = [open(f"{sys.argv[1]}.{k}", "w+b") for k in range(20)]
    cubc.reduce(x, device="cpu")
assert not any(file.read() for file in own)
print(tuner.recorded(sys.argv[1]).calls.tolist())
"""


def test_a_program_that_closes_all_descriptors(db):
    """Its own files get their numbers, and no message of the recording."""
    assert isolated.output(CLOSES, db) == "[2]"
