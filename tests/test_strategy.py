"""Strategies and the numbered space under them: each valid variant once, in a seeded order."""

import math
import random
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cubc import _core
from cubc.tuner.space import Space, parse_label
from cubc.tuner.strategy import STRATEGIES, make, permutation

CT = {"T{ct}": "F32"}


@pytest.fixture
def space():
    return Space("scan.exclusive.sum", CT, "cpu")


def asked(strategy):
    return list(iter(strategy.ask, None))


@given(st.integers(0, 300), st.integers(0, 2**32))
def test_permutation_has_each_number_once(n, seed):
    assert sorted(permutation(n, random.Random(seed))) == list(range(n))


def test_permutation_is_uniform():
    rng = random.Random(7)
    counts = {}
    for _ in range(6000):
        order = tuple(permutation(3, rng))
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    assert all(abs(count - 1000) < 5 * math.sqrt(1000) for count in counts.values())


def test_permutation_of_a_huge_space_is_not_stored():
    first = list(islice(permutation(10**12, random.Random(0)), 1000))
    assert len(set(first)) == 1000


def test_labels_are_those_of_the_space(space):
    labels = [space.label(index) for index in range(min(space.size, 5000))]
    assert len(set(labels)) == len(labels)
    values = [range(p[2], p[3] + 1, p[4]) for p in _core.parameters("scan.exclusive.sum", "cpu")]
    assert space.size == math.prod(map(len, values))
    for label in (labels[0], labels[-1]):
        found = parse_label(label)
        assert list(found) == [p[1] for p in _core.parameters("scan.exclusive.sum", "cpu")]
        assert all(v in r for v, r in zip(found.values(), values, strict=True))


def test_a_huge_space_is_counted_by_sample(space, monkeypatch):
    exact = space.count()
    monkeypatch.setattr("cubc.tuner.space.COUNTED", 0)
    assert space.count() == pytest.approx(exact, rel=0.1)


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_each_valid_variant_once(name, space):
    labels = asked(STRATEGIES[name](space, 3))
    valid = {label for label in map(space.label, range(space.size)) if space.valid(label)}
    assert len(labels) == len(valid) == space.count()
    assert set(labels) == valid


def test_the_seed_decides_the_order(space):
    first, again, other = (asked(STRATEGIES["random"](space, seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_unknown_strategy():
    with pytest.raises(LookupError, match="did you mean random"):
        make("randon")
    with pytest.raises(TypeError, match="must be 'exhaustive' or 'random', or a callable"):
        make(["random"])


@pytest.mark.parametrize(
    "label",
    ["", "ipt", "ipt_", "ipt_1;system", "ipt_1.", ".ipt_1", "ipt_1..tpb_2", "ipt_-1", "ipt_1 ",
     "ipt_1\n", "-DX_1", "ipt_1=2", "ipt_" + "9" * 30, "ipt_\u0661"],
)  # fmt: skip
def test_hostile_labels(label):
    with pytest.raises(ValueError, match="is no variant"):
        parse_label(label)
