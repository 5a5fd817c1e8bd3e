"""Tables of variants and of recorded calls print whole, with a heading for each group."""

import stores

from cubc import tuner
from cubc.tuner._recorded_calls import COLUMNS
from cubc.tuner._table import Recorded

A, B, _ = stores.variants()


def test_a_table_fits_80_columns_and_has_each_variant(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    rows = [stores.row("base", 16), stores.row(A, 16, 5e-4)]
    db = stores.write(tmp_path / "t.db", rows, model="A processor with a name of many words")
    top = tuner.analyze(db).top()
    lines = str(top).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "reduce.sum F32 on A processor with a name of many words"
    assert lines[1].split() == ["score", "low", "high", "verdict", "mins", "means", "maxs"]
    assert [line.strip() for line in lines[3::2]] == [A, "base"]
    assert str(top[1:]).splitlines()[-1].endswith("  base")
    assert "score" not in str(top[["variant"]]).split()  # pandas' own, of what is no such table


def test_a_wide_terminal_has_a_line_for_each_variant(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    db = stores.write(tmp_path / "t.db", [stores.row("base", 16), stores.row(A, 16, 5e-4)])
    assert [line.split()[-1] for line in str(tuner.analyze(db).top()).splitlines()[1:]] == [
        "variant",
        A,
        "base",
    ]


def calls(**changes):
    row = dict.fromkeys(COLUMNS, 1.0) | {
        "benchmark": "reduce.sum",
        "type": "F32",
        "device": "a GPU",
    }
    row |= {"shape": "Elements=65536", "variant": A, "searchable": "yes"} | changes
    return Recorded([row], columns=list(COLUMNS))


def test_recorded_calls_are_whole_at_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    heading, names, line, variant = str(calls()).split("\n")
    assert heading == "calls on a GPU" and variant == f"    {A}"
    assert names.split() == [
        name for name in COLUMNS if name not in ("device", "variant", "searchable")
    ]
    assert "Elements=65536" in line and max(map(len, (names, line, variant))) <= 80


def test_a_long_shape_stands_below_and_so_does_why_it_is_not_searched(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shape = "X=24,Y=24,Z=24,T=48,Sources=12,Ls=12,and so on"
    text = str(calls(shape=shape, searchable="no: it is too small")).split("\n")
    assert text[3:] == [f"    {shape}", f"    {A}", "    no search: it is too small"]
    assert max(map(len, text)) <= 80


def test_a_part_of_recorded_calls_is_a_plain_table():
    assert "share" not in str(calls()[["benchmark", "calls"]])
    assert isinstance(calls().head(1), Recorded)
