"""The score against values worked out by hand from CUB's definition."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cubc.tuner._axes import Axis
from cubc.tuner._score import importance, score, weight

ELEMENTS = Axis("Elements{io}[pow2]", (16, 20, 24, 28))
ENTROPY = Axis("Entropy", (0, 1))


def at(*elements):
    return [{ELEMENTS.name: e} for e in elements]


@pytest.mark.parametrize(
    ("n", "weights"),
    [
        (1, [0.6]),
        (2, [0.6, 0.98]),
        (4, [0.6, 0.91056, 0.98, 0.99553]),
        (5, [0.6, 0.87932, 0.96359, 0.98901, 0.99668]),
    ],
)
def test_importance(n, weights):
    assert importance(n) == pytest.approx(weights, abs=1e-5)


@given(st.integers(1, 64))
def test_importance_closed_form(n):
    closed = [1 - 0.4 * 400 ** (-k / n) for k in range(n)]
    assert importance(n) == pytest.approx(closed, rel=1e-12)


def test_normalised_shares():
    weights = [weight([ELEMENTS], w) for w in at(16, 20, 24, 28)]
    shares = [w / sum(weights) for w in weights]
    assert shares == pytest.approx([0.172, 0.261, 0.281, 0.286], abs=5e-4)


def test_score_by_hand():
    # (0.6 * 2 + 0.91056 + 0.98 + 0.99553) / 3.48609
    speedups = zip(at(16, 20, 24, 28), [2, 1, 1, 1], strict=True)
    assert score([ELEMENTS], speedups) == pytest.approx(1.172113, abs=1e-6)


def test_weights_come_from_the_declared_axis():
    # Restricted to 24 and 28 the weights stay 0.98 and 0.99553 (CCCL pull request 11225), where
    # weights from the present values would be 0.6 and 0.98.
    speedups = zip(at(24, 28), [0.5, 1.5], strict=True)
    expected = (0.98 * 0.5 + 0.9955279 * 1.5) / (0.98 + 0.9955279)
    assert score([ELEMENTS], speedups) == pytest.approx(expected, abs=1e-6)


def test_weights_multiply_and_plain_axes_weigh_one():
    other = Axis("Segments{io}[pow2]", (1, 2))
    workload = {ELEMENTS.name: 20, other.name: 2, ENTROPY.name: 1}
    assert weight([ELEMENTS, other, ENTROPY], workload) == pytest.approx(0.91056 * 0.98, abs=1e-5)


@given(st.sets(st.sampled_from(ELEMENTS.values), min_size=1))
def test_equal_to_base_scores_one_whatever_is_left_out(present):
    assert score([ELEMENTS], [(w, 1.0) for w in at(*present)]) == pytest.approx(1.0, rel=1e-12)


@given(st.lists(st.floats(0.01, 100), min_size=4, max_size=4))
def test_score_lies_between_its_speedups(speedups):
    found = score([ELEMENTS], zip(at(16, 20, 24, 28), speedups, strict=True))
    assert min(speedups) * (1 - 1e-12) <= found <= max(speedups) * (1 + 1e-12)


@pytest.mark.parametrize("bad", [math.inf, math.nan, 0.0, -1.0])
def test_no_score_of_what_is_no_speedup(bad):
    with pytest.raises(ValueError, match="positive"):
        score([ELEMENTS], [(at(16)[0], bad)])


def test_no_score_of_nothing():
    with pytest.raises(ValueError, match="measured"):
        score([ELEMENTS], [])
