"""Strategies and the numbered space under them: what holds for each, and how good they are."""

import math
import random
import time
from collections import deque
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
import tables
from hypothesis import given, settings
from hypothesis import strategies as st

from cubc import _core
from cubc.tuner._replay import TableSpace, read_table, replay
from cubc.tuner._space import Space, parse_label, permutation
from cubc.tuner._strategy import STRATEGIES, make, warmed
from cubc.tuner._strategy.points import PointStrategy
from cubc.tuner._strategy.warm import recommendations

CT = {"T{ct}": "F32"}
NAMES = sorted(STRATEGIES)
SMALL = {"tpb": range(32, 257, 32), "ipt": (1, 2, 4), "ld": range(3)}
MEASURED = Path(__file__).resolve().parents[3] / "shared/data/spaces"


@pytest.fixture
def space():
    return Space("scan.exclusive.sum", CT, "cpu")


def asked(strategy):
    return list(iter(strategy.ask, None))


def searched(name, space, outcome, ahead=1, seed=0, budget=10**9):
    """All variants in the order in which they were named, each told `ahead` asks later."""
    strategy = make(name)(space, seed)
    asks = islice(iter(strategy.ask, None), budget)
    waiting, named = deque(islice(asks, ahead)), []
    while waiting:
        named.append(waiting.popleft())
        strategy.tell(named[-1], outcome(named[-1]))
        waiting.extend(islice(asks, 1))
    return named


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
    values = [p[2] for p in _core.parameters("scan.exclusive.sum", "cpu")]
    assert space.size == math.prod(map(len, values))
    for label in (labels[0], labels[-1]):
        found = parse_label(label)
        assert list(found) == [p[1] for p in _core.parameters("scan.exclusive.sum", "cpu")]
        assert all(v in r for v, r in zip(found.values(), values, strict=True))


def test_a_huge_space_is_counted_by_sample(space, monkeypatch):
    exact = space.count()
    monkeypatch.setattr("cubc.tuner._space.COUNTED", 0)
    assert space.count() == pytest.approx(exact, rel=0.1)


@pytest.mark.parametrize("name", NAMES)
def test_each_valid_variant_once(name, space):
    labels = asked(STRATEGIES[name](space, 3))
    valid = {label for label in map(space.label, range(space.size)) if space.valid(label)}
    assert len(labels) == len(valid) == space.count()
    assert set(labels) == valid


@st.composite
def spaces(draw):
    """Small tables with holes, failures and slow variants."""
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    start = draw(st.integers(0, 1))
    ranges = {f"p{at}": range(start, start + length) for at, length in enumerate(lengths)}
    rng = draw(st.randoms(use_true_random=False))
    holes, failures = draw(st.sampled_from([0, 0.5, 0.9])), draw(st.sampled_from([0, 0.3, 1]))
    whole = tables.table(lambda p: None if rng.random() < failures else rng.uniform(0.1, 9), ranges)
    kept = {label: time for label, time in whole.times.items() if rng.random() >= holes}
    return TableSpace(kept or dict([*whole.times.items()][:1]))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(space=spaces(), seed=st.integers(0, 9), ahead=st.sampled_from([1, 8, 64]))
def test_a_search_names_each_valid_variant_once_and_repeats_itself(name, space, seed, ahead):
    labels = searched(name, space, space.score, ahead, seed)
    assert sorted(labels) == sorted(space.times)
    assert labels == searched(name, space, space.score, ahead, seed)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ahead", [1, 64])
def test_a_space_that_always_fails_is_searched_to_its_end(name, ahead):
    space = tables.table(lambda p: None, SMALL)
    assert len(searched(name, space, space.score, ahead)) == space.count()


@pytest.mark.parametrize("name", NAMES)
def test_a_space_of_one_point(name):
    assert searched(name, TableSpace({"a_1": 2.0}), lambda label: 1.0) == ["a_1"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_never_told_does_not_stop_a_search(name):
    space = tables.table(tables.interacting, SMALL | dict.fromkeys(("vec", "ord", "pad"), (1,)))
    strategy = STRATEGIES[name](space, 0)
    labels = [label for at in range(30) if (label := strategy.ask()) or at]
    assert len(set(labels)) == 30


@pytest.mark.parametrize("name", NAMES)
def test_what_is_told_without_being_asked_is_not_named(name):
    space = tables.table(lambda p: 1.0, SMALL)
    strategy, known = STRATEGIES[name](space, 0), list(space.times)[::2]
    strategy.tell("of_0.elsewhere_7", 2.0)
    for label in known:
        strategy.tell(label, 1.5)
    assert sorted(asked(strategy)) == sorted(set(space.times) - set(known))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "exhaustive"])
def test_the_seed_decides_the_order(name):
    space = tables.table(tables.additive)
    orders = [searched(name, space, space.score, 4, seed, 60) for seed in (1, 1, 2, -2)]
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]
    assert set(orders[3]) <= set(space.times)


@pytest.mark.some(1)
@pytest.mark.parametrize("name", ["model", "annealing", "genetic"])
def test_a_huge_space_is_never_listed(name):
    ranges = {f"p{at}": range(1000) for at in range(20)}  # 10**60 points

    class Huge(TableSpace):
        numbers = Space.numbers

        def valid(self, label):
            return True

    space = Huge({"a_1": 1.0})
    space.ranges, space.size = ranges, 10**60

    def score(label):
        return 1 / (1 + sum(parse_label(label).values()))

    labels = searched(name, space, score, 8, budget=60)
    assert len(set(labels)) == 60
    assert max(map(score, labels[30:])) > max(map(score, labels[:30]))


def curves(name, space, share, seeds):
    """Speed of the best variant after each step through a share of a space, for each seed."""
    budget = int(share * space.count())
    replays = (replay(STRATEGIES[name], space, budget, seed, ahead=4) for seed in range(seeds))
    return [[space.best / seconds for seconds in curve] for curve in replays]


made_up_table = cache(tables.table)


@cache
def made_up(name, structure):
    """The same for 5 % of a made-up space, which two tests ask for."""
    return curves(name, made_up_table(structure), 0.05, 2)


def mean_early(name):
    """Mean speed over the made-up spaces after 2 % of each."""
    found = [c[2 * len(c) // 5 - 1] for s in tables.STRUCTURES for c in made_up(name, s)]
    return sum(found) / len(found)


@pytest.mark.some(1)
@pytest.mark.parametrize("name", ["model", "annealing", "genetic"])
def test_what_learns_is_better_than_random(name):
    assert mean_early(name) > mean_early("random") + 0.02


@pytest.mark.parametrize("structure", tables.STRUCTURES)
def test_the_model_finds_the_best_of_made_up_spaces(structure):
    """From each seed; where times are noisy, from one of two."""
    found = [curve[-1] >= 0.99 for curve in made_up("model", structure)]
    assert sum(found) >= len(found) - (structure is tables.noisy)


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.skipif(not MEASURED.is_dir(), reason=f"the measured spaces are not in {MEASURED}")
@pytest.mark.parametrize(
    "name",
    ["convolution_milo_A100", "convolution_milo_A4000", "convolution_W6600", "pnpoly_RTX_3090"],
)
def test_the_model_finds_the_best_of_measured_spaces(name):
    space = read_table(MEASURED / f"{name}.csv.gz")
    found = curves("model", space, 0.05, 6)
    assert sum(curve[-1] >= 0.99 for curve in found) >= 4


def test_asking_the_model_is_cheap():
    space = tables.table(tables.interacting)
    begin = time.process_time()
    replay(STRATEGIES["model"], space, 150, ahead=8)
    assert (time.process_time() - begin) / 150 < 0.06  # three times what it takes


def test_recommendations_go_round_the_devices():
    elsewhere = [{"a": 1.0, "b": 3.0, "c": 2.0}, {"d": 9.0, "b": 1.0}]
    assert list(recommendations(elsewhere)) == ["b", "d", "c", "a"]


def test_a_warm_start_takes_turns_and_never_repeats():
    space = tables.table(tables.additive)
    best = sorted(space.times, key=space.times.get)[:10]
    factory = warmed(
        STRATEGIES["random"], [{label: space.score(label) for label in best} | {"x_1": 9}]
    )
    labels = searched(factory, space, space.score, ahead=8)
    assert labels[0:8:2] == best[:4]
    assert sorted(labels) == sorted(space.times)


def test_what_the_space_does_not_have_is_not_recommended(space):
    absent = ["base", "ipt_1024", space.label(0) + ".tpb_1", space.label(0).replace("_", "_9")]
    absent.append(space.label(0).replace("1024", "\u0661024"))
    factory = warmed(STRATEGIES["exhaustive"], [dict.fromkeys(absent, 2.0)])
    assert asked(factory(space, 0)) == asked(STRATEGIES["exhaustive"](space, 0))


@pytest.mark.parametrize("name", ["model", "random"])
def test_advice_only_delays(name):
    space = tables.table(tables.additive)
    ranked = sorted(space.times, key=space.times.get)
    advice = [ranked[-1:], ranked[:1], searched(name, space, space.score, budget=9)[8:]]
    factory = warmed(STRATEGIES[name], [dict.fromkeys(labels, 1.0) for labels in advice])
    warm = searched(factory, space, space.score, budget=70)
    cold = searched(name, space, space.score, budget=60)
    assert warm[0:6:2] == [label for labels in advice for label in labels]
    assert len(set(warm)) == 70
    assert set(cold) <= set(warm)


def test_samplers_of_optuna():
    optuna = pytest.importorskip("optuna", reason="Optuna is not installed")
    space = tables.table(lambda p: None if p["ipt"] == 2 else p["tpb"] / p["ipt"], SMALL)
    sampler = optuna.samplers.TPESampler(seed=5)
    orders = [searched(sampler, space, space.score, ahead) for ahead in (1, 1, 64)]
    assert orders[0] == orders[1]
    assert all(sorted(order) == sorted(space.times) for order in orders)


def test_neighbours_differ_in_one_parameter():
    named = PointStrategy(tables.table(lambda p: 1.0, SMALL))
    around = named.neighbours((1, 0, 2))
    assert len(set(around)) == len(around) == 7 + 2 + 2
    assert all(sum(a != b for a, b in zip(n, (1, 0, 2), strict=True)) == 1 for n in around)


def test_points_and_labels_are_inverse(space):
    named = PointStrategy(space)
    for label in map(space.label, range(space.size)):
        assert named.label(named.point(label)) == label
    assert named.point("base") is None


def test_unknown_strategy():
    with pytest.raises(LookupError, match="did you mean random"):
        make("randon")
    with pytest.raises(TypeError, match=r"must be one of 'model', .* or a callable"):
        make(["random"])


@pytest.mark.parametrize("made", [None, "random", STRATEGIES["random"]])
def test_a_callable_that_makes_no_strategy(space, made):
    with pytest.raises(TypeError, match=r"strategy= made .*, must make an object with ask"):
        make(lambda space, seed: made)(space, 0)


@pytest.mark.parametrize(
    "label",
    ["", "ipt", "ipt_", "ipt_1;system", "ipt_1.", ".ipt_1", "ipt_1..tpb_2", "ipt_-1", "ipt_1 ",
     "ipt_1\n", "-DX_1", "ipt_1=2", "ipt_" + "9" * 30, "ipt_\u0661"],
)  # fmt: skip
def test_hostile_labels(label):
    with pytest.raises(ValueError, match="is no variant"):
        parse_label(label)
