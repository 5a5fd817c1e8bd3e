"""Random search's finds, estimated from a search that was guided."""

import numpy as np
import pytest
import stores
import tables

from cubc import tuner
from cubc.tuner._progress_curve import best_of_random, shares


def write(path, table):
    names = [*table.ranges]
    lines = [",".join([*names, "time_s"])]
    for label, time in table.times.items():
        values = [part.rpartition("_")[2] for part in label.split(".")]
        lines.append(",".join([*values, "" if time is None else f"{time!r}"]))
    path.write_text("\n".join(lines) + "\n")
    return f"replay:{path}"


@pytest.fixture(params=["additive", "interacting", "rare"])
def guided(request, tmp_path):
    """A table, and the progress of a search of a twentieth of it."""
    table = tables.table(getattr(tables, request.param))
    device = write(tmp_path / "mine.csv", table)
    options = {"variants": table.count() // 20, "confirm": 0, "racing": False}
    return table, tuner.search("mine", device=device, db=tmp_path / "s.db", **options)


def test_it_finds_less_than_a_random_order_of_what_was_chosen(guided):
    table, result = guided
    found = result.progress()
    n = len(found)
    every = [table.score(label) for label in table.times]
    true = [max(1.0, score or 1.0) for score in every]
    truth = best_of_random(true, np.ones(len(true)), n).mean
    chosen = best_of_random(np.fmax(found.score, 1.0), np.ones(n), n).mean
    off = np.abs(found.expected - truth).mean()
    assert off < 0.6 * np.abs(chosen - truth).mean()
    assert found.expected.iloc[0] < chosen[0]


def test_all_of_a_space_stands_for_itself(tmp_path):
    """Where every variant was measured, random search draws from just these scores."""
    lines = [f"{a},{b},{1 + a + 3 * (b != 64)}" for a in range(20) for b in (32, 64, 96)]
    (tmp_path / "mine.csv").write_text("\n".join(["a,b,time_s", *lines]) + "\n")
    device = f"replay:{tmp_path}/mine.csv"
    result = tuner.search("mine", device=device, db=tmp_path / "s.db", confirm=0, racing=False)
    (group,) = result.groups
    labels = [label for label in group.cells if label != "base"]
    scores = np.array([group.score(label) for label in labels])
    found = shares(group, labels, scores)
    assert found.sum() == pytest.approx(2000)
    assert (found > 0).all()
    assert found.std() / found.mean() < 0.35  # base's own place falls to its neighbours


def test_a_space_of_this_cubc_is_drawn_from(tmp_path):
    labels = stores.variants(count=5)
    base = stores.row("base", 16)
    rows = [stores.row(label, 16, 1e-3 / (1 + k)) for k, label in enumerate(labels)]
    db = stores.write(tmp_path / "s.db", [base, *rows])
    analysis = tuner.analyze(db)
    assert analysis.groups[0].current
    frame = analysis.progress()
    assert list(frame.columns[-3:]) == ["expected", "low", "high"]
    assert (np.diff(frame.expected) >= 0).all()
    assert frame.expected.between(1, 5).all()


def test_names_and_numbers_of_one_parameter(tmp_path):
    """A stranger's store may have both."""
    labels = ["base", *(f"acc_{value}" for value in ("double", 3, "float", 16, 2))]
    rows = [stores.row(label, 16, 1e-3 / (1 + k)) for k, label in enumerate(labels)]
    rows = [one | {"source_hash": "0" * 64} for one in rows]
    frame = tuner.analyze(stores.write(tmp_path / "s.db", rows)).progress()
    assert frame.expected.between(1, 6).all()


@pytest.mark.parametrize("count", [1, 2])
def test_one_variant_or_two(tmp_path, count):
    labels = stores.variants(count=count)
    rows = [stores.row("base", 16), *(stores.row(label, 16, 0.5e-3) for label in labels)]
    frame = tuner.analyze(stores.write(tmp_path / "s.db", rows)).progress()
    assert frame.expected.to_numpy() == pytest.approx([2.0] * count)
