"""Policies from stores: what comes into force, and what is refused."""

import isolated
import numpy as np
import pytest
import stores
from stores import confirmed, row, write

import cubc
from cubc import _core, tuner

A, B, C = stores.variants()
F32 = {"T{ct}": "F32"}


@pytest.fixture(autouse=True)
def nothing_overlaid():
    _core.clear_policies()
    yield
    _core.clear_policies()


def running(exponent=16, type="F32"):
    return _core.policy("reduce.sum", {"T{ct}": type}, "cpu", {"Elements": 1 << exponent})


def test_the_best_comes_into_force(tmp_path):
    shipped = running()
    db = write(
        tmp_path / "s.db", [row("base", 16), *confirmed(A, 16, 5e-4), *confirmed(B, 16, 1e-4)]
    )
    assert cubc.use_policies(db) == 1
    assert running() == B
    assert _core.base("reduce.sum", F32, "cpu") == shipped
    _core.clear_policies()
    assert running() == shipped


def test_each_call_runs_what_was_best_near_it(tmp_path):
    """Two octaves to either side; farther away nothing is known, and calls run what they did."""
    shipped = running()
    rows = [*confirmed(A, 16, 1e-4), *confirmed(B, 16, 5e-4)]
    rows += [*confirmed(A, 28, 5e-4), *confirmed(B, 28, 1e-4)]
    assert cubc.use_policies(write(tmp_path / "s.db", rows)) == 2
    assert (running(14), running(16), running(18), running(28), running(30)) == (A, A, A, B, B)
    assert running(13) == running(20) == running(24) == running(31) == shipped
    _core.clear_policies()
    assert cubc.use_policies(write(tmp_path / "few.db", confirmed(A, 16, 1e-4))) == 1
    assert (running(16), running(19), running(28)) == (A, shipped, shipped)


def test_base_stays_where_it_was_best(tmp_path):
    """A call runs what was found at the nearest workload, and there that may be base."""
    shipped = running()
    axes = {"axes": '[["Elements{io}[pow2]", [16, 19]]]'}
    rows = [*confirmed(A, 16, 1e-4, **axes), *confirmed(A, 19, 2e-3, **axes)]
    assert cubc.use_policies(write(tmp_path / "s.db", rows)) == 1
    assert [running(n) for n in (15, 16, 17, 18, 19)] == [A, A, A, shipped, shipped]


def at(n):
    return {"Elements": 1 << n}


def test_shipped_rows_by_elements():
    where = ("scan.exclusive.sum", {"T{ct}": "F64"}, "sm_90")
    few, small, most = (_core.policy(*where, at(n)) for n in (16, 20, 30))
    assert len({few, small, most}) == 3 and most == _core.policy(*where)
    _core.use_policy(*where, small, at(30))
    assert [_core.policy(*where, at(n)) for n in (16, 20, 30)] == [few, small, small]
    _core.use_policy(*where, most, at(20))
    assert [_core.policy(*where, at(n)) for n in (16, 20, 30)] == [few, most, small]
    assert _core.policy(*where, at(21)) == _core.base(*where, at(21))  # of another shipped row
    _core.use_policy(*where, small)
    assert {_core.policy(*where, at(n)) for n in (0, 16, 20, 24, 30)} == {small}
    _core.use_policy(*where, most, at(20))
    assert [_core.policy(*where, at(n)) for n in (16, 20, 30)] == [small, most, small]


def test_rows_by_several_axes():
    where = ("histogram.even", {"T{ct}": "F32"}, "sm_90")
    ranges = {
        bins: _core.base_range(*where, {"Elements": 1 << 18, "Bins": bins})
        for bins in (100, 256, 257, 32768, 1 << 20)
    }
    assert ranges[100] == ranges[256] == "Elements=0:1048576,Bins=0:256"
    assert ranges[257] == ranges[32768] == "Bins=257:32768"
    assert ranges[1 << 20] == "Bins=32769:"
    _core.use_policy(*where, _core.base(*where), {"Elements": 1 << 18, "Bins": 64})
    near, far = ({"Elements": 1 << 18, "Bins": bins} for bins in (256, 257))
    assert _core.policy(*where, near) == _core.base(*where)
    assert _core.policy(*where, far) == _core.base(*where, far)


def test_what_goes_by_no_axis():
    assert _core.base_range("transform.fill", F32, "cpu", at(16)) == ""
    assert _core.base_range("reduce.argmin", {"T{ct}": "I16"}, "sm_90", at(16)) == ""
    ranges = [_core.base_range("reduce.sum", F32, "sm_90", at(n)) for n in (0, 16, 17, 20, 25, 26)]
    tiny, small, middle = "Elements=0:65536", "Elements=0:2121325", "Elements=1048577:33554432"
    assert ranges == [tiny, tiny, small, small, middle, ""]


@pytest.mark.parametrize(
    ("rt", "message"),
    [
        ({"Bins": 4}, "no run-time axis Bins"),
        ({"Elements": -1}, "negative"),
        ({"Elements": 0}, "expected 1 to 2"),
        ({"Elements[pow2]": 41}, "expected an exponent of 0 to 40"),
    ],
)
def test_workloads_that_there_are_not(rt, message):
    with pytest.raises((ValueError, OverflowError), match=message):
        _core.base("reduce.sum", F32, "cpu", rt)


def test_a_benchmark_for_each_type(tmp_path):
    db = write(tmp_path / "s.db", [*confirmed(A, 16, 1e-4), *confirmed(A, 16, 1e-4, ct="I64")])
    assert cubc.use_policies(db) == 2
    assert running() == running(type="I64") == A


def test_the_best_of_several_devices_wins(tmp_path):
    db = tmp_path / "s.db"
    write(db, confirmed(A, 16, 5e-4), uuid="one")
    write(db, confirmed(B, 16, 4e-4), uuid="two")
    assert cubc.use_policies(db) == 1
    assert running() == B


def test_the_last_store_wins(tmp_path):
    one = write(tmp_path / "1.db", confirmed(A, 16, 1e-4))
    two = write(tmp_path / "2.db", confirmed(B, 16, 5e-4))
    assert cubc.use_policies(one, two) == 1
    assert running() == B
    cubc.use_policies(two, one)
    assert running() == A


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("round", [0, 1])
@pytest.mark.parametrize("status", ["wrong", "fault"])
def test_what_one_store_found_to_fail_wins_in_none(tmp_path, status, round, order):
    shipped = running()
    one = write(tmp_path / "1.db", [row("base", 16), *confirmed(A, 16, 1e-4)])
    two = write(tmp_path / "2.db", [row("base", 16), row(A, 16, status=status, round=round)])
    assert cubc.use_policies(*[one, two][::order]) == 0
    assert running() == shipped


@pytest.mark.parametrize("elsewhere", [{"uuid": "another"}, {"driver": "old"}, {}])
def test_what_was_wrong_once_wins_nowhere(tmp_path, elsewhere):
    """On another device, with another driver, or at sizes that were searched by themselves."""
    db = write(tmp_path / "s.db", [row("base", 16), *confirmed(A, 16, 1e-4)])
    n = 16 if elsewhere else 19
    axes = {"axes": f'[["{stores.ELEMENTS}", [{n}]]]', "rt": f"{stores.ELEMENTS}={n}"}
    write(db, [row(A, 16, status="wrong", **({} if elsewhere else axes))], **elsewhere)
    assert cubc.use_policies(db) == 0


@pytest.mark.parametrize("where", [{"driver": "old"}, {"compiler": "at -O0"}, {"sm_count": 99}])
@pytest.mark.parametrize("here", [True, False])
def test_the_environment_that_is_here_counts_or_the_newest(tmp_path, where, here):
    """A variant that was FASTER with another driver or compiler is SLOWER with this one."""
    db = tmp_path / "s.db"
    old, new = confirmed(A, 16, 1e-4), confirmed(A, 16, 2e-3)
    if here:
        write(db, new)
        write(db, old, **where)
    else:
        write(db, old, **{name: 98 if value == 99 else "older" for name, value in where.items()})
        write(db, new, **where)
    assert cubc.use_policies(db) == 0
    assert tuner.analyze(db).policies() == ""
    assert cubc.use_policies(write(db, confirmed(B, 16, 5e-4), uuid="another")) == 1
    assert running() == B


ASKED = """
import sys
asked = []
def note(frame, event, what):
    if event == "c_call" and what.__name__ in ("devices", "device_info"):
        asked.append(what.__name__)
sys.setprofile(note)
import cubc
sys.setprofile(None)
from cubc import _core
running = lambda: _core.policy("reduce.sum", {"T{ct}": "F32"}, "cpu", {"Elements": 1 << 16})
call = lambda: cubc.sum(cubc.empty(1 << 16, "f4", device="cpu"))
"""


@pytest.mark.parametrize("tune", ["", "1"])
def test_an_import_asks_no_device(tmp_path, tune):
    """It would start CUDA. What is measured in several environments waits for the first call."""
    db = write(tmp_path / "s.db", confirmed(A, 16, 5e-4))
    write(db, confirmed(B, 16, 1e-4), driver="old")
    code = "shipped = running(); call(); print(asked, shipped, running())"
    options = {"CUBC_POLICIES": db, "CUBC_TUNE": tune, "CUBC_CACHE": tmp_path}
    assert isolated.output(f"{ASKED}{code}", **options) == f"[] {running()} {A}"


def test_a_program_is_asked_after_the_variable(tmp_path):
    db = write(tmp_path / "s.db", confirmed(A, 16, 5e-4))
    write(db, confirmed(B, 16, 1e-4), driver="old")
    own = write(tmp_path / "own.db", confirmed(B, 16, 5e-4))
    for code, expected in (
        (f"cubc.use_policies({str(own)!r})", B),
        ("cubc.clear_policies()", running()),
        ("import os; pid = os.fork()\nif pid: sys.exit(os.waitpid(pid, 0)[1])\n", A),
    ):
        told = isolated.output(f"{ASKED}{code}\ncall(); print(running())", CUBC_POLICIES=db)
        assert told == expected


def test_nothing_slower_than_base_is_used(tmp_path):
    shipped = running()
    db = write(tmp_path / "s.db", [row("base", 16), *confirmed(A, 16, 2e-3, 1e-3)])
    assert cubc.use_policies(db) == 0
    assert running() == shipped


@pytest.mark.parametrize("rounds", [0, 1])
def test_nothing_that_was_not_confirmed_is_used(tmp_path, rounds):
    """The best of a search is partly lucky; a single round has no interval."""
    shipped = running()
    db = write(tmp_path / "s.db", [row("base", 16), *confirmed(A, 16, 5e-4, rounds=rounds)])
    best = tuner.analyze(db).best()
    assert best.label == A and not best.wins
    if rounds:
        assert cubc.use_policies(db) == 0 and best.verdict.word == "UNDECIDED"
    else:
        with pytest.warns(
            RuntimeWarning,
            match=rf"reduce.sum F32 Elements{{io}}\[pow2\]=16 {A}: measured once.*--confirm 5",
        ) as caught:
            assert cubc.use_policies(db) == 0
        assert len(caught) == 1
        of = r"-a T=F32 -a Elements=16"
        command = rf"cubc search -R 'reduce\\.sum\$' {of} --db {db} --seconds 60 --confirm 5"
        with pytest.warns(RuntimeWarning, match=command):
            assert tuner.analyze(db).policies() == ""
    assert running() == shipped


def test_a_call_goes_on_where_what_waits_for_it_fails(tmp_path):
    db = write(tmp_path / "s.db", confirmed(A, 16, 5e-4))
    write(db, confirmed(B, 16, 1e-4), driver="old")
    code = """
import warnings
from cubc.tuner import _policies
def fail(found):
    raise ValueError("no such variant")
_policies._use = fail
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    call(), call()
print(*[one.message for one in told])
"""
    told = isolated.output(f"{ASKED}{code}", CUBC_POLICIES=db)
    assert told == "CUBC_POLICIES is ignored: no such variant"


def test_a_variable_says_in_the_log_what_was_not_confirmed(tmp_path):
    """A warning would come with each import, of each process of the shell."""
    db = write(tmp_path / "s.db", [row("base", 16), *confirmed(A, 16, 5e-4, rounds=0)])
    code = "import logging\nlogging.basicConfig(level=20)\nimport cubc"
    told = isolated.run(code, CUBC_POLICIES=db).stderr
    assert told.count("\n") == 1
    assert told.startswith("INFO:cubc.policy:CUBC_POLICIES: reduce.sum F32 ")
    assert isolated.run("import cubc", CUBC_POLICIES=db).stderr == ""


def test_the_winner_is_the_best_that_is_faster(tmp_path):
    """Not who has the highest score, which may be unsure; and all tables agree."""
    unsure = [row(A, 16)] + [row(A, 16, 1e-3 / (1.4 + 0.2 * (-1) ** n), round=n) for n in (1, 2)]
    db = write(
        tmp_path / "s.db", [row("base", 16), *unsure, *confirmed(B, 16, 8e-4), row(C, 16, 1e-6)]
    )
    analysis = tuner.analyze(db)
    top = analysis.top()
    assert top.variant.tolist() == [B, A, "base", C]
    assert top.verdict.tolist() == ["FASTER", "UNDECIDED", "", ""]
    assert analysis.best().label == B and analysis.best().wins
    assert B in analysis.policies() and B in analysis.header().replace("\n", "")
    assert cubc.use_policies(db) == 1 and running() == B


def test_another_version_of_the_kernel_is_skipped(tmp_path):
    db = write(tmp_path / "s.db", confirmed(A, 16, 1e-4, source_hash="0" * 64))
    with pytest.warns(RuntimeWarning, match="another version of the kernel") as caught:
        assert cubc.use_policies(db) == 0
    assert len(caught) == 1
    for text in (tuner.Analysis.policies, tuner.Analysis.header):  # which may be of an old store
        assert "of another version of the kernel\n" in text(tuner.analyze(db)) + "\n"
    write(db, confirmed(B, 16, 5e-4))
    for text in (tuner.Analysis.policies, tuner.Analysis.header):
        found = text(tuner.analyze(db))
        assert B in found and A not in found and "another version" not in found


def test_unknown_benchmarks_are_skipped(tmp_path):
    db = write(tmp_path / "s.db", [row(A, 16, 1e-4) | {"benchmark": "someone.elses"}])
    with pytest.warns(RuntimeWarning, match=r"someone\.elses"):
        assert cubc.use_policies(db) == 0


@pytest.mark.parametrize("label", ["ipt_1;system", 'x_1" -DEVIL', "../../x_1", "ipt_1\n#define X"])
def test_a_hostile_label_is_refused(tmp_path, label):
    shipped = running()
    db = write(tmp_path / "s.db", [row(A, 16, 1e-4), row(label, 16, 1e-5)])
    with pytest.raises(_core.StoreError, match=r"s\.db: row 2 was refused"):
        cubc.use_policies(db)
    assert running() == shipped


@pytest.mark.parametrize("label", ["ipt_999999999.tpb_1", "nosuch_1"])
def test_a_label_outside_the_declared_ranges_is_refused(tmp_path, label):
    shipped = running()
    rows = [row(A, 16, 1e-4, ct="I64"), row(label, 16, 1e-5)]
    with pytest.raises(_core.StoreError, match=r"s\.db: row 2 was refused"):
        cubc.use_policies(write(tmp_path / "s.db", rows))
    assert running() == shipped
    assert running(type="I64") != A


@pytest.mark.parametrize("bad", [{"status": "bogus"}, {"ct": "T{ct}=F99"}, {"samples": b""}])
def test_a_row_that_cannot_be_used_is_refused(tmp_path, bad):
    shipped = running()
    db = write(tmp_path / "s.db", [row(A, 16, 1e-4), row(B, 16, 1e-5) | bad])
    with pytest.raises(_core.StoreError, match=r"s\.db: row 2 was refused"):
        cubc.use_policies(db)
    assert running() == shipped


def test_a_workload_that_cubc_does_not_have_is_skipped(tmp_path):
    db = write(tmp_path / "s.db", [row(A, 16, 1e-4) | {"ct": ""}])
    with pytest.warns(RuntimeWarning, match="another version of the kernel"):
        assert cubc.use_policies(db) == 0


def test_no_store(tmp_path):
    with pytest.raises(FileNotFoundError, match="no store"):
        cubc.use_policies(tmp_path / "none.db")


def test_what_keys_are_like_is_no_axis_of_calls(tmp_path):
    """The winner counts among rows at one place, and one found with such keys before others."""
    x, y, _ = stores.variants("sort.keys", "I32")
    I32 = {"T{ct}": "I32"}

    def rows(label, center, **keys):
        axes, rt = f'["{stores.ELEMENTS}", [16]]', f"{stores.ELEMENTS}=16"
        for name, value in keys.items():
            axes, rt = f'{axes}, ["{name}", [{value}]]', f"{rt},{name}={value}"
        about = {"benchmark": "sort.keys", "ct": "I32", "axes": f"[{axes}]", "rt": rt}
        return [row("base", 16, **about), *confirmed(label, 16, center, **about)]

    def running():
        return _core.policy("sort.keys", I32, "cpu", at(16))

    found = [*rows(x, 5e-4), *rows(y, 5e-4, Distinct=97), *rows(x, 2e-3, Distinct=5)]
    assert cubc.use_policies(write(tmp_path / "s.db", found)) == 1
    assert running() == y
    _core.clear_policies()
    found = [*rows(x, 5e-4), *rows(y, 2e-3, Distinct=97)]
    assert cubc.use_policies(write(tmp_path / "t.db", found)) == 1
    assert running() == x


def test_a_policy_that_a_call_cannot_run_is_said_once():
    """It was found for sums of F32, and these are of F64: a block's do not fit a multiprocessor."""
    label = "ipt_28.tpb_1024.mb_1.ipv_2.ld_1.ept_4.wav_1.lb_1"
    _core.use_policy("segmented_reduce.sum", F32, "cpu", label)
    x, offsets = np.ones(1000, np.float32), np.array([0, 1000])
    with pytest.warns(RuntimeWarning, match=rf"passed over .*{label}: the items of a block do not"):
        assert cubc.segmented_reduce(x, offsets, dtype="float64", device="cpu") == 1000
    for dtype in "float64", "float32":
        assert cubc.segmented_reduce(x, offsets, dtype=dtype, device="cpu") == 1000
