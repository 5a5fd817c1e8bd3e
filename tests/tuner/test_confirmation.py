"""The best are measured again: nobody wins by luck, and rounds are taken until a verdict holds."""

import numpy as np
import pytest
import stores

from cubc import tuner
from cubc.tuner import _replay_device as replay_device
from cubc.tuner import _search as search
from cubc.tuner import _verdict as verdict

TABLE = "tpb,ipt,time_s\n" + "".join(
    f"{tpb},{ipt},{2.0 - 0.001 * ipt - 0.0001 * tpb / 32}\n"
    for tpb in (32, 64, 128)
    for ipt in range(1, 9)
)


class Lucky(replay_device.Replay):
    """Variants as in the table, but one is measured as far better in the search, not afterwards."""

    lucky, noise = "tpb_32.ipt_1", 0.0

    def next(self, until=None):
        request, results = super().next(until)
        return request, self._disturbed(request, results)

    def _disturbed(self, request, results):
        for run, fields in results:
            if request.variant == self.lucky and not run.round:
                fields["samples"] = np.float32(1.0).tobytes()
            if run.round:
                rng = np.random.default_rng(run.round)
                factor = np.float32(np.exp(rng.normal(0, self.noise)))
                fields["samples"] = (factor * np.frombuffer(fields["samples"], "<f4")).tobytes()
            yield run, fields


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return f"replay:{path}"


def rounds(db):
    found = {}
    for row in stores.read(db):
        if row["round"]:
            found.setdefault(row["variant"], []).append(row["round"])
    return found


def test_who_was_lucky_does_not_win(table, db, monkeypatch):
    monkeypatch.setattr(search, "Replay", Lucky)
    without = tuner.search(".*", device=table, db=db + "0", confirm=0).best()
    assert without.label == Lucky.lucky and without.score > 1.9 and without.verdict is None
    best = tuner.search(".*", device=table, db=db, confirm=3).best()
    assert best.label == "tpb_128.ipt_8"
    assert best.verdict.word == verdict.SAME  # by 0.4 %, which is of no account
    assert best.score == pytest.approx(best.verdict.ratio)
    found = rounds(db)
    assert set(found) == {Lucky.lucky, "tpb_128.ipt_8", "tpb_64.ipt_8"}
    assert all(each == [*range(1, verdict.LEAST_ROUNDS + 1)] for each in found.values())


def test_noise_is_answered_by_more_rounds(table, db, monkeypatch):
    monkeypatch.setattr(search, "Replay", Lucky)
    monkeypatch.setattr(Lucky, "noise", 0.01)
    best = tuner.search(".*", device=table, db=db, confirm=1).best()
    found = rounds(db)
    assert verdict.LEAST_ROUNDS < max(map(len, found.values())) <= verdict.MOST_ROUNDS
    assert best.verdict.low < 1 < best.verdict.high


def test_verdicts_are_in_the_table_and_decide_about_policies(table, db, monkeypatch):
    result = tuner.search(".*", device=table, db=db, confirm=2)
    top = result.top(4)
    assert top.verdict.tolist() == ["SAME", "SAME", "", ""]
    assert not result.policies()
    frame = result.to_frame()
    assert (frame["round"] > 0).sum() == 2 * verdict.LEAST_ROUNDS
    once = tuner.search(".*", device=table, db=db + "0", confirm=0)
    assert not once.best().wins
    with pytest.warns(RuntimeWarning, match="measured once"):
        assert not once.policies()


def test_the_same_search_again_adds_no_round(table, db):
    tuner.search(".*", device=table, db=db, confirm=2)
    before = stores.read(db)
    tuner.search(".*", device=table, db=db, confirm=2)
    assert stores.read(db) == before
    tuner.search(".*", device=table, db=db, confirm=3)
    assert len(rounds(db)) == 3


def test_rounds_that_were_cut_short_are_completed(table, db, monkeypatch):
    class Stopped(replay_device.Replay):
        def next(self, until=None):
            request, results = super().next(until)
            return request, self._stopped(results)

        def _stopped(self, results):
            for run, fields in results:
                if run.round == 5:
                    raise KeyboardInterrupt
                yield run, fields

    monkeypatch.setattr(search, "Replay", Stopped)
    with pytest.raises(KeyboardInterrupt):
        tuner.search(".*", device=table, db=db, confirm=1)
    assert [*rounds(db).values()] == [[1, 2, 3, 4]]
    monkeypatch.undo()
    tuner.search(".*", device=table, db=db, confirm=1)
    assert [*rounds(db).values()] == [[*range(1, verdict.LEAST_ROUNDS + 1)]]


def test_a_variant_that_fails_when_measured_again_has_no_score(table, db, monkeypatch):
    class Failing(replay_device.Replay):
        def next(self, until=None):
            request, results = super().next(until)
            return request, self._failing(request, results)

        def _failing(self, request, results):
            for run, fields in results:
                if run.round == 3 and request.variant == "tpb_128.ipt_8":
                    yield run, {"status": "fault", "message": "dead"}
                    return
                yield run, fields

    monkeypatch.setattr(search, "Replay", Failing)
    result = tuner.search(".*", device=table, db=db, confirm=2)
    assert result.best().label == "tpb_96.ipt_8".replace("96", "64")
    scores = result.scores().set_index("variant")
    assert scores.status["tpb_128.ipt_8"] == "fault"
    assert np.isnan(scores.score["tpb_128.ipt_8"])


@pytest.mark.parametrize("confirm", [-1, 1.5, "3"])
def test_how_many_is_checked(table, db, confirm):
    with pytest.raises((TypeError, ValueError), match="confirm"):
        tuner.search(".*", device=table, db=db, confirm=confirm)


def test_the_older_name_of_the_number_is_taken(table, db):
    tuner.search(".*", device=table, db=db, again=1)
    assert len(rounds(db)) == 1
