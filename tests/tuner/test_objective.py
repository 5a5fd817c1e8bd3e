"""Objectives beyond time: energy, expressions over what was measured, and two at once."""

import warnings

import numpy as np
import pytest
import stores
from searches import search as search_cpu

from cubc import tuner
from cubc.tuner import _workload_search
from cubc.tuner._cli import main
from cubc.tuner._objective import TIME, front, objective

BASE = "ipt_8.tpb_256.ld_0"
# Time, mean of hot runs, power, registers: base, then others.
CELLS = {
    "base": (4e-3, 2e-3, 300.0, 40),
    "ipt_4.tpb_256.ld_0": (2e-3, 2e-3, 600.0, 80),  # twice as fast, twice the energy
    "ipt_6.tpb_256.ld_0": (3e-3, 1e-3, 450.0, 40),
    "ipt_7.tpb_256.ld_0": (5e-3, 1e-3, 300.0, 20),  # slower, half the energy
    "ipt_9.tpb_256.ld_0": (4e-3, 2e-3, 450.0, 64),  # beaten by the third in both
}


def row(label, seconds, hot, power, registers, **more):
    more |= {"benchmark": "own.kernel", "source_hash": "0" * 64, "hot": hot, "power": power}
    more |= {"message": BASE if label == "base" else "", "registers": registers}
    return stores.row(label, 16, seconds, CELLS["base"][0]) | more


@pytest.fixture
def db(tmp_path):
    return stores.write(tmp_path / "s.db", [row(label, *cell) for label, cell in CELLS.items()])


def best(db, what):
    return tuner.analyze(db, objective=what).best()


def test_the_best_by_each_figure(db):
    assert best(db, "time").label == "ipt_4.tpb_256.ld_0"
    assert best(db, "time").score == pytest.approx(2)
    assert best(db, "energy").label == "ipt_7.tpb_256.ld_0"
    assert best(db, "energy").score == pytest.approx(2)
    assert best(db, "registers").label == "ipt_7.tpb_256.ld_0"
    assert best(db, "energy * time").label == "ipt_6.tpb_256.ld_0"
    assert best(db, "energy * time").score == pytest.approx(0.6 * 4 / 0.45 / 3)
    assert best(db, "power + 0 * time").score == pytest.approx(1)


def test_two_at_once(db):
    analysis = tuner.analyze(db, objective=("time", "energy"))
    top = analysis.top().set_index("variant")
    assert list(top.columns[-3:]) == ["score", "time", "energy"]
    assert list(top.index) == [f"ipt_{n}.tpb_256.ld_0" for n in (6, 7, 4)]
    assert top.energy["ipt_7.tpb_256.ld_0"] == pytest.approx(2)
    assert top.time["ipt_4.tpb_256.ld_0"] == pytest.approx(2)
    assert (top.score**2).to_numpy() == pytest.approx((top.time * top.energy).to_numpy())
    assert list(analysis.top(1).variant) == ["ipt_6.tpb_256.ld_0"]


def test_without_a_figure_there_is_no_score(tmp_path):
    cells = CELLS | {"ipt_7.tpb_256.ld_0": (5e-3, 1e-3, 0.0, 20)}  # its power is not known
    db = stores.write(tmp_path / "s.db", [row(label, *cell) for label, cell in cells.items()])
    assert best(db, "energy").label == "ipt_6.tpb_256.ld_0"
    assert "ipt_7.tpb_256.ld_0" not in set(
        tuner.analyze(db, objective=("time", "energy")).top(9).variant
    )


def test_a_figure_that_nothing_was_measured_with_is_told(tmp_path, capsys):
    """The table has base alone then, at a score of 1."""
    db = stores.write(tmp_path / "s.db", stores.confirmed(stores.variants()[0], 16, 5e-4))
    with pytest.warns(RuntimeWarning, match="not all was measured with what energy needs"):
        tuner.analyze(db, objective="energy")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main(["analyze", str(db), "--objective", "energy"]) == 0
    assert f"{db}: not all was measured with what energy needs" in capsys.readouterr().err


def test_rounds_without_power_confirm_no_energy(tmp_path):
    cells = {label: cell for label, cell in CELLS.items() if "ipt_4" in label or label == "base"}
    rows = [row(label, *cell) for label, cell in cells.items()]
    rows += [row("ipt_4.tpb_256.ld_0", *CELLS["ipt_4.tpb_256.ld_0"], round=n) for n in range(1, 9)]
    db = stores.write(tmp_path / "s.db", rows)
    assert best(db, "time").verdict.word == "FASTER"
    assert best(db, "energy").label == "base"
    frame = tuner.analyze(db, objective="energy").top()
    assert set(frame.verdict) == {""}
    assert np.isnan(frame.low).all()
    assert not tuner.analyze(db, objective="energy").policies()


def confirmed(label, watts):
    """Rows of a variant and of base in rounds, in which the power of base rises."""
    rows = [row(name, *CELLS[name]) for name in ("base", label)]
    for n in range(1, 9):
        hot, own = CELLS["base"][1], CELLS[label]
        of_base = {"base_hot": hot, "base_power": 300.0 + 10 * n}
        rows.append(row(label, *own[:2], watts * (300.0 + 10 * n), 40, round=n, **of_base))
    return rows


def test_a_table_of_rounds_has_speedups_by_the_objective(tmp_path):
    label = "ipt_4.tpb_256.ld_0"  # twice as fast, twice the energy
    base = {"base_hot": CELLS["base"][1], "base_power": CELLS["base"][2]}
    rows = [row("base", *CELLS["base"]), row(label, *CELLS[label])]
    rows.append(row(label, *CELLS[label], round=1, **base))
    db = stores.write(tmp_path / "s.db", rows)
    for what, speedup in [("time", 2), ("energy", 0.5), (("time", "energy"), 1)]:
        frame = tuner.analyze(db, objective=what).to_frame()
        assert frame.speedup.tolist() == pytest.approx([1, speedup, speedup], rel=1e-5)


def test_confirmation_is_by_the_objective(tmp_path):
    """Each round has the figures of base beside those of the variant, so that a drift cancels."""
    label = "ipt_7.tpb_256.ld_0"  # half the time of hot runs, but slower
    db = stores.write(tmp_path / "s.db", confirmed(label, 1.0))
    assert best(db, "time").label == "base"
    found = best(db, "energy")
    assert (found.label, found.verdict.word, found.wins) == (label, "BETTER", True)
    assert found.score == pytest.approx(2)
    assert tuner.analyze(db, objective="power").groups[0].verdict(label).word == "SAME"
    assert label in tuner.analyze(db, objective="energy").policies()
    top = tuner.analyze(db, objective=("energy", "time")).top().set_index("variant")
    assert top.verdict[label] == "BETTER"
    assert top.score[label] == pytest.approx((2 * 4 / 5) ** 0.5)
    db = stores.write(tmp_path / "t.db", confirmed(label, 3.0))
    assert best(db, "energy").label == "base"
    groups = tuner.analyze(db, objective="energy").groups
    assert groups[0].verdict(label).word == "WORSE"


@pytest.mark.parametrize(
    ("points", "first"),
    [
        ([], []),
        ([(1, 1)], [True]),
        ([(1, 2), (2, 1), (1, 1)], [True, True, False]),
        ([(1, 2), (1, 2), (1, 1)], [True, True, False]),
        ([(1, 3), (2, 2), (2, 1), (3, 1)], [True, True, False, True]),
    ],
)
def test_the_front(points, first):
    assert front(points) == first


@pytest.mark.parametrize(
    ("what", "error", "message"),
    [
        ("enrgy", LookupError, "energy"),
        ("tpb * time", LookupError, "tpb"),
        ("time **", ValueError, "is no expression"),
        ("3", ValueError, "names a figure"),
        ((), ValueError, "0 objectives"),
        (("time", "energy", "hot"), ValueError, "3 objectives"),
        (("time", " time"), ValueError, "'time' is given twice"),
        (3, TypeError, "a text as 'energy'"),
        ((3,), TypeError, "is a text as"),
    ],
)
def test_what_is_no_objective(tmp_path, what, error, message):
    with pytest.raises(error, match=message):
        search_cpu(tmp_path / "s.db", objective=what)
    assert not (tmp_path / "s.db").exists()


def test_time_is_the_usual_one():
    assert objective("time").is_time
    assert not objective("time").is_metered
    assert not objective("time * 1").is_time
    assert objective(("time", "energy")).is_metered
    assert objective(TIME) is TIME


@pytest.fixture
def table(tmp_path):
    (tmp_path / "mine.csv").write_text("n,time_s\n" + "".join(f"{n},{9 - n}\n" for n in range(9)))
    return f"replay:{tmp_path}/mine.csv"


def test_a_search_goes_by_it(table, tmp_path):
    """The slowest is the best, and is not given up for being slow."""
    found = tuner.search(
        "mine", device=table, db=tmp_path / "s.db", objective="1 / time", target=1.7
    )
    assert found.best().label == "n_0"
    assert found.best().score == pytest.approx(9 / 5)
    assert found.best().verdict.word == "BETTER"


def test_a_device_without_a_meter(table, tmp_path):
    for what in ("energy", "power"):
        with pytest.raises(ValueError, match=f"this device does not tell what {what} needs"):
            search_cpu(tmp_path / f"{what}.db", objective=what)
        with pytest.raises(ValueError, match=f"this device does not tell what {what} needs"):
            search_cpu(tmp_path / f"{what}.db", objective=what)  # another store is of no help
    with pytest.raises(ValueError, match="this device does not tell"):
        tuner.search("mine", device=table, db=tmp_path / "s.db", objective="hot")


def test_hot_runs_are_measured_where_they_are_looked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(_workload_search, "METER_SECONDS", 0.002)
    db = tmp_path / "hot.db"
    found = search_cpu(db, objective="hot", variants=2)
    rows = stores.read(db)
    assert len(rows) == 3
    assert all(row["hot"] > 0 and row["round"] == 0 for row in rows)
    frame = found.scores().set_index("variant")
    by_label = {row["variant"]: row["hot"] for row in rows}
    for label, hot in by_label.items():
        assert frame.score[label] == pytest.approx(by_label["base"] / hot)


def test_rounds_measure_base_too(tmp_path, monkeypatch):
    monkeypatch.setattr(_workload_search, "METER_SECONDS", 0.002)
    db = tmp_path / "hot.db"
    found = search_cpu(db, objective="hot", variants=1, confirm=1)
    rounds = [row for row in stores.read(db) if row["round"]]
    assert len(rounds) >= 8
    assert all(row["base_hot"] > 0 for row in rounds)
    (group,) = found.groups
    (variant,) = group.rounds
    gains = [row["base_hot"] / row["hot"] for row in rounds]
    mean = np.exp(np.mean(np.log(gains)))
    assert group.verdict(variant).ratio == pytest.approx(mean)
    assert group.verdict(variant).word in ("BETTER", "WORSE", "SAME", "UNDECIDED")


def test_a_store_that_lacks_a_figure(tmp_path):
    db = tmp_path / "time.db"
    search_cpu(db, variants=2)
    with pytest.raises(ValueError, match=r"time\.db holds it without what hot needs: use another"):
        search_cpu(db, objective="hot", variants=2)


def test_the_command_line(db, capsys):
    main(["analyze", str(db), "--objective", "energy", "--top", "1"])
    assert "ipt_7" in capsys.readouterr().out
    main(["analyze", str(db), "--objective", "energy", "--objective", "time"])
    out = capsys.readouterr().out
    assert "ipt_4" in out
    assert "ipt_9" not in out
