"""Parts of the tests: each test is in one of them, with all its cases."""

from types import SimpleNamespace

import pytest
from turns import not_in_turn


class Item(SimpleNamespace):
    __hash__ = object.__hash__


@pytest.mark.parametrize("parts", [1, 3, 4])
def test_each_test_is_in_one_part(parts):
    names = [f"test_{k}" for k in range(10)]
    all_ = [Item(originalname=name, name=f"{name}[{k}]", parent="") for name in names for k in "ab"]
    run = [set(all_) - not_in_turn(all_, f"{k + 1}/{parts}") for k in range(parts)]
    assert set().union(*run) == set(all_)
    assert sum(map(len, run)) == len(all_)
    of_tests = [{item.originalname for item in part} for part in run]
    assert sum(map(len, of_tests)) == 10
    assert max(map(len, of_tests)) - min(map(len, of_tests)) <= 1


@pytest.mark.parametrize("turn", ["0/3", "4/3", "2", "a/b", "2/-3", ""])
def test_what_is_no_part(turn):
    with pytest.raises(pytest.UsageError, match=f"CUBC_TURN={turn}: k/n runs the k-th of n parts"):
        not_in_turn([], turn)
