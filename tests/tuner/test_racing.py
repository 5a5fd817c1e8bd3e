"""Races: who cannot win leaves, who is close stays, and the bound is the score's own."""

import numpy as np
import pytest
import stores
from searches import search, variant_rows

from cubc import tuner
from cubc.tuner import _racing as racing
from cubc.tuner import _worker as worker
from cubc.tuner._measurer import Request, Run
from cubc.tuner._racing import BestSoFar, Race
from cubc.tuner._strategy import Exhaustive


def test_what_a_variant_needs_at_the_last_workload():
    """(1 * 1.02 * 0.9 + 3 * x) / 4 = 1.1 for x."""
    race = Race([1.0, 3.0], [1.5, 1.5], 1.1)
    assert race.needs({0: 0.9}, 1) == pytest.approx((4 * 1.1 - 1.02 * 0.9) / 3)


def test_a_workload_that_is_not_known_counts_as_much_as_it_may():
    race = Race([1.0, 3.0], [1.5, 1.2], 1.1)
    assert race.needs({}, 0) == pytest.approx(4 * 1.1 - 3 * 1.2)
    assert race.needs({}, 1) == pytest.approx((4 * 1.1 - 1.5) / 3)


def test_who_is_far_ahead_at_one_workload_needs_nothing_at_the_other():
    assert Race([1.0, 1.0], [9.0, 9.0], 1.1).needs({0: 5.0}, 1) < 0


def test_the_field_begins_with_base_and_grows():
    field = BestSoFar([0.6, 0.9])
    assert field.race() == Race([0.6, 0.9], [racing.UNKNOWN] * 2, racing.MARGIN)
    for _ in range(racing.KNOWN):
        field.add([1.2, 0.8], 1.1)
    race = field.race()
    assert race.caps == pytest.approx([1.2 * racing.SPARE, racing.SPARE])
    assert race.score == pytest.approx(1.1 * racing.MARGIN)


def test_the_weightiest_workload_comes_first():
    field = BestSoFar([0.6, 0.99, 0.8])
    assert [run.place for run in field.order([Run(0, place) for place in range(3)])] == [1, 2, 0]
    assert [run.place for run in field.order([Run(0, 2), Run(0, 0)])] == [2, 0]


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """Processes beside that of the tests are none of a variant's."""
    monkeypatch.setattr(worker, "relatives", set)


class Timed:
    """Stands for `worker.Bench`: speedups by place."""

    def __init__(self, speedups):
        self.speedups, self.asked = speedups, {}

    def measure(self, request, run, beat):
        self.asked[run.place] = beat
        times = {"samples": 1.0, "base_samples": self.speedups[run.place]}
        return {"status": "ok"} | {n: np.float32(t).tobytes() for n, t in times.items()}


def statuses(speedups, race, places=(1, 0)):
    bench = Timed(speedups)
    replies = [
        *worker.replies(bench, Request("ipt_1", [Run(0, place) for place in places], {}, race))
    ]
    assert replies.pop() == ("done",)
    return {run.place: row["status"] for _, run, row in replies}, bench.asked


def test_a_variant_that_has_lost_is_not_run_at_the_next_workload():
    race = Race([1.0, 1.0], [1.2, 1.2], 1.1)
    assert statuses([1.0, 0.8], race) == ({1: "ok", 0: "lost"}, {1: pytest.approx(1.0)})


def test_a_variant_in_the_race_is_told_what_it_has_to_beat():
    race = Race([1.0, 1.0], [1.2, 1.2], 1.1)
    found, asked = statuses([1.0, 1.05], race)
    assert found == {1: "ok", 0: "ok"}
    assert asked == {1: pytest.approx(1.0), 0: pytest.approx(2.2 - 1.02 * 1.05)}


def test_without_a_race_everything_is_run():
    assert statuses([0.1, 0.1], None) == ({1: "ok", 0: "ok"}, {1: 0.0, 0: 0.0})


def test_variants_that_lost_are_results(tmp_path, monkeypatch):
    """They are stored, not visited again, and the strategy learns from what was measured."""
    monkeypatch.setattr(racing, "MARGIN", 3.0)  # nobody can come near
    told = {}

    class Listening(Exhaustive):
        def tell(self, variant, score):
            told[variant] = score
            super().tell(variant, score)

    options = {"strategy": Listening, "racing": True, "variants": 3}
    axes = {"T": "F32", "Elements": [16, 20]}
    result = search(tmp_path / "lost.db", axes, **options)
    rows = variant_rows(tmp_path / "lost.db")
    assert [row["status"] for row in rows] == ["lost"] * 6
    assert not any(row["samples"] for row in rows)
    assert result.scores().status.value_counts().to_dict() == {"lost": 3, "ok": 1}
    assert result.coverage().failed.tolist() == [0]
    assert search(tmp_path / "lost.db", axes, **options).best().label == "base"
    assert variant_rows(tmp_path / "lost.db") == rows
    search(tmp_path / "lost.db", axes, **(options | {"racing": False}))  # then they are measured
    assert [row["status"] for row in variant_rows(tmp_path / "lost.db")] == ["ok"] * 6


def test_a_variant_that_lost_at_one_workload_has_an_estimate(tmp_path):
    [label] = stores.variants(count=1)
    rows = [stores.row("base", 16), stores.row("base", 20), stores.row(label, 20, 1e-3, 0.9e-3)]
    rows.append(stores.row(label, 16, status="lost"))
    (group,) = tuner.analyze(stores.write(tmp_path / "s.db", rows)).groups
    assert (group.status(label), group.score(label)) == ("lost", None)
    assert group.estimate(label) == pytest.approx(0.9)
    assert group.estimate("base") == 1.0
