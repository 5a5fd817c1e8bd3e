"""The demonstration names a variant only if it was found FASTER, and calls it."""

import pytest
import stores

from cubc import _core, tuner
from cubc.tuner import _demo as demo
from cubc.tuner._result import Result

WINNER, LUCKY = "tpb_128.ipt_4", "tpb_64.ipt_2"
OWN = {"benchmark": "saxpy.saxpy", "source_hash": "0" * 64}


@pytest.fixture
def found(monkeypatch):
    """Have the demonstration's search find some rows beside base, at one size."""

    def give(rows):
        def search(benchmark, axes, *, db, seconds, progress):
            stores.write(db, [one | OWN for one in [stores.row("base", 12), *rows]])
            return Result(tuner.analyze(db).groups, {}, {}, benchmark)

        monkeypatch.setattr(demo, "search", search)

    monkeypatch.setattr(demo, "ELEMENTS", {"cpu": [12]})
    monkeypatch.setattr(demo, "ROUNDS", 6)
    monkeypatch.setattr(
        _core, "device_info", lambda name="cpu", given=_core.device_info: given("cpu")
    )
    return give


def test_the_winner_is_named_with_its_verdict_and_called(found, capsys):
    """Not who has the best score, measured once."""
    found([*stores.confirmed(WINNER, 12, 5e-4), stores.row(LUCKY, 12, 1e-4)])
    demo.main()
    out = capsys.readouterr().out
    told = out[out.index("The winner") :]
    assert WINNER in told and "FASTER 2.000" in told and LUCKY not in told
    assert "2^12" in told.split(" gain")[1]


def test_nothing_is_named_where_base_stays(found, capsys):
    found([*stores.confirmed(WINNER, 12, 1e-3), stores.row(LUCKY, 12, 1e-4)])
    demo.main()
    out = capsys.readouterr().out
    assert out.endswith("Nothing was found FASTER here: base stays.\n")
