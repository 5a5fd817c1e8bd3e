"""Tables of samples, of variants and of recorded calls: what they hold, and how they print."""

import numpy as np
import pytest
import stores
import synthetic

from cubc import tuner
from cubc.tuner._recorded_calls import COLUMNS
from cubc.tuner._table import Recorded

A, B, _ = stores.variants()
BEST = "ipt_12.tpb_384.ld_0"
FAILED = "ipt_16.tpb_640.ld_0"


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    return tuner.analyze(synthetic.write(tmp_path_factory.mktemp("stores") / "gpu.db"))


# ---- how they print ------------------------------------------------------------------------------
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


@pytest.mark.parametrize("model", ["A processor", "A processor with a name of many words"])
def test_a_coverage_has_each_column(tmp_path, monkeypatch, model):
    monkeypatch.setenv("COLUMNS", "80")
    rows = [stores.row("base", 16, ct=ct) for ct in ("F32", "I8")]
    coverage = tuner.analyze(stores.write(tmp_path / "t.db", rows, model=model)).coverage()
    lines = str(coverage).splitlines()
    assert max(map(len, lines)) <= 80
    numbers = ["measured", "failed", "valid", "coverage"]
    if model == "A processor":
        assert lines[0].split() == ["benchmark", "ct", "device", *numbers] and len(lines) == 3
    else:
        assert [lines[0], lines[4]] == [f"reduce.sum {ct} on {model}" for ct in ("F32", "I8")]
        assert lines[1].split() == lines[5].split() == numbers
    assert type(coverage.head(1)).__name__ == "DataFrame"


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


# ---- what they hold -----------------------------------------------------------------------------
def test_samples_are_tidy(analysis):
    frame = analysis.samples([BEST, "base"])
    assert list(frame.columns) == [
        "Elements", "Entropy", "variant", "role", "place", "time_us", "clock_mhz",
    ]  # fmt: skip
    assert len(frame) == 6 * synthetic.SAMPLES * 3
    assert frame.place.dtype.kind == frame.Elements.dtype.kind == "i"
    assert frame.time_us.dtype.kind == "f"
    assert set(frame.role) == {"variant", "base"}
    with pytest.raises(ValueError, match="there are no samples, only failures"):
        analysis.samples(FAILED)


def test_intervals_of_scores(analysis):
    top = analysis.top(40).set_index("variant")
    assert (top.low <= top.score).all()
    assert (top.score <= top.high).all()
    assert tuple(top.loc["base", ["low", "score", "high"]]) == (1, 1, 1)
    others = top.drop("base")
    assert ((others.high - others.low) < 0.02).all()
    assert "<th>low</th>" in analysis._repr_html_()
    assert analysis.top(3).equals(analysis.top(3))


def test_a_noisier_variant_has_a_wider_interval(tmp_path):
    rng = np.random.default_rng(0)
    quiet, noisy = stores.variants(count=2)

    def drawn(spread):
        return (1e-3 * np.exp(rng.normal(0, spread, 50))).astype("<f4").tobytes()

    rows = [stores.row("base", 16)] + [
        stores.row(label, 16) | {"samples": drawn(s), "base_samples": drawn(s)}
        for label, s in ((quiet, 0.001), (noisy, 0.1))
    ]
    top = tuner.analyze(stores.write(tmp_path / "n.db", rows)).top().set_index("variant")
    width = top.high - top.low
    assert 20 * width[quiet] < width[noisy]


def test_a_base_of_another_run_is_resampled_too(tmp_path):
    label = stores.variants(count=1)[0]
    rng = np.random.default_rng(0)
    base = (1e-3 * np.exp(rng.normal(0, 0.1, 50))).astype("<f4").tobytes()
    rows = [
        stores.row("base", 16) | {"samples": base},
        stores.row(label, 16, 1e-3) | {"base_samples": b""},
    ]
    top = tuner.analyze(stores.write(tmp_path / "b.db", rows)).top().set_index("variant")
    assert top.low[label] < top.score[label] < top.high[label]
