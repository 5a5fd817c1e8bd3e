"""Winners are confirmed on a second device of their model, and one that denies them settles it."""

import time

import pytest
import stores
from searches import Timed, search, speed

from cubc import tuner
from cubc.tuner._workload import CompileTimeWorkload

TWO = [{"model": "A", "uuid": "a1"}, {"model": "A", "uuid": "a2"}]


@pytest.fixture
def db(tmp_path, monkeypatch):
    monkeypatch.setattr(CompileTimeWorkload, "compile", lambda *arguments: 0.0)
    return str(tmp_path / "store.db")


def alike(device, variant, run):
    return 1e-3 / speed(variant)


def denied(device, variant, run):
    """Nothing is faster than base on a2, which takes its time."""
    if device == "a2" and run.round:
        time.sleep(0.01)
        return 1e-3
    return alike(device, variant, run)


def rounds(db):
    """Devices that have measured a variant again, by variant."""
    found = {}
    for row in stores.read(db):
        if row["round"]:
            found.setdefault(row["variant"], set()).add(row["device_uuid"])
    return found


def test_what_wins_is_measured_again_by_two_devices(db):
    with Timed(alike, *TWO) as devices:
        result = search(db, executor=devices, variants=20, confirm=3)
    best = result.best()
    assert best.wins and best.score == pytest.approx(speed(best.label), rel=1e-3)
    found = rounds(db)
    assert found[best.label] == {"a1", "a2"}
    assert all(devices == {"a1", "a2"} for devices in found.values())  # all three win
    assert best.label in result.policies()


def test_a_device_that_denies_it_settles_it(db):
    with Timed(denied, *TWO) as devices:
        result = search(db, executor=devices, variants=20, confirm=3)
    assert {"a1", "a2"} in rounds(db).values()  # what won on a1
    assert not result.best().wins
    assert result.policies() == ""
    assert not tuner.analyze(db).best().wins


def test_a_device_without_another_of_its_model_confirms_alone(db):
    one, other = {"model": "A", "uuid": "a1"}, {"model": "B", "uuid": "b1"}
    with Timed(alike, one, other) as devices:
        result = search(db, executor=devices, variants=20, confirm=2)
    assert [best.wins for best in result.best()] == [True, True]
    for group in result.groups:
        assert {group.device_uuid} == {row["device_uuid"] for row in rows_of(db, group)}
        assert 2 <= len(group.rounds) <= 3


def rows_of(db, group):
    return [row for row in stores.read(db) if row["device_model"] == group.device]


def test_a_variant_that_fails_on_another_device_does_not_win(tmp_path):
    """As in stores of two machines that are merged."""
    db = tmp_path / "two.db"
    (label,) = stores.variants(count=1)
    for number in range(2):
        rows = [stores.row("base", 16), *stores.confirmed(label, 16, 5e-4)]
        if number:
            rows[-1] |= {"status": "fault", "samples": b"", "base_samples": b""}
        stores.write(db, rows, uuid=f"GPU-{number}")
        analysis = tuner.analyze(str(db))
        best = analysis.best()
        assert (best.wins, bool(analysis.policies())) == (not number, not number)


def test_rounds_that_were_cut_short_deny_nothing(tmp_path):
    db = tmp_path / "two.db"
    (label,) = stores.variants(count=1)
    stores.write(db, [stores.row("base", 16), *stores.confirmed(label, 16, 5e-4)], uuid="one")
    few = stores.confirmed(label, 16, 1e-3, rounds=3)
    stores.write(db, [stores.row("base", 16), *few], uuid="two")
    assert tuner.analyze(str(db)).best().wins
