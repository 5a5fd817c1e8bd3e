"""Tables of variants print whole, with a heading for each group."""

import stores

from cubc import tuner

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
