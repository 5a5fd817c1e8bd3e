"""Parameter importance: against functions whose sensitivity indices are known."""

import io
import sys

import numpy as np
import pytest
import stores
from matplotlib import pyplot as plt

from cubc import tuner
from cubc.tuner import _importance as importance
from cubc.tuner._importance import Table


def table(target, count=300, names="abcd"):
    """Log-scores of random variants of four parameters with the values 0 ... 7."""
    values = np.random.default_rng(0).integers(0, 8, (count, len(names))).astype(float)
    return Table(list(names), values, target(*((values.T - 3.5) / 3.5)))


def indices(monkeypatch, target):
    monkeypatch.setattr(importance, "_table", lambda group: table(target))
    frame = importance.importance(None)
    return frame.set_index("parameter").importance, frame


def test_shares_of_a_sum(monkeypatch):
    """Variances add up in the ratio 9 to 1; c and d do nothing."""
    shares, frame = indices(monkeypatch, lambda a, b, c, d: 3 * a + b)
    assert list(frame.parameter[:2]) == ["a", "b"]
    assert shares["a"] == pytest.approx(0.9, abs=0.1)
    assert shares["b"] == pytest.approx(0.1, abs=0.04)
    assert abs(shares[["c", "d"]]).max() < 0.01
    assert (frame.r2 > 0.97).all()
    assert (frame.variants == 300).all()


def test_interaction_of_a_product(monkeypatch):
    """Each factor of a product alone tells nothing: each has a total effect of 1."""
    shares, _ = indices(monkeypatch, lambda a, b, c, d: a * b)
    assert shares[["a", "b"]].tolist() == pytest.approx([1, 1], abs=0.2)
    pairs = importance.interactions(None)
    assert set(pairs.loc[0, ["first", "second"]]) == {"a", "b"}
    assert pairs.interaction[0] == pytest.approx(1, abs=0.2)
    assert abs(pairs.interaction[1:]).max() < 0.05
    assert len(pairs) == 6


def test_noise_has_no_importance(monkeypatch):
    rng = np.random.default_rng(1)
    shares, frame = indices(monkeypatch, lambda *x: rng.normal(size=300))
    assert abs(shares).max() < 0.1
    assert frame.r2[0] < 0.1


def row(variant, *times, **more):
    """A row of a kernel that cubc does not have, so that any label is taken."""
    return stores.row(variant, 16, *times, source_hash="0" * 64, **more)


@pytest.fixture
def analysis(tmp_path):
    """Forty variants of a store, of which only ipt matters, and two that failed."""
    rows = [row("base", message="ipt_1.tpb_32.ld_0")]
    rows += [
        row(f"ipt_{ipt}.tpb_{tpb}.ld_0", 1e-3, 1e-3 * (1 + ipt))
        for ipt in range(1, 11)
        for tpb in (32, 64, 128, 256)
    ]
    rows += [row(f"ipt_11.tpb_{tpb}.ld_0", status="fault") for tpb in (32, 64)]
    return tuner.analyze(stores.write(tmp_path / "i.db", rows))


def test_importance_of_a_store(analysis):
    frame = analysis.importance()
    assert list(frame.parameter) == ["ipt", "tpb"]  # ld has one value
    assert frame.importance[0] > 0.7
    assert abs(frame.importance[1]) < 0.05
    assert frame.variants[0] == 41  # with base, without the failed ones
    assert analysis.importance().equals(frame)


def test_plot_of_importance(analysis):
    axes = analysis.plot_importance()
    frame = analysis.importance()
    np.testing.assert_allclose([bar.get_width() for bar in axes.patches], frame.importance[::-1])
    assert [t.get_text() for t in axes.get_yticklabels()] == list(frame.parameter[::-1])
    axes.figure.savefig(io.BytesIO())
    plt.close("all")


def test_without_scikit_learn(analysis, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs scikit-learn.*cubc\[tune\]"):
        analysis.importance()


def test_too_little_to_say(tmp_path, analysis):
    with pytest.raises(ValueError, match="3 complete variants; importance needs 10"):
        rows = [row(v) for v in ("base", *stores.variants(count=3))]
        tuner.analyze(stores.write(tmp_path / "few.db", rows)).importance()
    rows = [row("base")] + [row(f"ipt_{i}.tpb_1") for i in range(1, 31)]
    with pytest.raises(ValueError, match="all variants are alike"):
        tuner.analyze(stores.write(tmp_path / "same.db", rows)).importance()
