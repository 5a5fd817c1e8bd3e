"""The demonstration names a variant only if the next calls run it."""

import pytest
import stores

from cubc import _core, tuner
from cubc.tuner import _demo as demo

A, B, _ = stores.variants(ct="F64")
F64 = {"ct": "F64"}


@pytest.fixture
def found(monkeypatch):
    """Have the demonstration's search find some rows beside base, at one size."""

    def give(rows):
        def search(name, axes, *, db, seconds):
            stores.write(db, [stores.row("base", 16, **F64), *rows])
            return tuner.analyze(db)

        monkeypatch.setattr(demo, "search", search)

    monkeypatch.setattr(demo, "ELEMENTS", {"cpu": [16]})
    monkeypatch.setattr(demo, "ROUNDS", 6)
    monkeypatch.setattr(
        _core, "device_info", lambda name="cpu", given=_core.device_info: given("cpu")
    )
    yield give
    _core.clear_policies()


def test_the_winner_is_named_with_its_verdict(found, capsys):
    """Not who has the best score, measured once."""
    found([*stores.confirmed(A, 16, 5e-4, **F64), stores.row(B, 16, 1e-4, **F64)])
    demo.main()
    out = capsys.readouterr().out
    told = out[out.index("found FASTER") :]
    assert f"2^16: {A}, FASTER 2.000" in told and B not in told and "2^16" in told.split("gain")[1]
    assert _core.policy("reduce.sum", {"T{ct}": "F64"}, "cpu", {"Elements": 1 << 16}) == A


def test_nothing_is_named_where_base_stays(found, capsys):
    found([*stores.confirmed(A, 16, 1e-3, **F64), stores.row(B, 16, 1e-4, **F64)])
    demo.main()
    out = capsys.readouterr().out
    assert out.endswith("Nothing was found FASTER here: the next calls run what they ran before.\n")
