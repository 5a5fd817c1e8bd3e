"""permutation and shuffle: orders that a seed decides."""

import numpy as np
import pytest
from inputs import on, same

import cubc


def test_permutations(device):
    x = np.arange(600, dtype=np.int32).reshape(300, 2)
    made = np.asarray(cubc.permutation(on(device, x), seed=3))
    assert (np.sort(made[:, 0]) == x[:, 0]).all()
    assert (made[:, 1] == made[:, 0] + 1).all()
    assert (made != x).any()
    same(cubc.permutation(on(device, x), seed=3), made)
    assert (np.asarray(cubc.permutation(on(device, x))) != made).any()
    same(cubc.sort(cubc.permutation(300, device=device)), np.arange(300))
    with pytest.raises(ValueError, match="a first axis"):
        cubc.permutation(np.float32(1))


def test_no_seed_leaves_the_first_item_in_its_place():
    """The seed 0 has a number at the place 0 as others have, which is not the smallest of all."""
    firsts = [int(cubc.permutation(64, seed=seed, device="cpu")[0]) for seed in range(40)]
    assert firsts[0] != 0
    assert firsts.count(0) < 4


def test_shuffles(device):
    x = np.arange(600, dtype=np.int32).reshape(300, 2)
    made = on(device, x.copy())
    assert cubc.shuffle(made, seed=3) is None
    same(made, cubc.permutation(x, seed=3))
    point = np.zeros(99, np.dtype([("k", "i4"), ("w", "f8")], align=True))
    point["k"] = np.arange(99)
    made = on(device, point.copy())
    cubc.shuffle(made)
    assert sorted(np.asarray(made)["k"].tolist()) == list(range(99))
    cubc.shuffle(on(device, x[:0].copy()))


def test_a_shuffle_of_an_array_with_strides():
    whole = np.arange(60.0).reshape(20, 3)
    column = whole[:, 1]
    cubc.shuffle(column, seed=1)
    same(np.sort(column), np.arange(1.0, 60, 3))
    same(whole[:, 0], np.arange(0.0, 60, 3))


@pytest.mark.parametrize("x", [[1, 2], 3, np.float32(1), cubc.lazy("i", size=3)])
def test_what_cannot_be_shuffled_in_place(x):
    with pytest.raises(TypeError, match=r"^shuffle.*permutation.. makes a copy"):
        cubc.shuffle(x)


def test_a_shuffle_of_a_read_only_array():
    x = np.arange(3)
    x.flags.writeable = False
    with pytest.raises(ValueError, match=r"^shuffle.*read-only"):
        cubc.shuffle(x)
