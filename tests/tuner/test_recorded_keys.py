"""Sketches of keys in recordings, and benchmarks whose keys are made like them."""

import ctypes

import numpy as np
import pytest
from searches import TIMING

import cubc
from cubc import _core, tuner
from cubc.tuner._recorded_calls import read as read_calls
from cubc.tuner._recorded_calls import workloads

N = 1 << 16
KEYS = ("Distinct", "KeyBits", "Run", "Sorted")


@pytest.fixture
def db(tmp_path):
    yield tmp_path / "work.db"
    _core.forget_recording()
    cubc.clear_policies()


def sketch(db, call, *arguments, **options):
    """Axes that are recorded of the keys of a call; other calls that it makes have none."""
    options = {"device": "cpu"} | options
    with tuner.record(db, keys=True):
        call(*arguments, **options)
    found = [one.place for one in read_calls(db)]
    [keys] = [place for place in found if "Distinct" in place] or [{}]
    return {name: value for name, value in keys.items() if name in KEYS}


def few(seed=1, count=97):
    return np.random.default_rng(seed).integers(0, count, N).astype(np.int32)


def test_no_key_is_looked_at_unless_it_is_asked_for(db):
    with tuner.record(db):
        cubc.sort(few(), device="cpu")
    assert tuner.recorded(db)["shape"].tolist() == [f"Elements={N}"]


def test_few_keys(db, device):
    x = cubc.asarray(few(), device=device)
    found = sketch(db, cubc.sort, x, device=device)
    assert found == {"Distinct": 128, "KeyBits": 7, "Run": 1}


def test_random_keys(db):
    x = np.random.default_rng(1).integers(-(2**31), 2**31, N).astype(np.int32)
    assert sketch(db, cubc.sort, x) == {"Distinct": N, "KeyBits": 32, "Run": 1}


def test_sorted_keys(db):
    found = sketch(db, cubc.sort, np.arange(N, dtype=np.uint32))
    assert found == {"Distinct": N, "KeyBits": 16, "Run": 1, "Sorted": 100}


def test_falling_keys(db):
    assert "Sorted" not in sketch(db, cubc.sort, np.arange(N, 0, -1, dtype=np.uint32))


def test_keys_that_are_nearly_sorted(db):
    x, some = np.arange(N), np.random.default_rng(1).choice(N, N // 5, replace=False)
    x[some] = x[some[::-1]]
    assert 70 <= sketch(db, cubc.sort, x)["Sorted"] <= 90


def test_runs_of_floats(db):
    x = np.repeat(np.random.default_rng(1).random(N // 32), 32)
    assert sketch(db, cubc.run_length_encode, x) == {"Distinct": N // 32, "Run": 32}


def test_neighbours_that_are_equal(db):
    x = np.repeat(np.random.default_rng(1).random(N // 8), 8)
    assert sketch(db, cubc.unique_consecutive, x) == {"Distinct": N // 8, "Run": 8}
    assert _core.key_axes("select.if") == () != _core.key_axes("select.unique")


def test_equal_keys(db):
    found = sketch(db, cubc.sort, np.zeros(N, np.int64))
    assert found == {"Distinct": 1, "KeyBits": 1, "Run": 4096}  # as far as a sample can tell


def test_a_histogram_goes_by_no_bits(db):
    found = sketch(db, cubc.histogram, few(count=5).astype(np.uint8), 256)
    assert found == {"Distinct": 5, "Run": 1}


@pytest.mark.parametrize("x", [np.arange(2), np.arange(3, dtype=np.float16), np.ones(4097, bool)])
def test_few_items_and_other_types(db, x):
    assert "Distinct" in sketch(db, cubc.sort, x)


def test_what_has_no_keys_of_its_own(db):
    assert sketch(db, cubc.reduce, np.arange(N)) == {}


def test_calls_between_two_sketches_are_like_the_first(db):
    keys = [few(), np.arange(N, dtype=np.int32), few(), few()]
    with tuner.record(db, keys=True):
        for x in keys:  # the third has no sketch
            cubc.sort(x, device="cpu")
    found = {one.place.get("Sorted", 0): one.calls for one in read_calls(db)}
    assert found == {0: 2, 100: 2}


# ---- keys that are made --------------------------------------------------------------------------
def made(benchmark, type, **keys):
    """First input of a benchmark."""
    dtype = {"I32": np.int32, "U64": np.uint64, "F32": np.float32}[type]
    workload = _core.Workload(benchmark, {"T{ct}": type}, {"Elements": N} | keys, "cpu")
    pointer = ctypes.cast(workload.pointers[0][0], ctypes.POINTER(ctypes.c_uint8))
    return np.ctypeslib.as_array(pointer, (N * np.dtype(dtype).itemsize,)).view(dtype).copy()


@pytest.mark.parametrize("type", ["I32", "U64", "F32"])
def test_distinct_keys_are_made(type):
    x = made("sort.keys", type, Distinct=97)
    assert len(np.unique(x)) == 97 and (np.diff(x) != 0).mean() > 0.9


@pytest.mark.parametrize("type", ["I32", "U64", "F32"])
def test_sorted_keys_are_made(type):
    x = made("sort.keys", type, Distinct=1000, Sorted=100)
    assert len(np.unique(x)) == 1000 and (np.diff(x.astype(np.float64)) >= 0).all()


def test_bits_and_runs_are_made():
    x = made("runs.encode", "I32", Distinct=64, KeyBits=6, Run=16)
    assert x.min() == 0 and x.max() == 63
    assert (x.reshape(-1, 16) == x[::16, None]).all()


def test_a_sketch_of_what_is_made_is_what_it_was_made_from(db):
    keys = {"Distinct": 2048, "KeyBits": 12, "Run": 4, "Sorted": 100}
    assert sketch(db, cubc.sort, made("sort.keys", "I32", **keys)) == keys | {"Run": 32}
    with pytest.raises(ValueError, match="no run-time axis Distinct"):
        _core.Workload("reduce.sum", {"T{ct}": "I32"}, {"Distinct": 5}, "cpu")


def test_a_search_makes_such_keys(db):
    sketch(db, cubc.sort, few())
    [(one, _)] = workloads(read_calls(db), "cpu", ())
    rt = {"Elements{io}": N, "Distinct": 128, "KeyBits": 7, "Run": 1}
    assert one.rts == [rt]
    result = tuner.search(db, variants=2, confirm=0, progress=False, timing=TIMING)
    [group] = result.groups
    assert group.workloads == [rt] and group.current
    label = next(v for v in group.cells if v != "base")
    _core.use_policy("sort.keys", {"T{ct}": "I32"}, "cpu", label, rt)  # for all keys
    assert _core.policy("sort.keys", {"T{ct}": "I32"}, "cpu", {"Elements": N}) == label


def test_keys_are_axes_of_a_search(tmp_path):
    db = tmp_path / "s.db"
    axes = {"T": "I32", "Elements": [16], "Distinct": [5, 97]}
    options = {"variants": 2, "confirm": 0, "progress": False, "timing": TIMING}
    result = tuner.search("sort.keys", axes, db=db, **options)
    [group] = result.groups
    assert [rt["Distinct"] for rt in group.workloads] == [5, 97]
    with pytest.raises(LookupError, match="no axis 'Distinct'"):
        tuner.search("reduce.sum", {"Distinct": 5}, db=db)
