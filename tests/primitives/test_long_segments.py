"""Long segments of one size, which are sorted one after the other."""

import numpy as np
import pytest
from inputs import on, random, same

import cubc
from cubc import _core, _long_segments

SIZE, COUNT = 70_000, 3


@pytest.fixture
def calls(monkeypatch):
    """Names of the algorithms that the module calls."""
    names = []

    def noted(name, fields, **where):
        names.append(name)
        return _core.call(name, fields, **where)

    monkeypatch.setattr(_long_segments, "call", noted)
    return names


def keys(type):
    return random(type, SIZE * COUNT, 3).reshape(COUNT, SIZE)


@pytest.mark.parametrize("type", ["U8", "I32", "F32"])
@pytest.mark.parametrize("descending", [False, True])
def test_rows_are_those_of_numpy(device, type, descending, calls):
    x = keys(type)
    order = np.argsort(x, axis=1, kind="stable")
    if descending:
        order = SIZE - 1 - np.argsort(x[:, ::-1], axis=1, kind="stable")[:, ::-1]
    expected = np.take_along_axis(x, order, 1)
    given = on(device, x)
    same(cubc.sort(given, axis=1, descending=descending), expected)
    same(cubc.argsort(given, axis=1, descending=descending), order)
    flat = given.reshape(-1)
    indices = cubc.segmented_argsort(flat, segment_size=SIZE, descending=descending)
    same(indices, (order + SIZE * np.arange(COUNT)[:, None]).reshape(-1))
    assert calls == ["sort"] * 3 * COUNT


def test_pairs(device, calls):
    x, values = keys("I32"), np.arange(SIZE * COUNT)
    order = np.argsort(x, axis=1, kind="stable")
    places = (order + SIZE * np.arange(COUNT)[:, None]).reshape(-1)
    given = on(device, x.reshape(-1)), on(device, values)
    sorted_keys, moved = cubc.segmented_sort_pairs(*given, segment_size=SIZE)
    same(sorted_keys, x.reshape(-1)[places])
    same(moved, values[places])
    assert set(calls) == {"sort"}


def test_outputs_and_in_place(device, calls):
    x = keys("F32")
    given, out = on(device, x.copy()), on(device, np.zeros_like(x))
    assert cubc.sort(given, axis=1, out=out) is out
    assert cubc.sort(given, axis=1, out=given) is given
    same(out, np.sort(x, axis=1))
    same(given, np.sort(x, axis=1))
    assert set(calls) == {"sort"}


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


def test_a_workspace_is_of_one_call(device, calls):
    """Short segments, too, are sorted at once."""
    x = on(device, keys("I32")[:, :1000].copy())
    same(cubc.sort(x, axis=1), np.sort(keys("I32")[:, :1000], axis=1))
    assert calls == ["segmented_sort"]
