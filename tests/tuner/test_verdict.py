"""Verdicts on rounds: what is the same is rarely called different, and what differs is found."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import special

from cubc.tuner import _verdict as verdict
from cubc.tuner._student import quantile
from cubc.tuner._verdict import FASTER, SAME, SLOWER, UNDECIDED, judge, round_ratio

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def errors():
    """The simulation that the error rates in benchmarks/notes/verdicts.md come from."""
    path = BENCHMARKS / "verdict_errors.py"
    spec = importlib.util.spec_from_file_location("verdict_errors", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("degrees", [1, 2.5, 7, 31, 1000.5, math.inf])
def test_quantiles_of_student_s_t(degrees):
    for tail in (0.4, 0.025, 1e-3, 1e-9):
        expected = -special.stdtrit(degrees, tail)
        assert quantile(degrees, tail) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("way", ["search", "live", "stores"])
@pytest.mark.parametrize("difference", [0.0, 0.005, 0.01, 0.02])
def test_a_drift_makes_no_false_verdict(errors, way, difference):
    """A change of 2 %, with noise that lasts: lag-1 correlation 0.9. Two of 200 are 1 %."""
    machine = errors.Machine(7)
    for openings in (0.002, 0.015):
        assert errors.false_share(machine, way, 200, difference, openings) <= 0.01


def test_two_percent_are_found_under_a_drift(errors):
    for way in ("search", "live"):
        found = errors.words(errors.Machine(8), way, 100, 0.02, 0.005)
        assert found[FASTER] >= 98
        assert errors.words(errors.Machine(8), way, 100, -0.02, 0.005)[SLOWER] >= 98
    assert errors.words(errors.Machine(8), "stores", 100, 0.2, 0.005)[FASTER] >= 90


def trials(planted, spread, count=400, seed=0):
    """Words that as many trials end with, looking as a search does."""
    rng = np.random.default_rng(seed)
    for ratios in planted * np.exp(rng.normal(0, spread, (count, verdict.MOST_ROUNDS))):
        looks = range(verdict.LEAST_ROUNDS, verdict.MOST_ROUNDS + 1, verdict.MORE_ROUNDS)
        found = (judge(ratios[:rounds]) for rounds in looks)
        yield next((v.word for v in found if v.decided), UNDECIDED)


@pytest.mark.parametrize("spread", [0.001, 0.005, 0.015, 0.03])
def test_the_same_is_called_different_in_one_of_a_hundred_trials_at_most(spread):
    words = [*trials(1.0, spread)]
    assert sum(word in (FASTER, SLOWER) for word in words) <= 4


@pytest.mark.parametrize("spread", [0.001, 0.005, 0.015, 0.03])
def test_one_percent_is_not_called_the_same(spread):
    """A difference that was not found is none that is not there: 0.015 is 2^16 on an H200."""
    for planted in (1.01, 1 / 1.01):
        assert sum(word == SAME for word in trials(planted, spread)) <= 4


@pytest.mark.parametrize("planted, word", [(1.02, FASTER), (1 / 1.02, SLOWER)])
@pytest.mark.parametrize("spread", [0.001, 0.005, 0.015])
def test_two_percent_are_found(planted, word, spread):
    assert sum(found == word for found in trials(planted, spread)) >= 380


def test_a_difference_below_the_threshold_is_none():
    assert judge([1.003, 1.0031] * 8).word == SAME
    assert judge([1.003, 1.0031] * 8).decided
    assert judge([1.003, 1.0031] * 8, threshold=0.002).word == FASTER
    assert judge([0.997, 0.9969] * 8, threshold=0.002).word == SLOWER


def test_interval_is_students():
    found = judge([1.01, 1.03], confidence=0.95)
    logs = np.log([1.01, 1.03])
    width = 12.706204736 * logs.std(ddof=1) / math.sqrt(2)  # t of 0.975 with 1 degree of freedom
    assert found.ratio == pytest.approx(math.exp(logs.mean()))
    assert found.low == pytest.approx(math.exp(logs.mean() - width))
    assert found.high == pytest.approx(math.exp(logs.mean() + width))
    assert found.rounds == 2 and not found.decided


def test_one_round_decides_nothing():
    found = judge([1.5])
    assert (found.word, found.low, found.high) == (UNDECIDED, 0.0, math.inf)
    assert str(found) == "UNDECIDED 1.500 [0.000, inf]"


def test_a_round_has_drift_and_outliers():
    drift = np.linspace(1, 2, 50)
    base, variant = 3e-6 * drift, 2e-6 * drift
    variant[7] *= 40
    assert round_ratio(variant, base) == pytest.approx(1.5)
    assert round_ratio(base, variant) == pytest.approx(1 / 1.5)
    assert round_ratio([2e-6], [3e-6]) == pytest.approx(1.5)


def test_a_time_that_jumps_between_two_values_does_not_make_the_ratio_jump():
    low, high = np.full(99, 5.0), np.full(99, 5.2)
    half = np.where(np.arange(99) < 49, low, high), np.where(np.arange(99) < 50, low, high)
    assert np.median(half[0]) / np.median(half[1]) == pytest.approx(1.04)
    shuffled = np.random.default_rng(0).permutation
    assert abs(round_ratio(shuffled(half[0]), shuffled(half[1])) - 1) < 0.015
