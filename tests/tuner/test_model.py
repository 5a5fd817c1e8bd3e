"""The model of the default strategy: its distances, and forecasts of a Gaussian process."""

import mmap
import os

import numpy as np
import pytest
import tables

from cubc.tuner._replay import replay
from cubc.tuner._strategy import STRATEGIES, blas, distance
from cubc.tuner._strategy.distance import Distances
from cubc.tuner._strategy.points import place
from cubc.tuner._strategy.process import Process, chosen

THREADS = [*range(32, 257, 32)]


def apart(values, one, other):
    """Squared distance of two values of the only parameter."""
    distances = Distances([values])
    places = distances.see([(values.index(one),)]), distances.see([(values.index(other),)])
    return distances.squared(*places, np.ones(1)).item()


@pytest.mark.parametrize("values", [THREADS, range(32, 257, 32)], ids=["list", "range"])
def test_powers_of_two_are_alike(values):
    assert apart(values, 64, 64) == pytest.approx(0, abs=1e-9)
    assert apart(values, 64, 128) < apart(values, 64, 96)
    assert apart(values, 32, 64) < apart(values, 32, 128) < apart(values, 32, 256)


def test_the_order_of_a_list_is_of_no_account():
    """Also where its ends are no greater than those of a switch."""
    sorted_ones = [1, 2, 48, 64, 96, 128]
    for values in ([2, 128, 64, 96, 48, 1], [128, 1, 96, 2, 64, 48]):
        for one in values[1:]:
            assert apart(values, 64, one) == pytest.approx(apart(sorted_ones, 64, one))


@pytest.mark.parametrize("values", [range(2), range(3), range(10**9), [7, 9], [-4, 0, 4]])
def test_distances_are_finite_and_symmetric(values):
    distances = Distances([values, [5], values])
    assert distances.count == 2
    points = [(0, 0, 0), (len(values) - 1, 0, 0), (0, 0, 1), (1, 0, len(values) - 1)]
    seen = distances.see(points)
    found = distances.squared(seen, seen, np.array([0.5, 2.0]))
    assert np.isfinite(found).all()
    assert np.allclose(found, found.T)
    assert np.allclose(found.diagonal(), 0)
    assert (found[~np.eye(4, dtype=bool)] > 0).all()


@pytest.mark.parametrize("before", [[], [[1, 2, 4]]])
@pytest.mark.parametrize("behind", [[], [[1, 2, 4]]])
@pytest.mark.parametrize("count", [2, 64, 65, 200])
def test_any_two_names_are_unlike_however_many_there_are(before, behind, count):
    ranges = [*before, [f"n{place}" for place in range(count)], *behind]
    distances = Distances(ranges)
    seen = distances.see([(0,) * len(before) + (n,) + (0,) * len(behind) for n in range(count)])
    found = distances.squared(seen, seen, np.ones(distances.count))
    assert np.allclose(found, 1 - np.eye(count))


def made_up():
    """A process, 64 points of three parameters, and values that ignore the last of them."""
    ranges = [THREADS, range(1, 9), range(8)]
    rng = np.random.default_rng(1)
    points = [(*divmod(number, 8), int(rng.integers(8))) for number in rng.permutation(64).tolist()]
    values = np.array([np.sin(x) + y / 4 for x, y, _ in points])
    return Process(Distances(ranges)), points, values


def test_a_forecast_meets_what_is_known_and_is_unsure_elsewhere():
    process, points, values = made_up()
    mean, sure = process.forecast(points[::2], values[::2], [], points)
    assert np.abs(mean - values)[::2].max() < 0.2
    assert np.corrcoef(mean[1::2], values[1::2])[0, 1] > 0.9
    assert sure[::2].max() < sure[1::2].max()


def test_what_is_awaited_leaves_the_mean_and_lessens_the_spread():
    process, points, values = made_up()
    known, away = points[:30], points[40]
    mean, unsure = process.forecast(known, values[:30], [], points[30:])
    same, sure = process.forecast(known, values[:30], [away], points[30:])
    assert np.allclose(mean, same)
    assert (sure <= unsure + 1e-9).all()
    assert sure[10] < 0.5 * unsure[10]


def test_what_is_kept_of_a_forecast_changes_nothing():
    """Outcomes come in another order than they were asked for, are left out, and weights change."""
    process, points, values = made_up()
    rng = np.random.default_rng(3)
    known, waiting = points[:8], points[8:12]
    for step in range(12, 60):
        asked = [points[at] for at in rng.permutation(64)[:30]]
        at = [points.index(point) for point in known]
        found = process.forecast(known, values[at], waiting, asked)
        fresh = Process(process._distances)
        fresh._found, fresh._fitted = process._found, len(known)
        assert np.allclose(found, fresh.forecast(known, values[at], waiting, asked), atol=1e-6)
        known = [*known, waiting.pop(int(rng.integers(4)))]
        waiting = [*waiting, points[step]]
        if step == 40:
            known = known[::2]


def test_weights_are_learned_anew_when_outcomes_are_left_out():
    process, points, values = made_up()
    process.forecast(points, values, [], points)
    learned = process._found
    process.forecast(points[::2], values[::2], [], points)
    assert process._found is not learned


def test_a_parameter_without_effect_loses_its_weight():
    process, points, values = made_up()
    process.forecast(points, values, [], points)
    weights = np.exp(process._found[:-1])
    assert weights[2] < 0.2 * weights[:2].max()


def test_values_that_are_all_alike():
    process, points, _ = made_up()
    mean, sure = process.forecast(points[:9], np.ones(9), [], points)
    assert np.allclose(mean, 1)
    assert np.isfinite(sure).all()


def test_a_choice_of_outcomes_has_the_best_and_some_of_all():
    values = np.random.default_rng(0).permutation(1000)
    found = chosen(values, 100)
    assert len(set(found.tolist())) == 100
    assert set(np.argsort(-values)[:50]) <= set(found)
    assert (values[found] < 500).sum() > 15


def test_the_first_variants_keep_apart():
    """Farther than random ones, however many are asked for before the first outcome."""
    table = tables.table(tables.additive)
    distances = Distances(list(table.ranges.values()))

    def nearest(name, count):
        strategy = STRATEGIES[name](table, 3)
        points = [place(table, strategy.ask()) for _ in range(count)]
        assert len(set(points)) == count
        seen = distances.see(points)
        apart = distances.squared(seen, seen, np.ones(distances.count))
        return (apart + 1e9 * np.eye(count)).min(axis=1).mean()

    for count in (10, 40):
        assert nearest("model", count) > 1.3 * nearest("random", count)


def test_nothing_that_was_drawn_is_lost():
    table = tables.table(lambda p: 1.0 + p["ipt"], {"tpb": [32, 64, 96], "ipt": [1, 2, 3, 4, 5]})
    strategy = STRATEGIES["model"](table, 0)
    assert sorted(iter(strategy.ask, None)) == sorted(table.times)


def test_a_range_too_long_to_be_listed_has_the_same_distances(monkeypatch):
    """A parameter of few values has a column for each; more values are compared."""
    short = Distances([range(1, 65), [1, 2]])
    monkeypatch.setattr(distance, "MANY", 63)
    long = Distances([range(1, 65), [1, 2]])
    assert short._rows[0] is not None
    assert long._rows[0] is None
    points = [(0, 0), (0, 1), (7, 0), (11, 1), (63, 0)]
    one, other = (
        d.squared(d.see(points), d.see(points), np.array([2.0, 0.5])) for d in (short, long)
    )
    assert np.allclose(one, other, rtol=0.05, atol=1e-9)


def best(table, share, ahead, seeds):
    """Number of the runs that find 99 % of the best speed within a share of a table."""
    budget = int(share * table.count())
    curves = [replay(STRATEGIES["model"], table, budget, seed, ahead) for seed in range(seeds)]
    return sum(table.best / curve[-1] >= 0.99 for curve in curves)


@pytest.mark.parametrize("ahead", [4, 24])
def test_an_optimum_apart_from_the_others_is_found(ahead):
    """A switch that is bad almost everywhere, and best where another parameter fits it."""

    def time(p):
        apart = p["ld"] == 1 and p["vec"] == 8
        bend = abs(np.log2(p["tpb"] / 128)) + abs(np.log2(p["ipt"] / 4))
        return 1.0 + 0.1 * bend if apart else 1.5 + 0.2 * bend + 0.5 * (p["ld"] == 1)

    assert best(tables.table(time), 0.05, ahead, 2) == 2


def test_libraries_beside_one_whose_name_is_no_text(tmp_path):
    """Names of files are bytes."""
    path = os.fsencode(tmp_path) + b"/l\xfc"
    with open(path, "wb+") as file:
        file.write(b"code")
        file.flush()
        with mmap.mmap(file.fileno(), 0):
            assert len(blas.libraries.__wrapped__()) == len(blas.libraries())


def test_linear_algebra_has_one_thread_meanwhile():
    """However many threads forecast at once; then each library has as many as before."""
    process, points, values = made_up()
    process.forecast(points[:9], values[:9], [], points)  # loads all libraries
    libraries = blas.libraries()
    before = [library.get() for library in libraries]
    try:
        for library in libraries:
            library.set(2)
        with blas.one_thread():
            assert {library.get() for library in libraries} <= {1}
            with blas.one_thread():
                pass
            assert {library.get() for library in libraries} <= {1}
        assert {library.get() for library in libraries} <= {2}
    finally:
        for library, count in zip(libraries, before, strict=True):
            library.set(count)
