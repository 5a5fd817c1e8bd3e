"""Long segments of one size, which the core sorts one after the other."""

from contextlib import contextmanager

import numpy as np
import pytest
from inputs import on, random, same

import cubc
from cubc import tuner

SIZE, COUNT = 70_000, 3


@pytest.fixture
def noted(tmp_path):
    """Context in which calls are noted; it yields a dict that has each benchmark's count then."""

    @contextmanager
    def noting():
        counts = {}
        with tuner.record(tmp_path / "store.db"):
            yield counts
        found = tuner.recorded(tmp_path / "store.db")
        for benchmark, calls in zip(found["benchmark"], found["calls"], strict=True):
            family = benchmark.split(".")[0]
            counts[family] = counts.get(family, 0) + calls

    return noting


def keys(type):
    return random(type, SIZE * COUNT, 3).reshape(COUNT, SIZE)


@pytest.mark.some
@pytest.mark.parametrize("type", ["U8", "I32", "F32"])
@pytest.mark.parametrize("descending", [False, True])
def test_rows_are_those_of_numpy(device, type, descending, noted):
    x = keys(type)
    order = np.argsort(x, axis=1, kind="stable")
    if descending:
        order = SIZE - 1 - np.argsort(x[:, ::-1], axis=1, kind="stable")[:, ::-1]
    expected = np.take_along_axis(x, order, 1)
    given = on(device, x)
    with noted() as counts:
        rows = cubc.sort(given, axis=1, descending=descending)
        places = cubc.argsort(given, axis=1, descending=descending)
    same(rows, expected)
    same(places, order)
    assert counts == {"sort": 2 * COUNT}


@pytest.mark.parametrize("descending", [False, True])
def test_indices_count_from_the_beginning_of_the_array(device, descending, noted):
    x = keys("I32")
    sign = -1 if descending else 1
    order = np.argsort(sign * x.astype("i8"), axis=1, kind="stable")
    given = on(device, x.reshape(-1))
    with noted() as counts:
        found = cubc.segmented_argsort(given, segment_size=SIZE, descending=descending)
    same(found, (order + SIZE * np.arange(COUNT)[:, None]).reshape(-1))
    assert counts == {"sort": COUNT, "transform": COUNT - 1}


def test_pairs(device, noted):
    x, values = keys("I32"), np.arange(SIZE * COUNT)
    order = np.argsort(x, axis=1, kind="stable")
    places = (order + SIZE * np.arange(COUNT)[:, None]).reshape(-1)
    given = on(device, x.reshape(-1)), on(device, values)
    with noted() as counts:
        sorted_keys, moved = cubc.segmented_sort_pairs(*given, segment_size=SIZE)
    same(sorted_keys, x.reshape(-1)[places])
    same(moved, values[places])
    assert counts == {"sort": COUNT}


def test_outputs_and_in_place(device, noted):
    x = keys("F32")
    given, out = on(device, x.copy()), on(device, np.zeros_like(x))
    with noted() as counts:
        assert cubc.sort(given, axis=1, out=out) is out
        assert cubc.sort(given, axis=1, out=given) is given
    same(out, np.sort(x, axis=1))
    same(given, np.sort(x, axis=1))
    assert counts == {"sort": 2 * COUNT}


def test_a_workspace_serves_one_segment_after_the_other(device, noted):
    x = keys("I32")
    given, room = on(device, x.reshape(-1)), np.full(1 << 18, 0xFF, np.uint64)
    first = -room.ctypes.data % 256 // 8
    workspace = on(device, room[first:] if device == "cpu" else room)
    with noted() as counts:
        made = cubc.segmented_sort(given, segment_size=SIZE, workspace=workspace)
    same(made, np.sort(x, axis=1).reshape(-1))
    assert counts == {"sort": COUNT}
    if device == "cpu":  # 8 bytes are enough on a GPU
        with pytest.raises(ValueError, match="the workspace has 8 bytes"):
            cubc.segmented_sort(given, segment_size=SIZE, workspace=workspace[:1])


def test_bound_calls_sort_them_so(device):
    x = keys("I32")
    given, out = on(device, np.zeros(x.size, "i4")), on(device, np.zeros(x.size, "i8"))
    if device == "cpu":
        given, out = cubc.asarray(given, device="cpu"), cubc.asarray(out, device="cpu")
    bound = cubc.bind(cubc.segmented_argsort, given, segment_size=SIZE, out=out)
    cubc.transform("x", x=cubc.asarray(x.reshape(-1), device=given.device), out=given)
    bound()
    order = np.argsort(x, axis=1, kind="stable")
    same(out, (order + SIZE * np.arange(COUNT)[:, None]).reshape(-1))


@pytest.mark.parametrize("shift", [1, SIZE, 2 * SIZE])
def test_an_overlap_is_refused(device, shift):
    """Also one that no segment has with itself."""
    room = on(device, np.zeros((COUNT + 2) * SIZE, "i4"))
    x, out = room[: COUNT * SIZE], room[shift : COUNT * SIZE + shift]
    with pytest.raises(ValueError, match="overlap"):
        cubc.segmented_sort(x, segment_size=SIZE, out=out)


def test_errors_are_those_of_one_call(device):
    x = on(device, keys("I32"))
    with pytest.raises(ValueError, match="shape"):
        cubc.sort(x, axis=1, out=on(device, np.zeros(5, "i4")))
    with pytest.raises(TypeError, match="out"):
        cubc.sort(x, axis=1, out=on(device, np.zeros((COUNT, SIZE), "f8")))


def test_short_segments_are_sorted_at_once(device, noted):
    x = keys("I32")[:, :1000].copy()
    with noted() as counts:
        found = cubc.segmented_sort(on(device, x.reshape(-1)), segment_size=1000)
    same(found, np.sort(x, axis=1).reshape(-1))
    assert counts == {"segmented_sort": 1}
