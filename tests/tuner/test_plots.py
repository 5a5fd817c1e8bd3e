"""Plots: not their pixels but what they show, on a store as a search on a GPU leaves it."""

import contextlib
import itertools
import sqlite3
import sys

import matplotlib
import numpy as np
import pytest
import stores
import synthetic
from drawn import curve, curve_of, is_red, red_levels, written
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection, PolyCollection, QuadMesh
from matplotlib.patches import Rectangle, StepPatch
from scipy.stats.mstats import hdquantiles

from cubc import tuner
from cubc.tuner import _samples as raw
from cubc.tuner._plots import drift, style
from cubc.tuner._quantiles import PERCENTILES, quantiles

BEST = "ipt_12.tpb_384.ld_0"
FAILED = "ipt_16.tpb_640.ld_0"
matplotlib.use("Agg")
pytestmark = pytest.mark.usefixtures("figures")


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    return tuner.analyze(synthetic.write(tmp_path_factory.mktemp("stores") / "gpu.db"))


# ---- variant plots ------------------------------------------------------------------------------
def test_variant_plots_are_a_matrix_over_the_run_time_axes(analysis):
    axes = analysis.plot_variant()
    assert axes.shape == (3, 2)
    assert [a.get_title() for a in axes[0]] == ["Entropy = 0", "Entropy = 1"]
    rows = [written(a) for a in axes[:, -1]]
    assert all(f"Elements = $2^{{{e}}}$" in row for e, row in zip((16, 20, 24), rows, strict=True))
    assert "percentile of time" in axes[-1, 0].get_xlabel()
    assert "speedup" in axes[0, 0].figure.get_supylabel()
    assert "select.demo" in axes[0, 0].figure.get_suptitle()
    assert len({a.get_ylim() for a in axes.flat}) == 1  # one scale, by which they are compared
    assert len({a.get_xlim() for a in analysis.plot_density().flat}) == 1


def test_a_variant_plot_is_the_quotient_of_quantiles_with_the_slowest_left(analysis):
    axes = analysis.plot_variant(BEST)
    frame = analysis.samples(BEST)
    for (row, elements), (column, entropy) in itertools.product(
        enumerate((16, 20, 24)), enumerate((0, 1))
    ):
        here = frame[(frame.Elements == elements) & (frame.Entropy == entropy)]
        here = here[here.variant == BEST].groupby("role").time_us.apply(np.array)
        expected = hdquantiles(here["base"], PERCENTILES) / hdquantiles(
            here["variant"], PERCENTILES
        )
        shown = axes[row, column]
        assert shown.get_xlim() == (100, 0)
        assert red_levels(shown) == [1]
        whole = next(line for line in shown.lines if line.get_gid() == "all percentiles")
        np.testing.assert_allclose(whole.get_xdata(), 100 * PERCENTILES)
        np.testing.assert_allclose(whole.get_ydata(), expected, rtol=1e-12)
        x, y = curve(shown, BEST)
        cut = 100 * (1 - 0.001 ** (1 / synthetic.SAMPLES))
        np.testing.assert_array_equal(np.isnan(y), (x < cut) | (x > 100 - cut))


def test_the_band_of_a_variant_plot_is_that_of_the_table(analysis):
    shown = analysis.plot_variant(BEST)[2, 0]
    band = next(c for c in shown.collections if isinstance(c, PolyCollection))
    table = analysis.ratios(BEST)
    table = table[(table.Elements == 24) & (table.Entropy == 0) & table.known]
    ends = band.get_paths()[0].get_extents()
    assert (ends.ymin, ends.ymax) == pytest.approx((table.low.min(), table.high.max()))
    assert (table.low <= table.speedup).all()
    assert (table.speedup <= table.high).all()
    assert len(analysis.ratios(BEST)) == 6 * 100


def test_variants_are_chosen_by_label_or_expression(analysis):
    two = analysis.plot_variant("ipt_12.*tpb_384")[0, 0]
    shown = {line.get_label() for line in two.lines}
    assert {BEST, "ipt_12.tpb_384.ld_1", "base"} <= shown
    assert len({line.get_linestyle() for line in two.lines if "tpb" in line.get_label()}) == 2
    with pytest.raises(ValueError, match="too many for one plot"):
        analysis.plot_variant("ipt_12")
    with pytest.raises(LookupError, match=r"no variant 'ipt_12.tpb_385'; did you mean ipt_12"):
        analysis.plot_variant("ipt_12.tpb_385")
    with pytest.raises(ValueError, match="no regular expression"):
        analysis.plot_variant("ipt_(")


def test_base_among_the_variants_is_the_red_line(analysis):
    axes = analysis.plot_variant(["base", BEST])[0, 0]
    named = [line for line in axes.lines if line.get_label() == "base"]
    assert len(named) == 1 and is_red(named[0].get_color())


def test_a_variant_that_failed_says_so(analysis):
    axes = analysis.plot_variant(FAILED)
    assert all("resources" in written(a) for a in axes.flat)
    with pytest.raises(ValueError, match="no samples"):
        analysis.ratios(FAILED)


def test_a_benchmark_without_run_time_axes(tmp_path):
    label = stores.variants(count=1)[0]
    rows = [
        stores.row(v, 16) | {"benchmark": "no.axes", "axes": "[]", "rt": ""}
        for v in ("base", label)
    ]
    analysis = tuner.analyze(stores.write(tmp_path / "none.db", rows))
    for plot in (analysis.plot_variant, analysis.plot_density, analysis.plot_drift):
        plot(label)
    assert len(analysis.ratios()) == 100


def test_few_samples_have_no_band(tmp_path):
    label, other = stores.variants(count=2)
    rows = [stores.row("base", 16), *(stores.row(v, 16, 1e-3, 2e-3) for v in (label, other))]
    analysis = tuner.analyze(stores.write(tmp_path / "few.db", rows))
    axes = analysis.plot_variant(label)
    assert axes.shape == (1, 1)
    whole = next(line for line in axes[0, 0].lines if line.get_gid() == "all percentiles")
    np.testing.assert_allclose(whole.get_ydata(), 2, rtol=1e-6)
    assert np.isnan(axes[0, 0].lines[-1].get_ydata()).all()
    assert written(axes[0, 0]).count("samples: too few for a band") == 1
    both = analysis.plot_variant([label, other])[0, 0]
    assert written(both).count("samples: too few for a band") == 1


# ---- the other plots ----------------------------------------------------------------------------
def test_densities_have_area_one_and_quartiles(analysis):
    axes = analysis.plot_density(BEST)
    frame = analysis.samples(BEST)
    here = frame[(frame.Elements == 24) & (frame.Entropy == 1) & (frame.variant == BEST)]
    base = here.time_us[here.role == "base"]
    shown = axes[2, 1]
    patches = [p for p in shown.patches if isinstance(p, StepPatch)]
    assert len(patches) == 4  # an area and its outline, of base and of the variant
    for patch in patches:
        heights, edges, _ = patch.get_data()
        assert np.diff(edges) @ heights == pytest.approx(1)
    quartiles = [c for c in shown.collections if isinstance(c, LineCollection)][1]
    at = [path.vertices[0, 0] for path in quartiles.get_paths()]
    mine = here.time_us[here.role == "variant"]
    np.testing.assert_allclose(at, quantiles(mine, [0.25, 0.5, 0.75]) / np.median(base), rtol=1e-6)
    assert f"base: {np.median(base):.4g} µs" in written(shown)


def hatched(axes):
    cells = (p for p in axes.patches if isinstance(p, Rectangle) and p.get_width())
    return {cell.get_xy() for cell in cells if cell.get_hatch()}


@pytest.mark.parametrize("over", ["best", "median"])
def test_heat_map(analysis, over):
    axes = analysis.plot_heatmap("ipt", "tpb", over=over)
    mesh = next(c for c in axes.collections if isinstance(c, QuadMesh))
    shown = mesh.get_array().reshape(5, 4)
    table = analysis.scores().set_index("variant").score
    for (row, tpb), (column, ipt) in itertools.product(
        enumerate(synthetic.TPB), enumerate(synthetic.IPT)
    ):
        labels = [f"ipt_{ipt}.tpb_{tpb}.ld_{ld}" for ld in (0, 1)]
        known = [table["base" if label == synthetic.BASE else label] for label in labels]
        if ipt * tpb > 8192:
            assert shown.mask[row, column]
        else:
            expected = np.max(known) if over == "best" else np.median(known)
            assert shown[row, column] == pytest.approx(expected)
    assert hatched(axes) == {(3, 4)}
    outlined = [p.get_xy() for p in axes.patches if is_red(p.get_edgecolor())]
    assert outlined == [(1, 1)]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["4", "8", "12", "16"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("ipt", "tpb")


def test_untried_cells_of_a_heat_map_stay_white(tmp_path):
    kept = [r for r in synthetic.rows() if not r["variant"].startswith("ipt_4.tpb_128")]
    device = {"uuid": "GPU-0", "model": "Synthetic GPU", "arch": "sm_90"}
    db = stores.write(tmp_path / "holes.db", kept, **device)
    axes = tuner.analyze(db).plot_heatmap("ipt", "tpb")
    mesh = next(c for c in axes.collections if isinstance(c, QuadMesh))
    assert mesh.get_array().reshape(5, 4).mask[0, 0]
    assert hatched(axes) == {(3, 4)}


def test_incomplete_variants_are_not_said_to_have_failed(tmp_path):
    """An interrupted search leaves some without all of their workloads."""
    rows = [stores.row("base", n) for n in (16, 20)]
    rows += [stores.row("x_1.y_1", n, 5e-4) for n in (16, 20)] + [stores.row("x_2.y_1", 16, 5e-4)]
    rows = [one | {"source_hash": "0" * 64} for one in rows]
    axes = tuner.analyze(stores.write(tmp_path / "s.db", rows)).plot_heatmap("x", "y")
    assert hatched(axes) == {(1, 0)}
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["failed or incomplete"]


def test_heat_map_over_a_parameter_with_one_value(tmp_path):
    """As the threads of a block on the cpu."""
    rows = [stores.row(f"ipt_{ipt}.tpb_1.ipv_1", 16, 1e-3 / ipt) for ipt in (1, 2, 4)]
    rows = [one | {"source_hash": "0" * 64} for one in [stores.row("base", 16), *rows]]
    axes = tuner.analyze(stores.write(tmp_path / "one.db", rows)).plot_heatmap("ipt", "tpb")
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["1"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1", "2", "4"]


def test_heat_map_of_what_cannot_be(analysis):
    with pytest.raises(LookupError, match="no parameter 'iptt'; did you mean ipt"):
        analysis.plot_heatmap("iptt", "tpb")
    with pytest.raises(ValueError, match="two different parameters"):
        analysis.plot_heatmap("ipt", "ipt")
    with pytest.raises(ValueError, match="'best' or 'median'"):
        analysis.plot_heatmap("ipt", "tpb", over="mean")


def test_progress(analysis):
    axes = analysis.plot_progress()
    table = analysis.progress()
    order = [r["variant"] for r in synthetic.rows() if r["variant"] != "base"]
    assert list(table.variant) == list(dict.fromkeys(order))
    best = np.maximum.accumulate(table.score.fillna(1).clip(lower=1))
    np.testing.assert_array_equal(table.best, best)
    np.testing.assert_array_equal(curve(axes, "best so far")[1], best)
    np.testing.assert_array_equal(
        curve(axes, "best so far, mean of random searches")[1], table.expected
    )
    # Nearly all of the space was measured, so random search would have found what this order did.
    whole = table.score.fillna(1).clip(lower=1)
    assert table.expected.iloc[0] == pytest.approx(whole.mean(), rel=0.02)
    assert table.expected.iloc[-1] == pytest.approx(table.best.iloc[-1], rel=0.03)
    assert (table.low <= table.expected).all()
    assert (table.expected <= table.high).all()
    failed = np.flatnonzero(table.status == "resources") + 1
    np.testing.assert_array_equal(curve(axes, "failed or incomplete")[0], failed)
    assert red_levels(axes) == [1]
    assert "90 % of the random searches" in [t.get_text() for t in axes.get_legend().get_texts()]
    base, best = (curve_of(axes, label) for label in ("base", "best so far"))
    assert base.get_zorder() > best.get_zorder() and base.get_linewidth() < best.get_linewidth()


def test_drift_of_a_variant_is_in_measured_order(analysis):
    axes = analysis.plot_drift(BEST)
    frame = analysis.samples(BEST)
    here = frame[(frame.Elements == 16) & (frame.Entropy == 0) & (frame.variant == BEST)]
    x, y = curve(axes[0, 0], BEST)
    np.testing.assert_allclose(y, here.time_us[here.role == "variant"])
    assert x[:4].tolist() == [0, 3, 4, 7]
    x, y = curve(axes[0, 0], "base")
    np.testing.assert_allclose(y, here.time_us[here.role == "base"])
    assert x[:4].tolist() == [1, 2, 5, 6]
    assert axes[0, 0].get_ylabel() == "µs"
    assert not axes[0, 0].child_axes
    assert frame.clock_mhz.isna().all()


def test_drift_of_base(analysis):
    axes = analysis.plot_drift("base")
    assert curve(axes[0, 0], "base")[0].tolist() == list(range(synthetic.SAMPLES))


def test_clocks_are_drawn_where_they_are_known(analysis, monkeypatch):
    clocks = np.linspace(1980, 1935, synthetic.SAMPLES).astype("<f4")
    rows = raw._rows

    def with_clocks(path, ids):
        for row in rows(path, ids):
            hertz = (1e6 * clocks).tobytes()
            yield row | {"clocks": hertz, "base_clocks": hertz}

    monkeypatch.setattr(raw, "_rows", with_clocks)
    axes = analysis.plot_drift(BEST)[1, 1]
    (strip,) = axes.child_axes
    np.testing.assert_allclose(strip.lines[1].get_ydata(), clocks, rtol=1e-6)
    assert "1935 to 1980 MHz" in written(strip)
    mine = analysis.samples(BEST).query("variant == @BEST and Elements == 16 and Entropy == 0")
    np.testing.assert_allclose(mine.clock_mhz[mine.role == "variant"], clocks)


def test_outliers_are_marked_at_the_edge():
    _, axes = plt.subplots()
    y = np.append(np.linspace(1, 2, 99), 1000)
    drift._show(axes, [(np.arange(100), y)], ["red"])
    assert axes.get_ylim()[1] < 3
    assert axes.lines[0].get_xdata().tolist() == [99]


def test_drift_of_a_search(analysis):
    axes = analysis.plot_drift()
    assert red_levels(axes) == [1]
    labels = [t.get_text() for t in axes.get_legend().get_texts()]
    assert "Elements = $2^{16}$, Entropy = 1" in labels
    assert "running median" in labels
    frame = analysis.to_frame().query("variant != 'base' and Elements == 16 and Entropy == 1")
    y = curve(axes, "Elements = $2^{16}$, Entropy = 1")[1]
    base = frame.base_us.dropna()
    np.testing.assert_allclose(sorted(y), sorted(base / base.median()), rtol=1e-6)


def test_parallel_coordinates(analysis):
    axes = analysis.plot_parallel()
    lines = next(c for c in axes.collections if isinstance(c, LineCollection))
    scores = np.sort(analysis.scores().score.dropna())
    np.testing.assert_allclose(lines.get_array(), scores)
    assert [t.get_text() for t in axes.get_xticklabels()] == ["ipt", "tpb", "ld"]
    best = lines.get_segments()[-1]
    np.testing.assert_allclose(best[:, 1], [2 / 3, 1 / 2, 0])


# ---- what they have in common -------------------------------------------------------------------
def test_plots_are_drawn_on_given_axes(analysis):
    _, axes = plt.subplots(layout="constrained")
    assert analysis.plot_progress(ax=axes) is axes
    figure = plt.figure(layout="constrained")
    assert analysis.plot_variant(figure=figure)[0, 0].figure is figure


def test_several_groups_are_taken_one_by_one(tmp_path):
    db = synthetic.write(tmp_path / "two.db")
    label = stores.variants(count=1)[0]
    stores.write(db, [stores.row("base", 16), stores.row(label, 16)])
    analysis = tuner.analyze(db)
    with pytest.raises(ValueError, match=r"here are 2: restrict.*\n\[0\] select.demo F32 on Synth"):
        analysis.plot_progress()
    assert len(analysis) == 2
    assert [one.groups[0].benchmark for one in analysis] == ["select.demo", "reduce.sum"]
    analysis[0].plot_progress()
    tuner.analyze(db, R="select").plot_progress()


def test_progress_is_that_of_all_devices_of_a_model(tmp_path):
    db, labels = tmp_path / "two.db", stores.variants(count=4)
    for number, few in enumerate([labels[:2], labels[1:]]):
        rows = [stores.row(label, 16, 1e-3 / (1 + labels.index(label))) for label in few]
        stores.write(db, [stores.row("base", 16), *rows], uuid=f"GPU-{number}")
    analysis = tuner.analyze(db)
    frame = analysis.progress()
    assert frame.variant.tolist() == labels
    np.testing.assert_allclose(frame.best, [1, 2, 3, 4], rtol=1e-3)
    assert analysis.plot_progress().get_xlim()[1] == 4.5


@pytest.mark.parametrize("name", [r"A $\bad$", r"\$ $ $x_$", "$$"])
def test_the_name_of_a_device_is_no_formula(tmp_path, name):
    rows = [stores.row("base", 16), stores.row("x_1", 16)]
    rows = [one | {"source_hash": "0" * 64} for one in rows]
    db = stores.write(tmp_path / "s.db", rows, name=name, model=name)
    title = tuner.analyze(db).plot_bandwidth().get_title(loc="left")
    assert title.replace(r"\$", "$").endswith(f"\n{name}")
    assert title.count("$") == title.count(r"\$")


def test_progress_where_a_second_device_has_confirmed_alone(tmp_path):
    [label] = stores.variants(count=1)
    db = stores.write(tmp_path / "two.db", [stores.row("base", 16), stores.row(label, 16, 5e-4)])
    _, *rounds = stores.confirmed(label, 16, 5e-4)
    stores.write(db, [stores.row("base", 16), *rounds], uuid="second")
    [found] = tuner.analyze(db).progress().itertuples()
    assert (found.variant, found.status, found.score) == (label, "ok", pytest.approx(2))


def test_a_store_with_base_alone(tmp_path):
    analysis = tuner.analyze(stores.write(tmp_path / "base.db", [stores.row("base", 16)]))
    for plot in (analysis.plot_variant, analysis.plot_density):
        with pytest.raises(ValueError, match="no variant was measured"):
            plot()
    with pytest.raises(ValueError, match="only base was measured"):
        analysis.plot_progress()
    with pytest.raises(ValueError, match="no variant was measured with base"):
        analysis.plot_drift()
    with pytest.raises(LookupError, match="has no parameter"):
        analysis.plot_heatmap("ipt", "tpb")


def test_damaged_rows_do_not_keep_others_from_being_drawn(tmp_path):
    db = synthetic.write(tmp_path / "damaged.db")
    with contextlib.closing(sqlite3.connect(db)) as connection:
        connection.execute("UPDATE measurement SET samples = 'abc' WHERE id = 10")
        connection.commit()
    with pytest.warns(RuntimeWarning, match="1 of its rows left out"):
        analysis = tuner.analyze(db)
    assert len(analysis.samples(BEST)) == 6 * 2 * synthetic.SAMPLES


@pytest.mark.parametrize(
    ("package", "extra", "module"),
    [("matplotlib", "plot", "_plots"), ("scipy", "tune", "_quantiles")],
)
def test_a_missing_package_is_named(analysis, monkeypatch, package, extra, module):
    for name in [name for name in sys.modules if name.startswith(f"cubc.tuner.{module}")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    call = analysis.plot_progress if module == "_plots" else analysis.ratios
    with pytest.raises(ModuleNotFoundError, match=rf"needs {package}.*install \"cubc\[{extra}\]"):
        call()


def test_short_labels_leave_out_what_does_not_vary(tmp_path):
    a, b = "ipt_128.tpb_1.wav_1", "ipt_256.tpb_1.wav_1"
    rows = [stores.row(label, 16, source_hash="0" * 64) for label in ("base", a, b)]
    group = tuner.analyze(stores.write(tmp_path / "s.db", rows)).groups[0]
    assert style.short(group, [a, b, "base"]) == {a: "ipt_128", b: "ipt_256", "base": "base"}


def test_times_are_shown_in_a_unit_that_fits():
    assert style.time_unit([2e-9]) == (1e9, "ns")
    assert style.time_unit([5e-6, 7e-6, 1]) == (1e6, "µs")
    assert style.time_unit([0.2]) == (1e3, "ms")
    assert style.time_unit([20]) == (1, "s")
