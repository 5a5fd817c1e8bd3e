"""Searches on the cpu: what they leave in the store, and that nothing stops them from resuming."""

import math
import os
import sys

import numpy as np
import pandas as pd
import pytest
import stores
from searches import TIMING, keys, search

from cubc import _core, tuner
from cubc import _progress as progress
from cubc.tuner import _process as process
from cubc.tuner import _search as searching
from cubc.tuner import _session, _workload
from cubc.tuner._strategy import Exhaustive
from cubc.tuner._workload import compile_time_workloads

F32 = {"T{ct}": "F32"}


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


def test_a_result_is_of_rows_as_they_are_stored(db, monkeypatch):
    """They are not read again at the end."""
    times = []
    monkeypatch.setattr(searching, "read", lambda path: times.append(path) or [])
    result = search(db, variants=2, confirm=1)
    assert times == [db]
    frame = tuner.analyze(db).to_frame()
    assert len(frame) >= 3
    pd.testing.assert_frame_equal(result.to_frame(), frame)


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


def test_another_cuda_runtime_is_no_reason_to_measure_again(db, monkeypatch):
    search(db)
    other = stores.write(str(db) + "2", stores.read(db), runtime="99.9")
    monkeypatch.setattr(process, "Process", None)  # it would be needed to measure anything
    assert len(search(other).scores()) == len(keys(other)) == len(keys(db))


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


def test_a_variant_that_another_search_has_just_measured(db, monkeypatch):
    """It is not measured again, and counts as if this one had measured it."""
    asked, told = [], {}

    class Late(Exhaustive):
        def ask(self):
            label = super().ask()
            if label and not asked:
                asked.append(label)
                search(db, strategy="exhaustive", variants=1)
                monkeypatch.setattr(process, "Process", None)  # nothing is left to measure
            return label

        def tell(self, variant, score):
            told[variant] = score

    result = search(db, strategy=Late, variants=1)
    assert len(keys(db)) == len(set(keys(db))) == 2
    assert told[asked[0]] > 0
    assert set(result.scores().variant) == {"base", *asked}


def test_variants_shipped_for_other_sizes_are_tried_early(db):
    """The first of them is the first of the search; base is none of them."""
    axes = {"Elements{io}[pow2]": 16}
    workload = compile_time_workloads("reduce.sum", F32 | axes, "cpu", ())[0]
    (label,) = workload.shipped
    assert label != workload.bases[0]
    assert label in _core.shipped("reduce.sum", F32, "cpu", axes)
    search(db, variants=1)
    assert [r["variant"] for r in stores.read(db)] == ["base", label]


def test_shipped_variants_come_by_their_distance():
    """A row that holds at a place is before those that do not, and the nearer of them first."""

    def shipped(elements):
        return _core.shipped("sort.pairs", {"T{ct}": "I64"}, "sm_90", {"Elements": elements})

    few, many = (
        _core.base("sort.pairs", {"T{ct}": "I64"}, "sm_90", {"Elements": n}) for n in (9, 10**6)
    )
    assert shipped(9).index(few) < shipped(9).index(many)
    assert shipped(10**6).index(many) < shipped(10**6).index(few)
    assert sorted(shipped(9)) == sorted(shipped(10**6))
    assert len(set(shipped(9))) == len(shipped(9)) > 4


def test_exhaustive_strategy_goes_in_order(db):
    search(db, strategy="exhaustive", variants=3)
    measured = [variant for _, variant, _ in keys(db)][1:]
    assert measured == stores.variants(count=3)


@pytest.mark.parametrize(
    ("rule", "samples"),
    [
        ({"stopping": "count", "samples": 7}, 7),
        ({"stopping": "entropy", "max_angle": 90.0, "min_r2": 1e-9, "min_samples": 8}, 8),
        ({"stopping": "stdrel", "max_noise": 1e9, "min_time": 1e-9, "min_samples": 7}, 7),
        ({"stopping": "median", "max_noise": 1e-12, "max_samples": 9}, 9),
    ],
)
def test_stopping_rules(db, rule, samples):
    result = search(db, {"T": "F32", "Elements": 16}, variants=2, timing=rule)
    [group] = result.groups
    counts = {cell.samples for cells in group.cells.values() for cell in cells.values()}
    assert counts == {samples}


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
    search(db, {"T": ["F32", "I64"], "Elements": 16}, variants=None, seconds=1)  # of hours
    # Base of the first is measured in any case; of the second if there is time.
    assert {ct for ct, _, _ in keys(db)} & {"T{ct}=F32", "T{ct}=I64"}


def test_progress(db, capfd):
    search(db, progress=True)
    err = capfd.readouterr().err
    assert "reduce.sum F32" in err
    assert "4/4" in err
    assert "/min" in err
    search(db, variants=5, progress=False)
    search(db, variants=6)
    assert not capfd.readouterr().err


@pytest.mark.parametrize(("budget", "left"), [(None, "10:00"), (90, "1:30"), (9000, "10:00")])
def test_the_time_left_is_the_smaller_one(monkeypatch, budget, left):
    now = 1000.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    bar = progress.Progress(False)
    bar.plan(110, None if budget is None else now + 60 + budget)
    now += 60
    for _ in range(10):
        bar.step(fresh=True, failed=False)
    assert f"{left} left" in bar.text()


def test_a_missing_package_is_named_before_the_search(db, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs tqdm.*pip install \"cubc\[tune\]\""):
        search(db, progress=True)
    assert not keys(db)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"benchmark": "reduce.sun"}, LookupError, r"did you mean reduce\.sum"),
        ({"axes": {"T": "F99"}}, ValueError, r"does not declare F99 .* I8"),
        ({"axes": {"Elements": [22, 1000]}}, ValueError, "expected exponents of two, up to 40, or"),
        ({"axes": {"Elemnts": 16}}, LookupError, "did you mean Elements"),
        ({"axes": {"T": "F31"}}, ValueError, "it declares .*F32"),
        (
            {"axes": {"T": []}},
            ValueError,
            r"no value is given for axis T\{ct\} of .*among I8, .*or",
        ),
        ({"strategy": "best"}, LookupError, "no strategy 'best'"),
        ({"variants": 0}, ValueError, "at least 1"),
        ({"variants": 1.5}, TypeError, "variants is 1.5, must be a whole number"),
        ({"variants": True}, TypeError, "whole number"),
        ({"seconds": -1}, ValueError, "positive"),
        ({"seconds": math.inf}, ValueError, "finite"),
        ({"seconds": "3"}, TypeError, "seconds is '3', must be a number"),
        ({"seed": "a"}, TypeError, "seed is 'a', must be a whole number"),
        ({"timing": {"max_sample": 1}}, LookupError, "did you mean max_samples"),
        ({"timing": {"stopping": "entropie"}}, LookupError, "did you mean entropy"),
        ({"timing": {"stopping": 1}}, TypeError, "stopping is 1, must be one of median, stdrel"),
        ({"timing": {3: 1}}, LookupError, "no option '3'"),
        ({"timing": ["timeout"]}, TypeError, "must be a dict of options"),
        ({"timing": {"min_samples": 2.5}}, TypeError, "min_samples is 2.5"),
        ({"timing": {"min_samples": 0}}, ValueError, "at least 1"),
        ({"timing": {"max_samples": 2**31}}, ValueError, "at most 2147483647"),
        ({"timing": {"timeout": -1}}, ValueError, "timeout is -1, must be positive"),
        ({"timing": {"max_noise": "low"}}, TypeError, "max_noise is 'low'"),
        ({"timing": {"samples": 5}}, ValueError, "no effect with stopping='median': it belongs to"),
        (
            {"timing": {"stopping": "entropy", "max_noise": 0.1}},
            ValueError,
            "stopping='median' or stopping='stdrel'",
        ),
        ({"racing": "false"}, TypeError, "racing is 'false': expected a bool"),
        ({"progress": "no"}, TypeError, "progress is 'no': expected a bool"),
        ({"confirm": 5, "again": 2}, ValueError, "two names of one number: give confirm"),
        ({"confirm": -1}, ValueError, "confirm is -1, must be a whole number of at least 0"),
        ({"timing": {"min_samples": 9, "max_samples": 3}}, ValueError, "9, more than .* 3"),
        ({"benchmark": 3}, TypeError, "3 is neither a benchmark's name"),
        ({"axes": ["T"]}, TypeError, r"axes is \['T'\], must be a dict"),
        ({"axes": {3: 16}}, TypeError, "must be a dict"),
        ({"strategy": 3}, TypeError, "must be one of 'model', "),
        ({"db": 3}, TypeError, "named by a path"),
        ({"db": "a\0b"}, ValueError, "no path of a store"),
        ({"device": "tpu"}, _core.NoDeviceError, "tpu"),
        ({"device": "c\0pu"}, ValueError, "NUL"),
        ({"device": "cuda:x"}, _core.NoDeviceError, "cuda:x"),
        ({"device": 3}, TypeError, "device must be"),
    ],
)
def test_errors_come_before_anything_is_built(db, arguments, error, message):
    arguments = {"benchmark": "reduce.sum", "device": "cpu", "db": db} | arguments
    with pytest.raises(error, match=message):
        tuner.search(**arguments)
    assert not os.path.exists(db)


def test_numbers_of_numpy_are_numbers(db):
    options = {"seed": np.int64(1), "variants": np.int32(2), "seconds": np.float32(9)}
    checked = tuner.Search("reduce.sum", db=db, device="cpu", **options)
    assert (checked.seed, checked.variants, checked.seconds) == (1, 2, 9.0)


def test_an_expression_means_several_benchmarks():
    names = {one.benchmark for one in compile_time_workloads(".*", {"T": "F32"}, "cpu")}
    assert names == {name for name, axes in _core.benchmarks().items() if "F32" in axes["T{ct}"]}
    assert len(names) > 40
    assert {str(one) for one in compile_time_workloads("reduce.s.m", {"T": "F32"}, "cpu")} == {
        "reduce.sum F32"
    }


def test_a_variant_that_does_not_compile_is_a_result(db, monkeypatch):
    compiled = _core.compile
    labels = []

    def some_fail(benchmark, ct, arch, variant, *more):
        if variant != "base":
            labels.append(variant)
            if len(labels) == 2:
                raise TimeoutError("past its deadline")
            if len(labels) == 3:
                error = _core.CompileError("does not compile")
                error.log = "kernel.cu:1: error: no"
                raise error
        return compiled(benchmark, ct, arch, variant, *more)

    monkeypatch.setattr(_workload, "_core", FakeCore(some_fail))
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
    def fails(benchmark, ct, arch, variant, *more):
        if variant == "base" and ct["T{ct}"] == ct_value:
            raise _core.CompileError("reduce.cu:7: error: base is broken")
        return _core.compile(benchmark, ct, arch, variant, *more)

    return FakeCore(fails)


def test_a_base_that_does_not_compile_stops_with_the_log(db, monkeypatch):
    monkeypatch.setattr(_workload, "_core", base_fails("F32"))
    with pytest.raises(tuner.BaseFailed, match=r"(?s)reduce\.sum F32.*base is broken"):
        search(db)
    assert not keys(db)


def test_the_other_workloads_are_still_searched(db, monkeypatch):
    monkeypatch.setattr(_workload, "_core", base_fails("F32"))
    with pytest.warns(RuntimeWarning, match="base is broken"):
        result = search(db, {"T": ["F32", "I64"], "Elements": 16}, variants=1)
    assert set(result.failed) == {"reduce.sum F32"}
    assert {ct for ct, _, _ in keys(db)} == {"T{ct}=I64"}


def test_rows_that_cannot_be_used_do_not_stop_a_search(db):
    """They stay in the store under their keys; what they say does not count."""
    [first, second] = stores.variants(count=2)
    bad = stores.row(first, 16) | {"status": "bogus"}
    stores.write(db, [stores.row("base", 16, message=_core.base("reduce.sum", F32, "cpu")), bad])
    with pytest.warns(
        RuntimeWarning, match="1 of its rows left out; .*'bogus' is no status"
    ) as all:
        result = search(db, strategy="exhaustive", variants=2)
    assert len(all) == 1
    assert set(result.scores().variant) == {"base", second}


def test_a_store_against_another_base_is_refused(db):
    search(db, variants=1)
    other = str(db) + "2"
    for r in stores.read(db):
        if r["variant"] == "base":
            r["message"] = "ipt_1.tpb_1"
        stores.write(other, [r])
    with pytest.raises(ValueError, match="another base"):
        search(other, variants=2)


def test_a_search_at_any_place(db):
    """Off powers of two, and with segments of a length that nobody declared."""
    axes = {"T": "F32", "Elements": 5000, "SegmentSize": [37, 900]}
    options = {"db": db, "device": "cpu", "variants": 2, "confirm": 0, "timing": TIMING}
    result = tuner.search("segmented_reduce.sum", axes, progress=False, **options)
    [group] = result.groups
    assert set(group.rts) == {f"SegmentSize={n},Elements{{io}}=5000" for n in (37, 900)}
    assert not result.failed and all(len(cells) == 2 for cells in group.cells.values())
    assert tuner.search("segmented_reduce.sum", axes, progress=False, **options).groups
    frame = tuner.analyze(db).to_frame()
    assert set(frame.SegmentSize) == {37, 900} and set(frame.Elements) == {5000}


def test_a_file_system_without_a_log_is_told_of_once(recwarn):
    _session.warn_if_slow("with.db", has_log=True)
    assert not recwarn
    with pytest.warns(
        RuntimeWarning, match=r"without\.db lies on a file system without .*cubc merge"
    ):
        _session.warn_if_slow("without.db", has_log=False)
    recwarn.clear()
    _session.warn_if_slow("without.db", has_log=False)
    assert not recwarn
